"""Guild objects of responses and events, built once for each version of a guild."""

from collections.abc import Iterable

from msgspec import structs

from moothall.authority.guild_changes import GuildPart
from moothall.authority.guild_state import GuildState, once_per_version
from moothall.objects.emoji import Emoji, PartialEmoji
from moothall.objects.emoji_choice import current_emoji
from moothall.objects.expressions import emojis_with_availability, stickers_with_availability
from moothall.objects.features import Feature
from moothall.objects.guild import Guild, GuildPreview, IncidentsData, NsfwLevel, WelcomeScreen
from moothall.objects.guild_profile import DEFAULT_BADGE_COLORS, Badge, GuildIdentity
from moothall.objects.role import Role
from moothall.objects.sticker import Sticker
from moothall.objects.wire import convert, encode, to_plain
from moothall.storage.rows import GuildRow, welcome_screen_from_row

_NSFW_LEVELS = frozenset({NsfwLevel.EXPLICIT, NsfwLevel.AGE_RESTRICTED})
DEFAULT_REGION = "local"
"""The deprecated `region` of a guild without one: each voice channel has its own."""


def build_guild_object(row: GuildRow, roles: Iterable[Role], emojis: list[Emoji], stickers: list[Sticker]) -> Guild:
    """The guild object for a row with its roles, emojis and stickers, without counts."""
    return Guild(
        id=row.id,
        name=row.name,
        icon=row.icon,
        description=row.description,
        splash=row.splash,
        discovery_splash=row.discovery_splash if Feature.DISCOVERABLE in row.features else None,
        features=row.features,
        banner=row.banner,
        owner_id=row.owner_id,
        application_id=row.application_id,
        region=row.region or DEFAULT_REGION,
        afk_channel_id=row.afk_channel_id,
        afk_timeout=row.afk_timeout,
        system_channel_id=row.system_channel_id,
        system_channel_flags=row.system_channel_flags,
        widget_enabled=row.widget_enabled,
        widget_channel_id=row.widget_channel_id,
        verification_level=row.verification_level,
        roles=list(roles),
        default_message_notifications=row.default_message_notifications,
        mfa_level=row.mfa_level,
        explicit_content_filter=row.explicit_content_filter,
        max_members=row.max_members,
        max_stage_video_channel_users=row.max_stage_video_channel_users,
        max_video_channel_users=row.max_video_channel_users,
        vanity_url_code=row.vanity_url_code,
        premium_tier=row.premium_tier,
        premium_subscription_count=row.premium_subscription_count,
        preferred_locale=row.preferred_locale,
        rules_channel_id=row.rules_channel_id,
        safety_alerts_channel_id=row.safety_alerts_channel_id,
        public_updates_channel_id=row.public_updates_channel_id,
        premium_progress_bar_enabled=row.premium_progress_bar_enabled,
        nsfw=row.nsfw_level in _NSFW_LEVELS,
        nsfw_level=row.nsfw_level,
        emojis=emojis_with_availability(emojis, row.premium_tier),
        stickers=stickers_with_availability(stickers, row.premium_tier, row.features),
        incidents_data=None if row.incidents_data is None else convert(row.incidents_data, IncidentsData),
    )


def badge_of(row: GuildRow) -> Badge:
    """The badge of a guild, chosen or not."""
    primary, secondary = DEFAULT_BADGE_COLORS
    return Badge(row.badge or 0, row.badge_color_primary or primary, row.badge_color_secondary or secondary)


def guild_identity(row: GuildRow) -> GuildIdentity | None:
    """The tag and badge of a guild; None for a guild without a tag."""
    return None if row.tag is None else GuildIdentity(tag=row.tag, badge=badge_of(row).hash)


@once_per_version(GuildPart.SETTINGS, GuildPart.ROLE, GuildPart.EMOJIS, GuildPart.STICKERS)
def guild_object(state: GuildState) -> Guild:
    """The guild object of a state, without counts."""
    return build_guild_object(state.row, state.roles.values(), state.emojis, state.stickers)


@once_per_version(GuildPart.SETTINGS, GuildPart.ROLE, GuildPart.EMOJIS, GuildPart.STICKERS)
def guild_json(state: GuildState) -> bytes:
    """The guild object of a state as JSON, without counts."""
    return encode(guild_object(state))


_BESIDE_PROPERTIES = ("roles", "emojis", "stickers", "premium_subscription_count")


@once_per_version(GuildPart.SETTINGS, GuildPart.ROLE, GuildPart.EMOJIS, GuildPart.STICKERS)
def guild_json_with_properties(state: GuildState) -> bytes:
    """The guild of a state as JSON with its lists beside `properties`, which has all other fields."""
    identity = guild_identity(state.row)
    profile = None if identity is None else to_plain(identity)
    properties = to_plain(guild_object(state)) | {"hub_type": None, "profile": profile}
    lists = {name: properties.pop(name) for name in _BESIDE_PROPERTIES}
    return encode({"id": properties["id"], "data_mode": "full", "properties": properties, **lists})


def welcome_screen(state: GuildState) -> WelcomeScreen | None:
    """The welcome screen of a guild, enabled or not, with current emojis; None if the guild never had one."""
    screen = welcome_screen_from_row(state.row)
    if screen is None:
        return None
    emojis = {emoji.id: emoji for emoji in state.emojis}
    shown = []
    for channel in screen.welcome_channels:
        emoji = current_emoji(emojis, PartialEmoji(id=channel.emoji_id, name=channel.emoji_name))
        shown.append(structs.replace(channel, emoji_id=emoji.id, emoji_name=emoji.name))
    return structs.replace(screen, welcome_channels=shown)


@once_per_version(GuildPart.SETTINGS, GuildPart.EMOJIS, GuildPart.STICKERS)
def preview_json(state: GuildState) -> bytes:
    """The guild preview of a state as JSON, without counts."""
    preview = to_plain(
        GuildPreview(
            id=state.row.id,
            name=state.row.name,
            icon=state.row.icon,
            splash=state.row.splash,
            discovery_splash=guild_object(state).discovery_splash,
            emojis=state.emojis,
            features=state.row.features,
            approximate_member_count=0,
            approximate_presence_count=0,
            description=state.row.description,
            stickers=state.stickers,
        )
    )
    # The JSON is cached, so counts are added to each response by `with_counts`.
    del preview["approximate_member_count"], preview["approximate_presence_count"]
    return encode(preview)


def with_counts(data: bytes, *, members: int, present: int) -> bytes:
    """The JSON of a guild or a preview with its approximate counts added."""
    return b'%b,"approximate_member_count":%d,"approximate_presence_count":%d}' % (data[:-1], members, present)
