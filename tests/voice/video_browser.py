"""A peer of another make (aiortc) that sends a camera and is sent others', as docs/voice.md tells pages."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from fractions import Fraction
from typing import Any, Final, Self

import av
from aiortc import (
    MediaStreamTrack,
    RTCBundlePolicy,
    RTCConfiguration,
    RTCPeerConnection,
    RTCRtpTransceiver,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError

from tests.voice.browser import fragment
from tests.voice.client import SOON, Gateway, Voice

RED: Final = (200, 30, 30)
BLUE: Final = (30, 30, 200)
_KEPT: Final = ("a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=candidate:")
_SIZE: Final = (160, 120)
_FRAME_SECONDS: Final = 1 / 15
_STREAMS: Final = [{"type": "video", "rid": "100", "quality": 100}]
_SEND_TIME: Final = "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time"


class Camera(MediaStreamTrack):
    """Shows one colour."""

    kind = "video"

    def __init__(self) -> None:
        super().__init__()
        self.colour = RED
        self._number = 0

    async def recv(self) -> Any:
        await asyncio.sleep(_FRAME_SECONDS)
        frame = av.VideoFrame(*_SIZE, "rgb24")
        frame.planes[0].update(
            bytes(self.colour) * (frame.planes[0].buffer_size // 3) + bytes(2)[: frame.planes[0].buffer_size % 3]
        )
        frame.pts, frame.time_base = self._number, Fraction(1, 15)
        self._number += 1
        return frame


def is_colour(frame: Any, colour: tuple[int, int, int]) -> bool:
    """Whether the middle of a decoded frame has a colour, about."""
    plane = frame.reformat(format="rgb24").planes[0]
    at = frame.height // 2 * plane.line_size + frame.width // 2 * 3
    middle = bytes(plane)[at : at + 3]
    return all(abs(got - expected) < 60 for got, expected in zip(middle, colour, strict=True))


class VideoBrowser:
    """A member in a voice channel who may send a camera with one codec."""

    def __init__(self, voice: Voice, codec: str) -> None:
        self.voice = voice
        self.codec = codec
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=RTCBundlePolicy.MAX_BUNDLE))
        self.camera = Camera()
        self.stream: dict[str, Any] = {}
        self._server = ""
        self._read_wants = 0
        self._opus = 0
        self._types = (0, 0)
        self._sources: dict[str, tuple[str, int, int]] = {}
        self._free: list[RTCRtpTransceiver] = []

    @classmethod
    @asynccontextmanager
    async def joined(
        cls, voice: Voice, gateway: Gateway, server: dict[str, Any], codec: str = "VP8"
    ) -> AsyncIterator[Self]:
        """Identify and select the protocol; connected for the length of the block."""
        await voice.identify(gateway, server, video=True, streams=_STREAMS)
        voice.ready = await voice.message(2)
        browser = cls(voice, codec)
        try:
            await browser._select()
            yield browser
        finally:
            await browser.pc.close()

    async def _select(self) -> None:
        (self.stream,) = self.voice.ready["streams"]
        self.pc.addTransceiver("audio", direction="recvonly")
        self._sender = self.pc.addTransceiver(self.camera, direction="sendonly")
        self._free = [self.pc.addTransceiver("video", direction="recvonly") for _ in range(2)]
        await self.pc.setLocalDescription(await self.pc.createOffer())
        offer = self.pc.localDescription.sdp
        self._opus = self._payload_type(offer, r"a=rtpmap:(\d+) opus")
        main = self._payload_type(offer, rf"a=rtpmap:(\d+) {self.codec}")
        self._types = main, self._payload_type(offer, rf"a=fmtp:(\d+) apt={main}\b")
        codecs = [
            {"name": "opus", "type": "audio", "priority": 1000, "payload_type": self._opus},
            {
                "name": self.codec, "type": "video", "priority": 1000,
                "payload_type": self._types[0], "rtx_payload_type": self._types[1],
            },
        ]  # fmt: skip
        text = "\n".join((fragment(offer), *(line for line in offer.splitlines() if line.startswith("a=extmap:"))))
        await self.voice.send(1, {"protocol": "webrtc", "data": text, "sdp": text, "codecs": codecs})
        description = await self.voice.message(4)
        assert description["video_codec"] == self.codec
        self._server = description["sdp"]
        await self._set_answer()
        async with asyncio.timeout(SOON):
            while self.pc.connectionState != "connected":  # noqa: ASYNC110 a test waits for it in one place only
                await asyncio.sleep(0.01)

    @staticmethod
    def _payload_type(offer: str, pattern: str) -> int:
        match = re.search(pattern, offer)
        assert match is not None
        return int(match[1])

    async def _set_answer(self) -> None:
        offer = self.pc.localDescription.sdp
        kept = [line for line in dict.fromkeys(self._server.splitlines()) if line.startswith(_KEPT)]
        port = self._server.splitlines()[0].split()[1]
        connection = next(line for line in self._server.splitlines() if line.startswith("c="))
        mids = re.findall(r"^a=mid:(\S+)", offer, re.MULTILINE)
        send_time = next(line for line in offer.splitlines() if _SEND_TIME in line)
        main, rtx = self._types
        lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=ice-lite", "a=msid-semantic:WMS *"]
        lines.append(f"a=group:BUNDLE {' '.join(mids)}")
        for number, mid in enumerate(mids):
            types = f"{main} {rtx}" if number else str(self._opus)
            lines += [f"m={'video' if number else 'audio'} {port} UDP/TLS/RTP/SAVPF {types}", connection]
            lines += ["a=rtcp-mux", f"a=mid:{mid}", *kept, "a=end-of-candidates", "a=setup:passive"]
            if not number:
                lines += [f"a=rtpmap:{self._opus} opus/48000/2", "a=inactive"]
                continue
            lines += [f"a=rtpmap:{main} {self.codec}/90000", f"a=rtpmap:{rtx} rtx/90000", f"a=fmtp:{rtx} apt={main}"]
            if self.codec == "H264":
                lines.append(f"a=fmtp:{main} level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f")
            lines += [f"a=rtcp-fb:{main} {kind}" for kind in ("nack", "nack pli", "goog-remb")]
            lines.append(send_time)
            if number == 1:
                lines.append("a=recvonly")
            elif mid in self._sources:
                user_id, ssrc, again = self._sources[mid]
                lines += ["a=sendonly", f"a=msid:{user_id} {user_id}", f"a=ssrc-group:FID {ssrc} {again}"]
                lines += [f"a=ssrc:{ssrc} cname:{user_id}", f"a=ssrc:{again} cname:{user_id}"]
            else:
                lines.append("a=inactive")
        await self.pc.setRemoteDescription(RTCSessionDescription("\r\n".join(lines) + "\r\n", "answer"))

    async def show(self, *, active: bool = True) -> None:
        """Tell that the camera is sent, or no longer; it is sent in any case."""
        sender = self._sender.sender
        state = {"type": "video", "rid": "100", "ssrc": sender._ssrc, "rtx_ssrc": sender._rtx_ssrc, "active": active}
        body = {"audio_ssrc": self.voice.ready["ssrc"], "video_ssrc": sender._ssrc, "streams": [state]}
        await self.voice.send(12, body)

    async def has_demand(self, quality: int) -> None:
        """Wait until the gateway tells, after what it has told before, of this quality of the camera."""
        while True:
            wants = await self.voice.message(15, skip=self._read_wants)
            self._read_wants += 1
            if wants[str(self.stream["ssrc"])] == quality:
                return

    async def watch(self, user_id: str) -> MediaStreamTrack:
        """Receive a user's camera, of which the gateway tells; its track."""
        skip = 0
        while (video := await self.voice.message(12, skip=skip))["user_id"] != user_id or not video["video_ssrc"]:
            skip += 1
        transceiver = self._free.pop()
        await self.pc.setLocalDescription(await self.pc.createOffer())
        assert transceiver.mid is not None
        self._sources[transceiver.mid] = user_id, video["video_ssrc"], video["rtx_ssrc"]
        await self._set_answer()
        # Unlike browsers, it does not by itself ask for a keyframe where it has begun too late for the first one.
        await transceiver.receiver._send_rtcp_pli(video["video_ssrc"])
        track: MediaStreamTrack = transceiver.receiver.track
        return track


async def sees(track: MediaStreamTrack, colour: tuple[int, int, int], *, seconds: float = SOON) -> bool:
    """Whether a track shows a colour in time."""
    with suppress(TimeoutError, MediaStreamError):
        async with asyncio.timeout(seconds):
            while not is_colour(await track.recv(), colour):
                pass
            return True
    return False
