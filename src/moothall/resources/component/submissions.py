"""Validating the values that a user submits in selects and modals (api.md, Components).

Pure: the caller looks up whether the users, roles, channels and files of the values exist.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, cast

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.component import (
    Checkbox,
    CheckboxGroup,
    FileUpload,
    Label,
    LabelChild,
    Modal,
    ModalRow,
    RadioGroup,
    Select,
    StringSelect,
    TextInput,
)
from moothall.objects.component_types import ComponentType
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.json_object import JsonObject
from moothall.objects.text import clean
from moothall.resources.component.validator import Path

FILE_GROUPS: Final[Mapping[str, frozenset[str]]] = {
    "image": frozenset({".png", ".gif", ".jpg", ".jpeg", ".jfif", ".webp", ".avif"}),
    "video": frozenset({".mp4", ".mov", ".qt", ".webm"}),
    "audio": frozenset({".mp3", ".m4a", ".wav", ".ogg", ".opus", ".flac"}),
}
"""The file extensions of each group of a file upload's `file_types`."""
_DUPLICATE: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")
_NOT_A_LIST: Final = FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")
_MAX_LISTED: Final = 64


class Answer(Struct, frozen=True):
    """The submitted value of a field of a modal: a text, a list of texts or ids, a boolean, or None."""

    field: LabelChild
    value: Any

    @property
    def ids(self) -> list[Snowflake]:
        """The ids of the value: selected entities, or uploaded files."""
        has_ids = (isinstance(self.field, Select) and not isinstance(self.field, StringSelect)) or isinstance(
            self.field, FileUpload
        )
        return [Snowflake(int(value)) for value in self.value] if has_ids else []


def read_values(select: Select, values: object, form_errors: FormErrors, at: Path = ("values",)) -> list[str]:
    """The submitted values of a select in a message or modal: options, or ids as texts, each once.

    Errors are added to `form_errors` at `at`. An optional select of a modal may be empty.
    """
    chosen = _list(values, form_errors, at)
    empty_fits = select.required is False and not chosen
    if not empty_fits and not select.min_values <= len(chosen) <= select.max_values:
        form_errors.add(at, *FieldError.length(select.min_values, select.max_values))
        return chosen
    options = {option.value for option in select.options} if isinstance(select, StringSelect) else None
    _check_each(chosen, options, form_errors, at)
    return chosen


def read_modal_submission(
    modal: Modal, components: object, form_errors: FormErrors, *, files: Mapping[int, str] | None = None
) -> list[Answer]:
    """The values submitted in a modal, one for every field in the modal's order, also empty ones.

    `components` is the JSON of the request: labels or rows around fields with a custom id and a value, or the fields
    alone; a custom id of no field is an error. `files` are the names of the uploaded files by id; None accepts any id.
    Errors are added to `form_errors` below `components`.
    """
    fields = {field.custom_id: field for field in _fields(modal)}
    entered_by_id: dict[str, tuple[Mapping[str, object], Path]] = {}
    for entered, at in _entered(components, form_errors):
        custom_id = entered.get("custom_id")
        field = fields.get(custom_id) if isinstance(custom_id, str) else None
        if field is None:
            form_errors.add((*at, "custom_id"), FormCode.BASE_TYPE_CHOICES, "The modal has no such component.")
        elif entered.get("type", _type_of(field)) != _type_of(field):
            form_errors.add((*at, "type"), *FieldError.choices((_type_of(field),)))
        elif field.custom_id in entered_by_id:
            form_errors.add((*at, "custom_id"), *_DUPLICATE)
        else:
            entered_by_id[field.custom_id] = entered, at
    answers = []
    for custom_id, field in fields.items():
        entered, at = entered_by_id.get(custom_id, ({}, ("components", custom_id)))
        answers.append(Answer(field, _read_value(field, entered, form_errors, at, files)))
    return answers


def submission_payload(modal: Modal, answers: Sequence[Answer]) -> list[JsonObject]:
    """The `components` of a modal submit interaction: label by label, text displays without their content."""
    by_id = {answer.field.id: answer for answer in answers}
    payload: list[dict[str, object]] = []
    for component in modal.components:
        if isinstance(component, Label):
            inner = _answer_payload(by_id[component.component.id])
            payload.append({"type": int(ComponentType.LABEL), "id": component.id, "component": inner})
        elif isinstance(component, ModalRow):
            rows = [_answer_payload(by_id[field.id]) for field in component.components]
            payload.append({"type": int(ComponentType.ACTION_ROW), "id": component.id, "components": rows})
        else:
            payload.append({"type": int(ComponentType.TEXT_DISPLAY), "id": component.id})
    return payload


def _answer_payload(answer: Answer) -> JsonObject:
    field = answer.field
    key = "value" if isinstance(field, TextInput | RadioGroup | Checkbox) else "values"
    return {"type": _type_of(field), "id": field.id, "custom_id": field.custom_id, key: answer.value}


def _type_of(field: LabelChild) -> int:
    return cast("int", field.__struct_config__.tag)


def _fields(modal: Modal) -> Iterator[LabelChild]:
    for component in modal.components:
        if isinstance(component, Label):
            yield component.component
        elif isinstance(component, ModalRow):
            yield from component.components


def _entered(components: object, form_errors: FormErrors) -> Iterator[tuple[Mapping[str, object], Path]]:
    if not isinstance(components, list) or len(components) > _MAX_LISTED:
        form_errors.add("components", *_NOT_A_LIST)
        return
    for index, component in enumerate(components):
        at: Path = ("components", index)
        if not isinstance(component, dict):
            form_errors.add(at, FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a ModelType")
        elif isinstance(component.get("component"), dict):
            yield component["component"], (*at, "component")
        elif isinstance(component.get("components"), list):
            for number, inner in enumerate(component["components"][:_MAX_LISTED]):
                if isinstance(inner, dict):
                    yield inner, (*at, "components", number)
        elif component.get("type") != ComponentType.TEXT_DISPLAY:
            yield component, at


def _read_value(
    field: LabelChild, entered: Mapping[str, object], form_errors: FormErrors, at: Path, files: Mapping[int, str] | None
) -> Any:
    match field:
        case TextInput():
            return _read_text(field, entered.get("value"), form_errors, (*at, "value"))
        case Checkbox():
            value = entered.get("value", False)
            if not isinstance(value, bool):
                form_errors.add((*at, "value"), FormCode.BOOLEAN_TYPE_CONVERT, "Must be either true or false.")
            return value is True
        case RadioGroup():
            return _read_choice(field, entered.get("value"), form_errors, (*at, "value"))
        case FileUpload():
            return _read_files(field, entered.get("values"), form_errors, (*at, "values"), files)
        case CheckboxGroup():
            chosen = _list(entered.get("values"), form_errors, (*at, "values"))
            _check_count(field, chosen, form_errors, (*at, "values"))
            _check_each(chosen, {option.value for option in field.options}, form_errors, (*at, "values"))
            return chosen
        case _:
            return read_values(field, entered.get("values"), form_errors, (*at, "values"))


def _read_text(field: TextInput, value: object, form_errors: FormErrors, at: Path) -> str:
    if value is None:
        value = ""
    if not isinstance(value, str):
        form_errors.add(at, FormCode.STRING_TYPE_CONVERT, f"Could not interpret {str(value)[:40]!r} as string.")
        return ""
    text = clean(value)
    if not text:
        if field.required:
            form_errors.add(at, *FieldError.required())
        return ""
    low, high = field.min_length or 0, limits.TEXT_INPUT_MAX if field.max_length is None else field.max_length
    if not low <= len(text) <= high:
        form_errors.add(at, *FieldError.length(low or None, high))
    return text


def _read_choice(field: RadioGroup, value: object, form_errors: FormErrors, at: Path) -> str | None:
    values = [option.value for option in field.options]
    if value is None:
        if field.required:
            form_errors.add(at, *FieldError.required())
        return None
    if not isinstance(value, str) or value not in values:
        form_errors.add(at, *FieldError.choices(values))
        return None
    return value


def _read_files(
    field: FileUpload, values: object, form_errors: FormErrors, at: Path, files: Mapping[int, str] | None
) -> list[str]:
    chosen = _list(values, form_errors, at)
    _check_count(field, chosen, form_errors, at)
    _check_each(chosen, None, form_errors, at)
    for index, value in enumerate(chosen):
        if files is None or not value.isdecimal():
            continue
        name = files.get(int(value))
        if name is None:
            form_errors.add((*at, index), FormCode.BASE_TYPE_CHOICES, "No such file was uploaded.")
        elif field.file_types and not fits_types(name, field.file_types):
            form_errors.add((*at, index), FormCode.CONTENT_TYPE_INVALID, f"{name!r} is of none of the allowed types.")
    return chosen


def fits_types(name: str, kinds: Sequence[str]) -> bool:
    """Whether the extension of a file is among `file_types`: extensions and groups of them."""
    dot = name.rfind(".")
    extension = name[dot:].lower() if dot >= 0 else ""
    return any(extension in FILE_GROUPS.get(kind, (kind,)) for kind in kinds)


def _check_count(field: FileUpload | CheckboxGroup, chosen: Sequence[str], form_errors: FormErrors, at: Path) -> None:
    empty_fits = not field.required and not chosen
    if not empty_fits and not field.min_values <= len(chosen) <= field.max_values:
        form_errors.add(at, *FieldError.length(field.min_values, field.max_values))


def _list(values: object, form_errors: FormErrors, at: Path) -> list[str]:
    """A list of texts or, as ids, numbers; null is an empty list."""
    if values is None:
        return []
    if not isinstance(values, list) or len(values) > _MAX_LISTED:
        form_errors.add(at, *_NOT_A_LIST)
        return []
    wrong = [index for index, value in enumerate(values) if not isinstance(value, str | int) or isinstance(value, bool)]
    for index in wrong:
        form_errors.add((*at, index), FormCode.STRING_TYPE_CONVERT, "Could not interpret this value as string.")
    return [] if wrong else [str(value) for value in values]


def _check_each(chosen: Sequence[str], options: set[str] | None, form_errors: FormErrors, at: Path) -> None:
    """Add an error for each value that is a duplicate, none of the options in `options`, or without options no id."""
    for index, value in enumerate(chosen):
        if options is None:
            try:
                Snowflake.from_wire(value)
            except ValueError as problem:
                form_errors.add((*at, index), FormCode.NUMBER_TYPE_COERCE, str(problem))
                continue
        elif value not in options:
            form_errors.add((*at, index), FormCode.BASE_TYPE_CHOICES, "Value is none of the options.")
            continue
        if value in chosen[:index]:
            form_errors.add((*at, index), *_DUPLICATE)
