"""Pure decisions about onboarding: what prompts a request makes, what is left of it, and whether it may be on."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeVar

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.objects import limits
from moothall.objects.channel import Channel
from moothall.objects.emoji import Emoji
from moothall.objects.emoji_choice import NO_EMOJI, choose_emoji, current_emoji
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, EmojiId, RoleId, Snowflake
from moothall.objects.onboarding import Onboarding, OnboardingMode, OnboardingOption, OnboardingPrompt, PromptType
from moothall.objects.permissions import Permissions
from moothall.objects.role import Role
from moothall.objects.text import clean_name
from moothall.resources.guild.onboarding.requests import OptionRequest, PromptRequest

T = TypeVar("T")

_WRITABLE = Permissions.VIEW_CHANNEL | Permissions.SEND_MESSAGES


class Known(Struct, frozen=True):
    """What prompts may name, and what makes new ids."""

    roles: Mapping[RoleId, Role]
    """Those of the guild but @everyone."""
    channels: Mapping[ChannelId, Channel]
    emojis: Iterable[Emoji]
    new_id: Callable[[], Snowflake]


def make_prompts(
    asked: Iterable[PromptRequest], before: Iterable[OnboardingPrompt], known: Known, form_errors: FormErrors
) -> list[OnboardingPrompt]:
    """The prompts that a request describes. Ids that name an earlier one are kept, all others replaced by new ones."""
    prompts = {prompt.id: prompt for prompt in before}
    options = {option.id: option for prompt in prompts.values() for option in prompt.options}
    made = []
    for number, wanted in enumerate(asked):
        at = form_errors.at(["prompts", number])
        # Once an id is taken, whoever names it again gets a new one.
        old = prompts.pop(wanted.id, None) if isinstance(wanted.id, int) else None
        old = old or OnboardingPrompt(id=known.new_id(), title="", options=[])
        made.append(
            OnboardingPrompt(
                id=old.id,
                title=_name(wanted.title, limits.ONBOARDING_TITLE_MAX, at),
                options=[
                    _option(option, options, known, at.at(["options", access]))
                    for access, option in enumerate(wanted.options)
                ],
                single_select=_chosen(wanted.single_select, old.single_select, default=False),
                required=_chosen(wanted.required, old.required, default=False),
                in_onboarding=_chosen(wanted.in_onboarding, old.in_onboarding, default=True),
                type=int(_chosen(wanted.type, old.type, default=PromptType.MULTIPLE_CHOICE)),
            )
        )
    return made


def _option(
    wanted: OptionRequest, options: dict[Snowflake, OnboardingOption], known: Known, at: FormErrors
) -> OnboardingOption:
    old = options.pop(wanted.id, None) if isinstance(wanted.id, int) else None
    old = old or OnboardingOption(
        id=known.new_id(), title="", description="", emoji=NO_EMOJI, role_ids=[], channel_ids=[]
    )
    emoji = old.emoji
    if not (wanted.emoji_id is UNSET and wanted.emoji_name is UNSET):
        emoji = choose_emoji(known.emojis, wanted.emoji_id or None, wanted.emoji_name or None, at)
    return OnboardingOption(
        id=old.id,
        title=_name(wanted.title, limits.ONBOARDING_OPTION_TITLE_MAX, at),
        description=clean_name(_chosen(wanted.description, old.description, default="")),
        emoji=emoji,
        role_ids=_existing(wanted.role_ids, old.role_ids, known.roles, at.at("role_ids")),
        channel_ids=_existing(wanted.channel_ids, old.channel_ids, known.channels, at.at("channel_ids")),
    )


def _chosen(wanted: T | UnsetType | None, old: T, *, default: T) -> T:
    if wanted is UNSET:
        return old
    return default if wanted is None else wanted


def _name(text: str, maximum: int, at: FormErrors) -> str:
    name = clean_name(text)
    if not name:
        at.add("title", *FieldError.length(1, maximum))
    return name


def _existing(wanted: list[T] | UnsetType | None, old: list[T], known: Collection[T], at: FormErrors) -> list[T]:
    if wanted is UNSET:
        return old
    return check_known(wanted or [], known, at)


def check_known(ids: list[T], known: Collection[T], at: FormErrors) -> list[T]:
    """The ids as given; those that name nothing of the guild that can be offered are reported."""
    for index, item in enumerate(ids):
        if item not in known:
            at.add([index], FormCode.BASE_TYPE_CHOICES, "The guild has nothing of this id that it could offer.")
    return ids


def without_gone(
    onboarding: Onboarding,
    roles: Collection[RoleId],
    channels: Collection[ChannelId],
    emojis: Mapping[EmojiId, Emoji],
) -> Onboarding:
    """What is left of onboarding once it names only roles, channels and emojis that are there."""
    return structs.replace(
        onboarding,
        default_channel_ids=[c for c in onboarding.default_channel_ids if c in channels],
        prompts=[
            structs.replace(
                prompt,
                options=[
                    structs.replace(
                        option,
                        emoji=current_emoji(emojis, option.emoji),
                        role_ids=[r for r in option.role_ids if r in roles],
                        channel_ids=[c for c in option.channel_ids if c in channels],
                    )
                    for option in prompt.options
                ],
            )
            for prompt in onboarding.prompts
        ],
    )


def granted_roles(prompts: Iterable[OnboardingPrompt]) -> set[RoleId]:
    """Every role that an answer brings."""
    return {role for prompt in prompts for option in prompt.options for role in option.role_ids}


def meets_requirements(onboarding: Onboarding, everyone_may: Callable[[ChannelId], int]) -> bool:
    """Whether enough channels are offered, and @everyone may write in enough of them, to be on."""
    offered = set(onboarding.default_channel_ids)
    if onboarding.mode == OnboardingMode.ADVANCED:
        offered |= {c for prompt in onboarding.prompts for option in prompt.options for c in option.channel_ids}
    writable = sum(everyone_may(channel) & _WRITABLE == _WRITABLE for channel in offered)
    return (
        len(offered) >= limits.ONBOARDING_DEFAULT_CHANNELS_MIN and writable >= limits.ONBOARDING_WRITABLE_CHANNELS_MIN
    )
