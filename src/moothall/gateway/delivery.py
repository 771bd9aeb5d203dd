"""Handing one event to many sessions."""

from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct

from moothall.bus import Audience, Envelope
from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import GuildView
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings, Metrics
from moothall.gateway.state_events import read_thread_users
from moothall.objects.intents import Intent

_AT_ONCE: Final = 512
"""So many sessions are told of an event in one go; more would keep the loop for milliseconds."""
_SLICE: Final = 256


def told_of_members(audience: Sequence[Session], envelope: Envelope) -> list[Session]:
    """Those who hear THREAD_MEMBERS_UPDATE: without GUILD_MEMBERS only whom it is about."""
    concerned = read_thread_users(envelope.data)
    return [s for s in audience if s.intents & Intent.GUILD_MEMBERS or s.user_id in concerned]


class _Rest(Struct):
    """A delivery under way: those from `start` on have not been told."""

    audience: Sequence[Session]
    start: int
    full: Frame
    bare: Frame | None
    exempt: Collection[int]


class Delivery:
    """Makes frames of envelopes, each once, and gives them to the sessions that may hear them.

    A very large audience is told in slices: `wake` is called when one is left over, and `go_on` tells
    the next. Whatever is to be told meanwhile waits for nothing: it ends the delivery under way first,
    so that every session hears everything in one order.
    """

    __slots__ = ("_count", "_max_bytes", "_max_frames", "_metrics", "_rest", "_wake")

    def __init__(self, settings: GatewaySettings, metrics: Metrics, wake: Callable[[], None]) -> None:
        self._max_frames = settings.replay_frames
        self._max_bytes = settings.replay_bytes
        self._metrics = metrics
        self._count = 0
        self._wake = wake
        self._rest: _Rest | None = None

    @property
    def under_way(self) -> bool:
        """Whether a delivery has been left over."""
        return self._rest is not None

    def go_on(self) -> None:
        """Tell the next slice."""
        rest = self._rest
        if rest is not None:
            end = rest.start + _SLICE
            self._hand(rest.audience[rest.start : end], rest.full, rest.bare, rest.exempt)
            rest.start = end
            if end >= len(rest.audience):
                self._rest = None

    def in_guild(self, view: GuildView, envelope: Envelope, *, but: int = 0) -> None:
        """Tell an event to those in a guild who may hear it, without the sessions of user `but`."""
        channel_id = envelope.channel_id if envelope.audience is Audience.CHANNEL else 0
        if envelope.audience is Audience.USERS:
            audience = view.own_audience(envelope.channel_id, envelope.intent, envelope.user_ids)
        elif envelope.thread_id and envelope.user_ids:
            audience = view.thread_audience(channel_id, envelope.permission, envelope.intent, envelope.user_ids)
        else:
            audience = view.audience(channel_id, envelope.permission, envelope.intent)
        if envelope.name == "THREAD_MEMBERS_UPDATE":
            audience = told_of_members(audience, envelope)
        if but:
            audience = [s for s in audience if s.user_id != but]
        self.to(audience, envelope)

    def to(self, audience: Sequence[Session], envelope: Envelope) -> None:
        """Tell an event to sessions already chosen; those without MESSAGE_CONTENT get what is left of it."""
        if not audience:
            return
        full = Frame(envelope.name, bytes(envelope.data))
        bare = None if envelope.stripped is None else Frame(envelope.name, bytes(envelope.stripped))
        self._tell(audience, full, bare, envelope.exempt)

    def frame(self, audience: Sequence[Session], frame: Frame) -> None:
        """Give one frame to sessions."""
        self._tell(audience, frame, None, ())

    def _tell(self, audience: Sequence[Session], full: Frame, bare: Frame | None, exempt: Collection[int]) -> None:
        while self._rest is not None:
            self.go_on()
        if len(audience) <= _AT_ONCE:
            self._hand(audience, full, bare, exempt)
        else:
            self._rest = _Rest(audience, 0, full, bare, exempt)
            self.go_on()
            self._wake()

    def _hand(self, audience: Sequence[Session], full: Frame, bare: Frame | None, exempt: Collection[int]) -> None:
        max_frames, max_bytes = self._max_frames, self._max_bytes
        if bare is None:
            for session in audience:
                session.dispatch(full, max_frames, max_bytes)
        else:
            for session in audience:
                whole = session.intents & Intent.MESSAGE_CONTENT or session.user_id in exempt
                session.dispatch(full if whole else bare, max_frames, max_bytes)
        self._count += len(audience)

    def report(self) -> None:
        """Tell the metrics what was delivered since the last report."""
        if self._count:
            self._metrics.delivered += self._count
            self._count = 0
