"""One account: how many sessions it has, how often it identifies, and what is held and computed for it."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from moothall.bus.local import LocalBus
from moothall.gateway.account_bounds import IDENTIFIES_OF_PERSON, undelivered_bytes
from moothall.gateway.node import GatewayNode
from moothall.gateway.protocol.frames import ENCODINGS, Frame
from moothall.gateway.settings import UNLIMITED, GatewaySettings
from moothall.objects.clock import cpu_stopwatch
from moothall.objects.ids import GuildId
from moothall.objects.member import Member
from moothall.runtime.budgets import Allowance, Budgets, Holdings, OverBudget, Payer, Rates
from moothall.runtime.cpu_time import Measured
from tests.gateway.peer import ALICE, BOB, GUILD, Peer, World, create_node, message, run_pending


async def identified(node: GatewayNode, name: str, count: int) -> list[Peer]:
    """Clients of a user with a session each."""
    peers = []
    for _ in range(count):
        peer = Peer(node)
        peer.session_id = (await peer.identify(name))["session_id"]  # type: ignore[attr-defined]
        await peer.receive_all()
        peers.append(peer)
    return peers


async def refused(node: GatewayNode, name: str) -> bool:
    """Whether a new IDENTIFY is answered with opcode 9."""
    peer = Peer(node)
    await peer.receive()
    peer.send({"op": 2, "d": {"token": name, "properties": {}, "intents": 0}})
    payload = await peer.receive()
    return payload["op"] == 9 and payload["d"] is False


async def test_a_person_has_a_bounded_number_of_sessions_and_others_do_not_notice() -> None:
    node, _ = create_node(World(), max_sessions_per_person=3)
    await identified(node, "alice", 3)
    assert await refused(node, "alice")
    assert not await refused(node, "bob")
    assert len(node.hub.sessions_by_user[ALICE]) == 3


async def test_the_session_that_waits_longest_for_its_client_ends_for_a_new_one() -> None:
    node, _ = create_node(World(), max_sessions_per_person=3)
    first, second, third = await identified(node, "alice", 3)
    await second.disconnect()
    await asyncio.sleep(0.01)
    await first.disconnect()
    await identified(node, "alice", 1)
    sessions = set(node.hub.sessions)
    assert second.session_id not in sessions  # type: ignore[attr-defined]
    assert {first.session_id, third.session_id} < sessions  # type: ignore[attr-defined]


async def test_people_identify_a_bounded_number_of_times_and_others_do_not_notice() -> None:
    node, _ = create_node(World(), max_sessions_per_person=0)
    payer, count = Payer(ALICE, "", loopback=True), 0
    with contextlib.suppress(OverBudget):
        while True:
            node.bounds._identifies.spend(payer)
            count += 1
    assert count >= 20 * IDENTIFIES_OF_PERSON.capacity  # a multiple, as for all limits of this machine
    assert await refused(node, "alice")
    assert not await refused(node, "bob")


async def test_the_most_costly_sessions_of_an_account_end_when_too_much_is_held_for_it() -> None:
    node, bus = create_node(World(), account_bytes=1_000_000, queue_bytes=150_000, replay_bytes=100_000)
    alices, bobs = await identified(node, "alice", 8), await identified(node, "bob", 1)
    *slow, quick = alices
    for peer in (*slow, *bobs):
        peer.stop_reading()
    bus.publish([message("x" * 20_000) for _ in range(7)])
    await run_pending()
    await quick.receive_all()
    sizes = {session: undelivered_bytes(session) for session in node.hub.sessions_by_user[ALICE]}
    assert sum(sizes.values()) > 1_000_000
    await node.sweep(0.0)
    left = node.hub.sessions_by_user[ALICE]
    assert sum(map(undelivered_bytes, left)) <= 1_000_000
    assert len(left) >= 3
    # Those that end are slow ones: they cost more.
    assert quick.session_id in {session.id for session in left}  # type: ignore[attr-defined]
    assert not quick.aborted
    assert len(node.hub.sessions_by_user[BOB]) == 1
    assert [peer.aborted for peer in slow].count(True) == len(sizes) - len(left)


async def test_sessions_that_wait_for_their_clients_count_with_their_replay_buffers() -> None:
    node, bus = create_node(World(), account_bytes=300_000, queue_bytes=10_000, replay_bytes=100_000)
    peers = await identified(node, "alice", 5)
    for peer in peers:
        await peer.disconnect()
    bus.publish([message("x" * 20_000) for _ in range(7)])
    await run_pending()
    assert sum(map(undelivered_bytes, node.hub.sessions_by_user[ALICE])) > 300_000
    await node.sweep(0.0)
    assert sum(map(undelivered_bytes, node.hub.sessions_by_user[ALICE])) <= 300_000
    assert len(node.hub.sessions_by_user[ALICE]) == 3


def budgets_of(seconds: float) -> Budgets:
    allowance = Allowance(seconds, 0.001)
    large = Allowance(1e9, 1.0)
    cpu = Rates(account=allowance, network=large, anonymous=large, loopback_multiplier=1)
    return Budgets(cpu, Holdings(account=1e9, network=1e9, anonymous=1e9, total=1e9))


async def test_ready_is_charged_to_its_account_which_starts_no_session_once_its_time_is_used_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, _ = create_node(World())
    budgets = budgets_of(0.05)
    monkeypatch.setattr(node.bounds, "_budgets", budgets)
    payer = Payer(ALICE, "", loopback=True)
    await identified(node, "alice", 1)
    assert budgets.cpu._accounts._entries[ALICE][0] > 0
    budgets.check(payer)
    budgets.charge_cpu(payer, 0.05)
    with pytest.raises(OverBudget):
        budgets.check(payer)
    assert await refused(node, "alice")
    assert not await refused(node, "bob")


async def test_a_session_whose_account_has_no_time_left_waits_with_its_commands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, _ = create_node(World())
    waits: list[Any] = []
    budgets = budgets_of(0.05)
    monkeypatch.setattr(node.bounds, "_budgets", budgets)
    [peer] = await identified(node, "alice", 1)

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    budgets.charge_cpu(Payer(ALICE, "", loopback=True), 1.0)
    monkeypatch.setattr("moothall.gateway.account_bounds.asyncio", type("Loop", (), {"sleep": staticmethod(sleep)}))
    peer.send(json.dumps({"op": 1, "d": None}))
    assert [payload["op"] for payload in await peer.receive_all()] == [11]
    assert waits == [5.0]


async def test_the_time_of_a_coroutine_has_nothing_of_what_runs_while_it_waits() -> None:
    async def burn(seconds: float) -> str:
        end = cpu_stopwatch() + seconds
        while cpu_stopwatch() < end:
            pass
        return "burnt"

    async def work() -> str:
        await burn(0.01)
        await other
        return await burn(0.01)

    other = asyncio.ensure_future(burn(0.2))
    measured = Measured(work())
    assert await measured == "burnt"
    assert 0.02 <= measured.seconds < 0.15


async def test_a_coroutine_that_is_measured_raises_and_is_cancelled_as_itself() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise LookupError

    with pytest.raises(LookupError):
        await Measured(fail())
    task = asyncio.ensure_future(_await(Measured(asyncio.sleep(1_000))))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _await(measured: Measured[None]) -> None:
    await measured


def test_a_server_without_rate_limits_has_none_of_these() -> None:
    assert UNLIMITED["max_sessions_per_person"] == UNLIMITED["account_bytes"] == UNLIMITED["identifies_per_window"] == 0


class BusyWorld(World):
    """A source that counts how many reads of members are under way for requests of sessions."""

    def __init__(self) -> None:
        super().__init__()
        self.reading = 0
        self.max_reading = 0
        self.reads = 0

    async def members_by_prefix(self, guild_id: GuildId, prefix: str, limit: int) -> list[Member]:
        self.reading += 1
        self.reads += 1
        self.max_reading = max(self.max_reading, self.reading)
        await asyncio.sleep(0)
        self.reading -= 1
        return await super().members_by_prefix(guild_id, prefix, limit)


async def test_of_many_sessions_of_an_account_one_reads_members_at_a_time_beside_those_of_others() -> None:
    world = BusyWorld()
    node, _ = create_node(world)
    alices, bobs = await identified(node, "alice", 10), await identified(node, "bob", 1)
    for peer in (*alices, *bobs):
        peer.send({"op": 8, "d": {"guild_id": str(GUILD), "query": "a", "limit": 5}})
    for peer in (*alices, *bobs):
        while (await peer.receive())["t"] != "GUILD_MEMBERS_CHUNK":
            pass  # sessions that were there before the others are told of those
    assert world.reads == 11
    assert world.max_reading == 2


async def test_compressing_a_large_frame_is_charged_to_its_account_and_refused_to_none() -> None:
    allowance = Allowance(0.001, 0.001)
    rates = Rates(account=allowance, network=allowance, anonymous=allowance, loopback_multiplier=1)
    nothing = Holdings(account=0, network=0, anonymous=0, total=0)
    node = GatewayNode(GatewaySettings(), LocalBus(), World(), budgets=Budgets(rates, nothing))
    alice = Payer(ALICE, "192.0.2.1")
    pool = node.frames.for_payer(alice)
    for _ in range(2):
        frame = Frame("GUILD_CREATE", json.dumps({"name": "x" * 200_000}).encode())
        await ENCODINGS["json"]["zlib-stream"].prepare(frame, pool)
        assert frame._deflated
    with pytest.raises(OverBudget):
        rates.check(alice)
    rates.check(Payer(BOB, "198.51.100.1"))
