"""Encryption and authentication of messages that processes exchange over a server which others may use too.

A process derives a key of its own from the cluster's key and a random salt, and counts its messages, so that no nonce
is used twice with a key. The salt and the count begin each message.
"""

import secrets
from collections.abc import Callable, Sequence
from struct import Struct
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from moothall.objects.clock import CLOCK
from moothall.runtime.cache import Cache

MAX_AGE_MS: Final = 120_000
"""How far the time at which a message was sealed may be from the one at which the server stored it."""

_VERSION: Final = 1
_HEAD: Final = Struct("!B4s16sQQ")
"""Version, id of the cluster's key, salt of the sender, number of the message, milliseconds since 1970."""
HEAD_BYTES: Final = _HEAD.size
"""A sealed message begins with so many bytes that no other one begins with."""
_KEY_BYTES: Final = 32
_MAX_SENDERS: Final = 1_024


class Unauthentic(Exception):
    """A message is not from this cluster, was changed, or was received before."""


class UnknownKey(Unauthentic):
    """A message was sealed with a key that this process does not have."""


class _Sender:
    """A process whose messages have been opened."""

    __slots__ = ("cipher", "number")

    def __init__(self, cipher: AESGCM) -> None:
        self.cipher = cipher
        self.number = 0
        """The number of its last message."""


class Seal:
    """Seals messages with the first of `keys`, and opens those that were sealed with any of them.

    `clock` returns milliseconds since 1970.
    """

    def __init__(self, keys: Sequence[bytes], clock: Callable[[], int] = CLOCK.now_ms) -> None:
        self._clock = clock
        self._keys = {_derive(key, b"", b"moothall bus key id")[:4]: key for key in keys}
        self._key_id = next(iter(self._keys))
        self._salt = secrets.token_bytes(16)
        self._cipher = AESGCM(_derive(keys[0], self._salt, b"moothall bus"))
        self._number = 0
        self._senders: Cache[tuple[bytes, bytes], _Sender] = Cache(_MAX_SENDERS)

    def seal(self, message: bytes, context: bytes) -> bytes:
        """Encrypt a message, which is opened with the same `context` only. It is 53 bytes longer then."""
        self._number += 1
        head = _HEAD.pack(_VERSION, self._key_id, self._salt, self._number, self._clock())
        return head + self._cipher.encrypt(self._number.to_bytes(12, "big"), message, head + context)

    def open(self, sealed: bytes, context: bytes, stored_ms: int) -> bytes:
        """Decrypt a message that the server stored at a time.

        Raises UnknownKey or Unauthentic. A sender's messages are opened in their order, each once.
        """
        if len(sealed) < _HEAD.size or sealed[0] != _VERSION:
            raise Unauthentic("it is not sealed")
        head = sealed[: _HEAD.size]
        _, key_id, salt, number, sealed_ms = _HEAD.unpack(head)
        name = (key_id, salt)
        sender = self._senders.get(name)
        if sender is None:
            key = self._keys.get(key_id)
            if key is None:
                raise UnknownKey("it was sealed with another server key")
            sender = _Sender(AESGCM(_derive(key, salt, b"moothall bus")))
        try:
            message = sender.cipher.decrypt(number.to_bytes(12, "big"), sealed[_HEAD.size :], head + context)
        except InvalidTag:
            raise Unauthentic("it was changed or forged") from None
        if number <= sender.number:
            raise Unauthentic("it was received before")
        if abs(stored_ms - sealed_ms) > MAX_AGE_MS:
            raise Unauthentic("it is a copy of an old message, or the clocks of two machines differ by minutes")
        sender.number = number
        self._senders.keep(name, sender)
        return message


def _derive(key: bytes, salt: bytes, purpose: bytes) -> bytes:
    return HKDF(SHA256(), _KEY_BYTES, salt, purpose).derive(key)
