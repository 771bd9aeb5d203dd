"""From a request's tree of components to what answers show, or everything that is wrong with it.

The work is bounded by what a valid tree may have: lists that are too long are not looked into, and the
tree is left at the first component beyond the last one that a message may have.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final, cast

import msgspec

from moothall.kernel.form import describe_failure
from moothall.objects import limits
from moothall.objects.component import Component, MessageComponent
from moothall.objects.component_types import ComponentPlace
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.wire import convert
from moothall.resources.component.kinds import CHOICES, Slot
from moothall.resources.component.validator import ComponentValidator, Path, ReferencedIds, ResolvedIds, survey

_NOT_A_DICT: Final = FieldError(FormCode.MODEL_TYPE_CONVERT, "Only dictionaries may be used in a ModelType")
_NOT_A_LIST: Final = FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")


class _TooMany(Exception):
    """The tree has more components than anything may have."""


def read_components(
    given: Sequence[Any],
    form_errors: FormErrors,
    *,
    layout: bool,
    known: ResolvedIds | None,
    seen: ReferencedIds | None = None,
    interactive: bool = True,
    own_files: AbstractSet[str] = frozenset(),
) -> list[MessageComponent]:
    """A message's components; what is wrong with them is added to `form_errors` below `components`.

    `layout`: the message has IS_COMPONENTS_V2. `known` is what `find_known` has found, or None where
    nobody looks; `seen` the survey that it was found by. With `interactive` false, components that an
    application would hear of are errors. `own_files` are the URLs of files that the message has
    already, without their query. The result counts for nothing if anything was wrong.
    """
    top = ComponentPlace.LAYOUT if layout else ComponentPlace.LEGACY
    maximum = limits.COMPONENTS_V2_MAX if layout else limits.ACTION_ROWS_MAX
    seen = survey(given) if seen is None else seen
    notes = ComponentValidator(
        form_errors, top, given_ids=seen.ids, known=known, own_files=own_files, interactive=interactive
    )
    if not layout and len(given) > maximum:
        form_errors.add("components", *FieldError.length(None, maximum))
        return []
    return cast("list[MessageComponent]", read_tree(given, notes, top))


def read_tree(given: Sequence[Any], notes: ComponentValidator, top: ComponentPlace) -> list[Component]:
    """The components of a place at the top."""
    read: list[Component] = []
    try:
        for index, component in enumerate(given):
            made = _read(component, notes, top, ("components", index))
            if made is not None:
                read.append(made)
    except _TooMany:
        notes.add(
            ("components",),
            FormCode.COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED,
            f"Total number of components cannot exceed {limits.COMPONENTS_V2_MAX}",
        )
    if notes.text > limits.DISPLAYED_TEXT_MAX:
        notes.add(
            ("components",),
            FormCode.COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED,
            f"Components displayable text size exceeds maximum size of {limits.DISPLAYED_TEXT_MAX}",
        )
    return read


def _read(given: Any, notes: ComponentValidator, access: ComponentPlace, at: Path) -> Component | None:
    notes.count += 1
    if notes.count > limits.COMPONENTS_V2_MAX:
        raise _TooMany
    if not isinstance(given, dict):
        notes.add(at, *_NOT_A_DICT)
        return None
    number = given.get("type")
    if number is None:
        notes.add((*at, "type"), *FieldError.required())
        return None
    if notes.modal and access is ComponentPlace.ROW:
        access = ComponentPlace.MODAL_ROW
    # True is 1 to a dictionary, and so is 1.0.
    choices = CHOICES[access]
    kind = choices.get(number) if type(number) is int else None
    if kind is None:
        listed = ", ".join(map(str, choices))
        comma = "," if len(choices) == 1 else ""
        notes.add(at, FormCode.UNION_TYPE_CHOICES, f'Value of field "type" must be one of ({listed}{comma}).')
        return None
    try:
        fitting = convert(given, kind.given)
    except msgspec.ValidationError:
        describe_failure(kind.given, given, at, notes.found)
        fitting = None
        notes.take_ids(given, at)
    component_id = 0 if fitting is None else notes.take_id(fitting.id, at)
    if kind.check is not None:
        kind.check(notes, given, at)
    children: list[Component] | None = []
    for slot in kind.slots:
        read = _read_slot(given, slot, notes, at)
        children = None if read is None or children is None else children + read
    if fitting is None or children is None:
        return None
    return kind.build(notes, fitting, component_id, at, children)


def _read_slot(given: dict[str, Any], slot: Slot, notes: ComponentValidator, at: Path) -> list[Component] | None:
    """The children of a key; None if something keeps their parent from being made."""
    value = given.get(slot.key)
    here = (*at, slot.key)
    if value is None:
        if slot.key in given:
            notes.add(here, *FieldError.required())  # where it is missing, the struct says so
        return None
    if slot.high is None:
        made = _read(value, notes, slot.access, here)
        return None if made is None else [made]
    if not isinstance(value, list):
        notes.add(here, *_NOT_A_LIST)
        return None
    if not (slot.low or 0) <= len(value) <= slot.high:
        notes.add(here, *FieldError.length(slot.low, slot.high))
        return None
    read = [_read(child, notes, slot.access, (*here, index)) for index, child in enumerate(value)]
    return None if None in read else cast("list[Component]", read)
