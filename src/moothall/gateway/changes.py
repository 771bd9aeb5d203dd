"""What a change of a guild's state does to who sees what, and how sessions are told."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Any, Final

from moothall.bus import Envelope
from moothall.gateway.delivery import Delivery
from moothall.gateway.frames import Frame
from moothall.gateway.guild_view import GuildView, MemberView
from moothall.gateway.session import Session
from moothall.gateway.snapshots import Snapshots
from moothall.gateway.state_events import (
    Visibility,
    apply_guild,
    apply_role,
    hidden_channel,
    read_channel,
    read_member,
    read_removed_users,
    read_user_id,
)
from moothall.gateway.visibility_frames import VisibilityFrames
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
        members = list(view.members.values())
        saw = {member.user_id for member in members if channel_id in view.visible(member)}
        managed = {member.user_id for member in members if channel_id in view.managed(member)}
        view.channels[channel_id] = new
        view.changed()
        told = VisibilityFrames(view, self._snapshots)
        told.created[channel_id] = Frame("CHANNEL_CREATE", bytes(envelope.data))
        told.deleted[channel_id] = Frame("CHANNEL_DELETE", hidden_channel(view, channel_id, old))
        one = frozenset((channel_id,))
        for member in members:
            sees = channel_id in view.visible(member)
            if sees and member.user_id not in saw:
                await self._tell(told, member, member.sessions, _NONE, one)
            elif not sees and member.user_id in saw:
                await self._tell(told, member, member.sessions, one, _NONE)
        self._delivery.to([s for s in view.audience(channel_id, 0, envelope.intent) if s.user_id in saw], envelope)
        for member in members:
            sees = channel_id in view.visible(member)
            if sees and member.user_id in saw and (member.user_id in managed) != (channel_id in view.managed(member)):
                await self._tell_threads(told, member, one)

    async def channel_deleted(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_DELETE: those who could see it."""
        channel_id = int(read_channel(envelope.data).id)
        self._delivery.to(view.audience(channel_id, 0, envelope.intent), envelope)
        view.channels.pop(channel_id, None)
        view.changed()

    async def thread_members_changed(self, view: GuildView, envelope: Envelope) -> None:
        """THREAD_MEMBERS_UPDATE: who is taken out of a private thread may know it no longer."""
        self._delivery.in_guild(view, envelope)
        if not envelope.user_ids:
            return
        told, one = VisibilityFrames(view, self._snapshots), frozenset((envelope.channel_id,))
        for user_id in read_removed_users(envelope.data):
            member = view.members.get(user_id)
            if member is not None and envelope.channel_id in view.visible(member) - view.managed(member):
                await self._tell_threads(told, member, one)

    async def _tell_threads(self, told: VisibilityFrames, member: MemberView, channel_ids: frozenset[int]) -> None:
        """THREAD_LIST_SYNC for channels in which someone reaches other private threads than before."""
        sessions = [s for s in member.sessions if s.intents & Intent.GUILDS]
        frame = await told.threads_now(member, channel_ids) if sessions else None
        if frame is not None:
            self._delivery.frame(sessions, frame)

    async def _tell_changes(self, view: GuildView, before: Visibility) -> None:
        """CHANNEL_DELETE for what a change has hidden, CHANNEL_CREATE for what it has revealed."""
        changes, managing = before.changes(), before.managing()
        if not changes and not managing:
            return
        view.member_changed()
        told = VisibilityFrames(view, self._snapshots)
        await told.load(frozenset().union(*(revealed for _, _, revealed in changes)))
        for member, hidden, revealed in changes:
            await self._tell(told, member, member.sessions, hidden, revealed)
        for member, channel_ids in managing:
            await self._tell_threads(told, member, channel_ids)

    async def tell(
        self,
        view: GuildView,
        member: MemberView,
        sessions: Sequence[Session],
        hidden: frozenset[int],
        revealed: frozenset[int],
    ) -> None:
        """Tell some sessions of a member what was hidden and revealed."""
        told = VisibilityFrames(view, self._snapshots)
        await told.load(revealed)
        await self._tell(told, member, sessions, hidden, revealed)

    async def _tell(
        self,
        told: VisibilityFrames,
        member: MemberView,
        sessions: Sequence[Session],
        hidden: frozenset[int],
        revealed: frozenset[int],
    ) -> None:
        sessions = [s for s in sessions if s.intents & Intent.GUILDS]
        if not sessions:
            return
        for frame in told.gone(hidden):
            self._delivery.frame(sessions, frame)
        if not revealed:
            return
        for frame in told.come(revealed):
            self._delivery.frame(sessions, frame)
        threads = await told.threads(member, revealed)
        if threads is not None:
            self._delivery.frame(sessions, threads)
        listening = [s for s in sessions if s.intents & Intent.GUILD_VOICE_STATES]
        for frame in await told.voice(revealed):
            self._delivery.frame(listening, frame)
        planning = [s for s in sessions if s.intents & Intent.GUILD_SCHEDULED_EVENTS]
        for name, frame in await told.gatherings(revealed):
            self._delivery.frame(planning if name == "GUILD_SCHEDULED_EVENT_CREATE" else sessions, frame)


_NONE: Final[frozenset[int]] = frozenset()
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
    "THREAD_MEMBERS_UPDATE": Changes.thread_members_changed,
}
