"""Onboarding prompts of guilds and the roles and channels of their options (api.md, Guild onboarding objects)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId


class OnboardingMode(IntEnum):
    """The channels that count towards the minimum of onboarding."""

    DEFAULT = 0
    """Only default channels count."""
    ADVANCED = 1
    """The channels of options count too."""


class PromptType(IntEnum):
    """The type of a prompt."""

    MULTIPLE_CHOICE = 0
    DROPDOWN = 1


class OnboardingOption(Struct, frozen=True, kw_only=True):
    """An option with the roles and channels that choosing it grants. An emoji of nulls means none."""

    id: Snowflake
    title: str
    description: str
    emoji: PartialEmoji
    role_ids: list[RoleId]
    channel_ids: list[ChannelId]


class OnboardingPrompt(Struct, frozen=True, kw_only=True):
    """A prompt. With `in_onboarding` false it is shown only in the list of channels and roles."""

    id: Snowflake
    title: str
    options: list[OnboardingOption]
    single_select: bool = False
    required: bool = False
    in_onboarding: bool = True
    type: int = PromptType.MULTIPLE_CHOICE


class Onboarding(Struct, frozen=True, kw_only=True):
    """A guild's onboarding. Every member is opted into `default_channel_ids`.

    The last three fields are present for a caller who has responded: the chosen options, and when prompts and options
    were seen, in milliseconds since the Unix epoch by their ids.
    """

    guild_id: GuildId
    prompts: list[OnboardingPrompt]
    default_channel_ids: list[ChannelId]
    enabled: bool
    mode: int
    responses: list[Snowflake] | UnsetType = UNSET
    onboarding_prompts_seen: dict[str, int] | UnsetType = UNSET
    onboarding_responses_seen: dict[str, int] | UnsetType = UNSET


class OnboardingAnswers(Struct, frozen=True, kw_only=True):
    """A member's responses, and the channels that they are opted into: default channels and those of their options.

    The times at which prompts and options were seen are in milliseconds since the Unix epoch, by their ids.
    """

    guild_id: GuildId
    user_id: UserId
    onboarding_responses: list[Snowflake]
    onboarding_prompts_seen: dict[str, int]
    onboarding_responses_seen: dict[str, int]
    channel_ids: list[ChannelId]
