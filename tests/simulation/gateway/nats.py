"""A NATS server with one stream, below the real `NatsBus`: in place of its client, with faults of the seed.

Messages to a consumer are late, come twice, overtake each other or are dropped; publications are stored without an
acknowledgement, or not at all; clients are cut off for seconds; the server loses the newest messages that it has
acknowledged, whose numbers it gives to others.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from types import SimpleNamespace
from typing import Any, Final
from unittest import mock

from nats.errors import ConnectionClosedError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.js.errors import NotFoundError

from moothall.bus import nats as product
from tests.simulation.loop import EPOCH, SimulatedLoop
from tests.simulation.processes import PROCESS
from tests.simulation.randomness import Choices

Callback = Callable[[Any], Coroutine[Any, Any, None]]

_TIMEOUT: Final = 3.0
_IDLE_SECONDS: Final = 1.0


class Stored:
    """A message of the stream."""

    def __init__(self, data: bytes, at: float) -> None:
        self.data = data
        self.at = at


class SimulatedNats:
    """The server. `faults` says whether any fault happens."""

    def __init__(self, loop: SimulatedLoop, choices: Choices) -> None:
        self.loop = loop
        self.choices = choices
        self.faults = True
        self.stream: list[Stored] = []
        self.exists = False
        self.clients: list[SimulatedClient] = []
        self.context = copy_context()
        self._created = datetime.fromtimestamp(EPOCH, UTC)

    def state(self) -> Any:
        """What the server tells of the stream."""
        last = len(self.stream)
        state = SimpleNamespace(first_seq=1, last_seq=last)
        return SimpleNamespace(created=self._created, state=state, config=SimpleNamespace(num_replicas=1))

    def lose_newest(self) -> None:
        """Lose some of the newest messages."""
        self.lose(
            self.choices.integer(1, self.choices.choice((1, 2, 8))), {"cut off": 4, "no consumer": 1, "at the end": 1}
        )

    def lose(self, count: int, fates: dict[str, float], *, spared: "SimulatedClient | None" = None) -> None:
        """Restart without the newest messages, as after a power failure before they were synced.

        A client of another server of the cluster keeps its connection: its consumer is gone, or goes on at the end.
        `fates` has the weights of these; nothing happens to one that is spared.
        """
        if self.faults and self.stream and self.choices.fault("NATS loses its newest messages", 1.0):
            del self.stream[-count:]
            for client in [each for each in self.clients if each is not spared]:
                fate = self.choices.weighted(fates)
                if fate == "cut off":
                    client.cut_off(self.choices.delay(0.5, 4.0))
                elif fate == "no consumer":
                    client.lose_consumer()
                else:
                    client.skip_to_end()

    def push(self) -> None:
        """Send each consumer what it has not been sent."""
        for client in self.clients:
            client.push()

    def kill(self, process: int) -> None:
        """End the client of a process that has ended."""
        for client in list(self.clients):
            if client.process == process:
                client.kill()


class SimulatedClient:
    """In place of `nats.aio.client.Client`, of one process."""

    def __init__(self, server: SimulatedNats) -> None:
        self._server = server
        self._callbacks: dict[str, Callback] = {}
        self._on_disconnect: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._on_reconnect: Callable[[], Coroutine[Any, Any, None]] | None = None
        self._inboxes = 0
        self._consumer: tuple[str, int] | None = None
        """The inbox of the consumer and the number of the next message that it is sent."""
        self._generation = 0
        self._until = 0.0
        self._next_at = 0.0
        self.is_connected = False
        self.dead = False
        self.process = PROCESS.get()
        self._context = copy_context()
        """What arrives belongs to the process of the client, and not to that of the sender."""
        self._tasks: set[asyncio.Task[None]] = set()

    def _start(self, coroutine: Coroutine[Any, Any, None]) -> None:
        task = self._server.loop.create_task(coroutine, context=self._context)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # The client

    async def connect(self, _servers: Any, *, disconnected_cb: Any, reconnected_cb: Any, **_options: Any) -> None:
        """Connect."""
        self._on_disconnect, self._on_reconnect = disconnected_cb, reconnected_cb
        await self._server.loop.io(self._server.choices.delay(0.005, 0.3))
        self.is_connected = True
        self._server.clients.append(self)

    def jetstream(self, **_options: Any) -> "SimulatedClient":
        """The stream: this object."""
        return self

    def new_inbox(self) -> str:
        """A name."""
        self._inboxes += 1
        return f"inbox{self._inboxes}"

    async def subscribe(self, inbox: str, *, cb: Callback) -> Any:
        """Call `cb` with what is sent to an inbox."""
        self._callbacks[inbox] = cb

        async def unsubscribe() -> None:
            self._callbacks.pop(inbox, None)

        return SimpleNamespace(unsubscribe=unsubscribe)

    async def close(self) -> None:
        """Disconnect."""
        self.kill()

    def kill(self) -> None:
        """End with the process."""
        self.dead, self.is_connected, self._consumer = True, False, None
        if self in self._server.clients:
            self._server.clients.remove(self)

    def cut_off(self, seconds: float) -> None:
        """Lose the connection for so long."""
        if self.dead:
            return
        loop, self._consumer = self._server.loop, None
        self._generation += 1
        self._until = max(self._until, loop.time() + seconds)
        if self.is_connected:
            self.is_connected = False
            assert self._on_disconnect is not None
            self._start(self._on_disconnect())
        loop.call_later(seconds, self._reconnect, context=self._context)

    def lose_consumer(self) -> None:
        """Be sent nothing more, without being told so."""
        self._consumer = None
        self._generation += 1

    def skip_to_end(self) -> None:
        """Let the consumer go on with what is stored from now on. What is on its way arrives."""
        if self._consumer is not None:
            self._consumer = (self._consumer[0], len(self._server.stream) + 1)

    def _reconnect(self) -> None:
        if not self.dead and not self.is_connected and self._server.loop.time() >= self._until - 1e-3:
            self.is_connected = True
            assert self._on_reconnect is not None
            self._start(self._on_reconnect())

    # The stream

    async def _request(self, delay: float = 0.003) -> None:
        server, generation = self._server, self._generation
        if not self.is_connected:
            raise ConnectionClosedError
        await server.loop.io(server.choices.delay(delay, 0.3))
        if generation != self._generation or not self.is_connected:
            await server.loop.io(_TIMEOUT)
            raise NatsTimeoutError
        if server.faults and server.choices.fault("NATS does not answer", 0.005):
            await server.loop.io(_TIMEOUT)
            raise NatsTimeoutError

    async def stream_info(self, _name: str) -> Any:
        """The stream."""
        await self._request()
        if not self._server.exists:
            raise NotFoundError
        return self._server.state()

    async def add_stream(self, _config: Any) -> None:
        """Create the stream."""
        await self._request()
        self._server.exists = True

    async def get_msg(self, _name: str, number: int) -> Any:
        """The message of the stream with a number."""
        await self._request()
        stream = self._server.stream
        if not 0 < number <= len(stream):
            raise NotFoundError
        return SimpleNamespace(seq=number, data=stream[number - 1].data)

    async def publish(self, _subject: str, data: bytes, **_options: Any) -> Any:
        """Store a message; the acknowledgement may be lost."""
        server = self._server
        await self._request()
        server.stream.append(Stored(data, EPOCH + server.loop.time()))
        number = len(server.stream)
        server.push()
        if server.faults and server.choices.chance(0.01):
            server.loop.call_later(server.choices.delay(0.05, 1.0), server.lose_newest, context=server.context)
        if server.faults and server.choices.fault("NATS stores without an acknowledgement", 0.02):
            await server.loop.io(_TIMEOUT)
            raise NatsTimeoutError
        await self._request()
        return SimpleNamespace(seq=number)

    async def add_consumer(self, _stream: str, config: Any) -> None:
        """Send what follows a number to an inbox, from now on."""
        await self._request()
        self._generation += 1
        self._consumer = (config.deliver_subject, config.opt_start_seq)
        self.push()
        self._beat(self._generation)

    def push(self) -> None:
        """Send the consumer what it has not been sent."""
        server = self._server
        if self._consumer is None:
            return
        inbox, number = self._consumer
        while number <= len(server.stream):
            self._send(inbox, number)
            number += 1
        self._consumer = (inbox, number)

    def _send(self, inbox: str, number: int) -> None:
        choices, faults = self._server.choices, self._server.faults
        stored = self._server.stream[number - 1]
        metadata = SimpleNamespace(
            sequence=SimpleNamespace(stream=number), timestamp=datetime.fromtimestamp(stored.at, UTC)
        )
        message = SimpleNamespace(headers=None, metadata=metadata, data=stored.data)
        if faults and choices.fault("a message is dropped", 0.01):
            return
        # One connection keeps the order, in which the next message arrives after all before it.
        self._next_at = max(self._next_at + 1e-5, self._server.loop.time() + choices.delay(0.003, 0.3))
        seconds = self._next_at - self._server.loop.time()
        if faults and choices.fault("a message is overtaken", 0.02):
            seconds += choices.delay(0.05, 2.0)
        self._arrive_later(inbox, message, seconds)
        if faults and choices.fault("a message comes twice", 0.03):
            self._arrive_later(inbox, message, choices.delay(0.05, 2.0))

    def _arrive_later(self, inbox: str, message: Any, seconds: float) -> None:
        generation = self._generation

        def arrive() -> None:
            callback = self._callbacks.get(inbox)
            if callback is not None and generation == self._generation and not self.dead:
                self._start(callback(message))

        self._server.loop.call_later(seconds, arrive, context=self._context)

    def _beat(self, generation: int) -> None:
        """Tell the consumer the number of the last message that it was sent, every second."""
        if generation != self._generation or self._consumer is None:
            return
        inbox, number = self._consumer
        headers = {"Status": "100", "Nats-Last-Stream": str(number - 1)}
        seconds = max(self._next_at - self._server.loop.time(), 0.0) + 1e-3
        self._arrive_later(inbox, SimpleNamespace(headers=headers, metadata=None, data=b""), seconds)
        self._server.loop.call_later(_IDLE_SECONDS, self._beat, generation, context=self._context)


@contextmanager
def simulated_nats(server: SimulatedNats) -> Iterator[None]:
    """Let every `NatsBus` connect to the simulated server."""
    with mock.patch.object(product, "Client", partial(SimulatedClient, server)):
        yield
