"""What the events of a guild's state change in a `GuildView`, read from their payloads."""

from collections.abc import Iterable

from msgspec import Raw, Struct

from moothall.gateway.guild_view import ChannelView, GuildView, MemberView
from moothall.objects.ids import Snowflake
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp, decoder, encode


class _Id(Struct):
    id: Snowflake


class _Overwrite(Struct):
    id: Snowflake
    allow: PermissionSet
    deny: PermissionSet


class ChannelData(Struct):
    """A channel of CHANNEL_CREATE and CHANNEL_UPDATE."""

    id: Snowflake
    type: int
    permission_overwrites: list[_Overwrite] = []
    name: str | None = None
    position: int = 0
    parent_id: Snowflake | None = None

    def view(self) -> ChannelView:
        """The part that visibility needs."""
        return ChannelView(
            type=self.type,
            overwrites={int(o.id): (int(o.allow), int(o.deny)) for o in self.permission_overwrites},
            name=self.name or "",
            position=self.position,
            parent_id=int(self.parent_id or 0),
        )


class RoleData(Struct):
    """A role of GUILD_ROLE_CREATE and GUILD_ROLE_UPDATE."""

    id: Snowflake
    permissions: PermissionSet


class _RoleEvent(Struct):
    role: RoleData


class _RoleDelete(Struct):
    role_id: Snowflake


class _Guild(Struct):
    owner_id: Snowflake


class _MemberUser(Struct):
    user: _Id


class MemberData(Struct):
    """A member of GUILD_MEMBER_UPDATE."""

    user: _Id
    roles: list[Snowflake] = []
    pending: bool | None = False
    communication_disabled_until: Timestamp | None = None
    flags: int = 0

    def apply(self, member: MemberView) -> None:
        """Bring a member's view up to date."""
        member.role_ids = tuple(sorted(int(r) for r in self.roles))
        member.pending = bool(self.pending)
        member.timed_out_until = int(self.communication_disabled_until or 0)
        if not self.flags & MemberFlags.IS_GUEST:
            member.guest_of = 0


class _ThreadMember(Struct):
    user_id: Snowflake | None = None


class _ThreadMembers(Struct):
    added_members: list[_ThreadMember] = []
    removed_member_ids: list[Snowflake] = []


def read_channel(data: Raw) -> ChannelData:
    """The channel of a channel event."""
    found: ChannelData = decoder(ChannelData).decode(data)
    return found


def read_member(data: Raw) -> MemberData:
    """The member of GUILD_MEMBER_UPDATE."""
    found: MemberData = decoder(MemberData).decode(data)
    return found


def read_user_id(data: Raw) -> int:
    """Whom GUILD_MEMBER_ADD or GUILD_MEMBER_REMOVE is about."""
    return int(decoder(_MemberUser).decode(data).user.id)


def read_thread_users(data: Raw) -> set[int]:
    """Whom THREAD_MEMBERS_UPDATE adds and removes."""
    found: _ThreadMembers = decoder(_ThreadMembers).decode(data)
    return {int(m.user_id) for m in found.added_members if m.user_id} | {int(u) for u in found.removed_member_ids}


def read_removed_users(data: Raw) -> list[int]:
    """Whom THREAD_MEMBERS_UPDATE removes."""
    found: _ThreadMembers = decoder(_ThreadMembers).decode(data)
    return [int(user_id) for user_id in found.removed_member_ids]


def apply_guild(view: GuildView, data: Raw) -> None:
    """GUILD_UPDATE: the owner may be another."""
    view.owner_id = int(decoder(_Guild).decode(data).owner_id)
    view.changed()


def apply_role(view: GuildView, name: str, data: Raw) -> None:
    """GUILD_ROLE_CREATE, GUILD_ROLE_UPDATE or GUILD_ROLE_DELETE."""
    if name == "GUILD_ROLE_DELETE":
        _forget_role(view, int(decoder(_RoleDelete).decode(data).role_id))
    else:
        role = decoder(_RoleEvent).decode(data).role
        view.roles[int(role.id)] = int(role.permissions)
    view.changed()


def _forget_role(view: GuildView, role_id: int) -> None:
    """A role that is gone is gone from members and overwrites as well, without further events."""
    view.roles.pop(role_id, None)
    for member in view.members.values():
        if role_id in member.role_ids:
            member.role_ids = tuple(held for held in member.role_ids if held != role_id)
    for channel in view.channels.values():
        if role_id in channel.overwrites:
            channel.overwrites = {target: bits for target, bits in channel.overwrites.items() if target != role_id}


class HiddenChannel(Struct):
    """What CHANNEL_DELETE tells a session from whom a channel is hidden: nothing that it did not know."""

    id: str
    guild_id: str
    type: int
    name: str
    position: int
    parent_id: str | None
    permission_overwrites: list[object] = []
    nsfw: bool = False
    flags: int = 0
    topic: str | None = None
    last_message_id: str | None = None
    rate_limit_per_user: int = 0
    bitrate: int = 64_000
    user_limit: int = 0


def hidden_channel(view: GuildView, channel_id: int, channel: ChannelView) -> bytes:
    """The `d` of CHANNEL_DELETE for those who may no longer see a channel."""
    return encode(
        HiddenChannel(
            id=str(channel_id),
            guild_id=str(view.id),
            type=channel.type,
            name=channel.name,
            position=channel.position,
            parent_id=str(channel.parent_id) if channel.parent_id else None,
        )
    )


class Visibility:
    """Who saw which channels before a change, to tell afterwards what was revealed and hidden."""

    def __init__(self, view: GuildView, members: Iterable[MemberView]) -> None:
        self._view = view
        self._before = [(member, view.visible(member), view.managed(member)) for member in members]

    def managing(self) -> list[tuple[MemberView, frozenset[int]]]:
        """The members who manage threads elsewhere than before, each with the channels that they saw and see."""
        view = self._view
        found: list[tuple[MemberView, frozenset[int]]] = []
        for member, saw, before in self._before:
            after = view.managed(member)
            if after is not before and (changed := (before ^ after) & saw & view.visible(member)):
                found.append((member, changed))
        return found

    def changes(self) -> list[tuple[MemberView, frozenset[int], frozenset[int]]]:
        """The members for whom something changed, each with the channels hidden and those revealed."""
        view = self._view
        found: list[tuple[MemberView, frozenset[int], frozenset[int]]] = []
        # Many members share one set before and one after: each pair is compared once.
        compared: dict[tuple[int, int], tuple[frozenset[int], frozenset[int]]] = {}
        for member, before, _ in self._before:
            after = view.visible(member)
            if after is before:
                continue
            key = (id(before), id(after))
            pair = compared.get(key)
            if pair is None:
                pair = compared[key] = (before - after, after - before)
            if pair[0] or pair[1]:
                found.append((member, *pair))
        return found
