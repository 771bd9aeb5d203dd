"""What a change of a guild's state does to who sees what, and how sessions are told."""

from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any, Final

from moothall.bus import Envelope
from moothall.gateway.delivery import Delivery
from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.session import Session
from moothall.gateway.snapshots import Snapshots
from moothall.gateway.state_events import (
    Visibility,
    apply_guild,
    apply_role,
    hidden_channel,
    read_channel,
    read_member,
    read_user_id,
)
from moothall.objects.intents import Intent


class Changes:
    """Follows the state events of guilds.

    A session is told CHANNEL_CREATE of a channel that a change reveals to its user and CHANNEL_DELETE
    of one that it hides: right after the event of the role, the member or the guild, and in place of
    CHANNEL_UPDATE when the channel's own overwrites did it. Needs the database only for channels
    revealed.
    """

    def __init__(self, delivery: Delivery, snapshots: Snapshots, lose: Callable[[Session, int], None]) -> None:
        self._delivery = delivery
        self._snapshots = snapshots
        self._lose = lose
        """Ends a session's hearing of a guild that its user left."""

    def following(self, view: GuildView, envelope: Envelope) -> Coroutine[Any, Any, None] | None:
        """The work that an event of a guild's state makes; None for any other event, which is only to be told."""
        follow = _FOLLOW.get(envelope.name)
        return None if follow is None else follow(self, view, envelope)

    async def member_added(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_ADD: all but the sessions of the one who joined, which have GUILD_CREATE instead."""
        self._delivery.in_guild(view, envelope, but=read_user_id(envelope.data))

    async def member_removed(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_REMOVE: the sessions of the one who left lose the guild."""
        member = view.members.get(read_user_id(envelope.data))
        if member is not None:
            for session in list(member.sessions):
                self._lose(session, view.id)
        self._delivery.in_guild(view, envelope)

    async def member_updated(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_UPDATE: one's own is heard without the intent too."""
        self._delivery.in_guild(view, envelope)
        update = read_member(envelope.data)
        member = view.members.get(update.user.id)
        if member is None:
            return
        if envelope.intent:
            self._delivery.to([s for s in member.sessions if not s.intents & envelope.intent], envelope)
        before = Visibility(view, (member,))
        update.apply(member)
        view.member_changed()
        await self._tell_changes(view, before)

    async def guild_updated(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_UPDATE: the owner may be another."""
        before = Visibility(view, view.members.values())
        apply_guild(view, envelope.data)
        self._delivery.in_guild(view, envelope)
        await self._tell_changes(view, before)

    async def guild_deleted(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_DELETE: nobody hears the guild any more."""
        self._delivery.in_guild(view, envelope)
        for member in view.members.values():
            for session in member.sessions:
                session.guilds.discard(view.id)
        view.members.clear()
        view.changed()

    async def role_changed(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_ROLE_CREATE, GUILD_ROLE_UPDATE and GUILD_ROLE_DELETE."""
        before = Visibility(view, view.members.values())
        apply_role(view, envelope.name, envelope.data)
        self._delivery.in_guild(view, envelope)
        await self._tell_changes(view, before)

    async def channel_created(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_CREATE: those who may see it."""
        channel = read_channel(envelope.data)
        view.channels[int(channel.id)] = channel.view()
        view.changed()
        self._delivery.to(view.audience(int(channel.id), 0, envelope.intent), envelope)

    async def channel_updated(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_UPDATE: CHANNEL_CREATE or CHANNEL_DELETE instead for those whom it lets see the channel or not."""
        channel = read_channel(envelope.data)
        channel_id = int(channel.id)
        old = view.channels.get(channel_id)
        if old is None:
            await self.channel_created(view, envelope)
            return
        new = channel.view()
        if new.overwrites == old.overwrites:
            view.channels[channel_id] = new
            self._delivery.to(view.audience(channel_id, 0, envelope.intent), envelope)
            return
        saw = view.audience(channel_id, 0, envelope.intent)
        view.channels[channel_id] = new
        view.changed()
        sees = view.audience(channel_id, 0, envelope.intent)
        saw_set, sees_set = set(saw), set(sees)
        hidden = [s for s in saw if s not in sees_set]
        revealed = [s for s in sees if s not in saw_set]
        if hidden:
            self._delivery.frame(hidden, Frame("CHANNEL_DELETE", hidden_channel(view, channel_id, old)))
        self._delivery.frame(revealed, Frame("CHANNEL_CREATE", bytes(envelope.data)))
        self._delivery.to([s for s in sees if s in saw_set], envelope)
        for session in revealed:
            await self._sync_threads(view, (channel_id,), session.user_id, (session,))

    async def channel_deleted(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_DELETE: those who could see it."""
        channel_id = int(read_channel(envelope.data).id)
        self._delivery.to(view.audience(channel_id, 0, envelope.intent), envelope)
        view.channels.pop(channel_id, None)
        view.changed()

    async def _tell_changes(self, view: GuildView, before: Visibility) -> None:
        """CHANNEL_DELETE for what a change has hidden, CHANNEL_CREATE for what it has revealed."""
        changes = before.changes()
        if not changes:
            return
        view.member_changed()
        frames = _ChannelFrames(view, self._snapshots)
        await frames.load(frozenset().union(*(revealed for _, _, revealed in changes)))
        for member, hidden, revealed in changes:
            await self._tell(view, frames, member, member.sessions, hidden, revealed)

    async def tell(
        self,
        view: GuildView,
        member: MemberView,
        sessions: Sequence[Session],
        hidden: frozenset[int],
        revealed: frozenset[int],
    ) -> None:
        """CHANNEL_DELETE and CHANNEL_CREATE to some sessions of a member."""
        frames = _ChannelFrames(view, self._snapshots)
        await frames.load(revealed)
        await self._tell(view, frames, member, sessions, hidden, revealed)

    async def _tell(
        self,
        view: GuildView,
        frames: "_ChannelFrames",
        member: MemberView,
        sessions: Sequence[Session],
        hidden: frozenset[int],
        revealed: frozenset[int],
    ) -> None:
        sessions = [s for s in sessions if s.intents & Intent.GUILDS]
        if not sessions:
            return
        for frame in frames.gone(hidden):
            self._delivery.frame(sessions, frame)
        for frame in frames.come(revealed):
            self._delivery.frame(sessions, frame)
        await self._sync_threads(view, revealed, member.user_id, sessions)

    async def _sync_threads(
        self, view: GuildView, channel_ids: Iterable[int], user_id: int, sessions: Sequence[Session]
    ) -> None:
        channel_ids = list(channel_ids)
        data = await self._snapshots.threads(view, channel_ids, user_id) if channel_ids else None
        if data is not None:
            self._delivery.frame([s for s in sessions if s.intents & Intent.GUILDS], Frame("THREAD_LIST_SYNC", data))


class _ChannelFrames:
    """The frames that tell of channels revealed and hidden, each made once."""

    def __init__(self, view: GuildView, snapshots: Snapshots) -> None:
        self._view = view
        self._snapshots = snapshots
        self._created: dict[int, Frame] = {}
        self._deleted: dict[int, Frame] = {}

    async def load(self, channel_ids: frozenset[int]) -> None:
        """Read the channels that are to be revealed."""
        if channel_ids:
            found = await self._snapshots.channel_objects(self._view.id, channel_ids)
            self._created = {channel_id: Frame("CHANNEL_CREATE", data) for channel_id, data in found.items()}

    def come(self, channel_ids: Iterable[int]) -> list[Frame]:
        """CHANNEL_CREATE of each that still exists, oldest first."""
        return [self._created[channel_id] for channel_id in sorted(channel_ids) if channel_id in self._created]

    def gone(self, channel_ids: Iterable[int]) -> list[Frame]:
        """CHANNEL_DELETE of each."""
        return [self._gone(channel_id) for channel_id in sorted(channel_ids)]

    def _gone(self, channel_id: int) -> Frame:
        found = self._deleted.get(channel_id)
        if found is None:
            # Deleted meanwhile: its id is all that is left to say.
            channel = self._view.channels.get(channel_id) or ChannelView(0, {})
            found = self._deleted[channel_id] = Frame(
                "CHANNEL_DELETE", hidden_channel(self._view, channel_id, channel)
            )
        return found


_Follow = Callable[[Changes, GuildView, Envelope], Coroutine[Any, Any, None]]

_FOLLOW: Final[dict[str, _Follow]] = {
    "GUILD_MEMBER_ADD": Changes.member_added,
    "GUILD_MEMBER_REMOVE": Changes.member_removed,
    "GUILD_MEMBER_UPDATE": Changes.member_updated,
    "GUILD_UPDATE": Changes.guild_updated,
    "GUILD_DELETE": Changes.guild_deleted,
    "GUILD_ROLE_CREATE": Changes.role_changed,
    "GUILD_ROLE_UPDATE": Changes.role_changed,
    "GUILD_ROLE_DELETE": Changes.role_changed,
    "CHANNEL_CREATE": Changes.channel_created,
    "CHANNEL_UPDATE": Changes.channel_updated,
    "CHANNEL_DELETE": Changes.channel_deleted,
}
