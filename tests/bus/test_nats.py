"""The laws of the bus of many processes, over a real server."""

import asyncio
import secrets
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from moothall.bus import Audience, BusUnavailable, Envelope
from moothall.bus.nats import NatsBus
from moothall.bus.packing import encode_envelope
from tests.nats_servers import OwnNats, bus_at, eventually, forget_space, usable_nats


def event(text: str) -> Envelope:
    return Envelope(name=text, data=Raw(b"{}"), audience=Audience.GUILD, guild_id=1)


class Hearer:
    """A bus and the names that it was heard to carry."""

    def __init__(self, bus: NatsBus) -> None:
        self.bus = bus
        self.names: list[str] = []
        self.missed = 0
        bus.subscribe(self._hear)
        bus.missed = self._miss

    def _hear(self, envelopes: Sequence[Envelope]) -> None:
        self.names.extend(envelope.name for envelope in envelopes)

    def _miss(self) -> None:
        self.missed += 1

    async def until(self, count: int) -> list[str]:
        """The names once there are so many."""
        await eventually(lambda: len(self.names) >= count)
        return self.names


@pytest.fixture
async def pair() -> AsyncIterator[tuple[Hearer, Hearer]]:
    """Two processes on the environment's server."""
    url, space = await usable_nats(), secrets.token_hex(8)
    hearers = [Hearer(bus_at(url, space)) for _ in range(2)]
    for hearer in hearers:
        await hearer.bus.start()
    yield hearers[0], hearers[1]
    for hearer in hearers:
        await hearer.bus.close()
    await forget_space(url, space)


@pytest.fixture
async def own(tmp_path: Path) -> AsyncIterator[OwnNats]:
    """A server that the test may stop."""
    server = OwnNats(tmp_path / "streams")
    await server.start()
    yield server
    await server.kill()


async def own_pair(server: OwnNats) -> tuple[Hearer, Hearer]:
    space = secrets.token_hex(8)
    hearers = Hearer(bus_at(server.url, space)), Hearer(bus_at(server.url, space))
    for hearer in hearers:
        await hearer.bus.start()
    return hearers


async def close(*hearers: Hearer) -> None:
    for hearer in hearers:
        await hearer.bus.close()


async def test_all_hear_everything_in_one_order_the_publisher_too(pair: tuple[Hearer, Hearer]) -> None:
    one, two = pair
    for n in range(200):
        one.bus.publish([event(f"one {n}")])
        two.bus.publish([event(f"two {n}")])
        if not n % 20:
            await asyncio.sleep(0)
    assert await one.until(400) == await two.until(400)
    for name in ("one", "two"):
        assert [text for text in one.names if text.startswith(name)] == [f"{name} {n}" for n in range(200)]


async def test_what_was_delivered_is_kept_and_a_repetition_is_heard_once(pair: tuple[Hearer, Hearer]) -> None:
    one, two = pair
    batch = [(n, encode_envelope(event(str(n)))) for n in range(10, 15)]
    await one.bus.deliver(batch)
    await two.bus.deliver([*batch[2:], (15, encode_envelope(event("15")))])
    expected = [str(n) for n in range(10, 16)]
    assert await one.until(6) == expected
    assert await two.until(6) == expected
    one.bus.publish([event("last")])
    assert await two.until(7) == [*expected, "last"]


async def test_a_long_event_arrives_whole(pair: tuple[Hearer, Hearer]) -> None:
    one, two = pair
    heard: list[Envelope] = []
    two.bus.subscribe(heard.extend)
    data = Raw(b'"%b"' % (b"x" * 3_000_000))
    one.bus.publish([Envelope(name="LONG", data=data, audience=Audience.GUILD), event("after")])
    assert await two.until(2) == ["LONG", "after"]
    assert heard[0].data == data


async def test_platforms_on_one_server_do_not_hear_each_other(pair: tuple[Hearer, Hearer]) -> None:
    one, _ = pair
    url, space = await usable_nats(), secrets.token_hex(8)
    stranger = Hearer(bus_at(url, space))
    await stranger.bus.start()
    one.bus.publish([event("ours")])
    await one.until(1)
    stranger.bus.publish([event("theirs")])
    assert await stranger.until(1) == ["theirs"]
    assert one.names == ["ours"]
    await close(stranger)
    await forget_space(url, space)


async def test_closing_publishes_what_is_queued(pair: tuple[Hearer, Hearer]) -> None:
    one, two = pair
    one.bus.publish([event(str(n)) for n in range(50)])
    await one.bus.close()
    assert await two.until(50) == [str(n) for n in range(50)]


async def test_without_a_server_the_start_says_so(tmp_path: Path) -> None:
    server = OwnNats(tmp_path)
    bus = bus_at(server.url, "nobody")
    with pytest.raises(BusUnavailable, match="NATS with JetStream"):
        await bus.start(patience=0.5)


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
    assert (one.missed, two.missed) == (0, 0)
    await close(one, two)


async def test_who_was_away_hears_what_the_others_published_meanwhile(own: OwnNats) -> None:
    one, two = await own_pair(own)
    client: Any = two.bus._client
    # The socket dies, as if a cable were pulled; the other process goes on.
    client._transport.close()
    await one.bus.deliver([(n, encode_envelope(event(str(n)))) for n in range(100)])
    assert await two.until(100) == [str(n) for n in range(100)]
    assert two.missed == 0
    await close(one, two)


async def test_a_stream_that_was_lost_is_told_of_and_begins_anew(own: OwnNats) -> None:
    one, two = await own_pair(own)
    one.bus.publish([event("before")])
    await two.until(1)
    await own.kill()
    own.lose_everything()
    await own.start()
    await eventually(lambda: bool(one.missed and two.missed))
    one.bus.publish([event("after")])
    assert (await two.until(2))[-1] == "after"
    assert (await one.until(2))[-1] == "after"
    await close(one, two)


async def test_what_waits_for_the_server_is_bounded(own: OwnNats) -> None:
    bus = NatsBus(own.url, node="c" * 16, max_queued=10)
    bus.space = "bounded"
    hearer = Hearer(bus)
    await bus.start()
    await own.kill()
    await eventually(lambda: not bus.connected)
    bus.publish([event(str(n)) for n in range(25)])
    assert bus.dropped == 15
    await own.start()
    assert await hearer.until(10) == [str(n) for n in range(10)]
    await close(hearer)
