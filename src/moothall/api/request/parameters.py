"""Path, query and header parameters: converting their text to typed values."""

import inspect
import typing
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final
from urllib.parse import parse_qsl

import msgspec
from msgspec import NODEFAULT, UNSET, Struct, structs

from moothall.api.request.form import coerce
from moothall.objects import errors
from moothall.objects.errors import ErrorKind, FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.wire import convert
from moothall.runtime.cache import Cache

_UNKNOWN_BY_PARAMETER: dict[str, ErrorKind] = {
    "guild_id": errors.UNKNOWN_GUILD,
    "channel_id": errors.UNKNOWN_CHANNEL,
    "role_id": errors.UNKNOWN_ROLE,
    "user_id": errors.UNKNOWN_USER,
    "message_id": errors.UNKNOWN_MESSAGE,
    "webhook_id": errors.UNKNOWN_WEBHOOK,
    "integration_id": errors.UNKNOWN_INTEGRATION,
    "application_id": errors.UNKNOWN_APPLICATION,
    "emoji_id": errors.UNKNOWN_EMOJI,
    "sticker_id": errors.UNKNOWN_STICKER,
    "pack_id": errors.UNKNOWN_STICKER_PACK,
    "sound_id": errors.UNKNOWN_SOUND,
    "guild_scheduled_event_id": errors.UNKNOWN_SCHEDULED_EVENT,
}


_MAX_DIGITS: Final = 19
"""Digits of the largest id."""


class PathParameter(Struct, frozen=True):
    """A placeholder of a path, and the function that converts its text."""

    name: str
    kind: object
    read: Callable[[str], object]
    """Raises Refusal with the resource's own 404 for text that is not a valid id."""


class QueryParameter(Struct, frozen=True):
    """A query parameter with its type and default; without a default (`Parameter.empty`) it is required."""

    name: str
    kind: object
    default: object
    is_list: bool

    @property
    def required(self) -> bool:
        """Whether a request without it is refused."""
        return self.default is inspect.Parameter.empty


class Header(Struct, frozen=True):
    """The annotation of a handler's parameter that takes a header: `Annotated[str | None, Header("x-kind")]`."""

    name: str
    """In lower case."""


class HeaderParameter(Struct, frozen=True):
    """A parameter of a handler, and the header that it takes. Its value is None if the request has no such header."""

    name: str
    header: Header


def header_parameter(name: str, kind: object) -> HeaderParameter | None:
    """The header parameter of an annotated type; None if its annotations have no `Header`."""
    headers = [annotation for annotation in getattr(kind, "__metadata__", ()) if isinstance(annotation, Header)]
    return HeaderParameter(name, headers[0]) if headers else None


def _supertype(kind: object) -> object:
    while isinstance(kind, typing.NewType):
        kind = kind.__supertype__
    return kind


def path_parameter(name: str, kind: object) -> PathParameter:
    """Make the parameter of a placeholder."""
    if _supertype(kind) is Snowflake:
        unknown = _UNKNOWN_BY_PARAMETER.get(name, errors.NOT_FOUND)

        def read_id(text: str) -> object:
            snowflake = _read_snowflake(text) if len(text) <= _MAX_DIGITS else None
            if snowflake is None:
                raise Refusal(unknown)
            return snowflake

        return PathParameter(name, kind, read_id)
    return PathParameter(name, kind, _without_nul)


@lru_cache(4_000)
def _read_snowflake(text: str) -> Snowflake | None:
    """The id in a path, which is often that of an earlier request; None if it is none."""
    if text.isascii() and text.isdigit():
        value = int(text)
        if value < 1 << 63:
            return Snowflake(value)
    return None


def _without_nul(text: str) -> str:
    return text.replace("\0", "")


def query_parameter(name: str, kind: object, default: object) -> QueryParameter:
    """Make a query parameter. A list is comma-delimited, or the parameter is repeated."""
    return QueryParameter(name, kind, default, any(map(_is_list, (kind, *typing.get_args(kind)))))


def struct_parameters(kind: type[Struct]) -> list[QueryParameter]:
    """The query parameters that the fields of a struct declare."""
    hints = typing.get_type_hints(kind, include_extras=True)
    empty = inspect.Parameter.empty
    return [
        query_parameter(field.name, hints[field.name], empty if field.default is NODEFAULT else field.default)
        for field in structs.fields(kind)
    ]


def _is_list(kind: object) -> bool:
    bounded = typing.get_origin(kind) is typing.Annotated
    return typing.get_origin(typing.get_args(kind)[0] if bounded else kind) is list


_SHORT = 64
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1


def _pairs(query_string: bytes) -> list[tuple[str, str]]:
    parsed = parse_qsl(query_string.decode("utf-8"), keep_blank_values=True, max_num_fields=200)
    return [(key, value.replace("\0", "")) for key, value in parsed]


# Most requests have one of a few short query strings: `wait=true`, `limit=50`.
_short_pairs = lru_cache(maxsize=1024)(_pairs)

_MAX_CACHED: Final = 256


class QueryReader:
    """Reads the query strings of one endpoint. Values of short ones are cached, as most requests have one of a few.

    With a `struct`, whose fields declare the parameters, the only value is one of that type, named `query`.
    """

    __slots__ = ("_cache", "_parameters", "_struct", "required")

    def __init__(self, parameters: tuple[QueryParameter, ...], struct: type[Struct] | None = None) -> None:
        self._parameters = parameters
        self._struct = struct
        self._cache: Cache[bytes, dict[str, object]] = Cache(_MAX_CACHED)
        self._cache.enabled = not any(parameter.is_list for parameter in parameters)
        self.required = struct is not None or any(parameter.required for parameter in parameters)
        """Whether an empty query string is read too: other handlers take the defaults of their signature."""

    def read(self, query_string: bytes) -> dict[str, object]:
        """The values of a query string, as `read_query`."""
        cached = self._cache.get(query_string)
        if cached is not None:
            return cached.copy()
        values = read_query(self._parameters, query_string)
        if self._struct is not None:
            values = {"query": self._struct(**values)}
        if len(query_string) <= _SHORT:
            self._cache.keep(query_string, values.copy())
        return values


def read_query(declared: tuple[QueryParameter, ...], query_string: bytes) -> dict[str, Any]:
    """Convert a query string to the values of the declared parameters. Unknown parameters are ignored.

    Raises Refusal: 50035 with the errors of all parameters.
    """
    values: dict[str, object] = {}
    texts_by_name: dict[str, list[str]] = {}
    if query_string:
        pairs = _short_pairs if len(query_string) <= _SHORT else _pairs
        try:
            for key, value in pairs(query_string):
                texts_by_name.setdefault(key, []).append(value)
        except ValueError:
            raise Refusal(errors.INVALID_FORM_BODY) from None
    form_errors: FormErrors | None = None
    for parameter in declared:
        texts = texts_by_name.get(parameter.name)
        if texts is None:
            if not parameter.required:
                values[parameter.name] = parameter.default
                continue
            form_errors = form_errors or FormErrors()
            form_errors.add([parameter.name], FormCode.BASE_TYPE_REQUIRED, "This field is required")
            continue
        raw: object = [part for text in texts for part in text.split(",") if part] if parameter.is_list else texts[-1]
        try:
            values[parameter.name] = _read_value(parameter, raw)
        except msgspec.ValidationError:
            form_errors = form_errors or FormErrors()
            described = FormErrors()
            coerce(parameter.kind, raw, [parameter.name], described)
            if described:
                form_errors.merge(described)
            else:
                form_errors.add([parameter.name], FormCode.NUMBER_TYPE_COERCE, f"Value {str(raw)[:40]!r} is not int.")
    if form_errors:
        form_errors.raise_if_any()
    return values


def _read_value(parameter: QueryParameter, raw: object) -> object:
    if raw == "" and parameter.default is not inspect.Parameter.empty and parameter.default in (None, UNSET):
        return parameter.default
    value = convert(raw, parameter.kind, strict=False)
    if type(value) is int and not _LOWEST <= value <= _HIGHEST:
        # A column cannot store it, and msgspec's bounds cannot exclude it, because they are 64-bit numbers themselves.
        raise msgspec.ValidationError("more than 64 bits")
    return value
