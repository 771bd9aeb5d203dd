"""Values that the type of a request's field does not accept, derived from the type."""

import json
from collections.abc import Iterator
from typing import Any

from msgspec import inspect as shapes

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake
from moothall.objects.images import ImageData
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from tests.resources.guild.pictures import picture

load_endpoints()

ROWS = sorted(
    (
        row
        for row in REGISTRY.values()
        # These are forms: the refusals of the first two have the shape of OAuth2, those of the others name no fields.
        if row.signature.body is not None
        and not row.path.startswith(("/oauth2/token", "/oauth2/device/authorize", "/auth/back-channel-logout"))
        and row.handler.__module__.startswith("moothall.")
    ),
    key=lambda row: (row.path, row.method),
)
_DEEPEST = 4
_LONGEST = 20_000
"""What is bounded by more is bounded by the size of a request."""
_TEXTS = ("a", "ab", "abc", "aaaaaaaa", "https://example.org/a", "a@example.org", "1", "#abcdef")
_CUSTOM: dict[type, str] = {
    Snowflake: "1",
    PermissionSet: "0",
    Timestamp: "2026-01-01T00:00:00+00:00",
    ImageData: picture(),
}
Bad = tuple[tuple[str | int, ...], Any, str]
"""Where, what, and what is wrong with it."""


def bare(shape: shapes.Type) -> shapes.Type:
    while isinstance(shape, shapes.Metadata):
        shape = shape.type
    return shape


def options(shape: shapes.Type) -> list[shapes.Type]:
    """The types that a value may have, null aside."""
    shape = bare(shape)
    listed = shape.types if isinstance(shape, shapes.UnionType) else (shape,)
    return [bare(one) for one in listed if not isinstance(bare(one), shapes.NoneType)]


def may_be_null(shape: shapes.Type) -> bool:
    shape = bare(shape)
    if isinstance(shape, shapes.UnionType):
        return any(may_be_null(one) for one in shape.types)
    return isinstance(shape, shapes.NoneType | shapes.AnyType | shapes.RawType)


def good(shape: shapes.Type, *, number: int = 0) -> Any:
    """A value that the type takes; another for each number."""
    shape = options(shape)[0]
    if isinstance(shape, shapes.StructType):
        return {field.encode_name: good(field.type) for field in shape.fields if field.required}
    if isinstance(shape, shapes.ListType | shapes.SetType | shapes.VarTupleType):
        return [good(shape.item_type, number=n) for n in range(shape.min_length or 0)]
    if isinstance(shape, shapes.DictType):
        return {str(n + 1): good(shape.value_type) for n in range(shape.min_length or 0)}
    if isinstance(shape, shapes.CustomType):
        for kind, text in _CUSTOM.items():
            if issubclass(shape.cls, kind):
                return str(number + 1) if kind is Snowflake else text
    return _good_scalar(shape)


def _good_scalar(shape: shapes.Type) -> Any:
    if isinstance(shape, shapes.StrType):
        return max(_TEXTS[0] * (shape.min_length or 1), _TEXTS[0])
    if isinstance(shape, shapes.IntType | shapes.FloatType):
        return int(shape.ge if shape.ge is not None else 1)
    if isinstance(shape, shapes.BoolType):
        return True
    if isinstance(shape, shapes.LiteralType):
        return next(iter(shape.values))
    if isinstance(shape, shapes.EnumType):
        return next(iter(shape.cls)).value
    return {}


def wrong(shape: shapes.Type, path: tuple[str | int, ...] = ()) -> Iterator[Bad]:
    """Everything that the type does not take, at its place."""
    kinds = options(shape)
    if not kinds or any(isinstance(kind, shapes.AnyType | shapes.RawType) for kind in kinds):
        return
    if path and not may_be_null(shape):
        yield path, None, "null"
    if len(kinds) > 1:
        yield path, [[[]]] if not any(isinstance(k, shapes.ListType) for k in kinds) else True, "of the wrong type"
        return
    yield from _wrong_one(kinds[0], path)


def _wrong_one(kind: shapes.Type, path: tuple[str | int, ...]) -> Iterator[Bad]:  # noqa: C901, PLR0912 one for each type
    if isinstance(kind, shapes.StructType):
        yield path, "x", "of the wrong type"
        if len(path) < _DEEPEST:
            for field in kind.fields:
                yield from wrong(field.type, (*path, field.encode_name))
    elif isinstance(kind, shapes.ListType | shapes.SetType | shapes.VarTupleType):
        yield path, {"x": 1}, "of the wrong type"
        if kind.max_length is not None and kind.max_length < _LONGEST:
            yield path, [good(kind.item_type, number=n) for n in range(kind.max_length + 1)], "too long"
        yield from wrong(kind.item_type, (*path, 0))
    elif isinstance(kind, shapes.DictType):
        yield path, [1], "of the wrong type"
    elif isinstance(kind, shapes.StrType):
        yield path, {"x": 1}, "of the wrong type"
        if kind.max_length is not None and kind.max_length < _LONGEST:
            yield path, "a" * (kind.max_length + 1), "too long"
        if kind.min_length:
            yield path, "a" * (kind.min_length - 1), "too short"
    elif isinstance(kind, shapes.IntType | shapes.FloatType):
        yield path, "x", "of the wrong type"
        yield path, [1], "of the wrong type"
        if kind.ge is not None:
            yield path, int(kind.ge) - 1, "too small"
        if kind.le is not None:
            yield path, int(kind.le) + 1, "too large"
    elif isinstance(kind, shapes.BoolType):
        yield path, "perhaps", "of the wrong type"
    elif isinstance(kind, shapes.LiteralType | shapes.EnumType):
        yield path, 987_654, "no choice"
    elif isinstance(kind, shapes.CustomType):
        yield path, "\N{SNOWFLAKE}", "of the wrong type"
        yield path, {"x": 1}, "of the wrong type"


def placed(shape: shapes.Type, path: tuple[str | int, ...], value: Any) -> Any:
    """A body that is right but for the value at the path."""
    if not path:
        return value
    shape = options(shape)[0]
    body = good(shape)
    step, *rest = path
    if isinstance(shape, shapes.StructType):
        field = next(field for field in shape.fields if field.encode_name == step)
        body[step] = placed(field.type, tuple(rest), value)
    elif isinstance(shape, shapes.ListType | shapes.SetType | shapes.VarTupleType):
        body = [placed(shape.item_type, tuple(rest), value), *body[1:]]
    return body


def errors_at(refusal: Refusal, path: tuple[str | int, ...]) -> list[Any]:
    node: Any = refusal.errors or {}
    for step in path:
        node = node.get(str(step), {})
    errors: list[Any] = node.get("_errors", [])
    return errors


def refusal_of(row: Endpoint, body: Any) -> Refusal | None:
    """What reading a body ends with; None if it is taken."""
    assert row.signature.body is not None
    try:
        row.signature.body.read(json.dumps(body).encode(), "application/json")
    except Refusal as refusal:
        return refusal
    return None
