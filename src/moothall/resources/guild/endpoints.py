"""Guilds over HTTP (api.md, Guilds; the public Create Guild, Delete Guild and Leave Guild)."""

from typing import Annotated

from msgspec import Meta

from moothall.kernel.access import MEMBER, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import Json, delete, get, patch, post
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import Guild, GuildPreview, UserGuild
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild import operations, queries
from moothall.resources.guild.events import GuildDelete, GuildUpdate
from moothall.resources.guild.listing import list_guilds
from moothall.resources.guild.membership.operations import LEAVING
from moothall.resources.guild.objects import guild_json, preview_json, with_counts
from moothall.resources.guild.requests import CreateGuild, ModifyGuild
from moothall.resources.member.events import GuildOpen


@post("/guilds", permission=SIGNED_IN, fires=(GuildOpen,), status=201)
async def create_guild(ctx: Context, body: CreateGuild) -> Guild:
    """Make a guild of one's own. Its roles and channels may come with it, naming each other by placeholders."""
    return await operations.create_guild(ctx, body)


@get("/guilds/{guild_id}", permission=MEMBER)
async def get_guild(ctx: Context, guild_id: GuildId, *, with_counts: bool = False) -> Json[Guild]:
    """A guild with its roles, emojis and stickers; with counts also how many members it has, and how many are here."""
    data = guild_json(ctx.guild)
    return Json(await _counted(ctx, data) if with_counts else data)


@get("/guilds/{guild_id}/preview", permission=SIGNED_IN)
async def get_guild_preview(ctx: Context, guild_id: GuildId) -> Json[GuildPreview]:
    """What one may see of a guild before joining it, if it is discoverable; members always may."""
    await ctx.visit_guild(guild_id)
    if not ctx.is_member and Feature.DISCOVERABLE not in ctx.guild.row.features:
        raise Refusal(errors.UNKNOWN_GUILD)
    return Json(await _counted(ctx, preview_json(ctx.guild)))


async def _counted(ctx: Context, data: bytes) -> bytes:
    members = await queries.count_members(ctx.tx, ctx.guild.id)
    return with_counts(data, members=members, present=ctx.services.presences.online_count(ctx.guild.id))


@patch("/guilds/{guild_id}", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild(ctx: Context, guild_id: GuildId, body: ModifyGuild) -> Guild:
    """Change a guild. Some features take ADMINISTRATOR, and giving the guild away is its owner's."""
    return await operations.modify_guild(ctx, body)


@delete("/guilds/{guild_id}", permission=MEMBER, fires=(GuildDelete,))
async def delete_guild(ctx: Context, guild_id: GuildId) -> None:
    """Delete a guild with everything in it. Only its owner may."""
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
    """One's guilds, ascending by id, each with what one may do in it (channels aside)."""
    return await list_guilds(ctx, before=before, after=after, maximum=limit, with_counts=with_counts)


@delete("/users/@me/guilds/{guild_id}", permission=MEMBER, fires=LEAVING)
async def leave_guild(ctx: Context, guild_id: GuildId) -> None:
    """Leave a guild. Its owner cannot."""
    await operations.leave_guild(ctx)
