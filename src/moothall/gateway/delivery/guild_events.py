"""Events that change a guild's state: they update the guild's view and may reveal channels to sessions or hide them."""

from collections.abc import Callable, Coroutine, Sequence
from typing import Final

from moothall.bus import Envelope
from moothall.gateway.audience.dispatcher import Dispatcher
from moothall.gateway.audience.event_payloads import (
    read_channel,
    read_member,
    read_owner_id,
    read_role,
    read_thread_members_update,
    read_user_id,
    remove_role,
)
from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.delivery.visibility import VisibilityFrames, VisibilitySnapshot, hidden_channel
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.presence_events import presence_update
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.user_presence import OFFLINE
from moothall.gateway.snapshot.source import GuildSource
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent


class GuildEventHandler:
    """Dispatches the state events of guilds and updates their views.

    When a change reveals a channel to a user, their sessions receive CHANNEL_CREATE; when it hides one,
    CHANNEL_DELETE: after the event of the role, member or guild, and instead of CHANNEL_UPDATE if the channel's
    overwrites changed. Only revealed channels are read from the database.
    """

    def __init__(
        self,
        dispatcher: Dispatcher,
        source: GuildSource,
        remove_session: Callable[[Session, GuildId], None],
        announce_session: Callable[[Session, GuildView], None],
    ) -> None:
        self._dispatcher = dispatcher
        self._source = source
        self._remove_session = remove_session
        """Removes a session from a guild that its user left."""
        self._announce_session = announce_session
        """Announces that a session receives a guild's events, to those who take its user for one who has left."""

    @staticmethod
    def changes_state(envelope: Envelope) -> bool:
        """Whether an event changes a guild's state."""
        return envelope.name in _HANDLERS

    async def handle(self, view: GuildView, envelope: Envelope) -> None:
        """Dispatch an event that changes a guild's state, and apply it."""
        await _HANDLERS[envelope.name](self, view, envelope)

    async def guild_member_add(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_ADD. The new member's own sessions receive GUILD_CREATE instead.

        Those that have the guild without being counted in it receive the event too.
        """
        except_user_id = None if envelope.state_version else read_user_id(envelope.data)
        self._dispatcher.dispatch_in_guild(view, envelope, except_user_id=except_user_id, except_sessions=view.served)
        member = view.members.get(read_user_id(envelope.data))
        if member is not None and envelope.state_version > member.state_version:
            before = VisibilitySnapshot(view, (member,))
            read_member(envelope.data).rejoin(member, envelope.state_version)
            view.invalidate_audiences()
            await self._dispatch_visibility_changes(view, before)

    async def guild_member_remove(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_REMOVE. The removed member's own sessions receive GUILD_DELETE first.

        Sessions that are served lack the member in their GUILD_CREATE. If they were sent a presence since, they receive
        PRESENCE_UPDATE.
        """
        user_id = read_user_id(envelope.data)
        has_presence = user_id in view.ahead_presences
        served = view.served
        member = view.members.get(user_id)
        stayed: list[Session] = []
        for session in [] if member is None else list(member.sessions):
            if session in served:
                # It has the leave in its GUILD_CREATE, and is of a user who has joined again.
                stayed.append(session)
            else:
                self._remove_session(session, view.id)
        self._dispatcher.dispatch_in_guild(view, envelope, except_sessions=served)
        if served and has_presence:
            offline = presence_update(user_id, view.id, OFFLINE)
            self._dispatcher.dispatch_in_guild(view, offline, except_user_id=user_id, only_sessions=served)
        for session in stayed:
            self._announce_session(session, view)
        if stayed and member is not None and member.lacks(envelope):
            before = VisibilitySnapshot(view, (member,))
            member.left = True
            member.state_version = envelope.state_version or member.state_version
            view.invalidate_audiences()
            await self._dispatch_visibility_changes(view, before)

    async def guild_member_update(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_MEMBER_UPDATE. The member's own sessions receive it without the intent too.

        Sessions that are served have it in their GUILD_CREATE, and maybe also that the member has left since.
        """
        self._dispatcher.dispatch_in_guild(view, envelope, except_sessions=view.served)
        update = read_member(envelope.data)
        member = view.members.get(update.user.id)
        if member is None or not member.lacks(envelope):
            return
        if envelope.intent:
            own = [s for s in member.sessions if not s.intents & envelope.intent and s not in view.served]
            self._dispatcher.dispatch(view.without_joined(own), envelope)
        before = VisibilitySnapshot(view, (member,))
        update.apply(member, envelope.state_version)
        view.invalidate_audiences()
        await self._dispatch_visibility_changes(view, before)

    async def guild_update(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_UPDATE, which may change the owner."""
        owner_id = read_owner_id(envelope.data)
        if owner_id == view.owner_id:
            self._dispatcher.dispatch_in_guild(view, envelope)
            return
        owners = [member for user_id, member in view.members.items() if user_id in {view.owner_id, owner_id}]
        before = VisibilitySnapshot(view, owners)
        view.owner_id = owner_id
        view.invalidate()
        self._dispatcher.dispatch_in_guild(view, envelope)
        await self._dispatch_visibility_changes(view, before)

    async def guild_delete(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_DELETE: remove every session from the guild."""
        self._dispatcher.dispatch_in_guild(view, envelope)
        for member in view.members.values():
            for session in member.sessions:
                session.guild_ids.discard(view.id)
        view.members.clear()
        view.interests.clear()
        view.invalidate()

    async def guild_role_change(self, view: GuildView, envelope: Envelope) -> None:
        """GUILD_ROLE_CREATE, GUILD_ROLE_UPDATE and GUILD_ROLE_DELETE."""
        role_id, permissions = read_role(envelope.name, envelope.data)
        if permissions is not None and view.roles.get(role_id) == permissions:
            # Its name, color or position has changed.
            self._dispatcher.dispatch_in_guild(view, envelope)
            return
        before = VisibilitySnapshot(view, view.members_with_role(role_id))
        if permissions is None:
            remove_role(view, role_id)
        else:
            view.roles[role_id] = permissions
        view.invalidate_role(role_id)
        self._dispatcher.dispatch_in_guild(view, envelope)
        await self._dispatch_visibility_changes(view, before)

    async def channel_create(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_CREATE, to those who may view the channel."""
        channel = read_channel(envelope.data)
        view.set_channel(channel.id, channel.view())
        self._dispatcher.dispatch(view.without_joined(view.audience(channel.id, 0, envelope.intent)), envelope)

    async def channel_update(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_UPDATE, or CHANNEL_CREATE and CHANNEL_DELETE to those for whom it reveals or hides the channel."""
        channel = read_channel(envelope.data)
        channel_id = channel.id
        old = view.channels.get(channel_id)
        if old is None:
            await self.channel_create(view, envelope)
            return
        new = channel.view()
        if new.overwrites == old.overwrites:
            view.channels[channel_id] = new
            self._dispatcher.dispatch(view.without_joined(view.audience(channel_id, 0, envelope.intent)), envelope)
            return
        members = list(view.members.values())
        viewers_before = {member.user_id for member in members if channel_id in view.visible_channels(member)}
        managers_before = {member.user_id for member in members if channel_id in view.managed_channels(member)}
        view.set_channel(channel_id, new)
        frames = VisibilityFrames(view, self._source)
        frames.created[channel_id] = Frame("CHANNEL_CREATE", bytes(envelope.data))
        frames.deleted[channel_id] = Frame("CHANNEL_DELETE", hidden_channel(view, channel_id, old))
        channel_ids = frozenset((channel_id,))
        for member in members:
            visible = channel_id in view.visible_channels(member)
            if visible and member.user_id not in viewers_before:
                await self._dispatch_frames(frames, member, member.sessions, _NO_CHANNELS, channel_ids)
            elif not visible and member.user_id in viewers_before:
                await self._dispatch_frames(frames, member, member.sessions, channel_ids, _NO_CHANNELS)
        audience = view.without_joined(view.audience(channel_id, 0, envelope.intent))
        self._dispatcher.dispatch([s for s in audience if s.user_id in viewers_before], envelope)
        for member in members:
            visible = channel_id in view.visible_channels(member)
            manages = channel_id in view.managed_channels(member)
            if visible and member.user_id in viewers_before and (member.user_id in managers_before) != manages:
                await self._sync_private_threads(frames, member, channel_ids)

    async def channel_delete(self, view: GuildView, envelope: Envelope) -> None:
        """CHANNEL_DELETE, to those who could view the channel."""
        channel_id = read_channel(envelope.data).id
        self._dispatcher.dispatch(view.without_joined(view.audience(channel_id, 0, envelope.intent)), envelope)
        view.set_channel(channel_id, None)

    async def thread_members_update(self, view: GuildView, envelope: Envelope) -> None:
        """THREAD_MEMBERS_UPDATE. A member removed from a private thread may no longer reach it."""
        channel_id = envelope.channel_id
        self._dispatcher.dispatch_in_guild(view, envelope, except_sessions=view.served_threads_of(channel_id))
        if not envelope.user_ids or channel_id is None:
            return
        frames, channel_ids = VisibilityFrames(view, self._source), frozenset((channel_id,))
        for user_id in read_thread_members_update(envelope.data).removed_member_ids:
            member = view.members.get(user_id)
            if member is not None and channel_id in view.visible_channels(member) - view.managed_channels(member):
                await self._sync_private_threads(frames, member, channel_ids)

    async def sync_private_threads(
        self, view: GuildView, member: MemberView, session: Session, channel_ids: frozenset[ChannelId]
    ) -> None:
        """Dispatch THREAD_LIST_SYNC to one session for channels in which its user can reach other private threads."""
        frames = VisibilityFrames(view, self._source)
        await self._dispatch_private_threads(frames, member, (session,), channel_ids)

    async def _sync_private_threads(
        self, frames: VisibilityFrames, member: MemberView, channel_ids: frozenset[ChannelId]
    ) -> None:
        """Dispatch THREAD_LIST_SYNC for channels in which a member can reach other private threads than before."""
        await self._dispatch_private_threads(frames, member, member.sessions, channel_ids)

    async def _dispatch_private_threads(
        self,
        frames: VisibilityFrames,
        member: MemberView,
        sessions: Sequence[Session],
        channel_ids: frozenset[ChannelId],
    ) -> None:
        sessions = [s for s in sessions if s.intents & Intent.GUILDS]
        frame = await frames.private_thread_list_sync(member, channel_ids) if sessions else None
        if frame is not None:
            self._dispatcher.dispatch_frame(sessions, frame)

    async def _dispatch_visibility_changes(self, view: GuildView, before: VisibilitySnapshot) -> None:
        """Dispatch CHANNEL_DELETE for the channels that a change hides, CHANNEL_CREATE for those it reveals."""
        changes, management_changes = before.visibility_changes(), before.thread_management_changes()
        if not changes and not management_changes:
            return
        view.invalidate_audiences()
        frames = VisibilityFrames(view, self._source)
        await frames.load(frozenset().union(*(revealed for _, _, revealed in changes)))
        for member, hidden, revealed in changes:
            await self._dispatch_frames(frames, member, member.sessions, hidden, revealed)
        for member, channel_ids in management_changes:
            await self._sync_private_threads(frames, member, channel_ids)

    async def dispatch_visibility_change(
        self,
        view: GuildView,
        member: MemberView,
        session: Session,
        hidden: frozenset[ChannelId],
        revealed: frozenset[ChannelId],
    ) -> None:
        """Dispatch the channels hidden from a member and revealed to them to one session."""
        frames = VisibilityFrames(view, self._source)
        await frames.load(revealed)
        await self._dispatch_frames(frames, member, (session,), hidden, revealed)

    async def _dispatch_frames(
        self,
        frames: VisibilityFrames,
        member: MemberView,
        sessions: Sequence[Session],
        hidden: frozenset[ChannelId],
        revealed: frozenset[ChannelId],
    ) -> None:
        sessions = [s for s in sessions if s.intents & Intent.GUILDS]
        if not sessions:
            return
        for frame in frames.channel_delete(hidden):
            self._dispatcher.dispatch_frame(sessions, frame)
        if not revealed:
            return
        for frame in frames.channel_create(revealed):
            self._dispatcher.dispatch_frame(sessions, frame)
        threads = await frames.thread_list_sync(member, revealed)
        if threads is not None:
            self._dispatcher.dispatch_frame(sessions, threads)
        with_voice_states = [s for s in sessions if s.intents & Intent.GUILD_VOICE_STATES]
        for frame in await frames.voice_states(revealed):
            self._dispatcher.dispatch_frame(with_voice_states, frame)
        with_activities = [s for s in sessions if s.intents & Intent.GUILD_EMBEDDED_ACTIVITIES]
        for frame in await frames.activity_updates(member, revealed) if with_activities else ():
            self._dispatcher.dispatch_frame(with_activities, frame)
        with_events = [s for s in sessions if s.intents & Intent.GUILD_SCHEDULED_EVENTS]
        for name, frame in await frames.stages_and_events(revealed):
            self._dispatcher.dispatch_frame(with_events if name == "GUILD_SCHEDULED_EVENT_CREATE" else sessions, frame)


_NO_CHANNELS: Final[frozenset[ChannelId]] = frozenset()
_Handler = Callable[[GuildEventHandler, GuildView, Envelope], Coroutine[object, None, None]]

_HANDLERS: Final[dict[str, _Handler]] = {
    "GUILD_MEMBER_ADD": GuildEventHandler.guild_member_add,
    "GUILD_MEMBER_REMOVE": GuildEventHandler.guild_member_remove,
    "GUILD_MEMBER_UPDATE": GuildEventHandler.guild_member_update,
    "GUILD_UPDATE": GuildEventHandler.guild_update,
    "GUILD_DELETE": GuildEventHandler.guild_delete,
    "GUILD_ROLE_CREATE": GuildEventHandler.guild_role_change,
    "GUILD_ROLE_UPDATE": GuildEventHandler.guild_role_change,
    "GUILD_ROLE_DELETE": GuildEventHandler.guild_role_change,
    "CHANNEL_CREATE": GuildEventHandler.channel_create,
    "CHANNEL_UPDATE": GuildEventHandler.channel_update,
    "CHANNEL_DELETE": GuildEventHandler.channel_delete,
    "THREAD_MEMBERS_UPDATE": GuildEventHandler.thread_members_update,
}
