"""Operations on metadata records of applications and on their values for users."""

from collections.abc import Sequence

from msgspec import UNSET

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects.errors import FormErrors
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.role_connection import MetadataRecord, RoleConnection
from moothall.objects.text import clean
from moothall.resources.role_connection import queries
from moothall.resources.role_connection.operations.jobs import DeleteRoleConnections, RecheckApplication, RecheckUser
from moothall.resources.role_connection.queries import RoleConnectionRow
from moothall.resources.role_connection.requests import MetadataRecordInput, UpdateRoleConnection, check_records
from moothall.resources.role_connection.rules import read_values


async def get_records(ctx: Context, application_id: ApplicationId) -> list[MetadataRecord]:
    """The metadata records of an application."""
    return (await queries.select_metadata(ctx.tx, [application_id])).get(application_id, [])


async def update_records(
    ctx: Context, application_id: ApplicationId, body: Sequence[MetadataRecordInput]
) -> list[MetadataRecord]:
    """Replace the metadata records of an application. Raises Refusal: 400/50035.

    Claims of linked roles that refer to a record which ended or changed its type are checked again by a job.
    """
    form_errors = FormErrors()
    check_records(body, form_errors)
    form_errors.raise_if_any()
    records = [
        MetadataRecord(
            type=record.type,
            key=record.key,
            name=clean(record.name),
            name_localizations=record.name_localizations,
            description=clean(record.description),
            description_localizations=record.description_localizations,
        )
        for record in body
    ]
    before = await get_records(ctx, application_id)
    await queries.upsert_metadata(ctx.tx, application_id, records)
    kept = {(record.key, record.type) for record in records}
    if any((record.key, record.type) not in kept for record in before):
        await enqueue(ctx, RecheckApplication(application_id=application_id))
    return records


async def get_connection(ctx: Context, application_id: ApplicationId, user_id: UserId) -> RoleConnection:
    """The role connection of a user with an application; one without any value if there is none."""
    row = await queries.select_connection(ctx.tx, application_id, user_id)
    if row is None:
        return RoleConnection(metadata={})
    return _connection_object(row, await get_records(ctx, application_id))


async def update_connection(
    ctx: Context, application_id: ApplicationId, user_id: UserId, body: UpdateRoleConnection
) -> RoleConnection:
    """Replace the role connection of a user with an application. Raises Refusal: 400/50035.

    The user's claims of linked roles are checked again by a job.
    """
    records = await get_records(ctx, application_id)
    form_errors = FormErrors()
    values = read_values(records, body.metadata or {}, form_errors.at("metadata"))
    form_errors.raise_if_any()
    row = RoleConnectionRow(
        application_id=application_id,
        user_id=user_id,
        platform_name=clean(body.platform_name or "") or None,
        platform_username=clean(body.platform_username or "") or None,
        metadata=values,
    )
    before = await queries.select_connection(ctx.tx, application_id, user_id)
    await queries.upsert_connection(ctx.tx, row)
    if before is not None and before.metadata != values:
        await enqueue(ctx, RecheckUser(user_id=user_id))
    return _connection_object(row, records)


async def delete_connections(ctx: Context, user_id: UserId, application_ids: Sequence[ApplicationId]) -> None:
    """Delete the role connections of a user with applications; a job checks the user's claims of linked roles."""
    if await queries.delete_connections(ctx.tx, application_ids, user_id):
        await enqueue(ctx, RecheckUser(user_id=user_id))


async def delete_connections_of_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete the metadata records of an application that is being deleted; a job deletes the values of users."""
    await queries.delete_metadata(ctx.tx, application_id)
    await enqueue(ctx, DeleteRoleConnections(application_id=application_id))


def _connection_object(row: RoleConnectionRow, records: Sequence[MetadataRecord]) -> RoleConnection:
    keys = {record.key for record in records}
    return RoleConnection(
        platform_name=UNSET if row.platform_name is None else row.platform_name,
        platform_username=row.platform_username,
        metadata={key: value for key, value in row.metadata.items() if key in keys},
    )
