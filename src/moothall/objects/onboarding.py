"""What newcomers are asked, and what their answers bring them (api.md, Guild onboarding objects)."""

from enum import IntEnum

from msgspec import Struct

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake


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
    """A guild's onboarding; `default_channel_ids` are those that everybody is opted into."""

    guild_id: GuildId
    prompts: list[OnboardingPrompt]
    default_channel_ids: list[ChannelId]
    enabled: bool
    mode: int
