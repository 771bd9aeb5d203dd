"""Modals: forms that an application shows to somebody (api.md, Components; interactions: modal)."""

from typing import Any, Final, cast

import msgspec

from moothall.kernel.form import describe_failure
from moothall.objects import limits
from moothall.objects.component import Modal, ModalComponent
from moothall.objects.component_input import ModalInput
from moothall.objects.component_types import ComponentPlace
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.text import clean
from moothall.objects.wire import convert
from moothall.resources.component.reading import read_tree
from moothall.resources.component.validator import ComponentValidator, ReferencedIds, ResolvedIds, survey

_NOT_A_LIST: Final = FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")


def survey_modal(given: Any) -> ReferencedIds:
    """What a modal of a request names, for `find_known`; nothing if it is malformed."""
    components = given.get("components") if isinstance(given, dict) else None
    return survey(components if isinstance(components, list) else [])


def read_modal(
    given: Any, form_errors: FormErrors, *, known: ResolvedIds | None, seen: ReferencedIds | None = None
) -> Modal | None:
    """A modal: custom id, a title of up to 45 characters, and one to five components.

    `given` is the JSON of an interaction's callback data. What is wrong is added to `form_errors`; the result
    is None, or counts for nothing, if anything was. The same holds for `known` and `seen` as in `read_components`.
    """
    try:
        modal = convert(given, ModalInput)
    except msgspec.ValidationError:
        describe_failure(ModalInput, given, [], form_errors)
        modal = None
    components = given.get("components") if isinstance(given, dict) else None
    read: list[ModalComponent] = []
    if isinstance(components, list) and 1 <= len(components) <= limits.MODAL_COMPONENTS_MAX:
        seen = survey(components) if seen is None else seen
        notes = ComponentValidator(form_errors, ComponentPlace.MODAL, given_ids=seen.ids, known=known)
        read = cast("list[ModalComponent]", read_tree(components, notes, ComponentPlace.MODAL))
    elif isinstance(components, list):
        form_errors.add("components", *FieldError.length(1, limits.MODAL_COMPONENTS_MAX))
    elif isinstance(given, dict) and "components" in given:
        form_errors.add("components", *(FieldError.required() if components is None else _NOT_A_LIST))
    if modal is None:
        return None
    return Modal(custom_id=modal.custom_id, title=clean(modal.title), components=read)
