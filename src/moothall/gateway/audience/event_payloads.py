"""Payloads of the events that change a guild's state, and their effect on a `GuildView`."""

from msgspec import Raw, Struct

from moothall.gateway.audience.guild_view import ChannelView, GuildView, MemberView
from moothall.objects.ids import ChannelId, RoleId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp, decoder


class _User(Struct):
    id: UserId


class _Overwrite(Struct):
    id: Snowflake
    allow: PermissionSet
    deny: PermissionSet


class ChannelData(Struct):
    """A channel of CHANNEL_CREATE and CHANNEL_UPDATE."""

    id: ChannelId
    type: int
    permission_overwrites: list[_Overwrite] = []
    name: str | None = None
    position: int = 0
    parent_id: ChannelId | None = None

    def view(self) -> ChannelView:
        """The fields that visibility depends on."""
        return ChannelView(
            type=self.type,
            overwrites={o.id: (int(o.allow), int(o.deny)) for o in self.permission_overwrites},
            name=self.name or "",
            position=self.position,
            parent_id=self.parent_id,
        )


class RoleData(Struct):
    """A role of GUILD_ROLE_CREATE and GUILD_ROLE_UPDATE."""

    id: RoleId
    permissions: PermissionSet


class _RoleEvent(Struct):
    role: RoleData


class _RoleDelete(Struct):
    role_id: RoleId


class _Guild(Struct):
    owner_id: UserId


class _MemberUser(Struct):
    user: _User


class MemberData(Struct):
    """A member of GUILD_MEMBER_UPDATE or GUILD_MEMBER_ADD."""

    user: _User
    roles: list[RoleId] = []
    pending: bool | None = False
    communication_disabled_until: Timestamp | None = None
    flags: int = 0

    def rejoin(self, member: MemberView, state_version: int) -> None:
        """Update the view of a member who has left and joined again.

        Raises LookupError for a guest: the event does not tell which channel they see.
        """
        if self.flags & MemberFlags.IS_GUEST:
            raise LookupError(f"user {member.user_id} has joined again as a guest")
        self.apply(member, state_version)
        member.left = False

    def apply(self, member: MemberView, state_version: int) -> None:
        """Update a member's view by an event of this number, 0 for one without."""
        member.state_version = state_version or member.state_version
        member.role_ids = tuple(sorted(self.roles))
        member.pending = bool(self.pending)
        member.timed_out_until = int(self.communication_disabled_until or 0)
        member.quarantined = bool(self.flags & MemberFlags.QUARANTINED)
        if not self.flags & MemberFlags.IS_GUEST:
            member.guest_channel_id = None


class _ThreadMember(Struct):
    user_id: UserId | None = None


class ThreadMembersData(Struct):
    """The users that THREAD_MEMBERS_UPDATE adds to a thread and removes from it."""

    id: ChannelId | None = None
    added_members: list[_ThreadMember] = []
    removed_member_ids: list[UserId] = []

    def user_ids(self) -> set[UserId]:
        """All users added or removed."""
        return {m.user_id for m in self.added_members if m.user_id} | set(self.removed_member_ids)


def read_channel(data: Raw) -> ChannelData:
    """Decode a channel event."""
    channel: ChannelData = decoder(ChannelData).decode(data)
    return channel


def read_member(data: Raw) -> MemberData:
    """Decode GUILD_MEMBER_UPDATE or GUILD_MEMBER_ADD."""
    member: MemberData = decoder(MemberData).decode(data)
    return member


def read_user_id(data: Raw) -> UserId:
    """The id of the member of GUILD_MEMBER_ADD, GUILD_MEMBER_UPDATE or GUILD_MEMBER_REMOVE."""
    event: _MemberUser = decoder(_MemberUser).decode(data)
    return event.user.id


def read_thread_members_update(data: Raw) -> ThreadMembersData:
    """Decode THREAD_MEMBERS_UPDATE."""
    update: ThreadMembersData = decoder(ThreadMembersData).decode(data)
    return update


def read_owner_id(data: Raw) -> UserId:
    """The owner of the guild of GUILD_UPDATE."""
    guild: _Guild = decoder(_Guild).decode(data)
    return guild.owner_id


def read_role(name: str, data: Raw) -> tuple[RoleId, int | None]:
    """The role of GUILD_ROLE_CREATE, GUILD_ROLE_UPDATE or GUILD_ROLE_DELETE, and its permissions; None if deleted."""
    if name == "GUILD_ROLE_DELETE":
        return decoder(_RoleDelete).decode(data).role_id, None
    role: RoleData = decoder(_RoleEvent).decode(data).role
    return role.id, int(role.permissions)


def remove_role(view: GuildView, role_id: RoleId) -> None:
    """Remove a role from the guild, its members and overwrites. The latter two have no events of their own."""
    view.roles.pop(role_id, None)
    for member in view.members.values():
        if role_id in member.role_ids:
            member.role_ids = tuple(each for each in member.role_ids if each != role_id)
    for channel in view.channels.values():
        if role_id in channel.overwrites:
            channel.overwrites = {target: bits for target, bits in channel.overwrites.items() if target != role_id}
