"""Placeholders of required fields that are invalid, so that the rules of the other fields can be checked.

What a request with a placeholder does is always rolled back, and errors of the field itself are not reported.
"""

from typing import Any, Final

from msgspec import Struct
from msgspec import inspect as shapes

from moothall.api.request.form import shape_of
from moothall.objects.images import ImageData

PIXEL: Final = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR42mNgAAAAAgAB5Sfe/AAAAABJRU5ErkJggg=="
)
"""A PNG of one pixel."""


def with_placeholders(kind: Any, value: dict[str, Any]) -> dict[str, Any]:
    """The value with a placeholder for each required text and image that it lacks.

    Other types have none: choices and ids decide which rules the other fields are subject to.
    """
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return value
    missing = {
        field.encode_name: _placeholder(field.type)
        for field in getattr(shape_of(kind), "fields", ())
        if field.required and field.encode_name not in value
    }
    return value | {name: placeholder for name, placeholder in missing.items() if placeholder is not None}


def _placeholder(shape: shapes.Type) -> str | None:
    if isinstance(shape, shapes.Metadata):
        shape = shape.type
    if isinstance(shape, shapes.StrType):
        return "a" * max(shape.min_length or 0, 2)
    if isinstance(shape, shapes.CustomType) and issubclass(shape.cls, ImageData):
        return PIXEL
    return None
