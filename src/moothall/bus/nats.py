"""The bus of many processes: one NATS stream that all of them write to and read from.

The stream (JetStream) gives everything one order, the same for every process, the publisher
included. It keeps what was published for some minutes, so that a process that lost its connection
reads what it missed. What cannot be made up for is told through `missed`.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, DiscardPolicy, StreamConfig, StreamInfo
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, NotFoundError

from moothall.bus.envelope import BusUnavailable, Envelope
from moothall.bus.packing import Unpacker, encode_envelope, pack

log = logging.getLogger("moothall.bus")

_KEPT_SECONDS: Final = 900.0
_KEPT_BYTES: Final = 512 << 20
_MESSAGE_BYTES: Final = 256 << 10
_ANSWER_SECONDS: Final = 5.0
_HEARTBEAT_SECONDS: Final = 2.0
_SILENT_SECONDS: Final = 7.0
_RETRY_SECONDS: Final = 0.2
_MAX_TOGETHER: Final = 500
_MAX_REMEMBERED: Final = 10_000
"""Numbers of the outbox remembered: far more than can be published twice, which is one batch of the relay."""

_FAILURES: Final = (NatsError, OSError, TimeoutError, msgspec.DecodeError)

Hear = Callable[[Sequence[Envelope]], None]


class NatsBus:
    """Publishes to a stream, and calls every subscriber with what the stream has, in its order.

    `url` is a server or several, after commas. `node` names this process in sixteen letters. `space`
    keeps platforms apart that share a server; it must be set before `start`, letters and digits only.
    `max_queued` bounds the envelopes of `publish` that wait for the server; more are dropped (and
    counted), which no event of a transaction ever is: those wait in the outbox.
    """

    durable = True

    def __init__(self, url: str, *, node: str, max_queued: int = 10_000) -> None:
        self.space = "local"
        self.missed: Callable[[], None] = _nothing
        """Called when something was published that this process can never hear."""
        self.returned: Callable[[], None] = _nothing
        """Called when the server can be reached again."""
        self.dropped = 0
        """Envelopes given up because too many waited."""
        self._servers = url.split(",")
        self._node = node
        self._max_queued = max_queued
        self._hearers: list[Hear] = []
        self._client: Client | None = None
        self._stream: JetStreamContext | None = None
        self._created: datetime | None = None
        self._listening: Subscription | None = None
        self._heard = 0
        """The number in the stream of the last message heard."""
        self._heard_at = 0.0
        self._unpacker = Unpacker()
        self._numbers: set[int] = set()
        self._numbers_in_order: deque[int] = deque()
        self._queue: deque[bytes] = deque()
        self._queued = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()
        self._lapsed = asyncio.Event()
        self._sending = asyncio.Lock()
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def connected(self) -> bool:
        """Whether the server can be reached now."""
        return self._client is not None and self._client.is_connected

    @property
    def _name(self) -> str:
        return f"moothall-{self.space}"

    @property
    def _subject(self) -> str:
        return f"moothall.{self.space}.events"

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Hand on what no transaction tells of; it is published in order, after a loss of the server as well."""
        room = self._max_queued - len(self._queue)
        if len(envelopes) > room:
            if not self.dropped:
                log.warning("too much waits for NATS: envelopes are dropped")
            self.dropped += len(envelopes) - room
        self._queue.extend(encode_envelope(envelope) for envelope in envelopes[: max(0, room)])
        self._idle.clear()
        self._queued.set()

    def subscribe(self, hear: Hear) -> None:
        """Hear everything published from the start on, by whichever process."""
        self._hearers.append(hear)

    async def deliver(self, events: Sequence[tuple[int, bytes]]) -> None:
        """Publish events of the outbox; returns once the stream keeps them. Raises BusUnavailable."""
        await self._send([number for number, _ in events], [envelope for _, envelope in events])

    async def start(self, *, patience: float = 10.0) -> None:
        """Connect and begin to hear, trying for `patience` seconds.

        Raises BusUnavailable if there is no server, or none with JetStream.
        """
        client = Client()
        try:
            async with asyncio.timeout(patience):
                await client.connect(
                    self._servers,
                    name=f"moothall {self._node}",
                    connect_timeout=2,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=_RETRY_SECONDS,  # type: ignore[arg-type]  # a pause, whole or not
                    ping_interval=10,
                    error_cb=_note,
                    disconnected_cb=self._on_loss,
                    reconnected_cb=self._on_return,
                )
                self._client, self._stream = client, client.jetstream(timeout=_ANSWER_SECONDS)
                found = await self._find_stream()
                self._created, self._heard = found.created, found.state.last_seq
                await self._listen()
        except (*_FAILURES, BusUnavailable) as error:
            await client.close()
            raise BusUnavailable(f"NATS with JetStream is not to be had: {type(error).__name__} {error}") from error
        self._tasks = [asyncio.create_task(self._publish_queued()), asyncio.create_task(self._watch())]

    async def close(self) -> None:
        """Publish what is queued, if the server can be reached, and disconnect. Does nothing the second time."""
        if self._client is None:
            return
        if self.connected and self._tasks:
            with suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._idle.wait()
        # Python 3.11 may lose a cancellation to a result that comes at the same moment.
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        client, self._client = self._client, None
        await client.close()

    # To the stream

    async def _publish_queued(self) -> None:
        while not self._closing:
            await self._queued.wait()
            batch = [self._queue[i] for i in range(min(len(self._queue), _MAX_TOGETHER))]
            if not batch:
                self._queued.clear()
                self._idle.set()
                continue
            try:
                await self._send([], batch)
            except BusUnavailable:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            for _ in batch:
                self._queue.popleft()

    async def _send(self, numbers: Sequence[int], envelopes: Sequence[bytes]) -> None:
        async with self._sending:
            for message in pack(self._node, numbers, envelopes, max_bytes=_MESSAGE_BYTES):
                if self._stream is None or not self.connected:
                    raise BusUnavailable("NATS cannot be reached")
                try:
                    await self._stream.publish(self._subject, message, timeout=_ANSWER_SECONDS)
                except _FAILURES as error:
                    # The stream may be gone; listening again finds out and makes a new one.
                    self._lapsed.set()
                    raise BusUnavailable(f"NATS did not keep a message: {type(error).__name__} {error}") from error

    # From the stream

    async def _find_stream(self) -> StreamInfo:
        """The stream, made if there is none. One that an operator made or changed is left as it is."""
        assert self._stream is not None  # noqa: S101 for the type checker
        try:
            return await self._stream.stream_info(self._name)
        except NotFoundError:
            pass
        with suppress(APIError):  # another process was faster
            await self._stream.add_stream(
                StreamConfig(
                    name=self._name,
                    subjects=[self._subject],
                    max_age=_KEPT_SECONDS,
                    max_bytes=_KEPT_BYTES,
                    discard=DiscardPolicy.OLD,
                )
            )
        return await self._stream.stream_info(self._name)

    async def _listen(self) -> None:
        """Have everything after the last message heard delivered."""
        assert self._client is not None  # noqa: S101 for the type checker
        assert self._stream is not None  # noqa: S101
        old, self._listening = self._listening, None
        if old is not None:
            with suppress(*_FAILURES):
                await old.unsubscribe()
        inbox = self._client.new_inbox()
        self._listening = await self._client.subscribe(inbox, cb=self._take)
        await self._stream.add_consumer(
            self._name,
            ConsumerConfig(
                deliver_subject=inbox,
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._heard + 1,
                ack_policy=AckPolicy.NONE,
                idle_heartbeat=_HEARTBEAT_SECONDS,
            ),
        )
        self._heard_at = _now()

    async def _listen_again(self) -> None:
        """The same after a loss, telling if something is gone for good."""
        # Deliveries may still go on while the stream is asked.
        heard = self._heard
        found = await self._find_stream()
        state = found.state
        if found.created != self._created or state.last_seq < heard:
            # Another stream: nobody can say what the old one still had.
            log.warning("the stream in NATS was lost and begins anew")
            self._created, self._heard = found.created, state.last_seq
            self.missed()
        elif state.first_seq > self._heard + 1:
            log.warning("%d messages in NATS were gone before they were heard", state.first_seq - self._heard - 1)
            self._heard = state.first_seq - 1
            self.missed()
        await self._listen()

    async def _watch(self) -> None:
        """Listen again whenever the deliveries end or leave something out."""
        while not self._closing:
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._lapsed.wait()
            if not self.connected:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            if not self._lapsed.is_set() and _now() - self._heard_at < _SILENT_SECONDS:
                continue
            self._lapsed.clear()
            try:
                await self._listen_again()
            except _FAILURES as error:
                log.warning("NATS does not let us listen: %s %s", type(error).__name__, error)
                self._lapsed.set()
                await asyncio.sleep(_RETRY_SECONDS)

    async def _take(self, message: Msg) -> None:
        self._heard_at = _now()
        if message.headers and "Status" in message.headers:
            last = message.headers.get("Nats-Last-Stream")
            if last is not None and int(last) > self._heard:
                self._lapsed.set()
            return
        number = message.metadata.sequence.stream
        if number <= self._heard:
            return
        if number > self._heard + 1:
            # Dropped on the way, or too old: listening again tells which.
            self._lapsed.set()
            return
        self._heard = number
        try:
            batch = self._unpacker.unpack(message.data)
        except msgspec.DecodeError:
            log.exception("what NATS delivered cannot be read")
            return
        if batch is not None:
            self._hand_on(self._unheard(*batch))

    def _unheard(self, numbers: list[int], envelopes: list[Envelope]) -> list[Envelope]:
        """A batch without what was published a second time because the first was not known to have arrived."""
        if not numbers:
            return envelopes
        known = self._numbers
        fresh = [e for e, number in zip(envelopes, numbers, strict=False) if number not in known]
        fresh += envelopes[len(numbers) :]
        for number in numbers:
            if number not in known:
                known.add(number)
                self._numbers_in_order.append(number)
        while len(self._numbers_in_order) > _MAX_REMEMBERED:
            known.discard(self._numbers_in_order.popleft())
        return fresh

    def _hand_on(self, envelopes: list[Envelope]) -> None:
        for hear in self._hearers:
            try:
                hear(envelopes)
            except Exception:  # one failure must not end the others
                log.exception("a hearer of the bus failed")

    async def _on_loss(self) -> None:
        if not self._closing:
            log.warning("NATS cannot be reached: events wait")

    async def _on_return(self) -> None:
        log.info("NATS can be reached again")
        self._lapsed.set()
        self.returned()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _nothing() -> None:
    """Nobody wants to know."""


async def _note(error: Exception) -> None:
    log.debug("NATS: %s %s", type(error).__name__, error)
