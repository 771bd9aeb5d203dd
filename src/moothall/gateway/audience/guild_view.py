"""A gateway node's view of a guild: what it takes to decide which sessions receive an event."""

import asyncio
from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from msgspec import Struct

from moothall.bus import Audience, Envelope
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.subscriptions import GuildInterest
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import NO_USER, ChannelId, GuildId, RoleId, UserId
from moothall.objects.permissions import (
    Permissions,
    base_permissions,
    channel_permissions,
    guest_permissions,
    implicit,
    timed_out,
)
from moothall.objects.wire import Timestamp

_VIEW = int(Permissions.VIEW_CHANNEL)
_MANAGE_THREADS = int(Permissions.MANAGE_THREADS)
_ADMINISTRATOR = int(Permissions.ADMINISTRATOR)
_NO_CHANNELS: frozenset[ChannelId] = frozenset()
_NO_SESSIONS: frozenset[Session] = frozenset()
_MAX_AUDIENCES = 256
_MAX_SECONDS_BEHIND = 30.0
"""Seconds for which a session that joins a guild waits for events that are on their way."""


class ChannelView(Struct):
    """The fields of a channel (not a thread) that visibility depends on."""

    type: int
    overwrites: dict[int, tuple[int, int]]
    """(allow, deny) by role or user id."""
    name: str = ""
    position: int = 0
    parent_id: ChannelId | None = None


class MemberView(Struct, eq=False):
    """A member who has sessions on this node."""

    user_id: UserId
    role_ids: tuple[RoleId, ...]
    pending: bool
    timed_out_until: int
    """Milliseconds since the Unix epoch; 0 for never."""
    sessions: list[Session]
    quarantined: bool = False
    guest_channel_id: ChannelId | None = None
    """The only channel that a guest sees; None for a member who is no guest."""
    state_version: int = 0
    """The number of the last event of the guild that this has."""
    left: bool = False
    """Whether the member has left, and joined again by an event that is still to come: they see nothing until then."""

    def lacks(self, envelope: Envelope) -> bool:
        """Whether an event that changes the member is newer than what is known of them."""
        return not envelope.state_version or envelope.state_version > self.state_version

    @property
    def restricted(self) -> bool:
        """Whether screening, a timeout or a quarantine leaves the member only the permissions to view and read."""
        return self.pending or self.quarantined or self.timed_out_until > Timestamp.now()


class Ahead(NamedTuple):
    """What the GUILD_CREATE of a session has that is newer than the view."""

    state_version: int
    """The number of the last event that it has."""
    channels: frozenset[ChannelId]
    """The channels whose threads it has."""


class _RoleSet(NamedTuple):
    """What the channels that a member sees depend on: members with equal ones see the same."""

    role_ids: tuple[RoleId, ...]
    user_id: UserId
    """Of the owner, guests and members with an overwrite of their own only; 0 for all others."""
    guest_channel_id: ChannelId | None


class GuildView:
    """A guild's roles and channels, its members with sessions, and the audience of each kind of event.

    Visible channels are computed once for each set of roles, not for each member, and a changed channel is added to or
    removed from what is cached. Audiences are cached until something that they depend on changes.
    """

    __slots__ = (
        "_any_thread_manager_overwrite",
        "_audiences",
        "_audiences_expire_at",
        "_everyone_id",
        "_managed_channels",
        "_overwrites_by_user",
        "_served",
        "_visible_channels",
        "_waiting",
        "ahead",
        "ahead_presences",
        "buffered",
        "channels",
        "dropped",
        "early_presences",
        "id",
        "interests",
        "joined_meanwhile",
        "joining",
        "joining_members",
        "loading",
        "members",
        "owner_id",
        "roles",
        "state_version",
    )

    def __init__(
        self,
        guild_id: GuildId,
        owner_id: UserId | None = None,
        roles: Mapping[RoleId, int] | None = None,
        channels: Mapping[ChannelId, ChannelView] | None = None,
        *,
        state_version: int | None = None,
    ) -> None:
        self.id = guild_id
        self.owner_id = owner_id
        self.roles: dict[RoleId, int] = dict(roles or {})
        """Permission bits by role."""
        self.channels: dict[ChannelId, ChannelView] = dict(channels or {})
        self.state_version = state_version
        """The number of the last event that is applied, so that the view is what the guild was after exactly that one;
        None if it is unknown."""
        self._waiting: list[asyncio.Future[None]] = []
        """Of those who wait for the next event."""
        self.ahead: dict[Session, Ahead] = {}
        """Sessions whose GUILD_CREATE has events that are not delivered yet."""
        self._served: dict[Session, Ahead] = {}
        """Those of them whose GUILD_CREATE has the event that is being applied, if it is of a member."""
        self.ahead_presences: set[UserId] = set()
        """Users whose presences these sessions were sent, one of whom may have left by their GUILD_CREATE."""
        self.dropped = False
        """Whether it is given up: no event is applied to it any more."""
        self.early_presences: set[UserId] | None = None
        """Users whose presence came since the view was read, while events from before that may still come: one of them
        may be that the user left. At most one entry a member; None once an event from after it has come."""
        self.members: dict[UserId, MemberView] = {}
        self.interests: dict[Session, GuildInterest] = {}
        """Sessions that receive only what they have subscribed to; all others receive everything."""
        self.loading: asyncio.Future[None] | None = None
        """Done once the view was read from the database, or could not be; None before and after that."""
        self.joining: dict[Session, deque[Envelope]] = {}
        """Sessions whose GUILD_CREATE is being read, with the events to send after it."""
        self.joining_members: dict[Session, MemberView] = {}
        """The members of these sessions, which events change as they change the view."""
        self.buffered: deque[Envelope] | None = None
        """Envelopes to deliver after a database read in progress; None while there is no such read."""
        self.joined_meanwhile: set[Session] = set()
        """Sessions that joined while an event is applied, which was among those kept for them."""
        self._overwrites_by_user: Counter[int] = Counter()
        """How many channels have an overwrite of a user."""
        self._everyone_id = RoleId(guild_id)
        self._visible_channels: dict[_RoleSet, frozenset[ChannelId]] = {}
        self._managed_channels: dict[_RoleSet, frozenset[ChannelId]] = {}
        self._audiences: dict[tuple[ChannelId | None, int, int], list[Session]] = {}
        self._audiences_expire_at = 0
        """When the next timeout of a member ends, which changes audiences without an event; 0 for never."""
        self.invalidate()

    async def wait_until_loaded(self) -> None:
        """Wait for the task that loads the view, if there is one."""
        if self.loading is not None:
            await self.loading

    async def wait_until_applied(self, state_version: int) -> None:
        """Wait until an event of a number is applied; returns early when the view is dropped. Raises TimeoutError.

        Without it, a member who was read after it would be seen by roles and channels from before it: together they may
        show what no state of the guild has shown.
        """
        if self.state_version is None or self.state_version >= state_version:
            return
        loop = asyncio.get_running_loop()
        deadline = loop.time() + _MAX_SECONDS_BEHIND
        while self.state_version < state_version and not self.dropped:
            applied = loop.create_future()
            self._waiting.append(applied)
            # Not by `asyncio.timeout`, which needs a task: what is run inline may have none.
            timer = loop.call_at(deadline, _time_out, applied)
            try:
                await applied
            finally:
                timer.cancel()

    def drop(self) -> None:
        """Give the view up: no session waits for its events any longer."""
        self.dropped = True
        _wake(self._waiting)

    def invalidate(self) -> None:
        """Clear every cache, after a change of the owner or of @everyone."""
        self._visible_channels.clear()
        self._managed_channels.clear()
        self._audiences.clear()
        self._any_thread_manager_overwrite = False  # whether any overwrite may allow MANAGE_THREADS
        self._overwrites_by_user.clear()
        for channel in self.channels.values():
            self._count_overwrites(channel, 1)

    def set_channel(self, channel_id: ChannelId, channel: ChannelView | None) -> None:
        """Add, replace or (with None) remove a channel, also in what is cached of the channels that members see."""
        old = self.channels.get(channel_id)
        if old is not None:
            self._count_overwrites(old, -1)
        if channel is None:
            self.channels.pop(channel_id, None)
        else:
            self.channels[channel_id] = channel
            self._count_overwrites(channel, 1)
        for cache, bits in ((self._visible_channels, _VIEW), (self._managed_channels, _VIEW | _MANAGE_THREADS)):
            for roles, channel_ids in cache.items():
                base = self._permissions_of(roles.user_id, roles.role_ids)
                present = channel is not None and self._sees(roles, base, channel_id, channel, bits)
                if present != (channel_id in channel_ids):
                    cache[roles] = channel_ids | {channel_id} if present else channel_ids - {channel_id}
        for key in [key for key in self._audiences if key[0] == channel_id]:
            del self._audiences[key]

    def _count_overwrites(self, channel: ChannelView, difference: int) -> None:
        for target, (allow, _) in channel.overwrites.items():
            if allow & _MANAGE_THREADS:
                self._any_thread_manager_overwrite = True
            if target not in self.roles:
                self._overwrites_by_user[target] += difference
                if not self._overwrites_by_user[target]:
                    del self._overwrites_by_user[target]

    def members_with_role(self, role_id: RoleId) -> list[MemberView]:
        """The members whose permissions depend on a role: all of them for @everyone."""
        members = self.members.values()
        return list(members) if role_id == self._everyone_id else [m for m in members if role_id in m.role_ids]

    def invalidate_role(self, role_id: RoleId) -> None:
        """Clear what the caches have of members with a role, after a change of its permissions."""
        self._audiences.clear()
        if role_id == self._everyone_id or role_id in self._overwrites_by_user:
            self.invalidate()
            return
        for cache in (self._visible_channels, self._managed_channels):
            for roles in [roles for roles in cache if role_id in roles.role_ids]:
                del cache[roles]

    def invalidate_audiences(self) -> None:
        """Clear the cached audiences, after a member or a session was added, removed or changed."""
        self._audiences.clear()
        self._audiences_expire_at = 0

    def advance(self, version: int) -> None:
        """Note that the next event is about to be applied, which has this number, and wake those who wait for it."""
        self.state_version = version
        self.early_presences = None
        if self.ahead or self._served:
            self._served = {s: ahead for s, ahead in self.ahead.items() if ahead.state_version >= version}
            self.ahead = {s: ahead for s, ahead in self.ahead.items() if ahead.state_version > version}
        elif self.ahead_presences:
            self.ahead_presences.clear()
        waiting, self._waiting = self._waiting, []
        _wake(waiting)

    def forget_served(self) -> None:
        """Note that the next event has no number, so that no GUILD_CREATE is known to have it."""
        self._served = {}

    @property
    def served(self) -> frozenset[Session]:
        """The sessions whose GUILD_CREATE has the event that is being applied, which is of a member."""
        return frozenset(self._served) if self._served else _NO_SESSIONS

    def served_threads_of(self, channel_id: ChannelId | None) -> frozenset[Session]:
        """The sessions whose GUILD_CREATE has the event that is being applied, which is of a thread of a channel."""
        if not self._served:
            return _NO_SESSIONS
        return frozenset(session for session, ahead in self._served.items() if channel_id in ahead.channels)

    def is_before(self, version: int) -> bool:
        """Whether an event of this number is not applied yet."""
        return self.state_version is not None and self.state_version < version

    def without_joined(self, audience: Sequence[Session]) -> Sequence[Session]:
        """An audience without the sessions that have the event being applied already."""
        meanwhile = self.joined_meanwhile
        return [session for session in audience if session not in meanwhile] if meanwhile else audience

    def take_buffered(self) -> deque[Envelope] | None:
        """End the buffering; the envelopes buffered."""
        buffered, self.buffered = self.buffered, None
        self.joined_meanwhile.clear()
        return buffered

    def permissions_in(self, member: MemberView, channel: ChannelView) -> int:
        """A member's permissions in a channel."""
        if member.left:
            return 0
        if member.guest_channel_id and channel is not self.channels.get(member.guest_channel_id):
            return 0
        bits = channel_permissions(
            self._base(member),
            everyone_id=self._everyone_id,
            role_ids=member.role_ids,
            user_id=member.user_id,
            overwrites=channel.overwrites,
        )
        if member.restricted:
            bits = timed_out(bits)
        if member.guest_channel_id:
            bits = guest_permissions(bits)
        return implicit(bits, voice=channel.type in VOICE)

    def permissions(self, member: MemberView) -> int:
        """A member's permissions in the guild as a whole; a guest has none."""
        if member.guest_channel_id or member.left:
            return 0
        bits = self._base(member)
        return timed_out(bits) if member.restricted else bits

    def visible_channels(self, member: MemberView) -> frozenset[ChannelId]:
        """The channels that a member may view."""
        if member.left:
            return _NO_CHANNELS
        roles = self._role_set(member)
        visible = self._visible_channels.get(roles)
        if visible is None:
            base = self._base(member)
            visible = self._visible_channels[roles] = frozenset(
                channel_id
                for channel_id, channel in self.channels.items()
                if self._sees(roles, base, channel_id, channel, _VIEW)
            )
        return visible

    def audience(self, channel_id: ChannelId | None, permission: int, intent: int) -> list[Session]:
        """The sessions that receive an event of a channel, or of the whole guild without `channel_id`.

        Of the bits of `permission` a user needs one.
        """
        if self._audiences_expire_at and Timestamp.now() >= self._audiences_expire_at:
            self.invalidate_audiences()
        key = (channel_id, permission, intent)
        audience = self._audiences.get(key)
        if audience is None:
            if len(self._audiences) >= _MAX_AUDIENCES:
                self._audiences.clear()
            audience = self._audiences[key] = [
                session
                for member in self._eligible_members(channel_id, permission)
                for session in member.sessions
                if not intent or session.intents & intent
            ]
            if permission:
                ends = [m.timed_out_until for m in self.members.values() if m.timed_out_until > Timestamp.now()]
                self._audiences_expire_at = min(ends, default=0)
        return audience

    def can_receive(self, member: MemberView, session: Session, envelope: Envelope) -> bool:
        """Whether a member's session may receive an event; the session need not be in `member.sessions`."""
        if envelope.intent and not session.intents & envelope.intent:
            return envelope.name == "GUILD_MEMBER_UPDATE"
        if envelope.name == "PRESENCE_UPDATE" and session.user_id in envelope.user_ids:
            return session.receives_own_presence
        permission = envelope.permission
        if envelope.audience is Audience.USERS:
            return member.user_id in envelope.user_ids and envelope.channel_id in self.visible_channels(member)
        if envelope.audience is not Audience.CHANNEL:
            return not permission or bool(self.permissions(member) & permission)
        channel = None if envelope.channel_id is None else self.channels.get(envelope.channel_id)
        if channel is None:
            return False
        permissions = self.permissions_in(member, channel)
        if envelope.thread_id and envelope.user_ids and not permissions & _MANAGE_THREADS:
            return bool(permissions & _VIEW) and member.user_id in envelope.user_ids
        return _allows(permissions, permission)

    def private_thread_audience(
        self, channel_id: ChannelId, intent: int, thread_member_ids: Iterable[UserId]
    ) -> list[Session]:
        """As `audience`, for a private thread of a channel: its members, and those who may manage threads."""
        managers = self.audience(channel_id, _MANAGE_THREADS, intent)
        channel = self.channels.get(channel_id)
        manager_ids = {session.user_id for session in managers}
        return managers + [
            session
            for member in self._members_by_id(thread_member_ids)
            if member.user_id not in manager_ids
            and channel is not None
            and self.permissions_in(member, channel) & _VIEW
            for session in member.sessions
            if not intent or session.intents & intent
        ]

    def users_audience(self, channel_id: ChannelId | None, intent: int, user_ids: Iterable[UserId]) -> list[Session]:
        """The sessions of those of `user_ids` who may view a channel."""
        return [
            session
            for member in self._members_by_id(user_ids)
            if channel_id in self.visible_channels(member)
            for session in member.sessions
            if not intent or session.intents & intent
        ]

    def managed_channels(self, member: MemberView) -> frozenset[ChannelId]:
        """The channels in which a member may manage threads, and so sees private threads without joining them."""
        base = self._base(member)
        if member.left or member.restricted or not (base & _MANAGE_THREADS or self._any_thread_manager_overwrite):
            return _NO_CHANNELS
        if base & _ADMINISTRATOR and not member.guest_channel_id:
            return self.visible_channels(member)
        roles = self._role_set(member)
        managed = self._managed_channels.get(roles)
        if managed is None:
            managed = self._managed_channels[roles] = frozenset(
                channel_id
                for channel_id in self.visible_channels(member)
                if self._sees(roles, base, channel_id, self.channels[channel_id], _VIEW | _MANAGE_THREADS)
            )
        return managed

    def _role_set(self, member: MemberView) -> _RoleSet:
        # A timeout does not remove VIEW_CHANNEL.
        user_id, guest_channel_id = member.user_id, member.guest_channel_id
        if user_id == self.owner_id or user_id in self._overwrites_by_user or guest_channel_id:
            return _RoleSet(member.role_ids, user_id, guest_channel_id)
        return _RoleSet(member.role_ids, NO_USER, None)

    def _sees(self, roles: _RoleSet, base: int, channel_id: ChannelId, channel: ChannelView, bits: int) -> bool:
        """Whether members have all permissions of `bits` in a channel, unless they are restricted.

        `base` are their permissions in the guild.
        """
        if roles.guest_channel_id and channel_id != roles.guest_channel_id:
            return False
        permissions = channel_permissions(
            base,
            everyone_id=self._everyone_id,
            role_ids=roles.role_ids,
            user_id=roles.user_id,
            overwrites=channel.overwrites,
        )
        if bits == _VIEW:
            return bool(permissions & _VIEW)
        if roles.guest_channel_id:
            permissions = guest_permissions(permissions)
        return implicit(permissions, voice=channel.type in VOICE) & bits == bits

    def _members_by_id(self, user_ids: Iterable[UserId]) -> Iterable[MemberView]:
        return [member for user_id in dict.fromkeys(user_ids) if (member := self.members.get(user_id)) is not None]

    def _eligible_members(self, channel_id: ChannelId | None, permission: int) -> Iterable[MemberView]:
        members = self.members.values()
        if not channel_id:
            return members if not permission else (m for m in members if self.permissions(m) & permission)
        if not permission:
            return (m for m in members if channel_id in self.visible_channels(m))
        channel = self.channels.get(channel_id)
        if channel is None:
            return ()
        return (m for m in members if _allows(self.permissions_in(m, channel), permission))

    def _base(self, member: MemberView) -> int:
        return self._permissions_of(member.user_id, member.role_ids)

    def _permissions_of(self, user_id: UserId, role_ids: tuple[RoleId, ...]) -> int:
        roles = self.roles
        return base_permissions(
            owner=user_id == self.owner_id,
            everyone=roles.get(self._everyone_id, 0),
            roles=[roles[role_id] for role_id in role_ids if role_id in roles],
        )


def _wake(waiting: list[asyncio.Future[None]]) -> None:
    for applied in waiting:
        if not applied.done():
            applied.set_result(None)


def _time_out(applied: asyncio.Future[None]) -> None:
    if not applied.done():
        applied.set_exception(TimeoutError("events of a guild have not come"))


def _allows(permissions: int, needed: int) -> bool:
    """Whether permissions in a channel include VIEW_CHANNEL and, unless `needed` is 0, one bit of it."""
    return bool(permissions & _VIEW) and (not needed or bool(permissions & needed))
