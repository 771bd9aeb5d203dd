"""Guild templates over HTTP (resources: guild template)."""

from moothall.api.access import PERSON, PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post, put
from moothall.objects.guild import Guild
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.template import GuildTemplate
from moothall.resources.member.events import GuildOpen
from moothall.resources.template import operations, queries
from moothall.resources.template.lookup import find_template, template_object
from moothall.resources.template.requests import (
    CreateGuildFromTemplate,
    CreateGuildTemplate,
    ModifyGuildTemplate,
)


@get("/guilds/templates/{code}", permission=PUBLIC)
async def get_guild_template(ctx: Context, code: str) -> GuildTemplate:
    """Get a template with its snapshot of the source guild."""
    row, guild = await find_template(ctx, code)
    return await template_object(ctx, row, guild)


@post("/guilds/templates/{code}", permission=PERSON, fires=(GuildOpen,), status=201)
async def create_guild_from_guild_template(ctx: Context, code: str, body: CreateGuildFromTemplate) -> Guild:
    """Create a guild owned by the caller with the roles, channels and settings of a template."""
    return await operations.create_guild_from_template(ctx, code, body)


@get("/guilds/{guild_id}/templates", permission=Permissions.MANAGE_GUILD)
async def get_guild_templates(ctx: Context, guild_id: GuildId) -> list[GuildTemplate]:
    """List the templates of a guild, of which there is at most one."""
    row = await queries.select_guild_template(ctx.tx, guild_id)
    return [] if row is None else [await template_object(ctx, row, ctx.guild)]


@post("/guilds/{guild_id}/templates", permission=Permissions.MANAGE_GUILD)
async def create_guild_template(ctx: Context, guild_id: GuildId, body: CreateGuildTemplate) -> GuildTemplate:
    """Create the template of a guild, with a snapshot of its roles, channels and settings."""
    return await operations.create_template(ctx, body)


@put("/guilds/{guild_id}/templates/{code}", permission=Permissions.MANAGE_GUILD)
async def sync_guild_template(ctx: Context, guild_id: GuildId, code: str) -> GuildTemplate:
    """Replace a template's snapshot by the guild's current state."""
    return await operations.sync_template(ctx, code)


@patch("/guilds/{guild_id}/templates/{code}", permission=Permissions.MANAGE_GUILD)
async def modify_guild_template(ctx: Context, guild_id: GuildId, code: str, body: ModifyGuildTemplate) -> GuildTemplate:
    """Change a template's name and description."""
    return await operations.modify_template(ctx, code, body)


@delete("/guilds/{guild_id}/templates/{code}", permission=Permissions.MANAGE_GUILD)
async def delete_guild_template(ctx: Context, guild_id: GuildId, code: str) -> GuildTemplate:
    """Delete a template; returns it. Guilds that were created from it stay."""
    return await operations.delete_template(ctx, code)
