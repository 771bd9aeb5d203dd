"""Reading what applications know of users."""

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.role_connection import Requirement, RoleConnectionApplication
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.role_connection import queries
from moothall.resources.role_connection.queries import LinkedRoleRow
from moothall.resources.role_connection.rules import UserConnections
from moothall.resources.user.queries import get_users


async def read_user_connections(
    ctx: Context, application_ids: Iterable[ApplicationId], user_ids: Sequence[UserId]
) -> dict[UserId, UserConnections]:
    """What applications know of users, in two queries."""
    unique_ids = set(application_ids)
    records = await queries.select_metadata(ctx.tx, unique_ids)
    values: dict[UserId, dict[ApplicationId, dict[str, str]]] = {user_id: {} for user_id in user_ids}
    for row in await queries.select_connections(ctx.tx, unique_ids, user_ids):
        values[row.user_id][row.application_id] = row.metadata
    return {user_id: UserConnections(records, values[user_id]) for user_id in user_ids}


def referenced_applications(rows: Iterable[LinkedRoleRow]) -> set[ApplicationId]:
    """The applications that the requirements of linked roles refer to."""
    return {requirement.application_id for requirement in _requirements(rows)}


def _requirements(rows: Iterable[LinkedRoleRow]) -> Iterable[Requirement]:
    return (requirement for row in rows for rule in row.rules for requirement in rule)


async def application_objects(
    ctx: Context, applications: Iterable[ApplicationRow]
) -> dict[ApplicationId, RoleConnectionApplication]:
    """The applications of requirements, by id."""
    rows = list(applications)
    bots = await get_users(ctx.tx, [row.bot_user_id for row in rows if row.bot_user_id is not None])
    return {
        row.id: RoleConnectionApplication(
            id=row.id,
            name=row.name,
            icon=row.icon,
            description=row.description,
            bot=UNSET if row.bot_user_id is None else bots.get(row.bot_user_id, UNSET),
            role_connections_verification_url=row.role_connections_verification_url,
        )
        for row in rows
    }
