"""Vanity URLs over HTTP (api.md, Other guild endpoints)."""

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.endpoint import get, patch
from moothall.objects.guild import VanityUrl
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.vanity_url import operations, queries
from moothall.resources.user.factor.proof import require_proof


class ModifyVanityUrl(Struct, frozen=True, kw_only=True):
    """A new code; null or an empty string removes it."""

    code: str | None


@get("/guilds/{guild_id}/vanity-url", permission=Permissions.MANAGE_GUILD)
async def get_guild_vanity_url(ctx: Context, guild_id: GuildId) -> VanityUrl:
    """Get a guild's vanity code and the number of its uses."""
    return await queries.select_vanity_url(ctx.tx, guild_id)


@patch("/guilds/{guild_id}/vanity-url", permission=Permissions.MANAGE_GUILD, audit_reason=True, fires=(GuildUpdate,))
async def modify_guild_vanity_url(ctx: Context, guild_id: GuildId, body: ModifyVanityUrl) -> VanityUrl:
    """Set a guild's vanity code, which requires the feature VANITY_URL, or remove it.

    Callers with two-factor authentication need a fresh proof.
    """
    await require_proof(ctx)
    return await operations.modify_vanity_url(ctx, body.code)
