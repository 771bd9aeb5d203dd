"""Nothing committed is lost: not when a process is killed, not when NATS is away."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from sqlalchemy import func, select

from moothall.api.outbox import OutboxRelay, leave_events, read_last_batch
from moothall.bus import Audience, BusUnavailable, Envelope
from moothall.bus.batches import BatchNumbers
from moothall.objects.ids import Snowflake
from moothall.storage.database import Database, Query
from moothall.storage.engines import database_at
from moothall.storage.nodes import Membership, NodeNumberTaken
from moothall.storage.schema import outbox, outbox_batches
from tests.many_processes.nodes import KEY, Node
from tests.support.nats_servers import OwnNats, eventually
from tests.support.serving import RunningServer

MESSAGES = (1 << 9) | (1 << 15) | 1

_count_left = Query(select(func.count()).select_from(outbox))
_count_batches = Query(select(func.count()).select_from(outbox_batches))


@pytest.fixture
async def own_nats(tmp_path: Path) -> AsyncIterator[OwnNats]:
    """A NATS server that the test may stop."""
    server = OwnNats(tmp_path / "streams")
    await server.start()
    yield server
    await server.kill()


@pytest.fixture
async def own_nodes(shared_database: str, own_nats: OwnNats, tmp_path: Path) -> AsyncIterator[tuple[Node, Node]]:
    """Two nodes on that server."""
    pair = Node(shared_database, own_nats.url, tmp_path), Node(shared_database, own_nats.url, tmp_path)
    for node in pair:
        await node.start()
    yield pair
    for node in pair:
        await node.stop()


async def left(database: Database) -> int:
    """How many events wait in the outbox."""
    async with database.read() as reader:
        return int(await reader.scalar(_count_left))


async def test_a_process_killed_between_its_commit_and_the_publishing_loses_nothing(
    shared_database: str, own_nats: OwnNats, tmp_path: Path
) -> None:
    survivor = Node(shared_database, own_nats.url, tmp_path)
    await survivor.start()
    alice = await survivor.platform.person("alice")
    guild = await survivor.platform.guild(alice)
    listener = await survivor.session(alice, intents=MESSAGES)
    config = tmp_path / "moothall.toml"
    config.write_text(
        f'database_url = "{shared_database}"\nnats_url = "{own_nats.url}"\nsecret_key = "{KEY}"\ndemo = false\n'
    )
    with RunningServer(tmp_path / "data", "--config", str(config)) as victim:
        path = f"/channels/{guild.general}/messages"
        first = await asyncio.to_thread(victim.request, "POST", path, {"content": "heard"}, token=alice.token)
        assert first.status == 200
        await listener.receive("MESSAGE_CREATE", content="heard")
        # Without NATS no process can publish: the transaction is committed, its event is not published.
        await own_nats.kill()
        await eventually(lambda: "NATS cannot be reached" in victim.printed)
        last = await asyncio.to_thread(victim.request, "POST", path, {"content": "the last"}, token=alice.token)
        assert last.status == 200
        victim.stop(signal.SIGKILL)
    assert await left(survivor.app.database) > 0
    await own_nats.start()
    assert (await listener.receive("MESSAGE_CREATE", content="the last"))["id"] == last.json["id"]
    assert listener.names.count("MESSAGE_CREATE") == 2
    await survivor.stop()


async def test_an_outage_of_nats_delays_events_and_loses_none(own_nodes: tuple[Node, Node], own_nats: OwnNats) -> None:
    here, there = own_nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    listeners = [await node.session(alice, intents=MESSAGES) for node in own_nodes]
    path = f"/channels/{guild.general}/messages"
    callers = [alice, there.as_seen(alice)]
    for n in range(30):
        if n == 10:
            await own_nats.kill()
        if n == 20:
            await own_nats.start()
        assert (await callers[n % 2].post(path, {"content": str(n)})).status == 200
    for listener in listeners:
        await listener.until(lambda listener=listener: listener.names.count("MESSAGE_CREATE") == 30)  # type: ignore[misc]
        heard = [data["content"] for name, data in listener.dispatches if name == "MESSAGE_CREATE"]
        assert heard == [str(n) for n in range(30)]
    async with asyncio.timeout(60):
        while await left(here.app.database):  # noqa: ASYNC110 the database sets no event
            await asyncio.sleep(0.01)


class UncertainBus:
    """A bus that does not answer whether it has stored the first batch."""

    connected = True

    def __init__(self) -> None:
        self.batches: list[tuple[list[int], BatchNumbers]] = []

    async def deliver(self, events: Sequence[tuple[int, bytes]], batch: BatchNumbers) -> None:
        """Take a batch; raises BusUnavailable for the first one."""
        self.batches.append(([number for number, _ in events], batch))
        if len(self.batches) == 1:
            raise BusUnavailable("no answer")


async def test_a_batch_whose_outcome_is_unknown_is_published_under_another_number_after_the_same_predecessor(
    shared_database: str,
) -> None:
    database = database_at(shared_database)
    await database.open()
    bus: Any = UncertainBus()
    relay = OutboxRelay(database, bus, shared=bus)

    async def leave(*names: str) -> None:
        async with database.transaction() as tx:
            await leave_events(tx, [Envelope(name, Raw(b"{}"), Audience.USERS) for name in names])

    await leave("ONE", "TWO")
    assert await read_last_batch(database) == 0
    with pytest.raises(BusUnavailable):
        await relay.relay()
    assert (await read_last_batch(database), await left(database)) == (0, 2)
    await leave("THREE")
    assert await relay.relay() == 3
    await leave("FOUR")
    assert await relay.relay() == 1
    assert await relay.relay() == 0
    (first, attempt), (second, repeated), (third, following) = bus.batches
    assert second[:2] == first
    assert len(second) == 3
    assert len(third) == 1
    assert (attempt.previous, repeated.previous, following.previous) == (0, 0, repeated.number)
    assert attempt.number < repeated.number < following.number == await read_last_batch(database)
    async with database.read() as reader:
        assert await reader.scalar(_count_batches) == 1
    await database.close()


async def test_after_events_were_lost_for_good_every_client_identifies_again(
    own_nodes: tuple[Node, Node], own_nats: OwnNats
) -> None:
    here, _ = own_nodes
    alice = await here.platform.person("alice")
    await here.platform.guild(alice)
    listener = await here.session(alice, intents=MESSAGES)
    await own_nats.kill()
    own_nats.lose_everything()
    await own_nats.start()
    async with asyncio.timeout(60):
        heard = await listener.peer.receive_until_closed()
    assert (heard[-1]["op"], heard[-1]["d"]) == (9, False)
    assert listener.session_id not in here.gateway.hub.sessions
    await here.session(alice, intents=MESSAGES)


async def test_two_processes_never_share_a_number_and_that_of_a_dead_one_is_free_again(shared_database: str) -> None:
    database = database_at(shared_database)
    await database.open()
    first = Membership(database, "a" * 16, number=5, seconds=0.1)
    assert await first.join() == 5
    first.start()
    # It waits until the first would be dead, unless that renews its number, which it does thirty times meanwhile.
    rival = Membership(database, "b" * 16, number=5, dead_after=3.0, seconds=0.1)
    with pytest.raises(NodeNumberTaken, match="worker_id 0 with process_id 5 belongs to process aaaa"):
        await rival.join()
    other = Membership(database, "c" * 16)
    assert await other.join() == 0
    assert other.alive == {"a" * 16, "c" * 16}
    await first.leave()
    assert await rival.join() == 5
    # The rival dies: its row is not renewed.
    heir = Membership(database, "d" * 16, number=5, dead_after=0.3, seconds=0.1)
    assert await heir.join() == 5
    await heir.leave()
    await other.leave()
    await database.close()


async def test_a_process_taken_for_dead_takes_another_number(shared_database: str) -> None:
    database = database_at(shared_database)
    await database.open()
    numbers: list[int] = []
    sleeper = Membership(database, "a" * 16, on_renumber=numbers.append)
    assert await sleeper.join() == 0
    await asyncio.sleep(0.3)
    heir = Membership(database, "b" * 16, dead_after=0.2)
    assert await heir.join() == 0
    await sleeper.renew()
    assert numbers == [1]
    await heir.leave()
    await sleeper.leave()
    await database.close()


async def test_a_nats_server_that_is_silent_holds_no_lock_of_the_database(
    own_nodes: tuple[Node, Node], own_nats: OwnNats, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moothall.api.outbox._DELIVERY_SECONDS", 0.5)
    here, there = own_nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    listener = await there.session(alice, intents=MESSAGES)
    path = f"/channels/{guild.general}/messages"
    own_nats.signal(signal.SIGSTOP)
    try:
        assert (await alice.post(path, {"content": "waits"})).status == 200
        # The lock of the relays is free again and again, though their bus never answers.
        for _ in range(3):
            async with asyncio.timeout(60), there.app.database.transaction(Snowflake(1)):
                pass
        assert await left(here.app.database) > 0
    finally:
        own_nats.signal(signal.SIGCONT)
    await listener.receive("MESSAGE_CREATE", content="waits")
    assert listener.names.count("MESSAGE_CREATE") == 1
