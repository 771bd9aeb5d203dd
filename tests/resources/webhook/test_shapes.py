"""The objects of the three types of webhooks."""

from typing import Any

from sqlalchemy import insert

from moothall.objects.ids import WebhookId
from moothall.objects.webhook import WebhookType
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Query
from moothall.storage.schema import webhooks
from tests.support.harness import ANNOUNCEMENT, Platform

_insert = Query(insert(webhooks))


async def stored(platform: Platform, **columns: Any) -> int:
    """A webhook straight in the database, with the token "secret"."""
    webhook_id = WebhookId(platform.ids.next())
    async with platform.database.transaction() as tx:
        await tx.execute(_insert, id=webhook_id, token_hash=hash_token("secret"), token=b"?", **columns)
    return webhook_id


async def test_a_follower_has_its_source_while_that_exists_and_no_token(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    away = await platform.guild(await platform.person("publisher"), name="Press")
    await away.join(guild.owner)
    news = await away.channel(type=ANNOUNCEMENT, name="news")
    follower = await stored(
        platform,
        type=WebhookType.CHANNEL_FOLLOWER,
        guild_id=guild.id,
        channel_id=guild.general,
        name="Press #news",
        user_id=guild.owner.id,
        source_guild_id=away.id,
        source_channel_id=news,
    )
    shown = (await guild.owner.get(f"/webhooks/{follower}")).json
    assert (shown["type"], shown["name"], shown["user"]["id"]) == (2, "Press #news", str(guild.owner.id))
    assert shown["source_guild"] == {"id": str(away.id), "name": "Press", "icon": None}
    assert shown["source_channel"] == {"id": str(news), "name": "news"}
    assert "token" not in shown
    assert "url" not in shown
    assert (await guild.owner.get(f"/channels/{guild.general}/webhooks")).json == [shown]
    await guild.owner.delete(f"/users/@me/guilds/{away.id}")
    left = (await guild.owner.get(f"/webhooks/{follower}")).json
    assert left == {key: value for key, value in shown.items() if not key.startswith("source_")}
    await away.join(guild.owner)
    await away.owner.delete(f"/channels/{news}")
    assert "source_channel" not in (await guild.owner.get(f"/webhooks/{follower}")).json


async def test_an_applications_webhook_is_in_no_guild_and_only_for_its_application(platform: Platform) -> None:
    owner = await platform.person("owner")
    bot, other = await platform.bot(owner), await platform.bot(owner)
    webhook = await stored(platform, type=WebhookType.APPLICATION, name="App", application_id=bot.application_id)
    assert (await bot.get(f"/webhooks/{webhook}")).json == {
        "id": str(webhook),
        "type": 3,
        "guild_id": None,
        "channel_id": None,
        "name": "App",
        "avatar": None,
        "application_id": str(bot.application_id),
    }
    assert (await other.get(f"/webhooks/{webhook}")).code == 10015
    assert (await platform.anonymous.post(f"/webhooks/{webhook}/secret", {"content": "x"})).code == 10015
