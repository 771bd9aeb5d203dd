"""Listing discoverable guilds, joining them, and what a guild is listed by."""

from collections.abc import Collection, Sequence

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.discovery import (
    CATEGORIES,
    GENERAL,
    DiscoverableGuild,
    DiscoverableGuilds,
    DiscoveryMetadata,
)
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.ids import GuildId
from moothall.objects.text import clean
from moothall.resources.discovery import queries
from moothall.resources.discovery.listing import DiscoveryListing
from moothall.resources.discovery.queries import DiscoverableRow
from moothall.resources.guild.membership.operations import join_guild, make_full_member
from moothall.resources.invite.lookup import are_invites_paused
from moothall.resources.member.queries import get_member
from moothall.resources.user.queries import select_user


async def list_discoverable_guilds(
    ctx: Context, query: str, *, category_id: int | None, guild_ids: Collection[GuildId], limit: int, offset: int
) -> DiscoverableGuilds:
    """A page of the discoverable guilds that match, the largest first; none where the setting lists none."""
    rows: Sequence[DiscoverableRow] = []
    if ctx.services.limits.discovery:
        listing = ctx.services.resources[DiscoveryListing]
        rows = await listing.search(query, category_id=category_id, guild_ids=guild_ids)
    page = [_guild(ctx, row) for row in rows[offset : offset + limit]]
    return DiscoverableGuilds(page, len(rows), limit, offset)


def _guild(ctx: Context, row: DiscoverableRow) -> DiscoverableGuild:
    category = CATEGORIES[row.primary_category_id or GENERAL]
    return DiscoverableGuild(
        id=row.id,
        name=row.name,
        icon=row.icon,
        splash=row.splash,
        banner=row.banner,
        discovery_splash=row.discovery_splash,
        description=row.description,
        preferred_locale=row.preferred_locale,
        features=row.features,
        premium_subscription_count=row.premium_subscription_count,
        keywords=row.keywords or [],
        primary_category_id=category.id,
        primary_category=category,
        approximate_member_count=row.member_count,
        approximate_presence_count=ctx.services.presences.online_count(row.id),
    )


async def join_discoverable_guild(ctx: Context) -> None:
    """Join the guild visited, as by an invite: for a member nothing changes, a guest becomes a full member.

    Raises Refusal: 403/20001 for bots, 404/10004 for a guild that is not listed, 403/40006 while its invites are
    paused, and what `join_guild` raises.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    guild = ctx.guild
    member = await get_member(ctx.tx, guild.id, ctx.actor.user_id)
    is_listed = ctx.services.limits.discovery and Feature.DISCOVERABLE in guild.row.features
    if not is_listed and member is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    user = await select_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    paused = are_invites_paused(ctx, guild)
    if member is None:
        if paused:
            raise Refusal(errors.FEATURE_DISABLED, message="Invites to this guild are paused.")
        await join_guild(ctx, guild, user)
    elif is_listed and not paused:
        await make_full_member(ctx, guild, member, user)


async def get_metadata(ctx: Context) -> DiscoveryMetadata:
    """What the guild entered is listed by."""
    row = await queries.select_metadata(ctx.tx, ctx.guild.id)
    return DiscoveryMetadata(
        guild_id=row.guild_id,
        primary_category_id=row.primary_category_id,
        keywords=row.keywords,
        is_published=Feature.DISCOVERABLE in ctx.guild.row.features,
    )


async def modify_metadata(
    ctx: Context, *, category_id: int | UnsetType | None, keywords: list[str] | UnsetType | None
) -> DiscoveryMetadata:
    """Change what the guild entered is listed by; null clears. Without a difference nothing is recorded.

    Keywords that are the same but for case and spaces are stored once. Raises Refusal: 404/10059 for an unknown
    category.
    """
    before = await queries.select_metadata(ctx.tx, ctx.guild.id)
    after = before
    if category_id is not UNSET:
        if (category_id or GENERAL) not in CATEGORIES:
            raise Refusal(errors.UNKNOWN_DISCOVERY_CATEGORY)
        after = structs.replace(after, primary_category_id=category_id or GENERAL)
    if keywords is not UNSET:
        cleaned = (clean(keyword).strip() for keyword in keywords or ())
        after = structs.replace(after, keywords=[*{word.casefold(): word for word in cleaned if word}.values()])
    if changes := differences(before, after, ("primary_category_id", "keywords")):
        await queries.upsert_metadata(ctx.tx, after)
        await ctx.audit(AuditLogEvent.GUILD_UPDATE, target=ctx.guild.id, changes=changes)
    return await get_metadata(ctx)
