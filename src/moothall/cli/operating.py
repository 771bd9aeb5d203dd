"""Operators' commands: an operation of the platform's own, on the database of a server that may be running."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from moothall.app import NoPresences
from moothall.bus.local import LocalBus
from moothall.cli.database import open_database
from moothall.cli.options import fail
from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context, Limits, Services
from moothall.kernel.file_ids import FileIds
from moothall.kernel.file_links import FileLinks
from moothall.kernel.guild_state import GuildStates
from moothall.kernel.outbox import until_relayed
from moothall.kernel.secrets import SecretBox, SecretUnreadable, ServerKey, ServerKeyError
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.settings import Settings
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, Reader, StorageError

T = TypeVar("T")

_PATIENCE = 0.3
"""Seconds for a running server to take what a command announces; without one, it waits for the next start."""

WORKER = 31
"""The `worker_id` of commands: a server that keeps to others never makes an id that a command made."""


class NoBox(SecretBox):
    """The box of a command that was given no server key: it opens nothing and encrypts nothing."""

    def __init__(self) -> None:
        super().__init__(bytes(32))

    def encrypt(self, secret: bytes, *, about: bytes = b"") -> bytes:
        """Refuse. Raises SecretUnreadable."""
        del secret, about
        raise SecretUnreadable("the server key is not here; name its folder with --data")

    def decrypt(self, sealed: bytes, *, about: bytes = b"") -> bytes:
        """Refuse. Raises SecretUnreadable."""
        return self.encrypt(sealed, about=about)


def operate(settings: Settings, work: Callable[[Context], Awaitable[T]], *, lock: Snowflake | None = None) -> T:
    """Do `work` in one transaction as the platform itself; a running server announces what it emits.

    `lock` is the guild that it changes. Ends the program with exit code 1 and the reason if the operation, the
    database or the server key refuses.
    """

    async def perform(database: Database) -> T:
        result = await unit_of_work.run(_services(settings, database), ANONYMOUS, work, lock=lock, outbox=True)
        # When this command is over, a running server has seen and told what it did.
        await until_relayed(database, seconds=_PATIENCE)
        return result

    return _on_database(settings, perform)


def consult(settings: Settings, question: Callable[[Reader, SecretBox], Awaitable[T]]) -> T:
    """Ask the database something, with the box that opens its secrets. Ends the program as `operate` does."""

    async def perform(database: Database) -> T:
        async with database.read() as reader:
            return await question(reader, _box(settings))

    return _on_database(settings, perform)


def _on_database(settings: Settings, perform: Callable[[Database], Awaitable[T]]) -> T:
    path = settings.database_path
    if path is not None and not path.exists():
        fail(f"there is no database at {path}: start the server first, or name its folder with --data")

    async def run() -> T:
        async with open_database(settings) as database:
            return await perform(database)

    try:
        return asyncio.run(run())
    except Refusal as refusal:
        fail(_told(refusal))
    except (StorageError, SecretUnreadable, ServerKeyError, OSError) as error:
        fail(str(error))


def _services(settings: Settings, database: Database) -> Services:
    # Two commands within a millisecond are kept apart by their process.
    ids = SnowflakeFactory(worker=WORKER, process=os.getpid() % 32)
    return Services(
        database=database,
        bus=LocalBus(),
        ids=ids,
        file_ids=FileIds(ids, bytes(32)),
        states=GuildStates(),
        box=_box(settings),
        blobs=Blobs.open("memory:"),
        links=FileLinks((bytes(32),), settings.public_url or ""),
        presences=NoPresences(),
        limiter=None,
        limits=Limits(
            public_url=settings.public_url or "",
            reserved_words=settings.reserved_words,
            allow_private_addresses=False,
            registration=True,
            password_min_score=settings.password_min_score,
            session_unused_days=settings.session_unused_days,
        ),
        extra={},
    )


def _box(settings: Settings) -> SecretBox:
    if settings.secret_key is not None:
        key = ServerKey.parse(settings.secret_key)
    elif settings.key_path.exists():
        key = ServerKey.load_or_create(settings.key_path)
    else:
        return NoBox()
    return key.box("stored secrets")


def _told(refusal: Refusal) -> str:
    """A refusal in one line, with what is wrong with each field."""

    def leaves(node: dict[str, object], path: tuple[str, ...]) -> list[str]:
        found: list[str] = []
        for key, value in node.items():
            if key == "_errors" and isinstance(value, list):
                found.extend(f"{'.'.join(path)}: {error['message']}" for error in value)
            elif isinstance(value, dict):
                found.extend(leaves(value, (*path, key)))
        return found

    return "; ".join(leaves(refusal.errors or {}, ())) or refusal.message
