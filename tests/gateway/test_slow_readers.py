"""Backpressure: a client that reads slowly is disconnected at a limit and delays no other."""

import asyncio
import tracemalloc
from typing import Any

from moothall.gateway.node import GatewayNode
from tests.gateway.peer import Peer, World, create_node, message, run_pending


async def test_a_client_that_does_not_read_delays_no_other_and_receives_everything_when_it_reads_again() -> None:
    node, bus = create_node(World())
    slow, quick = Peer(node), Peer(node)
    await slow.identify("alice")
    await quick.identify("bob")
    await slow.receive_all()
    await quick.receive_all()
    slow.stop_reading()
    bus.publish([message(str(n)) for n in range(50)])
    assert len(await quick.names()) == 50
    slow.resume_reading()
    heard = [d["content"] for name, d in await slow.dispatches() if name == "MESSAGE_CREATE"]
    assert heard == [str(n) for n in range(50)]


async def test_a_client_whose_queue_overflows_is_disconnected_and_can_resume_without_a_gap() -> None:
    node, bus = create_node(World(), queue_frames=10)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    peer.stop_reading()
    bus.publish([message(str(n)) for n in range(40)])
    await run_pending()
    assert peer.aborted
    assert node.ends.dropped == 1
    await peer.task
    again = Peer(node)
    await again.receive()
    again.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": peer.seq}})
    heard = await again.dispatches()
    assert [d["content"] for name, d in heard if name == "MESSAGE_CREATE"] == [str(n) for n in range(40)]


async def resumed(node: GatewayNode, session_id: str, seq: int) -> Peer:
    """A client that resumes a session and does not read."""
    peer = Peer(node)
    await peer.receive()
    peer.stop_reading()
    peer.send({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": seq}})
    await run_pending()
    return peer


async def test_more_missed_events_than_the_queue_takes_are_replayed_as_the_client_reads() -> None:
    node, bus = create_node(World(), queue_frames=10)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message(str(n)) for n in range(100)])
    await run_pending()
    again = await resumed(node, session_id, peer.seq)
    # These come while the others are being sent.
    bus.publish([message(str(n)) for n in range(100, 150)])
    again.send({"op": 1, "d": peer.seq})
    await run_pending()
    assert not again.aborted
    again.resume_reading()
    received: list[Any] = []
    while "RESUMED" not in [payload["t"] for payload in received]:
        received += await again.receive_all()
    assert [p["op"] for p in received].count(11) == 1
    dispatches = [p for p in received if p["op"] == 0]
    assert [p["s"] for p in dispatches] == list(range(peer.seq + 1, peer.seq + 152))
    assert [p["d"].get("content") for p in dispatches] == [*map(str, range(150)), None]
    assert dispatches[-1]["t"] == "RESUMED"
    bus.publish([message("after")])
    assert [data["content"] for _, data in await again.dispatches()] == ["after"]


async def test_a_frame_larger_than_the_queue_is_replayed() -> None:
    node, bus = create_node(World(), queue_bytes=10_000)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message("x" * 20_000) for _ in range(3)])
    await run_pending()
    again = await resumed(node, session_id, peer.seq)
    again.resume_reading()
    received: list[Any] = []
    while "RESUMED" not in received:
        received += await again.names()
    assert received == ["MESSAGE_CREATE"] * 3 + ["RESUMED"]
    assert not again.aborted


async def test_who_falls_behind_the_replay_buffer_during_a_replay_identifies_anew_once() -> None:
    node, bus = create_node(World(), queue_frames=10, replay_frames=60)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message(str(n)) for n in range(50)])
    await run_pending()
    again = await resumed(node, session_id, peer.seq)
    bus.publish([message(str(n)) for n in range(50, 120)])
    await run_pending()
    assert not again.aborted
    again.resume_reading()
    received = await again.receive_until_closed()
    contents = [p["d"]["content"] for p in received if p["op"] == 0]
    assert contents == [str(n) for n in range(len(contents))]
    assert [p for p in received if p["op"] == 9] == [{"op": 9, "d": False, "s": None, "t": None}]
    await again.task
    assert session_id not in node.hub.sessions


async def test_a_session_that_is_resumed_again_during_a_replay_is_replayed_to_the_newer_connection() -> None:
    node, bus = create_node(World(), queue_frames=10)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message(str(n)) for n in range(50)])
    await run_pending()
    older = await resumed(node, session_id, peer.seq)
    newer = await resumed(node, session_id, peer.seq)
    newer.resume_reading()
    received: list[Any] = []
    while "RESUMED" not in [name for name, _ in received]:
        received += await newer.dispatches()
    assert [data.get("content") for _, data in received] == [*map(str, range(50)), None]
    older.resume_reading()
    assert "RESUMED" not in [payload["t"] for payload in await older.receive_until_closed()]
    await older.task
    bus.publish([message("after")])
    assert [data["content"] for _, data in await newer.dispatches()] == ["after"]


async def test_a_client_that_is_lost_during_a_replay_can_resume() -> None:
    node, bus = create_node(World(), queue_frames=10)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.receive_all()
    await peer.disconnect()
    bus.publish([message(str(n)) for n in range(50)])
    await run_pending()
    lost = await resumed(node, session_id, peer.seq)
    lost.abort()
    await lost.task
    again = await resumed(node, session_id, peer.seq)
    again.resume_reading()
    received: list[Any] = []
    while "RESUMED" not in received:
        received += await again.names()
    assert received == ["MESSAGE_CREATE"] * 50 + ["RESUMED"]


async def test_queued_bytes_are_bounded_too() -> None:
    node, bus = create_node(World(), queue_bytes=100_000)
    peer = Peer(node)
    await peer.identify("alice")
    peer.stop_reading()
    bus.publish([message("x" * 20_000) for _ in range(10)])
    await run_pending()
    assert peer.aborted


async def test_a_close_frame_that_the_client_does_not_read_does_not_keep_the_connection() -> None:
    node, bus = create_node(World())
    peer = Peer(node)
    await peer.identify("alice")
    await peer.receive_all()
    peer.stop_reading()
    bus.publish([message("one"), message("two")])
    await run_pending()
    await node.close()
    connection = next(iter(node.connections))
    connection.send_queue._abort_if_queued()
    assert peer.aborted
    await peer.task
    assert not node.connections


async def test_messages_queued_for_many_slow_readers_are_in_memory_once() -> None:
    node, bus = create_node(World(), queue_frames=1_000, max_sessions_per_person=0)
    peers = [Peer(node, "v=10&encoding=json&compress=zlib-stream") for _ in range(100)]
    for peer in peers:
        await peer.identify("alice")
        await peer.receive_all()
        peer.stop_reading()
    for peer in peers:
        await peer.receive_all()
    bus.publish([message("start")])
    await run_pending()
    tracemalloc.start()
    bus.publish([message(str(n) * 2_000) for n in range(100, 150)])
    await run_pending()
    await asyncio.sleep(0.05)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 100 readers times 50 messages of 6 kB would be 30 MB.
    assert grown < 6_000_000
    assert not any(peer.aborted for peer in peers)
