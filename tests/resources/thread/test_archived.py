"""The lists of archived threads (resources: channel, list archived threads)."""

import asyncio
from typing import Any

from moothall.objects.permissions import Permissions
from tests.resources.thread.thread_guild import ANNOUNCED, PRIVATE, PUBLIC, ThreadGuild, id_of, thread_guild
from tests.support.harness import ANNOUNCEMENT, VOICE, Caller, Platform


async def archived(at: ThreadGuild, caller: Caller, *kinds: int) -> list[str]:
    """Threads that have been archived one after the other."""
    threads = [await at.thread(caller, kind) for kind in kinds]
    for thread in threads:
        assert (await caller.patch(thread, {"archived": True})).status == 200
        await asyncio.sleep(0.002)  # the next one's millisecond is another
    return [id_of(thread) for thread in threads]


async def listed(caller: Caller, path: str, **query: Any) -> list[str]:
    reply = await caller.get(path, **query)
    assert reply.status == 200, reply.body
    return [thread["id"] for thread in reply.json["threads"]]


async def test_public_ones_are_listed_by_archive_time(platform: Platform) -> None:
    at = await thread_guild(platform)
    one, two, three, _ = await archived(at, at.bob, PUBLIC, PUBLIC, PUBLIC, PRIVATE)
    await at.owner.patch(f"/channels/{one}", {"archived": False})
    await asyncio.sleep(0.002)
    await at.owner.patch(f"/channels/{one}", {"archived": True})
    await at.thread(at.bob)
    path = f"{at.general}/threads/archived/public"
    assert await listed(at.owner, path) == [one, three, two]
    page = (await at.bob.get(path, limit=2)).json
    assert page["has_more"] is True
    assert [member["id"] for member in page["members"]] == [one, three]
    last = page["threads"][-1]["thread_metadata"]["archive_timestamp"]
    rest = (await at.owner.get(path, limit=2, before=last)).json
    assert ([thread["id"] for thread in rest["threads"]], rest["has_more"], rest["members"]) == ([two], False, [])
    for name, value in (("limit", 101), ("limit", 0), ("before", "yesterday")):
        assert (await at.bob.get(path, **{name: value})).errors_at(name)


async def test_in_an_announcement_channel_they_are_announcement_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    news = await at.guild.channel(type=ANNOUNCEMENT)
    made = (await at.owner.post(f"/channels/{news}/threads", {"name": "x", "type": ANNOUNCED})).json["id"]
    await at.owner.patch(f"/channels/{made}", {"archived": True})
    assert await listed(at.bob, f"/channels/{news}/threads/archived/public") == [made]


async def test_private_ones_are_listed_to_those_who_manage_threads_and_joined_ones_to_their_members(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    mine = await archived(at, at.bob, PRIVATE, PRIVATE, PUBLIC)
    theirs = await archived(at, at.owner, PRIVATE)
    everything = f"{at.general}/threads/archived/private"
    own = f"{at.general}/users/@me/threads/archived/private"
    assert (await at.bob.get(everything)).code == 50013
    assert await listed(at.owner, everything) == [*theirs, mine[1], mine[0]]
    assert await listed(at.bob, own) == [mine[1], mine[0]]
    assert await listed(at.bob, own, before=mine[1]) == [mine[0]]
    assert await listed(at.bob, own, limit=1) == [mine[1]]
    assert await listed(at.owner, own) == theirs


async def test_listing_archived_threads_requires_read_message_history(platform: Platform) -> None:
    at = await thread_guild(platform, everyone=Permissions.VIEW_CHANNEL | Permissions.MANAGE_THREADS)
    for path in ("threads/archived/public", "threads/archived/private", "users/@me/threads/archived/private"):
        assert (await at.bob.get(f"{at.general}/{path}")).code == 50013
        voice = await at.guild.channel(type=VOICE)
        assert (await at.owner.get(f"/channels/{voice}/{path}")).code == 50024
    assert (await at.bob.get(f"{at.general}/threads/search")).code == 50013
