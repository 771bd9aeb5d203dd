"""Identify, dispatch, heartbeat, resume: the lifecycle of a session."""

import asyncio
from typing import Any

import pytest

from moothall.bus import Audience
from moothall.gateway.sessions.callbacks import GatewayCallbacks
from moothall.gateway.snapshot.ready import Identity
from tests.gateway.peer import (
    ALICE,
    BOB,
    GUILD,
    TOWN,
    Peer,
    World,
    create_node,
    event,
    message,
    run_pending,
)

QUERIES = ["v=10&encoding=json", "v=10&encoding=json&compress=zlib-stream", "v=10&encoding=json&compress=zstd-stream"]


@pytest.mark.parametrize("query", QUERIES)
async def test_a_client_that_identifies_receives_ready_and_then_its_guilds(query: str) -> None:
    node, _ = create_node(World(), public_url="ws://moot.example/gateway")
    peer = Peer(node, query)
    ready = await peer.identify("bot", intents=1)
    assert ready["v"] == 10
    assert ready["user"]["id"] == "103"
    assert ready["guilds"] == [{"id": str(GUILD), "unavailable": True}]
    assert ready["resume_gateway_url"] == "ws://moot.example/gateway"
    assert ready["application"] == {"id": "103", "flags": 1 << 12 | 1 << 14 | 1 << 18, "flags_new": "282624"}
    assert ready["private_channels"] == []
    assert "shard" not in ready
    created = await peer.receive()
    assert (created["t"], created["s"], created["d"]["unavailable"]) == ("GUILD_CREATE", 2, False)
    assert [channel["id"] for channel in created["d"]["channels"]] == [str(TOWN)]


@pytest.mark.parametrize("query", QUERIES)
async def test_events_are_numbered_for_each_session_and_in_order(query: str) -> None:
    node, bus = create_node(World())
    alice, bob = Peer(node, query), Peer(node)
    await alice.identify("alice")
    await alice.receive_all()
    await bob.identify("bob")
    await bob.receive_all()
    await alice.receive_all()
    start = alice.seq
    bus.publish([message("one"), message("two")])
    bus.publish([message("three")])
    heard = await alice.receive_all()
    assert [p["d"]["content"] for p in heard] == ["one", "two", "three"]
    assert [p["s"] for p in heard] == [start + 1, start + 2, start + 3]
    assert [d["content"] for _, d in await bob.dispatches()] == ["one", "two", "three"]


@pytest.mark.parametrize("query", QUERIES)
async def test_a_resumed_session_receives_every_event_exactly_once(query: str) -> None:
    node, bus = create_node(World())
    first = Peer(node, query)
    session_id = (await first.identify())["session_id"]
    await first.receive_all()
    bus.publish([message("heard")])
    await first.receive_all()
    bus.publish([message("lost on the way")])
    await first.disconnect()
    bus.publish([message("while away")])
    await run_pending()
    second = Peer(node, query)
    await second.receive()
    second.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": first.seq}})
    heard = await second.receive_all()
    assert [(p["t"], p["s"] - first.seq) for p in heard] == [
        ("MESSAGE_CREATE", 1),
        ("MESSAGE_CREATE", 2),
        ("RESUMED", 3),
    ]
    assert [p["d"].get("content") for p in heard] == ["lost on the way", "while away", None]
    bus.publish([message("after")])
    assert [d["content"] for _, d in await second.dispatches()] == ["after"]


async def test_a_heartbeat_removes_what_it_acknowledges_from_the_replay_buffer() -> None:
    node, bus = create_node(World())
    peer = Peer(node)
    ready = await peer.identify()
    bus.publish([message("one"), message("two")])
    await peer.receive_all()
    session = node.hub.sessions[ready["session_id"]]
    assert len(session.replay_buffer or ()) > 1
    peer.send({"op": 1, "d": peer.seq - 1})
    assert (await peer.receive_all())[-1]["op"] == 11
    assert len(session.replay_buffer or ()) == 1
    peer.send({"op": 1, "d": peer.seq})
    await peer.receive_all()
    assert (session.replay_buffer, session.replay_bytes) == (None, 0)
    await peer.disconnect()
    again = Peer(node)
    await again.receive()
    again.send({"op": 6, "d": {"token": "alice", "session_id": session.id, "seq": peer.seq}})
    assert await again.names() == ["RESUMED"]


async def test_a_session_whose_replay_buffer_overflowed_cannot_be_resumed() -> None:
    node, bus = create_node(World(), replay_frames=3)
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message(str(n)) for n in range(4)])
    await run_pending()
    again = Peer(node)
    await again.receive()
    again.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": peer.seq}})
    assert await again.receive() == {"op": 9, "d": False, "s": None, "t": None}
    assert session_id not in node.hub.sessions
    again.send({"op": 2, "d": {"token": "alice", "properties": {}}})
    assert (await again.receive())["t"] == "READY"


async def test_a_session_that_is_not_resumed_in_time_ends() -> None:
    ended: list[Any] = []

    async def offline(user_id: int, guild_ids: frozenset[int]) -> None:
        ended.append((user_id, guild_ids))

    node, _ = create_node(World(), GatewayCallbacks(on_offline=offline), resume_seconds=100)
    now = asyncio.get_running_loop().time
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    await node.sweep(now() + 50)
    assert session_id in node.hub.sessions
    await node.sweep(now() + 101)
    assert session_id not in node.hub.sessions
    assert ended == [(ALICE, frozenset({GUILD}))]
    assert node.hub.views == {}


@pytest.mark.parametrize("code", [1000, 1001])
async def test_a_client_that_closes_its_connection_normally_ends_its_session(code: int) -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    await peer.identify()
    await peer.disconnect(code)
    assert node.hub.sessions == {}


async def test_a_session_resumed_elsewhere_leaves_its_old_connection() -> None:
    node, bus = create_node(World())
    old = Peer(node)
    session_id = (await old.identify())["session_id"]
    await old.receive_all()
    new = Peer(node)
    await new.receive()
    new.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": old.seq}})
    assert await new.names() == ["RESUMED"]
    assert await old.close_code() == 4000
    await old.task
    bus.publish([message("hello")])
    assert await new.names() == ["MESSAGE_CREATE"]


async def test_a_session_is_not_resumed_with_the_token_of_another_user() -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    thief = Peer(node)
    await thief.receive()
    thief.send({"op": 6, "d": {"token": "bob", "session_id": session_id, "seq": 1}})
    assert (await thief.receive())["op"] == 9
    assert session_id in node.hub.sessions


async def test_a_login_that_ends_while_its_session_is_started_leaves_none() -> None:
    class EndingWorld(World):
        embedded = False
        reads = 0

        async def identity(self, token: str) -> Identity | None:
            self.reads += 1
            return await super().identity(token) if self.reads == 1 else None

    node, _ = create_node(EndingWorld())
    peer = Peer(node)
    await peer.receive()
    peer.send({"op": 2, "d": {"token": "alice", "properties": {}, "intents": 0}})
    assert await peer.close_code() == 4004
    assert node.hub.sessions == {}


async def test_a_sequence_number_from_the_future_is_4007() -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    again = Peer(node)
    again.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": peer.seq + 1}})
    assert await again.close_code() == 4007


async def test_a_heartbeat_is_requested_of_a_silent_client_before_it_is_disconnected_resumable() -> None:
    node, _ = create_node(World(), heartbeat_ms=100_000)
    now = asyncio.get_running_loop().time
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    await peer.receive_all()
    await node.sweep(now() + 126)
    assert [payload["op"] for payload in await peer.receive_all()] == [1]
    await node.sweep(now() + 151)
    assert await peer.receive_until_closed() == []
    assert peer.closed == 4009
    await peer.task
    assert session_id in node.hub.sessions


async def test_a_client_that_heartbeats_stays() -> None:
    node, _ = create_node(World(), heartbeat_ms=100_000)
    now = asyncio.get_running_loop().time
    peer = Peer(node)
    await peer.identify()
    for _ in range(8):
        peer.send({"op": 1, "d": None})
        await run_pending()
        await node.sweep(now() + 100)
    assert {p["op"] for p in await peer.receive_all()} == {0, 11}


async def test_a_connection_that_never_identifies_is_closed() -> None:
    node, _ = create_node(World(), identify_seconds=0.01, heartbeat_ms=40)
    await node.start()
    assert await Peer(node).close_code() == 4009
    await node.close()


async def test_a_node_that_closes_asks_its_clients_to_reconnect() -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    session_id = (await peer.identify())["session_id"]
    await peer.receive_all()
    await node.close()
    assert (await peer.receive())["op"] == 7
    assert await peer.close_code() == 4000
    await peer.task
    assert session_id in node.hub.sessions


async def test_events_for_users_reach_all_their_sessions_and_no_other() -> None:
    node, bus = create_node(World())
    phones = [Peer(node), Peer(node)]
    bob = Peer(node)
    for peer in phones:
        await peer.identify("alice")
    await bob.identify("bob")
    for peer in (*phones, bob):
        await peer.receive_all()
    bus.publish([event("MESSAGE_CREATE", audience=Audience.USERS, user_ids=[ALICE, ALICE])])
    for peer in phones:
        assert await peer.names() == ["MESSAGE_CREATE"]
    assert await bob.names() == []
    bus.publish([event("TYPING_START", audience=Audience.CHANNEL, guild_id=None, channel_id=9, user_ids=[BOB])])
    assert await bob.names() == ["TYPING_START"]


async def test_a_revoked_token_ends_its_sessions_only() -> None:
    node, bus = create_node(World())
    revoked, other = Peer(node), Peer(node)
    await revoked.identify("alice")
    await other.identify("alice")
    sessions = node.hub.sessions_by_user[ALICE]
    sessions[1].token_hash = b"another"
    digest = sessions[0].token_hash.hex()
    bus.publish([event("SESSIONS_CLOSE", {"user_id": ALICE, "token_hash": digest}, audience=Audience.NODE)])
    assert await revoked.close_code() == 4004
    await run_pending()
    assert len(node.hub.sessions_by_user[ALICE]) == 1
    bus.publish([event("SESSIONS_CLOSE", {"user_id": ALICE}, audience=Audience.NODE)])
    assert await other.close_code() == 4004
    assert ALICE not in node.hub.sessions_by_user


async def test_the_callbacks_report_identified_and_offline_users() -> None:
    calls: list[tuple[str, int]] = []

    async def seen(user_id: int) -> None:
        calls.append(("seen", user_id))

    async def offline(user_id: int, guild_ids: frozenset[int]) -> None:
        assert guild_ids == {GUILD}
        calls.append(("offline", user_id))

    node, _ = create_node(World(), GatewayCallbacks(on_identify=seen, on_offline=offline))
    first, second = Peer(node), Peer(node)
    await first.identify()
    await second.identify()
    await run_pending()
    await first.disconnect(1000)
    await second.disconnect(1000)
    assert calls == [("seen", ALICE), ("seen", ALICE), ("offline", ALICE)]


async def test_identifying_and_resuming_are_uses_of_a_persons_token() -> None:
    used: list[bytes] = []
    node, _ = create_node(World(), GatewayCallbacks(on_token_use=used.append))
    peer = Peer(node)
    ready = await peer.identify("alice")
    await peer.disconnect(4000)
    again = Peer(node)
    again.send({"op": 6, "d": {"token": "alice", "session_id": ready["session_id"], "seq": 1}})
    assert (await again.receive())["op"] == 10
    await again.receive()
    bot = Peer(node)
    await bot.identify("bot", intents=1)
    session = node.hub.sessions_by_user[ALICE][0]
    assert used == [session.token_hash] * 2
