"""What a gateway node knows of a guild: enough to say which session may hear what."""

from collections import deque
from collections.abc import Iterable, Mapping

from msgspec import Struct

from moothall.bus import Audience, Envelope
from moothall.gateway.session import Session
from moothall.objects.channel_types import VOICE
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
_NONE: frozenset[int] = frozenset()
_MAX_AUDIENCES = 256


class ChannelView(Struct):
    """A channel (no thread), as visibility needs it."""

    type: int
    overwrites: dict[int, tuple[int, int]]
    """(allow, deny) by role or user."""
    name: str = ""
    position: int = 0
    parent_id: int = 0


class MemberView(Struct, eq=False):
    """A member who has sessions on this node."""

    user_id: int
    role_ids: tuple[int, ...]
    pending: bool
    timed_out_until: int
    """Milliseconds since the Unix epoch; 0 for never."""
    sessions: list[Session]
    guest_of: int = 0
    """The one channel that a guest sees; 0 for whoever is no guest."""

    @property
    def restricted(self) -> bool:
        """Whether only looking and reading is left of their permissions."""
        return self.pending or self.timed_out_until > Timestamp.now()


class GuildView:
    """A guild's roles and channels, the members with sessions, and who of them hears what.

    Visibility is worked out once for each set of roles, not once for each member; who hears a kind of
    event in a channel is remembered until something that matters changes.
    """

    __slots__ = (
        "_audiences",
        "_managed",
        "_stale_at",
        "_threads_granted",
        "_visible",
        "channels",
        "held",
        "id",
        "joining",
        "members",
        "owner_id",
        "personal",
        "roles",
    )

    def __init__(
        self,
        guild_id: int,
        owner_id: int = 0,
        roles: Mapping[int, int] | None = None,
        channels: Mapping[int, ChannelView] | None = None,
    ) -> None:
        self.id = guild_id
        self.owner_id = owner_id
        self.roles: dict[int, int] = dict(roles or {})
        self.channels: dict[int, ChannelView] = dict(channels or {})
        self.members: dict[int, MemberView] = {}
        self.joining: dict[Session, deque[Envelope]] = {}
        """Sessions whose GUILD_CREATE is being read, with the envelopes that wait for it."""
        self.held: deque[Envelope] | None = None
        """Envelopes that wait for a database read before them; None while there is none."""
        self.personal: frozenset[int] = frozenset()
        """Users named by an overwrite of any channel."""
        self._visible: dict[tuple[int, ...], frozenset[int]] = {}
        self._managed: dict[tuple[int, ...], frozenset[int]] = {}
        self._audiences: dict[tuple[int, int, int], list[Session]] = {}
        self._threads_granted = False
        """Whether any overwrite lets somebody manage threads who may not do so in the guild."""
        self._stale_at = 0
        """When a timeout that ends by itself brings permissions back; 0 for never."""
        self.changed()

    def changed(self) -> None:
        """Forget what was worked out: roles, overwrites, channels or the owner changed."""
        self._visible.clear()
        self._managed.clear()
        self._threads_granted = any(
            allow & _MANAGE_THREADS for channel in self.channels.values() for allow, _ in channel.overwrites.values()
        )
        self._audiences.clear()
        self.personal = frozenset(
            target for channel in self.channels.values() for target in channel.overwrites if target not in self.roles
        )

    def take_held(self) -> deque[Envelope] | None:
        """End the waiting; the envelopes that waited."""
        held, self.held = self.held, None
        return held

    def member_changed(self) -> None:
        """Forget who hears what: a member or session came, went or changed."""
        self._audiences.clear()
        self._stale_at = 0

    def permissions_in(self, member: MemberView, channel: ChannelView) -> int:
        """What a member may do in a channel."""
        if member.guest_of and channel is not self.channels.get(member.guest_of):
            return 0
        bits = channel_permissions(
            self._base(member),
            everyone_id=self.id,
            role_ids=member.role_ids,
            user_id=member.user_id,
            overwrites=channel.overwrites,
        )
        if member.restricted:
            bits = timed_out(bits)
        if member.guest_of:
            bits = guest_permissions(bits)
        return implicit(bits, voice=channel.type in VOICE)

    def permissions(self, member: MemberView) -> int:
        """What a member may do in the guild as a whole; a guest, nothing."""
        if member.guest_of:
            return 0
        bits = self._base(member)
        return timed_out(bits) if member.restricted else bits

    def visible(self, member: MemberView) -> frozenset[int]:
        """The channels that a member may view."""
        # Members with the same roles see the same, unless an overwrite names one or they own the guild. A
        # timeout takes no view away.
        user_id = member.user_id
        own = user_id == self.owner_id or user_id in self.personal or member.guest_of
        key = (-user_id, member.guest_of, *member.role_ids) if own else member.role_ids
        found = self._visible.get(key)
        if found is None:
            base = self._base(member)
            found = self._visible[key] = frozenset(
                channel_id
                for channel_id, channel in self.channels.items()
                if (not member.guest_of or channel_id == member.guest_of)
                and channel_permissions(
                    base,
                    everyone_id=self.id,
                    role_ids=member.role_ids,
                    user_id=user_id,
                    overwrites=channel.overwrites,
                )
                & _VIEW
            )
        return found

    def audience(self, channel_id: int, permission: int, intent: int) -> list[Session]:
        """The sessions that hear an event; `channel_id` 0 for one of the whole guild."""
        if self._stale_at and Timestamp.now() >= self._stale_at:
            self.member_changed()
        key = (channel_id, permission, intent)
        found = self._audiences.get(key)
        if found is None:
            if len(self._audiences) >= _MAX_AUDIENCES:
                self._audiences.clear()
            found = self._audiences[key] = [
                session
                for member in self._entitled(channel_id, permission)
                for session in member.sessions
                if not intent or session.intents & intent
            ]
            if permission:
                ends = [m.timed_out_until for m in self.members.values() if m.timed_out_until > Timestamp.now()]
                self._stale_at = min(ends, default=0)
        return found

    def may_hear(self, member: MemberView, session: Session, envelope: Envelope) -> bool:
        """Whether one session may hear an event; it need not be among those that hear the guild."""
        if envelope.intent and not session.intents & envelope.intent:
            return envelope.name == "GUILD_MEMBER_UPDATE"
        permission = envelope.permission
        if envelope.audience is Audience.USERS:
            return member.user_id in envelope.user_ids and envelope.channel_id in self.visible(member)
        if envelope.audience is not Audience.CHANNEL:
            return not permission or self.permissions(member) & permission == permission
        channel = self.channels.get(envelope.channel_id)
        if channel is None:
            return False
        held = self.permissions_in(member, channel)
        if envelope.thread_id and envelope.user_ids and not held & _MANAGE_THREADS:
            return bool(held & _VIEW) and member.user_id in envelope.user_ids
        needed = permission | _VIEW
        return held & needed == needed

    def thread_audience(self, channel_id: int, permission: int, intent: int, in_thread: Iterable[int]) -> list[Session]:
        """As `audience`, for a private thread: its members, and who manages threads."""
        managers = self.audience(channel_id, permission | _MANAGE_THREADS, intent)
        managing = {session.user_id for session in managers}
        channel, needed = self.channels.get(channel_id), permission | _VIEW
        return managers + [
            session
            for member in self._named(in_thread)
            if member.user_id not in managing
            and channel is not None
            and self.permissions_in(member, channel) & needed == needed
            for session in member.sessions
            if not intent or session.intents & intent
        ]

    def own_audience(self, channel_id: int, intent: int, user_ids: Iterable[int]) -> list[Session]:
        """The sessions of the users named, as far as they may view a channel."""
        return [
            session
            for member in self._named(user_ids)
            if channel_id in self.visible(member)
            for session in member.sessions
            if not intent or session.intents & intent
        ]

    def managed(self, member: MemberView) -> frozenset[int]:
        """The channels in which a member manages threads, and so sees the private ones without being in them."""
        base = self._base(member)
        if member.restricted or not (base & _MANAGE_THREADS or self._threads_granted):
            return _NONE
        if base & _ADMINISTRATOR and not member.guest_of:
            return self.visible(member)
        user_id = member.user_id
        own = user_id == self.owner_id or user_id in self.personal or member.guest_of
        key = (-user_id, member.guest_of, *member.role_ids) if own else member.role_ids
        found = self._managed.get(key)
        if found is None:
            found = self._managed[key] = frozenset(
                channel_id
                for channel_id in self.visible(member)
                if self.permissions_in(member, self.channels[channel_id]) & _MANAGE_THREADS
            )
        return found

    def _named(self, user_ids: Iterable[int]) -> Iterable[MemberView]:
        return [member for user_id in dict.fromkeys(user_ids) if (member := self.members.get(user_id)) is not None]

    def _entitled(self, channel_id: int, permission: int) -> Iterable[MemberView]:
        members = self.members.values()
        if not channel_id:
            return members if not permission else (m for m in members if self.permissions(m) & permission == permission)
        if not permission:
            return (m for m in members if channel_id in self.visible(m))
        channel = self.channels.get(channel_id)
        if channel is None:
            return ()
        needed = permission | _VIEW
        return (m for m in members if self.permissions_in(m, channel) & needed == needed)

    def _base(self, member: MemberView) -> int:
        roles = self.roles
        return base_permissions(
            owner=member.user_id == self.owner_id,
            everyone=roles.get(self.id, 0),
            roles=[roles[r] for r in member.role_ids if r in roles],
        )
