"""The bus of the processes of one machine, over a real Unix socket."""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec import Raw

from moothall.bus import Audience, Bus, BusUnavailable, Envelope
from moothall.bus.unix import WorkerBus, WriterBus
from moothall.objects.ids import GuildId, Snowflake
from tests.support.nats_servers import eventually

WRITER, FIRST, SECOND = "w" * 16, "1" * 16, "2" * 16


def event(text: str, size: int = 0) -> Envelope:
    data = Raw(b'"' + b"x" * size + b'"')
    return Envelope(name=text, data=data, audience=Audience.GUILD, guild_id=GuildId(Snowflake(1)))


class Subscriber:
    """The names of the envelopes that a bus delivers, and how often it lost some."""

    def __init__(self, bus: Bus) -> None:
        self.names: list[str] = []
        self.gaps = 0
        bus.subscribe(self._receive, on_gap=self._count_gap)

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        self.names.extend(envelope.name for envelope in envelopes)

    def _count_gap(self) -> None:
        self.gaps += 1


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the process that writes listens."""
    return tmp_path / "events"


@pytest.fixture
def listening(path: Path) -> socket.socket:
    """The socket that the supervisor keeps; each process that writes has a copy."""
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listening.bind(str(path))
    listening.listen()
    return listening


@pytest.fixture
async def writer(listening: socket.socket) -> AsyncIterator[WriterBus]:
    """The bus of the process that writes."""
    bus = WriterBus(listening.dup(), node=WRITER)
    await bus.start()
    yield bus
    await bus.close()
    listening.close()


@pytest.fixture
async def workers(writer: WriterBus, path: Path) -> AsyncIterator[list[WorkerBus]]:
    """Those of two workers."""
    buses = [WorkerBus(path, node=name) for name in (FIRST, SECOND)]
    for bus in buses:
        await bus.start()
    assert writer.worker_count == 2
    yield buses
    for bus in buses:
        await bus.close()


async def test_all_processes_receive_everything_in_one_order(writer: WriterBus, workers: list[WorkerBus]) -> None:
    buses: list[Bus] = [writer, *workers]
    subscribers = [Subscriber(bus) for bus in buses]
    for number in range(100):
        for name, bus in (("writer", writer), ("first", workers[0]), ("second", workers[1])):
            # Some are larger than one message of the bus.
            bus.publish([event(f"{name} {number}", size=300_000 if number == 50 else 0)])
        if number % 10 == 0:
            await asyncio.sleep(0)
    await eventually(lambda: all(len(subscriber.names) == 300 for subscriber in subscribers))
    assert subscribers[0].names == subscribers[1].names == subscribers[2].names
    for name in ("writer", "first", "second"):
        own = [text for text in subscribers[0].names if text.startswith(name)]
        assert own == [f"{name} {number}" for number in range(100)]


async def test_what_a_subscriber_publishes_follows_what_it_received(
    writer: WriterBus, workers: list[WorkerBus]
) -> None:
    def respond(envelopes: Sequence[Envelope]) -> None:
        if envelopes[0].name == "question":
            writer.publish([event("answer")])

    writer.subscribe(respond)
    buses: list[Bus] = [writer, *workers]
    subscribers = [Subscriber(bus) for bus in buses]
    writer.publish([event("question"), event("more")])
    await eventually(lambda: all(len(subscriber.names) == 3 for subscriber in subscribers))
    assert {tuple(subscriber.names) for subscriber in subscribers} == {("question", "more", "answer")}


async def test_a_worker_reports_a_gap_once_it_is_connected_to_another_writer(
    writer: WriterBus, workers: list[WorkerBus], listening: socket.socket
) -> None:
    subscriber = Subscriber(workers[0])
    await writer.close()
    await eventually(lambda: not workers[0].connected)
    assert subscriber.gaps == 0
    workers[0].publish([event("kept")])
    following = WriterBus(listening.dup(), node="v" * 16)
    received = Subscriber(following)
    await following.start()
    await eventually(lambda: subscriber.gaps == 1 and workers[0].connected)
    following.publish([event("later")])
    await eventually(lambda: subscriber.names == ["kept", "later"])
    assert received.names == ["kept", "later"]
    await following.close()


async def test_the_writer_learns_which_worker_has_ended(writer: WriterBus, workers: list[WorkerBus]) -> None:
    ended: list[str] = []
    writer.on_leave = ended.append
    await workers[1].close()
    await eventually(lambda: ended == [SECOND])
    assert writer.worker_count == 1


async def test_a_worker_without_a_writer_does_not_start(tmp_path: Path) -> None:
    bus = WorkerBus(tmp_path / "nothing", node=FIRST)
    with pytest.raises(BusUnavailable):
        await bus.start(timeout=0.1)
    with suppress(BusUnavailable):
        await bus.close()


async def test_a_failing_subscriber_and_a_failing_connection_keep_nothing_from_the_others(
    writer: WriterBus, workers: list[WorkerBus], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Sequence[Envelope]) -> None:
        raise RuntimeError("a subscriber")

    buses: list[Bus] = [writer, *workers]
    for bus in buses:
        bus.subscribe(fail)
    subscribers = [Subscriber(bus) for bus in buses]

    class Failing:
        """A transport that has ended without being closed, as after a reset."""

        aborted = False

        def is_closing(self) -> bool:
            return self.aborted

        def get_write_buffer_size(self) -> int:
            return 0

        def write(self, _: bytes) -> None:
            raise RuntimeError("unable to perform operation on a closed transport")

        def abort(self) -> None:
            self.aborted = True

    broken = next(iter(writer._workers))
    transport, failing = broken._transport, Failing()
    assert transport is not None
    monkeypatch.setattr(broken, "_transport", failing)
    writer.publish([event("one")])
    await eventually(lambda: [len(each.names) for each in subscribers] == [1, 0, 1])
    assert failing.aborted
    transport.abort()
    await eventually(lambda: [each.gaps for each in subscribers] == [0, 1, 0])
    writer.publish([event("two")])
    await eventually(lambda: [each.names[-1:] for each in subscribers] == [["two"]] * 3)


async def test_a_message_that_cannot_be_read_is_reported_as_a_gap(writer: WriterBus, workers: list[WorkerBus]) -> None:
    buses: list[Bus] = [writer, *workers]
    subscribers = [Subscriber(bus) for bus in buses]
    connection = workers[0]._connection
    assert connection is not None
    unreadable = b"=" + FIRST.encode() + b"[[],[1]]"
    connection.send(len(unreadable).to_bytes(4, "big") + unreadable)
    await eventually(lambda: [each.gaps for each in subscribers] == [1, 1, 1])
    workers[0].publish([event("after")])
    await eventually(lambda: [each.names for each in subscribers] == [["after"]] * 3)
