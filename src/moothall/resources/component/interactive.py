"""Interactive components: buttons, selects, and the fields of modals (api.md, Components)."""

from collections.abc import Iterator, Sequence
from typing import Final

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
from moothall.objects.json_object import JsonObject
from moothall.resources.component.validator import LINK_SCHEMES, ComponentValidator, Path, flag, text

_ACTION_FIELD: Final = {ButtonStyle.LINK: "url", ButtonStyle.PREMIUM: "sku_id"}
"""The field of a button that its style requires; other styles require `custom_id`."""
_PREMIUM_LACKS: Final = ("label", "emoji")
_EXCLUSIVE: Final = FieldError(
    FormCode.BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE, "A custom id and url cannot both be specified"
)
_NO_APPLICATION: Final = FieldError(
    FormCode.COMPONENT_TYPE_INVALID, "Only an application can send interactive components."
)
_FILE_GROUPS: Final = frozenset({"image", "video", "audio"})
_FILE_TYPE_MAX: Final = 20


def _button_errors(body: inputs.ButtonInput) -> Iterator[tuple[str, FieldError]]:
    """The fields that a button of its style lacks or must not have, with their errors."""
    style = body.style
    required = _ACTION_FIELD.get(style, "custom_id")
    if not getattr(body, required):
        custom = FieldError(FormCode.BUTTON_COMPONENT_CUSTOM_ID_REQUIRED, "A custom id is required")
        yield required, custom if required == "custom_id" else FieldError.required()
    for field in ("custom_id", "url", "sku_id"):
        if field != required and getattr(body, field):
            both = {field, required} == {"custom_id", "url"}
            yield (
                field,
                _EXCLUSIVE
                if both
                else FieldError(FormCode.BASE_TYPE_BAD_TYPE, f"Buttons of style {style} have no {field}."),
            )
    if style is ButtonStyle.PREMIUM:
        for field in _PREMIUM_LACKS:
            if getattr(body, field):
                yield field, FieldError(FormCode.BASE_TYPE_BAD_TYPE, f"Premium buttons have no {field}.")


def build_button(
    validator: ComponentValidator, body: inputs.ButtonInput, number: int, at: Path, _: Sequence[Component]
) -> Button:
    """A button. Each style requires its own field, and forbids those of the others."""
    if not validator.interactive and body.style is not ButtonStyle.LINK:
        validator.add(at, *_NO_APPLICATION)
    for field, wrong in _button_errors(body):
        validator.add((*at, field), *wrong)
    if body.url:
        validator.url(body.url, (*at, "url"), LINK_SCHEMES)
    return Button(
        id=number,
        style=body.style,
        label=text(body.label),
        emoji=validator.emoji(body.emoji, at),
        custom_id=UNSET if body.custom_id is None else validator.take_custom_id(body.custom_id, at),
        sku_id=body.sku_id or UNSET,
        url=body.url or UNSET,
        disabled=flag(body.disabled),
    )


def _select(validator: ComponentValidator, body: inputs.SelectInput, number: int, at: Path) -> JsonObject:
    """The fields of every select."""
    low, high = _bounds(validator, body, 1, at)
    if not validator.interactive:
        validator.add(at, *_NO_APPLICATION)
    if validator.modal and body.disabled:
        validator.add((*at, "disabled"), FormCode.BASE_TYPE_BAD_TYPE, "Components of a modal cannot be disabled.")
    return {
        "id": number,
        "custom_id": validator.take_custom_id(body.custom_id, at),
        "placeholder": text(body.placeholder),
        "min_values": low,
        "max_values": high,
        "required": body.required is not False if validator.modal else UNSET,
        "disabled": UNSET if validator.modal else flag(body.disabled),
    }


def _bounds(
    validator: ComponentValidator,
    body: inputs.SelectInput | inputs.FileUploadInput | inputs.CheckboxGroupInput,
    maximum: int,
    at: Path,
) -> tuple[int, int]:
    """`min_values` and `max_values`. In a modal, a required component cannot have a `min_values` of 0."""
    if validator.modal and body.min_values == 0 and body.required is not False:
        validator.add(
            (*at, "min_values"),
            FormCode.SELECT_COMPONENT_REQUIRED_ZERO_MIN_VALUES,
            "Select menus marked as required cannot have a min_values of 0",
        )
    lowest = 1 if body.min_values is None else body.min_values
    highest = maximum if body.max_values is None else body.max_values
    if lowest > highest:
        validator.add((*at, "min_values"), *FieldError.too_large(highest))
    return lowest, highest


def build_string_select(
    validator: ComponentValidator, body: inputs.StringSelectInput, number: int, at: Path, _: Sequence[Component]
) -> StringSelect:
    """A string select. Its values are unique, and its default options are as many as may be chosen, or none."""
    common = _select(validator, body, number, at)
    if len(body.options) < common["min_values"] <= common["max_values"]:
        validator.add((*at, "min_values"), *FieldError.too_large(len(body.options)))
    _check_options(validator, body.options, at)
    _check_defaults(validator, sum(bool(option.default) for option in body.options), common, (*at, "options"))
    return StringSelect(
        **common,
        options=[
            SelectOption(
                label=option.label,
                value=option.value,
                description=text(option.description),
                default=flag(option.default),
                emoji=validator.emoji(option.emoji, (*at, "options", index)),
            )
            for index, option in enumerate(body.options)
        ],
    )


def _check_options(validator: ComponentValidator, options: Sequence[inputs.OptionInput], at: Path) -> None:
    values: set[str] = set()
    for index, option in enumerate(options):
        if option.value in values:
            validator.add(
                (*at, "options", index, "value"),
                FormCode.SELECT_COMPONENT_OPTION_VALUE_DUPLICATED,
                "The specified option value is already used",
            )
        values.add(option.value)


def _check_defaults(validator: ComponentValidator, chosen: int, common: JsonObject, at: Path) -> None:
    low, high = common["min_values"], common["max_values"]
    if chosen > high:
        validator.add(
            at,
            FormCode.SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES,
            "The specified number of default values exceeds the specified maximum values",
        )
    elif 0 < chosen < low:
        validator.add(at, *FieldError.length(low, high))


def _default_values(
    validator: ComponentValidator,
    body: inputs.EntitySelectInput,
    kinds: Sequence[str],
    common: JsonObject,
    at: Path,
) -> list[DefaultValue] | UnsetType:
    values = body.default_values
    if not values:
        return UNSET
    _check_defaults(validator, len(values), common, (*at, "default_values"))
    seen: set[int] = set()
    for index, value in enumerate(values):
        here = (*at, "default_values", index)
        if value.type not in kinds:
            validator.add((*here, "type"), *FieldError.choices(kinds))
        elif validator.resolved is not None and value.id not in validator.resolved.of_type(value.type):
            validator.add((*here, "id"), FormCode.BASE_TYPE_BAD_TYPE, f"Unknown {value.type}")
        elif value.id in seen:
            validator.add(
                (*here, "id"), FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value"
            )
        seen.add(value.id)
    return [DefaultValue(id=value.id, type=value.type) for value in values]


def build_user_select(
    validator: ComponentValidator, body: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> UserSelect:
    """A user select."""
    common = _select(validator, body, number, at)
    return UserSelect(**common, default_values=_default_values(validator, body, ("user",), common, at))


def build_role_select(
    validator: ComponentValidator, body: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> RoleSelect:
    """A role select."""
    common = _select(validator, body, number, at)
    return RoleSelect(**common, default_values=_default_values(validator, body, ("role",), common, at))


def build_mentionable_select(
    validator: ComponentValidator, body: inputs.EntitySelectInput, number: int, at: Path, _: Sequence[Component]
) -> MentionableSelect:
    """A mentionable select: users and roles."""
    common = _select(validator, body, number, at)
    return MentionableSelect(**common, default_values=_default_values(validator, body, ("user", "role"), common, at))


def build_channel_select(
    validator: ComponentValidator, body: inputs.ChannelSelectInput, number: int, at: Path, _: Sequence[Component]
) -> ChannelSelect:
    """A channel select, of some channel types or of all."""
    common = _select(validator, body, number, at)
    kinds = tuple(int(kind) for kind in ChannelType)
    for index, kind in enumerate(body.channel_types or ()):
        here = (*at, "channel_types", index)
        if kind not in kinds:
            validator.add(here, *FieldError.choices(kinds))
        elif body.channel_types is not None and kind in body.channel_types[:index]:
            validator.add(here, FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
    return ChannelSelect(
        **common,
        default_values=_default_values(validator, body, ("channel",), common, at),
        channel_types=body.channel_types or UNSET,
    )


def build_text_input(
    validator: ComponentValidator, body: inputs.TextInputInput, number: int, at: Path, _: Sequence[Component]
) -> TextInput:
    """A text input. In an action row it has its own label."""
    if at[-2] == "components" and not body.label:
        validator.add((*at, "label"), *FieldError.required())
    if body.min_length is not None and body.max_length is not None and body.min_length > body.max_length:
        validator.add((*at, "min_length"), *FieldError.too_large(body.max_length))
    if body.value and body.max_length is not None and len(body.value) > body.max_length:
        validator.add((*at, "value"), *FieldError.length(None, body.max_length))
    return TextInput(
        id=number,
        custom_id=validator.take_custom_id(body.custom_id, at),
        style=body.style,
        label=body.label,
        min_length=body.min_length,
        max_length=body.max_length,
        required=body.required is not False,
        value=text(body.value),
        placeholder=text(body.placeholder),
    )


def build_file_upload(
    validator: ComponentValidator, body: inputs.FileUploadInput, number: int, at: Path, _: Sequence[Component]
) -> FileUpload:
    """A file upload, of any file type or of some: a group of types, or an extension with its dot."""
    low, high = _bounds(validator, body, 1, at)
    file_types = [kind.lower() for kind in body.file_types or ()]
    for index, kind in enumerate(file_types):
        extension = kind.startswith(".") and 1 < len(kind) <= _FILE_TYPE_MAX and kind[1:].isalnum()
        if kind not in _FILE_GROUPS and not extension:
            validator.add((*at, "file_types", index), *FieldError.choices((*sorted(_FILE_GROUPS), ".extension")))
    return FileUpload(
        id=number,
        custom_id=validator.take_custom_id(body.custom_id, at),
        min_values=low,
        max_values=high,
        required=body.required is not False,
        file_types=file_types or UNSET,
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
    validator: ComponentValidator, body: inputs.RadioGroupInput, number: int, at: Path, _: Sequence[Component]
) -> RadioGroup:
    """A radio group: a choice of one option."""
    _check_options(validator, body.options, at)
    chosen = sum(bool(option.default) for option in body.options)
    _check_defaults(validator, chosen, {"min_values": 0, "max_values": 1}, (*at, "options"))
    return RadioGroup(
        id=number,
        custom_id=validator.take_custom_id(body.custom_id, at),
        options=_group_options(body.options),
        required=body.required is not False,
    )


def build_checkbox_group(
    validator: ComponentValidator, body: inputs.CheckboxGroupInput, number: int, at: Path, _: Sequence[Component]
) -> CheckboxGroup:
    """A checkbox group. `max_values` defaults to the number of options."""
    count = len(body.options)
    low, high = _bounds(validator, body, count, at)
    if count < low <= high:
        validator.add((*at, "min_values"), *FieldError.too_large(count))
    _check_options(validator, body.options, at)
    chosen = sum(bool(option.default) for option in body.options)
    _check_defaults(validator, chosen, {"min_values": 0, "max_values": high}, (*at, "options"))
    return CheckboxGroup(
        id=number,
        custom_id=validator.take_custom_id(body.custom_id, at),
        options=_group_options(body.options),
        min_values=low,
        max_values=high,
        required=body.required is not False,
    )


def build_checkbox(
    validator: ComponentValidator, body: inputs.CheckboxInput, number: int, at: Path, _: Sequence[Component]
) -> Checkbox:
    """A checkbox."""
    return Checkbox(id=number, custom_id=validator.take_custom_id(body.custom_id, at), default=bool(body.default))
