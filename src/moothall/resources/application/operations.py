"""Creating, modifying and deleting applications, and resetting their secrets (resources: application)."""

from functools import partial
from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from msgspec import UNSET, structs

from moothall.api import unit_of_work
from moothall.api.authenticate import TokenKind
from moothall.api.context import Context, Services
from moothall.api.hooks import Fires, Hook
from moothall.objects import errors, limits
from moothall.objects.application import (
    SETTABLE,
    InstallParams,
    IntegrationType,
    OwnApplication,
)
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean, clean_name, search_key
from moothall.objects.webhook_event import EventWebhooksStatus
from moothall.objects.wire import to_plain
from moothall.resources.application import queries
from moothall.resources.application.access import can_manage_application, find_application
from moothall.resources.application.authorization.queries import delete_of_application
from moothall.resources.application.objects import (
    BotToken,
    ClientSecret,
    NewApplication,
    NewBot,
    application_object,
)
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.application.requests import (
    EditCurrentApplication,
    InstallParamsInput,
    IntegrationTypeInput,
    ModifyApplication,
)
from moothall.resources.application.team.access import find_team
from moothall.resources.application.team.queries import lock_team, select_joined_team_ids
from moothall.resources.user.auth_session.operations import delete_tokens_of_kind
from moothall.resources.user.events import SessionsClose
from moothall.resources.user.queries import insert_token, insert_user, lock_user, update_user
from moothall.runtime.secrets import hash_token, new_account_token, new_token

_SECRET_LENGTH: Final = 32
_OWNER_FIELDS: Final = ("bot_public", "bot_require_code_grant", "public_client")
_URL_FIELDS: Final = (
    "interactions_endpoint_url",
    "custom_install_url",
    "role_connections_verification_url",
    "terms_of_service_url",
    "privacy_policy_url",
)
_IMAGE_FIELDS: Final = ("icon", "cover_image")


APPLICATION_CHANGED: Final = Hook[[Context, ApplicationRow], None]("application changed")
"""Called in the transaction that creates or modifies an application."""
ENDPOINT_VERIFYING: Final = Hook[[Services, ApplicationRow, str], str | None]("interactions endpoint verifying")
"""Checks that an interactions endpoint verifies signatures; returns what is wrong with it, or None."""
EVENT_WEBHOOK_VERIFYING: Final = Hook[[Services, ApplicationRow, str], str | None]("event webhook verifying")
"""Checks that a URL for webhook events verifies signatures; returns what is wrong with it, or None."""
APPLICATION_DELETING: Final = Hook[[Context, ApplicationId], None]("application deleting")
"""Called in the transaction that revokes the tokens of an application that is being deleted."""
APPLICATION_LEAVING: Final = Hook[[Context, UserId], None]("application leaving")
"""Called after that, outside a transaction, to remove the application's bot from its guilds."""
DELETE_APPLICATION_EVENTS: Final[Fires] = (SessionsClose, APPLICATION_DELETING, APPLICATION_LEAVING)
"""For `fires` of rows that may delete an application."""

_DELETED_USERNAME: Final = "Deleted User"
_UNVERIFIED_EVENTS: Final = "The specified event webhooks url could not be verified."
_UNVERIFIED: Final = "The specified interactions endpoint url could not be verified."


async def verify_endpoints(services: Services, row: ApplicationRow, body: EditCurrentApplication) -> None:
    """Verify new endpoints with requests. Call it outside a transaction, as it may take seconds.

    Raises Refusal: 50035 at `interactions_endpoint_url`, `event_webhooks_url` or `event_webhooks_status`.
    """
    await _verify_interactions_endpoint(services, row, body)
    url = row.event_webhooks_url if body.event_webhooks_url is UNSET else body.event_webhooks_url
    enables = body.enables_event_webhooks and row.event_webhooks_status != EventWebhooksStatus.ENABLED
    if not url:
        if body.enables_event_webhooks:
            refuse_field("event_webhooks_status", FormCode.BASE_TYPE_BAD_TYPE, "Webhook events need a url.")
        return
    if url == row.event_webhooks_url and not enables:
        return
    problem = await EVENT_WEBHOOK_VERIFYING.first(services, row, url)
    if problem is not None:
        refuse_field("event_webhooks_url", FormCode.EVENT_WEBHOOKS_URL_INVALID, f"{_UNVERIFIED_EVENTS} {problem}")


async def _verify_interactions_endpoint(services: Services, row: ApplicationRow, body: EditCurrentApplication) -> None:
    url = body.interactions_endpoint_url
    if url is UNSET or not url or url == row.interactions_endpoint_url:
        return
    problem = await ENDPOINT_VERIFYING.first(services, row, url)
    if problem is not None:
        refuse_field(
            "interactions_endpoint_url", FormCode.INTERACTIONS_ENDPOINT_URL_INVALID, f"{_UNVERIFIED} {problem}"
        )


async def create_application(
    ctx: Context, owner_id: UserId, name: str, settings: EditCurrentApplication | None = None
) -> NewApplication:
    """Create an application and its bot, which has the same id and name.

    Raises Refusal: 400/50011 for an owner of `APPLICATIONS_PER_OWNER` applications; 50035 for a team that the caller
    does not manage.
    """
    await lock_user(ctx.tx, owner_id)
    if await queries.count_applications_of_owner(ctx.tx, owner_id) >= limits.APPLICATIONS_PER_OWNER:
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
        row = structs.replace(
            row, **_requested_changes(row, settings) | await _team_changes(ctx, row, settings) | {"name": name}
        )
    await queries.insert_application(ctx.tx, row)
    await insert_user(
        ctx.tx, id=bot_id, username=name, username_key=search_key(name), bot=True, application_id=application_id
    )
    await APPLICATION_CHANGED(ctx, row)
    token = await _insert_bot_token(ctx, row)
    fields = structs.asdict(await application_object(ctx, row))
    bot = structs.asdict(fields.pop("bot"))
    return NewApplication(**fields, bot=NewBot(**bot, token=token), secret=secret)


async def modify_application(ctx: Context, row: ApplicationRow, body: EditCurrentApplication) -> ApplicationRow:
    """Update the columns that a request changes; of the flags only those in `SETTABLE`.

    The caller has verified a new interactions endpoint. Raises Refusal: 403/20012 for a team set by another user than
    the owner, 50035 for a team that the caller does not manage.
    """
    values = _requested_changes(row, body) | await _team_changes(ctx, row, body)
    changes = {name: value for name, value in values.items() if getattr(row, name) != value}
    if not changes:
        return row
    await queries.update_application(ctx.tx, row.id, **changes)
    after = structs.replace(row, **changes)
    await APPLICATION_CHANGED(ctx, after)
    return after


async def verify_and_modify_application(
    ctx: Context, application_id: ApplicationId, body: EditCurrentApplication
) -> OwnApplication:
    """Verify new endpoints, then store all changes in one transaction. Call it outside a transaction.

    Raises Refusal: 404/10002, 403/20012; as `verify_endpoints` and `modify_application`.
    """
    await verify_endpoints(ctx.services, await find_application(ctx, application_id), body)

    async def work(inner: Context) -> OwnApplication:
        row = await queries.lock_application(inner.tx, application_id)
        if row is None:
            raise Refusal(errors.UNKNOWN_APPLICATION)
        if not inner.actor.bot and not await can_manage_application(inner, row):
            raise Refusal(errors.NOT_APPLICATION_OWNER)
        return await application_object(inner, await modify_application(inner, row, body))

    return await unit_of_work.run(ctx.services, ctx.actor, work, fires=(APPLICATION_CHANGED,))


async def reset_bot_token(ctx: Context, row: ApplicationRow) -> BotToken:
    """Replace the token of an application's bot, and close the sessions opened with the old one."""
    await delete_tokens_of_kind(ctx, _bot_user_id(row), TokenKind.BOT)
    return BotToken(await _insert_bot_token(ctx, row))


async def reset_client_secret(ctx: Context, row: ApplicationRow) -> ClientSecret:
    """Replace the client secret of an application."""
    secret = new_token(_SECRET_LENGTH)
    await queries.update_application(ctx.tx, row.id, secret_hash=hash_token(secret))
    return ClientSecret(secret)


async def list_applications(ctx: Context, *, with_teams: bool) -> list[ApplicationRow]:
    """The applications of the caller by ascending id, including those of their teams with `with_teams`."""
    rows = await queries.select_applications_of_owner(ctx.tx, ctx.actor.user_id)
    if with_teams:
        own_ids = {row.id for row in rows}
        team_ids = await select_joined_team_ids(ctx.tx, ctx.actor.user_id)
        rows += [row for row in await queries.select_applications_of_teams(ctx.tx, team_ids) if row.id not in own_ids]
    return sorted(rows, key=lambda row: row.id)


async def delete_application(ctx: Context, application: ApplicationRow) -> None:
    """Delete an application: revoke its tokens, remove its bot from every guild, delete its rows.

    The bot's messages stay. Call it outside a transaction; a repeated call completes an interrupted one. Raises
    Refusal: 400/50055 while the bot owns a guild.
    """
    bot_id = _bot_user_id(application)
    if await queries.owns_guild(ctx.tx, bot_id):
        raise Refusal(errors.INVALID_GUILD)
    services = ctx.services
    await unit_of_work.run(
        services, ctx.actor, partial(revoke_tokens, application, bot_id), fires=DELETE_APPLICATION_EVENTS
    )
    await APPLICATION_LEAVING(ctx, bot_id)
    await unit_of_work.run(
        services, ctx.actor, partial(delete_rows, application, bot_id), fires=DELETE_APPLICATION_EVENTS
    )


async def _insert_bot_token(ctx: Context, row: ApplicationRow) -> str:
    bot_id = _bot_user_id(row)
    token = new_account_token(bot_id)
    await insert_token(ctx.tx, hash_token(token), TokenKind.BOT, bot_id, ctx.now, application_id=row.id)
    return token


def _bot_user_id(row: ApplicationRow) -> UserId:
    return UserId(row.id) if row.bot_user_id is None else row.bot_user_id


def _requested_changes(row: ApplicationRow, body: EditCurrentApplication) -> dict[str, object]:
    """The values of the columns that a request sets, except the team."""
    changes: dict[str, object] = {}
    if body.description is not UNSET:
        changes["description"] = "" if body.description is None else clean(body.description).strip()
    for field in _IMAGE_FIELDS:
        image = getattr(body, field)
        if image is not UNSET:
            changes[field] = None if image is None else image.hash
    if body.tags is not UNSET:
        changes["tags"] = body.tags or []
    if body.install_params is not UNSET:
        changes["install_params"] = None if body.install_params is None else _install_params(body.install_params)
    if body.integration_types_config is not UNSET:
        configs = body.integration_types_config or {}
        changes["integration_types_config"] = {key: _integration_type(config) for key, config in configs.items()}
    for field in _URL_FIELDS:
        text = getattr(body, field)
        if text is not UNSET:
            changes[field] = text or None
    changes |= _flag_changes(row, body) | _event_webhook_changes(row, body)
    return changes | _owner_changes(row, body) if isinstance(body, ModifyApplication) else changes


def _flag_changes(row: ApplicationRow, body: EditCurrentApplication) -> dict[str, object]:
    """The flags that a request may set, and the participants of its Activity."""
    changes: dict[str, object] = {}
    if body.flags is not UNSET:
        changes["flags"] = row.flags & ~SETTABLE | (body.flags or 0) & SETTABLE
    if body.max_participants is not UNSET:
        changes["max_participants"] = -1 if body.max_participants is None else body.max_participants
    return changes


def _event_webhook_changes(row: ApplicationRow, body: EditCurrentApplication) -> dict[str, object]:
    """The columns of webhook events. Without a URL they are disabled."""
    changes: dict[str, object] = {}
    if body.event_webhooks_types is not UNSET:
        changes["event_webhooks_types"] = [kind.value for kind in body.event_webhooks_types or ()]
    if body.event_webhooks_status is not UNSET:
        changes["event_webhooks_status"] = int(body.event_webhooks_status or EventWebhooksStatus.DISABLED)
    url = row.event_webhooks_url
    if body.event_webhooks_url is not UNSET:
        url = changes["event_webhooks_url"] = body.event_webhooks_url or None
    if url is None:
        changes["event_webhooks_status"] = int(EventWebhooksStatus.DISABLED)
    return changes


async def _team_changes(ctx: Context, row: ApplicationRow, body: EditCurrentApplication) -> dict[str, object]:
    """The columns that change when an application's owner moves it into a team or out of one."""
    team_id = body.team_id if isinstance(body, ModifyApplication) else UNSET
    if team_id is UNSET or team_id == row.team_id:
        return {}
    if ctx.actor.user_id != row.owner_id:
        raise Refusal(errors.NOT_APPLICATION_OWNER)
    if team_id is None:
        return {"team_id": None}
    # The lock keeps the team from being deleted or transferred until the transaction ends.
    await lock_team(ctx.tx, team_id)
    try:
        membership = await find_team(ctx, team_id)
    except Refusal:
        membership = None
    if membership is None or not membership.can_manage:
        refuse_field("team_id", FormCode.BASE_TYPE_CHOICES, "You do not manage this team.")
    return {"team_id": team_id, "owner_id": membership.team.owner_user_id}


def _owner_changes(row: ApplicationRow, body: ModifyApplication) -> dict[str, object]:
    changes: dict[str, object] = {
        name: getattr(body, name) for name in _OWNER_FIELDS if getattr(body, name) is not UNSET
    }
    if body.redirect_uris is not UNSET:
        changes["redirect_uris"] = body.redirect_uris or []
    if body.name is not UNSET:
        changes["name"] = clean_name(body.name) or row.name
    return changes


def _integration_type(config: IntegrationTypeInput | None) -> JsonObject:
    params = None if config is None else config.oauth2_install_params
    return {} if params is None else {"oauth2_install_params": _install_params(params)}


def _install_params(params: InstallParamsInput) -> object:
    return to_plain(InstallParams(scopes=params.scopes or [], permissions=params.permissions or Permissions.NONE))


async def revoke_tokens(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
    """Revoke the tokens of an application that is being deleted, and close the gateway sessions of its bot."""
    await queries.delete_tokens(ctx.tx, application.id)
    await delete_of_application(ctx.tx, application.id)
    await APPLICATION_DELETING(ctx, application.id)
    ctx.emit(SessionsClose(user_id=bot_id))


async def delete_rows(application: ApplicationRow, bot_id: UserId, ctx: Context) -> None:
    """Delete an application whose bot has left every guild; the bot's account remains as a deleted user."""
    # The account stays as the author of its messages.
    await update_user(
        ctx.tx,
        bot_id,
        username=_DELETED_USERNAME,
        username_key=search_key(_DELETED_USERNAME),
        global_name=None,
        avatar=None,
        banner=None,
        bio="",
        application_id=None,
        deleted=True,
    )
    await queries.delete_application(ctx.tx, application.id)
