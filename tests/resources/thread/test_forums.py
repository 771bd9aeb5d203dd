"""Forums (resources: channel, start thread in forum or media channel)."""

import asyncio
from typing import Any

import pytest

from moothall.api.jobs import JobRunner
from moothall.objects.permissions import Permissions
from tests.resources.thread.thread_guild import ThreadGuild, id_of, tag, thread_guild
from tests.support.harness import MEDIA, Platform

REQUIRE_TAG = 1 << 4


async def tagged(platform: Platform, **values: Any) -> tuple[ThreadGuild, int, list[str]]:
    """A forum with two tags for everybody and one that is moderated."""
    at = await thread_guild(platform)
    ids = [int(platform.ids.next()) for _ in range(3)]
    tags = [tag(ids[0], "a"), tag(ids[1], "b"), tag(ids[2], "c", moderated=True)]
    return at, await at.forum(available_tags=tags, **values), [str(tag_id) for tag_id in ids]


@pytest.mark.parametrize("kind", [15, MEDIA])
async def test_the_first_message_of_a_post_has_the_posts_id(platform: Platform, kind: int) -> None:
    at = await thread_guild(platform)
    forum = await at.guild.channel(type=kind)
    carol = await at.newcomer()
    body = {"name": "post", "message": {"content": f"see <@{carol.id}>", "embeds": [{"title": "x"}]}}
    with platform.listening() as heard:
        reply = await at.bob.post(f"/channels/{forum}/threads", body, reason="new")
    post = reply.json
    assert reply.status == 201
    assert (post["type"], post["parent_id"], post["owner_id"]) == (11, str(forum), str(at.bob.id))
    assert (post["message"]["id"], post["message"]["channel_id"]) == (post["id"], post["id"])
    assert (post["message"]["position"], post["message"]["embeds"][0]["title"]) == (0, "x")
    assert (post["message_count"], post["last_message_id"], post["member_count"]) == (0, post["id"], 2)
    assert heard == [
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "THREAD_CREATE",
        "THREAD_MEMBERS_UPDATE",
        "THREAD_MEMBERS_UPDATE",
        "THREAD_CREATE",
        "MESSAGE_CREATE",
    ]
    if kind != MEDIA:  # which the public description forgets among the channels
        assert (await at.bob.get(f"/channels/{forum}")).json["last_message_id"] == post["id"]
    assert (await at.bob.get(f"/channels/{post['id']}/messages/{post['id']}")).status == 200
    assert await at.guild.audit_log() == [(110, int(post["id"]), "new")]


async def test_posting_requires_only_send_messages(platform: Platform) -> None:
    at = await thread_guild(platform, everyone=Permissions.VIEW_CHANNEL)
    forum = await at.forum()
    body = {"name": "x", "message": {"content": "x"}}
    able = await at.guild.member_with(Permissions.SEND_MESSAGES)
    unable = await at.guild.member_with(Permissions.CREATE_PUBLIC_THREADS | Permissions.SEND_MESSAGES_IN_THREADS)
    assert (await unable.post(f"/channels/{forum}/threads", body)).code == 50013
    assert (await able.post(f"/channels/{forum}/threads", body)).status == 201
    embed = {"name": "x", "message": {"embeds": [{"title": "x"}]}}
    assert (await able.post(f"/channels/{forum}/threads", embed)).code == 50013


async def test_a_post_with_an_invalid_message_is_not_created(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    platform.heard.clear()
    path = f"/channels/{forum}/threads"
    assert (await at.bob.post(path, {"name": "x"})).errors_at("message") == ["BASE_TYPE_REQUIRED"]
    assert (await at.bob.post(path, {"name": "x", "message": {"content": "  "}})).code == 50006
    reply = await at.bob.post(path, {"name": "x", "message": {"content": "x" * 2001}})
    assert reply.errors_at("message.content")
    reply = await at.bob.post(path, {"name": " ", "message": {"content": "x", "embeds": [{"title": "x" * 257}]}})
    assert reply.errors_at("message.embeds.0.title")
    assert reply.errors_at("name")
    assert platform.heard == []
    assert (await at.bob.get(f"/guilds/{at.guild.id}/threads/active")).json["threads"] == []
    assert (await at.bob.get(f"/channels/{forum}")).json["last_message_id"] is None


async def test_a_post_has_tags_of_its_forum(platform: Platform) -> None:
    at, forum, tags = await tagged(platform)
    path = f"/channels/{forum}/threads"
    body = {"name": "x", "message": {"content": "x"}}
    made = await at.bob.post(path, {**body, "applied_tags": [tags[1], tags[0], tags[1]]})
    assert made.json["applied_tags"] == [tags[1], tags[0]]
    platform.heard.clear()
    assert (await at.bob.post(path, {**body, "applied_tags": [tags[0], "5"]})).errors_at("applied_tags.1")
    assert (await at.bob.post(path, {**body, "applied_tags": [tags[2]]})).code == 50013
    assert platform.heard == []
    assert (await at.owner.post(path, {**body, "applied_tags": [tags[2]]})).status == 201


async def test_the_owner_changes_tags_but_moderated_tags_require_manage_threads(platform: Platform) -> None:
    at, forum, tags = await tagged(platform)
    thread = await at.post(at.bob, forum, applied_tags=[tags[0]])
    assert (await at.bob.patch(thread, {"applied_tags": [tags[1]]})).json["applied_tags"] == [tags[1]]
    assert (await at.bob.patch(thread, {"applied_tags": [tags[1], tags[2]]})).code == 50013
    assert (await at.owner.patch(thread, {"applied_tags": [tags[1], tags[2]]})).status == 200
    assert (await at.bob.patch(thread, {"applied_tags": [tags[1]]})).code == 50013
    assert (await at.bob.patch(thread, {"applied_tags": [tags[0], tags[2]]})).status == 200
    assert (await at.owner.patch(thread, {"applied_tags": ["7"]})).errors_at("applied_tags.0")
    assert "applied_tags" not in (await at.owner.patch(thread, {"applied_tags": []})).json


async def test_a_deleted_tag_is_removed_from_posts_by_a_job(platform: Platform) -> None:
    at, forum, tags = await tagged(platform)
    one = await at.post(at.bob, forum, applied_tags=[tags[0], tags[1]])
    old = await at.post(at.bob, forum, applied_tags=[tags[0]])
    await at.bob.patch(old, {"archived": True})
    left = [{"id": tags[1], "name": "b"}, {"name": "new"}]
    assert (await at.owner.patch(f"/channels/{forum}", {"available_tags": left})).status == 200
    with platform.listening() as heard:
        await JobRunner(platform.services).drain()
    assert heard == ["THREAD_UPDATE"]
    assert (await at.bob.get(one)).json["applied_tags"] == [tags[1]]
    assert "applied_tags" not in (await at.bob.get(old)).json
    assert (await at.bob.get(f"/channels/{forum}/threads/search", tag=tags[0])).json["threads"] == []


async def test_a_forum_can_require_a_tag(platform: Platform) -> None:
    at, forum, tags = await tagged(platform, flags=REQUIRE_TAG)
    body = {"name": "x", "message": {"content": "x"}}
    platform.heard.clear()
    assert (await at.bob.post(f"/channels/{forum}/threads", body)).code == 40067
    assert platform.heard == []
    thread = await at.post(at.bob, forum, applied_tags=[tags[0]])
    assert (await at.bob.patch(thread, {"applied_tags": []})).code == 40067
    only = await at.forum(flags=REQUIRE_TAG, available_tags=[tag(platform.ids.next(), "c", moderated=True)])
    assert (await at.bob.post(f"/channels/{only}/threads", body)).code == 40066


async def test_a_forum_has_only_posts(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    assert (await at.owner.post(f"/channels/{forum}/messages", {"content": "x"})).code == 40058
    thread = await at.post(at.bob, forum, type=12)
    assert (await at.bob.get(thread)).json["type"] == 11


async def test_deleting_the_first_message_keeps_the_post(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.post(at.bob, await at.forum())
    await at.owner.post(f"{thread}/messages", {"content": "x"})
    assert (await at.bob.delete(f"{thread}/messages/{id_of(thread)}")).status == 204
    left = (await at.bob.get(thread)).json
    assert (left["message_count"], left["total_message_sent"]) == (1, 1)


async def test_slowmode_of_a_forum_limits_posts_and_that_of_a_post_messages(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum(rate_limit_per_user=600, default_thread_rate_limit_per_user=300)
    thread = await at.post(at.bob, forum)
    body = {"name": "x", "message": {"content": "x"}}
    assert (await at.bob.post(f"/channels/{forum}/threads", body)).code == 20016
    assert (await at.bob.get(thread)).json["rate_limit_per_user"] == 300
    carol = await at.newcomer()
    assert (await carol.post(f"{thread}/messages", {"content": "x"})).status == 200
    assert (await carol.post(f"{thread}/messages", {"content": "x"})).code == 20016


async def test_posts_are_searched_by_words_of_their_names_and_by_tags(platform: Platform) -> None:
    at, forum, tags = await tagged(platform)
    ship = await at.post(at.bob, forum, "Ship of oak", applied_tags=[tags[0]])
    oar = await at.post(at.bob, forum, "An oar of OAK", applied_tags=[tags[0], tags[1]])
    sail = await at.post(at.owner, forum, "100% sail", applied_tags=[tags[1]])

    async def search(**query: Any) -> list[str]:
        reply = await at.bob.get(f"/channels/{forum}/threads/search", **query)
        assert reply.status == 200, reply.body
        assert reply.json["total_results"] == len(reply.json["threads"])
        return [f"/channels/{thread['id']}" for thread in reply.json["threads"]]

    assert await search() == [sail, oar, ship]
    assert await search(name="oak") == [oar, ship]
    assert await search(name="oak ship") == [ship]
    assert await search(name="%") == [sail]
    assert await search(name="_") == []
    assert await search(tag=tags[0]) == [oar, ship]
    assert await search(tag=[tags[0], tags[1]]) == [sail, oar, ship]
    assert await search(tag=[tags[0], tags[1]], tag_setting="match_all") == [oar]
    assert await search(name="oak", tag=tags[1]) == [oar]
    assert await search(min_id=id_of(oar)) == [sail, oar]
    assert await search(max_id=id_of(oar), min_id=id_of(oar)) == [oar]
    await at.owner.patch(oar, {"applied_tags": [tags[1]], "name": "A rudder"})
    assert await search(tag=tags[0]) == [ship]
    assert await search(name="rudder") == [oar]


async def test_search_results_are_sorted_as_requested_and_paged(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    first, second, third = [await at.post(at.bob, forum, f"post {number}") for number in range(3)]
    await at.bob.post(f"{first}/messages", {"content": "x"})
    await at.bob.patch(third, {"archived": True})
    await asyncio.sleep(0.002)  # another millisecond, which orders them
    await at.bob.patch(second, {"archived": True})
    path = f"/channels/{forum}/threads/search"

    async def search(**query: Any) -> list[str]:
        return [f"/channels/{thread['id']}" for thread in (await at.bob.get(path, **query)).json["threads"]]

    assert await search() == await search(sort_by="relevance") == [first, third, second]
    assert await search(sort_by="creation_time") == [third, second, first]
    assert await search(sort_by="creation_time", sort_order="asc") == [first, second, third]
    assert await search(sort_by="archive_time") == [second, third, first]
    assert await search(archived=True) == [third, second]
    assert await search(archived=False) == [first]
    page = (await at.owner.get(path, limit=2, offset=0)).json
    assert (page["has_more"], page["total_results"], len(page["threads"])) == (True, 3, 2)
    page = (await at.bob.get(path, limit=2, offset=2)).json
    assert (page["has_more"], page["total_results"]) == (False, 3)
    assert [member["id"] for member in page["members"]] == [id_of(second)]
    for name, value in (("limit", 26), ("limit", 0), ("offset", 9976), ("sort_by", "luck"), ("name", "x" * 101)):
        assert (await at.bob.get(path, **{name: value})).errors_at(name)


async def test_search_results_have_the_first_messages_of_posts(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    one, two, three = [await at.post(at.bob, forum) for _ in range(3)]
    await at.owner.put(f"{one}/messages/{id_of(one)}/reactions/%F0%9F%91%8D/@me")
    await at.bob.delete(f"{two}/messages/{id_of(two)}")
    answer = (await at.owner.get(f"/channels/{forum}/threads/search")).json
    assert [message["id"] for message in answer["first_messages"]] == [id_of(three), id_of(one)]
    assert answer["first_messages"][1]["reactions"][0]["me"] is True
    bot = await platform.bot(at.owner)
    await at.guild.join(bot)
    blind = (await bot.get(f"/channels/{forum}/threads/search")).json
    assert [message["content"] for message in blind["first_messages"]] == ["", ""]


async def test_a_search_returns_no_private_threads_and_is_refused_in_channels_without_threads(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    await at.thread(at.bob, 12, name="closed")
    public = await at.thread(at.bob, name="open")
    answer = (await at.owner.get(f"{at.general}/threads/search")).json
    assert [thread["id"] for thread in answer["threads"]] == [id_of(public)]
    assert (await at.owner.get(f"{public}/threads/search")).code == 50024


async def test_post_data_has_the_owner_and_first_message_of_the_channels_own_public_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum, other = await at.forum(), await at.forum()
    body = {"name": "post", "message": {"content": "hello"}}
    post = (await at.bob.post(f"/channels/{forum}/threads", body)).json["id"]
    elsewhere = (await at.bob.post(f"/channels/{other}/threads", body)).json["id"]
    requested = {"thread_ids": [str(post), str(elsewhere), "5"]}
    reply = await at.owner.post(f"/channels/{forum}/post-data", requested)
    assert reply.status == 200
    assert list(reply.json["threads"]) == [str(post)]
    data = reply.json["threads"][str(post)]
    assert (data["owner"]["user"]["id"], data["first_message"]["content"]) == (str(at.bob.id), "hello")
    await at.bob.delete(f"/users/@me/guilds/{at.guild.id}")
    await at.owner.delete(f"/channels/{post}/messages/{post}")
    left = (await at.owner.post(f"/channels/{forum}/post-data", requested)).json["threads"][str(post)]
    assert left == {"owner": None, "first_message": None}


async def test_post_data_tells_nothing_of_private_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    private = (await at.bob.post(f"/channels/{at.guild.general}/threads", {"name": "x", "type": 12})).json["id"]
    reply = await at.bob.post(f"/channels/{at.guild.general}/post-data", {"thread_ids": [str(private)]})
    assert reply.json == {"threads": {}}
