"""Modals: forms that an application shows to a user (api.md, Components; interactions: modal)."""

from typing import Final, cast

from moothall.api.request.form import read_plain
from moothall.objects import limits
from moothall.objects.component import Modal, ModalComponent
from moothall.objects.component_input import ModalInput
from moothall.objects.component_types import ComponentPosition
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.text import clean
from moothall.resources.component.reading import read_tree
from moothall.resources.component.validator import ComponentValidator, ReferencedIds, ResolvedIds, referenced_ids

_NOT_A_LIST: Final = FieldError(FormCode.LIST_TYPE_CONVERT, "Only iterables may be used in a ListType")


def referenced_ids_of_modal(body: object) -> ReferencedIds:
    """The ids that a modal of a request refers to, for `resolve_ids`; none if it is malformed."""
    components = body.get("components") if isinstance(body, dict) else None
    return referenced_ids(components if isinstance(components, list) else [])


def read_modal(
    body: object, form_errors: FormErrors, *, resolved: ResolvedIds | None, referenced: ReferencedIds | None = None
) -> Modal | None:
    """A modal: custom id, a title of up to 45 characters, and one to five components.

    `body` is the JSON of an interaction's callback data. Errors are added to `form_errors`; the result is
    then None, or to be ignored. `resolved` and `referenced` are as in `read_components`.
    """
    modal: ModalInput | None = read_plain(ModalInput, body, [], form_errors)
    components = body.get("components") if isinstance(body, dict) else None
    read: list[ModalComponent] = []
    if isinstance(components, list) and 1 <= len(components) <= limits.MODAL_COMPONENTS_MAX:
        referenced = referenced_ids(components) if referenced is None else referenced
        validator = ComponentValidator(
            form_errors, ComponentPosition.MODAL, requested_ids=referenced.ids, resolved=resolved
        )
        read = cast("list[ModalComponent]", read_tree(components, validator, ComponentPosition.MODAL))
    elif isinstance(components, list):
        form_errors.add("components", *FieldError.length(1, limits.MODAL_COMPONENTS_MAX))
    elif isinstance(body, dict) and "components" in body:
        form_errors.add("components", *(FieldError.required() if components is None else _NOT_A_LIST))
    if modal is None:
        return None
    return Modal(custom_id=modal.custom_id, title=clean(modal.title), components=read)
