"""Fan-out: dispatching one event to many sessions."""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final

from msgspec import Struct

from moothall.bus import Audience, Envelope
from moothall.gateway.audience.event_payloads import read_thread_members_update
from moothall.gateway.audience.guild_view import GuildView
from moothall.gateway.audience.selective_audience import selective_audience
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings, Metrics
from moothall.objects.ids import UserId
from moothall.objects.intents import Intent

_log = logging.getLogger(__name__)

_MAX_UNSLICED: Final = 512
"""A larger audience is dispatched in slices; at once it would block the event loop for milliseconds."""
_SLICE: Final = 256


def thread_members_audience(audience: Sequence[Session], envelope: Envelope) -> list[Session]:
    """The sessions of an audience that receive THREAD_MEMBERS_UPDATE: without GUILD_MEMBERS only one's own changes."""
    update = read_thread_members_update(envelope.data)
    user_ids = update.user_ids()
    return [s for s in audience if s.intents & Intent.GUILD_MEMBERS or s.user_id in user_ids]


def _without_own_presence(view: GuildView, envelope: Envelope, audience: Sequence[Session]) -> Sequence[Session]:
    """An audience without the own sessions of the user of PRESENCE_UPDATE that do not receive it."""
    members = [member for user_id in envelope.user_ids if (member := view.members.get(user_id)) is not None]
    excluded = [s for member in members for s in member.sessions if not s.receives_own_presence]
    return [session for session in audience if session not in excluded] if excluded else audience


class _FanOut(Struct):
    """A dispatch in progress: the sessions from `start` on have not received it yet."""

    audience: Sequence[Session]
    start: int
    full: Frame
    stripped: Frame | None
    exempt: Collection[UserId]


class Dispatcher:
    """Encodes envelopes as frames, each once, and dispatches them to sessions.

    A very large audience is dispatched in slices: `schedule` is called when some of it is left, and
    `dispatch_next_slice` continues. A dispatch meanwhile finishes the one in progress first, so that every
    session receives all events in the same order.

    No exception of one session's dispatch leaves it: the others receive the event, and `on_failure` is called with the
    sessions that did not.
    """

    __slots__ = ("_count", "_in_progress", "_max_bytes", "_max_frames", "_metrics", "_on_failure", "_schedule")

    def __init__(
        self,
        settings: GatewaySettings,
        metrics: Metrics,
        schedule: Callable[[], None],
        on_failure: Callable[[Sequence[Session]], None],
    ) -> None:
        self._max_frames = settings.replay_frames
        self._max_bytes = settings.replay_bytes
        self._metrics = metrics
        self._count = 0
        self._schedule = schedule
        self._on_failure = on_failure
        self._in_progress: _FanOut | None = None

    @property
    def in_progress(self) -> bool:
        """Whether some of an audience is left."""
        return self._in_progress is not None

    def dispatch_next_slice(self) -> None:
        """Dispatch to the next slice of the audience in progress, if any."""
        fan_out = self._in_progress
        if fan_out is not None:
            start, end = fan_out.start, fan_out.start + _SLICE
            # Before the slice, so that whatever happens in it the next one follows.
            fan_out.start = end
            if end >= len(fan_out.audience):
                self._in_progress = None
            self._dispatch_now(fan_out.audience[start:end], fan_out.full, fan_out.stripped, fan_out.exempt)

    def finish(self) -> None:
        """Dispatch to all that is left of the audience in progress."""
        while self._in_progress is not None:
            self.dispatch_next_slice()

    def dispatch_in_guild(
        self,
        view: GuildView,
        envelope: Envelope,
        *,
        except_user_id: UserId | None = None,
        except_sessions: Collection[Session] = (),
        only_sessions: Collection[Session] = (),
    ) -> None:
        """Dispatch an event to the sessions in a guild that may receive it, except some sessions, or only to some."""
        channel_id = envelope.channel_id if envelope.audience is Audience.CHANNEL else None
        audience: Sequence[Session]
        if envelope.audience is Audience.USERS:
            audience = view.users_audience(envelope.channel_id, envelope.intent, envelope.user_ids)
        elif channel_id is not None and envelope.thread_id and envelope.user_ids:
            audience = view.private_thread_audience(channel_id, envelope.intent, envelope.user_ids)
        else:
            audience = view.audience(channel_id, envelope.permission, envelope.intent)
        if envelope.name == "THREAD_MEMBERS_UPDATE":
            audience = thread_members_audience(audience, envelope)
        elif envelope.name == "PRESENCE_UPDATE":
            audience = _without_own_presence(view, envelope, audience)
            if view.ahead:
                view.ahead_presences.update(envelope.user_ids)
        if view.interests and envelope.audience is not Audience.USERS:
            audience = selective_audience(view, envelope, audience)
        if except_user_id is not None:
            audience = [s for s in audience if s.user_id != except_user_id]
        audience = view.without_joined(audience)
        if except_sessions:
            audience = [s for s in audience if s not in except_sessions]
        if only_sessions:
            audience = [s for s in audience if s in only_sessions]
        self.dispatch(audience, envelope)

    def dispatch(self, audience: Sequence[Session], envelope: Envelope) -> None:
        """Dispatch an event to sessions; those without MESSAGE_CONTENT receive `stripped` unless exempt."""
        if not audience:
            return
        full = Frame(envelope.name, bytes(envelope.data))
        stripped = None if envelope.stripped is None else Frame(envelope.name, bytes(envelope.stripped))
        self._fan_out(audience, full, stripped, envelope.exempt)

    def dispatch_frame(self, audience: Sequence[Session], frame: Frame) -> None:
        """Dispatch a frame to sessions."""
        self._fan_out(audience, frame, None, ())

    def _fan_out(
        self, audience: Sequence[Session], full: Frame, stripped: Frame | None, exempt: Collection[UserId]
    ) -> None:
        self.finish()
        if len(audience) <= _MAX_UNSLICED:
            self._dispatch_now(audience, full, stripped, exempt)
        else:
            self._in_progress = _FanOut(audience, 0, full, stripped, exempt)
            self.dispatch_next_slice()
            self._schedule()

    def _dispatch_now(
        self, audience: Sequence[Session], full: Frame, stripped: Frame | None, exempt: Collection[UserId]
    ) -> None:
        max_frames, max_bytes = self._max_frames, self._max_bytes
        failed: list[Session] | None = None
        for session in audience:
            try:
                if stripped is None or session.intents & Intent.MESSAGE_CONTENT or session.user_id in exempt:
                    session.dispatch(full, max_frames, max_bytes)
                else:
                    session.dispatch(stripped, max_frames, max_bytes)
            except Exception:  # noqa: BLE001 - one session's failure must not affect the others
                if failed is None:
                    failed = []
                    _log.exception("an event could not be dispatched to a session of user %s", session.user_id)
                failed.append(session)
        self._count += len(audience)
        if failed is not None:
            self._on_failure(failed)

    def report_metrics(self) -> None:
        """Add the dispatches since the last report to the metrics."""
        if self._count:
            self._metrics.delivered += self._count
            self._count = 0
