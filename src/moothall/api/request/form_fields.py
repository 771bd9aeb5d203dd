"""Bodies as forms: the JSON of a body from the fields of a form, urlencoded or multipart.

A form has the whole body as JSON in one field (`payload_json`), or a field for each of the body's fields.
"""

import re
from binascii import a2b_qp
from collections.abc import Mapping
from functools import cache
from typing import ClassVar, Final

import msgspec
from msgspec import Struct
from msgspec import inspect as shapes

URL_ENCODED: Final = "application/x-www-form-urlencoded"
PAYLOAD_FIELD: Final = "payload_json"
_MAX_FIELDS: Final = 64
_LONE_PERCENT: Final = re.compile(rb"%(?![0-9a-fA-F]{2})")
_BOOLEANS: Final = {b"true": True, b"True": True, b"1": True, b"false": False, b"False": False, b"0": False}


class FormOrJson(Struct, frozen=True, kw_only=True):
    """The base of bodies whose senders choose the format: JSON, or a form with the JSON as `payload`."""

    payload_field: ClassVar[str] = "payload"


def is_url_encoded(content_type: str) -> bool:
    """Whether a Content-Type announces a form without files."""
    return content_type.partition(";")[0].strip().lower() == URL_ENCODED


def url_encoded_fields(data: bytes) -> list[tuple[str, bytes]]:
    """The names and values of an urlencoded form. Raises ValueError for one of more than 64, or with invalid names."""
    if not data:
        return []
    pairs = data.replace(b"+", b" ").split(b"&", _MAX_FIELDS)
    if len(pairs) > _MAX_FIELDS:
        raise ValueError("too many fields")
    return [
        (_percent_decoded(name).decode(), _percent_decoded(value))
        for name, _, value in (pair.partition(b"=") for pair in pairs if pair)
    ]


def _percent_decoded(value: bytes) -> bytes:
    if b"%" not in value:
        return value
    # The same escapes as quoted-printable's, which the standard library decodes in C: 200 times faster than unquote.
    return a2b_qp(_LONE_PERCENT.sub(b"%25", value).replace(b"=", b"%3D").replace(b"%", b"="))


def payload_field(kind: object) -> str:
    """The field of a form that has the whole body of a type as JSON."""
    return kind.payload_field if isinstance(kind, type) and issubclass(kind, FormOrJson) else PAYLOAD_FIELD


def json_of_fields(fields: Mapping[str, bytes], kind: object) -> bytes:
    """The JSON of a form's body: its payload field, or else its fields, read as the types of `kind` require."""
    payload = fields.get(payload_field(kind))
    if payload is not None:
        return payload
    types = _types_of_fields(kind)
    return msgspec.json.encode({name: _plain(value, types.get(name, ())) for name, value in fields.items()})


@cache
def _types_of_fields(kind: object) -> dict[str, tuple[type[shapes.Type], ...]]:
    """The types that each field of a body may have."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return {}
    return {field.encode_name: tuple(_types(field.type)) for field in getattr(shapes.type_info(kind), "fields", ())}


def _types(shape: shapes.Type) -> list[type[shapes.Type]]:
    if isinstance(shape, shapes.Metadata):
        return _types(shape.type)
    if isinstance(shape, shapes.UnionType):
        return [inner for option in shape.types for inner in _types(option)]
    return [type(shape)]


def _plain(value: bytes, types: tuple[type[shapes.Type], ...]) -> object:
    if shapes.StrType not in types:
        if shapes.BoolType in types and value in _BOOLEANS:
            return _BOOLEANS[value]
        try:
            return msgspec.json.decode(value)
        except (msgspec.DecodeError, UnicodeDecodeError):
            pass
    return value.decode("utf-8", "replace")
