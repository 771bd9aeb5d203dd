"""How envelopes travel between processes: many in one message, a long one in several.

A message is a one-letter marker, the sixteen letters of its sender, and JSON: `[[numbers], [envelopes]]`.
A number is the id of the event's row in the outbox; envelopes without a number come after the numbered
ones. The marker says whether the message is a whole batch or the first, a middle or the last fragment of one.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Raw, Struct

from moothall.bus.envelope import Audience, Envelope
from moothall.objects.ids import Snowflake

_WHOLE, _FIRST, _MIDDLE, _LAST = b"=", b"<", b"-", b">"
_SENDER = 16
_HEAD = 1 + _SENDER
_NULL = Raw(b"null")

Batch = tuple[list[int], list[Envelope]]


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
    member_version: int = 0
    """Absent in envelopes of earlier versions."""


_fields_decoder = msgspec.json.Decoder(_Fields)
_batch_decoder = msgspec.json.Decoder(tuple[list[int], list[_Fields]])


def encode_envelope(envelope: Envelope) -> bytes:
    """Encode an envelope for the outbox and the stream."""
    return _encoder.encode(envelope)


def decode_envelope(data: bytes) -> Envelope:
    """Decode the result of `encode_envelope`. Raises msgspec.DecodeError."""
    return _envelope(_fields_decoder.decode(data))


def pack(sender: str, numbers: Sequence[int], envelopes: Sequence[bytes], *, max_bytes: int) -> Iterator[bytes]:
    """Yield messages of at most `max_bytes` that carry encoded envelopes, in order.

    The first `len(numbers)` of them have a number. `sender` is sixteen ASCII letters.
    """
    head = sender.encode()
    start = size = 0
    for position, envelope in enumerate(envelopes):
        needed = len(envelope) + 22  # the envelope, its number and the commas
        if size and size + needed > max_bytes:
            yield from _messages(head, numbers[start:position], envelopes[start:position], max_bytes)
            start, size = position, 0
        size += needed
    if start < len(envelopes):
        yield from _messages(head, numbers[start:], envelopes[start:], max_bytes)


def _messages(head: bytes, numbers: Sequence[int], envelopes: Sequence[bytes], max_bytes: int) -> Iterator[bytes]:
    body = b"[%b,[%b]]" % (_encoder.encode(list(numbers)), b",".join(envelopes))
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

    def unpack(self, message: bytes) -> Batch | None:
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


def _read(body: bytes) -> Batch:
    numbers, envelopes = _batch_decoder.decode(body)
    return numbers, [_envelope(fields) for fields in envelopes]


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
        fields.member_version,
    )


# These two are typed as Any because a NewType is a function call, and there may be a thousand ids.
def _optional_id(number: int | None) -> Any:
    # Rows that earlier versions left in the outbox have 0 where an id is absent.
    return Snowflake(number) if number else None


def _ids(numbers: list[int]) -> Any:
    return list(map(Snowflake, numbers)) if numbers else numbers
