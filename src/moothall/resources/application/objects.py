"""API objects of applications, with the secrets that are returned only once."""

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, Struct

from moothall.api.context import Context
from moothall.objects.activity import EmbeddedActivityConfig
from moothall.objects.application import ApplicationFlags, InstallParams, IntegrationApplication, OwnApplication
from moothall.objects.scopes import GRANTABLE_SCOPES
from moothall.objects.user import User
from moothall.objects.wire import convert
from moothall.resources.application import queries
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.application.team.objects import team_objects_by_id
from moothall.resources.user.queries import get_users


class NewBot(User, frozen=True, kw_only=True):
    """A new bot with its token, which is returned only once."""

    token: str


class NewApplication(OwnApplication, frozen=True, kw_only=True):
    """A new application with its secrets, which are returned only once."""

    bot: NewBot
    secret: str
    """The client secret."""


class BotToken(Struct, frozen=True):
    """A new bot token."""

    token: str


class ClientSecret(Struct, frozen=True):
    """A new client secret."""

    secret: str


async def application_object(ctx: Context, row: ApplicationRow) -> OwnApplication:
    """An application with the fields that its owner and its bot may see."""
    return (await application_objects(ctx, [row]))[0]


async def application_objects(ctx: Context, rows: Sequence[ApplicationRow]) -> list[OwnApplication]:
    """Several applications with those fields, with a constant number of queries."""
    bots = [row.bot_user_id for row in rows if row.bot_user_id is not None]
    users = await get_users(ctx.tx, [*bots, *(row.owner_id for row in rows)])
    counts = await queries.count_guilds(ctx.tx, bots)
    teams = await team_objects_by_id(ctx, [row.team_id for row in rows if row.team_id is not None])
    authorizations = await queries.count_authorizations(ctx.tx, [row.id for row in rows])
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
            approximate_user_authorization_count=authorizations.get(row.id, (0, 0))[0],
            approximate_user_install_count=authorizations.get(row.id, (0, 0))[1],
            eligible_oauth2_scopes=sorted(GRANTABLE_SCOPES),
            public_client=row.public_client,
        )
        for row in rows
    ]


def public_fields(row: ApplicationRow, bot: User | None) -> dict[str, Any]:
    """The fields of `Application`, which every user may see."""
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
        **(_activity_fields(row) if row.flags & ApplicationFlags.EMBEDDED else {}),
    }


def _activity_fields(row: ApplicationRow) -> dict[str, Any]:
    config = convert(row.embedded_activity_config or {}, EmbeddedActivityConfig)
    return {"max_participants": row.max_participants, "embedded_activity_config": config}


def integration_application(row: ApplicationRow, bot: User | None) -> IntegrationApplication:
    """The application object of an integration."""
    return IntegrationApplication(
        id=row.id, name=row.name, icon=row.icon, description=row.description, bot=UNSET if bot is None else bot
    )
