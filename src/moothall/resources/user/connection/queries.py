"""SQL of connections."""

from msgspec import Struct

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, select
from moothall.storage.tables import connections


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


_of_user = connections.c.user_id == bindparam("user_id")
_of_connection = _of_user & (connections.c.type == bindparam("type")) & (connections.c.id == bindparam("connection_id"))
_select_connections = Query(
    lambda: select(connections).where(_of_user).order_by(connections.c.type, connections.c.id), into=ConnectionRow
)
_upsert = Query(
    lambda: upsert(
        connections, key=("user_id", "type", "id"), update=("name", "verified", "show_activity", "visibility")
    )
)
_delete = Query(lambda: delete(connections).where(_of_connection))


async def select_connections(reader: Reader, user_id: UserId) -> list[ConnectionRow]:
    """Read the connections of a user by service and id."""
    return await reader.all(_select_connections, user_id=user_id)


async def upsert_connection(tx: Transaction, row: ConnectionRow) -> None:
    """Store a new connection, or update an existing one."""
    await tx.execute(_upsert, **{name: getattr(row, name) for name in row.__struct_fields__})


async def delete_connection(tx: Transaction, user_id: UserId, service: str, connection_id: str) -> bool:
    """Delete a connection; False if there was none."""
    return await tx.execute(_delete, user_id=user_id, type=service, connection_id=connection_id) == 1
