"""What newcomers are asked, and what their answers bring them (api.md, Guild onboarding objects)."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId


class OnboardingMode(IntEnum):
    """What counts towards the channels that onboarding must offer."""

    DEFAULT = 0
    """The default channels only."""
    ADVANCED = 1
    """Those that questions offer as well."""


class PromptType(IntEnum):
    """How a question is put."""

    MULTIPLE_CHOICE = 0
    DROPDOWN = 1


class OnboardingOption(Struct, frozen=True, kw_only=True):
    """One answer, with the roles and channels that choosing it brings. An emoji of nulls is none."""

    id: Snowflake
    title: str
    description: str
    emoji: PartialEmoji
    role_ids: list[RoleId]
    channel_ids: list[ChannelId]


class OnboardingPrompt(Struct, frozen=True, kw_only=True):
    """One question. Outside of onboarding (`in_onboarding` false) it is asked in the list of channels and roles."""

    id: Snowflake
    title: str
    options: list[OnboardingOption]
    single_select: bool = False
    required: bool = False
    in_onboarding: bool = True
    type: int = PromptType.MULTIPLE_CHOICE


class Onboarding(Struct, frozen=True, kw_only=True):
    """A guild's onboarding; `default_channel_ids` are those that everybody is opted into.

    The last three are there for somebody who has answered: the options they chose, and when they saw
    what, in milliseconds since the Unix epoch by the id of the prompt or option.
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
    """What a member has answered, and the channels that they are opted into: the default ones, and their options'.

    When prompts and options were seen is told in milliseconds since the Unix epoch, by their ids.
    """

    guild_id: GuildId
    user_id: UserId
    onboarding_responses: list[Snowflake]
    onboarding_prompts_seen: dict[str, int]
    onboarding_responses_seen: dict[str, int]
    channel_ids: list[ChannelId]
