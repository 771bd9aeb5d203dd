"""What a search returns, and what it does not."""

from typing import Any

import pytest

from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.resources.message.search.indexing import Indexer
from tests.resources.message.messaging import direct_messages
from tests.support.harness import FORUM, VOICE, Caller, Guild, Platform, Reply

PUBLIC, PRIVATE = 11, 12
READ = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
METADATA = {
    "archived": False,
    "auto_archive_duration": 1440,
    "archive_timestamp": "2026-01-01T00:00:00.000000+00:00",
    "locked": False,
    "create_timestamp": "2026-01-01T00:00:00.000000+00:00",
}


class Library:
    """A guild whose messages are searched."""

    def __init__(self, platform: Platform, guild: Guild) -> None:
        self.platform = platform
        self.guild = guild
        self.indexer = Indexer(platform.services)

    @classmethod
    async def opened(cls, platform: Platform, **values: Any) -> "Library":
        return cls(platform, await platform.guild(await platform.person("owner"), **values))

    async def send(self, content: str, *, by: Caller | None = None, at: int | None = None, **more: Any) -> str:
        caller = by or self.guild.owner
        reply = await caller.post(f"/channels/{at or self.guild.general}/messages", {"content": content, **more})
        assert reply.status == 200, reply.json
        return str(reply.json["id"])

    async def answer(self, by: Caller | None = None, **query: Any) -> Reply:
        await self.indexer.drain()
        return await (by or self.guild.owner).get(f"/guilds/{self.guild.id}/messages/search", **query)

    async def finds(self, by: Caller | None = None, **query: Any) -> list[str]:
        reply = await self.answer(by, **query)
        assert reply.status == 200, reply.json
        assert reply.json["total_results"] == len(reply.json["messages"])
        return [hit["id"] for (hit,) in reply.json["messages"]]


async def thread_in(guild: Guild, parent: int, *, kind: int = PUBLIC) -> int:
    return await guild.channel(
        type=kind, name="thread", parent_id=parent, owner_id=guild.owner.id, thread_metadata=METADATA
    )


async def test_messages_are_found_by_their_words_without_case_and_accents(platform: Platform) -> None:
    library = await Library.opened(platform)
    first = await library.send("The Café opens at NOON, naïve reader!")
    second = await library.send("noon was yesterday")
    assert await library.finds(content="noon") == [second, first]
    assert await library.finds(content="NOON", sort_order="asc") == [first, second]
    assert await library.finds(content="cafe") == [first]
    assert await library.finds(content="CAFÉ naive") == []
    assert await library.finds(content="CAFÉ naive", slop=3) == [first]
    assert await library.finds(content="caf") == []
    assert await library.finds(content='" OR * ( - AND') == []
    assert await library.finds(content="!?.") == []
    assert await library.finds() == [second, first]


async def test_words_of_a_query_must_be_near_each_other_in_either_order(platform: Platform) -> None:
    library = await Library.opened(platform)
    close = await library.send("red or big green doors")
    wide = await library.send("green one two three red")
    assert await library.finds(content="red green") == [close]
    assert await library.finds(content="green red", slop=3) == [wide, close]
    assert await library.finds(content="red green", slop=0) == []
    assert await library.finds(content="red red red") == [wide, close]


async def test_unspaced_scripts_and_symbols_are_found(platform: Platform) -> None:
    library = await Library.opened(platform)
    japanese = await library.send("東京都に住んでいます")
    party = await library.send("release 🎉 today")
    assert await library.finds(content="東京") == [japanese]
    assert await library.finds(content="京東") == []
    assert await library.finds(content="🎉") == [party]


async def test_edits_deletions_and_pins_update_the_index(platform: Platform) -> None:
    library = await Library.opened(platform)
    guild = library.guild
    kept, deleted = await library.send("a lighthouse"), await library.send("another lighthouse")
    path = f"/channels/{guild.general}/messages"
    assert await library.finds(content="lighthouse") == [deleted, kept]
    await guild.owner.patch(f"{path}/{kept}", {"content": "a windmill"})
    await guild.owner.delete(f"{path}/{deleted}")
    assert await library.finds(content="lighthouse") == []
    assert await library.finds(content="windmill") == [kept]
    assert await library.finds(content="windmill", pinned=True) == []
    await guild.owner.put(f"/channels/{guild.general}/messages/pins/{kept}")
    assert await library.finds(content="windmill", pinned=True) == [kept]
    assert await library.finds(content="windmill", pinned=False) == []


async def test_a_deleted_message_that_is_still_indexed_is_not_returned(platform: Platform) -> None:
    library = await Library.opened(platform)
    message = await library.send("a lighthouse")
    await library.indexer.drain()
    await library.guild.owner.delete(f"/channels/{library.guild.general}/messages/{message}")
    reply = await library.guild.owner.get(f"/guilds/{library.guild.id}/messages/search", content="lighthouse")
    assert reply.json["messages"] == []


async def test_every_parameter_narrows_the_search(platform: Platform) -> None:
    library = await Library.opened(platform)
    guild = library.guild
    alice = await platform.person("alice")
    bot = await platform.bot(guild.owner, flags=1 << 18)
    await guild.join(alice, bot)
    role = await guild.role()
    other = await guild.channel(name="other")
    hook = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "Herald"})).json
    made = {
        "plain": await library.send("word", by=alice),
        "mention": await library.send(f"word <@{alice.id}> <@&{role}>"),
        "everyone": await library.send("word @everyone"),
        "link": await library.send("word https://docs.example.org/a?b and x"),
        "bot": await library.send("word", by=bot),
        "other": await library.send("word", at=other),
    }
    made["reply"] = await library.send("word", message_reference={"message_id": made["plain"]})
    posted = await platform.anonymous.post(
        f"/webhooks/{hook['id']}/{hook['token']}",
        {"content": "word", "embeds": [{"title": "News", "image": {"url": "https://example.org/a.png"}}]},
        wait=True,
    )
    made["webhook"] = posted.json["id"]
    names = {message_id: name for name, message_id in made.items()}

    async def named(**query: Any) -> set[str]:
        return {names[message_id] for message_id in await library.finds(content="word", **query)}

    assert await named() == set(made)
    assert await named(author_id=[alice.id]) == {"plain"}
    assert await named(author_id=[alice.id, bot.id]) == {"plain", "bot"}
    assert await named(author_type=["bot"]) == {"bot"}
    assert await named(author_type="webhook") == {"webhook"}
    assert await named(author_type=["-user", "-webhook"]) == {"bot"}
    assert await named(mentions=alice.id) == {"mention", "reply"}
    assert await named(mentions_role_id=role) == {"mention"}
    assert await named(mention_everyone=True) == {"everyone"}
    assert await named(mention_everyone=False) == set(made) - {"everyone"}
    assert await named(replied_to_user_id=alice.id) == {"reply"}
    assert await named(replied_to_message_id=made["plain"]) == {"reply"}
    assert await named(has="link") == {"link"}
    assert await named(has=["link", "embed"]) == {"link", "webhook"}
    assert await named(has="image") == {"webhook"}
    assert await named(has=["-embed", "-link"]) == set(made) - {"webhook", "link"}
    assert await named(embed_type="image") == {"webhook"}
    assert await named(link_hostname="docs.example.org") == {"link"}
    assert await named(link_hostname="EXAMPLE.org") == {"link"}
    assert await named(link_hostname="other.example.org") == set()
    assert await named(channel_id=other) == {"other"}
    assert await named(channel_id=[other, guild.general]) == set(made)
    assert await named(min_id=made["bot"]) == {"other", "reply", "webhook"}
    assert await named(max_id=made["mention"]) == {"plain"}
    assert await library.finds(content="news") == [made["webhook"]]
    for query in ({"embed_provider": "Tenor"}, {"attachment_filename": "a.txt"}, {"attachment_extension": "txt"}):
        assert await named(**query) == set()


async def test_a_page_has_the_total_and_the_threads_of_its_messages(platform: Platform) -> None:
    library = await Library.opened(platform)
    guild = library.guild
    thread = await thread_in(guild, guild.general)
    sent = [await library.send(f"word {n}", at=thread if n == 0 else None) for n in range(30)]
    page = (await library.answer(content="word")).json
    assert (page["total_results"], len(page["messages"])) == (30, 25)
    assert (page["threads"], page["members"], page["doing_deep_historical_index"]) == ([], [], False)
    assert all(len(group) == 1 and group[0]["hit"] for group in page["messages"])
    rest = (await library.answer(content="word", offset=25, limit=10)).json
    assert [group[0]["id"] for group in rest["messages"]] == sent[4::-1]
    assert [hit["id"] for hit in rest["threads"]] == [str(thread)]
    assert [member["id"] for member in rest["members"]] in ([str(thread)], [])


async def test_relevance_prefers_more_matches_in_fewer_words(platform: Platform) -> None:
    library = await Library.opened(platform)
    long = await library.send("storm " + "and so on " * 40)
    short = await library.send("storm storm")
    newest = await library.send("storm " + "or perhaps not " * 40)
    assert await library.finds(content="storm", sort_by="relevance", sort_order="asc") == [short, newest, long]
    page = (await library.answer(content="storm", sort_by="relevance", offset=1, limit=1)).json
    assert ([group[0]["id"] for group in page["messages"]], page["total_results"]) == ([newest], 3)


async def test_results_have_no_reactions(platform: Platform) -> None:
    library = await Library.opened(platform)
    message = await library.send("word")
    path = f"/channels/{library.guild.general}/messages/{message}/reactions/%F0%9F%91%8D/@me"
    assert (await library.guild.owner.put(path)).status == 204
    ((hit,),) = (await library.answer(content="word")).json["messages"]
    assert "reactions" not in hit


async def test_only_channels_that_the_caller_reads_are_searched(platform: Platform) -> None:
    library = await Library.opened(platform, everyone=READ | Permissions.CONNECT)
    guild = library.guild
    member = await platform.person("member")
    await guild.join(member)
    channel_ids: dict[str, int] = {
        "open": guild.general,
        "hidden": await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)]),
        "past": await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.READ_MESSAGE_HISTORY)]),
        "voice": await guild.channel(type=VOICE),
        "shut voice": await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)]),
    }
    channel_ids["hidden thread"] = await thread_in(guild, channel_ids["hidden"])
    channel_ids["thread"] = await thread_in(guild, channel_ids["open"])
    sent = {await library.send("word", at=channel_id): name for name, channel_id in channel_ids.items()}
    assert {sent[m] for m in await library.finds(content="word")} == set(channel_ids)
    seen = {"open", "voice", "thread"}
    assert {sent[m] for m in await library.finds(member, content="word")} == seen
    params = {"content": "word", "channel_id": list(channel_ids.values())}
    assert {sent[m] for m in await library.finds(member, **params)} == seen
    foreign = await platform.guild(guild.owner)
    assert await library.finds(member, channel_id=foreign.general) == []


async def test_private_threads_are_searched_by_their_members_and_moderators(platform: Platform) -> None:
    library = await Library.opened(platform, everyone=READ | Permissions.SEND_MESSAGES)
    guild = library.guild
    inside, outside = await platform.person("inside"), await platform.person("outside")
    await guild.join(inside, outside)
    manager = await guild.member_with(Permissions.MANAGE_THREADS)
    secret, open_ = await thread_in(guild, guild.general, kind=PRIVATE), await thread_in(guild, guild.general)
    reply = await guild.owner.put(f"/channels/{secret}/thread-members/{inside.id}")
    assert reply.status == 204
    private, public = await library.send("word", at=secret), await library.send("word", at=open_)
    assert await library.finds(inside, content="word") == [public, private]
    assert await library.finds(outside, content="word") == [public]
    assert await library.finds(outside, content="word", channel_id=secret) == []
    assert await library.finds(manager, content="word") == [public, private]


async def test_age_restricted_channels_are_searched_only_with_include_nsfw(platform: Platform) -> None:
    library = await Library.opened(platform)
    red = await library.guild.channel(nsfw=True)
    hot, mild = await library.send("word", at=red), await library.send("word")
    assert await library.finds(content="word") == [mild]
    assert await library.finds(content="word", include_nsfw=True) == [mild, hot]


async def test_a_forum_means_its_threads(platform: Platform) -> None:
    library = await Library.opened(platform)
    forum = await library.guild.channel(type=FORUM)
    message = await library.send("word", at=await thread_in(library.guild, forum))
    await library.send("word")
    assert await library.finds(content="word", channel_id=forum) == [message]


async def test_other_guilds_and_direct_messages_are_not_searched(platform: Platform) -> None:
    library, other = await Library.opened(platform), await platform.guild(await platform.person("else"))
    assert (await other.owner.post(f"/channels/{other.general}/messages", {"content": "word"})).status == 200
    assert await library.finds(content="word") == []
    stranger = await platform.person()
    assert (await library.answer(stranger, content="word")).code == 10004
    blind = await platform.person()
    await library.guild.join(blind)
    await library.guild.owner.patch(f"/guilds/{library.guild.id}/roles/{library.guild.id}", {"permissions": "0"})
    assert (await library.answer(blind, content="word")).code == 50013


async def test_a_bot_that_may_not_read_content_cannot_ask_for_it(platform: Platform) -> None:
    library = await Library.opened(platform)
    reading, blind = await platform.bot(library.guild.owner, flags=1 << 18), await platform.bot(library.guild.owner)
    await library.guild.join(reading, blind)
    message = await library.send("word")
    assert Intent.MESSAGE_CONTENT
    assert await library.finds(reading, content="word") == [message]
    assert (await library.answer(blind, content="word")).code == 50001


@pytest.mark.parametrize(
    ("query", "at"),
    [
        ({"limit": 26}, "limit"),
        ({"limit": 0}, "limit"),
        ({"offset": 9976}, "offset"),
        ({"slop": 101}, "slop"),
        ({"content": "x" * 1025}, "content"),
        ({"has": "nothing"}, "has.0"),
        ({"author_type": "robot"}, "author_type.0"),
        ({"sort_by": "luck"}, "sort_by"),
        ({"author_id": ",".join(["1"] * 101)}, "author_id"),
        ({"channel_id": "x"}, "channel_id.0"),
        ({"pinned": "perhaps"}, "pinned"),
    ],
)
async def test_an_invalid_parameter_is_refused_by_name(platform: Platform, query: Any, at: str) -> None:
    library = await Library.opened(platform)
    reply = await library.answer(**query)
    assert (reply.status, bool(reply.errors_at(at))) == (400, True)


async def test_long_queries_are_answered(platform: Platform) -> None:
    library = await Library.opened(platform)
    message = await library.send(" ".join(f"w{n}" for n in range(300)))
    assert await library.finds(content=" ".join(f"w{n}" for n in range(200)), slop=100) == [message]
    reply = await library.answer(content=" ".join("ab" for _ in range(341)), channel_id=list(range(1, 500)))
    assert reply.status == 200


async def test_direct_messages_are_searched_by_their_recipients_alone(platform: Platform) -> None:
    library = await Library.opened(platform)
    owner, bob, eve = library.guild.owner, await platform.person("bob"), await platform.person("eve")
    await library.guild.join(bob)
    path = f"{await direct_messages(owner, bob)}/search"
    channel_id = path.split("/")[2]
    first = await library.send("a buoy in the fog", at=int(channel_id))
    second = await library.send("that Buoy https://example.org/", by=bob, at=int(channel_id))
    await library.send("a buoy in the guild")
    await library.indexer.drain()

    async def hits(caller: Caller, **query: Any) -> list[str]:
        reply = await caller.get(path, **query)
        assert reply.status == 200, reply.json
        return [hit["id"] for (hit,) in reply.json["messages"]]

    assert await hits(bob, content="buoy") == [second, first]
    assert await hits(owner, content="buoy", sort_order="asc", limit=1) == [first]
    assert await hits(owner, author_id=str(bob.id)) == [second]
    assert await hits(owner, has="link") == [second]
    assert await hits(owner, content="guild") == []
    page = (await bob.get(path, content="buoy")).json
    assert [channel["id"] for channel in page["channels"]] == [channel_id]
    assert [user["id"] for user in page["channels"][0]["recipients"]] == [str(owner.id)]
    assert (page["total_results"], page["threads"], page["members"]) == (2, [], [])
    refused = await eve.get(path, content="buoy")
    assert (refused.status, refused.json["code"]) == (403, 50001)
    in_guild = await owner.get(f"/channels/{library.guild.general}/messages/search", content="buoy")
    assert (in_guild.status, in_guild.json["code"]) == (400, 50024)
    assert await library.finds(content="fog") == [], "a guild's search"
