"""SQL of applications."""

from collections.abc import Iterable

from msgspec import Struct, field

from moothall.api.authenticate import TokenKind
from moothall.objects.ids import ApplicationId, TeamId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.sql import bindparam, delete, func, insert, select
from moothall.storage.tables import application_emojis, applications, authorizations, guilds, members, tokens


class ApplicationRow(Struct):
    """A row of `applications`."""

    id: ApplicationId
    owner_id: UserId
    bot_user_id: UserId | None
    name: str
    description: str
    icon: str | None
    cover_image: str | None
    bot_public: bool
    bot_require_code_grant: bool
    flags: int
    verify_key: str
    private_key: bytes
    secret_hash: bytes | None
    redirect_uris: list[str]
    interactions_endpoint_url: str | None
    role_connections_verification_url: str | None
    tags: list[str]
    install_params: JsonObject | None
    integration_types_config: JsonObject | None
    custom_install_url: str | None
    terms_of_service_url: str | None
    privacy_policy_url: str | None
    event_webhooks_url: str | None
    event_webhooks_status: int
    event_webhooks_types: list[str]
    created_at: Timestamp
    public_client: bool = False
    team_id: TeamId | None = None
    embedded_activity_config: JsonObject | None = None
    """The settings of the Activity that differ from the defaults."""
    proxy_url_map: list[dict[str, str]] = field(default_factory=list)
    max_participants: int = -1
    """Participants of an Activity instance; -1 for no limit."""
    disabled: bool = False
    """Whether an operator has disabled it: its tokens are refused, and no user reaches it."""


_select_application = Query(
    lambda: select(applications).where(applications.c.id == bindparam("application_id")), into=ApplicationRow
)
_select_disabled = Query(
    lambda: select(applications.c.disabled).where(applications.c.id == bindparam("application_id"))
)
_select_applications = Query(
    lambda: select(applications).where(in_list(applications.c.id, "application_ids")), into=ApplicationRow
)
_select_applications_of_owner = Query(
    lambda: select(applications).where(applications.c.owner_id == bindparam("owner_id")).order_by(applications.c.id),
    into=ApplicationRow,
)
_select_applications_of_teams = Query(
    lambda: select(applications).where(in_list(applications.c.team_id, "team_ids")).order_by(applications.c.id),
    into=ApplicationRow,
)
_count_applications_of_owner = Query(
    lambda: select(func.count()).where(applications.c.owner_id == bindparam("owner_id"))
)
_lock_application = Query(
    lambda: select(applications).where(applications.c.id == bindparam("application_id")).with_for_update(),
    into=ApplicationRow,
)
_insert_application = Query(lambda: insert(applications))
_count_guilds = Query(
    lambda: (
        select(members.c.user_id, func.count())
        .where(in_list(members.c.user_id, "user_ids"))
        .group_by(members.c.user_id)
    )
)

_count_authorizations = Query(
    lambda: (
        select(
            authorizations.c.application_id,
            func.count(),
            func.count().filter(authorizations.c.user_install),
        )
        .where(in_list(authorizations.c.application_id, "application_ids"))
        .group_by(authorizations.c.application_id)
    )
)

_select_owned = Query(lambda: select(guilds.c.id).where(guilds.c.owner_id == bindparam("user_id")).limit(1))
_delete_application = Query(lambda: delete(applications).where(applications.c.id == bindparam("application_id")))
_delete_emojis = Query(
    lambda: delete(application_emojis).where(application_emojis.c.application_id == bindparam("application_id"))
)
_delete_tokens = Query(lambda: delete(tokens).where(tokens.c.application_id == bindparam("application_id")))
_delete_refresh_tokens = Query(
    lambda: delete(tokens).where(
        tokens.c.application_id == bindparam("application_id"), tokens.c.kind == int(TokenKind.REFRESH)
    )
)


async def select_application(reader: Reader, application_id: ApplicationId) -> ApplicationRow | None:
    """Read one application; None for an unknown id."""
    return await reader.one(_select_application, application_id=application_id)


async def is_disabled(reader: Reader, application_id: ApplicationId) -> bool:
    """Whether an operator has disabled an application."""
    return bool(await reader.scalar(_select_disabled, application_id=application_id))


async def lock_application(tx: Transaction, application_id: ApplicationId) -> ApplicationRow | None:
    """Read one application and lock its row until the transaction ends; None for an unknown id."""
    return await tx.one(_lock_application, application_id=application_id)


async def select_applications(
    reader: Reader, application_ids: Iterable[ApplicationId]
) -> dict[ApplicationId, ApplicationRow]:
    """Read applications by id; unknown ids are left out."""
    unique_ids = list(set(application_ids))
    if not unique_ids:
        return {}
    return {row.id: row for row in await reader.all(_select_applications, application_ids=unique_ids)}


async def select_applications_of_owner(reader: Reader, owner_id: UserId) -> list[ApplicationRow]:
    """Read the applications of an owner by ascending id."""
    return await reader.all(_select_applications_of_owner, owner_id=owner_id)


async def select_applications_of_teams(reader: Reader, team_ids: Iterable[TeamId]) -> list[ApplicationRow]:
    """Read the applications of teams by ascending id."""
    unique_ids = list(set(team_ids))
    return await reader.all(_select_applications_of_teams, team_ids=unique_ids) if unique_ids else []


async def count_applications_of_owner(reader: Reader, owner_id: UserId) -> int:
    """Count the applications of an owner."""
    return int(await reader.scalar(_count_applications_of_owner, owner_id=owner_id))


async def insert_application(tx: Transaction, row: ApplicationRow) -> None:
    """Store a new application."""
    await tx.execute(_insert_application, **{name: getattr(row, name) for name in row.__struct_fields__})


async def update_application(tx: Transaction, application_id: ApplicationId, **columns: object) -> None:
    """Update columns of an application."""
    query = update_columns(applications, key=("id",), columns=frozenset(columns))
    await tx.execute(query, id=application_id, **columns)


async def count_guilds(reader: Reader, user_ids: Iterable[UserId]) -> dict[int, int]:
    """Count the guilds of each user; users in no guild are left out."""
    unique_ids = list(set(user_ids))
    if not unique_ids:
        return {}
    return {row[0]: row[1] for row in await reader.all(_count_guilds, user_ids=unique_ids)}


async def count_authorizations(reader: Reader, application_ids: Iterable[ApplicationId]) -> dict[int, tuple[int, int]]:
    """Count, for each application, the users who authorized it and those who installed it to their account."""
    unique_ids = list(set(application_ids))
    if not unique_ids:
        return {}
    rows = await reader.all(_count_authorizations, application_ids=unique_ids)
    return {row[0]: (row[1], row[2]) for row in rows}


async def owns_guild(reader: Reader, user_id: UserId) -> bool:
    """Whether a user owns any guild."""
    return await reader.one(_select_owned, user_id=user_id) is not None


async def delete_tokens(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete the bot token and all access tokens of an application."""
    # A concurrent refresh is waited for first: only then is its access token seen.
    await tx.execute(_delete_refresh_tokens, application_id=application_id)
    await tx.execute(_delete_tokens, application_id=application_id)


async def delete_application(tx: Transaction, application_id: ApplicationId) -> None:
    """Delete an application's row and its emojis."""
    await tx.execute(_delete_emojis, application_id=application_id)
    await tx.execute(_delete_application, application_id=application_id)
