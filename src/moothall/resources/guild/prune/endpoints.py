"""Pruning over HTTP (api.md, Prune)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.objects import limits
from moothall.objects.ids import GuildId, RoleId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.prune import operations

Days = Annotated[int, Meta(ge=limits.PRUNE_DAYS_MIN, le=limits.PRUNE_DAYS_MAX)]

_PRUNE_PERMISSIONS = Permissions.MANAGE_GUILD | Permissions.KICK_MEMBERS
_MAX_ROLES = 250


class BeginGuildPrune(Struct, frozen=True):
    """The body of Begin Guild Prune. Some clients send the roles comma-delimited and the boolean as text."""

    days: Days | None = None
    compute_prune_count: bool | Literal["true", "false"] | None = None
    include_roles: str | Annotated[list[RoleId], Meta(max_length=_MAX_ROLES)] | None = None
    reason: str | None = None


class Pruned(Struct, frozen=True):
    """The number of pruned members; null if the request does not want it computed."""

    pruned: int | None


@get("/guilds/{guild_id}/prune", permission=_PRUNE_PERMISSIONS)
async def get_guild_prune_count(
    ctx: Context,
    guild_id: GuildId,
    *,
    days: Days = limits.PRUNE_DAYS_DEFAULT,
    include_roles: list[str] | None = None,
) -> Pruned:
    """Count the members that Begin Guild Prune would remove."""
    roles = operations.parse_include_roles(ctx, include_roles or ())
    criteria = await operations.prune_criteria(ctx, guild_id, days, roles)
    return Pruned(await operations.count_prunable(ctx, guild_id, criteria))


@post(
    "/guilds/{guild_id}/prune",
    permission=_PRUNE_PERMISSIONS,
    audit_reason=True,
    fires=operations.PRUNE_EVENTS,
    # Each batch is a transaction of its own: a single one would block other writers for too long.
    writes=False,
)
async def begin_guild_prune(ctx: Context, guild_id: GuildId, body: BeginGuildPrune) -> Pruned:
    """Remove the members who have not been seen for days."""
    include_roles = body.include_roles or ()
    role_ids = include_roles.split(",") if isinstance(include_roles, str) else [role.wire() for role in include_roles]
    roles = operations.parse_include_roles(ctx, role_ids)
    if ctx.reason is None and body.reason:
        ctx.reason = body.reason[: limits.AUDIT_REASON_MAX]
    removed = await operations.prune_members(ctx, guild_id, body.days or limits.PRUNE_DAYS_DEFAULT, roles)
    return Pruned(None if body.compute_prune_count in {False, "false"} else removed)
