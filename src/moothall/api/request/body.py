"""JSON bodies of requests: decoding them into structs, and reporting all of their errors together.

A body struct may have a method `check(self, form_errors: FormErrors)` for rules that its types cannot express. A method
`check_shape` with the same signature has rules that the operation checks anyway, while it reads the fields: it is
called only for a body with errors in its types, so that the response has all errors of shape.
"""

import re
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from moothall.api.request.form import coerce, convert_coerced, read_plain
from moothall.api.request.form_fields import URL_ENCODED, is_url_encoded, json_of_fields, url_encoded_fields
from moothall.api.request.json_size import MAX_JSON, JsonSize
from moothall.api.request.multipart import MULTIPART
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.wire import contains, decoder

MAX_DEPTH = 64
"""The maximum nesting of lists and objects in a request's JSON, far above that of any valid body."""

MAX_VALUES = 100_000
"""Values of a body, far above those of any valid one: what is decoded takes up to a hundred times its own bytes."""

_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""The escape of NUL, but not an escaped backslash followed by the same letters."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Any escape sequence; the group matches a lone surrogate."""
_MAX_REPAIRED = 1 << 20

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_THOUSAND_STRINGS = re.compile(rb'[^"]*+(?:"[^"\\]*+(?:\\.[^"\\]*+)*+"[^"]*+){1,1000}', re.DOTALL)
_ALIKE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class ContentTypes:
    """The annotation of a body that may have other types of content: `Annotated[T, ContentTypes("application/x")]`."""

    def __init__(self, *names: str) -> None:
        self.names = names


class BodyReader(Struct, frozen=True):
    """Decodes the body of one endpoint."""

    content_type: ClassVar[str] = "application/json"
    kind: Any
    optional: bool
    """Whether a missing body counts as an empty object."""
    checks: bool
    """Whether the struct has a method `check`."""
    forms: bool = False
    """Whether the body may be a form, urlencoded or multipart."""
    other_types: tuple[str, ...] = ()
    """Other types of content that are JSON too."""

    def read(self, data: bytes, content_type: str) -> Any:
        """Decode the body into its struct.

        Raises Refusal: 40005 for one with too many values, 50109 for a body that is not JSON, 50035 with the errors of
        all fields for an invalid one.
        """
        data = self._json(data, content_type)
        if too_large(data):
            raise Refusal(errors.REQUEST_TOO_LARGE)
        if too_deep(data):
            raise Refusal(errors.INVALID_JSON)
        try:
            body = decoder(self.kind).decode(data)
        except msgspec.ValidationError:
            body = self._read_coerced(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            paired = without_lone_surrogates(data)
            if len(paired) < len(data):
                return self.read(paired, self.content_type)
            raise Refusal(errors.INVALID_JSON) from None
        if self.checks:
            body.check(form_errors := FormErrors())
            form_errors.raise_if_any()
        return body

    def from_plain(self, value: object) -> Any:
        """The same for JSON that is parsed already."""
        return self.read(msgspec.json.encode(value), "application/json")

    def _json(self, data: bytes, content_type: str) -> bytes:
        """The JSON of a body, without the character that PostgreSQL cannot store."""
        if not data and self.optional:
            data = b"{}"
        elif not content_type.lower().startswith((self.content_type, *self.other_types)):
            data = self._json_of_form(data, content_type)
        return _NUL.sub(rb"\1", data) if contains(data, b"\\u0000") else data

    def _json_of_form(self, data: bytes, content_type: str) -> bytes:
        """The JSON of an urlencoded form.

        Raises Refusal: 50109, and 50035 for another type of content and for a field that is in the form twice.
        """
        if not (self.forms and is_url_encoded(content_type)):
            types = ", ".join((self.content_type, URL_ENCODED, MULTIPART)[: 3 if self.forms else 1])
            refuse_field([], FormCode.CONTENT_TYPE_INVALID, f'Expected "Content-Type" header to be one of {{{types}}}.')
        fields: dict[str, bytes] = {}
        try:
            for name, value in url_encoded_fields(data):
                if name in fields:
                    refuse_field([name], FormCode.MULTIPART_TYPE_PARSE, "The form has this field twice.")
                fields[name] = value
        except ValueError:
            raise Refusal(errors.INVALID_JSON) from None
        return json_of_fields(fields, self.kind)

    def _read_coerced(self, data: bytes) -> Any:
        """The body with its scalars coerced, where the types refuse it as it is. Raises Refusal."""
        type_errors, form_errors = FormErrors(), FormErrors()
        coerced = coerce(self.kind, _parsed(data), [], type_errors)
        body = convert_coerced(self.kind, coerced, [], type_errors, form_errors)
        if form_errors:
            self._add_rules_of_valid_fields(coerced, form_errors)
            raise form_errors.refusal()
        return body

    def _add_rules_of_valid_fields(self, plain: object, form_errors: FormErrors) -> None:
        """Add what the body's own rules have against the fields whose types are right."""
        wrong = form_errors.nested()
        if not isinstance(plain, dict) or "_errors" in wrong:
            return
        valid = {name: value for name, value in plain.items() if name not in wrong}
        body = read_plain(self.kind, valid, [], FormErrors())
        check = getattr(body, "check", None) or getattr(body, "check_shape", None)
        if check is not None:
            check(more := FormErrors())
            form_errors.merge(more, exclude=wrong)


def _parsed(data: bytes) -> Any:
    """JSON parsed, without lone surrogates. Raises Refusal 50109."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        paired = without_lone_surrogates(data)
        if len(paired) < len(data):
            return _parsed(paired)
        raise Refusal(errors.INVALID_JSON) from None


def body_reader(kind: object, *, optional: bool, forms: bool = False) -> BodyReader:
    """Make the reader for the annotated type of a handler's `body`."""
    annotations = getattr(kind, "__metadata__", ())
    types = tuple(name for each in annotations if isinstance(each, ContentTypes) for name in each.names)
    return BodyReader(kind, optional, callable(getattr(kind, "check", None)), forms, types)


def without_lone_surrogates(data: bytes) -> bytes:
    r"""Remove lone surrogates (`\ud83d`) from JSON, which JavaScript writes for emojis cut in half."""
    broken = len(data) <= _MAX_REPAIRED and (b"\\ud" in data or b"\\uD" in data)
    return _ESCAPE.sub(_drop_lone, data) if broken else data


def _drop_lone(escape: re.Match[bytes]) -> bytes:
    return b"" if escape[1] else escape[0]


def too_large(data: bytes) -> bool:
    """Whether JSON has more than `MAX_VALUES` values, or more than `MAX_JSON` bytes outside of data URIs."""
    if len(data) <= MAX_VALUES:
        return False
    if len(data) > MAX_JSON and JsonSize().add(data):
        return True
    if _separators(data) <= MAX_VALUES:
        return False
    # Texts may have as many commas: they are left out, some at a time, up to the first value too many.
    count = end = 0
    while (match := _THOUSAND_STRINGS.match(data, end)) is not None:
        count += _separators(_STRING.sub(b"", match[0]))
        end = match.end()
        if count > MAX_VALUES:
            return True
    return count + _separators(_STRING.sub(b"", data[end:])) > MAX_VALUES


def _separators(data: bytes) -> int:
    """At least as many as there are values, less one."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def too_deep(data: bytes) -> bool:
    """Whether JSON nests deeper than `MAX_DEPTH` or has unbalanced brackets, outside of strings."""
    brackets = data.translate(_ALIKE, _NO_BRACKETS)  # also those in strings
    opening = brackets.count(b"[")
    if opening <= MAX_DEPTH:
        return False
    # So deep a value has more than MAX_DEPTH brackets that open and, after those, as many that close.
    closing_later = brackets.split(b"[", MAX_DEPTH + 1)[-1].count(b"]")
    if 2 * opening == len(brackets) and closing_later <= MAX_DEPTH:
        return False
    # A loop over the bytes of a large body would take long: this removes one level of brackets at a time. No call takes
    # more than some strings, so that the event loop goes on meanwhile where this runs in another thread.
    pieces, end = [], 0
    while (match := _THOUSAND_STRINGS.match(data, end)) is not None:
        pieces.append(_brackets(match[0]))
        end = match.end()
    brackets = b"".join([*pieces, _brackets(data[end:])])
    for _ in range(MAX_DEPTH):
        outer = brackets.replace(b"[]", b"")
        if len(outer) == len(brackets):
            break
        brackets = outer
    return bool(brackets)


def _brackets(data: bytes) -> bytes:
    """The brackets of JSON outside of strings, all of one kind."""
    return _STRING.sub(b"", data).translate(_ALIKE, _NO_BRACKETS)
