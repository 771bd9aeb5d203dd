"""Get Channel Messages and Get Channel Message: pages, and who may read what."""

from moothall.objects.permissions import Permissions
from tests.resources.message.messaging import bot_of, direct_messages, guild_of, member_of, say
from tests.support.harness import Platform

P = Permissions
MESSAGE_CONTENT_LIMITED = 1 << 19


async def test_pages_run_from_newest_to_oldest_for_every_parameter(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    ids = [(await say(owner, url, str(n)))["id"] for n in range(10)]

    async def page(**query: object) -> list[int]:
        reply = await owner.get(url, **query)
        assert reply.status == 200
        return [ids.index(message["id"]) for message in reply.json]

    assert await page() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
    assert await page(limit=3) == [9, 8, 7]
    assert await page(before=ids[5], limit=3) == [4, 3, 2]
    assert await page(after=ids[5], limit=3) == [8, 7, 6]
    assert await page(around=ids[5], limit=5) == [7, 6, 5, 4, 3]
    assert await page(around=ids[5], limit=1) == [5]
    assert await page(around=ids[0], limit=4) == [2, 1, 0]
    assert await page(before=ids[0]) == []
    for limit in (0, 101):
        reply = await owner.get(url, limit=limit)
        assert (reply.status, reply.code) == (400, 50035)
    assert (await owner.delete(f"{url}/{ids[5]}")).status == 204
    assert await page(around=ids[5], limit=2) == [6, 4]


async def test_a_page_shows_authors_and_mentions_with_their_current_names(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    await say(owner, url, f"<@{friend.id}>")
    await friend.patch("/users/@me", {"global_name": "Renamed"})
    await owner.patch("/users/@me", {"global_name": "Boss"})
    message = (await owner.get(url)).json[0]
    assert message["author"]["global_name"] == "Boss"
    assert message["mentions"][0]["global_name"] == "Renamed"
    assert message == (await owner.get(f"{url}/{message['id']}")).json


async def test_without_history_the_list_is_empty_and_a_message_refused(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL | P.SEND_MESSAGES)
    member = await member_of(platform, guild)
    sent = await say(owner, url)
    assert (await member.get(url)).json == []
    assert (await member.get(f"{url}/{sent['id']}")).code == 50013


async def test_a_message_is_found_in_its_own_channel_only(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url)
    elsewhere = await guild.channel()
    for path in (f"/channels/{elsewhere}/messages/{sent['id']}", f"{url}/1", f"{url}/x"):
        reply = await owner.get(path)
        assert (reply.status, reply.code) == (404, 10008)


async def test_a_bot_without_the_intent_reads_only_its_own_messages_and_mentions(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    blind, seeing = await bot_of(platform, guild), await bot_of(platform, guild, flags=MESSAGE_CONTENT_LIMITED)
    secret = await say(owner, url, "secret", embeds=[{"title": "hidden"}])
    await say(owner, url, f"for you <@{blind.id}>")
    await say(blind, url, "mine", message_reference={"message_id": secret["id"]}, embeds=[{"title": "own"}])
    own, mentioned, hidden = (await blind.get(url)).json
    assert (hidden["content"], hidden["embeds"]) == ("", [])
    assert hidden["author"]["id"] == str(owner.id)
    assert mentioned["content"].startswith("for you")
    assert (own["content"], own["embeds"][0]["title"]) == ("mine", "own")
    assert own["referenced_message"]["content"] == ""
    assert (await blind.get(f"{url}/{secret['id']}")).json == hidden
    assert [m["content"] for m in (await seeing.get(url)).json][2] == "secret"
    answer = await blind.post(url, {"content": "x", "message_reference": {"message_id": secret["id"]}})
    assert answer.json["referenced_message"]["content"] == ""


async def test_a_bot_reads_its_direct_messages_whole(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    bot = await bot_of(platform, guild)
    url = await direct_messages(owner, bot)
    await say(owner, url, "secret")
    assert (await bot.get(url)).json[0]["content"] == "secret"
