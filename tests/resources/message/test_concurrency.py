"""Concurrent requests about one message: one deletion, no rows of a deleted message, no lost edit."""

import asyncio
import random
from collections.abc import Awaitable
from urllib.parse import quote

from sqlalchemy import exists, func, select

from moothall.storage.database import Query
from moothall.storage.schema import (
    attachments,
    messages,
    pins,
    poll_counts,
    poll_votes,
    polls,
    reaction_counts,
    reactions,
    webhooks,
)
from tests.resources.message.attachment.uploading import listed, names, stored, upload
from tests.resources.message.messaging import guild_of, member_of
from tests.support.harness import Caller, Platform, Reply
from tests.support.polls import TEA

ROUNDS = 6


async def at_once(*requests: tuple[str, Awaitable[Reply]]) -> dict[str, Reply]:
    """The replies to concurrent requests, in any order."""
    shuffled = random.sample(requests, len(requests))
    replies = await asyncio.gather(*(request for _, request in shuffled))
    by_name = {name: reply for (name, _), reply in zip(shuffled, replies, strict=True)}
    assert all(reply.status < 500 for reply in replies), by_name
    return by_name


async def left_hanging(platform: Platform) -> dict[str, int]:
    """The number of rows of deleted messages, by table."""
    counts = {}
    async with platform.database.read() as reader:
        for table in (attachments, pins, poll_counts, poll_votes, polls, reaction_counts, reactions):
            there = exists().where(messages.c.channel_id == table.c.channel_id, messages.c.id == table.c.message_id)
            if count := await reader.scalar(Query(select(func.count()).select_from(table).where(~there))):
                counts[table.name] = int(count)
    return counts


async def hook_of(owner: Caller, channel_id: int) -> str:
    made = (await owner.post(f"/channels/{channel_id}/webhooks", {"name": "Herald"})).json
    return f"/webhooks/{made['id']}/{made['token']}"


async def test_a_message_is_deleted_once_with_everything_that_is_added_meanwhile(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bob, anonymous = await member_of(platform, guild), platform.anonymous
    hook = await hook_of(owner, guild.general)
    for _ in range(ROUNDS):
        files = listed(("a.txt", b"1"))
        sent = (await upload(anonymous, "POST", hook, files, {"content": "x", "poll": TEA}, wait=True)).json
        at, mine = f"{url}/{sent['id']}", f"{hook}/messages/{sent['id']}"
        poll = f"/channels/{guild.general}/polls/{sent['id']}/answers/@me"
        replies = await at_once(
            ("deleted", owner.delete(at)),
            ("deleted by the webhook", anonymous.delete(mine)),
            ("deleted with others", owner.post(f"{url}/bulk-delete", {"messages": [sent["id"], "1"]})),
            ("edited", anonymous.patch(mine, {"flags": 4})),
            ("reacted", bob.put(f"{at}/reactions/%F0%9F%91%8D/@me")),
            ("voted", bob.put(poll, {"answer_ids": [1]})),
            ("pinned", owner.put(f"/channels/{guild.general}/messages/pins/{sent['id']}")),
            ("thread", owner.post(f"{at}/threads", {"name": "moot"})),
        )
        deleted = [replies["deleted"].status, replies["deleted by the webhook"].status]
        events = [data for data in platform.heard_data("MESSAGE_DELETE") if data["id"] == sent["id"]]
        events += [data for data in platform.heard_data("MESSAGE_DELETE_BULK") if sent["id"] in data["ids"]]
        assert len(events) == 1
        assert deleted.count(204) <= 1
        assert (await owner.get(at)).code == 10008
    assert await left_hanging(platform) == {}


async def test_no_concurrent_edit_is_lost(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    hook = await hook_of(owner, guild.general)
    sent = (await platform.anonymous.post(hook, {"content": "x"}, wait=True)).json
    path = f"{hook}/messages/{sent['id']}"
    filenames = [f"{n}.txt" for n in range(ROUNDS)]
    replies = await at_once(
        ("thread", owner.post(f"{url}/{sent['id']}/threads", {"name": "moot"})),
        ("hidden", owner.patch(f"{url}/{sent['id']}", {"flags": 4})),
        *(
            (name, upload(platform.anonymous, "PATCH", path, listed((name, b"1")), {"content": name}))
            for name in filenames
        ),
    )
    assert {reply.status for reply in replies.values()} <= {200, 201}
    message = (await owner.get(f"{url}/{sent['id']}")).json
    assert sorted(names(message)) == filenames
    assert message["flags"] & (1 << 5)
    assert message["thread"]["id"] == sent["id"]
    assert len(await stored(platform)) == ROUNDS


async def test_a_channel_is_deleted_with_everything_that_is_added_meanwhile(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    bob = await member_of(platform, guild)
    for _ in range(ROUNDS):
        channel = await guild.channel()
        path, hook = f"/channels/{channel}", await hook_of(owner, channel)
        await at_once(
            ("gone", owner.delete(path)),
            ("webhook", owner.post(f"{path}/webhooks", {"name": "Crier"})),
            ("invite", owner.post(f"{path}/invites", {"unique": True})),
            ("thread", bob.post(f"{path}/threads", {"name": "moot", "type": 11})),
            ("said", upload(bob, "POST", f"{path}/messages", listed(("a.txt", b"1")), {"poll": TEA})),
            ("posted", platform.anonymous.post(hook, {"content": "x"})),
        )
        await platform.run_due_jobs()
        async with platform.database.read() as reader:
            for table in (webhooks, messages):
                query = Query(select(func.count()).select_from(table).where(table.c.channel_id == channel))
                assert await reader.scalar(query) == 0
    assert (await owner.get(f"/guilds/{guild.id}/invites")).json == []
    assert await left_hanging(platform) == {}


async def test_a_message_sent_during_a_ban_is_deleted_whole_or_stays_whole(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    for _ in range(ROUNDS):
        mallory = await member_of(platform, guild)
        body = {"delete_message_seconds": 600}
        files = listed(("a.txt", b"1"))
        await at_once(
            ("banned", owner.put(f"/guilds/{guild.id}/bans/{mallory.id}", body)),
            *((str(n), upload(mallory, "POST", url, files, {"poll": TEA})) for n in range(4)),
        )
    assert await left_hanging(platform) == {}
    deleted_ids = {one for data in platform.heard_data("MESSAGE_DELETE_BULK") for one in data["ids"]}
    said = {data["id"] for data in platform.heard_data("MESSAGE_CREATE")}
    left = {message["id"] for message in (await owner.get(url, limit=100)).json}
    assert deleted_ids | left == said
    assert not deleted_ids & left


async def test_concurrent_reactions_respect_the_limit(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = (await owner.post(url, {"content": "x"})).json
    emojis = [chr(0x1F600 + n) for n in range(23)]
    path = f"{url}/{sent['id']}/reactions"
    replies = await at_once(*((emoji, owner.put(f"{path}/{quote(emoji)}/@me")) for emoji in emojis))
    assert sum(reply.status == 204 for reply in replies.values()) == 20
    assert len((await owner.get(f"{url}/{sent['id']}")).json["reactions"]) == 20
