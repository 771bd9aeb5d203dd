"""The wire format: one JSON encoder, one decoder for each type, and scalars with their own format.

A *wire scalar* is a class with `wire()`, which returns the form in responses, and a class method `from_wire`, which
reads the form in requests and raises ValueError with a message for the client. `FORM_CODE` may set the code of that
error. Any struct may use a wire scalar as the type of a field.
"""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache, lru_cache
from operator import methodcaller
from typing import Any, ClassVar, Final, Self

import msgspec

from moothall.objects.clock import CLOCK
from moothall.objects.form_codes import FormCode

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@lru_cache(maxsize=4096)
def _seconds_text(seconds: int) -> str:
    # Cached because formatting a date costs several times more than the rest, and many timestamps share a second.
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


class Timestamp(int):
    """A moment in milliseconds since the Unix epoch; ISO 8601 with microseconds and +00:00 on the wire."""

    __slots__ = ()

    FORM_CODE: ClassVar[str] = FormCode.DATE_TIME_TYPE_PARSE

    def wire(self) -> str:
        """The form in responses, for example 2026-01-31T12:00:00.250000+00:00."""
        seconds, ms = divmod(int(self), 1000)
        return f"{_seconds_text(seconds)}.{ms:03d}000+00:00"

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read an ISO 8601 moment; one without an offset is UTC. Raises ValueError."""
        if not isinstance(value, str):
            raise ValueError("Could not parse a timestamp. Should be ISO8601.")
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            raise ValueError(f"Could not parse {value[:40]}. Should be ISO8601.") from None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        try:
            return cls((moment - _EPOCH) // timedelta(milliseconds=1))
        except OverflowError:
            raise ValueError(f"Could not parse {value[:40]}. Should be ISO8601.") from None

    @classmethod
    def now(cls) -> Self:
        """The current time."""
        return cls(CLOCK.now_ms())


_to_wire: Final = methodcaller("wire")


def _from_wire(kind: type[Any], value: Any) -> Any:
    return kind.from_wire(value)


_ENCODER = msgspec.json.Encoder(enc_hook=_to_wire)

encode: Callable[[object], bytes] = _ENCODER.encode
"""Encode an API object as compact JSON."""


@cache
def decoder(kind: object) -> msgspec.json.Decoder[Any]:
    """The cached JSON decoder of a type. It raises msgspec.ValidationError or msgspec.DecodeError."""
    return msgspec.json.Decoder(kind, dec_hook=_from_wire)


def contains(data: bytes, part: bytes) -> bool:
    """Whether bytes contain others: `part in data`, which takes twice the time and 70 us instead of 35 for 64 kB."""
    return data.rfind(part) >= 0


def convert(value: object, kind: object, *, strict: bool = True) -> Any:
    """Convert parsed JSON to a typed object.

    Without `strict`, strings are accepted for numbers. Raises msgspec.ValidationError.
    """
    return msgspec.convert(value, kind, strict=strict, dec_hook=_from_wire)


def to_plain(value: object) -> Any:
    """Convert an API object to what parsing its JSON would yield."""
    return msgspec.to_builtins(value, enc_hook=_to_wire)
