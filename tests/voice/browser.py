"""A WebRTC peer of another make (aiortc), which speaks the voice gateway as docs/voice.md tells pages."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any, Final, Self

import av
from aiortc import (
    MediaStreamTrack,
    RTCConfiguration,
    RTCPeerConnection,
    RTCRtpReceiver,
    RTCRtpTransceiver,
    RTCSessionDescription,
)

from tests.voice.client import SOON, Gateway, Voice

FRAME_SECONDS: Final = 0.02
LISTENING: Final = 3
"""How many others a peer can listen to: it cannot add transceivers while it is connected, as browsers can."""
_FRAME: Final = 960
_KEPT: Final = ("a=ice-ufrag:", "a=ice-pwd:", "a=fingerprint:", "a=candidate:")


class Frames(MediaStreamTrack):
    """Frames of Opus that are sent as they are, one every 20 ms; nothing while there are none."""

    kind = "audio"

    def __init__(self) -> None:
        super().__init__()
        self.frames: asyncio.Queue[bytes] = asyncio.Queue()
        self._number = 0

    async def recv(self) -> Any:
        await asyncio.sleep(FRAME_SECONDS)
        packet = av.Packet(await self.frames.get())
        packet.pts = packet.dts = self._number * _FRAME
        packet.time_base = Fraction(1, 48_000)
        self._number += 1
        return packet


def fragment(offer: str) -> str:
    """The lines of an offer that a page sends."""
    lines = [line for line in offer.splitlines() if line.startswith(_KEPT[:3]) or "opus" in line]
    return "\n".join(dict.fromkeys(lines))


def answer(offer: str, server: str, payload_type: int, sources: dict[str, tuple[str, int]]) -> str:
    """The answer to an offer, by the server's fragment. `sources` are user id and SSRC by mid."""
    kept = [line for line in dict.fromkeys(server.splitlines()) if line.startswith(_KEPT)]
    port = server.splitlines()[0].split()[1]
    connection = next(line for line in server.splitlines() if line.startswith("c="))
    mids = re.findall(r"^a=mid:(\S+)", offer, re.MULTILINE)
    lines = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=ice-lite", "a=msid-semantic:WMS *"]
    lines.append(f"a=group:BUNDLE {' '.join(mids)}")
    for number, mid in enumerate(mids):
        lines += [f"m=audio {port} UDP/TLS/RTP/SAVPF {payload_type}", connection, "a=rtcp-mux", f"a=mid:{mid}", *kept]
        lines += ["a=end-of-candidates", "a=setup:passive", f"a=rtpmap:{payload_type} opus/48000/2"]
        if not number:
            lines.append("a=recvonly")
        elif mid in sources:
            user_id, ssrc = sources[mid]
            lines += ["a=sendonly", f"a=msid:{user_id} {user_id}", f"a=ssrc:{ssrc} cname:{user_id}"]
        else:
            lines.append("a=inactive")
    return "\r\n".join(lines) + "\r\n"


class Browser:
    """A member in a voice channel by protocol `webrtc`."""

    def __init__(self, voice: Voice) -> None:
        self.voice = voice
        self.pc = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        self.track = Frames()
        self.heard: list[tuple[int, bytes]] = []
        """SSRC and payload of each packet that came."""
        self.changed = asyncio.Event()
        self._sources: dict[str, tuple[str, int]] = {}
        self._server = ""
        self._payload_type = 0
        self._free: list[RTCRtpTransceiver] = []

    @classmethod
    @asynccontextmanager
    async def joined(
        cls, voice: Voice, gateway: Gateway, server: dict[str, Any], **changes: Any
    ) -> AsyncIterator[Self]:
        """Identify and select the protocol; connected for the length of the block."""
        await voice.identify(gateway, server, **changes)
        voice.ready = await voice.message(2)
        browser = cls(voice)
        try:
            await browser.select()
            yield browser
        finally:
            await browser.pc.close()

    async def select(self) -> None:
        """Send the offer, take the answer, and wait for the connection."""
        self.pc.addTransceiver(self.track, direction="sendonly")
        self._free = [self.pc.addTransceiver("audio", direction="recvonly") for _ in range(LISTENING)]
        await self.pc.setLocalDescription(await self.pc.createOffer())
        offer = self.pc.localDescription.sdp
        match = re.search(r"a=rtpmap:(\d+) opus", offer)
        assert match is not None
        self._payload_type = int(match[1])
        codecs = [{"name": "opus", "type": "audio", "priority": 1000, "payload_type": self._payload_type}]
        text = fragment(offer)
        await self.voice.send(1, {"protocol": "webrtc", "data": text, "sdp": text, "codecs": codecs})
        description = await self.voice.message(4, skip=len(self.voice.all(4)))
        assert "secret_key" not in description
        self._server = description["sdp"]
        await self._set_answer()

    async def _set_answer(self) -> None:
        sdp = answer(self.pc.localDescription.sdp, self._server, self._payload_type, self._sources)
        await self.pc.setRemoteDescription(RTCSessionDescription(sdp, "answer"))

    async def is_connected(self) -> None:
        """Wait until sound can pass."""
        async with asyncio.timeout(SOON):
            while self.pc.connectionState != "connected":  # noqa: ASYNC110 a test waits for it in one place only
                await asyncio.sleep(0.01)

    async def listens_to(self, user_id: str) -> int:
        """Give a transceiver to the sound of a user, of whom the gateway tells; their SSRC."""
        skip = 0
        while (video := await self.voice.message(12, skip=skip))["user_id"] != user_id:
            skip += 1
        transceiver = self._free.pop()
        await self.pc.setLocalDescription(await self.pc.createOffer())
        assert transceiver.mid is not None
        self._sources[transceiver.mid] = user_id, video["audio_ssrc"]
        self._watch(transceiver)
        await self._set_answer()
        return int(video["audio_ssrc"])

    def _watch(self, transceiver: RTCRtpTransceiver) -> None:
        receiver: RTCRtpReceiver = transceiver.receiver
        handle = receiver._handle_rtp_packet

        async def remember(packet: Any, arrival_time_ms: int) -> None:
            self.heard.append((packet.ssrc, packet.payload))
            self.changed.set()
            await handle(packet, arrival_time_ms)

        receiver._handle_rtp_packet = remember  # type: ignore[method-assign]

    def say(self, *frames: bytes) -> None:
        """Send frames, one every 20 ms."""
        for each in frames:
            self.track.frames.put_nowait(each)

    async def hears(self, ssrc: int, frames: list[bytes]) -> None:
        """Wait until these frames of a source have come, in order."""
        async with asyncio.timeout(SOON):
            while [payload for source, payload in self.heard if source == ssrc and payload in frames] != frames:
                self.changed.clear()
                await self.changed.wait()


def frames(count: int, name: str = "frame") -> list[bytes]:
    """Frames that no one decodes: the first byte is that of Opus of 20 ms."""
    return [b"\xfc" + json.dumps({name: number}).encode() for number in range(count)]
