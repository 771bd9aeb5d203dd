"""Storing, modifying and deleting connections."""

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.connection import SERVICES
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.text import clean_name
from moothall.resources.user.connection import queries
from moothall.resources.user.connection.events import UserConnectionsUpdate
from moothall.resources.user.connection.queries import ConnectionRow
from moothall.resources.user.connection.requests import ModifyConnection, PutConnection


async def put_connection(ctx: Context, connection_type: str, connection_id: str, body: PutConnection) -> ConnectionRow:
    """Store a connection of the caller; an existing one gets the new fields.

    Raises Refusal: 50035 for an unknown service, a long or unprintable id, or more than `CONNECTIONS_MAX` connections.
    """
    if connection_type not in SERVICES:
        refuse_field("type", *FieldError.choices(SERVICES))
    if len(connection_id) > limits.CONNECTION_NAME_MAX:
        refuse_field("id", *FieldError.length(1, limits.CONNECTION_NAME_MAX))
    if clean_name(connection_id) != connection_id:
        refuse_field("id", FormCode.STRING_TYPE_REGEX, "String value did not match validation regex.")
    rows = await queries.select_connections(ctx.tx, ctx.actor.user_id)
    exists = any((row.type, row.id) == (connection_type, connection_id) for row in rows)
    if not exists and len(rows) >= limits.CONNECTIONS_MAX:
        refuse_field("id", *FieldError.length(None, limits.CONNECTIONS_MAX))
    row = ConnectionRow(
        user_id=ctx.actor.user_id,
        type=connection_type,
        id=connection_id,
        name=clean_name(body.name) or connection_id,
        verified=False,
        show_activity=body.show_activity,
        visibility=int(body.visibility),
        created_at=ctx.now,
    )
    return await _store(ctx, row)


async def modify_connection(
    ctx: Context, connection_type: str, connection_id: str, body: ModifyConnection
) -> ConnectionRow:
    """Change the fields of a connection of the caller. Raises Refusal: 404."""
    for row in await queries.select_connections(ctx.tx, ctx.actor.user_id):
        if (row.type, row.id) == (connection_type, connection_id):
            changes = {name: getattr(body, name) for name in body.__struct_fields__ if getattr(body, name) is not UNSET}
            if body.name is not UNSET:
                changes["name"] = clean_name(body.name) or connection_id
            return await _store(ctx, structs.replace(row, **changes))
    raise Refusal(errors.NOT_FOUND)


async def delete_connection(ctx: Context, connection_type: str, connection_id: str) -> None:
    """Delete a connection of the caller. Raises Refusal: 404."""
    if not await queries.delete_connection(ctx.tx, ctx.actor.user_id, connection_type, connection_id):
        raise Refusal(errors.NOT_FOUND)
    ctx.emit(UserConnectionsUpdate(user_id=ctx.actor.user_id))


async def _store(ctx: Context, row: ConnectionRow) -> ConnectionRow:
    await queries.upsert_connection(ctx.tx, row)
    ctx.emit(UserConnectionsUpdate(user_id=row.user_id))
    return row
