"""Listing the guilds of a user (api.md, Get Current User Guilds)."""

from collections.abc import Iterable

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects.guild import UserGuild
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.permissions import PermissionSet, base_permissions
from moothall.resources.guild import queries


async def list_guilds(
    ctx: Context, *, before: GuildId | None, after: GuildId | None, maximum: int, with_counts: bool
) -> list[UserGuild]:
    """A page of the actor's guilds: the first `maximum` after an id, or the last `maximum` before one.

    Takes two queries for any number of guilds, and does not load their states.
    """
    rows = await queries.select_memberships(
        ctx.tx, ctx.actor.user_id, after=0 if after is None else after, before=before, maximum=maximum
    )
    # A guest has no guild-wide permissions.
    roles_by_guild = {row.id: [] if row.guest_channel_id else [RoleId(row.id), *map(RoleId, row.roles)] for row in rows}
    permissions = await _role_permissions(ctx, roles_by_guild) if rows else {}
    online = ctx.services.presences.online_count
    return [
        UserGuild(
            id=row.id,
            name=row.name,
            icon=row.icon,
            banner=row.banner,
            owner=row.owner_id == ctx.actor.user_id,
            permissions=PermissionSet(
                base_permissions(
                    owner=row.owner_id == ctx.actor.user_id,
                    everyone=0,
                    roles=_pick(permissions[row.id], roles_by_guild[row.id]),
                )
            ),
            features=row.features,
            approximate_member_count=row.member_count if with_counts else UNSET,
            approximate_presence_count=online(row.id) if with_counts else UNSET,
        )
        for row in rows
    ]


async def _role_permissions(
    ctx: Context, roles_by_guild: dict[GuildId, list[RoleId]]
) -> dict[GuildId, dict[RoleId, int]]:
    permissions: dict[GuildId, dict[RoleId, int]] = {guild_id: {} for guild_id in roles_by_guild}
    for role in await queries.select_permissions(ctx.tx, roles_by_guild):
        permissions[role.guild_id][role.id] = role.permissions
    return permissions


def _pick(permissions: dict[RoleId, int], role_ids: Iterable[RoleId]) -> list[int]:
    return [permissions[role_id] for role_id in role_ids if role_id in permissions]
