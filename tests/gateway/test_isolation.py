"""Boundaries of sessions: a failure of one breaks that one, and the delivery to all others goes on."""

import asyncio
from typing import Any

import pytest

from moothall.bus import Audience, Envelope
from moothall.bus.local import LocalBus
from moothall.gateway.audience.guild_view import ChannelView
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.node import GatewayNode
from moothall.gateway.protocol.frames import Frame, Text
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings, NoMetrics
from moothall.objects.ids import GuildId, Snowflake
from tests.gateway.peer import ALICE, BOB, CRYPT, GUILD, TOWN, Peer, World, create_node, event, message, run_pending
from tests.support.gateway_peers import INVALID, identified
from tests.support.large_audiences import add_sessions, expected, numbered_event
from tests.support.member_events import added


async def resume(node: GatewayNode, session_id: str, seq: int, token: str = "alice") -> Peer:
    peer = Peer(node)
    await peer.receive()
    peer.send({"op": 6, "d": {"token": token, "session_id": session_id, "seq": seq}})
    return peer


class FailingConnection:
    """A connection that cannot encode a dispatch."""

    def dispatch(self, seq: int, frame: Frame) -> None:
        raise ValueError(f"cannot encode {seq}: {frame.text}")

    async def prepare(self, frame: Frame) -> None:
        raise AssertionError(frame.text)


class FailingEncoding(Text):
    """An encoding that fails for every dispatch."""

    def dispatch(self, seq: int, frame: Frame) -> str | bytes:
        raise ValueError(f"cannot encode {seq}: {frame.text}")


@pytest.mark.parametrize("count", [100, 512, 513, 2_000])
async def test_a_session_whose_dispatch_fails_is_broken_and_all_others_receive_the_event(count: int) -> None:
    broken: list[Session] = []
    hub = Hub(GatewaySettings(), World(), NoMetrics(), on_broken=lambda sessions, _: broken.extend(sessions))
    sessions, connections = add_sessions(hub, count)
    failing = [0, count // 2, count - 1]
    for index in failing:
        sessions[index].connection = FailingConnection()
    hub.receive([numbered_event(1), numbered_event(2)])
    await run_pending()
    assert not hub._delivery_scheduled
    for index, connection in enumerate(connections):
        assert connection.dispatches == ([] if index in failing else expected(1, 2))
    assert set(map(id, broken)) == {id(sessions[index]) for index in failing}


async def test_the_client_of_a_broken_session_is_told_to_identify_anew_and_cannot_resume() -> None:
    node, bus = create_node(World())
    (first, session_id), (other, _) = await identified(node), await identified(node, "bob")
    await other.receive_all()
    connection = node.hub.sessions[session_id].connection
    assert isinstance(connection, Connection)
    connection.encoding = FailingEncoding()
    bus.publish([message("lost")])
    bus.publish([message("after")])
    assert [d["content"] for _, d in await other.dispatches() if "content" in d] == ["lost", "after"]
    received = await first.receive_until_closed()
    assert received[-1] == INVALID
    await first.task
    again = await resume(node, session_id, first.seq)
    assert await again.receive() == INVALID
    assert session_id not in node.hub.sessions


async def test_an_event_that_cannot_be_applied_breaks_the_sessions_of_its_guild_only() -> None:
    node, bus = create_node(World())
    (peer, session_id), (elsewhere, _) = await identified(node), await identified(node, "bob")
    hub = node.hub
    outsider = hub.sessions_by_user[BOB][0]
    hub._unsubscribe(outsider, GUILD)
    await elsewhere.receive_all()
    bus.publish(
        [
            event("GUILD_ROLE_UPDATE", {"guild_id": str(GUILD), "role": "no role"}),
            event("NEWS", {"n": 1}, audience=Audience.USERS, user_ids=[BOB]),
        ]
    )
    received = await peer.receive_until_closed()
    assert received[-1] == INVALID
    assert peer.closed == 4000
    await peer.task
    assert session_id not in hub.sessions
    assert ("NEWS", {"n": 1}) in await elsewhere.dispatches()
    assert not hub._delivery_scheduled
    # A new session has a view that was read anew.
    again, _ = await identified(node)
    bus.publish([message("heard")])
    assert [d["content"] for _, d in await again.dispatches() if "content" in d] == ["heard"]


async def test_a_session_that_joins_after_a_loss_reads_the_guild_anew_though_others_are_still_told_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("moothall.gateway.delivery.invalidation._BATCH", 1)
    monkeypatch.setattr("moothall.gateway.delivery.invalidation._PAUSE", 3600.0)
    world = World()
    node, bus = create_node(world)
    (first, _), (second, second_id) = await identified(node), await identified(node, "bob")
    # The event that lets everybody see this channel is lost.
    world.channels = {**world.channels, CRYPT: ChannelView(0, {}, "crypt")}
    node._handle_gap()
    assert (await first.receive_until_closed())[-1] == INVALID
    await first.task
    assert second_id in node.hub.sessions
    again, _ = await identified(node)
    bus.publish([message("seen", CRYPT)])
    assert [d["content"] for _, d in await again.dispatches() if "content" in d] == ["seen"]
    await node.close()
    await second.task


async def test_a_read_that_fails_while_a_change_is_applied_breaks_the_guild_and_delivery_goes_on() -> None:
    world = World()
    world.embedded = False
    node, bus = create_node(world)
    peer, _ = await identified(node)

    async def fail(*_: Any) -> dict[Any, bytes]:
        raise OSError("the database is away")

    world.channel_objects = fail  # type: ignore[method-assign,assignment]
    for permissions in ("0", "1032"):
        role = {"id": str(GUILD), "permissions": permissions, "name": "@everyone"}
        bus.publish([event("GUILD_ROLE_UPDATE", {"guild_id": str(GUILD), "role": role})])
    received = await peer.receive_until_closed()
    assert received[-1] == INVALID
    await peer.task
    assert GUILD not in node.hub.views


async def test_a_callback_of_the_hub_that_fails_leaves_the_delivery_running() -> None:
    node, bus = create_node(World())
    _, _ = await identified(node)
    other, _ = await identified(node, "bob")

    def fail(*_: Any) -> None:
        raise RuntimeError("a callback")

    node.hub._on_control = fail
    node.hub._on_leave = fail
    node.hub._on_friend = fail
    bus.publish([Envelope(name="NODE_NEWS", data=message("x").data, audience=Audience.NODE)])
    await node.ends.end(node.hub.sessions_by_user[ALICE][0])
    await other.receive_all()
    bus.publish([message("heard")])
    assert [d["content"] for _, d in await other.dispatches() if "content" in d] == ["heard"]
    assert ALICE not in node.hub.views[GUILD].members


async def test_a_failing_subscriber_of_the_local_bus_keeps_nothing_from_the_others() -> None:
    bus = LocalBus()
    received: list[Envelope] = []

    def fail(_: Any) -> None:
        raise RuntimeError("a subscriber")

    bus.subscribe(fail)
    bus.subscribe(received.extend)
    bus.publish([message("one")])
    assert len(received) == 1


async def test_delivery_that_stands_still_is_noticed_and_started_again() -> None:
    node, bus = create_node(World())
    peer, _ = await identified(node)
    hub = node.hub
    # As after a callback of the event loop that was lost.
    hub._delivery_scheduled = True
    bus.publish([message("late")])
    loop = asyncio.get_running_loop()
    await node.sweep(loop.time())
    assert node.delivery_watch.delivers
    assert await peer.names() == []
    await node.sweep(loop.time() + 60)
    assert (node.delivery_watch.delivers, node.delivery_watch.stalls) == (False, 1)
    assert [d["content"] for _, d in await peer.dispatches()] == ["late"]
    await node.sweep(loop.time() + 61)
    assert node.delivery_watch.delivers


async def test_all_sessions_identify_anew_at_a_pace() -> None:
    node, _ = create_node(World(), max_sessions_per_person=0)
    peers = [await identified(node, "bob") for _ in range(120)]
    node.invalidate_all_sessions("A test.")
    received = await asyncio.gather(*(peer.receive_until_closed() for peer, _ in peers))
    assert all(payloads[-1] == INVALID for payloads in received)
    assert not node.hub.sessions
    assert node.ends.invalidations.count == 120
    await asyncio.gather(*(peer.task for peer, _ in peers))
    # Those that come afterwards stay.
    again, _ = await identified(node)
    await run_pending()
    assert not again.closed


@pytest.mark.parametrize("reads", range(1, 8))
async def test_a_client_that_is_gone_before_it_has_all_guilds_cannot_resume(reads: int) -> None:
    world = World()
    world.guilds = [GUILD, *(GuildId(Snowflake(GUILD + 1000 * n)) for n in range(1, 4))]
    node, _ = create_node(world)
    peer = Peer(node)
    await peer.receive()
    original = world._read
    count = 0

    async def read() -> None:
        nonlocal count
        count += 1
        if count == reads:
            next(iter(node.connections)).send_queue.abort()
        await original()

    world._read = read  # type: ignore[method-assign]
    peer.send({"op": 2, "d": {"token": "alice", "properties": {}}})
    await peer.task
    assert not node.hub.sessions
    assert not node.hub.views


@pytest.mark.parametrize("reads", range(1, 12))
async def test_a_read_that_fails_during_identify_ends_the_session_and_the_connection(reads: int) -> None:
    world = World()
    world.guilds = [GUILD, *(GuildId(Snowflake(GUILD + 1000 * n)) for n in range(1, 4))]
    node, _ = create_node(world)
    count = 0

    async def read() -> None:
        nonlocal count
        count += 1
        if count == reads:
            raise OSError("the database is away")

    world._read = read  # type: ignore[method-assign]
    peer = Peer(node)
    await peer.receive()
    peer.send({"op": 2, "d": {"token": "alice", "properties": {}}})
    received = await peer.receive_until_closed()
    assert received[-1] == INVALID
    await peer.task
    assert not node.hub.sessions
    assert not node.hub.views


async def test_a_guild_that_cannot_be_read_when_its_user_joins_it_breaks_the_session() -> None:
    world = World()
    node, bus = create_node(world)
    peer, session_id = await identified(node)
    new = GuildId(Snowflake(GUILD + 5000))

    async def fail(*_: Any) -> None:
        raise OSError("the database is away")

    world.guild_view = fail  # type: ignore[method-assign,assignment]
    bus.publish([event("GUILD_MEMBER_ADD", {"user": {"id": str(ALICE)}, "roles": []}, guild_id=new)])
    received = await peer.receive_until_closed()
    assert received[-1] == INVALID
    assert session_id not in node.hub.sessions
    await peer.task


async def test_a_session_whose_neighbour_failed_to_load_the_guild_loads_it_itself() -> None:
    world = World()
    world.embedded = False
    node, _ = create_node(world)
    loads = 0
    original = world.guild_view
    waits = asyncio.Event()

    async def fail_first(guild_id: GuildId) -> Any:
        nonlocal loads
        loads += 1
        if loads == 1:
            await waits.wait()
            raise OSError("the database is away")
        return await original(guild_id)

    world.guild_view = fail_first  # type: ignore[method-assign]
    first, second = Peer(node), Peer(node)
    for peer, token in ((first, "alice"), (second, "bob")):
        await peer.identify(token)
    waits.set()
    assert (await first.receive_until_closed())[-1] == INVALID
    created = await second.receive()
    assert (created["t"], created["d"]["id"]) == ("GUILD_CREATE", str(GUILD))


async def test_a_guild_of_ready_that_is_gone_when_it_is_read_is_announced_as_left() -> None:
    world = World()
    node, _ = create_node(world)
    peer = Peer(node)

    async def no_member(*_: Any) -> None:
        return None

    world.member_view = no_member  # type: ignore[method-assign,assignment]
    await peer.identify()
    assert await peer.dispatches() == [("GUILD_DELETE", {"id": str(GUILD)})]


async def test_events_kept_for_a_session_that_joins_a_guild_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moothall.gateway.delivery.hub._MAX_PENDING", 10)
    world = World()
    node, bus = create_node(world)
    waiting = Peer(node)
    listener, _ = await identified(node, "bob")
    world.pause = asyncio.Event()
    await waiting.identify()
    bus.publish([message(str(n), TOWN) for n in range(20)])
    await run_pending()
    assert len(await listener.names()) >= 20
    world.pause.set()
    assert (await waiting.receive_until_closed())[-1] == INVALID
    await waiting.task


@pytest.mark.parametrize("seq", [0, 99])
async def test_a_resume_that_fails_tells_the_connection_that_the_session_has(seq: int) -> None:
    node, bus = create_node(World())
    alice, session_id = await identified(node)
    bus.publish([message("one")])
    (heard,) = [payload for payload in await alice.receive_all() if payload["t"] == "MESSAGE_CREATE"]
    alice.send({"op": 1, "d": heard["s"]})
    await alice.receive_all()
    # Of a connection that was lost before, and whose token was read late.
    await resume(node, session_id, seq)
    assert INVALID in await alice.receive_until_closed()
    assert session_id not in node.hub.sessions


async def test_a_guild_that_a_broken_session_is_to_join_again_is_loaded_for_the_next_one() -> None:
    node, bus = create_node(World())
    alice, _ = await identified(node)
    node.hub.drop_views()
    # Her session is about to end, and still in the guild.
    bus.publish([added(ALICE, 1)])
    await run_pending()
    assert not node.hub.views
    assert (await alice.receive_until_closed())[-1] == INVALID
    bob = Peer(node)
    await bob.identify("bob")
    guild = next(data for name, data in await bob.dispatches() if name == "GUILD_CREATE")
    assert [channel["id"] for channel in guild["channels"]] == [str(TOWN)]
