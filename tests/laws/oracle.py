"""A guild's state in the database, and a second implementation of permissions written from the documentation.

It uses none of the functions of `moothall.objects.permissions`, so that mistakes in them are detected.
"""

from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, select

from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.guild.onboarding.queries import select_onboarding
from moothall.resources.invite.queries import InviteRow
from moothall.storage.database import Database, Query
from moothall.storage.rows import ChannelRow, GuildRow, MemberRow, RoleRow
from moothall.storage.schema import audit_entries, bans, channels, guild_counters, guilds, invites, members, roles

P = Permissions
GUILD_ONLY = int(P.ALL & ~P.CHANNEL)

_OF_GUILD: Any = bindparam("guild_id")
_guild = Query(select(guilds).where(guilds.c.id == _OF_GUILD), into=GuildRow)
_roles = Query(select(roles).where(roles.c.guild_id == _OF_GUILD), into=RoleRow)
_channels = Query(select(channels).where(channels.c.guild_id == _OF_GUILD), into=ChannelRow)
_members = Query(select(members).where(members.c.guild_id == _OF_GUILD), into=MemberRow)
_bans = Query(select(bans.c.user_id).where(bans.c.guild_id == _OF_GUILD))
_invites = Query(select(invites).where(invites.c.guild_id == _OF_GUILD), into=InviteRow)
_count = Query(select(guild_counters.c.member_count).where(guild_counters.c.guild_id == _OF_GUILD))
_entries = Query(select(audit_entries.c.id).where(audit_entries.c.guild_id == _OF_GUILD))


class Snapshot(Struct):
    """The stored state of a guild."""

    guild: GuildRow
    roles: dict[int, RoleRow]
    channels: dict[int, ChannelRow]
    members: dict[int, MemberRow]
    banned: set[int]
    invites: dict[str, InviteRow]
    onboarding_roles: set[int]
    """The roles that onboarding options grant."""
    onboarding: Any
    count: int
    entries: int

    @property
    def owner(self) -> int:
        return int(self.guild.owner_id)

    def is_timed_out(self, user: int) -> bool:
        until = self.members[user].communication_disabled_until
        return until is not None and until > Timestamp.now()

    def roles_of(self, user: int) -> list[int]:
        """A member's existing roles without @everyone; empty for other users."""
        if user not in self.members:
            return []
        return [int(r) for r in self.members[user].roles if int(r) in self.roles]

    def rank(self, user: int) -> tuple[int, int]:
        """A user's rank: the highest role position, and among equal positions the older role."""
        if user == self.owner:
            return (1 << 40, 0)
        ranks = [(self.roles[r].position, -r) for r in self.roles_of(user)]
        return max(ranks, default=(0, -int(self.guild.id)))

    def role_rank(self, role: int) -> tuple[int, int]:
        return (self.roles[role].position, -role)

    def guild_permissions(self, user: int) -> int:
        """A user's permissions in the guild without overwrites; 0 for users who are not members."""
        if user not in self.members:
            return 0
        if user == self.owner:
            return int(P.ALL)
        bits = int(self.roles[int(self.guild.id)].permissions)
        for role in self.roles_of(user):
            bits |= int(self.roles[role].permissions)
        if bits & P.ADMINISTRATOR:
            return int(P.ALL)
        if self.is_timed_out(user):
            return bits & int(P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY)
        return bits

    def is_administrator(self, user: int) -> bool:
        return bool(self.guild_permissions(user) & P.ADMINISTRATOR)

    def permissions_in(self, user: int, channel_id: int) -> int:
        """A user's permissions in a channel."""
        if user not in self.members:
            return 0
        if self.is_administrator(user):
            return int(P.ALL)
        guild_permissions = int(self.roles[int(self.guild.id)].permissions)
        for role in self.roles_of(user):
            guild_permissions |= int(self.roles[role].permissions)
        bits, overwrites_by_target = guild_permissions, overwrites(self.channels[channel_id])
        levels = [[int(self.guild.id)], self.roles_of(user), [user]]
        for level in levels:
            allow = deny = 0
            for target in level:
                a, d = overwrites_by_target.get(target, (0, 0))
                allow, deny = allow | a, deny | d
            bits = bits & ~deny | allow
        bits = guild_permissions & GUILD_ONLY | bits & ~GUILD_ONLY
        if self.is_timed_out(user):
            bits &= int(P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY)
        if not bits & P.VIEW_CHANNEL:
            return 0
        if self.channels[channel_id].type in {2, 13} and not bits & P.CONNECT:
            bits &= ~int(P.MANAGE_CHANNELS | P.MANAGE_ROLES)
        return bits

    def visible(self, user: int) -> set[int]:
        return {c for c in self.channels if self.permissions_in(user, c) & P.VIEW_CHANNEL}


def overwrites(channel: ChannelRow) -> dict[int, tuple[int, int]]:
    """The (allow, deny) bits of a channel's overwrites by target id."""
    return {int(o["id"]): (int(o["allow"]), int(o["deny"])) for o in channel.permission_overwrites}


async def snapshot(database: Database, guild_id: GuildId) -> Snapshot:
    """Read the stored state of a guild."""
    async with database.read() as reader:
        guild = await reader.one(_guild, guild_id=guild_id)
        assert guild is not None
        onboarding = await select_onboarding(reader, guild_id)
        onboarding_roles = {
            int(role)
            for prompt in (onboarding.prompts if onboarding else ())
            for option in prompt.options
            for role in option.role_ids
        }
        # The version only counts changes.
        guild.version = 0
        return Snapshot(
            guild=guild,
            roles={int(r.id): r for r in await reader.all(_roles, guild_id=guild_id)},
            channels={int(c.id): c for c in await reader.all(_channels, guild_id=guild_id)},
            members={int(m.user_id): m for m in await reader.all(_members, guild_id=guild_id)},
            banned={int(row[0]) for row in await reader.all(_bans, guild_id=guild_id)},
            invites={i.code: i for i in await reader.all(_invites, guild_id=guild_id)},
            onboarding_roles=onboarding_roles,
            onboarding=onboarding,
            count=int(await reader.scalar(_count, guild_id=guild_id) or 0),
            entries=len(await reader.all(_entries, guild_id=guild_id)),
        )
