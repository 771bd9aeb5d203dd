"""Forwards the cameras and screens of browsers: to each receiver the layer that it shows and that reaches it.

A browser sends a camera in several layers (simulcast). A receiver knows one SSRC of it, and gets one layer at a time;
another one begins with a keyframe. What is lost on the way here is asked for again (NACK), and what is lost on the way
to a receiver is sent again from the last packets (RTX, RFC 4588). A browser is told when its packets have arrived, by
which it estimates how much it may send.
"""

import asyncio
from collections.abc import Iterable
from itertools import groupby
from typing import Final, NamedTuple

from msgspec import Struct

from moothall.voice import packets
from moothall.voice.forwarding import Forwarding, send
from moothall.voice.opcodes import Opcode
from moothall.voice.reports import report_header
from moothall.voice.rooms import Room, Rooms, video_payload
from moothall.voice.session import VoiceSession
from moothall.voice.video.browser_video import RESENT, BrowserVideo
from moothall.voice.video.feedback import (
    BandwidthEstimate,
    KeyframeRequest,
    Loss,
    Nack,
    SenderReport,
    nack,
    picture_loss,
    read_feedback,
)
from moothall.voice.video.media_stream import AUDIO, MediaStream, VideoPacket
from moothall.voice.video.subscription import Outgoing, Subscription
from moothall.voice.webrtc import extensions
from moothall.voice.webrtc.transport import BrowserTransport

CHOOSE_SECONDS: Final = 0.25
"""Between two rounds of choosing layers."""
_REPAIR_SECONDS: Final = 0.025
_TELL_SECONDS: Final = 0.05
_REPORT_ROUNDS: Final = 4
_OWN_SSRC: Final = 1
_ALL: Final = 100.0
_RTX_HEADER: Final = 2
_PAYLOAD_TYPE: Final = 0x7F
_MAX_LIMIT: Final = 1 << 31


class Resolution(Struct):
    """`max_resolution` of a stream."""

    type: str = "source"
    width: int = 0
    height: int = 0


class StreamState(Struct):
    """A stream as its sender describes it. `ssrc` is the one that the client sends with, 0 where RID tells it."""

    rid: str = ""
    type: str = "video"
    ssrc: int = 0
    rtx_ssrc: int = 0
    active: bool = False
    max_bitrate: int | None = None
    max_framerate: int | None = None
    max_resolution: Resolution | None = None


class Video(Struct):
    """Opcode 12."""

    audio_ssrc: int = 0
    video_ssrc: int = 0
    rtx_ssrc: int = 0
    streams: list[StreamState] = []


class _Source(NamedTuple):
    """The layers of one kind that a sender sends, the worst first."""

    session: VoiceSession
    layers: list[MediaStream]

    @property
    def lead(self) -> MediaStream:
        return self.layers[0].lead


class VideoForwarding:
    """Takes the packets of video, and sends them on."""

    def __init__(self, rooms: Rooms, forwarding: Forwarding) -> None:
        self._rooms = rooms
        self._forwarding = forwarding
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._round = 0

    def close(self) -> None:
        """Choose no more layers."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    # What senders say of their streams

    def set_streams(self, session: VoiceSession, body: Video) -> None:
        """Take over which streams a client sends, and with which SSRCs."""
        states = {each.rid: each for each in body.streams}
        if not body.streams and (body.video_ssrc or not session.streams):
            camera = next((each for each in session.streams if each.kind == "video"), None)
            if camera is not None:
                states[camera.rid] = StreamState(ssrc=body.video_ssrc, rtx_ssrc=body.rtx_ssrc, active=True)
        video = None if session.browser is None else session.browser.video
        for stream in session.streams:
            state = states.get(stream.rid)
            stream.is_requested = state is not None and state.active
            if state is None:
                continue
            limits = (("max_bitrate", state.max_bitrate), ("max_framerate", state.max_framerate))
            stream.limits = {name: min(value, _MAX_LIMIT) for name, value in limits if value is not None and value > 0}
            if (size := state.max_resolution) is not None:
                kind = "fixed" if size.type == "fixed" else "source"
                stream.limits["max_resolution"] = {"type": kind, "width": size.width, "height": size.height}
            if video is not None:
                video.name_ssrcs(stream, state.ssrc, state.rtx_ssrc)
        self._announce(session)
        self.choose(self._rooms.room_of(session))
        if self._timer is None and any(each.is_requested for each in session.streams):
            self._timer = self._loop.call_later(CHOOSE_SECONDS, self._choose_again)

    def _announce(self, session: VoiceSession) -> None:
        """Tell the other browsers which streams a client sends and may send."""
        session.announced_streams = session.active_streams()
        payload = video_payload(session)
        for each in self._rooms.room_of(session).others(session):
            if each.browser is not None:
                each.send(Opcode.VIDEO, payload)

    # Choosing layers

    def _choose_again(self) -> None:
        self._timer = None
        self._round += 1
        now = self._loop.time()
        is_needed = False
        for room in list(self._rooms.rooms.values()):
            senders = [each for each in room.members.values() if each.streams]
            requested = [each for each in senders if any(stream.is_requested for stream in each.streams)]
            if not requested:
                continue
            is_needed = True
            for session in requested:
                if session.active_streams() != session.announced_streams:
                    self._announce(session)
            self.choose(room)
            if self._round % _REPORT_ROUNDS == 0:
                for session in requested:
                    self._report(session, now)
        if is_needed:
            self._timer = self._loop.call_later(CHOOSE_SECONDS, self._choose_again)

    def choose(self, room: Room) -> None:
        """Choose anew what each receiver of a room is sent."""
        now = self._loop.time()
        sources = [source for session in room.members.values() for source in _sources(session)]
        receivers: dict[MediaStream, list[VoiceSession]] = {source.lead: [] for source in sources}
        needed: set[MediaStream] = set()
        for session in room.members.values():
            browser = session.browser
            if browser is not None and browser.video is not None and session.address is not None:
                self._choose_for(session, browser.video, sources, receivers, needed, now)
        for session in room.members.values():
            session.stream_receivers = {}
        for source in sources:
            source.session.stream_receivers[source.lead.ssrc] = tuple(receivers[source.lead])
        for session in room.members.values():
            if session.streams:
                _tell_wants(session, needed)

    def _choose_for(
        self,
        receiver: VoiceSession,
        video: BrowserVideo,
        sources: list[_Source],
        receivers: dict[MediaStream, list[VoiceSession]],
        needed: set[MediaStream],
        now: float,
    ) -> None:
        video.bandwidth.measure(now)
        video.resent = 0
        offered: list[tuple[MediaStream, list[MediaStream]]] = []
        for session, layers in sources:
            lead = layers[0].lead
            quality = receiver.wants.get(lead.ssrc, receiver.wants_any)
            if session is receiver or not quality:
                self._unsubscribe(video, lead)
            elif lead.kind != AUDIO:
                usable = [each for each in layers if each.quality <= quality] or layers[:1]
                offered.append((lead, usable))
                receivers[lead].append(receiver)
            elif receiver.participant.may_hear:
                receivers[lead].append(receiver)
                needed.add(lead)
        leads = {lead for lead, _ in offered}
        for ssrc, subscription in video.subscriptions.items():
            if subscription.target is not None and subscription.target.lead not in leads:
                video.subscriptions[ssrc].stop()
        for (lead, layers), chosen in zip(offered, _layers_within(offered, video.bandwidth.limit), strict=True):
            subscription = video.subscriptions.setdefault(lead.ssrc, Subscription())
            flowing = [each for each in layers[: layers.index(chosen) + 1] if each.is_flowing(now)]
            target = flowing[-1] if flowing else chosen
            subscription.target = target
            needed.update((chosen, target))
            if subscription.current is not target:
                if subscription.current in layers:
                    needed.add(subscription.current)
                self._ask_keyframe(target, now)

    @staticmethod
    def _unsubscribe(video: BrowserVideo, lead: MediaStream) -> None:
        subscription = video.subscriptions.get(lead.ssrc)
        if subscription is not None:
            subscription.stop()

    # Packets

    def handle(self, session: VoiceSession, browser: BrowserTransport, data: bytes, now: float) -> bool:
        """Handle a packet of a stream beside the microphone; whether it was valid."""
        video, srtp = browser.video, browser.srtp
        if video is None or srtp is None or not session.participant.may_stream:
            return False
        packet = srtp.decrypt(data)
        plain = None if packet is None else packets.unpadded_rtp(packet)
        if packet is None or plain is None:
            return False
        ssrc = packets.rtp_ssrc(data)
        browser.sources.add(ssrc)
        elements, ids = extensions.elements(packet), browser.offer.extensions
        number = elements.get(ids.transport_sequence, b"")
        if len(number) == 2:
            video.arrivals.add(int.from_bytes(number, "big"), now)
        header, payload = plain
        if header[1] & _PAYLOAD_TYPE == browser.payload_type:
            self._forward_sound(session, video.by_ssrc[ssrc], header, payload, now)
            return True
        codec, is_resent = video.codecs[header[1] & _PAYLOAD_TYPE]
        stream = (video.by_rtx_ssrc if is_resent else video.by_ssrc).get(ssrc)
        if stream is None:
            stream = _named_by_rid(session, video, ssrc, elements, ids)
        self._plan_repair(session, browser, video)
        if stream is None or not stream.is_requested:
            return False
        sequence, timestamp = packets.rtp_position(header)
        if is_resent:
            if len(payload) <= _RTX_HEADER:
                return True
            sequence, payload = int.from_bytes(payload[:_RTX_HEADER], "big"), payload[_RTX_HEADER:]
        else:
            stream.reception.add(sequence, timestamp, now)
        taken = stream.take(sequence, timestamp, header[1] & packets.MARKER_BIT, payload, codec, now)
        if taken is not None:
            self._forward(session, stream, taken, now)
        return True

    def _forward(self, session: VoiceSession, stream: MediaStream, packet: VideoPacket, now: float) -> None:
        ssrc = stream.lead.ssrc
        for receiver in session.stream_receivers.get(ssrc, ()):
            browser = receiver.browser
            if browser is None or browser.video is None:
                continue
            subscription = browser.video.subscriptions.get(ssrc)
            if subscription is None:
                continue
            outgoing = subscription.take(stream, packet, now)
            codec = browser.video.payload_types.get(packet.codec)
            if outgoing is not None and codec is not None:
                self._send(receiver, browser, browser.video, ssrc, codec.payload_type, outgoing, now)

    def _send(
        self,
        receiver: VoiceSession,
        browser: BrowserTransport,
        video: BrowserVideo,
        ssrc: int,
        payload_type: int,
        outgoing: Outgoing,
        now: float,
    ) -> None:
        if receiver.socket is None or receiver.address is None:
            return
        extension = extensions.send_time(browser.offer.extensions.send_time, now)
        data = browser.encrypted_packet(
            outgoing.marker | payload_type, outgoing.number, outgoing.timestamp, ssrc, extension, outgoing.payload
        )
        if data is not None:
            self._forwarding.forwarded += 1
            video.bandwidth.count(len(data))
            send(receiver.socket, data, receiver.address)

    def _forward_sound(
        self, session: VoiceSession, stream: MediaStream, header: bytes, payload: bytes, now: float
    ) -> None:
        """Send the sound of a screen on, as that of a microphone is."""
        if not stream.is_requested or not payload:
            return
        sequence, timestamp = packets.rtp_position(header)
        stream.reception.add(sequence, timestamp, now)
        stream.heard_at = now
        flags = packets.VERSION_BITS, header[1] & packets.MARKER_BIT
        for receiver in session.stream_receivers.get(stream.lead.ssrc, ()):
            browser = receiver.browser
            if browser is None or receiver.socket is None or receiver.address is None or receiver is session:
                continue
            if not receiver.participant.may_hear:
                continue
            packet = browser.encrypted(stream.ssrc, sequence, timestamp, flags, payload)
            if packet is not None:
                self._forwarding.forwarded += 1
                send(receiver.socket, packet, receiver.address)

    # Feedback

    def handle_feedback(self, session: VoiceSession, browser: BrowserTransport, packet: bytes, now: float) -> None:
        """Handle a decrypted packet of RTCP, of which the report about the microphone is not handled here."""
        video = browser.video
        if video is None:
            return
        for each in read_feedback(packet):
            if isinstance(each, SenderReport):
                stream = video.by_ssrc.get(each.ssrc)
                if stream is not None and session.participant.may_stream:
                    self._forward_sender_report(session, stream, each.info, now)
            elif isinstance(each, BandwidthEstimate):
                video.bandwidth.estimate(each.bitrate, now)
            elif each.ssrc in video.subscriptions:
                self._handle_loss(session, browser, video, each, now)

    def _handle_loss(
        self,
        session: VoiceSession,
        browser: BrowserTransport,
        video: BrowserVideo,
        feedback: Loss | Nack | KeyframeRequest,
        now: float,
    ) -> None:
        subscription = video.subscriptions[feedback.ssrc]
        if isinstance(feedback, Loss):
            video.bandwidth.lose(feedback.share, now)
        elif isinstance(feedback, KeyframeRequest):
            if subscription.current is not None:
                self._ask_keyframe(subscription.current, now)
        elif subscription.target is not None:
            for number in feedback.numbers:
                self._send_again(session, browser, video, subscription, number, now)

    def _send_again(
        self,
        receiver: VoiceSession,
        browser: BrowserTransport,
        video: BrowserVideo,
        subscription: Subscription,
        number: int,
        now: float,
    ) -> None:
        outgoing = subscription.sent(number)
        codec = None if outgoing is None else video.payload_types.get(outgoing.codec)
        lead = None if subscription.target is None else subscription.target.lead
        if outgoing is None or codec is None or not codec.rtx_payload_type or lead is None or video.resent >= RESENT:
            return
        video.resent += 1
        subscription.rtx_number = subscription.rtx_number + 1 & 0xFFFF
        again = outgoing._replace(
            number=subscription.rtx_number, payload=number.to_bytes(_RTX_HEADER, "big") + outgoing.payload
        )
        self._send(receiver, browser, video, lead.rtx_ssrc, codec.rtx_payload_type, again, now)

    def _forward_sender_report(self, session: VoiceSession, stream: MediaStream, info: bytes, now: float) -> None:
        stream.reception.add_sender_report(info, now)
        for receiver in session.stream_receivers.get(stream.lead.ssrc, ()):
            video = None if receiver.browser is None else receiver.browser.video
            if video is None:
                continue
            changed = info
            if stream.kind != AUDIO:
                subscription = video.subscriptions.get(stream.lead.ssrc)
                if subscription is None or subscription.current is not stream:
                    continue
                timestamp = subscription.timestamp_of(int.from_bytes(info[8:12], "big"))
                changed = info[:8] + timestamp.to_bytes(4, "big") + info[12:]
            self._forwarding.send_rtcp(receiver, packets.sender_report_header(stream.lead.ssrc) + changed)

    def _ask_keyframe(self, stream: MediaStream, now: float) -> None:
        """Ask the sender of a stream for a keyframe, unless that has just been done."""
        sender = self._rooms.by_stream.get(stream.ssrc)
        if sender is not None and stream.own_ssrc and stream.is_flowing(now) and stream.may_ask_keyframe(now):
            self._forwarding.send_rtcp(sender, picture_loss(stream.own_ssrc))

    def _plan_repair(self, session: VoiceSession, browser: BrowserTransport, video: BrowserVideo) -> None:
        if video.timer is None:
            video.timer = self._loop.call_later(_REPAIR_SECONDS, self._repair, session, browser, video)

    def _repair(self, session: VoiceSession, browser: BrowserTransport, video: BrowserVideo) -> None:
        """Ask a sender for what is lost, and tell it what has arrived."""
        video.timer = None
        if session.browser is not browser or session.address is None:
            return
        now = self._loop.time()
        lacks = False
        for stream in session.streams:
            numbers = stream.due(now) if stream.own_ssrc else []
            if numbers:
                self._forwarding.send_rtcp(session, nack(stream.own_ssrc, numbers))
            lacks = lacks or stream.lacks()
        if now - video.announced_at >= _TELL_SECONDS:
            ssrc = next(iter(video.by_ssrc), 0)
            message = video.arrivals.message(ssrc)
            if message is not None:
                video.announced_at = now
                self._forwarding.send_rtcp(session, message)
        if lacks or video.arrivals.waits():
            self._plan_repair(session, browser, video)

    def _report(self, session: VoiceSession, now: float) -> None:
        """Tell a sender how much of its streams has arrived."""
        streams = [each for each in session.streams if each.own_ssrc and each.reception.received]
        if streams:
            blocks = b"".join(each.reception.report(each.own_ssrc, now) for each in streams)
            self._forwarding.send_rtcp(session, report_header(_OWN_SSRC, blocks=len(streams)) + blocks)


def _sources(session: VoiceSession) -> Iterable[_Source]:
    """The layers that a session sends and may send, by kind."""
    active = sorted(session.active_streams(), key=lambda each: (each.lead.ssrc, each.quality))
    for _, layers in groupby(active, key=lambda each: each.lead.ssrc):
        yield _Source(session, list(layers))


def _layers_within(offered: list[tuple[MediaStream, list[MediaStream]]], limit: int | None) -> list[MediaStream]:
    """The best layer of each source; with a limit in bits per second, such ones that all together are within it.

    Screens come first. The worst layer of each is sent in any case.
    """
    chosen = [layers[-1 if limit is None else 0] for _, layers in offered]
    if limit is None:
        return chosen
    left = limit - sum(each.bitrate for each in chosen)
    for index in sorted(range(len(offered)), key=lambda each: offered[each][0].kind != "screen"):
        for layer in offered[index][1][1:]:
            more = layer.bitrate - chosen[index].bitrate
            if not layer.bitrate or more > left:
                break
            left -= more
            chosen[index] = layer
    return chosen


def _named_by_rid(
    session: VoiceSession, video: BrowserVideo, ssrc: int, elements: dict[int, bytes], ids: extensions.Extensions
) -> MediaStream | None:
    """The stream that a packet of an unknown SSRC belongs to, by the RID in it."""
    rid, repaired = elements.get(ids.stream_id), elements.get(ids.repaired_stream_id)
    name = repaired or rid or b""
    for stream in session.streams:
        if stream.rid.encode() == name:
            video.name_ssrcs(stream, 0 if repaired else ssrc, ssrc if repaired else 0)
            return stream
    return None


def _tell_wants(session: VoiceSession, needed: set[MediaStream]) -> None:
    """Tell a sender which of its streams someone is sent, if that has changed: it need not send the others."""
    wants = {str(each.ssrc): int(_ALL) if each in needed else 0 for each in session.streams if each.is_requested}
    if wants != session.announced_wants:
        session.announced_wants = wants
        session.send(Opcode.MEDIA_SINK_WANTS, {"any": int(_ALL), **wants})
