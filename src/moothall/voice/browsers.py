"""What comes from browsers: checks of ICE, DTLS, and SRTP, told apart by their first byte (RFC 7983)."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from moothall.voice import packets
from moothall.voice.forwarding import Forwarding, send
from moothall.voice.reports import Reception
from moothall.voice.rooms import Rooms
from moothall.voice.session import Address, Sender, VoiceSession
from moothall.voice.video_forwarding import VideoForwarding
from moothall.voice.webrtc import stun
from moothall.voice.webrtc.description import Offer
from moothall.voice.webrtc.transport import CONSENT_SECONDS, BrowserTransport

if TYPE_CHECKING:
    from moothall.voice.webrtc.dtls import DtlsContext

log = logging.getLogger("moothall.voice")

_DTLS: Final = range(20, 64)
_RTP: Final = range(128, 192)
_PAYLOAD_TYPE: Final = 0x7F


class Browsers:
    """Handles the datagrams of sessions with protocol `webrtc`."""

    def __init__(self, rooms: Rooms, forwarding: Forwarding, video: VideoForwarding) -> None:
        self._rooms = rooms
        self._forwarding = forwarding
        self._video = video
        self._loop = asyncio.get_running_loop()
        self._context: DtlsContext | None = None

    # Selecting the protocol

    async def context(self) -> "DtlsContext":
        """The certificate of this process. The first browser waits until the libraries are loaded, beside the sound."""
        if self._context is None:
            with ThreadPoolExecutor(1) as pool:
                created = await self._loop.run_in_executor(pool, _new_context)
            if self._context is None:
                self._context = created
        return self._context

    def select(self, session: VoiceSession, offer: Offer, context: "DtlsContext") -> BrowserTransport:
        """Give a session a transport.

        Where it has one for the same certificate, the client has restarted ICE, and the keys stay.
        """
        browser = session.browser
        if browser is not None and browser.offer.fingerprint == offer.fingerprint:
            self._rooms.restart_browser(session, browser, offer)
            return browser
        browser = BrowserTransport(offer, context.association(offer.fingerprint))
        self._rooms.set_browser(session, browser)
        return browser

    def expire(self, now: float) -> None:
        """Send nothing more to browsers that no longer check whether the server is there."""
        for session in self._rooms.sessions.values():
            browser = session.browser
            if browser is not None and session.address is not None and now - browser.checked_at > CONSENT_SECONDS:
                self._rooms.use_path(session, None)

    # Datagrams: each of these returns whether it was valid

    def handle_check(self, source: Sender, data: bytes, address: Address, now: float) -> bool:
        """Answer an authentic check of ICE, to where it came from; nothing else is answered."""
        request = stun.read_binding_request(data)
        session = None if request is None else self._rooms.by_ufrag.get(request.username.partition(":")[0])
        if request is None or session is None or session.browser is None:
            return False
        browser = session.browser
        password = browser.password(request.username)
        if password is None or not request.is_authentic(password) or not session.may_send(now):
            return False
        if request.is_controlled:
            send(source, stun.role_conflict(request, password), address)
            return True
        if not self._rooms.add_path(session, browser, address, source, now):
            return False
        send(source, stun.success(request, address[0], address[1], password), address)
        if request.nominates:
            browser.selected = address
        if browser.srtp is not None and address == browser.selected:
            self._rooms.use_path(session, address)
        return True

    def handle(
        self, session: VoiceSession, browser: BrowserTransport, data: bytes, address: Address, now: float
    ) -> bool:
        """Handle a datagram from an address that a browser has checked."""
        if not data or len(data) > packets.MAX_PACKET or not session.may_send(now):
            return False
        if data[0] in _DTLS:
            return self._handle_dtls(session, browser, data, address)
        if data[0] not in _RTP or browser.srtp is None or len(data) < packets.RTP_HEADER:
            return False
        if data[1] in packets.RTCP_TYPES:
            return self._handle_rtcp(session, browser, data, now)
        return self._handle_rtp(session, browser, data, now)

    def _handle_dtls(self, session: VoiceSession, browser: BrowserTransport, data: bytes, address: Address) -> bool:
        from moothall.voice.webrtc.dtls import DtlsFailed  # noqa: PLC0415 loaded by now
        from moothall.voice.webrtc.srtp import SrtpSession  # noqa: PLC0415

        association = browser.association
        try:
            answers = association.receive(data)
        except DtlsFailed as problem:
            self._fail(session, browser, problem)
            return False
        for each in answers:
            send(browser.paths[address], each, address)
        if association.keys is not None and browser.srtp is None:
            browser.srtp = SrtpSession(association.keys)
            self._rooms.use_path(session, browser.selected)
        self._plan_retransmission(session, browser, address)
        return True

    def _plan_retransmission(self, session: VoiceSession, browser: BrowserTransport, address: Address) -> None:
        browser.close()
        delay = browser.association.timeout()
        if delay is not None:
            browser.timer = self._loop.call_later(delay, self._retransmit, session, browser, address)

    def _retransmit(self, session: VoiceSession, browser: BrowserTransport, address: Address) -> None:
        from moothall.voice.webrtc.dtls import DtlsFailed  # noqa: PLC0415 loaded by now

        source = browser.paths.get(address)
        if source is None:
            return
        try:
            answers = browser.association.retransmit()
        except DtlsFailed as problem:
            self._fail(session, browser, problem)
            return
        for each in answers:
            send(source, each, address)
        self._plan_retransmission(session, browser, address)

    def _fail(self, session: VoiceSession, browser: BrowserTransport, problem: Exception) -> None:
        """End the transport of a browser that has failed or closed it; it may select the protocol again."""
        log.debug("DTLS with a browser has ended: %s", problem)
        if session.browser is browser:
            self._rooms.set_browser(session, None)

    def _handle_rtp(self, session: VoiceSession, browser: BrowserTransport, data: bytes, now: float) -> bool:
        ssrc = packets.rtp_ssrc(data)
        if not browser.may_use(ssrc) or browser.srtp is None:
            return False
        payload_type, video = data[1] & _PAYLOAD_TYPE, browser.video
        if video is not None and (ssrc in video.by_ssrc or payload_type in video.codecs):
            return self._video.handle(session, browser, data, now)
        if payload_type != browser.payload_type:
            return False
        packet = browser.srtp.decrypt(data)
        plain = None if packet is None else packets.plain_rtp(packet)
        if plain is None:
            return False
        if browser.source != ssrc:
            browser.source = ssrc
            browser.sources.add(ssrc)
            session.reception = Reception()
        header, payload = plain
        session.reception.add(*packets.rtp_position(header), now)
        marked = header[1] & packets.MARKER_BIT | packets.OPUS
        header = bytes((header[0], marked)) + header[2:8] + session.ssrc.to_bytes(4, "big")
        self._forwarding.forward(session, header, payload)
        return True

    def _handle_rtcp(self, session: VoiceSession, browser: BrowserTransport, data: bytes, now: float) -> bool:
        ssrc = packets.rtcp_ssrc(data)
        packet = browser.srtp.decrypt_rtcp(data) if browser.srtp is not None and browser.may_use(ssrc) else None
        if packet is None:
            return False
        browser.sources.add(ssrc)
        if packet[1] == packets.SENDER_REPORT and len(packet) >= packets.SENDER_REPORT_BYTES and ssrc == browser.source:
            body = packet[packets.RTCP_HEADER : packets.SENDER_REPORT_BYTES]
            session.reception.add_sender_report(body, now)
            self._forwarding.forward_sender_report(session, packets.sender_report_header(session.ssrc), body)
        self._video.handle_feedback(session, browser, packet, now)
        return True


def _new_context() -> "DtlsContext":
    from moothall.voice.webrtc.dtls import DtlsContext  # noqa: PLC0415 with the first browser

    return DtlsContext()
