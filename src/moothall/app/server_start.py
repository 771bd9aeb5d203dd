"""What a server makes sure of at its start: it has the database's key, ids go on, it can have operators."""

import base64
import logging
from typing import Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Services
from moothall.objects.ids import Snowflake, SnowflakeFactory
from moothall.resources.operator.operations import renew_claim
from moothall.runtime.secrets import SecretUnreadable, ServerKey, ServerKeyError
from moothall.storage.database import Database, Query, insert_ignore
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
    """Compare the server key with the one that the database was first served with; a retired one counts too.

    Raises ServerKeyError, which names `key_path`.
    """
    box = key.box(_PURPOSE)
    async with database.transaction() as tx:
        stored = await tx.scalar(_select_check, name=_NAME)
        if stored is not None:
            sealed = base64.b64decode(stored)
            try:
                box.decrypt(sealed)
            except SecretUnreadable:
                raise ServerKeyError(
                    f"the server key ({key_path}, or the setting secret_key) is not the one that this database was "
                    "served with: put the old key there, as a line below the new one if it is to be replaced"
                ) from None
            if not box.stale(sealed):
                return
        text = base64.b64encode(box.encrypt(_CONTENT)).decode()
        if stored is None:
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
