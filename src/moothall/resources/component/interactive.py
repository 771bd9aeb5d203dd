"""What somebody can act on: buttons, selects, and the fields of modals (api.md, Components)."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from msgspec import UNSET, UnsetType

from moothall.objects import component_input as inputs
from moothall.objects.channel_types import ChannelType
from moothall.objects.component import (
    Button,
    ChannelSelect,
    Checkbox,
    CheckboxGroup,
    Component,
    ComponentOption,
    DefaultValue,
    FileUpload,
    MentionableSelect,
    RadioGroup,
    RoleSelect,
    SelectOption,
    StringSelect,
    TextInput,
    UserSelect,
)
from moothall.objects.component_types import ButtonStyle
from moothall.objects.form_codes import FieldError, FormCode
from moothall.resources.component.validator import LINK_SCHEMES, ComponentValidator, Path, flag, text

_DOES: Final = {ButtonStyle.LINK: "url", ButtonStyle.PREMIUM: "sku_id"}
"""The field that says what a button of a style does; of the others it is the custom id."""
_PREMIUM_LACKS: Final = ("label", "emoji")
_EXCLUSIVE: Final = FieldError(
    FormCode.BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE, "A custom id and url cannot both be specified"
)
_NOT_ITS_OWN: Final = FieldError(
    FormCode.COMPONENT_TYPE_INVALID, "Only an application can send components that it hears of."
)
_FILE_GROUPS: Final = frozenset({"image", "video", "audio"})
_FILE_TYPE_MAX: Final = 20


def _misfits(given: inputs.ButtonInput) -> Iterator[tuple[str, FieldError]]:
    """The fields that a button of this style lacks, or must not have."""
    style = given.style
    does = _DOES.get(style, "custom_id")
    if not getattr(given, does):
        custom = FieldError(FormCode.BUTTON_COMPONENT_CUSTOM_ID_REQUIRED, "A custom id is required")
        yield does, custom if does == "custom_id" else FieldError.required()
    for field in ("custom_id", "url", "sku_id"):
        if field != does and getattr(given, field):
            both = {field, does} == {"custom_id", "url"}
            yield (
                field,
                _EXCLUSIVE
                if both
                else FieldError(FormCode.BASE_TYPE_BAD_TYPE, f"Buttons of style {style} have no {field}."),
            )
    if style is ButtonStyle.PREMIUM:
        for field in _PREMIUM_LACKS:
            if getattr(given, field):
                yield field, FieldError(FormCode.BASE_TYPE_BAD_TYPE, f"Premium buttons have no {field}.")


def build_button(
    notes: ComponentValidator, given: inputs.ButtonInput, number: int, at: Path, _: Sequence[Component]
) -> Button:
    """A button: each style has what it does, and nothing of the others."""
    if not notes.interactive and given.style is not ButtonStyle.LINK:
        notes.add(at, *_NOT_ITS_OWN)
    for field, wrong in _misfits(given):
        notes.add((*at, field), *wrong)
    if given.url:
        notes.url(given.url, (*at, "url"), LINK_SCHEMES)
    return Button(
        id=number,
        style=given.style,
        label=text(given.label),
        emoji=notes.emoji(given.emoji, at),
        custom_id=UNSET if given.custom_id is None else notes.take_custom_id(given.custom_id, at),
        sku_id=given.sku_id or UNSET,
        url=given.url or UNSET,
        disabled=flag(given.disabled),
    )


def _select(notes: ComponentValidator, given: inputs.SelectInput, number: int, at: Path) -> dict[str, Any]:
    """What all selects have in common."""
    low, high = _bounds(notes, given, 1, at)
    if not notes.interactive:
        notes.add(at, *_NOT_ITS_OWN)
    if notes.modal and given.disabled:
        notes.add((*at, "disabled"), FormCode.BASE_TYPE_BAD_TYPE, "Components of a modal cannot be disabled.")
    return {
        "id": number,
        "custom_id": notes.take_custom_id(given.custom_id, at),
        "placeholder": text(given.placeholder),
        "min_values": low,
        "max_values": high,
        "required": given.required is not False if notes.modal else UNSET,
        "disabled": UNSET if notes.modal else flag(given.disabled),
    }


def _bounds(
    notes: ComponentValidator,
    given: inputs.SelectInput | inputs.FileUploadInput | inputs.CheckboxGroupInput,
    maximum: int,
    at: Path,
) -> tuple[int, int]:
    """How many may be chosen. In a modal, what is required cannot be left empty; in a message nothing is required."""
    if notes.modal and given.min_values == 0 and given.required is not False:
        notes.add(
            (*at, "min_values"),
            FormCode.SELECT_COMPONENT_REQUIRED_ZERO_MIN_VALUES,
            "Select menus marked as required cannot have a min_values of 0",
        )
    least = 1 if given.min_values is None else given.min_values
    highest = maximum if given.max_values is None else given.max_values
    if least > highest:
        notes.add((*at, "min_values"), *FieldError.too_large(highest))
    return least, highest


def build_string_select(
    notes: ComponentValidator, given: inputs.StringSelectInput, number: int, at: Path, _: Sequence[Component]
) -> StringSelect:
    """A choice among texts: their values are unique, and as many are chosen from the start as may be chosen."""
    common = _select(notes, given, number, at)
    if len(given.options) < common["min_values"] <= common["max_values"]:
        notes.add((*at, "min_values"), *FieldError.too_large(len(given.options)))
    _check_options(notes, given.options, at)
    _check_defaults(notes, sum(bool(option.default) for option in given.options), common, (*at, "options"))
    return StringSelect(
        **common,
        options=[
            SelectOption(
                label=option.label,
                value=option.value,
                description=text(option.description),
                default=flag(option.default),
                emoji=notes.emoji(option.emoji, (*at, "options", index)),
            )
            for index, option in enumerate(given.options)
        ],
    )


def _check_options(notes: ComponentValidator, options: Sequence[inputs.OptionInput], at: Path) -> None:
    values: set[str] = set()
    for index, option in enumerate(options):
        if option.value in values:
            notes.add(
                (*at, "options", index, "value"),
                FormCode.SELECT_COMPONENT_OPTION_VALUE_DUPLICATED,
                "The specified option value is already used",
            )
        values.add(option.value)


def _check_defaults(notes: ComponentValidator, chosen: int, common: dict[str, Any], at: Path) -> None:
    low, high = common["min_values"], common["max_values"]
    if chosen > high:
        notes.add(
            at,
            FormCode.SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES,
            "The specified number of default values exceeds the specified maximum values",
        )
    elif 0 < chosen < low:
        notes.add(at, *FieldError.length(low, high))


def _default_values(
    notes: ComponentValidator, given: inputs.EntitySelectInput, kinds: Sequence[str], common: dict[str, Any], at: Path
) -> list[DefaultValue] | UnsetType:
    values = given.default_values
    if not values:
        return UNSET
    _check_defaults(notes, len(values), common, (*at, "default_values"))
    seen: set[int] = set()
    for index, value in enumerate(values):
        here = (*at, "default_values", index)
        if value.type not in kinds:
            notes.add((*here, "type"), *FieldError.choices(kinds))
        elif notes.known is not None and value.id not in notes.known.of_type(value.type):
            notes.add((*here, "id"), FormCode.BASE_TYPE_BAD_TYPE, f"Unknown {value.type}")
        elif value.id in seen:
            notes.add((*here, "id"), FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
        seen.add(value.id)
    return [DefaultValue(id=value.id, type=value.type) for value in values]


def build_user_select(
    notes: ComponentValidator, given: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> UserSelect:
    """A choice among people."""
    common = _select(notes, given, number, at)
    return UserSelect(**common, default_values=_default_values(notes, given, ("user",), common, at))


def build_role_select(
    notes: ComponentValidator, given: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> RoleSelect:
    """A choice among roles."""
    common = _select(notes, given, number, at)
    return RoleSelect(**common, default_values=_default_values(notes, given, ("role",), common, at))


def build_mentionable_select(
    notes: ComponentValidator, given: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> MentionableSelect:
    """A choice among people and roles."""
    common = _select(notes, given, number, at)
    return MentionableSelect(**common, default_values=_default_values(notes, given, ("user", "role"), common, at))


def build_channel_select(
    notes: ComponentValidator, given: inputs.ChannelSelectInput, number: int, at: Path, _: Sequence[Component]
) -> ChannelSelect:
    """A choice among channels, of some types or of all."""
    common = _select(notes, given, number, at)
    kinds = tuple(int(kind) for kind in ChannelType)
    for index, kind in enumerate(given.channel_types or ()):
        here = (*at, "channel_types", index)
        if kind not in kinds:
            notes.add(here, *FieldError.choices(kinds))
        elif given.channel_types is not None and kind in given.channel_types[:index]:
            notes.add(here, FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
    return ChannelSelect(
        **common,
        default_values=_default_values(notes, given, ("channel",), common, at),
        channel_types=given.channel_types or UNSET,
    )


def build_text_input(
    notes: ComponentValidator, given: inputs.TextInputInput, number: int, at: Path, _: Sequence[Component]
) -> TextInput:
    """Something to type into; in an action row it carries its own label."""
    if at[-2] == "components" and not given.label:
        notes.add((*at, "label"), *FieldError.required())
    if given.min_length is not None and given.max_length is not None and given.min_length > given.max_length:
        notes.add((*at, "min_length"), *FieldError.too_large(given.max_length))
    if given.value and given.max_length is not None and len(given.value) > given.max_length:
        notes.add((*at, "value"), *FieldError.length(None, given.max_length))
    return TextInput(
        id=number,
        custom_id=notes.take_custom_id(given.custom_id, at),
        style=given.style,
        label=given.label,
        min_length=given.min_length,
        max_length=given.max_length,
        required=given.required is not False,
        value=text(given.value),
        placeholder=text(given.placeholder),
    )


def build_file_upload(
    notes: ComponentValidator, given: inputs.FileUploadInput, number: int, at: Path, _: Sequence[Component]
) -> FileUpload:
    """Where files are handed in, of any type or of some: a group of them or an extension with its dot."""
    low, high = _bounds(notes, given, 1, at)
    wanted = [kind.lower() for kind in given.file_types or ()]
    for index, kind in enumerate(wanted):
        extension = kind.startswith(".") and 1 < len(kind) <= _FILE_TYPE_MAX and kind[1:].isalnum()
        if kind not in _FILE_GROUPS and not extension:
            notes.add((*at, "file_types", index), *FieldError.choices((*sorted(_FILE_GROUPS), ".extension")))
    return FileUpload(
        id=number,
        custom_id=notes.take_custom_id(given.custom_id, at),
        min_values=low,
        max_values=high,
        required=given.required is not False,
        file_types=wanted or UNSET,
    )


def _group_options(options: Sequence[inputs.OptionInput]) -> list[ComponentOption]:
    return [
        ComponentOption(
            label=option.label,
            value=option.value,
            description=text(option.description),
            default=flag(option.default),
        )
        for option in options
    ]


def build_radio_group(
    notes: ComponentValidator, given: inputs.RadioGroupInput, number: int, at: Path, _: Sequence[Component]
) -> RadioGroup:
    """A choice of exactly one."""
    _check_options(notes, given.options, at)
    chosen = sum(bool(option.default) for option in given.options)
    _check_defaults(notes, chosen, {"min_values": 0, "max_values": 1}, (*at, "options"))
    return RadioGroup(
        id=number,
        custom_id=notes.take_custom_id(given.custom_id, at),
        options=_group_options(given.options),
        required=given.required is not False,
    )


def build_checkbox_group(
    notes: ComponentValidator, given: inputs.CheckboxGroupInput, number: int, at: Path, _: Sequence[Component]
) -> CheckboxGroup:
    """A choice of several, of all unless fewer are said."""
    count = len(given.options)
    low, high = _bounds(notes, given, count, at)
    if count < low <= high:
        notes.add((*at, "min_values"), *FieldError.too_large(count))
    _check_options(notes, given.options, at)
    chosen = sum(bool(option.default) for option in given.options)
    _check_defaults(notes, chosen, {"min_values": 0, "max_values": high}, (*at, "options"))
    return CheckboxGroup(
        id=number,
        custom_id=notes.take_custom_id(given.custom_id, at),
        options=_group_options(given.options),
        min_values=low,
        max_values=high,
        required=given.required is not False,
    )


def build_checkbox(
    notes: ComponentValidator, given: inputs.CheckboxInput, number: int, at: Path, _: Sequence[Component]
) -> Checkbox:
    """Yes or no."""
    return Checkbox(id=number, custom_id=notes.take_custom_id(given.custom_id, at), default=bool(given.default))
