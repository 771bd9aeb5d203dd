"""Request bodies of onboarding (api.md, Guild onboarding objects; the public Modify Guild Onboarding)."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, EmojiId, RoleId, Snowflake
from moothall.objects.onboarding import OnboardingMode, PromptType

_MAX_OF_OPTION = Meta(max_length=limits.ONBOARDING_OPTION_GRANTS_MAX)


class OptionRequest(Struct, frozen=True, kw_only=True):
    """An option of a prompt. An absent field stays in an option that exists with this id."""

    id: Snowflake | UnsetType | None = UNSET
    title: Annotated[str, Meta(min_length=1, max_length=limits.ONBOARDING_OPTION_TITLE_MAX)]
    description: Annotated[str, Meta(max_length=limits.ONBOARDING_OPTION_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    emoji_id: EmojiId | UnsetType | None = UNSET
    emoji_name: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET
    emoji_animated: bool | UnsetType | None = UNSET
    role_ids: Annotated[list[RoleId], _MAX_OF_OPTION] | UnsetType | None = UNSET
    channel_ids: Annotated[list[ChannelId], _MAX_OF_OPTION] | UnsetType | None = UNSET


class PromptRequest(Struct, frozen=True, kw_only=True):
    """A prompt. An absent field stays in a prompt that exists with this id."""

    id: Snowflake | UnsetType | None = UNSET
    type: PromptType | UnsetType | None = UNSET
    title: Annotated[str, Meta(min_length=1, max_length=limits.ONBOARDING_TITLE_MAX)]
    options: Annotated[list[OptionRequest], Meta(min_length=1, max_length=limits.ONBOARDING_OPTIONS_MAX)]
    single_select: bool | UnsetType | None = UNSET
    required: bool | UnsetType | None = UNSET
    in_onboarding: bool | UnsetType | None = UNSET


class ModifyOnboarding(Struct, frozen=True, kw_only=True):
    """Changes to onboarding: an absent field stays, null restores its default."""

    prompts: Annotated[list[PromptRequest], Meta(max_length=limits.ONBOARDING_PROMPTS_MAX)] | UnsetType | None = UNSET
    default_channel_ids: Annotated[list[ChannelId], Meta(max_length=limits.CHANNELS_PER_GUILD)] | UnsetType | None = (
        UNSET
    )
    enabled: bool | UnsetType | None = UNSET
    mode: OnboardingMode | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that no list contains an id twice."""
        _check_unique(self.default_channel_ids, form_errors.at("default_channel_ids"))
        for number, prompt in enumerate(self.prompts or ()):
            for option_index, option in enumerate(prompt.options):
                at = form_errors.at(["prompts", number, "options", option_index])
                _check_unique(option.role_ids, at.at("role_ids"))
                _check_unique(option.channel_ids, at.at("channel_ids"))


_Seen = dict[str, Annotated[int, Meta(ge=0, le=(1 << 53) - 1)]]
_OPTIONS_MAX = limits.ONBOARDING_PROMPTS_MAX * limits.ONBOARDING_OPTIONS_MAX


class OnboardingResponses(Struct, frozen=True, kw_only=True):
    """A member's responses: the chosen options, and when they saw each prompt and option, in milliseconds."""

    onboarding_responses: Annotated[list[Snowflake], Meta(max_length=_OPTIONS_MAX)]
    onboarding_prompts_seen: Annotated[_Seen, Meta(max_length=limits.ONBOARDING_PROMPTS_MAX)] | UnsetType | None = UNSET
    onboarding_responses_seen: Annotated[_Seen, Meta(max_length=_OPTIONS_MAX)] | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that no option is chosen twice."""
        _check_unique(self.onboarding_responses, form_errors.at("onboarding_responses"))


def _check_unique(ids: Sequence[int] | UnsetType | None, at: FormErrors) -> None:
    known: set[int] = set()
    for index, item in enumerate(ids or ()):
        if item in known:
            at.add([index], FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
        known.add(item)
