"""Request bodies of the guild endpoints (api.md, Modify Guild; the public Create Guild)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild import DefaultMessageNotificationLevel, ExplicitContentFilterLevel, VerificationLevel
from moothall.objects.ids import ChannelId, Snowflake, UserId
from moothall.objects.images import ImageData
from moothall.objects.locales import LOCALES
from moothall.objects.permissions import PermissionSet
from moothall.objects.text import clean_name
from moothall.resources.channel.requests import OverwriteRequest

AfkTimeout = Literal[60, 300, 900, 1800, 3600]

GuildName = Annotated[
    str, Meta(extra_json_schema={"minLength": limits.GUILD_NAME_MIN, "maxLength": limits.GUILD_NAME_MAX})
]
"""Its length is counted without surrounding whitespace."""
_Region = Annotated[str, Meta(max_length=100)]
_SystemFlags = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


def check_guild_name(name: str | UnsetType, form_errors: FormErrors) -> None:
    """Check the length of a guild's name without surrounding whitespace."""
    if name is not UNSET and not limits.GUILD_NAME_MIN <= len(clean_name(name)) <= limits.GUILD_NAME_MAX:
        form_errors.add("name", *FieldError.length(limits.GUILD_NAME_MIN, limits.GUILD_NAME_MAX))


class ModifyGuild(Struct, frozen=True, kw_only=True):
    """Changes to a guild: an absent field stays, null clears it or restores its default."""

    name: GuildName | UnsetType = UNSET
    description: Annotated[str, Meta(max_length=limits.GUILD_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    region: _Region | UnsetType | None = UNSET
    verification_level: VerificationLevel | UnsetType | None = UNSET
    default_message_notifications: DefaultMessageNotificationLevel | UnsetType | None = UNSET
    explicit_content_filter: ExplicitContentFilterLevel | UnsetType | None = UNSET
    afk_channel_id: ChannelId | UnsetType | None = UNSET
    afk_timeout: AfkTimeout | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    splash: ImageData | UnsetType | None = UNSET
    discovery_splash: ImageData | UnsetType | None = UNSET
    banner: ImageData | UnsetType | None = UNSET
    owner_id: UserId | UnsetType = UNSET
    system_channel_id: ChannelId | UnsetType | None = UNSET
    system_channel_flags: _SystemFlags | UnsetType | None = UNSET
    rules_channel_id: ChannelId | UnsetType | None = UNSET
    public_updates_channel_id: ChannelId | UnsetType | None = UNSET
    safety_alerts_channel_id: ChannelId | UnsetType | None = UNSET
    preferred_locale: str | UnsetType | None = UNSET
    features: Annotated[list[str | None], Meta(max_length=1521)] | UnsetType | None = UNSET
    premium_progress_bar_enabled: bool | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the name's length without surrounding whitespace, and that the locale exists."""
        check_guild_name(self.name, form_errors)
        if isinstance(self.preferred_locale, str) and self.preferred_locale not in LOCALES:
            form_errors.add("preferred_locale", *FieldError.choices(sorted(LOCALES)))


class NewRole(Struct, frozen=True, kw_only=True):
    """A role of a new guild; the first one is @everyone. `id` is a placeholder by which overwrites refer to it."""

    id: Snowflake | UnsetType | None = UNSET
    name: Annotated[str, Meta(max_length=limits.ROLE_NAME_MAX)] | UnsetType | None = UNSET
    permissions: PermissionSet | UnsetType | None = UNSET
    color: Annotated[int, Meta(ge=0, le=limits.COLOR_MAX)] | UnsetType | None = UNSET
    hoist: bool | UnsetType | None = UNSET
    mentionable: bool | UnsetType | None = UNSET


class NewChannel(Struct, frozen=True, kw_only=True):
    """A channel of a new guild. `id` is a placeholder by which others refer to it; a category precedes its channels."""

    id: Snowflake | UnsetType | None = UNSET
    name: Annotated[str, Meta(min_length=limits.CHANNEL_NAME_MIN, max_length=limits.CHANNEL_NAME_MAX)]
    type: Literal[0, 2, 4] | UnsetType | None = UNSET
    parent_id: Snowflake | UnsetType | None = UNSET
    topic: Annotated[str, Meta(max_length=limits.CHANNEL_TOPIC_MAX)] | UnsetType | None = UNSET
    nsfw: bool | UnsetType | None = UNSET
    bitrate: Annotated[int, Meta(ge=limits.BITRATE_MIN, le=limits.BITRATE_BY_TIER[0])] | UnsetType | None = UNSET
    user_limit: Annotated[int, Meta(ge=0, le=limits.VOICE_USER_LIMIT_MAX)] | UnsetType | None = UNSET
    rate_limit_per_user: Annotated[int, Meta(ge=0, le=limits.SLOWMODE_MAX)] | UnsetType | None = UNSET
    permission_overwrites: (
        Annotated[list[OverwriteRequest], Meta(max_length=limits.CHANNEL_OVERWRITES_MAX)] | UnsetType | None
    ) = UNSET

    @property
    def kind(self) -> ChannelType:
        """The channel's type; a text channel by default."""
        return ChannelType(self.type or ChannelType.GUILD_TEXT)


class CreateGuild(Struct, frozen=True, kw_only=True):
    """A new guild. Without `channels` it has a text and a voice channel, each in a category."""

    name: GuildName
    region: _Region | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    verification_level: VerificationLevel | UnsetType | None = UNSET
    default_message_notifications: DefaultMessageNotificationLevel | UnsetType | None = UNSET
    explicit_content_filter: ExplicitContentFilterLevel | UnsetType | None = UNSET
    roles: Annotated[list[NewRole], Meta(max_length=limits.ROLES_PER_GUILD)] | UnsetType | None = UNSET
    channels: Annotated[list[NewChannel], Meta(max_length=limits.CHANNELS_PER_GUILD)] | UnsetType | None = UNSET
    afk_channel_id: Snowflake | UnsetType | None = UNSET
    afk_timeout: AfkTimeout | UnsetType | None = UNSET
    system_channel_id: Snowflake | UnsetType | None = UNSET
    system_channel_flags: _SystemFlags | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the name's length, and that each placeholder refers to one earlier object of the right type."""
        check_guild_name(self.name, form_errors)
        roles = self._check_roles(form_errors)
        kinds = self._check_channels(roles, form_errors)
        for field, kind in (("afk_channel_id", ChannelType.GUILD_VOICE), ("system_channel_id", ChannelType.GUILD_TEXT)):
            placeholder = getattr(self, field)
            if isinstance(placeholder, int) and kinds.get(placeholder) is not kind:
                form_errors.add(field, FormCode.BASE_TYPE_CHOICES, f"No {kind.name} of this request has this id.")

    def _check_roles(self, form_errors: FormErrors) -> set[int]:
        known: set[int] = set()
        for index, role in enumerate(self.roles or ()):
            if isinstance(role.name, str) and index and not clean_name(role.name):
                form_errors.add(["roles", index, "name"], *FieldError.length(1, limits.ROLE_NAME_MAX))
            if not isinstance(role.id, int):
                continue
            if role.id in known:
                form_errors.add(
                    ["roles", index, "id"], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Another role has this id."
                )
            known.add(role.id)
        return known

    def _check_channels(self, roles: set[int], form_errors: FormErrors) -> dict[int, ChannelType]:
        kinds: dict[int, ChannelType] = {}
        for index, channel in enumerate(self.channels or ()):
            at = form_errors.at(["channels", index])
            if isinstance(channel.parent_id, int):
                if kinds.get(channel.parent_id) is not ChannelType.GUILD_CATEGORY:
                    at.add("parent_id", FormCode.CHANNEL_PARENT_INVALID, "No category before this channel has this id.")
                elif channel.kind is ChannelType.GUILD_CATEGORY:
                    at.add("parent_id", FormCode.CHANNEL_PARENT_INVALID_TYPE, "A category cannot be in a category.")
            for overwrite_index, overwrite in enumerate(channel.permission_overwrites or ()):
                if overwrite.type == 1 or overwrite.id not in roles:
                    at.add(
                        ["permission_overwrites", overwrite_index, "id"],
                        FormCode.BASE_TYPE_CHOICES,
                        "No role of this request has this id.",
                    )
            if isinstance(channel.id, int):
                if channel.id in kinds:
                    at.add("id", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Another channel has this id.")
                kinds[channel.id] = channel.kind
        return kinds


class ModifyMfaLevel(Struct, frozen=True):
    """The MFA level: 1 asks moderators for two-factor authentication, 0 does not."""

    level: Annotated[int, Meta(ge=0, le=1)]
