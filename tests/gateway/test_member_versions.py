"""Joins and leaves are numbered: a session receives those that its GUILD_CREATE lacks, and a missing one is noticed."""

import asyncio

from moothall.objects.ids import Snowflake, UserId
from tests.gateway.peer import ALICE, GUILD, Peer, World, create_node, run_pending
from tests.support.gateway_peers import INVALID, identified
from tests.support.member_events import added, removed


async def joins_and_leaves(peer: Peer) -> list[tuple[str, str]]:
    """What a client received about members, with their ids."""
    return [(name, data["user"]["id"]) for name, data in await peer.dispatches() if name.startswith("GUILD_MEMBER")]


async def test_joins_that_a_snapshot_has_are_not_sent_to_its_session_and_later_ones_are() -> None:
    world = World()
    world.state_version = 5
    node, bus = create_node(world)
    early, _ = await identified(node)
    world.state_version = 8
    late, _ = await identified(node, "bob")
    assert node.hub.views[GUILD].ahead
    # These were on their way when the second session read the guild.
    bus.publish([added(201, 6), removed(201, 7), added(202, 8), added(203, 9)])
    assert await joins_and_leaves(early) == [
        ("GUILD_MEMBER_ADD", "201"),
        ("GUILD_MEMBER_REMOVE", "201"),
        ("GUILD_MEMBER_ADD", "202"),
        ("GUILD_MEMBER_ADD", "203"),
    ]
    assert await joins_and_leaves(late) == [("GUILD_MEMBER_ADD", "203")]
    assert not node.hub.views[GUILD].ahead


async def test_joins_from_before_the_view_was_read_are_sent_to_no_session() -> None:
    world = World()
    world.state_version = 5
    node, bus = create_node(world)
    peer, _ = await identified(node)
    bus.publish([added(201, 4), removed(201, 5), added(202, 6)])
    assert await joins_and_leaves(peer) == [("GUILD_MEMBER_ADD", "202")]


async def test_a_join_that_is_missing_makes_the_sessions_of_the_guild_identify_anew() -> None:
    world = World()
    world.state_version = 5
    node, bus = create_node(world)
    peer, session_id = await identified(node)
    bus.publish([added(201, 6), added(203, 8)])
    received = await peer.receive_until_closed()
    assert [payload["t"] for payload in received[:-1]].count("GUILD_MEMBER_ADD") == 1
    assert received[-1] == INVALID
    await peer.task
    assert session_id not in node.hub.sessions
    world.state_version = 8
    again, _ = await identified(node)
    bus.publish([added(204, 9)])
    assert await joins_and_leaves(again) == [("GUILD_MEMBER_ADD", "204")]


async def test_an_event_that_is_being_applied_reaches_a_session_that_joins_meanwhile_once() -> None:
    world = World()
    world.embedded = False
    world.state_version = 5
    node, bus = create_node(world)
    await identified(node, "bob")
    for version in range(6, 40):
        peer = Peer(node)
        await peer.receive()
        peer.send({"op": 2, "d": {"token": "alice", "properties": {}}})
        # At each moment of identifying in turn.
        for _ in range(version - 6):
            await asyncio.sleep(0)
        world.state_version = version
        bus.publish([added(1000 + version, version)])
        await run_pending()
        events = await peer.dispatches()
        names = [name for name, _ in events]
        # Before GUILD_CREATE was read: it has the join. After that: an event.
        assert names.count("GUILD_CREATE") == 1
        assert names.count("GUILD_MEMBER_ADD") <= 1
        await peer.disconnect(1000)


async def test_a_member_who_leaves_and_joins_again_while_their_session_joins_is_in_the_guild() -> None:
    world = World()
    world.state_version = 5
    node, bus = create_node(world)
    listener, _ = await identified(node, "bob")
    world.pause = asyncio.Event()
    peer = Peer(node)
    await peer.identify()
    await run_pending()
    bus.publish([removed(ALICE, 6), added(ALICE, 7)])
    await run_pending()
    world.pause.set()
    await run_pending()
    world.pause = None
    names = [name for name in await peer.names() if name in {"GUILD_CREATE", "GUILD_DELETE"}]
    assert names[-1] == "GUILD_CREATE"
    assert names.count("GUILD_DELETE") == names.count("GUILD_CREATE") - 1
    assert GUILD in node.hub.sessions_by_user[ALICE][0].guild_ids
    assert len(await joins_and_leaves(listener)) == 2


async def test_a_session_that_has_a_leave_of_its_user_in_its_snapshot_stays_in_the_guild() -> None:
    world = World()
    world.state_version = 5
    node, bus = create_node(world)
    await identified(node, "bob")
    world.state_version = 7
    peer, _ = await identified(node)
    # Alice left and came back before her session read the guild.
    bus.publish([removed(ALICE, 6), added(ALICE, 7), added(UserId(Snowflake(300)), 8)])
    # Between the two she sees nothing. Those who heard of the leave hear that she is online.
    assert [name for name, _ in await peer.dispatches()] == [
        "CHANNEL_DELETE",
        "CHANNEL_CREATE",
        "GUILD_MEMBER_ADD",
        "PRESENCE_UPDATE",
    ]
