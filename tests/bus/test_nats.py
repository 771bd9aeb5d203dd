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
from moothall.bus.nats import NatsBus
from moothall.bus.packing import encode_envelope, pack
from moothall.bus.sealing import Seal
from moothall.objects.ids import GuildId, Snowflake
from tests.nats_servers import OwnNats, bus_at, connected, eventually, forget_space, usable_nats


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
    await one.bus.deliver(batch)
    await two.bus.deliver([*batch[2:], (15, encode_envelope(event("15")))])
    expected = [str(n) for n in range(10, 16)]
    assert await one.until(6) == expected
    assert await two.until(6) == expected
    one.bus.publish([event("last")])
    assert await two.until(7) == [*expected, "last"]


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
        await two.bus.deliver([(1, encode_envelope(event("in vain")))])
    await own.start()
    assert await two.until(2) == ["before", "during"]
    await eventually(lambda: two.bus.connected)
    await two.bus.deliver([(1, encode_envelope(event("after")))])
    assert await one.until(3) == await two.until(3) == ["before", "during", "after"]
    assert (one.gaps, two.gaps) == (0, 0)
    await close(one, two)


async def test_a_process_that_reconnects_receives_what_was_published_meanwhile(own: OwnNats) -> None:
    one, two = await own_pair(own)
    client: Any = two.bus._client
    # The socket dies, as if a cable were pulled; the other process goes on.
    client._transport.close()
    await one.bus.deliver([(n, encode_envelope(event(str(n)))) for n in range(100)])
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


async def test_the_queue_for_an_unreachable_server_is_bounded(own: OwnNats) -> None:
    bus = NatsBus(own.url, node="c" * 16, seal=Seal([bytes(32)]), max_queued=10)
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
