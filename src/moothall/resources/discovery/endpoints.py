"""Discovery over HTTP, as people's clients use it."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import PERSON, PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, put
from moothall.objects import limits
from moothall.objects.discovery import CATEGORIES, DiscoverableGuilds, DiscoveryCategory, DiscoveryMetadata
from moothall.objects.guild import Guild
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.discovery import operations
from moothall.resources.guild.membership.operations import JOIN_EVENTS
from moothall.resources.guild.objects import guild_object
from moothall.resources.member.events import GuildMemberUpdate

Keyword = Annotated[str, Meta(min_length=1, max_length=limits.DISCOVERY_KEYWORD_MAX)]


class ModifyDiscoveryMetadata(Struct, frozen=True, kw_only=True):
    """Changes to what a guild is listed by: an absent field stays, null clears."""

    primary_category_id: int | UnsetType | None = UNSET
    """The id of what the guild is about."""
    keywords: Annotated[list[Keyword], Meta(max_length=limits.DISCOVERY_KEYWORDS_MAX)] | UnsetType | None = UNSET
    """Words that the guild is found by."""


@get("/discovery/categories", permission=PUBLIC)
async def list_discovery_categories(ctx: Context) -> list[DiscoveryCategory]:
    """List the categories of discoverable guilds."""
    del ctx
    return [*CATEGORIES.values()]


@get("/discoverable-guilds", permission=PUBLIC)
async def list_discoverable_guilds(
    ctx: Context,
    *,
    query: Annotated[str, Meta(max_length=limits.DISCOVERY_QUERY_MAX)] = "",
    categories: int | None = None,
    guild_ids: Annotated[list[GuildId], Meta(max_length=limits.DISCOVERY_PAGE_MAX)] | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.DISCOVERY_PAGE_MAX)] = limits.DISCOVERY_PAGE_MAX,
    offset: Annotated[int, Meta(ge=0, le=limits.DISCOVERY_OFFSET_MAX)] = 0,
) -> DiscoverableGuilds:
    """List discoverable guilds, those with the most members first; none where the server lists none.

    `query` are words that the name, the description or the keywords contain.
    """
    return await operations.list_discoverable_guilds(
        ctx, query, category_id=categories, guild_ids=guild_ids or (), limit=limit, offset=offset
    )


@put("/guilds/{guild_id}/members/@me", permission=PERSON, fires=(*JOIN_EVENTS, GuildMemberUpdate))
async def join_guild(ctx: Context, guild_id: GuildId) -> Guild:
    """Join a discoverable guild, without an invitation; for a member nothing changes."""
    await ctx.visit_guild(guild_id)
    await operations.join_discoverable_guild(ctx)
    return guild_object(ctx.guild)


@get("/guilds/{guild_id}/discovery-metadata", permission=Permissions.MANAGE_GUILD)
async def get_guild_discovery_metadata(ctx: Context, guild_id: GuildId) -> DiscoveryMetadata:
    """Get what a guild is listed by."""
    return await operations.get_metadata(ctx)


@patch("/guilds/{guild_id}/discovery-metadata", permission=Permissions.MANAGE_GUILD, audit_reason=True)
async def modify_guild_discovery_metadata(
    ctx: Context, guild_id: GuildId, body: ModifyDiscoveryMetadata
) -> DiscoveryMetadata:
    """Change what a guild is listed by."""
    return await operations.modify_metadata(ctx, category_id=body.primary_category_id, keywords=body.keywords)
