"""How applications come to be and change, and how their secrets are renewed."""

from collections.abc import Sequence
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import UNSET, Struct, structs

from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context, Services
from moothall.kernel.hooks import Hook
from moothall.kernel.secrets import hash_token, new_account_token, new_token
from moothall.objects import errors, limits
from moothall.objects.application import (
    SETTABLE,
    InstallParams,
    IntegrationApplication,
    IntegrationType,
    OwnApplication,
)
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.scopes import GIVEN
from moothall.objects.text import clean, clean_name, search_key
from moothall.objects.user import User
from moothall.objects.wire import convert, to_plain
from moothall.resources.application import queries
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.application.requests import (
    EditCurrentApplication,
    InstallParamsInput,
    IntegrationTypeInput,
    ModifyApplication,
)
from moothall.resources.application.team.access import find_team
from moothall.resources.application.team.operations import teams_by_id
from moothall.resources.application.team.queries import lock_team, select_accepted
from moothall.resources.user.auth_session.operations import log_out_everywhere
from moothall.resources.user.queries import get_users, insert_token, insert_user

_SECRET_LENGTH: Final = 32
_COPIED: Final = ("bot_public", "bot_require_code_grant", "public_client")
_TEXTS: Final = (
    "interactions_endpoint_url",
    "custom_install_url",
    "role_connections_verification_url",
    "terms_of_service_url",
    "privacy_policy_url",
)
_IMAGES: Final = ("icon", "cover_image")


APPLICATION_CHANGED: Final = Hook[[Context, ApplicationRow], None]("application changed")
"""What else happens in the transaction in which an application is made or changed."""
ENDPOINT_VERIFYING: Final = Hook[[Services, ApplicationRow, str], str | None]("interactions endpoint verifying")
"""Asks an interactions endpoint whether it checks signatures: what is wrong with it, or None."""
_UNVERIFIED: Final = "The specified interactions endpoint url could not be verified."


async def verify_endpoint(services: Services, row: ApplicationRow, body: EditCurrentApplication) -> None:
    """Ask a new interactions endpoint whether it is one. It may take seconds: no transaction is open meanwhile.

    Raises Refusal 50035 at `interactions_endpoint_url`.
    """
    url = body.interactions_endpoint_url
    if url is UNSET or not url or url == row.interactions_endpoint_url:
        return
    problem = await ENDPOINT_VERIFYING.first(services, row, url)
    if problem is not None:
        refuse_field(
            "interactions_endpoint_url", FormCode.INTERACTIONS_ENDPOINT_URL_INVALID, f"{_UNVERIFIED} {problem}"
        )


class NewBot(User, frozen=True, kw_only=True):
    """A bot with its token, which is shown this once."""

    token: str


class NewApplication(OwnApplication, frozen=True, kw_only=True):
    """An application just made, with its secrets, which are shown this once."""

    bot: NewBot
    secret: str
    """The client secret."""


class BotToken(Struct, frozen=True):
    """A fresh bot token."""

    token: str


class ClientSecret(Struct, frozen=True):
    """A fresh client secret."""

    secret: str


async def create_application(
    ctx: Context, owner_id: UserId, name: str, settings: EditCurrentApplication | None = None
) -> NewApplication:
    """Make an application with its bot, which has the same id and the application's name."""
    if await queries.count_of_owner(ctx.tx, owner_id) >= limits.APPLICATIONS_PER_OWNER:
        raise Refusal(errors.TOO_MANY_APPLICATIONS)
    name = clean_name(name) or "Application"
    application_id = ApplicationId(ctx.ids.next())
    bot_id = UserId(application_id)
    key = Ed25519PrivateKey.generate()
    secret = new_token(_SECRET_LENGTH)
    row = ApplicationRow(
        id=application_id,
        owner_id=owner_id,
        bot_user_id=bot_id,
        name=name,
        description="",
        icon=None,
        cover_image=None,
        bot_public=True,
        bot_require_code_grant=False,
        flags=0,
        verify_key=key.public_key().public_bytes_raw().hex(),
        private_key=ctx.services.box.encrypt(key.private_bytes_raw(), about=b"application %d" % application_id),
        secret_hash=hash_token(secret),
        redirect_uris=[],
        interactions_endpoint_url=None,
        role_connections_verification_url=None,
        tags=[],
        install_params=None,
        integration_types_config={str(int(kind)): {} for kind in IntegrationType},
        custom_install_url=None,
        terms_of_service_url=None,
        privacy_policy_url=None,
        event_webhooks_url=None,
        event_webhooks_status=1,
        event_webhooks_types=[],
        created_at=ctx.now,
    )
    if settings is not None:
        row = structs.replace(row, **_changes(row, settings) | await _team_changes(ctx, row, settings) | {"name": name})
    await queries.insert_application(ctx.tx, row)
    await insert_user(
        ctx.tx, id=bot_id, username=name, username_key=search_key(name), bot=True, application_id=application_id
    )
    await APPLICATION_CHANGED(ctx, row)
    token = await _give_bot_token(ctx, row)
    shown = structs.asdict(await show_application(ctx, row))
    bot = structs.asdict(shown.pop("bot"))
    return NewApplication(**shown, bot=NewBot(**bot, token=token), secret=secret)


async def modify_application(ctx: Context, row: ApplicationRow, body: EditCurrentApplication) -> ApplicationRow:
    """Change an application as a request asks. Of its flags only those in `SETTABLE` change.

    A new interactions endpoint has been verified. Raises Refusal: 403/20012, 50035 for a team that is not the caller's.
    """
    wanted = _changes(row, body) | await _team_changes(ctx, row, body)
    changes = {name: value for name, value in wanted.items() if getattr(row, name) != value}
    if not changes:
        return row
    await queries.update_application(ctx.tx, row.id, **changes)
    after = structs.replace(row, **changes)
    await APPLICATION_CHANGED(ctx, after)
    return after


async def reset_bot_token(ctx: Context, row: ApplicationRow) -> BotToken:
    """A new token for an application's bot. The old one ends, with the sessions that it opened."""
    await log_out_everywhere(ctx, _bot_of(row), TokenKind.BOT)
    return BotToken(await _give_bot_token(ctx, row))


async def reset_secret(ctx: Context, row: ApplicationRow) -> ClientSecret:
    """A new client secret; the old one ends."""
    secret = new_token(_SECRET_LENGTH)
    await queries.update_application(ctx.tx, row.id, secret_hash=hash_token(secret))
    return ClientSecret(secret)


async def applications_of(ctx: Context, *, of_teams: bool) -> list[ApplicationRow]:
    """What answers to the caller, oldest first; `of_teams` adds what the teams own that they belong to."""
    rows = await queries.select_of_owner(ctx.tx, ctx.actor.user_id)
    if of_teams:
        known = {row.id for row in rows}
        teams = await select_accepted(ctx.tx, ctx.actor.user_id)
        rows += [row for row in await queries.select_of_teams(ctx.tx, teams) if row.id not in known]
    return sorted(rows, key=lambda row: row.id)


async def show_application(ctx: Context, row: ApplicationRow) -> OwnApplication:
    """An application as its owner and its bot see it."""
    return (await show_applications(ctx, [row]))[0]


async def show_applications(ctx: Context, rows: Sequence[ApplicationRow]) -> list[OwnApplication]:
    """The same for several, with a handful of queries."""
    bots = [row.bot_user_id for row in rows if row.bot_user_id is not None]
    users = await get_users(ctx.tx, [*bots, *(row.owner_id for row in rows)])
    counts = await queries.count_guilds(ctx.tx, bots)
    teams = await teams_by_id(ctx, [row.team_id for row in rows if row.team_id is not None])
    people = await queries.count_people(ctx.tx, [row.id for row in rows])
    return [
        OwnApplication(
            **public_fields(row, None if row.bot_user_id is None else users.get(row.bot_user_id)),
            owner=users[row.owner_id],
            team=None if row.team_id is None else teams.get(row.team_id),
            redirect_uris=row.redirect_uris,
            interactions_endpoint_url=row.interactions_endpoint_url,
            role_connections_verification_url=row.role_connections_verification_url,
            event_webhooks_url=row.event_webhooks_url,
            event_webhooks_status=row.event_webhooks_status,
            event_webhooks_types=row.event_webhooks_types,
            approximate_guild_count=counts.get(row.bot_user_id or 0, 0),
            approximate_user_authorization_count=people.get(row.id, (0, 0))[0],
            approximate_user_install_count=people.get(row.id, (0, 0))[1],
            eligible_oauth2_scopes=sorted(GIVEN),
            public_client=row.public_client,
        )
        for row in rows
    ]


def public_fields(row: ApplicationRow, bot: User | None) -> dict[str, Any]:
    """The fields of `Application`: what anyone may see of one."""
    return {
        "id": row.id,
        "name": row.name,
        "icon": row.icon,
        "description": row.description,
        "bot": UNSET if bot is None else bot,
        "cover_image": UNSET if row.cover_image is None else row.cover_image,
        "bot_public": row.bot_public,
        "bot_require_code_grant": row.bot_require_code_grant,
        "terms_of_service_url": row.terms_of_service_url or UNSET,
        "privacy_policy_url": row.privacy_policy_url or UNSET,
        "custom_install_url": row.custom_install_url or UNSET,
        "install_params": UNSET if row.install_params is None else convert(row.install_params, InstallParams),
        "integration_types_config": UNSET if row.integration_types_config is None else row.integration_types_config,
        "verify_key": row.verify_key,
        "flags": row.flags,
        "flags_new": str(row.flags),
        "tags": row.tags or UNSET,
    }


def integration_application(row: ApplicationRow, bot: User | None) -> IntegrationApplication:
    """An application as integrations name it."""
    return IntegrationApplication(
        id=row.id, name=row.name, icon=row.icon, description=row.description, bot=UNSET if bot is None else bot
    )


async def _give_bot_token(ctx: Context, row: ApplicationRow) -> str:
    bot_id = _bot_of(row)
    token = new_account_token(bot_id)
    await insert_token(ctx.tx, hash_token(token), TokenKind.BOT, bot_id, ctx.now, application_id=row.id)
    return token


def _bot_of(row: ApplicationRow) -> UserId:
    return UserId(row.id) if row.bot_user_id is None else row.bot_user_id


def _changes(row: ApplicationRow, body: EditCurrentApplication) -> dict[str, Any]:
    """The columns that a request sets."""
    changes: dict[str, Any] = {}
    if body.description is not UNSET:
        changes["description"] = "" if body.description is None else clean(body.description).strip()
    for field in _IMAGES:
        image = getattr(body, field)
        if image is not UNSET:
            changes[field] = None if image is None else image.hash
    if body.flags is not UNSET:
        changes["flags"] = row.flags & ~SETTABLE | (body.flags or 0) & SETTABLE
    if body.tags is not UNSET:
        changes["tags"] = body.tags or []
    if body.install_params is not UNSET:
        changes["install_params"] = None if body.install_params is None else _install_params(body.install_params)
    if body.integration_types_config is not UNSET:
        given = body.integration_types_config or {}
        changes["integration_types_config"] = {key: _integration_type(config) for key, config in given.items()}
    for field in _TEXTS:
        text = getattr(body, field)
        if text is not UNSET:
            changes[field] = text or None
    return changes | _owners_changes(row, body) if isinstance(body, ModifyApplication) else changes


async def _team_changes(ctx: Context, row: ApplicationRow, body: EditCurrentApplication) -> dict[str, Any]:
    """The columns that change when an application goes to a team, or out of it: both its owner decides."""
    team_id = body.team_id if isinstance(body, ModifyApplication) else UNSET
    if team_id is UNSET or team_id == row.team_id:
        return {}
    if ctx.actor.user_id != row.owner_id:
        raise Refusal(errors.NOT_APPLICATION_OWNER)
    if team_id is None:
        return {"team_id": None}
    # Until this is over nobody ends the team or gives it away.
    await lock_team(ctx.tx, team_id)
    try:
        found = await find_team(ctx, team_id)
    except Refusal:
        found = None
    if found is None or not found.manages:
        refuse_field("team_id", FormCode.BASE_TYPE_CHOICES, "You do not manage this team.")
    return {"team_id": team_id, "owner_id": found.team.owner_user_id}


def _owners_changes(row: ApplicationRow, body: ModifyApplication) -> dict[str, Any]:
    changes: dict[str, Any] = {name: getattr(body, name) for name in _COPIED if getattr(body, name) is not UNSET}
    if body.redirect_uris is not UNSET:
        changes["redirect_uris"] = body.redirect_uris or []
    if body.name is not UNSET:
        changes["name"] = clean_name(body.name) or row.name
    return changes


def _integration_type(given: IntegrationTypeInput | None) -> dict[str, Any]:
    params = None if given is None else given.oauth2_install_params
    return {} if params is None else {"oauth2_install_params": _install_params(params)}


def _install_params(given: InstallParamsInput) -> Any:
    return to_plain(InstallParams(scopes=given.scopes or [], permissions=given.permissions or Permissions.NONE))
