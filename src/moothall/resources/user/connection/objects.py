"""Connection objects."""

from moothall.objects.connection import Connection, ConnectionVisibility
from moothall.resources.user.connection.queries import ConnectionRow


def connection_object(row: ConnectionRow) -> Connection:
    """The object of a connection."""
    return Connection(
        id=row.id,
        name=row.name,
        type=row.type,
        verified=row.verified,
        show_activity=row.show_activity,
        visibility=ConnectionVisibility(row.visibility),
    )
