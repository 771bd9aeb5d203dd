"""Validation of channel settings and conversion to columns, without I/O."""

from collections.abc import Mapping
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors, limits
from moothall.objects.channel import Channel
from moothall.objects.channel_types import (
    CREATABLE,
    FORUMS,
    HAS_THREADS,
    NEEDS_COMMUNITY,
    TEXT,
    TEXT_LIKE,
    VOICE,
    ChannelFlags,
    ChannelType,
    applies,
)
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, SnowflakeFactory
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.objects.text import channel_name, clean, is_standard_emoji
from moothall.objects.voice import regions_of
from moothall.resources.channel.requests import (
    ChannelSettings,
    EmojiRequest,
    TagRequest,
)
from moothall.storage.rows import ChannelRow

_SIMPLE_FIELDS: Final[Mapping[str, object]] = {
    "nsfw": False,
    "bitrate": limits.BITRATE_DEFAULT,
    "user_limit": 0,
    "rate_limit_per_user": 0,
    "rtc_region": None,
    "video_quality_mode": None,
    "default_auto_archive_duration": None,
    "default_thread_rate_limit_per_user": 0,
    "default_sort_order": None,
    "default_forum_layout": 0,
}
"""The fields that are stored without conversion, with the value that null stands for."""


def simple_columns(body: ChannelSettings, kind: int) -> JsonObject:
    """Return the columns of fields that need no conversion; fields that the type does not have are left out."""
    columns = {
        name: null if value is None else value
        for name, null in _SIMPLE_FIELDS.items()
        if (value := getattr(body, name)) is not UNSET and applies(name, kind)
    }
    if body.topic is not UNSET and applies("topic", kind):
        columns["topic"] = clean(body.topic or "") or None
    if body.position is not UNSET and body.position is not None:
        columns["position"] = body.position
    return columns


def stored_name(name: str, kind: int, form_errors: FormErrors) -> str:
    """Return a channel's name as stored for its type; adds an error if nothing is left of it."""
    stored = channel_name(name, text_like=kind in TEXT_LIKE)
    if not stored:
        form_errors.add("name", *FieldError.length(limits.CHANNEL_NAME_MIN, limits.CHANNEL_NAME_MAX))
    return stored


def check_type_available(guild: GuildState, kind: int, form_errors: FormErrors) -> None:
    """Check that announcement, stage, forum and media channels are in a community guild."""
    if kind in NEEDS_COMMUNITY and Feature.COMMUNITY not in guild.row.features:
        form_errors.add("type", *FieldError.choices(sorted(map(int, CREATABLE - NEEDS_COMMUNITY))))


def check_conversion(guild: GuildState, old: int, new: int, form_errors: FormErrors) -> None:
    """Check a change of type: only between text and announcement, in a guild with the feature NEWS or COMMUNITY."""
    if old == new:
        return
    if {old, new} != TEXT:
        form_errors.add("type", *FieldError.choices(sorted(map(int, TEXT)) if old in TEXT else [int(old)]))
    elif Feature.NEWS not in guild.row.features and Feature.COMMUNITY not in guild.row.features:
        form_errors.add("type", *FieldError.choices([int(old)]))


def check_voice(body: ChannelSettings, guild: GuildState, row: ChannelRow, form_errors: FormErrors) -> None:
    """Check bitrate (by boost level), user limit and region of a voice or stage channel.

    The current bitrate and region of `row` are always valid: some clients send them with every change, even after the
    guild has lost the boost level that allowed them.
    """
    kind = row.type
    if kind not in VOICE:
        return
    stage = kind == ChannelType.GUILD_STAGE_VOICE
    highest = limits.BITRATE_STAGE_MAX if stage else max_bitrate(guild)
    if isinstance(body.bitrate, int) and body.bitrate > highest and body.bitrate != row.bitrate:
        form_errors.add("bitrate", *FieldError.too_large(highest))
    maximum = limits.STAGE_USER_LIMIT_MAX if stage else limits.VOICE_USER_LIMIT_MAX
    if isinstance(body.user_limit, int) and body.user_limit > maximum:
        form_errors.add("user_limit", *FieldError.too_large(maximum))
    regions = [region.id for region in regions_of(guild.row.features)]
    if isinstance(body.rtc_region, str) and body.rtc_region not in {*regions, row.rtc_region}:
        form_errors.add("rtc_region", *FieldError.choices(regions))


def max_bitrate(guild: GuildState) -> int:
    """Return the highest bitrate of voice channels in a guild, in bits per second."""
    if Feature.VIP_REGIONS in guild.row.features:
        return limits.BITRATE_VIP
    return limits.BITRATE_BY_TIER[min(guild.row.premium_tier, len(limits.BITRATE_BY_TIER) - 1)]


def settable_flags(kind: int) -> int:
    """Return the bits of `flags` that channels of a type have."""
    bits = 0
    if kind in FORUMS:
        bits |= ChannelFlags.REQUIRE_TAG
    if kind == ChannelType.GUILD_MEDIA:
        bits |= ChannelFlags.HIDE_MEDIA_DOWNLOAD_OPTIONS
    if kind in HAS_THREADS or kind == ChannelType.GUILD_VOICE:
        bits |= ChannelFlags.IS_SPOILER_CHANNEL
    return bits


def flags_column(body: ChannelSettings, kind: int, flags: int, *, nsfw: bool, form_errors: FormErrors) -> int:
    """Return the flags of a channel after a request, given those before; bits that cannot be set stay."""
    if body.flags is UNSET:
        return flags
    settable = settable_flags(kind)
    flags = flags & ~settable | (body.flags or 0) & settable
    if nsfw and flags & ChannelFlags.IS_SPOILER_CHANNEL:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "An age-restricted channel cannot be a spoiler channel.")
    return flags


def default_reaction_column(
    request: EmojiRequest | None, guild: GuildState, before: JsonObject | None, form_errors: FormErrors
) -> JsonObject | None:
    """Return the column of a forum's default reaction, given its value `before`."""
    if request is None:
        return None
    emoji = _emoji(request, guild, before or {}, form_errors.at("default_reaction_emoji"))
    return None if emoji == _NO_EMOJI else emoji


def tags_column(
    requests: list[TagRequest] | None,
    guild: GuildState,
    before: list[JsonObject],
    ids: SnowflakeFactory,
    form_errors: FormErrors,
) -> list[JsonObject]:
    """Return the column of a forum's tags; tags without an id get a new one, others must be among those `before`."""
    known = {int(tag["id"]): tag for tag in before}
    tags: list[dict[str, object]] = []
    for index, tag in enumerate(requests or ()):
        at = form_errors.at(("available_tags", index))
        tag_id = tag.id or None
        if tag_id is not None and tag_id not in known:
            at.add("id", FormCode.BASE_TYPE_CHOICES, "The channel has no such tag.")
        if any(other["name"] == tag.name for other in tags):
            at.add("name", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Tag names must be unique.")
        if tag_id is not None and any(other["id"] == str(int(tag_id)) for other in tags):
            at.add("id", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The tag is listed twice.")
        old = {} if tag_id is None else known.get(tag_id, {})
        moderated = tag.moderated if isinstance(tag.moderated, bool) else bool(old.get("moderated"))
        kept = {"emoji_id": old.get("emoji_id"), "emoji_name": old.get("emoji_name")}
        is_unchanged = tag.emoji_id is UNSET and tag.emoji_name is UNSET and old
        tags.append(
            {
                "id": str(int(tag_id if tag_id is not None else ids.next())),
                "name": tag.name,
                "moderated": moderated,
                **(kept if is_unchanged else _emoji(tag, guild, old, at)),
            }
        )
    return tags


_NO_EMOJI: Final = {"emoji_id": None, "emoji_name": None}


def _emoji(request: EmojiRequest, guild: GuildState, before: JsonObject, at: FormErrors) -> JsonObject:
    if _is_set(request.emoji_id):
        # Clients send back what they received, so an emoji that was deleted since may stay.
        kept = before.get("emoji_id") == str(int(request.emoji_id or 0))
        if not kept and all(emoji.id != request.emoji_id for emoji in guild.emojis):
            at.add("emoji_id", FormCode.EMOJI_INVALID, "The guild has no such emoji.")
        # The id takes precedence over the name.
        return {"emoji_id": str(int(request.emoji_id or 0)), "emoji_name": None}
    if _is_set(request.emoji_name):
        if not is_standard_emoji(str(request.emoji_name)):
            at.add("emoji_name", FormCode.EMOJI_INVALID, "Not a standard emoji.")
        return {"emoji_id": None, "emoji_name": request.emoji_name}
    return dict(_NO_EMOJI)


def _is_set(value: object | UnsetType | None) -> bool:
    return value is not UNSET and value is not None


def check_parent(channels: dict[ChannelId, Channel], parent_id: ChannelId, at: FormErrors) -> Channel | None:
    """Return the category of an id; adds an error and returns None if it is no category or is full."""
    parent = channels.get(parent_id)
    if parent is None:
        at.add("", FormCode.CHANNEL_PARENT_INVALID, "Category does not exist")
        return None
    if parent.type != ChannelType.GUILD_CATEGORY:
        at.add("", FormCode.CHANNEL_PARENT_INVALID_TYPE, "Not a category")
        return None
    if sum(channel.parent_id == parent_id for channel in channels.values()) >= limits.CHANNELS_PER_CATEGORY:
        at.add("", FormCode.CHANNEL_PARENT_MAX_CHANNELS, "Maximum number of channels in category reached")
        return None
    return parent


def require_destination(ctx: Context, parent: Channel | None) -> None:
    """Check that the caller has MANAGE_CHANNELS in a channel's new category, or in the guild if that is None.

    Raises Refusal: 403/50001.
    """
    bits = ctx.member.permissions if parent is None else ctx.member.permissions_in(parent)
    if not bits & Permissions.MANAGE_CHANNELS:
        raise Refusal(errors.MISSING_ACCESS)
