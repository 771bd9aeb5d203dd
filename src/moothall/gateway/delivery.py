"""Handing one event to many sessions."""

from collections.abc import Iterable, Sequence

from moothall.bus import Audience, Envelope
from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import GuildView
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings, Metrics
from moothall.gateway.state_events import read_thread_users
from moothall.objects.intents import Intent


class Delivery:
    """Makes frames of envelopes, each once, and gives them to the sessions that may hear them."""

    __slots__ = ("_count", "_metrics", "_most_bytes", "_most_frames")

    def __init__(self, settings: GatewaySettings, metrics: Metrics) -> None:
        self._most_frames = settings.replay_frames
        self._most_bytes = settings.replay_bytes
        self._metrics = metrics
        self._count = 0

    def in_guild(self, view: GuildView, envelope: Envelope, *, but: int = 0) -> None:
        """Tell an event to those in a guild who may hear it, without the sessions of user `but`."""
        channel_id = envelope.channel_id if envelope.audience is Audience.CHANNEL else 0
        if envelope.thread_id and envelope.user_ids:
            audience = view.thread_audience(channel_id, envelope.permission, envelope.intent, envelope.user_ids)
        else:
            audience = view.audience(channel_id, envelope.permission, envelope.intent)
        if envelope.name == "THREAD_MEMBERS_UPDATE":
            concerned = read_thread_users(envelope.data)
            audience = [s for s in audience if s.intents & Intent.GUILD_MEMBERS or s.user_id in concerned]
        if but:
            audience = [s for s in audience if s.user_id != but]
        self.to(audience, envelope)

    def to(self, audience: Sequence[Session], envelope: Envelope) -> None:
        """Tell an event to sessions already chosen; those without MESSAGE_CONTENT get what is left of it."""
        if not audience:
            return
        full = Frame(envelope.name, bytes(envelope.data))
        if envelope.stripped is None:
            self.frame(audience, full)
            return
        bare = Frame(envelope.name, bytes(envelope.stripped))
        for session in audience:
            whole = session.intents & Intent.MESSAGE_CONTENT or session.user_id in envelope.exempt
            session.dispatch(full if whole else bare, self._most_frames, self._most_bytes)
        self._count += len(audience)

    def frame(self, audience: Iterable[Session], frame: Frame) -> None:
        """Give one frame to sessions."""
        most_frames, most_bytes = self._most_frames, self._most_bytes
        count = 0
        for session in audience:
            session.dispatch(frame, most_frames, most_bytes)
            count += 1
        self._count += count

    def report(self) -> None:
        """Tell the metrics what was delivered since the last report."""
        if self._count:
            self._metrics.delivered += self._count
            self._count = 0
