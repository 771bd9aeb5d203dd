"""What groups of a provider give at a login: memberships and roles, and what they take away again."""

import logging
from collections.abc import Collection, Iterable
from functools import partial
from typing import Final

from msgspec import Struct

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.api.hooks import Fires
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, RoleId, UserId
from moothall.resources.guild.membership.operations import (
    JOIN_EVENTS,
    LEAVE_EVENTS,
    join_guild,
    remove_member,
    set_member_roles,
)
from moothall.resources.identity_provider.queries import GroupRow, ProviderRow, select_groups
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, is_banned
from moothall.resources.single_sign_on import queries
from moothall.resources.user.queries import get_user, select_user
from moothall.storage.database import Reader
from moothall.storage.rows import MemberRow

GROUP_EVENTS: Final[Fires] = (*JOIN_EVENTS, *LEAVE_EVENTS, GuildMemberUpdate)

log = logging.getLogger("moothall.single_sign_on")


class Share(Struct, frozen=True):
    """What a person is to have in a guild by groups, and what their groups could give there."""

    belongs: bool
    roles: frozenset[RoleId]
    managed: frozenset[RoleId]
    """Roles that groups of the provider give in this guild: who is in none of their groups does not have them."""


def shares(rows: Iterable[GroupRow], groups: Collection[str]) -> dict[GuildId, Share]:
    """What groups give in each guild that some group of the provider has something of."""
    names = set(groups)
    result: dict[GuildId, Share] = {}
    for row in rows:
        before = result.get(row.guild_id, Share(belongs=False, roles=frozenset(), managed=frozenset()))
        listed = frozenset(() if row.role_id is None else (row.role_id,))
        belongs = row.name in names
        result[row.guild_id] = Share(
            belongs=before.belongs or belongs,
            roles=before.roles | listed if belongs else before.roles,
            managed=before.managed | listed,
        )
    return result


async def apply_groups(services: Services, provider: ProviderRow, user_id: UserId, groups: Collection[str]) -> None:
    """Give and take what a person's groups say, in a transaction for each guild where something changes.

    Where the provider tells of groups by SCIM, those count, and not `groups`. A guild that refuses the person, by a ban
    or because it is full, is left out.
    """
    async with services.database.read() as reader:
        differing = await differing_guilds(reader, provider, user_id, groups)
    for guild_id, share in differing.items():
        work = partial(_apply, guild_id=guild_id, user_id=user_id, share=share, provider=provider)
        try:
            await unit_of_work.run(
                services, ANONYMOUS, work, fires=GROUP_EVENTS, lock=guild_id, reason=f"Groups of {provider.label}"
            )
        except Refusal as refusal:
            log.info("guild %d takes no member by groups of %s: %s", int(guild_id), provider.name, refusal.message)


async def differing_guilds(
    reader: Reader, provider: ProviderRow, user_id: UserId, groups: Collection[str]
) -> dict[GuildId, Share]:
    """The guilds in which a person does not have what their groups give, with what they are to have.

    Where the provider tells of groups by SCIM, those count, and not `groups`.
    """
    rows = await select_groups(reader, provider.id)
    if not rows:
        return {}
    provisioned = await queries.select_provisioned_groups(reader, provider.id, user_id)
    shares_by_guild = shares(rows, groups if provisioned is None else provisioned)
    members = await queries.select_member_rows(reader, user_id, shares_by_guild.keys())
    group_guilds = await queries.select_group_guilds(reader, user_id, provider.id)
    return {
        guild_id: share
        for guild_id, share in shares_by_guild.items()
        if _differs(share, members.get(guild_id), by_group=guild_id in group_guilds)
    }


async def apply_groups_in(ctx: Context, guild_id: GuildId, user_id: UserId, provider: ProviderRow) -> None:
    """Give and take in one guild what a person's groups say, of which the provider tells by SCIM.

    A guild that bans the person takes no one by groups. Raises Refusal as `join_guild`.
    """
    share = (await differing_guilds(ctx.tx, provider, user_id, ())).get(guild_id)
    if share is not None and not (share.belongs and await is_banned(ctx.tx, guild_id, user_id)):
        ctx.reason = f"Groups of {provider.label}"
        await _apply(ctx, guild_id=guild_id, user_id=user_id, share=share, provider=provider)


def _differs(share: Share, member: MemberRow | None, *, by_group: bool) -> bool:
    if member is None:
        return share.belongs
    present = {RoleId(role) for role in member.roles} & share.managed
    return present != share.roles or (by_group and not share.belongs)


async def _apply(ctx: Context, *, guild_id: GuildId, user_id: UserId, share: Share, provider: ProviderRow) -> None:
    await ctx.visit_guild(guild_id)
    row = await get_member(ctx.tx, guild_id, user_id)
    roles = {role_id for role_id in share.roles if role_id in ctx.guild.roles}
    if row is None:
        user = await select_user(ctx.tx, user_id)
        if share.belongs and user is not None:
            await join_guild(ctx, ctx.guild, user, roles=sorted(roles))
            await queries.upsert_membership(ctx.tx, guild_id, user_id, provider.id)
        return
    by_group = guild_id in await queries.select_group_guilds(ctx.tx, user_id, provider.id)
    if by_group and not share.belongs and ctx.guild.owner_id != user_id:
        public = await get_user(ctx.tx, user_id)
        if public is not None and await remove_member(ctx, guild_id, public, row):
            await ctx.audit(AuditLogEvent.MEMBER_KICK, target=user_id)
        return
    kept = [role_id for role_id in row.roles if RoleId(role_id) not in share.managed]
    await set_member_roles(ctx, row, [*kept, *sorted(roles)])
