"""A streaming parser of forms with files (multipart/form-data, RFC 7578). It does not buffer files."""

import logging
from collections.abc import AsyncIterable, AsyncIterator
from typing import Final

from msgspec import Struct
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from moothall.objects.clock import cpu_stopwatch
from moothall.runtime.budgets import Cost
from moothall.runtime.turns import TURN_SECONDS, yield_turn

# Clients get an error response for a malformed form; the library would log each one as well.
logging.getLogger("python_multipart").setLevel(logging.CRITICAL)

MULTIPART: Final = "multipart/form-data"
HEADERS_PER_PART: Final = 8
HEADER_BYTES: Final = 4096
_NAME_MAX: Final = 256
_PLAIN_ENCODINGS: Final = frozenset({b"", b"7bit", b"8bit", b"binary"})
_BOUNDARY_MAX: Final = 70
PARSED_AT_ONCE: Final = 16 * 1024
"""Bytes of a form that are parsed without a break for others."""


class MalformedForm(ValueError):
    """The data is not a valid form. The message is for the client."""


class PartHead(Struct, frozen=True):
    """The beginning of a part of a form."""

    name: str
    filename: str | None
    """As sent by the client, not validated; None for a part that is not a file."""


class PartEnd(Struct, frozen=True):
    """The end of a part."""


PartEvent = PartHead | PartEnd | bytes
"""The events of a form, for each part: a head, any number of chunks of bytes, and an end."""


def is_form(content_type: str) -> bool:
    """Whether a Content-Type is multipart/form-data."""
    return content_type[: len(MULTIPART)].lower() == MULTIPART


async def read_parts(
    chunks: AsyncIterable[bytes], content_type: str, cost: Cost | None = None
) -> AsyncIterator[PartEvent]:
    """Yield the events of a form. Data after its last boundary is not read. The CPU time is charged to `cost`.

    Raises MalformedForm for data that is not a form or is truncated, and anything that `chunks` and `cost` raise.
    """
    parser = _EventParser(_boundary_of(content_type))
    try:
        async for chunk in chunks:
            # Data that looks like a boundary again and again takes a hundred times as long as other data.
            for start in range(0, len(chunk), PARSED_AT_ONCE):
                started = cpu_stopwatch()
                events = parser.feed(chunk[start : start + PARSED_AT_ONCE] if len(chunk) > PARSED_AT_ONCE else chunk)
                seconds = cpu_stopwatch() - started
                if cost is not None:
                    cost.charge_cpu(seconds)
                for event in events:
                    yield event
                if parser.is_complete:
                    return
                if seconds > TURN_SECONDS:
                    await yield_turn()
        raise MalformedForm("The form ends before its last boundary.")
    finally:
        parser.close()


def _boundary_of(content_type: str) -> bytes:
    boundary = parse_options_header(content_type)[1].get(b"boundary", b"")
    if not boundary or len(boundary) > _BOUNDARY_MAX:
        raise MalformedForm(f"The Content-Type must name a boundary of 1 to {_BOUNDARY_MAX} characters.")
    return boundary


class _EventParser:
    """Parses the bytes of one form into events."""

    def __init__(self, boundary: bytes) -> None:
        self.is_complete = False
        self._events: list[PartEvent] = []
        self._headers: dict[bytes, bytes] = {}
        self._name = b""
        self._value = b""
        self._parser = MultipartParser(
            boundary,
            {
                "on_part_begin": self._headers.clear,
                "on_part_data": self._data,
                "on_part_end": self._part_ends,
                "on_header_field": self._header_field,
                "on_header_value": self._header_value,
                "on_header_end": self._header_ends,
                "on_headers_finished": self._part_begins,
                "on_end": self._end,
            },
            max_header_count=HEADERS_PER_PART,
            max_header_size=HEADER_BYTES,
        )

    def feed(self, chunk: bytes) -> list[PartEvent]:
        """Parse a further chunk and return its events. Raises MalformedForm."""
        self._events = []
        try:
            self._parser.write(chunk)
        except FormParserError as problem:
            raise MalformedForm(f"This is not a form: {problem}.") from None
        return self._events

    def close(self) -> None:
        """Drop the library's parser, which refers to this object: both would stay until garbage is collected."""
        del self._parser

    def _data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(data if start == 0 and end == len(data) else data[start:end])

    def _part_ends(self) -> None:
        self._events.append(PartEnd())

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._name += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_ends(self) -> None:
        name = self._name.lower()
        if name in self._headers:
            raise MalformedForm("A part has the same header twice.")
        self._headers[name] = self._value
        self._name = self._value = b""

    def _part_begins(self) -> None:
        kind, options = parse_options_header(self._headers.get(b"content-disposition"))
        if kind != b"form-data" or not 0 < len(options.get(b"name", b"")) <= _NAME_MAX:
            raise MalformedForm("Each part needs a Content-Disposition of form-data with a name.")
        if self._headers.get(b"content-transfer-encoding", b"").strip().lower() not in _PLAIN_ENCODINGS:
            raise MalformedForm("Parts must not be encoded for transfer.")
        filename = options.get(b"filename")
        self._events.append(PartHead(_text(options[b"name"]), None if filename is None else _text(filename)))

    def _end(self) -> None:
        self.is_complete = True


def _text(value: bytes) -> str:
    # The library does not decode: clients send UTF-8, and browsers send %22 for quotes.
    return value.decode("utf-8", "replace").replace("%22", '"').replace("%0D", "\r").replace("%0A", "\n")
