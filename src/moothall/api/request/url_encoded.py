"""Bodies of `application/x-www-form-urlencoded`, as in OAuth2 (RFC 6749, appendix B).

Their errors have the shape of that protocol, which the class of the body implements.
"""

from typing import Any

from msgspec import Struct

from moothall.api.request.body import BodyReader
from moothall.api.request.form_fields import URL_ENCODED, is_url_encoded, url_encoded_fields
from moothall.objects import errors
from moothall.objects.errors import Refusal


class UrlEncoded(Struct, frozen=True, kw_only=True):
    """The base class of such bodies. Every field is a string, or None if it is absent or empty."""

    @classmethod
    def unreadable(cls, message: str) -> Refusal:
        """Make the refusal for a body of another type, that is not UTF-8, or in which a field is repeated."""
        return Refusal(errors.GENERAL_ERROR, message=message)


class UrlEncodedReader(BodyReader, frozen=True):
    """Decodes the body of one endpoint. Unknown fields are ignored."""

    content_type = URL_ENCODED

    def read(self, data: bytes, content_type: str) -> Any:
        """Decode the body into its struct. Raises `UrlEncoded.unreadable` for one that cannot be decoded."""
        if not data:
            return self.kind()
        if not is_url_encoded(content_type):
            raise self.kind.unreadable(f"The body must be {self.content_type}.")
        try:
            pairs = [(name, value.decode()) for name, value in url_encoded_fields(data)]
        except ValueError:
            raise self.kind.unreadable("The body cannot be read.") from None
        known = [(name, value) for name, value in pairs if name in self.kind.__struct_fields__ and value]
        values = dict(known)
        if len(values) != len(known):
            raise self.kind.unreadable("A parameter is there more than once.")
        return self.kind(**values)
