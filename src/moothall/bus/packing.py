"""How envelopes travel between processes: many in one message, a long one in several.

A message is a one-letter marker, the sixteen letters of its sender, and JSON: `[[numbers], [envelopes], position]`.
A number is the id of the event's row in the outbox; envelopes without a number come after the numbered ones. The
position is that of the message in the batches of the outbox; null if it is of none. The marker says whether the message
is a whole body or the first, a middle or the last fragment of one.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import Raw, Struct

from moothall.bus.batches import BatchNumbers, BatchPosition
from moothall.bus.envelope import Audience, Envelope
from moothall.objects.ids import Snowflake

_WHOLE, _FIRST, _MIDDLE, _LAST = b"=", b"<", b"-", b">"
_SENDER = 16
_HEAD = 1 + _SENDER
_POSITION_BYTES = 60
"""Maximum length of a position: two numbers of 19 digits, an index and a flag."""
_NULL = Raw(b"null")

# Between processes an id is a JSON number: shorter than the string of the API, and faster to read.
_encoder = msgspec.json.Encoder(enc_hook=int)


class _Fields(Struct, array_like=True):
    """An envelope's fields in their order. `stripped` is no optional here: an optional Raw reads only null."""

    name: str
    data: Raw
    audience: Audience
    guild_id: int | None
    channel_id: int | None
    thread_id: int | None
    user_ids: list[int]
    intent: int
    permission: int
    stripped: Raw
    exempt: list[int]
    state_version: int = 0
    """Absent in envelopes of earlier versions."""


class _Body(Struct, array_like=True):
    numbers: list[int]
    envelopes: list[_Fields]
    position: BatchPosition | None = None


class Unpacked(Struct, frozen=True):
    """What a message carried."""

    numbers: list[int]
    """Those of the first envelopes in the outbox."""
    envelopes: list[Envelope]
    position: BatchPosition | None
    """Where it stands in the batches of the outbox; None for what no transaction stored."""


_fields_decoder = msgspec.json.Decoder(_Fields)
_body_decoder = msgspec.json.Decoder(_Body)


def encode_envelope(envelope: Envelope) -> bytes:
    """Encode an envelope for the outbox and the stream."""
    return _encoder.encode(envelope)


def decode_envelope(data: bytes) -> Envelope:
    """Decode the result of `encode_envelope`. Raises msgspec.DecodeError."""
    return _envelope(_fields_decoder.decode(data))


def pack(
    sender: str,
    numbers: Sequence[int],
    envelopes: Sequence[bytes],
    *,
    max_bytes: int,
    batch: BatchNumbers | None = None,
) -> Iterator[bytes]:
    """Yield messages of at most `max_bytes` that carry encoded envelopes, in order.

    The first `len(numbers)` of them have a number. `sender` is sixteen ASCII letters; `batch` are the numbers of the
    batch of the outbox that the envelopes are.
    """
    head = sender.encode()
    starts = _starts(envelopes, max_bytes)
    for index, (start, end) in enumerate(pairwise([*starts, len(envelopes)])):
        position = None
        if batch is not None:
            position = BatchPosition(batch.previous, batch.number, index, is_last=index + 1 == len(starts))
        events = b",".join(envelopes[start:end])
        body = b"[%b,[%b],%b]" % (_encoder.encode(list(numbers[start:end])), events, _encoder.encode(position))
        yield from _messages(head, body, max_bytes)


def _starts(envelopes: Sequence[bytes], max_bytes: int) -> list[int]:
    """The indexes of the envelopes that begin a message."""
    starts: list[int] = []
    size = 0
    for index, envelope in enumerate(envelopes):
        needed = len(envelope) + 22  # the envelope, its number and the commas
        if not starts or size + needed > max_bytes - _POSITION_BYTES:
            starts.append(index)
            size = 0
        size += needed
    return starts


def _messages(head: bytes, body: bytes, max_bytes: int) -> Iterator[bytes]:
    max_body = max_bytes - _HEAD
    if len(body) <= max_body:
        yield _WHOLE + head + body
        return
    fragments = [body[start : start + max_body] for start in range(0, len(body), max_body)]
    yield _FIRST + head + fragments[0]
    for fragment in fragments[1:-1]:
        yield _MIDDLE + head + fragment
    yield _LAST + head + fragments[-1]


class Unpacker:
    """Reassembles batches from messages; fragments of several senders may be interleaved."""

    def __init__(self) -> None:
        self._fragments: dict[bytes, list[bytes]] = {}

    def unpack(self, message: bytes) -> Unpacked | None:
        """The batch that a message completes; None if more fragments are to come.

        A batch whose last fragment is missing is dropped when its sender starts another. Raises
        msgspec.DecodeError for an invalid message.
        """
        marker, sender, body = message[:1], message[1:_HEAD], message[_HEAD:]
        if marker == _WHOLE:
            self._fragments.pop(sender, None)
            return _read(body)
        if marker == _FIRST:
            self._fragments[sender] = [body]
            return None
        fragments = self._fragments.get(sender)
        if fragments is None:
            # The first fragment was published before this process subscribed.
            return None
        fragments.append(body)
        if marker == _MIDDLE:
            return None
        del self._fragments[sender]
        return _read(b"".join(fragments))


def _read(body: bytes) -> Unpacked:
    read = _body_decoder.decode(body)
    return Unpacked(read.numbers, [_envelope(fields) for fields in read.envelopes], read.position)


def _envelope(fields: _Fields) -> Envelope:
    return Envelope(
        fields.name,
        fields.data,
        fields.audience,
        _optional_id(fields.guild_id),
        _optional_id(fields.channel_id),
        _optional_id(fields.thread_id),
        _ids(fields.user_ids),
        fields.intent,
        fields.permission,
        None if fields.stripped == _NULL else fields.stripped,
        _ids(fields.exempt),
        fields.state_version,
    )


# These two are typed as Any because a NewType is a function call, and there may be a thousand ids.
def _optional_id(number: int | None) -> Any:
    # Rows that earlier versions left in the outbox have 0 where an id is absent.
    return Snowflake(number) if number else None


def _ids(numbers: list[int]) -> Any:
    return list(map(Snowflake, numbers)) if numbers else numbers
