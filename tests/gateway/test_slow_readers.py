"""A slow reader is dropped within bounds and does not delay the others."""

import asyncio
import tracemalloc

from tests.gateway.peer import Peer, World, message, node_of, settle


async def test_one_that_does_not_read_delays_nobody_and_gets_everything_when_it_reads_again() -> None:
    node, bus = node_of(World())
    slow, quick = Peer(node), Peer(node)
    await slow.identify("alice")
    await quick.identify("bob")
    await slow.all_heard()
    await quick.all_heard()
    slow.stall()
    bus.publish([message(str(n)) for n in range(50)])
    assert len(await quick.names()) == 50
    slow.read_on()
    heard = [d["content"] for name, d in await slow.dispatches() if name == "MESSAGE_CREATE"]
    assert heard == [str(n) for n in range(50)]


async def test_one_whose_queue_overflows_is_cut_off_and_can_resume_without_a_gap() -> None:
    node, bus = node_of(World(), queue_frames=10)
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    await peer.all_heard()
    peer.stall()
    bus.publish([message(str(n)) for n in range(40)])
    await settle()
    assert peer.aborted
    assert node.dropped == 1
    await peer.task
    again = Peer(node)
    await again.hear()
    again.say({"op": 6, "d": {"token": "alice", "session_id": session_id, "seq": peer.seq}})
    heard = await again.dispatches()
    assert [d["content"] for name, d in heard if name == "MESSAGE_CREATE"] == [str(n) for n in range(40)]


async def test_bytes_that_wait_are_bounded_too() -> None:
    node, bus = node_of(World(), queue_bytes=100_000)
    peer = Peer(node)
    await peer.identify("alice")
    peer.stall()
    bus.publish([message("x" * 20_000) for _ in range(10)])
    await settle()
    assert peer.aborted


async def test_a_close_that_nobody_reads_does_not_keep_the_connection() -> None:
    node, bus = node_of(World())
    peer = Peer(node)
    await peer.identify("alice")
    await peer.all_heard()
    peer.stall()
    bus.publish([message("one"), message("two")])
    await settle()
    await node.close()
    connection = next(iter(node.connections))
    connection.outbox._cut_if_waiting()
    assert peer.aborted
    await peer.task
    assert not node.connections


async def test_what_waits_for_many_slow_readers_is_held_once() -> None:
    node, bus = node_of(World(), queue_frames=1_000)
    peers = [Peer(node, "v=10&encoding=json&compress=zlib-stream") for _ in range(100)]
    for peer in peers:
        await peer.identify("alice")
        await peer.all_heard()
        peer.stall()
    for peer in peers:
        await peer.all_heard()
    bus.publish([message("start")])
    await settle()
    tracemalloc.start()
    bus.publish([message(str(n) * 2_000) for n in range(100, 150)])
    await settle()
    await asyncio.sleep(0.05)
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # 100 readers times 50 messages of 6 kB would be 30 MB.
    assert grown < 6_000_000
    assert not any(peer.aborted for peer in peers)
