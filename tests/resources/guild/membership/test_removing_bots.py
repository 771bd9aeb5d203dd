"""What is removed together with a bot that is kicked, banned or leaves."""

from collections.abc import Awaitable, Callable

import pytest
from msgspec import Struct
from sqlalchemy import insert

from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.storage.database import Query
from moothall.storage.schema import integrations
from tests.resources.auto_moderation.rules import create_rule
from tests.support.harness import VOICE, Caller, Guild, Platform, Reply
from tests.support.memberships import enter_voice

_insert_integration = Query(insert(integrations))


class Installed(Struct):
    """A bot in a guild with its integration and its role, connected to voice."""

    guild: Guild
    bot: Caller
    other_role: RoleId
    channel: ChannelId
    """It has an overwrite for the bot's role."""
    integration_id: Snowflake


async def _bulk_ban(installed: Installed) -> Reply:
    path = f"/guilds/{installed.guild.id}/bulk-ban"
    return await installed.guild.owner.post(path, {"user_ids": [str(int(installed.bot.id))]})


_WAYS: dict[str, tuple[Callable[[Installed], Awaitable[Reply]], AuditLogEvent | None]] = {
    "kick": (
        lambda installed: installed.guild.owner.delete(f"/guilds/{installed.guild.id}/members/{installed.bot.id}"),
        AuditLogEvent.MEMBER_KICK,
    ),
    "ban": (
        lambda installed: installed.guild.owner.put(f"/guilds/{installed.guild.id}/bans/{installed.bot.id}"),
        AuditLogEvent.MEMBER_BAN_ADD,
    ),
    "bulk ban": (_bulk_ban, AuditLogEvent.MEMBER_BAN_ADD),
    "leave": (lambda installed: installed.bot.delete(f"/users/@me/guilds/{installed.guild.id}"), None),
}


@pytest.fixture
async def installed(platform: Platform) -> Installed:
    guild = await platform.guild(await platform.person())
    bot = await platform.bot(guild.owner)
    other = await guild.role(managed=True, tags={"bot_id": "123"})
    role = await guild.role(managed=True, tags={"bot_id": str(int(bot.id))})
    channel = await guild.channel(overwrites=[(role, 0, 1024, 0)])
    await create_rule(guild, exempt_roles=[str(int(role))])
    await guild.join(bot, roles=[role])
    await enter_voice(platform, guild, bot, await guild.channel(type=VOICE))
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
    platform.heard.clear()
    return Installed(guild, bot, other, channel, integration_id)


@pytest.mark.parametrize("way", _WAYS)
async def test_a_removed_bot_loses_its_integration_and_its_role(
    platform: Platform, installed: Installed, way: str
) -> None:
    go, recorded = _WAYS[way]
    assert (await go(installed)).status in {200, 204}
    names = [name for name in platform.heard_names if name not in {"GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_BAN_ADD"}]
    assert names == [
        "VOICE_STATE_UPDATE",
        "VOICE_CHANNEL_START_TIME_UPDATE",
        "GUILD_MEMBER_REMOVE",
        "GUILD_ROLE_DELETE",
        "CHANNEL_UPDATE",
        "AUTO_MODERATION_RULE_UPDATE",
        "INTEGRATION_DELETE",
        "GUILD_INTEGRATIONS_UPDATE",
    ]
    guild, bot = installed.guild, installed.bot
    assert platform.heard_data("INTEGRATION_DELETE") == [
        {
            "id": str(int(installed.integration_id)),
            "guild_id": str(int(guild.id)),
            "application_id": str(int(bot.application_id or 0)),
        }
    ]
    assert platform.heard_data("CHANNEL_UPDATE")[0]["id"] == str(int(installed.channel))
    kinds = [entry[0] for entry in await guild.audit_log()][1:]
    own = [] if recorded is None else [recorded]
    assert kinds == [AuditLogEvent.ROLE_DELETE, AuditLogEvent.INTEGRATION_DELETE, *own]
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
    assert state is not None
    assert set(state.roles) == {guild.id, installed.other_role}
