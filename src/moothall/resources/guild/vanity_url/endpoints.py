"""Vanity codes over HTTP (api.md, Other guild endpoints)."""

from msgspec import Struct

from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, patch
from moothall.objects.guild import VanityUrl
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.vanity_url import operations, queries


class ModifyVanityUrl(Struct, frozen=True, kw_only=True):
    """A new code; null or an empty one gives it up."""

    code: str | None


@get("/guilds/{guild_id}/vanity-url", permission=Permissions.MANAGE_GUILD)
async def get_guild_vanity_url(ctx: Context, guild_id: GuildId) -> VanityUrl:
    """A guild's own invite code, and how many came by it."""
    return await queries.select_vanity(ctx.tx, guild_id)


@patch("/guilds/{guild_id}/vanity-url", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild_vanity_url(ctx: Context, guild_id: GuildId, body: ModifyVanityUrl) -> VanityUrl:
    """Choose a guild's own invite code, which takes the feature VANITY_URL, or give it up."""
    return await operations.set_vanity(ctx, body.code)
