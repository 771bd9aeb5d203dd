"""`moothall key`: change the server key."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from moothall.cli.options import STORAGE, fail, takes_settings
from moothall.settings import Settings

if TYPE_CHECKING:
    from moothall.api.context import Context
    from moothall.app.key_rotation import Rotated
    from moothall.runtime.secrets import ServerKey
    from moothall.storage.database import Database

_PURPOSE: Final = "stored secrets"


@click.group(short_help="Change the server key.")
def key() -> None:
    """Change the key that stored secrets are encrypted with, while the server runs: rotate, then prune.

    Secrets are tokens of webhooks, keys of applications, TOTP secrets, waiting mails, the key of OpenID
    Connect, and client secrets of identity providers.
    """


@key.command(short_help="Make a new key, and encrypt every stored secret again.")
@takes_settings(*STORAGE)
def rotate(settings: Settings) -> None:
    """Make a new server key, beside the old one in server.key, and encrypt every stored secret again.

    Where there is an old key already, the command goes on with the first one: so it can be interrupted and run again.
    The key of the setting secret_key is yours to change: put the new one before the old, and a comma between them.
    """
    from moothall.app.key_rotation import encrypt_again
    from moothall.app.server_start import check_server_key
    from moothall.cli.execution import on_database, operate
    from moothall.resources.operator_log.operations import record_act

    made = False

    async def perform(database: "Database") -> "Rotated":
        nonlocal made
        current = _key_of(settings)
        await check_server_key(database, current, str(settings.key_path))
        if len(list(current.each())) == 1:
            if settings.secret_key is not None:
                fail(
                    "put a new key before the old one in the setting secret_key, restart the servers, and run it again"
                )
            current, made = current.save_with_new(settings.key_path), True
            await check_server_key(database, current, str(settings.key_path))
        return await encrypt_again(database, current.box(_PURPOSE))

    async def record(ctx: "Context") -> None:
        await record_act(ctx, "key.rotate", changes={"secrets": (None, result.encrypted)})

    with _alone(settings.key_path):
        result = on_database(settings, perform)
        operate(settings, record)
    if made:
        click.echo(f"made a new key: {settings.key_path}")
    click.echo(f"encrypted again: {result.encrypted:,}")
    if result.unreadable:
        click.echo(f"moothall: no key reads {result.unreadable:,} secrets, which stay as they are", err=True)
    click.echo("restart the servers when it suits, then run `moothall key prune`")


@key.command(short_help="Remove the old key, once nothing needs it.")
@takes_settings(*STORAGE)
@click.option("--end-backup-codes", is_flag=True, help="Delete backup codes that need the old key.")
def prune(settings: Settings, *, end_backup_codes: bool) -> None:
    """Remove every server key but the first, if no stored secret needs them.

    Only the hash of a backup code is stored, which cannot be made again without the code: where accounts still have
    such codes of the old key, they make new ones, or --end-backup-codes deletes them.
    """
    from moothall.app.key_rotation import count_accounts_with_old_codes, count_dependent, delete_old_codes
    from moothall.app.server_start import check_server_key, forget_retired_keys
    from moothall.cli.execution import on_database, operate
    from moothall.resources.operator_log.operations import record_act

    async def perform(database: "Database") -> tuple[int, int] | None:
        server_keys = _key_of(settings)
        await check_server_key(database, server_keys, str(settings.key_path))
        _, *retired = (each.box(_PURPOSE).key_id for each in server_keys.each())
        if not retired:
            return None
        box, deleted = server_keys.box(_PURPOSE), 0
        if count := await count_dependent(database, box, set(retired)):
            fail(f"{count:,} stored secrets still need an old key: run `moothall key rotate` first")
        async with database.transaction() as tx:
            accounts = await count_accounts_with_old_codes(tx, box)
            if accounts and not end_backup_codes:
                fail(
                    f"backup codes of {accounts:,} accounts still need an old key: until they make new ones keep it, "
                    "or delete these codes with --end-backup-codes"
                )
            deleted = await delete_old_codes(tx, box)
            await forget_retired_keys(tx, server_keys)
        if settings.secret_key is None:
            server_keys.save_current(settings.key_path)
            # A server that has started in between has noted the old key again.
            async with database.transaction() as tx:
                await forget_retired_keys(tx, server_keys)
        return len(retired), deleted

    with _alone(settings.key_path):
        result = on_database(settings, perform)
        if result is None:
            click.echo("there is no old key")
            return
        count, deleted = result

        async def record(ctx: "Context") -> None:
            await record_act(ctx, "key.prune", changes={"keys": (None, count), "backup_codes": (None, deleted)})

        operate(settings, record)
    if settings.secret_key is None:
        click.echo(f"removed from {settings.key_path}: {count}")
    else:
        click.echo("nothing needs the keys after the first: remove them from the setting secret_key of every server")
    if end_backup_codes:
        click.echo(f"deleted backup codes: {deleted:,}")


def _key_of(settings: Settings) -> "ServerKey":
    """The server key; without one the program ends."""
    from moothall.app.services import server_key

    if settings.secret_key is None and not settings.key_path.exists():
        fail(f"there is no server key at {settings.key_path}: name its folder with --data")
    return server_key(settings)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Let one command at a time change the key."""
    if not path.parent.is_dir():
        yield
        return
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        fail("another command is changing the server key")
    else:
        yield
    finally:
        os.close(folder)
