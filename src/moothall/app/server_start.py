"""What a server makes sure of at its start: it has the database's key, ids go on, it can have operators."""

import base64
import logging
from collections.abc import Sequence
from typing import Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Services
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.resources.operator.operations import renew_claim
from moothall.runtime.secrets import SecretBox, SecretUnreadable, ServerKey, ServerKeyError, key_id_of
from moothall.storage.database import Database, Query, Transaction, insert_ignore
from moothall.storage.sql import bindparam, func, select, update
from moothall.storage.tables import audit_entries, channel_activity, channels, guilds, meta, users

log = logging.getLogger("moothall")

_NAME: Final = "server_key_check"
_PURPOSE: Final = "server key check"
_CONTENT: Final = b"moothall"
_WARN_SECONDS: Final = 1.0

_select_check = Query(lambda: select(meta.c.value).where(meta.c.key == bindparam("name")))
_insert_check = Query(lambda: insert_ignore(meta, key=("key",)))
_update_check = Query(lambda: update(meta).where(meta.c.key == bindparam("name")).values(value=bindparam("text")))
_newest_ids = (
    Query(lambda: select(func.max(channel_activity.c.last_message_id))),
    Query(lambda: select(func.max(channels.c.id))),
    Query(lambda: select(func.max(guilds.c.id))),
    Query(lambda: select(func.max(users.c.id))),
    Query(lambda: select(func.max(audit_entries.c.id))),
)


async def check_server_key(database: Database, key: ServerKey, key_path: str) -> None:
    """Check that every key is there that stored secrets may need; from now on they may need all keys of `key`.

    Raises ServerKeyError, which names `key_path`.
    """
    box = key.box(_PURPOSE)
    async with database.transaction() as tx:
        stored = await tx.scalar(_select_check, name=_NAME)
        checks = [] if stored is None else stored.split()
        known = {key_id_of(base64.b64decode(check)) for check in checks if _opens(box, check)}
        if len(known) < len(checks):
            if not known:
                raise ServerKeyError(
                    f"the server key ({key_path}, or the setting secret_key) is not the one that this database was "
                    "served with: put the old key there, as a line below the new one if it is to be replaced"
                )
            raise ServerKeyError(
                f"the server key ({key_path}, or the setting secret_key) lacks an old key that stored secrets may "
                "still need: put it back, as a line below the new one; `moothall key rotate` and then `moothall key "
                "prune` remove it"
            )
        added = [each.box(_PURPOSE) for each in key.each()]
        added = [each for each in added if each.key_id not in known]
        if added:
            await _store_checks(tx, [*checks, *map(_check_of, added)], is_new=stored is None)


async def forget_retired_keys(tx: Transaction, key: ServerKey) -> None:
    """Store that stored secrets need the current key alone."""
    await _store_checks(tx, [_check_of(key.box(_PURPOSE))], is_new=False)


def _check_of(box: SecretBox) -> str:
    return base64.b64encode(box.encrypt(_CONTENT)).decode()


def _opens(box: SecretBox, check: str) -> bool:
    try:
        box.decrypt(base64.b64decode(check))
    except SecretUnreadable:
        return False
    return True


async def _store_checks(tx: Transaction, checks: Sequence[str], *, is_new: bool) -> None:
    """Store what shows which keys are needed: a known text that each has encrypted."""
    text = " ".join(checks)
    if is_new:
        await tx.execute(_insert_check, key=_NAME, value=text)
    else:
        await tx.execute(_update_check, name=_NAME, text=text)


async def continue_ids(database: Database, ids: SnowflakeFactory) -> None:
    """Let new ids follow all stored ones, also if the clock was set back meanwhile."""
    newest = 0
    async with database.read() as reader:
        for query in _newest_ids:
            newest = max(newest, int(await reader.scalar(query) or 0))
    behind = ids.begin_after(Snowflake(newest))
    if behind > _WARN_SECONDS:
        log.warning(
            "the clock is %.0f s behind the newest stored id: new ids and their times follow that until it is reached",
            behind,
        )


async def renew_setup_link(services: Services, *, logged: bool) -> str | None:
    """Make the link for the first operator, in place of one of an earlier start; None if there is an operator.

    If `logged` it is a line of the log too, for servers whose standard output is not read.
    """
    token = await unit_of_work.run(services, ANONYMOUS, renew_claim, fires=())
    if token is None:
        return None
    url = f"{services.limits.public_url}/setup?token={token}"
    if logged:
        log.warning("this server has no operator: the link makes the first one, once", extra={"link": url})
    return url
