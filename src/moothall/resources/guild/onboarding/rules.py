"""Pure decisions about onboarding: the prompts of a request, deleted references, and the requirements to enable it."""

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


class GuildReferences(Struct, frozen=True):
    """The objects of the guild that prompts may refer to, and the source of new ids."""

    roles: Mapping[RoleId, Role]
    """The roles of the guild except @everyone."""
    channels: Mapping[ChannelId, Channel]
    emojis: Iterable[Emoji]
    new_id: Callable[[], Snowflake]


def make_prompts(
    requests: Iterable[PromptRequest],
    before: Iterable[OnboardingPrompt],
    references: GuildReferences,
    form_errors: FormErrors,
) -> list[OnboardingPrompt]:
    """The prompts of a request. Ids of existing prompts and options are kept, any other is replaced by a new id."""
    prompts = {prompt.id: prompt for prompt in before}
    options = {option.id: option for prompt in prompts.values() for option in prompt.options}
    made = []
    for number, request in enumerate(requests):
        at = form_errors.at(["prompts", number])
        # A second prompt with the same id gets a new id.
        old = prompts.pop(request.id, None) if isinstance(request.id, int) else None
        old = old or OnboardingPrompt(id=references.new_id(), title="", options=[])
        made.append(
            OnboardingPrompt(
                id=old.id,
                title=_name(request.title, limits.ONBOARDING_TITLE_MAX, at),
                options=[
                    _option(option, options, references, at.at(["options", option_index]))
                    for option_index, option in enumerate(request.options)
                ],
                single_select=_value_or(request.single_select, old.single_select, default=False),
                required=_value_or(request.required, old.required, default=False),
                in_onboarding=_value_or(request.in_onboarding, old.in_onboarding, default=True),
                type=int(_value_or(request.type, old.type, default=PromptType.MULTIPLE_CHOICE)),
            )
        )
    return made


def _option(
    request: OptionRequest, options: dict[Snowflake, OnboardingOption], references: GuildReferences, at: FormErrors
) -> OnboardingOption:
    old = options.pop(request.id, None) if isinstance(request.id, int) else None
    old = old or OnboardingOption(
        id=references.new_id(), title="", description="", emoji=NO_EMOJI, role_ids=[], channel_ids=[]
    )
    emoji = old.emoji
    if not (request.emoji_id is UNSET and request.emoji_name is UNSET):
        emoji = choose_emoji(references.emojis, request.emoji_id or None, request.emoji_name or None, at)
    return OnboardingOption(
        id=old.id,
        title=_name(request.title, limits.ONBOARDING_OPTION_TITLE_MAX, at),
        description=clean_name(_value_or(request.description, old.description, default="")),
        emoji=emoji,
        role_ids=_existing(request.role_ids, old.role_ids, references.roles, at.at("role_ids")),
        channel_ids=_existing(request.channel_ids, old.channel_ids, references.channels, at.at("channel_ids")),
    )


def _value_or(requested: T | UnsetType | None, old: T, *, default: T) -> T:
    if requested is UNSET:
        return old
    return default if requested is None else requested


def _name(text: str, maximum: int, at: FormErrors) -> str:
    name = clean_name(text)
    if not name:
        at.add("title", *FieldError.length(1, maximum))
    return name


def _existing(requested: list[T] | UnsetType | None, old: list[T], known: Collection[T], at: FormErrors) -> list[T]:
    if requested is UNSET:
        return old
    return check_references(requested or [], known, at)


def check_references(ids: list[T], known: Collection[T], at: FormErrors) -> list[T]:
    """The ids unchanged; each one that is not in `known` is added to the form errors."""
    for index, item in enumerate(ids):
        if item not in known:
            at.add([index], FormCode.BASE_TYPE_CHOICES, "The guild has no such role or channel to offer.")
    return ids


def without_deleted(
    onboarding: Onboarding,
    roles: Collection[RoleId],
    channels: Collection[ChannelId],
    emojis: Mapping[EmojiId, Emoji],
) -> Onboarding:
    """The onboarding without deleted roles, channels and emojis."""
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
    """The roles of all options."""
    return {role for prompt in prompts for option in prompt.options for role in option.role_ids}


def meets_requirements(onboarding: Onboarding, everyone_permissions: Callable[[ChannelId], int]) -> bool:
    """Whether onboarding offers enough channels, and enough in which @everyone can write, to be enabled."""
    offered = set(onboarding.default_channel_ids)
    if onboarding.mode == OnboardingMode.ADVANCED:
        offered |= {c for prompt in onboarding.prompts for option in prompt.options for c in option.channel_ids}
    writable = sum(everyone_permissions(channel) & _WRITABLE == _WRITABLE for channel in offered)
    return (
        len(offered) >= limits.ONBOARDING_DEFAULT_CHANNELS_MIN and writable >= limits.ONBOARDING_WRITABLE_CHANNELS_MIN
    )
