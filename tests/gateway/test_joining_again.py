"""Sessions whose user leaves a guild, or joins it again, while something of it is read."""

import asyncio
import json
from typing import Any

import pytest
from msgspec import structs

from moothall.bus import Audience
from moothall.gateway.audience import dispatcher
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from tests.gateway.peer import (
    ALICE,
    BOB,
    BOT,
    CAPTAIN,
    CRYPT,
    GUILD,
    TOWN,
    Peer,
    World,
    create_node,
    event,
    message,
    run_pending,
)
from tests.support.gateway_peers import INVALID, identified
from tests.support.suspending_worlds import SuspendingWorld


def joined(user_id: int) -> Any:
    data = {"guild_id": str(GUILD), "user": {"id": str(user_id)}, "roles": []}
    return event("GUILD_MEMBER_ADD", data, intent=Intent.GUILD_MEMBERS)


def left(user_id: int) -> Any:
    return event(
        "GUILD_MEMBER_REMOVE", {"guild_id": str(GUILD), "user": {"id": str(user_id)}}, intent=Intent.GUILD_MEMBERS
    )


def hidden_town() -> Any:
    """CHANNEL_UPDATE that hides the channel from all."""
    overwrites = [{"id": str(GUILD), "type": 0, "allow": "0", "deny": str(int(Permissions.VIEW_CHANNEL))}]
    data = {"id": str(TOWN), "guild_id": str(GUILD), "type": 0, "permission_overwrites": overwrites}
    return event("CHANNEL_UPDATE", data, intent=Intent.GUILDS)


def shown_town() -> Any:
    """CHANNEL_UPDATE that reveals the channel, for which the gateway reads."""
    data = {"id": str(TOWN), "guild_id": str(GUILD), "type": 0, "permission_overwrites": []}
    return event("CHANNEL_UPDATE", data, intent=Intent.GUILDS)


def contents(dispatches: list[tuple[str, Any]]) -> list[str]:
    return [data["content"] for name, data in dispatches if name == "MESSAGE_CREATE"]


async def test_a_user_who_leaves_and_joins_again_while_events_are_buffered_has_the_guild() -> None:
    world = SuspendingWorld()
    node, bus = create_node(world)
    alice, bob = Peer(node), Peer(node)
    await alice.identify("alice")
    await bob.identify("bob")
    await alice.receive_all()
    await bob.receive_all()
    bus.publish([hidden_town()])
    await run_pending()
    await alice.receive_all()
    world.pause = asyncio.Event()
    read = _blocked_reads(world)
    bus.publish([shown_town()])
    await run_pending()
    bus.publish([left(ALICE), joined(ALICE)])
    await run_pending()
    read.set()
    world.pause.set()
    await run_pending()
    names = await alice.names()
    assert names[-3:] == ["GUILD_DELETE", "GUILD_CREATE", "PRESENCE_UPDATE"]
    bus.publish([message("hello")])
    assert contents(await alice.dispatches()) == ["hello"]


def _blocked_reads(world: World) -> asyncio.Event:
    """Let the reads of revealed channels' threads wait for the event that is returned."""
    read = asyncio.Event()
    original = world.channels_with_threads

    async def channels_with_threads(channel_ids: Any) -> Any:
        await read.wait()
        return await original(channel_ids)

    world.channels_with_threads = channels_with_threads  # type: ignore[method-assign]
    return read


@pytest.mark.parametrize("embedded", [False, True])
async def test_a_user_who_leaves_and_joins_again_while_their_guild_is_read_has_it(embedded: bool) -> None:
    world = World()
    world.embedded = embedded
    node, bus = create_node(world)
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()
    alice = Peer(node)
    world.pause = asyncio.Event()
    await alice.identify("alice")
    await run_pending()
    bus.publish([left(ALICE), joined(ALICE)])
    await run_pending()
    world.pause.set()
    names = await alice.names()
    assert names.count("GUILD_CREATE") == names.count("GUILD_DELETE") + 1
    bus.publish([message("hello")])
    assert contents(await alice.dispatches()) == ["hello"]


async def test_a_user_who_has_left_when_their_guild_is_read_receives_no_event_of_it() -> None:
    world = SuspendingWorld()
    node, bus = create_node(world)
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()

    async def no_snapshot(*_: Any) -> None:
        return None

    world.guild_snapshot = no_snapshot  # type: ignore[assignment, method-assign]
    alice = Peer(node)
    await alice.identify("alice")
    bus.publish([message("secret")])
    await run_pending()
    bus.publish([message("of others")])
    assert await alice.names() == ["GUILD_DELETE"]
    assert not node.hub.views[GUILD].joining


async def test_sessions_that_wait_for_a_view_that_is_dropped_while_it_is_read_are_told() -> None:
    world = SuspendingWorld()
    node, _ = create_node(world)
    world.pause = asyncio.Event()
    peers = [Peer(node), Peer(node)]
    for peer in peers:
        await peer.identify()
    await run_pending()
    pause, world.pause = world.pause, None
    node._handle_gap()
    # Another session reads the guild anew, before the first ones have read it.
    await identified(node, "bob")
    pause.set()
    async with asyncio.timeout(10):
        for peer in peers:
            assert INVALID in await peer.receive_until_closed()
            await peer.disconnect(1006)
            await peer.task


async def test_messages_from_before_a_user_joined_are_not_sent_to_them() -> None:
    world = SuspendingWorld()
    node, bus = create_node(world)
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()
    world.pause = asyncio.Event()
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.publish([message("before"), joined(ALICE), message("after")])
    await run_pending()
    world.pause.set()
    dispatches = await alice.dispatches()
    assert [name for name, _ in dispatches].count("GUILD_CREATE") == 1
    assert contents(dispatches) == ["after"]


async def test_a_member_added_while_a_guild_fails_to_load_joins_all_the_same() -> None:
    world = SuspendingWorld()
    node, bus = create_node(world)
    del world.members[BOB]
    bob = Peer(node)
    await bob.identify("bob")
    world.pause = asyncio.Event()
    original, world.guild_view = world.guild_view, _failing(world)  # type: ignore[method-assign]
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    world.members[BOB] = ()
    bus.publish([joined(BOB)])
    await run_pending()
    world.guild_view = original  # type: ignore[method-assign]
    world.pause.set()
    assert (await bob.names())[:1] == ["GUILD_CREATE"]


def _failing(world: World) -> Any:
    async def guild_view(_: Any) -> None:
        await world._read()
        raise OSError("the database is away")

    return guild_view


async def test_ready_is_first_also_while_an_event_is_dispatched_in_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dispatcher, "_MAX_UNSLICED", 1)
    monkeypatch.setattr(dispatcher, "_SLICE", 1)
    world = World()
    node, _ = create_node(world)
    await Peer(node).identify("alice")
    last = Peer(node)
    assert (await last.receive())["op"] == 10
    original = world.current_user

    async def current_user(user_id: Any) -> bytes:
        sessions = node.hub.sessions_by_user[ALICE]
        node.hub.dispatch(sessions, "USER_UPDATE", json.dumps({"id": str(ALICE)}).encode())
        return await original(user_id)

    world.current_user = current_user  # type: ignore[method-assign]
    last.send({"op": 2, "d": {"token": "alice", "properties": {}}})
    assert [((await last.receive())["t"]) for _ in range(2)] == ["READY", "USER_UPDATE"]


async def test_a_client_that_is_gone_before_it_is_accepted_counts_no_longer() -> None:
    node, _ = create_node(World())

    async def receive() -> dict[str, Any]:
        return {"type": "websocket.connect"}

    async def send(_: Any) -> None:
        raise OSError("the client has disconnected")

    scope = {"type": "websocket", "path": "/gateway", "query_string": b"v=10", "headers": []}
    with pytest.raises(OSError, match="disconnected"):
        await node.serve(scope, receive, send)
    assert node.unidentified.count == 0


async def test_a_session_that_missed_an_event_before_ready_does_not_start() -> None:
    world = World()
    node, bus = create_node(world, replay_frames=3)
    await Peer(node).identify("bob")
    original = world.current_user

    async def current_user(user_id: Any) -> bytes:
        for number in range(4):
            bus.publish([event("USER_UPDATE", {"n": number}, audience=Audience.USERS, user_ids=[ALICE])])
        await run_pending()
        return await original(user_id)

    world.current_user = current_user  # type: ignore[method-assign]
    alice = Peer(node)
    assert (await alice.receive())["op"] == 10
    alice.send({"op": 2, "d": {"token": "alice", "properties": {}}})
    assert await alice.receive_until_closed() == []
    assert alice.closed == 4000
    assert ALICE not in node.hub.sessions_by_user


async def _joining_alice(world: World, *events: Any, version: int) -> list[tuple[str, Any]]:
    """What a session of Alice receives after GUILD_CREATE, which has joins and leaves up to a number of them."""
    world.state_version = min((each.state_version for each in events if each.state_version), default=1) - 1
    node, bus = create_node(world)
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()
    original, read = world.guild_snapshot, asyncio.Event()

    async def guild_snapshot(*arguments: Any) -> Any:
        await read.wait()
        snapshot = await original(*arguments)
        assert snapshot is not None
        return structs.replace(snapshot, state_version=version)

    world.guild_snapshot = guild_snapshot  # type: ignore[assignment, method-assign]
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.publish(events)
    await run_pending()
    read.set()
    dispatches = await alice.dispatches()
    assert dispatches[0][0] == "GUILD_CREATE"
    return dispatches[1:]


def updated(user_id: int) -> Any:
    data = {"guild_id": str(GUILD), "user": {"id": str(user_id)}, "roles": []}
    return event("GUILD_MEMBER_UPDATE", data, intent=Intent.GUILD_MEMBERS)


def numbered(envelope: Any, version: int) -> Any:
    envelope.state_version = version
    return envelope


async def test_a_change_of_a_member_who_has_left_by_guild_create_does_not_bring_them_back() -> None:
    events = [numbered(updated(BOT), 1), numbered(left(BOT), 2), numbered(updated(BOB), 3), message("after")]
    dispatches = await _joining_alice(SuspendingWorld(), *events, version=2)
    changed = [data["user"]["id"] for name, data in dispatches if name == "GUILD_MEMBER_UPDATE"]
    assert changed == [str(BOB)]
    assert contents(dispatches) == ["after"]


async def test_a_change_of_a_member_is_not_sent_before_the_leave_that_guild_create_has_is_delivered() -> None:
    world = SuspendingWorld()
    world.state_version = 0
    node, bus = create_node(world)
    await identified(node, "bob")
    world.pause = asyncio.Event()
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.publish([numbered(updated(BOT), 1)])
    world.state_version = 3
    await run_pending()
    world.pause.set()
    assert await alice.names() == ["GUILD_CREATE", "PRESENCE_UPDATE"]
    bus.publish([numbered(updated(BOT), 2), numbered(left(BOT), 3), numbered(updated(BOB), 4)])
    dispatches = await alice.dispatches()
    assert [(name, data["user"]["id"]) for name, data in dispatches] == [("GUILD_MEMBER_UPDATE", str(BOB))]


async def test_a_change_of_a_member_from_before_a_leave_that_the_view_has_is_not_sent() -> None:
    world = World()
    world.state_version = 2
    node, bus = create_node(world)
    alice, _ = await identified(node)
    # On their way when the view of the guild was read, which has the leave.
    bus.publish([numbered(updated(BOT), 1), numbered(left(BOT), 2), numbered(updated(BOB), 3)])
    dispatches = await alice.dispatches()
    assert [(name, data["user"]["id"]) for name, data in dispatches] == [("GUILD_MEMBER_UPDATE", str(BOB))]


async def test_the_roles_of_a_former_membership_are_not_those_of_the_member() -> None:
    world = World()
    world.state_version = 0
    node, bus = create_node(world)
    await identified(node, "bob")
    # Alice left and has joined again, which the node hears later.
    world.state_version = 3
    alice, _ = await identified(node)
    captain = {"guild_id": str(GUILD), "user": {"id": str(ALICE)}, "roles": [str(CAPTAIN)]}
    promoted = event("GUILD_MEMBER_UPDATE", captain, intent=Intent.GUILD_MEMBERS)
    former = numbered(structs.replace(promoted), 1)
    bus.publish([former, numbered(left(ALICE), 2), numbered(joined(ALICE), 3)])
    bus.publish([message("secret", CRYPT)])
    assert "MESSAGE_CREATE" not in await alice.names()
    bus.publish([numbered(promoted, 4), message("secret", CRYPT)])
    assert [name for name, _ in await alice.dispatches()][-1] == "MESSAGE_CREATE"


async def test_a_channel_whose_creation_is_about_to_be_applied_is_announced_to_a_session_that_joins() -> None:
    world = SuspendingWorld()
    node, bus = create_node(world)
    await identified(node, "bob")
    world.pause = asyncio.Event()
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    channel_id = ChannelId(Snowflake(TOWN + 99))
    bus.publish(
        [event("CHANNEL_CREATE", {"id": str(channel_id), "type": 0}, audience=Audience.CHANNEL, channel_id=channel_id)]
    )
    # The session joins after the delivery of the event and before the task that applies it.
    world.pause.set()
    assert "CHANNEL_CREATE" in await alice.names()


async def test_a_user_whom_guild_create_lists_but_does_not_count_is_announced_to_their_own_session() -> None:
    dispatches = await _joining_alice(SuspendingWorld(), numbered(joined(ALICE), 2), version=1)
    assert [data["user"]["id"] for name, data in dispatches if name == "GUILD_MEMBER_ADD"] == [str(ALICE)]


async def test_a_user_who_is_counted_in_guild_create_is_not_announced_to_their_own_session() -> None:
    dispatches = await _joining_alice(SuspendingWorld(), numbered(joined(ALICE), 2), version=2)
    assert "GUILD_MEMBER_ADD" not in [name for name, _ in dispatches]


async def test_a_user_removed_from_a_private_thread_while_their_guild_is_read_hears_which_threads_are_left() -> None:
    world = SuspendingWorld()

    async def channels_with_private_threads(channel_ids: Any) -> Any:
        return channel_ids

    world.channels_with_private_threads = channels_with_private_threads  # type: ignore[method-assign]
    removal = event(
        "THREAD_MEMBERS_UPDATE",
        {"id": str(TOWN + 1), "guild_id": str(GUILD), "member_count": 1, "removed_member_ids": [str(ALICE)]},
        audience=Audience.CHANNEL,
        channel_id=TOWN,
        thread_id=TOWN + 1,
        user_ids=[ALICE, BOB],
        intent=Intent.GUILDS | Intent.GUILD_MEMBERS,
    )
    names = [name for name, _ in await _joining_alice(world, removal, version=0)]
    assert names[:2] == ["THREAD_MEMBERS_UPDATE", "THREAD_LIST_SYNC"]


@pytest.mark.parametrize("gains", [True, False])
async def test_a_user_who_may_manage_threads_meanwhile_hears_which_private_threads_there_are(gains: bool) -> None:
    world = SuspendingWorld()
    bits = int(Permissions.MANAGE_THREADS)
    world.roles[RoleId(GUILD)] |= 0 if gains else bits

    async def channels_with_private_threads(channel_ids: Any) -> Any:
        return channel_ids

    world.channels_with_private_threads = channels_with_private_threads  # type: ignore[method-assign]
    role = {"id": str(GUILD), "permissions": str(world.roles[RoleId(GUILD)] ^ bits)}
    change = event("GUILD_ROLE_UPDATE", {"guild_id": str(GUILD), "role": role}, intent=Intent.GUILDS)
    names = [name for name, _ in await _joining_alice(world, change, version=0)]
    assert "THREAD_LIST_SYNC" in names
