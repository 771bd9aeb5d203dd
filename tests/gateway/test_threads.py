"""Audiences of threads and of events in them."""

import asyncio
from itertools import count

import pytest

from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.gateway.snapshot.threads import active_threads
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.runtime import turns
from moothall.storage import bulk
from tests.resources.thread.thread_guild import PRIVATE, id_of, thread_guild
from tests.support.harness import Platform
from tests.support.thread_listeners import Listener, listening

MEMBERS, GUILDS, MESSAGES = Intent.GUILD_MEMBERS, Intent.GUILDS, Intent.GUILD_MESSAGES


async def test_events_in_a_private_thread_reach_its_members_and_moderators_only(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol, steward = await at.newcomer(), await at.guild.member_with(Permissions.MANAGE_THREADS)
    thread = await at.thread(at.bob, PRIVATE)
    bob, outside, above = await listening(at, [at.bob, carol, steward])
    said = (await at.bob.post(f"{thread}/messages", {"content": "x"})).json
    await at.bob.patch(f"{thread}/messages/{said['id']}", {"content": "y"})
    await at.bob.put(f"{thread}/messages/{said['id']}/reactions/%F0%9F%91%8D/@me")
    await at.bob.post(f"{thread}/typing")
    await at.bob.put(f"{thread}/messages/pins/{said['id']}")
    await at.bob.delete(f"{thread}/messages/{said['id']}")
    await at.bob.patch(thread, {"name": "z"})
    inside = await bob.names()
    assert inside == await above.names()
    assert set(inside) >= {"MESSAGE_CREATE", "MESSAGE_REACTION_ADD", "TYPING_START", "THREAD_UPDATE", "MESSAGE_DELETE"}
    assert await outside.names() == []


async def test_a_user_added_to_a_thread_receives_it_with_their_thread_member(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol = await at.newcomer()
    thread = await at.thread(at.bob, PRIVATE)
    bob, added = await listening(at, [at.bob, carol])
    await at.bob.put(f"{thread}/thread-members/{carol.id}")
    assert await bob.names() == ["THREAD_MEMBERS_UPDATE", "MESSAGE_CREATE"]
    heard = dict(await added.dispatches())
    assert list(heard) == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE", "MESSAGE_CREATE"]
    assert heard["THREAD_CREATE"]["id"] == id_of(thread)
    assert set(heard["THREAD_CREATE"]["member"]) == {"join_timestamp", "flags", "muted", "mute_config"}
    await at.bob.delete(f"{thread}/thread-members/{carol.id}")
    heard = dict(await added.dispatches())
    assert list(heard) == ["THREAD_MEMBERS_UPDATE", "THREAD_LIST_SYNC"]
    assert heard["THREAD_LIST_SYNC"]["threads"] == []
    assert heard["THREAD_LIST_SYNC"]["channel_ids"] == [str(at.guild.general)]


async def test_without_the_members_intent_only_ones_own_thread_membership_changes_are_received(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    coming, other = await platform.bot(at.owner), await platform.bot(at.owner, flags=1 << 14)
    await at.guild.join(coming, other)
    thread = await at.thread(at.owner)
    own, outside = await listening(at, [coming, other], GUILDS)
    (everybody,) = await listening(at, [other], GUILDS | MEMBERS)
    await coming.put(f"{thread}/thread-members/@me")
    await coming.delete(f"{thread}/thread-members/@me")
    assert await own.names() == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE", "THREAD_MEMBERS_UPDATE"]
    assert await outside.names() == []
    assert await everybody.names() == ["THREAD_MEMBERS_UPDATE"] * 2


async def test_an_unarchived_thread_sends_each_member_their_own_thread_member(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol = await at.newcomer()
    thread = await at.thread(at.bob)
    await at.bob.patch(thread, {"archived": True})
    bob, other = await listening(at, [at.bob, carol], GUILDS)
    await at.owner.patch(thread, {"archived": False})
    assert await bob.names() == ["THREAD_UPDATE", "THREAD_MEMBER_UPDATE"]
    assert await other.names() == ["THREAD_UPDATE"]


async def test_a_thread_member_who_may_not_view_the_parent_receives_no_event_of_the_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob, PRIVATE)
    hide = {"type": 1, "deny": str(int(Permissions.VIEW_CHANNEL))}
    await at.owner.put(f"{at.general}/permissions/{at.bob.id}", hide)
    (bob,) = await listening(at, [at.bob])
    await at.owner.post(f"{thread}/messages", {"content": "x"})
    await at.owner.patch(thread, {"archived": True})
    await at.owner.patch(thread, {"archived": False})
    assert await bob.names() == []


async def test_gaining_manage_threads_lists_the_private_threads_and_losing_it_removes_them(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    carol = await at.newcomer()
    thread = await at.thread(at.bob, PRIVATE)
    role = await at.guild.role(permissions=Permissions.MANAGE_THREADS)
    (listener,) = await listening(at, [carol], GUILDS)
    await at.owner.put(f"/guilds/{at.guild.id}/members/{carol.id}/roles/{role}")
    heard = await listener.dispatches()
    assert [name for name, _ in heard] == ["GUILD_MEMBER_UPDATE", "THREAD_LIST_SYNC"]
    assert [listed["id"] for listed in heard[1][1]["threads"]] == [id_of(thread)]
    await at.owner.delete(f"/guilds/{at.guild.id}/members/{carol.id}/roles/{role}")
    heard = await listener.dispatches()
    assert heard[1] == (
        "THREAD_LIST_SYNC",
        {"guild_id": str(at.guild.id), "channel_ids": [str(at.guild.general)], "threads": [], "members": []},
    )
    allow = {"type": 1, "allow": str(int(Permissions.MANAGE_THREADS))}
    await at.owner.put(f"{at.general}/permissions/{carol.id}", allow)
    assert await listener.names() == ["CHANNEL_UPDATE", "THREAD_LIST_SYNC"]


async def test_guild_create_has_the_active_threads_with_ones_own_thread_members(platform: Platform) -> None:
    at = await thread_guild(platform)
    mine, theirs, closed = await at.thread(at.bob), await at.thread(at.owner), await at.thread(at.owner, PRIVATE)
    await at.bob.patch(await at.thread(at.bob), {"archived": True})
    source = DatabaseSource(platform.database, platform.services.states)
    node = GatewayNode(GatewaySettings(), platform.bus, source)
    for caller, reached in ((at.bob, [theirs, mine]), (at.owner, [closed, theirs, mine])):
        heard = dict(await Listener(node, caller, GUILDS).dispatches())
        threads = heard["GUILD_CREATE"]["threads"]
        assert [thread["id"] for thread in threads] == [id_of(path) for path in reached]
        own = [thread["id"] for thread in threads if "member" in thread]
        assert own == ([id_of(mine)] if caller is at.bob else [id_of(closed), id_of(theirs)])


async def test_a_subscription_to_a_thread_lists_its_members_and_their_presences(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol = await at.newcomer()
    open_thread, secret = await at.thread(at.bob), await at.thread(at.bob, PRIVATE)
    assert (await at.owner.put(f"{open_thread}/thread-members/@me")).status == 204
    bob, outside = await listening(at, [at.bob, carol])
    threads = {"thread_member_lists": [id_of(secret), str(at.guild.general), "1", id_of(open_thread)]}
    for listener in (bob, outside):
        listener.send({"op": 37, "d": {"subscriptions": {str(at.guild.id): threads}}})
    heard = await bob.dispatches()
    assert [(name, data["thread_id"]) for name, data in heard] == [
        ("THREAD_MEMBER_LIST_UPDATE", id_of(secret)),
        ("THREAD_MEMBER_LIST_UPDATE", id_of(open_thread)),
    ]
    assert heard[1][1]["guild_id"] == str(at.guild.id)
    members = {member["user_id"]: member for member in heard[1][1]["members"]}
    assert {user_id: member["presence"]["status"] for user_id, member in members.items()} == {
        str(at.owner.id): "offline",
        str(at.bob.id): "online",
    }
    shown = members[str(at.bob.id)]
    assert (shown["id"], shown["member"]["user"]["id"]) == (id_of(open_thread), str(at.bob.id))
    assert shown["presence"]["user"] == {"id": str(at.bob.id)}
    assert [data["thread_id"] for _, data in await outside.dispatches()] == [id_of(open_thread)], (
        "not one they cannot see"
    )


async def test_others_run_while_the_many_active_threads_of_a_guild_are_read(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = await thread_guild(platform)
    for number in range(12):
        await at.thread(at.bob, name=f"thread {number}")
    member, general = (
        MemberView(UserId(at.bob.id), (), pending=False, timed_out_until=0, sessions=[]),
        ChannelId(at.guild.general),
    )
    ran = 0

    async def run_beside() -> None:
        nonlocal ran
        while True:
            await asyncio.sleep(0)
            ran += 1

    # Each step takes as long as a turn.
    monkeypatch.setattr(bulk, "stopwatch", count(0.0, 1.0).__next__)
    monkeypatch.setattr(turns, "stopwatch", count(0.0, turns.FIRST_SECONDS).__next__)
    other = asyncio.create_task(run_beside())
    async with platform.database.read() as reader:
        threads = await active_threads(reader, GuildView(GuildId(at.guild.id)), member, frozenset({general}))
    other.cancel()
    assert sorted(str(thread.name) for thread in threads) == sorted(f"thread {number}" for number in range(12))
    assert ran >= 4 * 12
