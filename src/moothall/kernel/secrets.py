"""Secrets: tokens, the server key and what it encrypts, passwords.

A token is kept as its hash only; one that must be shown again (a webhook's) is encrypted with the server key. Neither
helps whoever reads the database alone.
"""

import asyncio
import base64
import binascii
import functools
import hashlib
import hmac
import os
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

WEBHOOK_TOKEN_LENGTH = 68
"""Client libraries recognise a webhook URL by it (decisions.md, What client libraries rely on)."""

T = TypeVar("T")

_CONSONANTS = "bdfghjklmnprstvz"
_VOWELS = "aeiou"
_KEY_BYTES = 32
_NONCE_BYTES = 12
_VERSION = b"\x01"
_KEY_ID_BYTES = 4


def hash_token(token: str) -> bytes:
    """The 32 bytes under which a token is stored and looked up.

    SHA-256 without salt: a token has at least 128 random bits, so nothing is gained by slowing a search for it.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_token(length: int) -> str:
    """Random text of exactly `length` characters of [A-Za-z0-9_-], six bits each."""
    return secrets.token_urlsafe(length * 3 // 4 + 1)[:length]


def new_account_token(user_id: int) -> str:
    """A token for a bot or a person: base64 of the user id, a dot, six characters, a dot, 38 random characters.

    Some client libraries read the id out of the first part (decisions.md, What client libraries rely on).
    """
    name = base64.urlsafe_b64encode(str(user_id).encode()).decode().rstrip("=")
    return f"{name}.{new_token(6)}.{new_token(38)}"


def new_password() -> str:
    """A password that can be read out and typed: three words of three syllables, 56 random bits."""

    def syllable() -> str:
        return secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS)

    return "-".join("".join(syllable() for _ in range(3)) for _ in range(3))


class ServerKeyError(Exception):
    """The server key cannot be used; the message says why and what to do."""


class ServerKey:
    """The key of this installation, 32 bytes, with those that were in use before it.

    The file holds base64, one key a line, the current one first. To change the key, put a new line on top: what the
    old keys encrypted stays readable. Losing the file loses what it encrypted.
    """

    def __init__(self, current: bytes, retired: Iterable[bytes] = ()) -> None:
        self._keys = (current, *retired)
        if any(len(key) != _KEY_BYTES for key in self._keys):
            raise ServerKeyError(f"a server key has {_KEY_BYTES} bytes")

    @classmethod
    def parse(cls, text: str) -> Self:
        """Keys in base64, one a line or separated by commas. Raises ServerKeyError."""
        try:
            keys = [base64.b64decode(part, validate=True) for part in text.replace(",", " ").split()]
        except binascii.Error:
            raise ServerKeyError("a server key is written in base64") from None
        if not keys:
            raise ServerKeyError("there is no key in it")
        return cls(keys[0], keys[1:])

    @classmethod
    def load_or_create(cls, path: Path) -> Self:
        """The key in a file; a new one, readable by its owner only, if there is no such file.

        Processes that start at once end up with the same key. Raises ServerKeyError for a file that is damaged or that
        everybody on the machine may read; OSError for one that cannot be read or made.
        """
        try:
            return cls._load(path)
        except FileNotFoundError:
            _write_new(path, base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            return cls._load(path)

    @classmethod
    def _load(cls, path: Path) -> Self:
        with path.open(encoding="ascii", errors="replace") as file:
            if os.fstat(file.fileno()).st_mode & 0o007:
                raise ServerKeyError(f"{path}: everybody on this machine may read it; chmod 600 it")
            try:
                return cls.parse(file.read())
            except ServerKeyError as error:
                raise ServerKeyError(f"{path}: {error}") from None

    def subkeys(self, purpose: str) -> tuple[bytes, ...]:
        """Keys for one purpose, 32 bytes each, current first; they tell nothing about each other or the server key."""
        return tuple(hmac.digest(key, b"moothall " + purpose.encode(), "sha256") for key in self._keys)

    def box(self, purpose: str) -> "SecretBox":
        """A box that only `purpose` opens."""
        current, *retired = self.subkeys(purpose)
        return SecretBox(current, retired)


def _write_new(path: Path, content: bytes) -> None:
    """Write a file for its owner's eyes, whole or not at all; one that is there by then is left as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, a link never replaces the key that another process made meanwhile.
        os.link(draft, path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)


class SecretUnreadable(Exception):
    """What was to be decrypted is damaged, was moved from elsewhere, or was encrypted with a key that is gone."""


class SecretBox:
    """Encrypts small secrets: AES-256-GCM with a random nonce, and the id of the key that was used.

    `about` ties a secret to its place (`b"webhook 123"`): moved to another row, it cannot be read.
    """

    def __init__(self, key: bytes, retired: Iterable[bytes] = ()) -> None:
        self._current = _key_id(key)
        self._ciphers = {_key_id(each): AESGCM(each) for each in (key, *retired)}

    def encrypt(self, secret: bytes, *, about: bytes = b"") -> bytes:
        """The secret, unreadable; other bytes at every call, 33 longer than the secret."""
        nonce = os.urandom(_NONCE_BYTES)
        head = _VERSION + self._current
        return head + nonce + self._ciphers[self._current].encrypt(nonce, secret, head + about)

    def decrypt(self, sealed: bytes, *, about: bytes = b"") -> bytes:
        """What was given to `encrypt` with the same `about`. Raises SecretUnreadable."""
        head, rest = sealed[: 1 + _KEY_ID_BYTES], sealed[1 + _KEY_ID_BYTES :]
        cipher = self._ciphers.get(head[1:])
        if head[:1] != _VERSION or cipher is None:
            raise SecretUnreadable("it was encrypted with a key that is not here")
        try:
            return cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], head + about)
        except (InvalidTag, ValueError):
            raise SecretUnreadable("it is damaged or stands in the wrong place") from None

    def stale(self, sealed: bytes) -> bool:
        """Whether a secret was encrypted with a retired key and should be encrypted anew."""
        return sealed[1 : 1 + _KEY_ID_BYTES] != self._current


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"moothall key id" + key).digest()[:_KEY_ID_BYTES]


class TooManyPasswords(Exception):
    """So many passwords wait to be hashed that another one would wait for seconds."""


class Passwords:
    """Hashes and checks passwords with argon2id, off the event loop.

    At most `concurrency` run at once, each taking 19 MiB and one core for some tens of milliseconds;
    others wait their turn, `max_waiting` of them. Beyond that `hash`, `verify` and `run` raise TooManyPasswords.
    """

    def __init__(self, *, concurrency: int = 2, max_waiting: int = 256) -> None:
        self._waiting = 0
        self._max_waiting = max_waiting
        self._threads = ThreadPoolExecutor(concurrency, thread_name_prefix="password")
        # One lane and 19 MiB: a login must not cost a small server 64 MiB and four cores.
        self._hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)

    async def hash(self, password: str) -> str:
        """The text to store; another one at every call."""
        return await self.run(functools.partial(self._hasher.hash, password))

    async def verify(self, stored: str | None, password: str) -> bool:
        """Whether the password is the stored one; of an account that is not there (None) false, in the same time."""
        return await self.run(functools.partial(self._verify, stored, password))

    async def run(self, work: Callable[[], T]) -> T:
        """Do other work about a password on the same threads, in turn with the rest; what it returns."""
        if self._waiting >= self._max_waiting:
            raise TooManyPasswords
        self._waiting += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._waiting -= 1

    def outdated(self, stored: str) -> bool:
        """Whether a stored hash was made with other costs and should be made anew at the next login."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Wait for what is running and end the threads."""
        self._threads.shutdown()

    def _verify(self, stored: str | None, password: str) -> bool:
        decoy = self._decoy  # made by the first check, whichever way it goes
        try:
            self._hasher.verify(stored or decoy, password)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    @functools.cached_property
    def _decoy(self) -> str:
        return self._hasher.hash(secrets.token_hex(16))
