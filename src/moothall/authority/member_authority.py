"""What a member may do in a guild."""

from collections.abc import Iterable

from msgspec import Struct

from moothall.authority.guild_state import GuildState
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import ChannelId, RoleId, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions, channel_permissions, guest_permissions, implicit, timed_out
from moothall.objects.role import Role
from moothall.objects.wire import Timestamp


class MemberAuthority(Struct, frozen=True):
    """A member's roles and permissions in a guild."""

    guild: GuildState
    user_id: UserId
    role_ids: tuple[RoleId, ...]
    """Without @everyone and without deleted roles."""
    pending: bool
    timed_out_until: Timestamp | None
    restricted: bool
    """Whether the member is timed out now, has not passed membership screening, or is quarantined."""
    permissions: int
    """In the guild as a whole: reduced for a restricted member, none for a guest."""
    quarantined: bool = False
    """Whether auto moderation has quarantined the member for a name."""
    guest_channel_id: ChannelId | None = None
    """The one channel that a guest may use; None for a member who is no guest."""

    @property
    def is_owner(self) -> bool:
        """Whether the member owns the guild."""
        return self.user_id == self.guild.row.owner_id

    @property
    def rank(self) -> tuple[int, int]:
        """The position of the member's highest role."""
        return self.guild.rank_of(self.role_ids)

    def outranks_role(self, role: Role) -> bool:
        """Whether a role is lower than the member's highest one; the owner outranks every role."""
        return self.is_owner or self.rank > (role.position, -role.id)

    def outranks(self, user_id: int, role_ids: Iterable[int]) -> bool:
        """Whether the member's highest role is higher than another member's. The owner is outranked by no one."""
        if user_id == self.guild.row.owner_id:
            return False
        return self.is_owner or self.rank > self.guild.rank_of(role_ids)

    def permissions_in(self, channel: Channel, *, thread: bool = False) -> int:
        """The member's permissions in a channel, or in a thread of it, including implicit denials."""
        if self.guest_channel_id is not None and channel.id != self.guest_channel_id:
            return 0
        bits = channel_permissions(
            self.guild.base_of(self.user_id, self.role_ids),
            everyone_id=self.guild.id,
            role_ids=self.role_ids,
            user_id=self.user_id,
            overwrites=self.guild.overwrites(channel),
        )
        if self.guest_channel_id is not None:
            bits = guest_permissions(bits)
        if self.restricted:
            bits = timed_out(bits)
        return implicit(bits, voice=channel.type in VOICE, thread=thread)

    def may_view(self, channel: Channel) -> bool:
        """Whether the member may view a channel."""
        return bool(self.permissions_in(channel) & Permissions.VIEW_CHANNEL)


def build_authority(
    state: GuildState,
    user_id: UserId,
    role_ids: Iterable[RoleId],
    *,
    pending: bool,
    until: int | None,
    flags: int,
    now: Timestamp,
    guest_of: ChannelId | None = None,
) -> MemberAuthority:
    """A member's authority, from the fields of their row."""
    existing_ids = tuple(r for r in role_ids if r in state.roles)
    quarantined = bool(flags & MemberFlags.QUARANTINED)
    restricted = pending or quarantined or (until is not None and until > now)
    bits = state.base_of(user_id, existing_ids)
    return MemberAuthority(
        guild=state,
        user_id=user_id,
        role_ids=existing_ids,
        pending=pending,
        timed_out_until=None if until is None else Timestamp(until),
        restricted=restricted,
        permissions=0 if guest_of is not None else timed_out(bits) if restricted else bits,
        quarantined=quarantined,
        guest_channel_id=guest_of,
    )
