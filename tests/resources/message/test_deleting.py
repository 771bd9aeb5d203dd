"""Delete Message, Bulk Delete Messages, and deleting the messages of a banned user."""

from sqlalchemy import func, select, update

from moothall.objects.ids import MessageId, snowflake_at
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Database, Query
from moothall.storage.schema import messages, pins, reaction_counts, reactions
from tests.resources.message.messaging import direct_messages, guild_of, member_of, say
from tests.support.harness import Platform

P = Permissions
DAY = 86_400_000


async def _counts(database: Database) -> list[int]:
    """Rows of messages, pins, reaction counts and reactions."""
    async with database.read() as reader:
        return [
            await reader.scalar(Query(select(func.count()).select_from(table)))
            for table in (messages, pins, reaction_counts, reactions)
        ]


async def test_deleting_ones_own_message_is_not_recorded(platform: Platform) -> None:
    _, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    sent = await say(member, url)
    with platform.listening() as heard:
        assert (await member.delete(f"{url}/{sent['id']}", reason="oops")).status == 204
    assert heard == ["MESSAGE_DELETE"]
    assert platform.heard_data("MESSAGE_DELETE") == [
        {"id": sent["id"], "channel_id": str(guild.general), "guild_id": str(guild.id)}
    ]
    assert await guild.audit_log() == []
    assert (await member.delete(f"{url}/{sent['id']}")).code == 10008


async def test_deleting_anothers_message_needs_a_permission_and_is_recorded(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    sent = await say(owner, url)
    assert (await member.delete(f"{url}/{sent['id']}")).code == 50013
    moderator = await guild.member_with(P.MANAGE_MESSAGES)
    with platform.listening() as heard:
        assert (await moderator.delete(f"{url}/{sent['id']}", reason="rude")).status == 204
    assert sorted(heard) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "MESSAGE_DELETE"]
    assert await guild.audit_log() == [(72, owner.id, "rude")]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert entry["options"] == {"channel_id": str(guild.general), "count": "1"}


async def test_a_message_is_deleted_with_its_reactions_and_its_pin(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent, other = await say(owner, url), await say(owner, url)
    for message in (sent, other):
        await owner.put(f"{url}/{message['id']}/reactions/👍/@me")
    await owner.put(f"{url}/pins/{sent['id']}")
    await owner.delete(f"{url}/{sent['id']}")
    assert await _counts(platform.database) == [2, 0, 1, 1]
    assert (await owner.get(f"/channels/{guild.general}/pins")).json == []


async def test_anothers_direct_message_cannot_be_deleted(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    friend = await member_of(platform, guild)
    url = await direct_messages(owner, friend)
    sent = await say(owner, url)
    assert (await friend.delete(f"{url}/{sent['id']}")).code == 50003
    assert (await owner.delete(f"{url}/{sent['id']}")).status == 204
    assert set(platform.heard[-1].user_ids) == {owner.id, friend.id}


async def test_many_messages_are_deleted_at_once(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    ids = [(await say(owner, url))["id"] for _ in range(4)]
    await owner.put(f"{url}/{ids[0]}/reactions/👍/@me")
    moderator = await guild.member_with(P.MANAGE_MESSAGES)
    with platform.listening() as heard:
        reply = await moderator.post(f"{url}/bulk-delete", {"messages": [*ids[:3], "77777"]}, reason="tidy")
    assert (reply.status, reply.code) == (400, 50034)
    assert heard == []
    unknown = str(int(ids[3]) + 1)
    with platform.listening() as heard:
        reply = await moderator.post(f"{url}/bulk-delete", {"messages": [*ids[:3], unknown]}, reason="tidy")
    assert reply.status == 204
    assert sorted(heard) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "MESSAGE_DELETE_BULK"]
    assert platform.heard_data("MESSAGE_DELETE_BULK") == [
        {"ids": ids[:3], "channel_id": str(guild.general), "guild_id": str(guild.id)}
    ]
    assert await guild.audit_log() == [(73, guild.general, "tidy")]
    assert platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]["options"] == {"count": "3"}
    assert await _counts(platform.database) == [1, 0, 0, 0]
    with platform.listening() as heard:
        assert (await moderator.post(f"{url}/bulk-delete", {"messages": ids[:2]})).status == 204
    assert heard == []


async def test_bulk_deletes_are_bounded(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url)
    now = Timestamp.now()
    for ids in ([sent["id"]], [str(snowflake_at(now) + n) for n in range(101)]):
        reply = await owner.post(f"{url}/bulk-delete", {"messages": ids})
        assert (reply.status, reply.code) == (400, 50016)
    reply = await owner.post(f"{url}/bulk-delete", {"messages": [sent["id"], sent["id"]]})
    assert reply.errors_at("messages.1") == ["SET_TYPE_ALREADY_CONTAINS_VALUE"]
    old = snowflake_at(now - 14 * DAY - 1000)
    assert (await owner.post(f"{url}/bulk-delete", {"messages": [sent["id"], str(old)]})).code == 50034
    fresh = snowflake_at(now - 14 * DAY + 60_000)
    assert (await owner.post(f"{url}/bulk-delete", {"messages": [str(fresh), str(fresh + 1)]})).status == 204
    assert (await owner.get(f"{url}/{sent['id']}")).status == 200


async def test_bulk_deletes_are_for_moderators_of_guilds(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    ids = [(await say(member, url))["id"] for _ in range(2)]
    assert (await member.post(f"{url}/bulk-delete", {"messages": ids})).code == 50013
    direct = await direct_messages(owner, member)
    assert (await owner.post(f"{direct}/bulk-delete", {"messages": ids})).status == 403


async def test_a_ban_deletes_recent_messages(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    spammer, friend = await member_of(platform, guild), await member_of(platform, guild)
    other = await guild.channel()
    elsewhere = await platform.guild(owner)
    await elsewhere.join(spammer)
    kept = [await say(friend, url), await say(spammer, f"/channels/{elsewhere.general}/messages")]
    here = [await say(spammer, url) for _ in range(2)]
    there = await say(spammer, f"/channels/{other}/messages")
    await friend.put(f"{url}/{here[0]['id']}/reactions/👍/@me")
    await owner.put(f"{url}/pins/{here[1]['id']}")
    await _age(platform, here[0]["id"], hours=2)
    with platform.listening() as heard:
        reply = await owner.put(f"/guilds/{guild.id}/bans/{spammer.id}", {"delete_message_seconds": 3600})
    assert reply.status == 204
    assert heard.count("MESSAGE_DELETE_BULK") == 2
    ids_by_channel = {event["channel_id"]: event["ids"] for event in platform.heard_data("MESSAGE_DELETE_BULK")}
    assert ids_by_channel == {str(guild.general): [here[1]["id"]], str(other): [there["id"]]}
    left = {message["id"] for message in (await owner.get(url)).json if message["type"] == 0}
    assert kept[0]["id"] in left
    assert here[1]["id"] not in left
    assert len((await owner.get(f"/channels/{elsewhere.general}/messages")).json) == 1
    assert (await owner.get(f"/channels/{guild.general}/pins")).json == []


async def test_messages_deleted_by_a_ban_are_announced_by_the_hundred(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    spammer = await member_of(platform, guild)
    for _ in range(103):
        await say(spammer, url)
    await owner.put(f"/guilds/{guild.id}/bans/{spammer.id}", {"delete_message_seconds": 604_800})
    assert [len(event["ids"]) for event in platform.heard_data("MESSAGE_DELETE_BULK")] == [100, 3]
    assert (await _counts(platform.database))[0] == 0


async def _age(platform: Platform, message_id: str, *, hours: int) -> None:
    """Make a message older, with what belongs to it."""
    old = MessageId(snowflake_at(Timestamp.now() - hours * 3_600_000))
    async with platform.database.transaction() as tx:
        await tx.execute(Query(update(messages).where(messages.c.id == int(message_id)).values(id=int(old))))
        for table in (pins, reaction_counts, reactions):
            await tx.execute(
                Query(update(table).where(table.c.message_id == int(message_id)).values(message_id=int(old)))
            )
