"""Connections over HTTP (resources: user, connections; the paths that change them are those of the usual clients)."""

from moothall.api.access import PERSON, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, put
from moothall.objects.connection import Connection
from moothall.resources.user.connection import operations, queries
from moothall.resources.user.connection.events import UserConnectionsUpdate
from moothall.resources.user.connection.objects import connection_object
from moothall.resources.user.connection.requests import ModifyConnection, PutConnection


@get("/users/@me/connections", permission=SIGNED_IN, scope="connections")
async def list_my_connections(ctx: Context) -> list[Connection]:
    """List the caller's connections."""
    return [connection_object(row) for row in await queries.select_connections(ctx.tx, ctx.actor.user_id)]


@put("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def put_my_connection(ctx: Context, connection_type: str, connection_id: str, body: PutConnection) -> Connection:
    """Add an account on another service, or replace the fields of an existing connection. At most 20."""
    return connection_object(await operations.put_connection(ctx, connection_type, connection_id, body))


@patch("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def modify_my_connection(
    ctx: Context, connection_type: str, connection_id: str, body: ModifyConnection
) -> Connection:
    """Change the name, visibility or activity setting of a connection."""
    return connection_object(await operations.modify_connection(ctx, connection_type, connection_id, body))


@delete("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def delete_my_connection(ctx: Context, connection_type: str, connection_id: str) -> None:
    """Delete a connection."""
    await operations.delete_connection(ctx, connection_type, connection_id)
