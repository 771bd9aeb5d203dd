"""Connections over HTTP (resources: user, connections; the paths that change them are the usual clients')."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType, structs

from moothall.kernel.access import PERSON, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, put
from moothall.objects import errors, limits
from moothall.objects.connection import SERVICES, Connection, ConnectionVisibility
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.text import clean_name
from moothall.resources.user.connection import queries
from moothall.resources.user.connection.events import UserConnectionsUpdate
from moothall.resources.user.connection.queries import ConnectionRow

Name = Annotated[str, Meta(min_length=1, max_length=limits.CONNECTION_NAME_MAX)]


class PutConnection(Struct, frozen=True, kw_only=True):
    """An account elsewhere: what it is called there."""

    name: Name
    visibility: ConnectionVisibility = ConnectionVisibility.NONE
    show_activity: bool = False


class ModifyConnection(Struct, frozen=True, kw_only=True):
    """What changes of a connection; the rest stays."""

    name: Name | UnsetType = UNSET
    visibility: ConnectionVisibility | UnsetType = UNSET
    show_activity: bool | UnsetType = UNSET


@get("/users/@me/connections", permission=SIGNED_IN, scope="connections")
async def list_my_connections(ctx: Context) -> list[Connection]:
    """Where else the caller says that they are."""
    return [_shown(row) for row in await queries.select_own(ctx.tx, ctx.actor.user_id)]


@put("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def put_my_connection(ctx: Context, connection_type: str, connection_id: str, body: PutConnection) -> Connection:
    """Name an account elsewhere as one's own; naming it again changes what is said of it. At most 20."""
    if connection_type not in SERVICES:
        refuse_field("type", *FieldError.choices(SERVICES))
    if len(connection_id) > limits.CONNECTION_NAME_MAX:
        refuse_field("id", *FieldError.length(1, limits.CONNECTION_NAME_MAX))
    if clean_name(connection_id) != connection_id:
        refuse_field("id", FormCode.STRING_TYPE_REGEX, "String value did not match validation regex.")
    own = await queries.select_own(ctx.tx, ctx.actor.user_id)
    known = any((row.type, row.id) == (connection_type, connection_id) for row in own)
    if not known and len(own) >= limits.CONNECTIONS_MAX:
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


@patch("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def modify_my_connection(
    ctx: Context, connection_type: str, connection_id: str, body: ModifyConnection
) -> Connection:
    """Change what is said of a connection."""
    for row in await queries.select_own(ctx.tx, ctx.actor.user_id):
        if (row.type, row.id) == (connection_type, connection_id):
            changes = {name: getattr(body, name) for name in body.__struct_fields__ if getattr(body, name) is not UNSET}
            if body.name is not UNSET:
                changes["name"] = clean_name(body.name) or connection_id
            return await _store(ctx, structs.replace(row, **changes))
    raise Refusal(errors.NOT_FOUND)


@delete("/users/@me/connections/{connection_type}/{connection_id}", permission=PERSON, fires=(UserConnectionsUpdate,))
async def delete_my_connection(ctx: Context, connection_type: str, connection_id: str) -> None:
    """Name an account elsewhere as one's own no more."""
    if not await queries.delete_connection(ctx.tx, ctx.actor.user_id, connection_type, connection_id):
        raise Refusal(errors.NOT_FOUND)
    ctx.emit(UserConnectionsUpdate(user_id=ctx.actor.user_id))


async def _store(ctx: Context, row: ConnectionRow) -> Connection:
    await queries.put_connection(ctx.tx, row)
    ctx.emit(UserConnectionsUpdate(user_id=row.user_id))
    return _shown(row)


def _shown(row: ConnectionRow) -> Connection:
    return Connection(
        id=row.id,
        name=row.name,
        type=row.type,
        verified=row.verified,
        show_activity=row.show_activity,
        visibility=ConnectionVisibility(row.visibility),
    )
