"""Guilds over HTTP (api.md, Guilds; the public Create Guild, Delete Guild and Leave Guild)."""

from typing import Annotated

from msgspec import UNSET, Meta

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import Guild, GuildPreview, UserGuild
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild import operations, queries
from moothall.resources.guild.events import GuildDelete, GuildUpdate
from moothall.resources.guild.listing import list_guilds
from moothall.resources.guild.membership.operations import LEAVE_EVENTS
from moothall.resources.guild.objects import guild_json, preview_json, with_counts
from moothall.resources.guild.requests import CreateGuild, ModifyGuild, ModifyMfaLevel
from moothall.resources.member.events import GuildOpen
from moothall.resources.user.factor.proof import require_proof


@post("/guilds", permission=SIGNED_IN, fires=(GuildOpen,), status=201)
async def create_guild(ctx: Context, body: CreateGuild) -> Guild:
    """Create a guild owned by the caller. Its roles and channels in the body refer to each other by placeholder ids."""
    return await operations.create_guild(ctx, body)


@get("/guilds/{guild_id}", permission=MEMBER)
async def get_guild(ctx: Context, guild_id: GuildId, *, with_counts: bool = False) -> Json[Guild]:
    """Get a guild with its roles, emojis and stickers; `with_counts` adds the numbers of members and online members."""
    data = guild_json(ctx.guild)
    return Json(await _add_counts(ctx, data) if with_counts else data, names_files=False)


@get("/guilds/{guild_id}/preview", permission=SIGNED_IN)
async def get_guild_preview(ctx: Context, guild_id: GuildId) -> Json[GuildPreview]:
    """Get the preview of a guild. Users who are not members get that of a discoverable guild only, else 404/10004."""
    await ctx.visit_guild(guild_id)
    if not ctx.is_member and Feature.DISCOVERABLE not in ctx.guild.row.features:
        raise Refusal(errors.UNKNOWN_GUILD)
    return Json(await _add_counts(ctx, preview_json(ctx.guild)))


async def _add_counts(ctx: Context, data: bytes) -> bytes:
    members = await queries.count_members(ctx.tx, ctx.guild.id)
    return with_counts(data, members=members, present=ctx.services.presences.online_count(ctx.guild.id))


@patch("/guilds/{guild_id}", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild(ctx: Context, guild_id: GuildId, body: ModifyGuild) -> Guild:
    """Change a guild. Some features require ADMINISTRATOR; only the owner can transfer ownership.

    A transfer by an owner with two-factor authentication needs a fresh proof.
    """
    if body.owner_id not in {UNSET, ctx.guild.owner_id}:
        await require_proof(ctx)
    return await operations.modify_guild(ctx, body)


@post("/guilds/{guild_id}/mfa", permission=MEMBER, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild_mfa_level(ctx: Context, guild_id: GuildId, body: ModifyMfaLevel) -> ModifyMfaLevel:
    """Set whether moderators need two-factor authentication. Only an owner who has it can, with a fresh proof."""
    await operations.check_can_modify_mfa_level(ctx)
    await require_proof(ctx)
    await operations.change_guild(ctx, mfa_level=body.level)
    return body


@delete("/guilds/{guild_id}", permission=MEMBER, fires=(GuildDelete,))
async def delete_guild(ctx: Context, guild_id: GuildId) -> None:
    """Delete a guild with everything in it. Only its owner can, with two-factor authentication by a fresh proof."""
    if ctx.member.is_owner:
        await require_proof(ctx)
    await operations.delete_guild(ctx)


@get("/users/@me/guilds", permission=SIGNED_IN, scope="guilds")
async def get_current_user_guilds(
    ctx: Context,
    *,
    before: GuildId | None = None,
    after: GuildId | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.GUILD_LIST_MAX)] = limits.GUILD_LIST_MAX,
    with_counts: bool = False,
) -> list[UserGuild]:
    """List the caller's guilds, ascending by id, each with the caller's guild-wide permissions."""
    return await list_guilds(ctx, before=before, after=after, maximum=limit, with_counts=with_counts)


@delete("/users/@me/guilds/{guild_id}", permission=MEMBER, fires=LEAVE_EVENTS)
async def leave_guild(ctx: Context, guild_id: GuildId) -> None:
    """Leave a guild. Its owner cannot leave."""
    await operations.leave_guild(ctx)
