"""Checks answers against an OpenAPI document in microseconds. It does not say what is wrong: jsonschema does."""

from functools import cache
from typing import Any
from urllib.parse import quote

import jsonschema_rs
import msgspec

_URI = "urn:document"


class QuickValidators:
    """The schemas of an OpenAPI document."""

    def __init__(self, document: dict[str, Any]) -> None:
        # By way of JSON: a document's keys may be statuses as numbers.
        plain = msgspec.json.decode(msgspec.json.encode(document))
        self._registry = jsonschema_rs.Registry([(_URI, plain)], draft=jsonschema_rs.Draft202012)
        self._validator = cache(self._compile)

    def _compile(self, pointer: str) -> jsonschema_rs.Draft202012Validator:
        return jsonschema_rs.Draft202012Validator(
            {"$ref": f"{_URI}#{quote(pointer, safe='/~@')}"}, registry=self._registry
        )

    def is_valid(self, pointer: str, body: bytes) -> bool:
        """Whether a body is JSON that the schema at a JSON pointer allows."""
        try:
            answer = msgspec.json.decode(body)
        except msgspec.DecodeError:
            return False
        return self.allows(pointer, answer)

    def allows(self, pointer: str, value: Any) -> bool:
        """Whether the schema at a JSON pointer allows a value."""
        return self._validator(pointer).is_valid(value)
