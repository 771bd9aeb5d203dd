"""The SQL of settings that operators have changed."""

from msgspec import Struct

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, select
from moothall.storage.tables import server_settings


class SettingRow(Struct, frozen=True):
    """A row of `server_settings`."""

    name: str
    value: str
    changed_at: Timestamp
    changed_by: UserId | None


_select = Query(lambda: select(server_settings).order_by(server_settings.c.name), into=SettingRow)
_upsert = Query(lambda: upsert(server_settings, key=("name",), update=("value", "changed_at", "changed_by")))
_delete = Query(lambda: delete(server_settings).where(server_settings.c.name == bindparam("setting")))


async def select_settings(reader: Reader) -> list[SettingRow]:
    """Read the changed settings, by name."""
    return await reader.all(_select)


async def upsert_setting(tx: Transaction, name: str, value: str, now: Timestamp, user_id: UserId | None) -> None:
    """Store the JSON of a setting's value."""
    await tx.execute(_upsert, name=name, value=value, changed_at=now, changed_by=user_id)


async def delete_setting(tx: Transaction, name: str) -> None:
    """Delete a setting, so that the configuration's counts again."""
    await tx.execute(_delete, setting=name)
