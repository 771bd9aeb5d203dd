"""What a channel may be set to: decisions over a request, the guild and the channel, without any I/O."""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType

from moothall.kernel.guild_state import GuildState
from moothall.objects import limits
from moothall.objects.channel_types import (
    CREATABLE,
    FORUMS,
    HAS_THREADS,
    NEEDS_COMMUNITY,
    TEXT_LIKE,
    VOICE,
    ChannelFlags,
    ChannelType,
    applies,
)
from moothall.objects.errors import FormErrors
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import SnowflakeFactory
from moothall.objects.text import channel_name, clean, is_standard_emoji
from moothall.objects.voice import regions_of
from moothall.resources.channel.requests import ChannelSettings, EmojiRequest, TagRequest
from moothall.storage.rows import ChannelRow

_PLAIN: Final[Mapping[str, Any]] = {
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
"""The fields that are stored as given, with what null makes of them."""


def plain_columns(body: ChannelSettings, kind: int) -> dict[str, Any]:
    """The columns that a request sets and that are stored as given; what the type does not have is left out."""
    columns = {
        name: null if value is None else value
        for name, null in _PLAIN.items()
        if (value := getattr(body, name)) is not UNSET and applies(name, kind)
    }
    if body.topic is not UNSET and applies("topic", kind):
        columns["topic"] = clean(body.topic or "") or None
    if body.position is not UNSET and body.position is not None:
        columns["position"] = body.position
    return columns


def stored_name(name: str, kind: int, form_errors: FormErrors) -> str:
    """A channel's name as it is stored for its type; one of which nothing is left is an error."""
    stored = channel_name(name, text_like=kind in TEXT_LIKE)
    if not stored:
        form_errors.add("name", *FieldError.length(limits.CHANNEL_NAME_MIN, limits.CHANNEL_NAME_MAX))
    return stored


def check_creatable(guild: GuildState, kind: int, form_errors: FormErrors) -> None:
    """Announcement, stage, forum and media channels are for communities."""
    if kind in NEEDS_COMMUNITY and Feature.COMMUNITY not in guild.row.features:
        form_errors.add("type", *FieldError.choices(sorted(map(int, CREATABLE - NEEDS_COMMUNITY))))


def check_conversion(guild: GuildState, old: int, new: int, form_errors: FormErrors) -> None:
    """A text channel can become an announcement channel and back, in a guild that has them."""
    swappable = {ChannelType.GUILD_TEXT, ChannelType.GUILD_ANNOUNCEMENT}
    if old == new:
        return
    if {old, new} != swappable:
        form_errors.add("type", *FieldError.choices(sorted(map(int, swappable)) if old in swappable else [int(old)]))
    elif Feature.NEWS not in guild.row.features and Feature.COMMUNITY not in guild.row.features:
        form_errors.add("type", *FieldError.choices([int(old)]))


def check_voice(body: ChannelSettings, guild: GuildState, row: ChannelRow, form_errors: FormErrors) -> None:
    """Bit rate by boost level, the limits of rooms and stages, and a region that exists.

    What the channel of a `row` has already it may keep: some clients give it back with every change, also
    after the guild has lost what allowed it.
    """
    kind = row.type
    if kind not in VOICE:
        return
    stage = kind == ChannelType.GUILD_STAGE_VOICE
    highest = limits.BITRATE_STAGE_MAX if stage else highest_bitrate(guild)
    if isinstance(body.bitrate, int) and body.bitrate > highest and body.bitrate != row.bitrate:
        form_errors.add("bitrate", *FieldError.too_large(highest))
    maximum = limits.STAGE_USER_LIMIT_MAX if stage else limits.VOICE_USER_LIMIT_MAX
    if isinstance(body.user_limit, int) and body.user_limit > maximum:
        form_errors.add("user_limit", *FieldError.too_large(maximum))
    regions = [region.id for region in regions_of(guild.row.features)]
    if isinstance(body.rtc_region, str) and body.rtc_region not in {*regions, row.rtc_region}:
        form_errors.add("rtc_region", *FieldError.choices(regions))


def highest_bitrate(guild: GuildState) -> int:
    """What a voice channel of a guild may be set to, in bits per second."""
    if Feature.VIP_REGIONS in guild.row.features:
        return limits.BITRATE_VIP
    return limits.BITRATE_BY_TIER[min(guild.row.premium_tier, len(limits.BITRATE_BY_TIER) - 1)]


def settable_flags(kind: int) -> int:
    """The bits of `flags` that mean something for a type of channel."""
    bits = 0
    if kind in FORUMS:
        bits |= ChannelFlags.REQUIRE_TAG
    if kind == ChannelType.GUILD_MEDIA:
        bits |= ChannelFlags.HIDE_MEDIA_DOWNLOAD_OPTIONS
    if kind in HAS_THREADS or kind == ChannelType.GUILD_VOICE:
        bits |= ChannelFlags.IS_SPOILER_CHANNEL
    return bits


def changed_flags(body: ChannelSettings, kind: int, held: int, *, nsfw: bool, form_errors: FormErrors) -> int:
    """The flags that a channel has after a request; bits that cannot be set stay as they are."""
    if body.flags is UNSET:
        return held
    settable = settable_flags(kind)
    flags = held & ~settable | (body.flags or 0) & settable
    if nsfw and flags & ChannelFlags.IS_SPOILER_CHANNEL:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "An age-restricted channel cannot be a spoiler channel.")
    return flags


def reaction_column(
    asked: EmojiRequest | None, guild: GuildState, held: dict[str, Any] | None, form_errors: FormErrors
) -> dict[str, Any] | None:
    """A forum's default reaction as it is stored, in place of the one `held`."""
    if asked is None:
        return None
    emoji = _emoji(asked, guild, held or {}, form_errors.at("default_reaction_emoji"))
    return None if emoji == _NO_EMOJI else emoji


def tag_column(
    asked: list[TagRequest] | None,
    guild: GuildState,
    held: list[dict[str, Any]],
    ids: SnowflakeFactory,
    form_errors: FormErrors,
) -> list[dict[str, Any]]:
    """A forum's tags as they are stored: those with the id of one that it `held` keep it, the others get one."""
    known = {int(tag["id"]): tag for tag in held}
    tags: list[dict[str, Any]] = []
    for index, tag in enumerate(asked or ()):
        at = form_errors.at(("available_tags", index))
        tag_id = tag.id or None
        if tag_id is not None and tag_id not in known:
            at.add("id", FormCode.BASE_TYPE_CHOICES, "The channel has no such tag.")
        if any(other["name"] == tag.name for other in tags):
            at.add("name", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Tag names must be unique.")
        if tag_id is not None and any(other["id"] == str(int(tag_id)) for other in tags):
            at.add("id", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The tag is named twice.")
        was = {} if tag_id is None else known.get(tag_id, {})
        moderated = tag.moderated if isinstance(tag.moderated, bool) else bool(was.get("moderated"))
        kept = {"emoji_id": was.get("emoji_id"), "emoji_name": was.get("emoji_name")}
        untouched = tag.emoji_id is UNSET and tag.emoji_name is UNSET and was
        tags.append(
            {
                "id": str(int(tag_id if tag_id is not None else ids.next())),
                "name": tag.name,
                "moderated": moderated,
                **(kept if untouched else _emoji(tag, guild, was, at)),
            }
        )
    return tags


_NO_EMOJI: Final = {"emoji_id": None, "emoji_name": None}


def _emoji(asked: EmojiRequest, guild: GuildState, was: dict[str, Any], at: FormErrors) -> dict[str, Any]:
    if _given(asked.emoji_id):
        # Clients give back what they were told: an emoji that is gone may stay where it was.
        kept = was.get("emoji_id") == str(int(asked.emoji_id or 0))
        if not kept and all(emoji.id != asked.emoji_id for emoji in guild.emojis):
            at.add("emoji_id", FormCode.EMOJI_INVALID, "The guild has no such emoji.")
        # A clash of id and name is settled for the id, which says more.
        return {"emoji_id": str(int(asked.emoji_id or 0)), "emoji_name": None}
    if _given(asked.emoji_name):
        if not is_standard_emoji(str(asked.emoji_name)):
            at.add("emoji_name", FormCode.EMOJI_INVALID, "Not a standard emoji.")
        return {"emoji_id": None, "emoji_name": asked.emoji_name}
    return dict(_NO_EMOJI)


def _given(value: object | UnsetType | None) -> bool:
    return value is not UNSET and value is not None
