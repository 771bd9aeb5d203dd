"""Secrets: tokens, the server key and what it encrypts, passwords.

Only the hash of a token is stored; a token that must be shown again (a webhook's) is encrypted with the server key. So
a copy of the database without the server key reveals no token.
"""

import base64
import binascii
import functools
import hashlib
import hmac
import os
import secrets
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import ClassVar, NamedTuple, Self, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from moothall.runtime.budgets import SERVER, Payer
from moothall.runtime.metered_slots import Meter
from moothall.runtime.work_pool import WorkPool

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
    """The 32 bytes by which a token is stored and looked up.

    SHA-256 without salt: a token has at least 128 random bits, so a slow hash would make it no safer.
    """
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def new_token(length: int) -> str:
    """Make a random text of exactly `length` characters of [A-Za-z0-9_-], six bits each."""
    return secrets.token_urlsafe(length * 3 // 4 + 1)[:length]


def new_account_token(user_id: int) -> str:
    """Make a token for a bot or a person: base64 of the user id, a dot, 6 and another dot, 38 random characters.

    Some client libraries decode the id in the first part (decisions.md, What client libraries rely on).
    """
    name = base64.urlsafe_b64encode(str(user_id).encode()).decode().rstrip("=")
    return f"{name}.{new_token(6)}.{new_token(38)}"


def new_password() -> str:
    """Make a pronounceable password: three words of three syllables, 56 random bits."""

    def syllable() -> str:
        return secrets.choice(_CONSONANTS) + secrets.choice(_VOWELS)

    return "-".join("".join(syllable() for _ in range(3)) for _ in range(3))


class ServerKeyError(Exception):
    """The server key is invalid. The message says why, and what to do."""


class ServerKey:
    """The key of this installation, 32 bytes, and the retired keys.

    The file has one key per line in base64, the current one first; secrets that older keys encrypted remain readable.
    Without the file, encrypted secrets are lost. A process takes new keys of its file while it runs, and forgets none.
    """

    def __init__(
        self, current: bytes, retired: Iterable[bytes] = (), *, path: Path | None = None, state: tuple[int, ...] = ()
    ) -> None:
        self._keys = (current, *retired)
        if any(len(key) != _KEY_BYTES for key in self._keys):
            raise ServerKeyError(f"a server key has {_KEY_BYTES} bytes")
        self._path = path
        self._state = state
        self._version = 0

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse keys in base64, one per line or separated by commas. Raises ServerKeyError."""
        keys = _parsed(text)
        return cls(keys[0], keys[1:])

    @classmethod
    def load_or_create(cls, path: Path) -> Self:
        """Load the keys from a file. A missing file is created with a new key, readable by its owner only.

        Processes that start at the same time get the same key. Raises ServerKeyError for a file that is damaged or
        readable by all users of the machine; OSError for one that cannot be read or created.
        """
        try:
            return cls._load(path)
        except FileNotFoundError:
            _write_new(path, base64.b64encode(secrets.token_bytes(_KEY_BYTES)) + b"\n")
            return cls._load(path)

    @classmethod
    def _load(cls, path: Path) -> Self:
        keys, state = _read(path)
        return cls(keys[0], keys[1:], path=path, state=state)

    def each(self) -> Iterator["ServerKey"]:
        """Every key by itself, the current one first."""
        return map(ServerKey, self._keys)

    def save_with_new(self, path: Path) -> "ServerKey":
        """Write a file with a new current key before these ones, and return that. Raises OSError."""
        return self._save(path, (secrets.token_bytes(_KEY_BYTES), *self._keys))

    def save_current(self, path: Path) -> "ServerKey":
        """Write a file with the current key alone, and return that. Raises OSError."""
        return self._save(path, self._keys[:1])

    def _save(self, path: Path, keys: tuple[bytes, ...]) -> "ServerKey":
        _replace(path, b"".join(base64.b64encode(key) + b"\n" for key in keys))
        return ServerKey(keys[0], keys[1:])

    def subkeys(self, purpose: str) -> tuple[bytes, ...]:
        """Derive the keys for one purpose by HMAC-SHA256, 32 bytes each, the current one first."""
        return tuple(hmac.digest(key, b"moothall " + purpose.encode(), "sha256") for key in self._keys)

    def box(self, purpose: str) -> "SecretBox":
        """The SecretBox with the subkeys of a purpose. It takes the keys that the file has later."""
        current, *retired = self.subkeys(purpose)
        version = self._version

        def changed() -> tuple[bytes, ...] | None:
            nonlocal version
            self._read_again()
            if version == self._version:
                return None
            version = self._version
            return self.subkeys(purpose)

        return SecretBox(current, retired, changed=changed)

    def _read_again(self) -> None:
        """Take the keys of a file that has changed, unless it is damaged or has none of the keys known so far."""
        if self._path is None:
            return
        try:
            state = _state_of(self._path.stat())
            if state == self._state:
                return
            self._state = state
            keys, _ = _read(self._path)
        except (OSError, ServerKeyError):
            return
        if not set(keys).isdisjoint(self._keys):
            self._keys = (*keys, *(key for key in self._keys if key not in keys))
            self._version += 1


def _parsed(text: str) -> list[bytes]:
    """Parse keys in base64; raises ServerKeyError."""
    try:
        keys = [base64.b64decode(part, validate=True) for part in text.replace(",", " ").split()]
    except binascii.Error:
        raise ServerKeyError("a server key is written in base64") from None
    if not keys:
        raise ServerKeyError("there is no key")
    if any(len(key) != _KEY_BYTES for key in keys):
        raise ServerKeyError(f"a server key has {_KEY_BYTES} bytes")
    return keys


def _read(path: Path) -> tuple[list[bytes], tuple[int, ...]]:
    """Read the keys of a file, and its state; raises ServerKeyError, OSError."""
    with path.open(encoding="ascii", errors="replace") as file:
        status = os.fstat(file.fileno())
        if status.st_mode & 0o007:
            raise ServerKeyError(f"{path}: all users of this machine may read it; run chmod 600")
        try:
            return _parsed(file.read()), _state_of(status)
        except ServerKeyError as error:
            raise ServerKeyError(f"{path}: {error}") from None


def _state_of(status: os.stat_result) -> tuple[int, ...]:
    """What differs once a file was written or replaced."""
    return status.st_ino, status.st_mtime_ns, status.st_size


def _replace(path: Path, content: bytes) -> None:
    """Replace a file atomically; owner, group and permissions stay. Raises OSError."""
    before = path.stat()
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            if (before.st_uid, before.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(file.fileno(), before.st_uid, before.st_gid)
            os.fchmod(file.fileno(), stat.S_IMODE(before.st_mode))
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
        _sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _write_new(path: Path, content: bytes) -> None:
    """Create a file that only its owner may read, atomically. An existing file is not changed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        # Unlike a rename, a link never replaces a file that another process has created meanwhile.
        os.link(temporary, path)
        _sync_folder(path.parent)
    except FileExistsError:
        pass
    finally:
        temporary.unlink(missing_ok=True)


class SecretUnreadable(Exception):
    """An encrypted secret is damaged, belongs to another row, or was encrypted with an unknown key."""


class SecretBox:
    """Encrypts small secrets with AES-256-GCM. The result has the id of the key and a random nonce.

    `about` is additional authenticated data, which binds a secret to its row (`b"webhook 123"`). `changed` returns the
    keys, the current one first, if they are others than at its last call.
    """

    def __init__(
        self,
        key: bytes,
        retired: Iterable[bytes] = (),
        *,
        changed: Callable[[], tuple[bytes, ...] | None] = lambda: None,
    ) -> None:
        self._changed = changed
        self._take((key, *retired))

    def _take(self, keys: tuple[bytes, ...]) -> None:
        self._current = _key_id(keys[0])
        self._ciphers = {_key_id(each): AESGCM(each) for each in keys}
        self._digest_keys = {_key_id(each): hmac.digest(each, b"moothall digest", "sha256") for each in keys}

    def _renew(self) -> None:
        if (keys := self._changed()) is not None:
            self._take(keys)

    @property
    def key_id(self) -> bytes:
        """The id of the current key, which is in what it encrypts."""
        return self._current

    def encrypt(self, secret: bytes, *, about: bytes = b"") -> bytes:
        """Encrypt a secret. The result is 33 bytes longer, and different at every call."""
        self._renew()
        nonce = os.urandom(_NONCE_BYTES)
        head = _VERSION + self._current
        return head + nonce + self._ciphers[self._current].encrypt(nonce, secret, head + about)

    def decrypt(self, sealed: bytes, *, about: bytes = b"") -> bytes:
        """Decrypt the result of `encrypt` with the same `about`. Raises SecretUnreadable."""
        head, rest = sealed[: 1 + _KEY_ID_BYTES], sealed[1 + _KEY_ID_BYTES :]
        cipher = self._ciphers.get(head[1:])
        if cipher is None:
            self._renew()
            cipher = self._ciphers.get(head[1:])
        if head[:1] != _VERSION or cipher is None:
            raise SecretUnreadable("it was encrypted with an unknown key")
        try:
            return cipher.decrypt(rest[:_NONCE_BYTES], rest[_NONCE_BYTES:], head + about)
        except (InvalidTag, ValueError):
            raise SecretUnreadable("it is damaged or belongs to another row") from None

    def digests(self, secret: str, *, about: bytes = b"") -> tuple[bytes, ...]:
        """Hash a secret that is too short for `hash_token`, with the current key and then each retired one.

        It is stored by the first hash, and may have been stored by another.
        """
        return tuple(self._digests(secret, about).values())

    def named_digests(self, secret: str, *, about: bytes = b"") -> tuple[str, ...]:
        """Return `digests` in hexadecimal, each after the id of its key.

        They are followed by those without an id, as earlier versions stored them.
        """
        made = self._digests(secret, about)
        named = (key_id.hex() + digest.hex() for key_id, digest in made.items())
        return (*named, *(digest.hex() for digest in made.values()))

    def _digests(self, secret: str, about: bytes) -> dict[bytes, bytes]:
        self._renew()
        message = about + b"\0" + secret.encode("utf-8", "surrogatepass")
        return {key_id: hmac.digest(key, message, "sha256") for key_id, key in self._digest_keys.items()}

    def stale(self, sealed: bytes) -> bool:
        """Whether a secret was encrypted with another key than the current one."""
        return key_id_of(sealed) != self._current


def key_id_of(sealed: bytes) -> bytes:
    """The id of the key that has encrypted a secret."""
    return sealed[1 : 1 + _KEY_ID_BYTES]


def _key_id(key: bytes) -> bytes:
    return hashlib.sha256(b"moothall key id" + key).digest()[:_KEY_ID_BYTES]


class PasswordCost(NamedTuple):
    """What computing a hash takes: passes over so much memory."""

    rounds: int
    memory_kib: int


class Passwords:
    """Hashes and verifies passwords with argon2id, in threads.

    `concurrency` of them run at once, each with 19 MiB and one core for some tens of milliseconds, which is charged to
    `meter`. `hash`, `verify` and `run` raise what it raises, and Overloaded with more than `max_waiting` running or
    queued, half of them (two at the least) of one payer.
    """

    # OWASP's minimum: the library's default takes 64 MiB and four cores, too much for a small server.
    cost: ClassVar[PasswordCost] = PasswordCost(rounds=2, memory_kib=19 * 1024)

    def __init__(self, meter: Meter | None = None, *, concurrency: int = 2, max_waiting: int = 256) -> None:
        self._pool = WorkPool(
            "password", meter, threads=concurrency, waiting_max=max_waiting, waiting_each=max(2, max_waiting // 2)
        )
        self._hasher = PasswordHasher(time_cost=self.cost.rounds, memory_cost=self.cost.memory_kib, parallelism=1)

    async def hash(self, password: str, payer: Payer = SERVER) -> str:
        """Hash a password with a random salt, for storing."""
        return await self.run(payer, functools.partial(self._hasher.hash, password))

    async def verify(self, stored: str | None, password: str, payer: Payer = SERVER) -> bool:
        """Whether a password matches a stored hash. Without one (None) the result is False, after the same time."""
        return await self.run(payer, functools.partial(self._verify, stored, password))

    async def run(self, payer: Payer, work: Callable[[], T]) -> T:
        """Run other work on the same threads and in the same queue, and return its result."""
        return await self._pool.run(payer, work)

    def outdated(self, stored: str) -> bool:
        """Whether a hash has other cost parameters, so that the password should be hashed again at the next login."""
        return self._hasher.check_needs_rehash(stored)

    def close(self) -> None:
        """Wait for running work and end the threads."""
        self._pool.close(wait=True)

    def _verify(self, stored: str | None, password: str) -> bool:
        no_password = self._no_password  # computed at the first call, also if `stored` is not None
        try:
            self._hasher.verify(stored or no_password, password)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    @functools.cached_property
    def _no_password(self) -> str:
        """The hash of a random password, which takes as long to verify as a stored one."""
        return self._hasher.hash(secrets.token_hex(16))
