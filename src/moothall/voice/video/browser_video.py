"""The video of one browser: its codecs, the streams that it sends, and what it receives of others."""

import asyncio
from typing import Final

from moothall.voice.video.bandwidth import Bandwidth
from moothall.voice.video.codecs import VideoCodec
from moothall.voice.video.feedback import Arrivals
from moothall.voice.video.media_stream import MediaStream
from moothall.voice.video.subscription import Subscription

RESENT: Final = 400
"""Packets that a receiver may have again between two rounds of choosing layers."""


class BrowserVideo:
    """What a transport has beside sound, once its offer names a codec of video."""

    __slots__ = (
        "announced_at",
        "arrivals",
        "bandwidth",
        "by_rtx_ssrc",
        "by_ssrc",
        "codecs",
        "payload_types",
        "resent",
        "subscriptions",
        "timer",
    )

    def __init__(self, codecs: tuple[VideoCodec, ...]) -> None:
        self.payload_types: dict[str, VideoCodec] = {}
        """By the name of the codec."""
        self.codecs: dict[int, tuple[str, bool]] = {}
        """By payload type: the codec, and whether packets of it are sent again (RTX)."""
        self.set_codecs(codecs)
        self.by_ssrc: dict[int, MediaStream] = {}
        """The streams that the browser sends, by its own SSRCs."""
        self.by_rtx_ssrc: dict[int, MediaStream] = {}
        self.arrivals = Arrivals()
        self.announced_at = 0.0
        """When the browser was told last of what has arrived."""
        self.timer: asyncio.TimerHandle | None = None
        self.subscriptions: dict[int, Subscription] = {}
        """What the browser is sent, by the SSRC that it knows it by."""
        self.bandwidth = Bandwidth()
        self.resent = 0

    def set_codecs(self, codecs: tuple[VideoCodec, ...]) -> None:
        """Take over the payload types of an offer."""
        self.payload_types = {each.name: each for each in codecs}
        self.codecs = {each.payload_type: (each.name, False) for each in codecs}
        self.codecs |= {each.rtx_payload_type: (each.name, True) for each in codecs if each.rtx_payload_type}

    def name_ssrcs(self, stream: MediaStream, ssrc: int, rtx_ssrc: int) -> None:
        """Note with which SSRCs the browser sends a stream; 0 for one that is not known."""
        if ssrc:
            self.by_ssrc.pop(stream.own_ssrc, None)
            stream.own_ssrc = ssrc
            self.by_ssrc[ssrc] = stream
        if rtx_ssrc:
            self.by_rtx_ssrc.pop(stream.own_rtx_ssrc, None)
            stream.own_rtx_ssrc = rtx_ssrc
            self.by_rtx_ssrc[rtx_ssrc] = stream

    def close(self) -> None:
        """Tell the browser nothing more."""
        if self.timer is not None:
            self.timer.cancel()
            self.timer = None
