"""Roles over HTTP (api.md, Roles)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post
from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.objects import limits
from moothall.objects.ids import GuildId, RoleId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.role import Role
from moothall.objects.wire import encode
from moothall.resources.guild.role import operations, queries
from moothall.resources.guild.role.events import GuildRoleCreate, GuildRoleUpdate
from moothall.resources.guild.role.requests import CreateGuildRole, ModifyGuildRole, RolePosition


@once_per_version(GuildPart.ROLE)
def _roles_json(state: GuildState) -> bytes:
    return encode(list(state.roles.values()))


@get("/guilds/{guild_id}/roles", permission=MEMBER)
async def list_guild_roles(ctx: Context, guild_id: GuildId) -> Json[list[Role]]:
    """List every role of a guild, lowest first."""
    return Json(_roles_json(ctx.guild))


@get("/guilds/{guild_id}/roles/member-counts", permission=MEMBER)
async def get_guild_role_member_counts(ctx: Context, guild_id: GuildId) -> dict[str, int]:
    """Count the members of each role, by role id, without @everyone."""
    counts = await queries.count_members_by_role(ctx.tx, guild_id)
    return {str(int(role_id)): counts[role_id] for role_id in ctx.guild.roles if role_id != ctx.guild.everyone.id}


@get("/guilds/{guild_id}/roles/{role_id}/member-ids", permission=MEMBER)
async def list_guild_role_members(ctx: Context, guild_id: GuildId, role_id: RoleId) -> list[UserId]:
    """List the ids of the first 100 members with a role; none for @everyone."""
    operations.find_role(ctx, role_id)
    if role_id == ctx.guild.everyone.id:
        return []
    return await queries.select_member_ids(ctx.tx, guild_id, role_id, limits.ROLE_MEMBERS_LISTED)


@get("/guilds/{guild_id}/roles/{role_id}", permission=MEMBER)
async def get_guild_role(ctx: Context, guild_id: GuildId, role_id: RoleId) -> Role:
    """Get one role of a guild; 404/10011 for an unknown one."""
    return operations.find_role(ctx, role_id)


@post("/guilds/{guild_id}/roles", permission=Permissions.MANAGE_ROLES, audit_reason=True, fires=(GuildRoleCreate,))
async def create_guild_role(ctx: Context, guild_id: GuildId, body: CreateGuildRole) -> Role:
    """Create a role just above @everyone, with no permission that the caller lacks."""
    return await operations.create_role(ctx, body)


@patch("/guilds/{guild_id}/roles", permission=Permissions.MANAGE_ROLES, audit_reason=True, fires=(GuildRoleUpdate,))
async def modify_guild_role_positions(
    ctx: Context, guild_id: GuildId, body: Annotated[list[RolePosition], Meta(max_length=limits.ROLES_PER_GUILD)]
) -> list[Role]:
    """Change the positions of roles, all of them or none. Returns every role of the guild."""
    return await operations.modify_role_positions(ctx, body)


@patch(
    "/guilds/{guild_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildRoleUpdate,),
)
async def modify_guild_role(ctx: Context, guild_id: GuildId, role_id: RoleId, body: ModifyGuildRole) -> Role:
    """Change a role below the caller's highest."""
    return await operations.modify_role(ctx, role_id, body)


@delete(
    "/guilds/{guild_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=operations.ROLE_DELETE_EVENTS,
)
async def delete_guild_role(ctx: Context, guild_id: GuildId, role_id: RoleId) -> None:
    """Delete a role below the caller's highest, also from members and channel overwrites."""
    await operations.delete_role(ctx, role_id)
