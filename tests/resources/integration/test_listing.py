"""Listing a guild's integrations."""

from sqlalchemy import insert

from moothall.storage.database import Query
from moothall.storage.schema import integrations
from tests.support.harness import Platform

_insert_integration = Query(insert(integrations))


async def test_the_oldest_fifty_of_the_guild_are_listed_oldest_first(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    other = await platform.guild(guild.owner)
    bots = [await platform.bot(guild.owner) for _ in range(52)]
    async with platform.database.transaction() as tx:
        for number, bot in enumerate(bots):
            await tx.execute(
                _insert_integration,
                guild_id=guild.id if number < 51 else other.id,
                id=platform.ids.next(),
                name=bot.name,
                type="discord",
                application_id=bot.application_id,
                user_id=guild.owner.id,
                scopes=["bot"],
            )
    listed = (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json
    assert [item["application"]["id"] for item in listed] == [str(bot.application_id) for bot in bots[:50]]
    assert {item["user"]["id"] for item in listed} == {str(guild.owner.id)}
    assert len((await guild.owner.get(f"/guilds/{other.id}/integrations")).json) == 1
