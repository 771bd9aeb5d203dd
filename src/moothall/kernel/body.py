"""Request bodies: bytes to a typed object, or every error at once.

A body struct may have a method `check(self, found: FormErrors)` for rules that its types cannot
say; its errors are answered together. `check_rest` is the same for rules that whoever handles the body
looks at anyway: it is called only where the types have refused something, so that nothing is left out.
"""

import re
from typing import Any, ClassVar

import msgspec
from msgspec import Struct

from moothall.kernel.form import describe_failure
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.wire import convert, decoder

MAX_DEPTH = 64
"""Nested lists and objects in a request's JSON; the deepest legitimate one is far below."""

_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""The escape of NUL, but not an escaped backslash followed by the same letters."""

_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)
"""Any escape; the group is half of a character without its other half."""
_MAX_MENDED = 1 << 20

_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_ALIKE = bytes.maketrans(b"{}", b"[]")
_NO_BRACKETS = bytes(byte for byte in range(256) if byte not in b"[]{}")


class BodyReader(Struct, frozen=True):
    """Reads the body of one row."""

    content_type: ClassVar[str] = "application/json"
    kind: Any
    optional: bool
    """Whether no body at all means an empty object."""
    checks: bool
    """Whether the struct has rules of its own."""

    def read(self, data: bytes, content_type: str) -> Any:
        """The body as a typed object.

        Raises Refusal: 50109 for what is not JSON, 50035 with every field error for what does not fit.
        """
        if not data and self.optional:
            data = b"{}"
        elif not content_type.lower().startswith("application/json"):
            form_errors = FormErrors()
            form_errors.add(
                [],
                FormCode.CONTENT_TYPE_INVALID,
                'Expected "Content-Type" header to be one of {application/json}.',
            )
            form_errors.raise_if_any()
        if b"\\u0000" in data:
            # No text may hold the character that PostgreSQL cannot store.
            data = _NUL.sub(rb"\1", data)
        if too_deep(data):
            raise Refusal(errors.INVALID_JSON)
        try:
            body = decoder(self.kind).decode(data)
        except msgspec.ValidationError:
            raise self._refusal(data) from None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            paired = without_lone_surrogates(data)
            if len(paired) < len(data):
                return self.read(paired, content_type)
            raise Refusal(errors.INVALID_JSON) from None
        if self.checks:
            form_errors = FormErrors()
            body.check(form_errors)
            form_errors.raise_if_any()
        return body

    def from_plain(self, value: object) -> Any:
        """The same for JSON that is parsed already (a part of a multipart form)."""
        return self.read(msgspec.json.encode(value), "application/json")

    def _refusal(self, data: bytes) -> Refusal:
        try:
            plain = msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError):
            paired = without_lone_surrogates(data)
            return self._refusal(paired) if len(paired) < len(data) else Refusal(errors.INVALID_JSON)
        form_errors = FormErrors()
        describe_failure(self.kind, plain, [], form_errors)
        if not form_errors:
            # The walk is the twin of msgspec's validation; where it sees nothing, msgspec's own words must do.
            try:
                convert(plain, self.kind)
            except msgspec.ValidationError as problem:
                form_errors.add([], FormCode.BASE_TYPE_CHOICES, str(problem))
        self._check_rest(plain, form_errors)
        return form_errors.refusal()

    def _check_rest(self, plain: object, form_errors: FormErrors) -> None:
        """Report, with the fields that do not fit their types, which of the others break the body's own rules."""
        check = getattr(self.kind, "check", None) or getattr(self.kind, "check_rest", None)
        if check is None or not isinstance(plain, dict):
            return
        wrong = set(form_errors.nested())
        try:
            rest = convert({key: value for key, value in plain.items() if key not in wrong}, self.kind)
        except msgspec.ValidationError:
            return  # what is wrong is needed
        more = FormErrors()
        check(rest, more)
        form_errors.merge(more, exclude={*wrong, "_errors"})


def body_reader(kind: Any, *, optional: bool) -> BodyReader:
    """The reader for the type that a handler's `body` is annotated with."""
    return BodyReader(kind, optional, callable(getattr(kind, "check", None)))


def without_lone_surrogates(data: bytes) -> bytes:
    r"""JSON without the escapes of half a character (`\ud83d` alone), as JavaScript writes cut emojis."""
    broken = len(data) <= _MAX_MENDED and (b"\\ud" in data or b"\\uD" in data)
    return _ESCAPE.sub(_drop_lone, data) if broken else data


def _drop_lone(escape: re.Match[bytes]) -> bytes:
    return b"" if escape[1] else escape[0]


def too_deep(data: bytes) -> bool:
    """Whether JSON nests deeper than `MAX_DEPTH`, or its brackets are not in pairs; those in strings do not count."""
    if data.count(b"[") + data.count(b"{") <= MAX_DEPTH:
        return False
    # A loop over the bytes would hold up everybody else for a large body: only what is left of each level is looked at.
    brackets = _STRING.sub(b"", data).translate(_ALIKE, _NO_BRACKETS)
    for _ in range(MAX_DEPTH):
        outer = brackets.replace(b"[]", b"")
        if len(outer) == len(brackets):
            break
        brackets = outer
    return bool(brackets)
