"""Check the rules of application commands that depend on the request body alone."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.api.request.form import as_integer
from moothall.objects import limits
from moothall.objects.command import CHOICE_OPTION_TYPES, SUBCOMMANDS, CommandType, OptionType, is_slash_name
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.locales import LOCALES
from moothall.resources.interaction.command.fields import ChoiceInput, CommandFields, OptionInput, Texts

_NUMBER_MAX: Final = 2**53
_DUPLICATE: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")
_INVALID_NAME: Final = FieldError(
    "APPLICATION_COMMAND_INVALID_NAME", "Command name is invalid: lower case letters, numbers, - and _ only."
)
_CHOICE_NAME_EXISTS: Final = FieldError(
    "APPLICATION_COMMAND_OPTIONS_CHOICE_NAME_ALREADY_EXISTS", "Option choice name already exists"
)
_CHOICE_VALUE_EXISTS: Final = FieldError(
    "APPLICATION_COMMAND_OPTIONS_CHOICE_VALUE_ALREADY_EXISTS", "Option choice value already exists"
)
_FILE_TYPES: Final = frozenset({"image", "video", "audio"})


def check_command(
    body: CommandFields, name: str | UnsetType, kind: int, form_errors: FormErrors, *, complete: bool = True
) -> None:
    """Report invalid names, descriptions, options and fields of a command of a type.

    With `complete`, an absent description is an error; without, the body has only the changes.
    """
    slash = kind == CommandType.CHAT_INPUT
    if name is not UNSET:
        if slash and not is_slash_name(name):
            form_errors.add("name", *_INVALID_NAME)
        elif not name.strip():
            form_errors.add("name", *FieldError.required())
    _check_texts(body.name_localizations, form_errors.at("name_localizations"), limits.COMMAND_NAME_MAX, slash=slash)
    _check_description(body, kind, form_errors, complete=complete)
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


def _check_description(body: CommandFields, kind: int, form_errors: FormErrors, *, complete: bool) -> None:
    """Report a missing description of a slash command, or one of a context menu command."""
    if kind == CommandType.CHAT_INPUT:
        if (complete or body.description is not UNSET) and not body.description:
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


def _check_distinct(values: Iterable[object], form_errors: FormErrors) -> None:
    listed = list(values)
    for index, value in enumerate(listed):
        if value in listed[:index]:
            form_errors.add([index], *_DUPLICATE)


def _check_texts(texts: Texts | UnsetType, form_errors: FormErrors, maximum: int, *, slash: bool) -> None:
    for locale, text in (texts or {}).items():
        if locale not in LOCALES:
            form_errors.add([locale], *FieldError.choices(tuple(sorted(LOCALES))))
        elif not 1 <= len(text) <= maximum:
            form_errors.add([locale], *FieldError.length(1, maximum))
        elif slash and not is_slash_name(text):
            form_errors.add([locale], *_INVALID_NAME)


def _check_options(options: Sequence[OptionInput], form_errors: FormErrors, *, depth: int) -> None:
    """Check the options of one level (0 is the command's).

    Subcommand groups are allowed at level 0, subcommands there or in a group; other options cannot be mixed with them.
    """
    names = [option.name for option in options]
    has_subcommands = any(option.type in SUBCOMMANDS for option in options)
    optional = False
    for index, option in enumerate(options):
        at = form_errors.at([index])
        if option.name in names[:index]:
            at.add("name", "APPLICATION_COMMAND_OPTIONS_NAME_ALREADY_EXISTS", "Option name already exists")
        if not is_slash_name(option.name):
            at.add("name", *_INVALID_NAME)
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
        _check_localized_names(options, index, at)
        _check_texts(
            option.description_localizations,
            at.at("description_localizations"),
            limits.COMMAND_DESCRIPTION_MAX,
            slash=False,
        )
        _check_option(option, at)
        _check_nested(option, at, depth)


def _check_localized_names(options: Sequence[OptionInput], index: int, form_errors: FormErrors) -> None:
    """Report a localized name that another option has, as its name or in the same locale."""
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
    """Check the fields that only options of some types have."""
    kind = option.type
    for field, kinds in (
        ("choices", CHOICE_OPTION_TYPES),
        ("autocomplete", CHOICE_OPTION_TYPES),
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
            (kind == OptionType.INTEGER and as_integer(value) is None) or abs(value) > _max(kind)
        ):
            form_errors.add(field, FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's range.")
    _check_distinct(option.channel_types or (), form_errors.at("channel_types"))
    for index, ending in enumerate(option.file_types or ()):
        if ending not in _FILE_TYPES and not (
            ending.startswith(".") and 1 < len(ending) <= 16 and ending[1:].isalnum()
        ):
            form_errors.add(["file_types", index], *FieldError.choices((*sorted(_FILE_TYPES), ".ext")))


def _check_range(option: OptionInput, low: str, high: str, form_errors: FormErrors) -> None:
    minimum, maximum = getattr(option, low), getattr(option, high)
    if minimum is not None and maximum is not None and minimum > maximum:
        form_errors.add(high, FormCode.NUMBER_TYPE_MIN, f"Must be at least {low}.")


def _check_choices(option: OptionInput, form_errors: FormErrors) -> None:
    choices = option.choices or []
    for index, choice in enumerate(choices):
        at = form_errors.at([index])
        if any(choice.name == other.name for other in choices[:index]):
            at.add("name", *_CHOICE_NAME_EXISTS)
        if any(choice.value == other.value for other in choices[:index]):
            at.add("value", *_CHOICE_VALUE_EXISTS)
    check_choice_values(choices, option.type, form_errors)


def check_choice_values(choices: Sequence[ChoiceInput], kind: int, form_errors: FormErrors) -> None:
    """Report choices whose value is not of the option's type, and names in unknown locales."""
    for index, choice in enumerate(choices):
        at = form_errors.at([index])
        _check_texts(choice.name_localizations, at.at("name_localizations"), limits.COMMAND_CHOICE_MAX, slash=False)
        if kind == OptionType.STRING:
            if not isinstance(choice.value, str):
                at.add("value", FormCode.STRING_TYPE_CONVERT, "Could not interpret value as string.")
            elif not 1 <= len(choice.value) <= limits.COMMAND_CHOICE_MAX:
                at.add("value", *FieldError.length(1, limits.COMMAND_CHOICE_MAX))
        elif isinstance(choice.value, str) or (kind == OptionType.INTEGER and as_integer(choice.value) is None):
            at.add("value", FormCode.NUMBER_TYPE_COERCE, "Value is not a number of this option's type.")
        elif kind in CHOICE_OPTION_TYPES and abs(choice.value) > _max(kind):
            at.add("value", FormCode.NUMBER_TYPE_MAX, "Value is not a number of this option's range.")


def _max(kind: int) -> int:
    return _NUMBER_MAX - 1 if kind == OptionType.INTEGER else _NUMBER_MAX


def _size(body: CommandFields | OptionInput, name: str) -> int:
    """The size of a command in characters: names, descriptions and values, each in its longest localization."""
    total = _longest(name, body.name_localizations) + _longest(body.description or "", body.description_localizations)
    for option in body.options or ():
        total += _size(option, option.name)
        for choice in option.choices or ():
            total += _longest(choice.name, choice.name_localizations)
            total += len(choice.value) if isinstance(choice.value, str) else 0
    return total


def _longest(text: str | UnsetType, others: Texts | UnsetType) -> int:
    return max([len(text or ""), *(len(other) for other in (others or {}).values())])
