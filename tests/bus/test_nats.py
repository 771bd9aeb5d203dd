"""The bus of several processes, over a real NATS server."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw
from nats.aio.msg import Msg

from moothall.bus import Audience, BusUnavailable, Envelope
from moothall.bus.batches import BatchNumbers
from moothall.bus.nats import NatsBus
from moothall.bus.packing import encode_envelope, pack
from moothall.bus.sealing import Seal
from moothall.objects.ids import GuildId, Snowflake
from tests.chaos.proxy import Proxy
from tests.support.nats_servers import Batches, OwnNats, bus_at, connected, eventually, forget_space, usable_nats


def event(text: str) -> Envelope:
    return Envelope(name=text, data=Raw(b"{}"), audience=Audience.GUILD, guild_id=GuildId(Snowflake(1)))


class Subscriber:
    """A process's bus, and the names of the envelopes received."""

    def __init__(self, bus: NatsBus) -> None:
        self.bus = bus
        self.names: list[str] = []
        self.gaps = 0
        bus.subscribe(self._receive, on_gap=self._count_gap)

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        self.names.extend(envelope.name for envelope in envelopes)

    def _count_gap(self) -> None:
        self.gaps += 1

    async def until(self, count: int) -> list[str]:
        """Wait for `count` names; returns all of them."""
        await eventually(lambda: len(self.names) >= count)
        return self.names


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Subscriber, Subscriber]]:
    """Two processes on the environment's server."""
    url, space = await usable_nats(), secrets.token_hex(8)
    subscribers = [Subscriber(bus_at(url)) for _ in range(2)]
    for subscriber in subscribers:
        await subscriber.bus.start(space)
    yield subscribers[0], subscribers[1]
    for subscriber in subscribers:
        await subscriber.bus.close()
    await forget_space(url, space)


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[OwnNats]:
    """A server that the test may stop."""
    server = OwnNats(tmp_path / "streams")
    await server.start()
    yield server
    await server.kill()


async def own_pair(server: OwnNats) -> tuple[Subscriber, Subscriber]:
    space = secrets.token_hex(8)
    subscribers = Subscriber(bus_at(server.url)), Subscriber(bus_at(server.url))
    for subscriber in subscribers:
        await subscriber.bus.start(space)
    return subscribers


async def close(*subscribers: Subscriber) -> None:
    for subscriber in subscribers:
        await subscriber.bus.close()


async def test_every_process_receives_everything_in_one_order(
    pair: tuple[Subscriber, Subscriber],
) -> None:
    one, two = pair
    for n in range(200):
        one.bus.publish([event(f"one {n}")])
        two.bus.publish([event(f"two {n}")])
        if not n % 20:
            await asyncio.sleep(0)
    assert await one.until(400) == await two.until(400)
    for name in ("one", "two"):
        assert [text for text in one.names if text.startswith(name)] == [f"{name} {n}" for n in range(200)]


async def test_an_event_delivered_twice_is_received_once(pair: tuple[Subscriber, Subscriber]) -> None:
    one, two = pair
    batch = [(n, encode_envelope(event(str(n)))) for n in range(10, 15)]
    await one.bus.deliver(batch, BatchNumbers(1, 0))
    # The transaction of the first attempt was rolled back: the second has the same predecessor.
    await two.bus.deliver([*batch[2:], (15, encode_envelope(event("15")))], BatchNumbers(2, 0))
    expected = [str(n) for n in range(10, 16)]
    assert await one.until(6) == expected
    assert await two.until(6) == expected
    one.bus.publish([event("last")])
    assert await two.until(7) == [*expected, "last"]
    assert (one.gaps, two.gaps) == (0, 0)


async def test_a_long_event_is_received_whole(pair: tuple[Subscriber, Subscriber]) -> None:
    one, two = pair
    received: list[Envelope] = []
    two.bus.subscribe(received.extend)
    data = Raw(b'"%b"' % (b"x" * 3_000_000))
    one.bus.publish([Envelope(name="LONG", data=data, audience=Audience.GUILD), event("after")])
    assert await two.until(2) == ["LONG", "after"]
    assert received[0].data == data


async def test_platforms_on_one_server_do_not_receive_events_of_each_other(pair: tuple[Subscriber, Subscriber]) -> None:
    one, _ = pair
    url, space = await usable_nats(), secrets.token_hex(8)
    other = Subscriber(bus_at(url))
    await other.bus.start(space)
    one.bus.publish([event("ours")])
    await one.until(1)
    other.bus.publish([event("theirs")])
    assert await other.until(1) == ["theirs"]
    assert one.names == ["ours"]
    await close(other)
    await forget_space(url, space)


async def test_closing_publishes_what_is_queued(pair: tuple[Subscriber, Subscriber]) -> None:
    one, two = pair
    one.bus.publish([event(str(n)) for n in range(50)])
    await one.bus.close()
    assert await two.until(50) == [str(n) for n in range(50)]


async def test_starting_without_a_server_fails(tmp_path: Path) -> None:
    server = OwnNats(tmp_path)
    bus = bus_at(server.url)
    with pytest.raises(BusUnavailable, match="NATS with JetStream"):
        await bus.start(timeout=0.5)


async def test_a_restart_of_the_server_loses_nothing(own: OwnNats) -> None:
    one, two = await own_pair(own)
    one.bus.publish([event("before")])
    await two.until(1)
    await own.kill()
    await eventually(lambda: not one.bus.connected and not two.bus.connected)
    one.bus.publish([event("during")])
    with pytest.raises(BusUnavailable):
        await two.bus.deliver([(1, encode_envelope(event("in vain")))], BatchNumbers(1, 0))
    await own.start()
    assert await two.until(2) == ["before", "during"]
    await eventually(lambda: two.bus.connected)
    await two.bus.deliver([(1, encode_envelope(event("after")))], BatchNumbers(2, 0))
    assert await one.until(3) == await two.until(3) == ["before", "during", "after"]
    assert (one.gaps, two.gaps) == (0, 0)
    await close(one, two)


async def test_a_process_that_reconnects_receives_what_was_published_meanwhile(own: OwnNats) -> None:
    one, two = await own_pair(own)
    client: Any = two.bus._client
    # The socket dies, as if a cable were pulled; the other process goes on.
    client._transport.close()
    await one.bus.deliver([(n, encode_envelope(event(str(n)))) for n in range(100)], BatchNumbers(1, 0))
    assert await two.until(100) == [str(n) for n in range(100)]
    assert two.gaps == 0
    await close(one, two)


async def test_a_lost_stream_is_reported_and_created_again(own: OwnNats) -> None:
    one, two = await own_pair(own)
    one.bus.publish([event("before")])
    await two.until(1)
    await own.kill()
    own.lose_everything()
    await own.start()
    await eventually(lambda: bool(one.gaps and two.gaps))
    one.bus.publish([event("after")])
    assert (await two.until(2))[-1] == "after"
    assert (await one.until(2))[-1] == "after"
    await close(one, two)


class Cluster:
    """Two processes on a server, of which the second can be cut off, and the batches that they publish."""

    def __init__(self, server: OwnNats) -> None:
        self.server = server
        self.batches = Batches()
        self.proxy = Proxy(server.port)

    async def start(self) -> None:
        """Start both."""
        await self.proxy.start()
        space = secrets.token_hex(8)
        self.one = Subscriber(bus_at(self.server.url, batches=self.batches))
        self.two = Subscriber(bus_at(f"nats://127.0.0.1:{self.proxy.port}", batches=self.batches))
        for subscriber in (self.one, self.two):
            await subscriber.bus.start(space)

    async def publish(self) -> str:
        """Publish a batch of one event; returns the event's name, which is the batch's number."""
        batch = self.batches.next()
        await self.one.bus.deliver([(batch.number, encode_envelope(event(str(batch.number))))], batch)
        return str(batch.number)

    async def lose_what_follows(self, copy: Path) -> None:
        """Lose what the server has stored since a copy was made."""
        await self.server.kill()
        self.server.restore_streams(copy)
        await self.server.start()

    async def copy(self) -> Path:
        """Copy what the server has stored, and wait until both processes are connected again."""
        await self.server.kill()
        copy = self.server.copy_streams()
        await self.server.start()
        await eventually(lambda: self.one.bus.connected and self.two.bus.connected)
        return copy

    async def close(self) -> None:
        """End both."""
        await close(self.one, self.two)
        await self.proxy.close()


@pytest.fixture
async def cluster(own: OwnNats, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Cluster]:
    """Two processes that have received the batch 1."""
    monkeypatch.setattr("moothall.bus.nats._CHECK_SECONDS", 0.1)
    monkeypatch.setattr("moothall.bus.nats._LEADER_SECONDS", 0.1)
    made = Cluster(own)
    await made.start()
    await made.publish()
    for subscriber in (made.one, made.two):
        assert await subscriber.until(1) == ["1"]
    yield made
    await made.close()


async def test_a_process_that_had_not_received_the_lost_end_of_the_stream_reports_it_without_another_event(
    cluster: Cluster,
) -> None:
    copy = await cluster.copy()
    cluster.proxy.silence(up=False)
    lost = await cluster.publish()
    assert (await cluster.one.until(2))[-1] == lost
    await cluster.proxy.close()
    await cluster.lose_what_follows(copy)
    cluster.proxy.heal()
    await cluster.proxy.start()
    await eventually(lambda: bool(cluster.one.gaps and cluster.two.gaps))
    after = await cluster.publish()
    assert await cluster.one.until(3) == ["1", lost, after]
    assert await cluster.two.until(2) == ["1", after]
    assert (cluster.one.gaps, cluster.two.gaps) == (1, 1)


@pytest.mark.parametrize("more", [1, 2])
async def test_a_process_that_returns_when_the_stream_is_as_long_as_before_its_loss_reports_what_it_missed(
    cluster: Cluster, more: int
) -> None:
    copy = await cluster.copy()
    lost = await cluster.publish()
    for subscriber in (cluster.one, cluster.two):
        assert (await subscriber.until(2))[-1] == lost
    await cluster.proxy.close()
    await cluster.lose_what_follows(copy)
    await eventually(lambda: cluster.one.gaps == 1)
    missed = [await cluster.publish() for _ in range(more)]
    assert (await cluster.one.until(2 + more))[2:] == missed
    await cluster.proxy.start()
    await eventually(lambda: cluster.two.gaps == 1)
    after = await cluster.publish()
    await eventually(lambda: cluster.two.names[-1] == after)
    assert (cluster.one.gaps, cluster.two.gaps) == (1, 1)


async def test_a_loss_of_what_only_this_process_had_published_is_reported_to_it(own: OwnNats) -> None:
    one, two = await own_pair(own)
    one.bus.publish([event("before")])
    assert await one.until(1) == await two.until(1) == ["before"]
    await own.kill()
    copy = own.copy_streams()
    await own.start()
    await eventually(lambda: one.bus.connected and two.bus.connected)
    # Nothing is received any more, as by a consumer that stands still.
    for subscriber in (one, two):
        assert subscriber.bus._subscription is not None
        await subscriber.bus._subscription.unsubscribe()
    one.bus.publish([event("lost")])
    await eventually(lambda: one.bus._last_stored == 2)
    await own.kill()
    own.restore_streams(copy)
    await own.start()
    await eventually(lambda: one.gaps == 1)
    await close(one, two)


@pytest.mark.parametrize("more", [1, 2])
async def test_lost_messages_of_no_transaction_are_reported_where_others_have_their_numbers_since(
    cluster: Cluster, more: int
) -> None:
    copy = await cluster.copy()
    cluster.two.bus.publish([event("lost")])
    for subscriber in (cluster.one, cluster.two):
        assert (await subscriber.until(2))[-1] == "lost"
    await cluster.proxy.close()
    await cluster.lose_what_follows(copy)
    await eventually(lambda: cluster.one.gaps == 1)
    for number in range(more):
        cluster.one.bus.publish([event(f"missed {number}")])
    await cluster.one.until(2 + more)
    await cluster.proxy.start()
    await eventually(lambda: cluster.two.gaps == 1)
    cluster.one.bus.publish([event("after")])
    await eventually(lambda: cluster.two.names[-1] == "after")
    assert (cluster.one.gaps, cluster.two.gaps) == (1, 1)


async def test_who_publishes_is_told_that_another_message_has_the_number_of_one_that_was_lost(cluster: Cluster) -> None:
    copy = await cluster.copy()
    two = cluster.two
    assert two.bus._subscription is not None
    await two.bus._subscription.unsubscribe()
    two.bus.publish([event("lost")])
    await eventually(lambda: two.bus._last_stored == 2 and cluster.one.names[-1] == "lost")
    await cluster.proxy.close()
    await cluster.lose_what_follows(copy)
    await eventually(lambda: cluster.one.gaps == 1)
    cluster.one.bus.publish([event("in its place")])
    await eventually(lambda: cluster.one.names[-1] == "in its place")
    await cluster.proxy.start()
    await eventually(lambda: two.gaps == 1)
    cluster.one.bus.publish([event("after")])
    await eventually(lambda: two.names[-1] == "after")
    assert two.gaps == 1


async def test_a_database_that_has_lost_batches_is_reported(cluster: Cluster) -> None:
    published = [await cluster.publish() for _ in range(3)]
    for subscriber in (cluster.one, cluster.two):
        assert await subscriber.until(4) == ["1", *published]
    cluster.batches.last = 1
    await eventually(lambda: bool(cluster.one.gaps and cluster.two.gaps))
    await cluster.publish()
    for subscriber in (cluster.one, cluster.two):
        assert len(await subscriber.until(5)) == 5
        assert subscriber.gaps == 1


async def test_a_stream_has_the_replicas_of_the_setting_and_one_that_exists_keeps_its_own(
    own: OwnNats, caplog: pytest.LogCaptureFixture
) -> None:
    def bus(replicas: int) -> NatsBus:
        return NatsBus(own.url, node="c" * 16, seal=Seal([bytes(32)]), last_batch=Batches().read, replicas=replicas)

    with pytest.raises(BusUnavailable, match="replicas > 1 not supported"):
        await bus(3).start("replicated")
    first = bus(1)
    await first.start("replicated")
    assert "nats_replicas" not in caplog.text
    second = bus(3)
    await second.start("replicated")
    assert "has 1 replicas, nats_replicas is 3" in caplog.text
    await first.close()
    await second.close()


async def test_the_queue_for_an_unreachable_server_is_bounded(own: OwnNats) -> None:
    bus = NatsBus(own.url, node="c" * 16, seal=Seal([bytes(32)]), last_batch=Batches().read, max_queued=10)
    subscriber = Subscriber(bus)
    await bus.start("bounded")
    await own.kill()
    await eventually(lambda: not bus.connected)
    bus.publish([event(str(n)) for n in range(25)])
    assert bus.dropped == 15
    await own.start()
    assert await subscriber.until(10) == [str(n) for n in range(10)]
    await close(subscriber)


class Stranger:
    """A client of the server that has no key of the cluster."""

    def __init__(self, space: str) -> None:
        self.subject = f"moothall.{space}.events"
        self.heard: list[bytes] = []

    async def connect(self, url: str) -> None:
        """Connect and listen to everything."""
        self.client = await connected(url)
        await self.client.subscribe(">", cb=self._receive)
        await self.client.flush()

    async def _receive(self, message: Msg) -> None:
        self.heard.append(bytes(message.data))


async def test_a_stranger_reads_nothing_and_what_it_forges_or_repeats_is_dropped(
    caplog: pytest.LogCaptureFixture,
) -> None:
    url, space = await usable_nats(), secrets.token_hex(8)
    first, second, stranger = Subscriber(bus_at(url)), Subscriber(bus_at(url)), Stranger(space)
    try:
        await first.bus.start(space)
        await second.bus.start(space)
        await stranger.connect(url)
        first.bus.publish([event("DIRECT_MESSAGE_SECRET")])
        assert await second.until(1) == ["DIRECT_MESSAGE_SECRET"]
        await eventually(lambda: any(len(data) > 53 for data in stranger.heard))
        assert not any(b"SECRET" in data for data in stranger.heard)
        plain = next(pack("f" * 16, [], [encode_envelope(event("FORGED"))], max_bytes=1 << 18))
        sealed = next(data for data in stranger.heard if data[:1] == b"\x01")
        stream = stranger.client.jetstream(timeout=10)
        for forged in (plain, Seal([b"x" * 32]).seal(plain, stranger.subject.encode()), sealed, sealed[:-1], b"", b"{"):
            await stream.publish(stranger.subject, forged)
        first.bus.publish([event("after")])
        for subscriber in (first, second):
            assert await subscriber.until(2) == ["DIRECT_MESSAGE_SECRET", "after"]
            assert subscriber.bus.unauthentic == 6
            assert subscriber.gaps == 0
        assert len([each for each in caplog.records if "dropped a message on NATS" in each.message]) == 2
        await stranger.client.close()
    finally:
        await close(first, second)
        await forget_space(url, space)


async def test_processes_with_different_keys_receive_nothing_of_each_other_and_say_so_in_one_line(
    caplog: pytest.LogCaptureFixture,
) -> None:
    url, space = await usable_nats(), secrets.token_hex(8)
    one, other = Subscriber(bus_at(url)), Subscriber(bus_at(url, b"another key of the same length.."))
    try:
        await one.bus.start(space)
        await other.bus.start(space)
        for number in range(5):
            one.bus.publish([event(f"one {number}")])
            await one.until(number + 1)
        await eventually(lambda: other.bus.unauthentic > 0)
        other.bus.publish([event("other")])
        assert await other.until(1) == ["other"]
        assert other.bus.unauthentic == 5
        errors = [each.message for each in caplog.records if each.levelname == "ERROR"]
        assert errors[0] == (
            "a process uses another server key: its events on NATS cannot be read. All need the same keys"
        )
        assert len(errors) <= 2  # one of each process
    finally:
        await close(one, other)
        await forget_space(url, space)


async def test_what_is_sent_to_the_address_of_a_consumer_is_dropped() -> None:
    url, space = await usable_nats(), secrets.token_hex(8)
    subscriber = Subscriber(bus_at(url))
    await subscriber.bus.start(space)
    stranger = await connected(url)
    try:
        subscription = subscriber.bus._subscription
        assert subscription is not None
        for headers in (None, {"Status": "100", "Nats-Last-Stream": "many"}):
            await stranger.publish(subscription.subject, b"forged", headers=headers)
        await stranger.flush()
        subscriber.bus.publish([event("real")])
        assert await subscriber.until(1) == ["real"]
        await eventually(lambda: subscriber.bus.unauthentic == 1)
    finally:
        await stranger.close()
        await close(subscriber)
        await forget_space(url, space)
