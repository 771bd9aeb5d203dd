"""The datagrams: address discovery, and packets that are forwarded to everyone in the room who may hear them.

Bots and browsers send to one port. STUN, and what comes from the address of a browser, is handled by `webrtc/`. Another
packet counts only if it comes from the address that its session has selected, is encrypted with the session's key, and
is new. It is encrypted again for each receiver, whose key no one else has. No answer is larger than its question, and
only that of address discovery may be repeated, a few times.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable
from typing import Final

from moothall.runtime.sockets import bind_all
from moothall.voice import packets
from moothall.voice.browsers import Browsers
from moothall.voice.encryption import NONCE_BYTES
from moothall.voice.forwarding import Forwarding, send
from moothall.voice.rooms import Rooms
from moothall.voice.session import Address, Sender, VoiceSession
from moothall.voice.video_forwarding import VideoForwarding
from moothall.voice.webrtc.stun import is_stun

log = logging.getLogger("moothall.voice")

_AT_ONCE: Final = 64
"""Datagrams that are read before other tasks have a turn."""
_BUFFER_BYTES: Final = 1 << 20
_REPEATS: Final = 4
_REPEAT_SECONDS: Final = 1.5


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind sockets at all addresses of a host (empty: of this machine), with one port; 0 is any free port.

    Raises OSError.
    """
    return bind_all(host, port, socket.SOCK_DGRAM, prepare=_prepare, purpose="receive voice")


def _prepare(unbound: socket.socket) -> None:
    unbound.settimeout(0.0)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        unbound.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)


class Datagrams:
    """Receives at some sockets, and sends."""

    def __init__(self, rooms: Rooms, sockets: Iterable[socket.socket]) -> None:
        self._rooms = rooms
        self._sockets = list(sockets)
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self.forwarding = Forwarding(rooms)
        self.video = VideoForwarding(rooms, self.forwarding)
        self.browsers = Browsers(rooms, self.forwarding, self.video)
        self.has_streams = False
        """Whether browsers can connect to the port by TCP as well."""
        self.dropped = 0
        """Datagrams that belonged to no session, or were not authentic, new or allowed."""

    @property
    def port(self) -> int:
        """The port."""
        return int(self._sockets[0].getsockname()[1])

    @property
    def sockets(self) -> list[socket.socket]:
        """The sockets that datagrams are received at."""
        return self._sockets

    def start(self) -> None:
        """Receive from now on."""
        for each in self._sockets:
            self._loop.add_reader(each.fileno(), self.read, each)

    def close(self) -> None:
        """Receive no longer."""
        self._closed = True
        self.video.close()
        for each in self._sockets:
            self._loop.remove_reader(each.fileno())
            each.close()

    def read(self, source: socket.socket) -> None:
        """Handle the datagrams that wait in a socket, up to a number that leaves time for other tasks."""
        receive, handle = source.recvfrom, self.handle
        for _ in range(_AT_ONCE):
            try:
                data, address = receive(packets.MAX_PACKET + 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                continue  # an earlier datagram could not be delivered
            try:
                handle(source, data, address)
            except Exception:
                log.exception("a datagram could not be handled")

    def handle(self, source: Sender, data: bytes, address: Address) -> None:
        """Handle a datagram that arrived at one of the sockets."""
        session = self._rooms.by_address.get(address)
        if session is None or len(data) == packets.DISCOVERY_BYTES:
            ssrc = packets.read_discovery(data)
            if ssrc is not None:
                self._discover(source, ssrc, address)
                return
        now = self._loop.time()
        if is_stun(data):
            self.dropped += not self.browsers.handle_check(source, data, address, now)
        elif session is not None and session.browser is not None:
            self.dropped += not self.browsers.handle(session, session.browser, data, address, now)
        elif session is None or session.socket is not source or not session.may_send(now):
            self.dropped += 1
        elif packets.is_keepalive(data):
            pass  # it has kept a mapping of the client's network alive on its way
        elif len(data) <= packets.MAX_PACKET and packets.is_rtcp(data):
            self._forward(session, data, packets.RTCP_HEADER, packets.rtcp_ssrc(data), now)
        elif len(data) <= packets.MAX_PACKET and (size := packets.rtp_header_size(data)):
            self._forward(session, data, size, packets.rtp_ssrc(data), now)
        else:
            self.dropped += 1

    def _discover(self, source: Sender, ssrc: int, address: Address) -> None:
        """Answer a request of address discovery of a session that has no address yet."""
        session = self._rooms.by_ssrc.get(ssrc)
        if session is None or not session.may_send(self._loop.time()):
            self.dropped += 1
            return
        session.socket = session.socket if session.address is not None else source
        if address not in session.discovered:
            session.discovered.append(address)
        self._answer_discovery(session, source, address)
        if not session.repeats_discovery:
            session.repeats_discovery = True
            self._loop.call_later(_REPEAT_SECONDS, self._repeat_discovery, session, source, address, 1)

    def _answer_discovery(self, session: VoiceSession, source: Sender, address: Address) -> None:
        send(source, packets.discovery_answer(session.ssrc, address[0], address[1]), address)

    def _repeat_discovery(self, session: VoiceSession, source: Sender, address: Address, number: int) -> None:
        """Answer a session's first request again, a few times in all, if the client does not go on.

        discord.py asks once and waits without end; where it has listened before, it may read the answer too early.
        """
        if session.selected or not self._rooms.is_open(session) or self._closed:
            return
        self._answer_discovery(session, source, address)
        if number < _REPEATS:
            self._loop.call_later(_REPEAT_SECONDS, self._repeat_discovery, session, source, address, number + 1)

    def _forward(self, session: VoiceSession, data: bytes, header_size: int, ssrc: int, now: float) -> None:
        """Decrypt a packet, and send it encrypted to all who receive the session's packets."""
        cipher = session.cipher
        nonce = data[-NONCE_BYTES:]
        number = int.from_bytes(nonce, "big")
        if ssrc != session.ssrc or cipher is None or not session.window.may_take(number):
            self.dropped += 1
            return
        header = data[:header_size]
        body = cipher.decrypt(nonce, data[header_size:-NONCE_BYTES], header)
        if body is None:
            self.dropped += 1
            return
        session.window.take(number)
        if header_size != packets.RTCP_HEADER:
            sequence, timestamp = packets.rtp_position(data)
            session.reception.add(sequence, timestamp, now)
            self.forwarding.forward(session, header, body)
        elif data[1] == packets.SENDER_REPORT:
            session.reception.add_sender_report(body, now)
            self.forwarding.forward_sender_report(session, header, body)
        # Else what a client has received of others, which are told by `Forwarding.report`.
