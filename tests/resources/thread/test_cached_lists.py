"""Lists of threads show every change at once, though they are kept encoded."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity import encoded, queries
from moothall.resources.channel.thread_activity.encoded import ThreadCache
from moothall.resources.message.first_messages import FirstMessages
from moothall.resources.message.people import UserCache
from moothall.storage.database import Reader
from tests.resources.thread.thread_guild import PRIVATE, ThreadGuild, id_of, thread_guild
from tests.support.harness import Caller, Platform


class Lists:
    """The lists of a guild's threads, which are asked for again with nothing kept."""

    def __init__(self, at: ThreadGuild, forum: int) -> None:
        self._at = at
        self._requests: list[tuple[str, dict[str, Any]]] = [
            (f"/guilds/{at.guild.id}/threads/active", {}),
            (f"/channels/{forum}/threads/search", {}),
            (f"/channels/{forum}/threads/search", {"name": "st"}),
            (f"/channels/{forum}/threads/archived/public", {}),
            (f"{at.general}/threads/archived/private", {}),
        ]

    async def show_the_truth(self) -> list[Any]:
        """Assert that the kept lists equal fresh ones, for both members; return those of the first."""
        shown: list[list[Any]] = []
        platform = self._at.platform
        for _ in range(2):
            shown += [await self._of(caller) for caller in (self._at.owner, self._at.bob)]
            # What is not kept cannot be stale.
            users = platform.services.resources[UserCache]
            platform.services.resources.add(ThreadCache(platform.database), FirstMessages(platform.database, users))
        assert shown[:2] == shown[2:]
        return shown[0]

    async def _of(self, caller: Caller) -> list[Any]:
        return [(await caller.get(path, **query)).json for path, query in self._requests]


async def archive(caller: Caller, path: str, *, archived: bool = True) -> None:
    assert (await caller.patch(path, {"archived": archived})).status == 200


async def test_kept_lists_follow_every_change_of_a_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    lists = Lists(at, forum)
    await lists.show_the_truth()
    post = await at.post(at.bob, forum, "first")
    private = await at.thread(at.owner, PRIVATE, name="secret")
    assert [thread["id"] for thread in (await lists.show_the_truth())[0]["threads"]] == [id_of(private), id_of(post)]

    sent = (await at.bob.post(f"{post}/messages", {"content": "second"})).json["id"]
    active = (await lists.show_the_truth())[0]["threads"]
    assert [thread["last_message_id"] for thread in active if thread["id"] == id_of(post)] == [sent]

    await at.owner.put(f"{post}/pins/{sent}")
    await lists.show_the_truth()
    await at.owner.patch(post, {"name": "stone"})
    assert (await lists.show_the_truth())[2]["total_results"] == 1
    await at.owner.delete(f"{post}/messages/{sent}")
    await lists.show_the_truth()
    await at.owner.put(f"{private}/thread-members/{at.bob.id}")
    await lists.show_the_truth()
    await at.bob.delete(f"{private}/thread-members/@me")
    await lists.show_the_truth()
    for path in (post, private):
        await archive(at.owner, path)
        await lists.show_the_truth()
    await archive(at.owner, post, archived=False)
    assert [thread["id"] for thread in (await lists.show_the_truth())[0]["threads"]] == [id_of(post)]
    await at.owner.delete(post)
    assert (await lists.show_the_truth())[1]["total_results"] == 0


async def test_first_messages_follow_every_change_of_a_message_or_its_author(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    post, other = await at.post(at.bob, forum, "first"), await at.post(at.bob, forum, "other")
    first, reaction = f"{post}/messages/{id_of(post)}", "reactions/%F0%9F%91%8D/@me"
    lists = Lists(at, forum)

    async def shown() -> list[dict[str, Any]]:
        search = (await lists.show_the_truth())[1]
        return [message for message in search["first_messages"] if message["id"] == id_of(post)]

    await shown()
    await at.bob.patch(first, {"content": "edited"})
    assert [message["content"] for message in await shown()] == ["edited"]
    await at.owner.put(f"{first}/{reaction}")
    assert [message["reactions"][0]["me"] for message in await shown()] == [True]
    await at.owner.delete(f"{first}/{reaction}")
    assert "reactions" not in (await shown())[0]
    await at.owner.put(f"{post}/pins/{id_of(post)}")
    assert (await shown())[0]["pinned"] is True
    await at.bob.patch("/users/@me", {"global_name": "Robert"})
    assert (await shown())[0]["author"]["global_name"] == "Robert"
    await at.bob.delete(first)
    assert await shown() == []
    await at.owner.put(f"/guilds/{at.guild.id}/bans/{at.bob.id}", {"delete_message_seconds": 3600})
    search = (await at.owner.get(f"/channels/{forum}/threads/search")).json
    assert {thread["id"] for thread in search["threads"]} == {id_of(other), id_of(post)}
    assert search["first_messages"] == []


async def test_kept_lists_follow_changes_of_who_may_view(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    post = await at.post(at.bob, forum)
    path = f"/guilds/{at.guild.id}/threads/active"
    assert [thread["id"] for thread in (await at.bob.get(path)).json["threads"]] == [id_of(post)]

    overwrite = {"type": 0, "deny": str(int(Permissions.VIEW_CHANNEL))}
    await at.owner.put(f"/channels/{forum}/permissions/{at.guild.id}", overwrite)
    assert (await at.bob.get(path)).json["threads"] == []
    assert len((await at.owner.get(path)).json["threads"]) == 1

    own = {"type": 1, "allow": str(int(Permissions.VIEW_CHANNEL))}
    await at.owner.put(f"/channels/{forum}/permissions/{at.bob.id}", own)
    assert len((await at.bob.get(path)).json["threads"]) == 1
    carol = await at.newcomer()
    assert (await carol.get(path)).json["threads"] == []


async def test_a_refused_change_leaves_kept_lists_as_they_are(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    post = await at.post(at.owner, forum)
    lists = Lists(at, forum)
    before = await lists.show_the_truth()
    assert (await at.bob.patch(post, {"name": "other"})).status == 403
    assert await lists.show_the_truth() == before


async def test_a_change_while_the_active_threads_are_read_is_in_the_next_list(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    posts = [await at.post(at.owner, forum, str(number)) for number in range(3)]
    platform.services.resources.add(ThreadCache(platform.database))
    select, waiting, going_on = queries.select_shown_active, asyncio.Event(), asyncio.Event()

    async def select_slowly(reader: Reader, thread_ids: Iterable[int]) -> list[queries.ShownThread]:
        rows = await select(reader, thread_ids)
        waiting.set()
        await going_on.wait()
        return rows

    monkeypatch.setattr(queries, "select_shown_active", select_slowly)
    path = f"/guilds/{at.guild.id}/threads/active"
    first = asyncio.create_task(at.owner.get(path))
    await waiting.wait()
    await at.owner.patch(posts[0], {"name": "renamed"})
    await archive(at.owner, posts[1])
    second = asyncio.create_task(at.bob.get(path))
    for _ in range(100):
        await asyncio.sleep(0)
    monkeypatch.setattr(queries, "select_shown_active", select)
    going_on.set()
    assert (await first).status == 200
    assert [thread["name"] for thread in (await second).json["threads"]] == ["2", "renamed"]
    await at.owner.patch(posts[2], {"name": "last"})
    assert [thread["name"] for thread in (await at.owner.get(path)).json["threads"]] == ["last", "renamed"]


async def test_the_pages_that_are_kept_are_bounded(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    for number in range(3):
        await at.post(at.owner, forum, f"post {number}")
    cache = platform.services.resources[ThreadCache]
    monkeypatch.setattr(encoded, "_MAX_PAGE_BYTES", 4_000)
    kept = []
    for number in range(20):
        reply = await at.owner.get(f"/channels/{forum}/threads/search", min_id=1 + number)
        assert reply.json["total_results"] == 3
        async with platform.database.read() as reader:
            pages = await cache.pages(reader, ChannelId(Snowflake(forum)))
        kept.append(sum(len(page.threads) for page in pages.values()))
    assert max(kept) <= 4_000 + 3 * 2_000
