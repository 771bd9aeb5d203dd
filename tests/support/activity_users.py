"""Users and guilds that have installed an application with an Activity."""

from sqlalchemy import insert

from moothall.objects.ids import AuthorizationId, IntegrationId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import authorizations, integrations
from tests.support.harness import Caller, Guild, Platform

_insert_integration = Query(insert(integrations))
_insert_authorization = Query(insert(authorizations))
ALL = int(Permissions.DEFAULT | Permissions.USE_EMBEDDED_ACTIVITIES)


async def install(platform: Platform, guild: Guild, bot: Caller) -> None:
    """Install an application to a guild."""
    async with platform.database.transaction(guild.id) as tx:
        await tx.execute(
            _insert_integration,
            guild_id=guild.id,
            id=IntegrationId(platform.ids.next()),
            application_id=bot.id,
            name="app",
            type="discord",
            user_id=guild.owner.id,
            scopes=["applications.commands"],
        )


async def install_to_user(platform: Platform, person: Caller, bot: Caller) -> None:
    """Install an application to a user's account."""
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_authorization,
            user_id=person.id,
            application_id=bot.id,
            id=AuthorizationId(platform.ids.next()),
            scopes="applications.commands",
            user_install=True,
            created_at=Timestamp.now(),
        )


async def member(platform: Platform, guild: Guild, name: str) -> Caller:
    person = await platform.person(name)
    await guild.join(person)
    platform.presences.connect(person.id, name)
    return person
