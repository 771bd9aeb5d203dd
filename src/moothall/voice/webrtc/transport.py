"""The way to one browser: where it is, what it has proved, and its sound in both directions."""

import asyncio
import struct
from typing import TYPE_CHECKING, Any, Final, Protocol

from moothall.voice.video.browser_video import BrowserVideo
from moothall.voice.webrtc.description import Credentials, Offer, new_credentials

Address = tuple[Any, ...]
"""An address of a datagram as the socket module has it: host and port first. One of TCP has a third part."""


class Sender(Protocol):
    """A socket, or a connection that stands for one."""

    def sendto(self, data: bytes, address: Any, /) -> object:
        """Send a datagram."""


if TYPE_CHECKING:
    from moothall.voice.video.media_stream import MediaStream
    from moothall.voice.webrtc.dtls import DtlsAssociation
    from moothall.voice.webrtc.srtp import SrtpSession

MAX_PATHS: Final = 8
"""Addresses that a browser may have checked; the one that was checked longest ago makes room."""
MAX_SOURCES: Final = 16
"""SSRCs that a browser may send with in one association: the library keeps something of each."""
CONSENT_SECONDS: Final = 30.0
"""How long sound is sent to a browser after its last check (RFC 7675)."""
_WITHOUT_EXTENSION: Final = 0x80
_WITH_EXTENSION: Final = 0x90
_PACKET: Final = struct.Struct(">BBHII")
_SEQUENCES: Final = 0xFFFF
_FORWARD: Final = 0x4000
"""A number that is further ahead of the last one begins a new run."""
_BACKWARD: Final = 0xFF80
"""From here on a number is one that arrives late."""


class BrowserTransport:
    """The transport of a session with protocol `webrtc`."""

    __slots__ = (
        "_runs",
        "association",
        "checked_at",
        "credentials",
        "offer",
        "paths",
        "payload_type",
        "selected",
        "source",
        "sources",
        "srtp",
        "timer",
        "ufrags",
        "video",
    )

    def __init__(self, offer: Offer, association: "DtlsAssociation") -> None:
        self.offer = offer
        self.payload_type = offer.payload_type
        self.association = association
        self.credentials: list[Credentials] = [new_credentials()]
        """Those of the server's side: the newest first, and those before the last restart of ICE."""
        self.ufrags: list[str] = [offer.ufrag]
        """Those of the client's side that belong to them."""
        self.paths: dict[Address, Sender] = {}
        """From where authentic checks have come, and at which socket; the last one at the end."""
        self.selected: Address | None = None
        """The one that the client has nominated last."""
        self.checked_at = 0.0
        self.srtp: SrtpSession | None = None
        """Once the handshake is done."""
        self.sources: set[int] = set()
        """SSRCs that authentic packets have come with."""
        self.source = 0
        """The one of the sound; 0 before the first packet."""
        self.timer: asyncio.TimerHandle | None = None
        """Of the handshake's retransmissions."""
        self.video: BrowserVideo | None = BrowserVideo(offer.video) if offer.video else None
        """Of a browser whose offer has a codec of video."""
        self._runs: dict[int, tuple[int, int]] = {}
        """For each source that this browser hears: its last number, and what is added to its numbers."""

    def restart(self, offer: Offer) -> None:
        """Give out new credentials; those that were the newest stay valid meanwhile."""
        self.offer = offer
        self.payload_type = offer.payload_type
        self.credentials = [new_credentials(), self.credentials[0]]
        self.ufrags = [offer.ufrag, self.ufrags[0]]
        if self.video is not None:
            self.video.set_codecs(offer.video)

    def password(self, username: str) -> str | None:
        """The password for checks with a user name, if it is one of this transport's."""
        for own, ufrag in zip(self.credentials, self.ufrags, strict=True):
            if username == f"{own.ufrag}:{ufrag}":
                return own.password
        return None

    def add_path(self, address: Address, source: Sender, now: float) -> Address | None:
        """Note that an authentic check came from an address; the address that makes room for it."""
        self.checked_at = now
        self.paths.pop(address, None)
        self.paths[address] = source
        if len(self.paths) <= MAX_PATHS:
            return None
        oldest = next(each for each in self.paths if each != self.selected)
        del self.paths[oldest]
        return oldest

    def remove_path(self, address: Address) -> None:
        """Forget an address, which has become another session's."""
        self.paths.pop(address, None)
        if self.selected == address:
            self.selected = None

    def may_use(self, ssrc: int) -> bool:
        """Whether a packet with a source may be authentic: there are only a few of them."""
        return ssrc in self.sources or len(self.sources) < MAX_SOURCES

    def encrypted(
        self, ssrc: int, sequence: int, timestamp: int, flags: tuple[int, int], payload: bytes
    ) -> bytes | None:
        """A packet of a source for this browser; None where it cannot be encrypted.

        `flags` are the first byte of the header, and the bit of the marker. The numbers of a source that jump go on
        without a gap: a jump backwards, or one of more than 2**15 while nothing was sent, would end its sound.
        """
        if self.srtp is None:
            return None
        last, added = self._runs.get(ssrc, (sequence, 0))
        if _FORWARD <= (sequence - last) & _SEQUENCES < _BACKWARD:
            added = (last + added + 1 - sequence) & _SEQUENCES
        if (sequence - last) & _SEQUENCES < _BACKWARD:
            self._runs[ssrc] = sequence, added
        number = (sequence + added) & _SEQUENCES
        first, marker = flags
        return self.srtp.encrypt(_PACKET.pack(first, marker | self.payload_type, number, timestamp, ssrc) + payload)

    def encrypted_packet(
        self, flags: int, number: int, timestamp: int, ssrc: int, extension: bytes, payload: bytes
    ) -> bytes | None:
        """A packet of video for this browser; None where it cannot be encrypted.

        `flags` are the bit of the marker and the payload type, `extension` is the header extension, if any.
        """
        if self.srtp is None:
            return None
        first = _WITH_EXTENSION if extension else _WITHOUT_EXTENSION
        return self.srtp.encrypt(_PACKET.pack(first, flags, number, timestamp, ssrc) + extension + payload)

    def encrypted_rtcp(self, plain: bytes) -> bytes | None:
        """A packet of RTCP for this browser; None where it cannot be encrypted."""
        return None if self.srtp is None else self.srtp.encrypt_rtcp(plain)

    def close(self) -> None:
        """End the transport: nothing is sent again."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None

    def forget_stream(self, stream: "MediaStream") -> None:
        """Free what is kept of another client's stream, which ends."""
        self.forget(stream.ssrc)
        if (
            self.video is not None
            and self.video.subscriptions.pop(stream.ssrc, None) is not None
            and self.srtp is not None
        ):
            self.srtp.forget(stream.ssrc)
            self.srtp.forget(stream.rtx_ssrc)

    def forget(self, ssrc: int) -> None:
        """Free what is kept of a source that sends no more."""
        if self._runs.pop(ssrc, None) is not None and self.srtp is not None:
            self.srtp.forget(ssrc)
