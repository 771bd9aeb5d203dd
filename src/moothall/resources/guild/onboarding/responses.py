"""Pure decisions about members' responses to onboarding prompts (api.md, Guild onboarding objects)."""

from collections.abc import Collection, Iterable

from msgspec import UnsetType

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.onboarding import Onboarding, OnboardingOption, OnboardingPrompt

_FIELD = "onboarding_responses"


def check_responses(onboarding: Onboarding, option_ids: list[Snowflake], before: Collection[Snowflake]) -> None:
    """Refuse (400/50035) unknown options, several responses to a single-select prompt, and open required prompts.

    `before` are the responses that required prompts must keep.
    """
    form_errors = FormErrors().at(_FIELD)
    prompts = _prompts_by_option(onboarding)
    answered: set[Snowflake] = set()
    for index, option_id in enumerate(option_ids):
        prompt = prompts.get(option_id)
        if prompt is None:
            form_errors.add([index], FormCode.BASE_TYPE_CHOICES, "Onboarding has no such option.")
        elif prompt.single_select and prompt.id in answered:
            form_errors.add([index], FormCode.BASE_TYPE_BAD_LENGTH, "This prompt takes one response.")
        else:
            answered.add(prompt.id)
    required = {prompts[o].id for o in before if o in prompts and _is_required(prompts[o])}
    if required - answered:
        form_errors.add("", *FieldError.required())
    form_errors.raise_if_any()


def _is_required(prompt: OnboardingPrompt) -> bool:
    return prompt.required and prompt.in_onboarding


def has_unanswered_prompts(onboarding: Onboarding, option_ids: Iterable[Snowflake]) -> bool:
    """Whether a required prompt of onboarding has no response, so that onboarding is not complete."""
    prompts = _prompts_by_option(onboarding)
    answered = {prompts[option_id].id for option_id in option_ids}
    return any(_is_required(prompt) and prompt.id not in answered for prompt in onboarding.prompts)


def _prompts_by_option(onboarding: Onboarding) -> dict[Snowflake, OnboardingPrompt]:
    return {option.id: prompt for prompt in onboarding.prompts for option in prompt.options}


def kept_responses(
    onboarding: Onboarding, before: Iterable[Snowflake], option_ids: Iterable[Snowflake]
) -> list[Snowflake]:
    """The earlier responses to prompts outside of onboarding that have no new response."""
    prompts = _prompts_by_option(onboarding)
    answered = {prompts[o].id for o in option_ids if o in prompts}
    return [o for o in before if o in prompts and not prompts[o].in_onboarding and prompts[o].id not in answered]


def chosen_options(onboarding: Onboarding, option_ids: Iterable[Snowflake]) -> list[OnboardingOption]:
    """The chosen options that still exist, in the order of the prompts."""
    chosen = set(option_ids)
    return [option for prompt in onboarding.prompts for option in prompt.options if option.id in chosen]


def offered_channels(onboarding: Onboarding, chosen: Iterable[OnboardingOption]) -> list[ChannelId]:
    """The default channels and those of the chosen options."""
    extra = [channel for option in chosen for channel in option.channel_ids]
    return list(dict.fromkeys([*onboarding.default_channel_ids, *extra]))


def merge_seen(
    before: dict[str, int], updates: dict[str, int] | UnsetType | None, known: Collection[Snowflake]
) -> dict[str, int]:
    """When each of the `known` prompts or options was last seen, by its id as a string."""
    ids = {i.wire() for i in known}
    merged = {**before, **(updates if isinstance(updates, dict) else {})}
    return {key: when for key, when in merged.items() if key in ids}
