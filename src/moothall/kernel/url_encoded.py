"""Bodies of `application/x-www-form-urlencoded`, as OAuth2 has them (RFC 6749, appendix B).

What is wrong with such a body is told in the shape of its own protocol, which the type of the body knows.
"""

from typing import Any
from urllib.parse import parse_qsl

from msgspec import Struct

from moothall.kernel.body import BodyReader
from moothall.objects import errors
from moothall.objects.errors import Refusal

_MAX_FIELDS = 64


class UrlEncoded(Struct, frozen=True, kw_only=True):
    """The base of such bodies: every field is a text, or None where it is absent or empty."""

    @classmethod
    def unreadable(cls, why: str) -> Refusal:
        """What a body is refused with that cannot be read: of another type, no UTF-8, or with a field twice."""
        return Refusal(errors.GENERAL_ERROR, message=why)


class UrlEncodedReader(BodyReader, frozen=True):
    """Reads the body of one row; fields that nobody knows are ignored."""

    content_type = "application/x-www-form-urlencoded"

    def read(self, data: bytes, content_type: str) -> Any:
        """The body as a typed object. Raises what its type says of one that cannot be read."""
        if not data:
            return self.kind()
        if content_type.partition(";")[0].strip().lower() != self.content_type:
            raise self.kind.unreadable(f"The body must be {self.content_type}.")
        try:
            pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
        except ValueError:
            raise self.kind.unreadable("The body cannot be read.") from None
        known = [(name, value) for name, value in pairs if name in self.kind.__struct_fields__ and value]
        given = dict(known)
        if len(given) != len(known):
            raise self.kind.unreadable("A parameter is there more than once.")
        return self.kind(**given)
