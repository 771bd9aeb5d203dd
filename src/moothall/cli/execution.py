"""Runs operations and queries of commands on the database of a server, which may be running."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from typing import TypeVar

from msgspec import structs

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.api.outbox import until_relayed
from moothall.app.services import build_services, mail_config, server_key
from moothall.bus.local import LocalBus
from moothall.cli.database import exit_on_storage_error, open_database
from moothall.cli.options import fail
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.resources.mail.config import MailConfig
from moothall.resources.mail.sender import MailSender
from moothall.resources.server_setting.running import RunningSettings
from moothall.runtime.secrets import SecretBox, SecretUnreadable, ServerKey, ServerKeyError
from moothall.settings import Settings
from moothall.storage.database import Database, Reader

T = TypeVar("T")

_RELAY_SECONDS = 0.3
"""How long to wait for a running server to publish a command's events. Without a server they wait for its start."""

WORKER = 31
"""The `worker_id` of commands, which no server uses, so that ids differ."""


class MissingServerKey(ServerKey):
    """Stands for the server key of a command that cannot read it: secrets cannot be encrypted or decrypted."""

    def __init__(self) -> None:
        super().__init__(bytes(32))

    def box(self, purpose: str) -> SecretBox:
        """Return a box that refuses to encrypt and decrypt."""
        del purpose
        return MissingKeyBox(bytes(32))


class MissingKeyBox(SecretBox):
    """Refuses to encrypt and decrypt."""

    def encrypt(self, secret: bytes, *, about: bytes = b"") -> bytes:
        """Refuse. Raises SecretUnreadable."""
        del secret, about
        raise SecretUnreadable("the server key is not here; name its folder with --data")

    def decrypt(self, sealed: bytes, *, about: bytes = b"") -> bytes:
        """Refuse. Raises SecretUnreadable."""
        return self.encrypt(sealed, about=about)


def operate(
    settings: Settings,
    work: Callable[[Context], Awaitable[T]],
    *,
    lock: Snowflake | None = None,
    reason: str | None = None,
) -> T:
    """Run `work` in one transaction without a user; a running server publishes its events.

    `lock` is the guild that it changes, `reason` what the logs say of it. A refusal and an error of the database or
    server key end the program with exit code 1 and the reason, a database of a later version with 3.
    """

    async def perform(database: Database) -> T:
        services = _build(settings, database)
        await services.resources[RunningSettings].load()
        result = await unit_of_work.run(services, ANONYMOUS, work, lock=lock, reason=reason, outbox=True)
        # A running server has published the events when the command ends.
        await until_relayed(database, seconds=_RELAY_SECONDS)
        return result

    return on_database(settings, perform)


def query_database(settings: Settings, query: Callable[[Reader, SecretBox], Awaitable[T]]) -> T:
    """Run a query, which also gets the box that decrypts secrets. Errors end the program as in `operate`."""

    async def perform(database: Database) -> T:
        async with database.read() as reader:
            return await query(reader, _server_key(settings).box("stored secrets"))

    return on_database(settings, perform)


def mail_in_force(settings: Settings) -> MailConfig | None:
    """The mail server that operators have set in the database, if there is one, or else that of the settings."""
    path = settings.database_path
    if path is not None and not path.exists():
        return mail_config(settings)

    async def perform(database: Database) -> MailConfig | None:
        services = _build(settings, database)
        await services.resources[RunningSettings].load()
        return services.resources[MailSender].config

    return on_database(settings, perform)


def on_database(settings: Settings, perform: Callable[[Database], Awaitable[T]]) -> T:
    """Run `perform` with the database, outside of transactions. Errors end the program as in `operate`."""
    path = settings.database_path
    if path is not None and not path.exists():
        fail(f"there is no database at {path}: start the server first, or name its folder with --data")

    async def run() -> T:
        async with open_database(settings) as database:
            return await perform(database)

    with exit_on_storage_error():
        try:
            return asyncio.run(run())
        except Refusal as refusal:
            fail(_describe(refusal))
        except (SecretUnreadable, ServerKeyError) as error:
            fail(str(error))


def _build(settings: Settings, database: Database) -> Services:
    # Commands store no files and answer no requests.
    settings = structs.replace(settings, blob_url="memory:", rate_limits=False)
    # The process id makes the ids of two commands within a millisecond differ.
    ids = SnowflakeFactory(worker=WORKER, process=os.getpid() % 32)
    return build_services(settings, database, LocalBus(), _server_key(settings), ids=ids)


def _server_key(settings: Settings) -> ServerKey:
    if settings.secret_key is None and not settings.key_path.exists():
        return MissingServerKey()
    return server_key(settings)


def _describe(refusal: Refusal) -> str:
    """A refusal in one line, with the errors of each field."""

    def leaves(node: dict[str, object], path: tuple[str, ...]) -> list[str]:
        messages: list[str] = []
        for key, value in node.items():
            if key == "_errors" and isinstance(value, list):
                messages.extend(f"{'.'.join(path)}: {error['message']}" for error in value)
            elif isinstance(value, dict):
                messages.extend(leaves(value, (*path, key)))
        return messages

    return "; ".join(leaves(refusal.errors or {}, ())) or refusal.message
