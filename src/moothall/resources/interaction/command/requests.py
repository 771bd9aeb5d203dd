"""What requests say of commands, and the rules that need nothing but the request."""

import re
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.application import IntegrationType
from moothall.objects.channel_types import ChannelType
from moothall.objects.command import (
    CHOOSING,
    SUBCOMMANDS,
    CommandType,
    EntryPointHandler,
    InteractionContext,
    OptionType,
    is_slash_name,
)
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import CommandId
from moothall.objects.locales import LOCALES
from moothall.objects.permissions import PermissionSet

Name = Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_NAME_MAX)]
Description = Annotated[str, Meta(max_length=limits.COMMAND_DESCRIPTION_MAX)]
ChoiceName = Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_CHOICE_MAX)]
Texts = dict[str, str] | None

_NUMBER_MAX: Final = 2**53
_REPEATED: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
_NAME: Final = FieldError(
    "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid: lower case letters, numbers, - and _ only."
)
_CHOICE_NAME_TAKEN: Final = FieldError(
    "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS", "Option choice name already exists"
)
_CHOICE_VALUE_TAKEN: Final = FieldError(
    "APPLICATION_COMMAND_OPTIONS_CHOICE_VALUE_ALREADY_EXISTS", "Option choice value already exists"
)
_FILE_TYPES: Final = frozenset({"image", "video", "audio"})
_EXTENSION: Final = re.compile(r"\.[A-Za-z0-9]{1,15}")


class ChoiceInput(Struct, frozen=True, kw_only=True):
    """A value that an option takes."""

    name: ChoiceName
    name_localizations: Texts = None
    value: str | int | float


class OptionInput(Struct, frozen=True, kw_only=True):
    """A parameter; null is like absence."""

    type: OptionType
    name: Name
    name_localizations: Texts = None
    description: Annotated[str, Meta(min_length=1, max_length=limits.COMMAND_DESCRIPTION_MAX)]
    description_localizations: Texts = None
    required: bool | None = None
    choices: Annotated[list[ChoiceInput], Meta(max_length=limits.COMMAND_CHOICES_MAX)] | None = None
    options: "Annotated[list[OptionInput], Meta(max_length=limits.COMMAND_OPTIONS_MAX)] | None" = None
    channel_types: list[ChannelType] | None = None
    min_value: int | float | None = None
    max_value: int | float | None = None
    min_length: Annotated[int, Meta(ge=0, le=limits.COMMAND_TEXT_MAX)] | None = None
    max_length: Annotated[int, Meta(ge=1, le=limits.COMMAND_TEXT_MAX)] | None = None
    autocomplete: bool | None = None
    file_types: Annotated[list[str], Meta(max_length=10)] | None = None


Options = Annotated[list[OptionInput], Meta(max_length=limits.COMMAND_OPTIONS_MAX)]
Contexts = Annotated[list[InteractionContext], Meta(min_length=1)]
IntegrationTypes = Annotated[list[IntegrationType], Meta(min_length=1)]


class CommandFields(Struct, frozen=True, kw_only=True):
    """What every request that writes a command may carry."""

    name_localizations: Texts | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET
    description_localizations: Texts | UnsetType = UNSET
    options: Options | UnsetType | None = UNSET
    default_member_permissions: PermissionSet | UnsetType | None = UNSET
    dm_permission: bool | UnsetType | None = UNSET
    default_permission: bool | UnsetType | None = UNSET
    contexts: Contexts | UnsetType | None = UNSET
    integration_types: IntegrationTypes | UnsetType | None = UNSET
    nsfw: bool | UnsetType | None = UNSET
    handler: EntryPointHandler | UnsetType | None = UNSET


class CreateCommand(CommandFields, frozen=True, kw_only=True):
    """A new command, or what one of its name shall become. `id` keeps one that is renamed in a bulk overwrite."""

    name: Name
    type: CommandType | None = None
    id: CommandId | None = None

    @property
    def kind(self) -> int:
        """Its type."""
        return int(self.type or CommandType.CHAT_INPUT)

    def check(self, form_errors: FormErrors) -> None:
        """The rules of names, descriptions and options, by type."""
        check_command(self, self.name, self.kind, form_errors)


class ModifyCommand(CommandFields, frozen=True, kw_only=True):
    """Changes of a command; its type stays."""

    name: Name | UnsetType = UNSET


def check_command(
    body: CommandFields, name: str | UnsetType, kind: int, form_errors: FormErrors, *, whole: bool = True
) -> None:
    """Report what is wrong with a command of a type; `whole` says whether what is absent is missing."""
    slash = kind == CommandType.CHAT_INPUT
    if name is not UNSET:
        if slash and not is_slash_name(name):
            form_errors.add("name", *_NAME)
        elif not name.strip():
            form_errors.add("name", *FieldError.required())
    _check_texts(body.name_localizations, form_errors.at("name_localizations"), limits.COMMAND_NAME_MAX, slash=slash)
    _check_description(body, kind, form_errors, whole=whole)
    if body.options:
        if slash:
            _check_options(body.options, form_errors.at("options"), depth=0)
        else:
            form_errors.add("options", FormCode.BASE_TYPE_BAD_TYPE, "Only slash commands can have options.")
    if body.handler is not UNSET and body.handler is not None and kind != CommandType.PRIMARY_ENTRY_POINT:
        form_errors.add("handler", FormCode.BASE_TYPE_BAD_TYPE, "Only entry point commands have a handler.")
    for field in ("contexts", "integration_types"):
        _check_distinct(getattr(body, field) or (), form_errors.at(field))
    if _size(body, name if isinstance(name, str) else "") > limits.COMMAND_SIZE_MAX:
        form_errors.add(
            [],
            "APPLICATION_COMMAND_TOO_LARGE",
            f"Command exceeds maximum size ({limits.COMMAND_SIZE_MAX})",
        )


def _check_description(body: CommandFields, kind: int, form_errors: FormErrors, *, whole: bool) -> None:
    """Slash commands have a description, commands of context menus have none."""
    if kind == CommandType.CHAT_INPUT:
        if (whole or body.description is not UNSET) and not body.description:
            form_errors.add("description", *FieldError.required())
        _check_texts(
            body.description_localizations,
            form_errors.at("description_localizations"),
            limits.COMMAND_DESCRIPTION_MAX,
            slash=False,
        )
    elif kind in {CommandType.USER, CommandType.MESSAGE} and body.description:
        form_errors.add(
            "description",
            "APPLICATION_COMMAND_DESCRIPTION_NOT_ALLOWED",
            "Context menu commands cannot have a description",
        )


def _check_distinct(values: Iterable[Any], form_errors: FormErrors) -> None:
    listed = list(values)
    for index, value in enumerate(listed):
        if value in listed[:index]:
            form_errors.add([index], *_REPEATED)


def _check_texts(texts: Texts | UnsetType, form_errors: FormErrors, maximum: int, *, slash: bool) -> None:
    for locale, text in (texts or {}).items():
        if locale not in LOCALES:
            form_errors.add([locale], *FieldError.choices(tuple(sorted(LOCALES))))
        elif not 1 <= len(text) <= maximum:
            form_errors.add([locale], *FieldError.length(1, maximum))
        elif slash and not is_slash_name(text):
            form_errors.add([locale], *_NAME)


def _check_options(options: Sequence[OptionInput], form_errors: FormErrors, *, depth: int) -> None:
    """Options of one level. Groups stand at the top, subcommands there or in a group; the rest in neither's midst."""
    names = [option.name for option in options]
    has_subcommands = any(option.type in SUBCOMMANDS for option in options)
    optional = False
    for index, option in enumerate(options):
        at = form_errors.at([index])
        if option.name in names[:index]:
            at.add("name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
        if not is_slash_name(option.name):
            at.add("name", *_NAME)
        if has_subcommands != (option.type in SUBCOMMANDS):
            at.add(
                "type",
                "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                "Sub-command and sub-command group option types are mutually exclusive to all other types",
            )
        elif (option.type == OptionType.SUB_COMMAND_GROUP and depth) or (option.type in SUBCOMMANDS and depth > 1):
            at.add("type", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "This option type cannot be nested here")
        if option.required:
            if optional:
                at.add(
                    "required",
                    "APPLICATION_COMMAND_OPTIONS_REQUIRED_INVALID",
                    "Required options must be placed before non-required options",
                )
        else:
            optional = True
        _check_texts(option.name_localizations, at.at("name_localizations"), limits.COMMAND_NAME_MAX, slash=True)
        _check_translations(options, index, at)
        _check_texts(
            option.description_localizations,
            at.at("description_localizations"),
            limits.COMMAND_DESCRIPTION_MAX,
            slash=False,
        )
        _check_option(option, at)
        _check_nested(option, at, depth)


def _check_translations(options: Sequence[OptionInput], index: int, form_errors: FormErrors) -> None:
    """In no language two options may have one name, whether it is translated or not."""
    for locale, text in (options[index].name_localizations or {}).items():
        for number, other in enumerate(options):
            names = {other.name, (other.name_localizations or {}).get(locale)} if number < index else {other.name}
            if number != index and text in names:
                form_errors.add(
                    ["name_localizations", locale],
                    "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS",
                    "Option name already exists",
                )
                break


def _check_nested(option: OptionInput, form_errors: FormErrors, depth: int) -> None:
    if option.type not in SUBCOMMANDS:
        if option.options:
            form_errors.add("options", FormCode.BASE_TYPE_BAD_TYPE, "Only subcommands and groups have options.")
        return
    if option.required is not None and option.required:
        form_errors.add("required", FormCode.BASE_TYPE_BAD_TYPE, "A subcommand cannot be required.")
    inner = option.options or []
    if option.type == OptionType.SUB_COMMAND_GROUP:
        if not inner:
            form_errors.add("options", *FieldError.required())
        for index, each in enumerate(inner):
            if each.type != OptionType.SUB_COMMAND:
                form_errors.add(
                    ["options", index, "type"],
                    "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID",
                    "A group holds subcommands only",
                )
    elif any(each.type in SUBCOMMANDS for each in inner):
        form_errors.add(
            "options", "APPLICATION_COMMAND_OPTIONS_TYPE_INVALID", "A subcommand holds no further subcommands"
        )
        return
    if depth < limits.COMMAND_DEPTH_MAX:
        _check_options(inner, form_errors.at("options"), depth=depth + 1)


def _check_option(option: OptionInput, form_errors: FormErrors) -> None:
    """The fields that only options of some types have."""
    kind = option.type
    for field, kinds in (
        ("choices", CHOOSING),
        ("autocomplete", CHOOSING),
        ("channel_types", {OptionType.CHANNEL}),
        ("min_value", {OptionType.INTEGER, OptionType.NUMBER}),
        ("max_value", {OptionType.INTEGER, OptionType.NUMBER}),
        ("min_length", {OptionType.STRING}),
        ("max_length", {OptionType.STRING}),
        ("file_types", {OptionType.ATTACHMENT}),
    ):
        value = getattr(option, field)
        if value is not None and value is not False and value != [] and kind not in kinds:
            form_errors.add(field, FormCode.BASE_TYPE_BAD_TYPE, f"Options of type {int(kind)} do not have this field.")
    if option.choices:
        if option.autocomplete:
            form_errors.add(
                "autocomplete",
                "APPLICATION_COMMAND_OPTIONS_AUTOCOMPLETE_INVALID",
                "Options with choices cannot be autocompleted",
            )
        _check_choices(option, form_errors.at("choices"))
    _check_range(option, "min_value", "max_value", form_errors)
    _check_range(option, "min_length", "max_length", form_errors)
    for field in ("min_value", "max_value"):
        value = getattr(option, field)
        if value is not None and (
            (kind == OptionType.INTEGER and not isinstance(value, int)) or abs(value) > _max(kind)
        ):
            form_errors.add(field, FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's range.")
    _check_distinct(option.channel_types or (), form_errors.at("channel_types"))
    for index, ending in enumerate(option.file_types or ()):
        if ending not in _FILE_TYPES and not (
            ending.startswith(".") and 1 < len(ending) <= 16 and ending[1:].isalnum()
        ):
            form_errors.add(["file_types", index], *FieldError.choices((*sorted(_FILE_TYPES), ".ext")))


def _check_range(option: OptionInput, low: str, high: str, form_errors: FormErrors) -> None:
    least, maximum = getattr(option, low), getattr(option, high)
    if least is not None and maximum is not None and least > maximum:
        form_errors.add(high, FormCode.NUMBER_TYPE_MIN, f"Must be at least {low}.")


def _check_choices(option: OptionInput, form_errors: FormErrors) -> None:
    choices = option.choices or []
    for index, choice in enumerate(choices):
        at = form_errors.at([index])
        if any(choice.name == other.name for other in choices[:index]):
            at.add(
                "name", "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS", "Option choice name already exists"
            )
        if any(choice.value == other.value for other in choices[:index]):
            at.add("value", *_CHOICE_VALUE_TAKEN)
    check_values(choices, option.type, form_errors)


def check_values(choices: Sequence[ChoiceInput], kind: int, form_errors: FormErrors) -> None:
    """Report choices whose value is none of an option's type, and translations of no language."""
    for index, choice in enumerate(choices):
        at = form_errors.at([index])
        _check_texts(choice.name_localizations, at.at("name_localizations"), limits.COMMAND_CHOICE_MAX, slash=False)
        if kind == OptionType.STRING:
            if not isinstance(choice.value, str):
                at.add("value", FormCode.STRING_TYPE_CONVERT, "Could not interpret value as string.")
            elif not 1 <= len(choice.value) <= limits.COMMAND_CHOICE_MAX:
                at.add("value", *FieldError.length(1, limits.COMMAND_CHOICE_MAX))
        elif isinstance(choice.value, str) or (kind == OptionType.INTEGER and not isinstance(choice.value, int)):
            at.add("value", FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's type.")
        elif kind in CHOOSING and abs(choice.value) > _max(kind):
            at.add("value", FormCode.NUMBER_TYPE_MAX, "Value is not a number of this option's range.")


def _max(kind: int) -> int:
    return _NUMBER_MAX - 1 if kind == OptionType.INTEGER else _NUMBER_MAX


def _size(body: CommandFields | OptionInput, name: str) -> int:
    """The characters of a command that count: of names, descriptions and values, in the longest language each."""
    total = _longest(name, body.name_localizations) + _longest(body.description or "", body.description_localizations)
    for option in body.options or ():
        total += _size(option, option.name)
        for choice in option.choices or ():
            total += _longest(choice.name, choice.name_localizations)
            total += len(choice.value) if isinstance(choice.value, str) else 0
    return total


def _longest(text: str | UnsetType, others: Texts | UnsetType) -> int:
    return max([len(text or ""), *(len(other) for other in (others or {}).values())])
