"""Bodies of senders that cannot choose: JSON, or the same JSON as the one field of an URL encoded form."""

from typing import Any, ClassVar
from urllib.parse import parse_qsl

import msgspec
from msgspec import Struct

from moothall.kernel.body import BodyReader
from moothall.objects import errors
from moothall.objects.errors import Refusal

FORM = "application/x-www-form-urlencoded"
_MAX_FIELDS = 64


class FormOrJson(Struct, frozen=True, kw_only=True):
    """The base of such bodies. A form without `payload` may name the body's fields that are texts."""

    payload_field: ClassVar[str] = "payload"


class FormOrJsonReader(BodyReader, frozen=True):
    """Reads the body of one row."""

    def read(self, data: bytes, content_type: str) -> Any:
        """The body as a typed object; refused as `BodyReader.read` does."""
        if data and content_type.partition(";")[0].strip().lower() == FORM:
            data, content_type = self._unwrap(data), "application/json"
        return super().read(data, content_type)

    def _unwrap(self, data: bytes) -> bytes:
        try:
            # Without the bound on their number, a body of nothing but separators would take seconds.
            pairs = parse_qsl(data.decode(), keep_blank_values=True, max_num_fields=_MAX_FIELDS, errors="strict")
        except ValueError:
            raise Refusal(errors.INVALID_JSON) from None
        fields = dict(pairs)
        payload = fields.get(self.kind.payload_field)
        if payload is not None:
            return payload.encode()
        return msgspec.json.encode({name: text for name, text in fields.items() if name in self.kind.__struct_fields__})
