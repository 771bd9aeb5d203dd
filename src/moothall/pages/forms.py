"""HTML forms: their fields by name, and the values that pages read from fields and paths."""

import re
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import FormData

from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake

_MAX_DIGITS: Final = 19
_ID_LIMIT: Final = 1 << 63
_NOT_IN_PATHS: Final = re.compile(r"[\x00-\x20\x7f\\]")


class Form:
    """The fields of a form that was sent, and the content of its files by field name."""

    def __init__(self, fields: FormData, files: Mapping[str, bytes]) -> None:
        self._fields = fields
        self.files = files

    def text(self, name: str) -> str:
        """A field's last value; "" if the form does not have it."""
        return (self.texts(name) or [""])[-1]

    def texts(self, name: str) -> list[str]:
        """Every value of a field, in order. NUL, which PostgreSQL cannot store, is removed."""
        return [value.replace("\0", "") for value in self._fields.getlist(name) if isinstance(value, str)]

    def has(self, name: str) -> bool:
        """Whether the form has a field: of a checkbox, whether it is ticked."""
        return bool(self.texts(name))

    def lines(self, name: str) -> list[str]:
        """The lines of a field's value, stripped, without blank ones."""
        return [line.strip() for line in self.text(name).splitlines() if line.strip()]

    def integer(self, name: str) -> int | None:
        """A field's value as `parse_integer` reads it."""
        return parse_integer(self.text(name))


def parse_integer(text: str) -> int | None:
    """A number of ASCII digits below 2^63; None for anything else."""
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else _ID_LIMIT
    return number if number < _ID_LIMIT else None


def parse_id(text: str) -> Snowflake:
    """An id in a path. Raises Refusal 404 for a number that no id can be."""
    number = parse_integer(text)
    if number is None:
        raise Refusal(errors.NOT_FOUND)
    return Snowflake(number)


def local_path(text: str | None, default: str = "/") -> str:
    r"""`text` if it is a path of this server, else `default`: the target of a redirect.

    Refused is everything that a browser might resolve to another site: `//host`, `/\host`, control characters.
    """
    if not text or not text.startswith("/") or text.startswith("//") or _NOT_IN_PATHS.search(text):
        return default
    return text
