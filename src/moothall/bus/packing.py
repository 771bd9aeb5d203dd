"""How envelopes travel between processes: many in a message, a big one in several.

A message is one letter, the sixteen letters of its sender, and JSON: `[[numbers], [envelopes]]`.
A number is that of the event's row in the outbox; envelopes without one come after the numbered.
The letter tells a whole batch from the first, a middle and the last part of one.
"""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Raw

from moothall.bus.envelope import Audience, Envelope

_WHOLE, _FIRST, _MIDDLE, _LAST = b"=", b"<", b"-", b">"
_SENDER = 16
_HEAD = 1 + _SENDER
_NULL = Raw(b"null")

Batch = tuple[list[int], list[Envelope]]

_encoder = msgspec.json.Encoder(enc_hook=int)  # ids are a kind of int, and numbers in an envelope

# An envelope's fields in their order, but for `stripped`: an optional Raw reads nothing but null.
_Fields = tuple[str, Raw, Audience, int, int, int, list[int], int, int, Raw, list[int]]
_STRIPPED = Envelope.__struct_fields__.index("stripped")
_fields_decoder = msgspec.json.Decoder(_Fields)
_batch_decoder = msgspec.json.Decoder(tuple[list[int], list[_Fields]])


def encode_envelope(envelope: Envelope) -> bytes:
    """The form in which an envelope lies in the outbox and travels."""
    return _encoder.encode(envelope)


def decode_envelope(data: bytes) -> Envelope:
    """The envelope of that form. Raises msgspec.DecodeError."""
    return _envelope(_fields_decoder.decode(data))


def pack(sender: str, numbers: Sequence[int], envelopes: Sequence[bytes], *, max_bytes: int) -> Iterator[bytes]:
    """Messages of at most `max_bytes` that carry encoded envelopes, in order.

    The first `len(numbers)` of them have a number. `sender` is sixteen ASCII letters.
    """
    head = sender.encode()
    start = size = 0
    for position, envelope in enumerate(envelopes):
        room = len(envelope) + 22  # the envelope, its number and the commas
        if size and size + room > max_bytes:
            yield from _message(head, numbers[start:position], envelopes[start:position], max_bytes)
            start, size = position, 0
        size += room
    if start < len(envelopes):
        yield from _message(head, numbers[start:], envelopes[start:], max_bytes)


def _message(head: bytes, numbers: Sequence[int], envelopes: Sequence[bytes], max_bytes: int) -> Iterator[bytes]:
    body = b"[%b,[%b]]" % (_encoder.encode(list(numbers)), b",".join(envelopes))
    room = max_bytes - _HEAD
    if len(body) <= room:
        yield _WHOLE + head + body
        return
    parts = [body[at : at + room] for at in range(0, len(body), room)]
    yield _FIRST + head + parts[0]
    for part in parts[1:-1]:
        yield _MIDDLE + head + part
    yield _LAST + head + parts[-1]


class Unpacker:
    """Puts messages together again, those of several senders among each other."""

    def __init__(self) -> None:
        self._parts: dict[bytes, list[bytes]] = {}

    def unpack(self, message: bytes) -> Batch | None:
        """The batch that a message completes; None if it is a part and more are to come.

        A batch whose end never came is dropped when its sender begins anew. Raises msgspec.DecodeError
        for what is none of ours.
        """
        kind, sender, body = message[:1], message[1:_HEAD], message[_HEAD:]
        if kind == _WHOLE:
            self._parts.pop(sender, None)
            return _read(body)
        if kind == _FIRST:
            self._parts[sender] = [body]
            return None
        parts = self._parts.get(sender)
        if parts is None:
            # Its beginning was published before this process listened.
            return None
        parts.append(body)
        if kind == _MIDDLE:
            return None
        del self._parts[sender]
        return _read(b"".join(parts))


def _read(body: bytes) -> Batch:
    numbers, envelopes = _batch_decoder.decode(body)
    return numbers, [_envelope(fields) for fields in envelopes]


def _envelope(fields: _Fields) -> Envelope:
    envelope = Envelope(*fields)
    if fields[_STRIPPED] == _NULL:
        envelope.stripped = None
    return envelope
