"""Checking the responses to a screening form."""

from collections.abc import Callable
from typing import Final

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.screening import FormField
from moothall.objects.text import clean


def check_response(field: FormField, response: object, form_errors: FormErrors) -> str | int | bool | None:
    """The response to a field: agreement to rules, a text, or the index of a choice; None for an open optional field.

    Invalid responses are added to `form_errors`, once each; what is returned for them is not None.
    """
    checked = _CHECKS[field.field_type](field, response, form_errors)
    if field.required and (checked is None or checked is False):
        form_errors.add([], *FieldError.required())
    return checked


def _agreement(_field: FormField, response: object, _form_errors: FormErrors) -> bool:
    return response is True


def _text(field: FormField, response: object, form_errors: FormErrors) -> str | None:
    if response is None:
        return None
    if not isinstance(response, str):
        form_errors.add([], FormCode.STRING_TYPE_CONVERT, f"Could not interpret {str(response)[:40]!r} as string.")
        return ""
    maximum = limits.SCREENING_TEXT_MAX if field.field_type == "TEXT_INPUT" else limits.SCREENING_PARAGRAPH_MAX
    text = clean(response).strip()
    if len(text) > maximum:
        form_errors.add([], *FieldError.length(None, maximum))
    return text or None


def _choice(field: FormField, response: object, form_errors: FormErrors) -> int | None:
    if response is None:
        return None
    choices = field.choices or []
    if not isinstance(response, int) or isinstance(response, bool) or not 0 <= response < len(choices):
        form_errors.add([], *FieldError.choices(tuple(range(len(choices)))))
        return -1
    return response


_Check = Callable[[FormField, object, FormErrors], str | int | bool | None]
_CHECKS: Final[dict[str, _Check]] = {
    "TERMS": _agreement,
    "TEXT_INPUT": _text,
    "PARAGRAPH": _text,
    "MULTIPLE_CHOICE": _choice,
}
