"""Integration objects of responses and events."""

from collections.abc import Sequence

from msgspec import UNSET

from moothall.objects.ids import UserId
from moothall.objects.integration import Integration, IntegrationAccount
from moothall.objects.wire import convert
from moothall.resources.application.objects import integration_application
from moothall.resources.application.queries import select_applications
from moothall.resources.integration.queries import IntegrationRow
from moothall.resources.user.queries import get_users
from moothall.storage.database import Reader


async def integration_objects(reader: Reader, rows: Sequence[IntegrationRow]) -> list[Integration]:
    """Integrations with application, bot and the user who added them, in the order of `rows`, with two queries."""
    applications = await select_applications(
        reader, [row.application_id for row in rows if row.application_id is not None]
    )
    user_ids = [row.user_id for row in rows if row.user_id is not None]
    user_ids.extend(app.bot_user_id for app in applications.values() if app.bot_user_id is not None)
    users = await get_users(reader, user_ids)
    objects = []
    for row in rows:
        app = None if row.application_id is None else applications.get(row.application_id)
        bot = None if app is None else users.get(app.bot_user_id or UserId(app.id))
        objects.append(
            Integration(
                id=row.id,
                name=row.name,
                type=row.type,
                enabled=row.enabled,
                user=UNSET if row.user_id is None else users.get(row.user_id, UNSET),
                account=IntegrationAccount(id=str(int(row.id)), name=row.name)
                if row.account is None
                else convert(row.account, IntegrationAccount),
                application=UNSET if app is None else integration_application(app, bot),
                scopes=row.scopes,
            )
        )
    return objects


async def integration_object(reader: Reader, row: IntegrationRow) -> Integration:
    """One integration, as `integration_objects` makes them."""
    return (await integration_objects(reader, [row]))[0]
