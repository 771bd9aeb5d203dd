"""What goes with a bot."""

from sqlalchemy import insert

from moothall.objects.audit_log import AuditLogEvent
from moothall.storage.database import Query
from moothall.storage.schema import integrations
from tests.harness import Platform

_insert_integration = Query(insert(integrations))


async def test_a_kicked_bot_takes_its_integration_and_its_role_with_it(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bot = await platform.bot(guild.owner)
    other = await guild.role(managed=True, tags={"bot_id": "123"})
    role = await guild.role(managed=True, tags={"bot_id": str(int(bot.id))})
    channel = await guild.channel(overwrites=[(role, 0, 1024, 0)])
    await guild.join(bot, roles=[role])
    integration_id = platform.ids.next()
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_integration,
            guild_id=guild.id,
            id=integration_id,
            name="bot",
            type="discord",
            application_id=bot.application_id,
        )
    assert (await guild.owner.delete(f"/guilds/{guild.id}/members/{bot.id}")).status == 204
    names = [name for name in platform.heard_names if name != "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert names == [
        "GUILD_MEMBER_REMOVE",
        "GUILD_ROLE_DELETE",
        "CHANNEL_UPDATE",
        "INTEGRATION_DELETE",
        "GUILD_INTEGRATIONS_UPDATE",
    ]
    assert platform.heard_data("INTEGRATION_DELETE") == [
        {
            "id": str(int(integration_id)),
            "guild_id": str(int(guild.id)),
            "application_id": str(int(bot.application_id or 0)),
        }
    ]
    assert platform.heard_data("CHANNEL_UPDATE")[0]["id"] == str(int(channel))
    kinds = [entry[0] for entry in await guild.audit_log()]
    assert kinds == [AuditLogEvent.ROLE_DELETE, AuditLogEvent.INTEGRATION_DELETE, AuditLogEvent.MEMBER_KICK]
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
    assert state is not None
    assert set(state.roles) == {guild.id, other}
