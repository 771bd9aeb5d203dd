"""Reactions: who may add them, how messages show them, and how they are removed."""

import asyncio

from sqlalchemy import insert, select

from moothall.objects.ids import EmojiId, Snowflake
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import emojis, reaction_counts, reactions
from tests.resources.message.messaging import bot_of, direct_messages, guild_of, member_of, say
from tests.support.harness import Caller, Guild, Platform

P = Permissions


async def _emoji(platform: Platform, guild: Guild, name: str = "blob", **values: object) -> EmojiId:
    """An emoji of a guild, in a fresh version of it."""
    emoji_id = EmojiId(platform.ids.next())
    async with platform.database.transaction() as tx:
        await tx.execute(Query(insert(emojis)), guild_id=guild.id, id=emoji_id, name=name, **values)
    await guild.set(name="Renamed")
    return emoji_id


async def _shown(caller: Caller, url: str, message: dict[str, object]) -> list[tuple[str, int, bool]]:
    """(emoji's name, count, me) of a message as a user sees it."""
    read = (await caller.get(f"{url}/{message['id']}")).json
    return [(r["emoji"]["name"], r["count"], r["me"]) for r in read.get("reactions", [])]


async def test_a_reaction_is_announced_counted_and_listed(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/👍"
    with platform.listening() as heard:
        assert (await friend.put(f"{path}/@me")).status == 204
    assert heard == ["MESSAGE_REACTION_ADD"]
    assert platform.heard[-1].intent == Intent.GUILD_MESSAGE_REACTIONS
    data = platform.heard_data("MESSAGE_REACTION_ADD")[0]
    assert data["member"]["user"]["id"] == str(friend.id)
    assert data["member"]["roles"] == []
    del data["member"]
    assert data == {
        "user_id": str(friend.id),
        "channel_id": str(guild.general),
        "message_id": sent["id"],
        "guild_id": str(guild.id),
        "message_author_id": str(owner.id),
        "emoji": {"id": None, "name": "👍"},
        "burst": False,
        "burst_colors": [],
        "type": 0,
    }
    assert await _shown(friend, url, sent) == [("👍", 1, True)]
    assert await _shown(owner, url, sent) == [("👍", 1, False)]
    await owner.put(f"{path}/@me")
    (shown,) = (await owner.get(url)).json[0]["reactions"]
    assert (shown["count"], shown["count_details"], shown["me_burst"]) == (2, {"burst": 0, "normal": 2}, False)
    assert [user["id"] for user in (await owner.get(path)).json] == [str(owner.id), str(friend.id)]
    assert [user["id"] for user in (await owner.get(path, after=owner.id)).json] == [str(friend.id)]
    assert len((await owner.get(path, limit=1)).json) == 1
    assert (await owner.get(path, type=1)).json == []


async def test_reacting_again_changes_nothing(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/👍/@me"
    await owner.put(path)
    with platform.listening() as heard:
        assert (await owner.put(path)).status == 204
    assert heard == []
    assert await _shown(owner, url, sent) == [("👍", 1, True)]


async def test_only_a_new_emoji_needs_the_permission(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL | P.READ_MESSAGE_HISTORY)
    member = await member_of(platform, guild)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions"
    assert (await member.put(f"{path}/👍/@me")).code == 50013
    await owner.put(f"{path}/👍/@me")
    assert (await member.put(f"{path}/👍/@me")).status == 204
    assert (await member.put(f"{path}/🔥/@me")).code == 50013


async def test_what_is_no_emoji_is_refused(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url)
    for text in ("x", "👍👍", "blob:12345", "a:blob:12345", "12345"):
        path = f"{url}/{sent['id']}/reactions/{text}/@me"
        reply = await owner.put(path)
        assert (reply.status, reply.code) == (400, 10014)
        reply = await owner.delete(path)
        if ":" in text:  # an emoji of a guild may be gone by now
            assert (reply.status, reply.body) == (204, b"")
        else:
            assert (reply.status, reply.code) == (400, 10014)
    assert (await owner.put(f"{url}/5/reactions/👍/@me")).code == 10008


async def test_a_guilds_emoji_is_for_its_members_with_its_roles(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    role = await guild.role()
    plain = await _emoji(platform, guild, animated=True)
    exclusive = await _emoji(platform, guild, "noble", roles=[Snowflake(role)])
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions"
    assert (await member.put(f"{path}/oldname:{plain}/@me")).status == 204
    assert platform.heard_data("MESSAGE_REACTION_ADD")[0]["emoji"] == {
        "id": str(plain), "name": "blob", "animated": True,
    }  # fmt: skip
    assert (await owner.put(f"{path}/a:blob:{plain}/@me")).status == 204
    assert await _shown(member, url, sent) == [("blob", 2, True)]
    assert (await member.put(f"{path}/noble:{exclusive}/@me")).code == 10014
    noble = await platform.person()
    await guild.join(noble, roles=[role])
    assert (await noble.put(f"{path}/noble:{exclusive}/@me")).status == 204
    assert (await member.put(f"{path}/noble:{exclusive}/@me")).status == 204


async def test_another_guilds_emoji_needs_its_permission(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.DEFAULT & ~P.USE_EXTERNAL_EMOJIS)
    elsewhere = await platform.guild(owner)
    emoji = await _emoji(platform, elsewhere)
    member = await member_of(platform, guild)
    await elsewhere.join(member)
    outsider = await guild.member_with(P.USE_EXTERNAL_EMOJIS)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/blob:{emoji}/@me"
    assert (await member.put(path)).code == 50013
    assert (await outsider.put(path)).code == 10014
    assert (await owner.put(path)).status == 204
    assert (await outsider.put(path)).status == 204


async def test_a_message_has_at_most_twenty_emojis(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions"
    for number in range(20):
        assert (await owner.put(f"{path}/{chr(0x1F600 + number)}/@me")).status == 204
    assert (await owner.put(f"{path}/👍/@me")).code == 30010
    assert (await owner.put(f"{path}/{chr(0x1F600)}/@me")).status == 204
    assert [name for name, _, _ in await _shown(owner, url, sent)] == [chr(0x1F600 + n) for n in range(20)]


async def test_an_emoji_is_removed_with_its_last_reaction(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/👍"
    for caller in (owner, friend):
        await caller.put(f"{path}/@me")
    with platform.listening() as heard:
        assert (await friend.delete(f"{path}/@me")).status == 204
        assert (await friend.delete(f"{path}/@me")).status == 204
    assert heard == ["MESSAGE_REACTION_REMOVE"]
    assert platform.heard_data("MESSAGE_REACTION_REMOVE")[0] == {
        "user_id": str(friend.id),
        "message_id": sent["id"],
        "channel_id": str(guild.general),
        "guild_id": str(guild.id),
        "emoji": {"id": None, "name": "👍"},
        "burst": False,
        "type": 0,
    }
    assert await _shown(owner, url, sent) == [("👍", 1, True)]
    await owner.delete(f"{path}/{owner.id}")
    assert await _shown(owner, url, sent) == []
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(reaction_counts.c.count))) == []


async def test_moderators_remove_reactions(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    moderator = await guild.member_with(P.MANAGE_MESSAGES)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions"
    for emoji in "👍🔥🎉":
        for caller in (owner, friend):
            await caller.put(f"{path}/{emoji}/@me")
    for refused in (f"{path}/👍/{owner.id}", f"{path}/👍", path):
        assert (await friend.delete(refused)).code == 50013
    with platform.listening() as heard:
        assert (await moderator.delete(f"{path}/👍/{owner.id}")).status == 204
        assert (await moderator.delete(f"{path}/🔥")).status == 204
        assert (await moderator.delete(f"{path}/🔥")).status == 204
    assert heard == ["MESSAGE_REACTION_REMOVE", "MESSAGE_REACTION_REMOVE_EMOJI"]
    where = {"message_id": sent["id"], "channel_id": str(guild.general), "guild_id": str(guild.id)}
    assert platform.heard_data("MESSAGE_REACTION_REMOVE_EMOJI") == [{**where, "emoji": {"id": None, "name": "🔥"}}]
    assert await _shown(friend, url, sent) == [("👍", 1, True), ("🎉", 2, True)]
    with platform.listening() as heard:
        assert (await moderator.delete(path)).status == 204
        assert (await moderator.delete(path)).status == 204
    assert heard == ["MESSAGE_REACTION_REMOVE_ALL"]
    assert platform.heard_data("MESSAGE_REACTION_REMOVE_ALL") == [where]
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(reactions.c.user_id))) == []
    assert "reactions" not in (await owner.get(f"{url}/{sent['id']}")).json


async def test_a_page_shows_each_messages_own_reactions(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bot = await bot_of(platform, guild)
    first, second, third = [await say(owner, url) for _ in range(3)]
    await bot.put(f"{url}/{first['id']}/reactions/👍/@me")
    await owner.put(f"{url}/{third['id']}/reactions/🔥/@me")
    page = (await bot.get(url)).json
    reactions = {m["id"]: [(r["emoji"]["name"], r["me"]) for r in m.get("reactions", [])] for m in page}
    assert reactions == {first["id"]: [("👍", True)], second["id"]: [], third["id"]: [("🔥", False)]}


async def test_reactions_in_direct_messages_have_their_own_intent(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    friend = await member_of(platform, guild)
    url = await direct_messages(owner, friend)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions"
    assert (await friend.put(f"{path}/👍/@me")).status == 204
    envelope = platform.heard[-1]
    assert (envelope.intent, set(envelope.user_ids)) == (Intent.DIRECT_MESSAGE_REACTIONS, {owner.id, friend.id})
    data = platform.heard_data("MESSAGE_REACTION_ADD")[0]
    assert "guild_id" not in data
    assert "member" not in data
    for refused in (f"{path}/👍/{friend.id}", f"{path}/👍", path):
        assert (await owner.delete(refused)).code == 50003


async def test_reacting_needs_the_message_history(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL | P.ADD_REACTIONS)
    member = await member_of(platform, guild)
    sent = await say(owner, url)
    assert (await member.put(f"{url}/{sent['id']}/reactions/👍/@me")).code == 50013
    assert (await member.get(f"{url}/{sent['id']}/reactions/👍")).code == 50013


async def test_reactions_at_once_are_all_counted(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    crowd = [await member_of(platform, guild) for _ in range(6)]
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/👍/@me"
    await asyncio.gather(*(caller.put(path) for caller in crowd for _ in range(2)))
    assert await _shown(crowd[0], url, sent) == [("👍", 6, True)]
    assert platform.heard_names.count("MESSAGE_REACTION_ADD") == 6
    await asyncio.gather(*(caller.delete(path) for caller in crowd for _ in range(2)))
    assert await _shown(owner, url, sent) == []
    assert platform.heard_names.count("MESSAGE_REACTION_REMOVE") == 6


async def test_clients_of_people_remove_reactions_with_the_type_in_the_path(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}/reactions/👍"
    for caller in (owner, friend):
        assert (await caller.put(f"{path}/@me")).status == 204
    assert (await friend.delete(f"{path}/1/@me")).status == 404, "there are no super reactions"
    assert (await friend.delete(f"{path}/0/{owner.id}")).code == 50013
    with platform.listening() as heard:
        assert (await friend.delete(f"{path}/0/@me", location="Message Inline Button", burst="false")).status == 204
    assert heard == ["MESSAGE_REACTION_REMOVE"]
    assert await _shown(friend, url, sent) == [("👍", 1, False)]
    assert (await friend.put(f"{path}/@me")).status == 204
    assert (await owner.delete(f"{path}/0/{friend.id}")).status == 204
    assert await _shown(owner, url, sent) == [("👍", 1, True)]
