"""The SQL of applications as operators find them."""

from msgspec import Struct

from moothall.objects.ids import MAX_ID, ApplicationId, TeamId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.operator_log.queries import escape_like
from moothall.storage.database import Query, Reader
from moothall.storage.sql import Select, bindparam, func, select
from moothall.storage.tables import applications, members, users


class ApplicationSummaryRow(Struct, frozen=True):
    """An application with its owner's name and the number of guilds of its bot."""

    id: ApplicationId
    name: str
    owner_id: UserId
    owner_name: str | None
    team_id: TeamId | None
    disabled: bool
    created_at: Timestamp
    guild_count: int


_a = applications.c


def _summaries() -> Select[tuple[object, ...]]:
    guild_count = (
        select(func.count()).where(members.c.user_id == func.coalesce(_a.bot_user_id, _a.id)).scalar_subquery()
    )
    return select(
        _a.id,
        _a.name,
        _a.owner_id,
        users.c.username.label("owner_name"),
        _a.team_id,
        _a.disabled,
        _a.created_at,
        guild_count.label("guild_count"),
    ).select_from(applications.outerjoin(users, users.c.id == _a.owner_id))


_select_matching = Query(
    lambda: (
        _summaries()
        .where(_a.id < bindparam("before"), func.lower(_a.name).like(bindparam("pattern"), escape="\\"))
        .order_by(_a.id.desc())
        .limit(bindparam("maximum"))
    ),
    into=ApplicationSummaryRow,
)
_select_of_owner = Query(
    lambda: (
        _summaries()
        .where(_a.id < bindparam("before"), _a.owner_id == bindparam("owner_id"))
        .order_by(_a.id.desc())
        .limit(bindparam("maximum"))
    ),
    into=ApplicationSummaryRow,
)
_select_one = Query(lambda: _summaries().where(_a.id == bindparam("application_id")), into=ApplicationSummaryRow)


async def select_matching(
    reader: Reader, *, search: str, owner_id: UserId | None, before: ApplicationId | None, maximum: int
) -> list[ApplicationSummaryRow]:
    """Read applications with smaller ids than `before`, newest first: those of an owner, or with a text in the name."""
    if owner_id is not None:
        return await reader.all_long(_select_of_owner, owner_id=owner_id, before=before or MAX_ID, maximum=maximum)
    pattern = f"%{escape_like(search.lower())}%"
    return await reader.all_long(_select_matching, pattern=pattern, before=before or MAX_ID, maximum=maximum)


async def select_summary(reader: Reader, application_id: ApplicationId) -> ApplicationSummaryRow | None:
    """Read an application; None for an unknown one."""
    return await reader.one(_select_one, application_id=application_id)
