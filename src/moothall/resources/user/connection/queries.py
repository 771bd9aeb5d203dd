"""The SQL of connections."""

from msgspec import Struct
from sqlalchemy import bindparam, delete, select

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.schema import connections


class ConnectionRow(Struct):
    """A row of `connections`."""

    user_id: UserId
    type: str
    id: str
    name: str
    verified: bool
    show_activity: bool
    visibility: int
    created_at: Timestamp


_own = connections.c.user_id == bindparam("user_id")
_this = _own & (connections.c.type == bindparam("type")) & (connections.c.id == bindparam("connection_id"))
_select_own = Query(select(connections).where(_own).order_by(connections.c.type, connections.c.id), into=ConnectionRow)
_put = Query(
    upsert(connections, key=("user_id", "type", "id"), update=("name", "verified", "show_activity", "visibility"))
)
_delete = Query(delete(connections).where(_this))


async def select_own(reader: Reader, user_id: UserId) -> list[ConnectionRow]:
    """Somebody's connections, by service."""
    return await reader.all(_select_own, user_id=user_id)


async def put_connection(tx: Transaction, row: ConnectionRow) -> None:
    """Store a connection, or what has become of it."""
    await tx.execute(_put, **{name: getattr(row, name) for name in row.__struct_fields__})


async def delete_connection(tx: Transaction, user_id: UserId, service: str, connection_id: str) -> bool:
    """Remove a connection; False if there is none."""
    return await tx.execute(_delete, user_id=user_id, type=service, connection_id=connection_id) == 1
