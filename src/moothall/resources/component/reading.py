"""Reading the component tree of a request: the components as responses show them, or every error in them.

The work is bounded by the size of a valid tree: lists that are too long are not read, and reading stops at the first
component beyond the maximum.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, cast

import msgspec

from moothall.api.request.form import as_integer, coerce, convert_coerced
from moothall.objects import limits
from moothall.objects.component import Component, MessageComponent
from moothall.objects.component_input import ComponentInput
from moothall.objects.component_types import ComponentPosition
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import convert
from moothall.resources.component.kinds import CHOICES, Kind, Slot
from moothall.resources.component.validator import ComponentValidator, Path, ReferencedIds, ResolvedIds, referenced_ids

_NOT_A_DICT: Final = FieldError(FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a ModelType")
_NOT_A_LIST: Final = FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")


class _TooMany(Exception):
    """The tree has more components than any message may have."""


def read_components(
    body: Sequence[Any],
    form_errors: FormErrors,
    *,
    layout: bool,
    resolved: ResolvedIds | None,
    referenced: ReferencedIds | None = None,
    interactive: bool = True,
    file_urls: AbstractSet[str] = frozenset(),
) -> list[MessageComponent]:
    """The components of a message. Errors are added to `form_errors`, below `components`; ignore the result then.

    `layout`: the message has IS_COMPONENTS_V2. `resolved` is the result of `resolve_ids` for `referenced`; None leaves
    ids unchecked. With `interactive` false, components that cause interactions are errors. `file_urls` are the URLs of
    files that the message has, without their query.
    """
    top = ComponentPosition.LAYOUT if layout else ComponentPosition.LEGACY
    maximum = limits.COMPONENTS_V2_MAX if layout else limits.ACTION_ROWS_MAX
    referenced = referenced_ids(body) if referenced is None else referenced
    validator = ComponentValidator(
        form_errors, top, requested_ids=referenced.ids, resolved=resolved, file_urls=file_urls, interactive=interactive
    )
    if not layout and len(body) > maximum:
        form_errors.add("components", *FieldError.length(None, maximum))
        return []
    return cast("list[MessageComponent]", read_tree(body, validator, top))


def read_tree(body: Sequence[Any], validator: ComponentValidator, top: ComponentPosition) -> list[Component]:
    """The components of a list at the top of a tree."""
    components: list[Component] = []
    try:
        for index, component in enumerate(body):
            read = _read(component, validator, top, ("components", index))
            if read is not None:
                components.append(read)
    except _TooMany:
        validator.add(
            ("components",),
            FormCode.COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED,
            f"Total number of components cannot exceed {limits.COMPONENTS_V2_MAX}",
        )
    if validator.text > limits.DISPLAYED_TEXT_MAX:
        validator.add(
            ("components",),
            FormCode.COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED,
            f"Components displayable text size exceeds maximum size of {limits.DISPLAYED_TEXT_MAX}",
        )
    return components


def _read(body: object, validator: ComponentValidator, position: ComponentPosition, at: Path) -> Component | None:
    validator.count += 1
    if validator.count > limits.COMPONENTS_V2_MAX:
        raise _TooMany
    if not isinstance(body, dict):
        validator.add(at, *_NOT_A_DICT)
        return None
    number = body.get("type")
    if number is None:
        validator.add((*at, "type"), *FieldError.required())
        return None
    if validator.modal and position is ComponentPosition.ROW:
        position = ComponentPosition.MODAL_ROW
    kind = _kind(number, position, validator, at)
    if kind is None:
        return None
    body, converted = _convert(body, kind, validator, at)
    component_id = 0 if converted is None else validator.take_id(converted.id, at)
    if kind.check is not None:
        kind.check(validator, body, at)
    children: list[Component] | None = []
    for slot in kind.slots:
        read = _read_slot(body, slot, validator, at)
        children = None if read is None or children is None else children + read
    if converted is None or children is None:
        return None
    return kind.build(validator, converted, component_id, at, children)


def _kind(number: object, position: ComponentPosition, validator: ComponentValidator, at: Path) -> Kind | None:
    """The kind of a component's type; None, and an error, for one that the position does not allow."""
    choices = CHOICES[position]
    kind = choices.get(as_integer(number) or 0)
    if kind is None:
        listed = ", ".join(map(str, choices))
        comma = "," if len(choices) == 1 else ""
        validator.add(at, FormCode.UNION_TYPE_CHOICES, f'Value of field "type" must be one of ({listed}{comma}).')
    return kind


def _convert(
    body: JsonObject, kind: Kind, validator: ComponentValidator, at: Path
) -> tuple[JsonObject, ComponentInput | None]:
    """The JSON of a component with its scalars coerced, and the component; None, and its errors, if it is invalid."""
    try:
        return body, convert(body, kind.input_type)
    except msgspec.ValidationError:
        type_errors = FormErrors()
        coerced = coerce(kind.input_type, body, at, type_errors)
        converted = convert_coerced(kind.input_type, coerced, at, type_errors, validator.form_errors)
        if converted is None:
            validator.take_ids(body, at)
        return body if converted is None else coerced, converted


def _read_slot(body: JsonObject, slot: Slot, validator: ComponentValidator, at: Path) -> list[Component] | None:
    """The children of a key; None if they are invalid, so that their parent cannot be built."""
    value = body.get(slot.key)
    here = (*at, slot.key)
    if value is None:
        if slot.key in body:
            validator.add(here, *FieldError.required())  # a missing key is an error of the struct
        return None
    if slot.high is None:
        child = _read(value, validator, slot.position, here)
        return None if child is None else [child]
    if not isinstance(value, list):
        validator.add(here, *_NOT_A_LIST)
        return None
    if not (slot.low or 0) <= len(value) <= slot.high:
        validator.add(here, *FieldError.length(slot.low, slot.high))
        return None
    read = [_read(child, validator, slot.position, (*here, index)) for index, child in enumerate(value)]
    return None if None in read else cast("list[Component]", read)
