"""Reading and changing the profile of a guild."""

from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import Guild
from moothall.objects.guild_profile import GuildProfile
from moothall.objects.ids import GuildId
from moothall.objects.images import ImageData
from moothall.objects.text import clean, clean_name
from moothall.resources.guild import rules
from moothall.resources.guild.objects import badge_of, guild_identity, guild_object
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.profile.requests import ModifyGuildProfile
from moothall.resources.guild.queries import count_members
from moothall.storage.rows import GuildRow

GUILD_TAG_CHANGED: Final = Hook[[Context, GuildId], None]("guild tag changed")
"""Called in the transaction that changes the tag of a guild, or its badge."""
_TAG_FIELDS: Final = ("tag", "badge", "badge_color_primary", "badge_color_secondary")


async def get_profile(ctx: Context) -> GuildProfile:
    """The profile of the guild entered."""
    return await _profile(ctx, guild_object(ctx.guild), ctx.guild.row)


async def _profile(ctx: Context, guild: Guild, row: GuildRow) -> GuildProfile:
    badge = badge_of(row)
    return GuildProfile(
        id=guild.id,
        name=guild.name,
        icon_hash=guild.icon,
        member_count=await count_members(ctx.tx, guild.id),
        online_count=ctx.services.presences.online_count(guild.id),
        description=guild.description,
        tag=row.tag,
        badge=badge.type,
        badge_color_primary=badge.primary,
        badge_color_secondary=badge.secondary,
        badge_hash=badge.hash,
        features=guild.features,
        custom_banner_hash=guild.discovery_splash,
        premium_subscription_count=guild.premium_subscription_count,
        premium_tier=guild.premium_tier,
    )


async def modify_profile(ctx: Context, body: ModifyGuildProfile) -> GuildProfile:
    """Change the profile of the guild entered; returns all of it after the change.

    A request that changes nothing is neither recorded nor announced. Raises Refusal: 400/50101 for a tag or a badge
    without the feature GUILD_TAGS, and for an icon without its feature.
    """
    before, form_errors = ctx.guild.row, FormErrors()
    columns: dict[str, object] = {name: value for name in _TAG_FIELDS if (value := getattr(body, name)) is not UNSET}
    if columns and Feature.GUILD_TAGS not in before.features and any(value is not None for value in columns.values()):
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if isinstance(body.tag, str):
        columns["tag"] = clean_name(body.tag)
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name)
    if body.description is not UNSET:
        columns["description"] = clean(body.description or "").strip() or None
    if isinstance(body.icon, ImageData):
        rules.check_image("icon", body.icon, before.features, form_errors)
        form_errors.raise_if_any()
        columns["icon"] = body.icon.hash
    elif body.icon is None:
        columns["icon"] = None
    guild, after = await change_guild(ctx, **columns), structs.replace(before, **columns)
    if guild_identity(after) != guild_identity(before):
        await GUILD_TAG_CHANGED(ctx, before.id)
    return await _profile(ctx, guild, after)
