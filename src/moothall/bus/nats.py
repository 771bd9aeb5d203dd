"""The bus of several processes: one NATS stream that all of them publish to and subscribe to.

The stream (JetStream) has one order for every process, the publisher included. It retains messages for
fifteen minutes, so that a process that lost its connection catches up. A loss that cannot be made up for
is reported to the subscribers' `on_gap`. Messages are sealed: other clients of the server read and forge none.

The stream may lose messages that it has acknowledged: servers sync their disks every few minutes, so that the newest
messages are gone if all machines that store the stream lose power. What is published next takes their places: the
stream's numbers do not show the loss. Batches of the outbox therefore have numbers of their own (`batches`), and every
few seconds a process compares the last one that it received with the last one that the database knows of. What no
transaction stores, as presences, has no such number: a process also compares the last message that it received with the
one that the stream has in its place, each message that it published itself with the one that it receives there, and
each that comes with a number it has had with the one that it received then.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Final

import msgspec
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.js.api import (
    AckPolicy,
    ConsumerConfig,
    DeliverPolicy,
    DiscardPolicy,
    StreamConfig,
    StreamInfo,
)
from nats.js.client import JetStreamContext
from nats.js.errors import APIError, NotFoundError
from nats.js.errors import Error as JetStreamError

from moothall.bus.batches import BatchNumbers, BatchSequence, Order
from moothall.bus.envelope import BusUnavailable, Envelope, Receive
from moothall.bus.heads import ReceivedHeads
from moothall.bus.packing import Unpacked, Unpacker, encode_envelope, pack
from moothall.bus.sealing import HEAD_BYTES, Seal, Unauthentic, UnknownKey
from moothall.bus.subscribers import Subscribers

log = logging.getLogger("moothall.bus")

_RETENTION_SECONDS: Final = 900.0
_RETENTION_BYTES: Final = 512 << 20
_MAX_MESSAGE_BYTES: Final = 256 << 10
_RESPONSE_TIMEOUT: Final = 3.0
_PING_SECONDS: Final = 3
"""After the third ping without an answer the connection counts as lost."""
_CLOSE_SECONDS: Final = 3.0
_IDLE_HEARTBEAT_SECONDS: Final = 1.0
_SILENCE_SECONDS: Final = 3.5
"""Without a message or an idle heartbeat for so long, the consumer counts as lost."""
_CHECK_SECONDS: Final = 3.0
"""How often a process checks that it has received the last batch of the outbox."""
_LEADER_SECONDS: Final = 1.0
"""How long a NATS server that has just become the leader of the stream may lack what the stream has."""
_RETRY_SECONDS: Final = 0.2
_WARNING_SECONDS: Final = 60.0
_MAX_BATCH: Final = 500
_MAX_REMEMBERED: Final = 10_000
"""Outbox numbers remembered to drop duplicates: far more than one batch of the relay, which is all it can repeat."""

_FAILURES: Final = (NatsError, OSError, TimeoutError, msgspec.DecodeError)

LastBatch = Callable[[], Awaitable[int]]
"""Reads the number of the last batch of the outbox that was published. Raises BusUnavailable."""


class NatsBus:
    """Publishes to a stream, and calls every subscriber with the stream's envelopes, in its order.

    `url` is one server or several, separated by commas. `node` names this process in sixteen ASCII letters.
    `seal` has the keys that the processes share, and `last_batch` reads from the database that they share.
    `replicas` is the number of servers of a cluster on which a new stream is stored.
    `max_queued` bounds the envelopes of `publish` that wait for the server. More are dropped and counted;
    events of a transaction never are, because they wait in the outbox.
    """

    durable = True
    shared = True

    def __init__(
        self,
        url: str,
        *,
        node: str,
        seal: Seal,
        last_batch: LastBatch,
        replicas: int = 1,
        max_queued: int = 10_000,
    ) -> None:
        self.dropped = 0
        """Envelopes dropped because the queue was full."""
        self.unauthentic = 0
        """Messages dropped that were not from this cluster, damaged, or received before."""
        self._seal = seal
        self._read_last_batch = last_batch
        self._replicas = replicas
        self._next_warning_at = 0.0
        self._space = ""
        self._servers = url.split(",")
        self._node = node
        self._max_queued = max_queued
        self._subscribers = Subscribers()
        self._client: Client | None = None
        self._stream: JetStreamContext | None = None
        self._stream_created: datetime | None = None
        self._subscription: Subscription | None = None
        self._last_sequence = 0
        """The sequence number of the last message received from the stream."""
        self._heads = ReceivedHeads()
        self._last_stored = 0
        """The sequence number of the last message of this process that the stream has acknowledged."""
        self._unreceived: dict[bytes, int] = {}
        """The heads of messages of this process that it has not received, with their sequence numbers.

        A number is 0 until the stream has acknowledged the message.
        """
        self._batches = BatchSequence(0)
        self._missing_batch = 0
        """The number of a batch that was not received and was not in the stream; 0 for none."""
        self._next_check_at = 0.0
        self._last_received_at = 0.0
        self._unpacker = Unpacker()
        self._seen_numbers: set[int] = set()
        self._seen_in_order: deque[int] = deque()
        self._queue: deque[bytes] = deque()
        self._queued, self._queue_empty = asyncio.Event(), asyncio.Event()
        self._queue_empty.set()
        self._resubscribe = asyncio.Event()
        self._publish_lock = asyncio.Lock()
        self._unanswered = False
        """Whether the last message was not acknowledged."""
        self._closing = False
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def connected(self) -> bool:
        """Whether the server is reachable now."""
        return self._client is not None and self._client.is_connected

    def stuck(self) -> str | None:
        """Whether events wait because the server does not answer, as a sentence; None if it does."""
        return None if self.connected and not self._unanswered else "NATS does not answer: events wait"

    @property
    def _stream_name(self) -> str:
        return f"moothall-{self._space}"

    @property
    def _subject(self) -> str:
        return f"moothall.{self._space}.events"

    def publish(self, envelopes: Sequence[Envelope]) -> None:
        """Queue events that no transaction stores. They are published in order, after an outage of the server too."""
        free = self._max_queued - len(self._queue)
        if len(envelopes) > free:
            if not self.dropped:
                log.warning("too many envelopes wait for NATS: further ones are dropped")
            self.dropped += len(envelopes) - free
        self._queue.extend(encode_envelope(envelope) for envelope in envelopes[: max(0, free)])
        self._queue_empty.clear()
        self._queued.set()

    def subscribe(
        self,
        receive: Receive,
        *,
        on_gap: Callable[[], None] | None = None,
        on_reconnect: Callable[[], None] | None = None,
    ) -> None:
        """Call `receive` with everything published from the start on, by whichever process."""
        self._subscribers.add(receive, on_gap, on_reconnect)

    async def deliver(self, events: Sequence[tuple[int, bytes]], batch: BatchNumbers) -> None:
        """Publish events of the outbox; returns once the stream stores them. Raises BusUnavailable."""
        await self._send([number for number, _ in events], [envelope for _, envelope in events], batch)

    async def start(self, space: str = "local", *, timeout: float = 10.0) -> None:
        """Connect and subscribe to the stream of `space`, retrying for `timeout` seconds.

        Raises BusUnavailable if no server answers, or the server has no JetStream.
        """
        self._space = space
        client = Client()
        try:
            async with asyncio.timeout(timeout):
                await client.connect(
                    self._servers,
                    name=f"moothall {self._node}",
                    connect_timeout=2,
                    max_reconnect_attempts=-1,
                    reconnect_time_wait=_RETRY_SECONDS,  # type: ignore[arg-type]  # typed as int, passed to sleep()
                    ping_interval=_PING_SECONDS,
                    error_cb=_log_error,
                    disconnected_cb=self._handle_disconnect,
                    reconnected_cb=self._handle_reconnect,
                )
                self._client, self._stream = client, client.jetstream(timeout=_RESPONSE_TIMEOUT)
                stream = await self._find_or_create_stream()
                self._warn_of_replicas(stream)
                self._stream_created, self._last_sequence = stream.created, stream.state.last_seq
                self._heads.restart(self._last_sequence, await self._stored_head(self._last_sequence))
                self._batches.restart(await self._read_last_batch())
                await self._consume()
        except (*_FAILURES, BusUnavailable) as error:
            await client.close()
            raise BusUnavailable(f"NATS with JetStream is not available: {type(error).__name__} {error}") from error
        self._tasks = [asyncio.create_task(self._publish_queued()), asyncio.create_task(self._watch())]

    async def close(self) -> None:
        """Publish what is queued, if the server is reachable, and disconnect. Does nothing the second time."""
        if self._client is None:
            return
        if self.connected and self._tasks:
            with suppress(TimeoutError):
                async with asyncio.timeout(2.0):
                    await self._queue_empty.wait()
        # Python 3.11 may lose a cancellation to a result that arrives at the same moment.
        self._closing = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks = []
        client, self._client = self._client, None
        with suppress(TimeoutError):
            async with asyncio.timeout(_CLOSE_SECONDS):
                await client.close()

    # Publishing

    async def _publish_queued(self) -> None:
        while not self._closing:
            await self._queued.wait()
            batch = [self._queue[i] for i in range(min(len(self._queue), _MAX_BATCH))]
            if not batch:
                self._queued.clear()
                self._queue_empty.set()
                continue
            try:
                await self._send([], batch)
            except BusUnavailable:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            except Exception:
                # Without this task nothing is published any more.
                log.exception("envelopes could not be published; they are tried again")
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            for _ in batch:
                self._queue.popleft()

    async def _send(
        self, numbers: Sequence[int], envelopes: Sequence[bytes], batch: BatchNumbers | None = None
    ) -> None:
        async with self._publish_lock:
            for message in pack(self._node, numbers, envelopes, max_bytes=_MAX_MESSAGE_BYTES, batch=batch):
                if self._stream is None or not self.connected:
                    raise BusUnavailable("NATS is not reachable")
                sealed = self._seal.seal(message, self._subject.encode())
                head = sealed[:HEAD_BYTES]
                self._unreceived[head] = 0
                try:
                    stored = await self._stream.publish(self._subject, sealed, timeout=_RESPONSE_TIMEOUT)
                    self._last_stored = stored.seq
                    self._unanswered = False
                    if head in self._unreceived:
                        self._unreceived[head] = stored.seq
                        self._find_lost_messages()
                except BaseException as error:
                    self._unreceived.pop(head, None)
                    if not isinstance(error, _FAILURES):
                        raise
                    self._unanswered = True
                    # The stream may have been deleted; resubscribing detects that and creates another.
                    self._resubscribe.set()
                    raise BusUnavailable(f"NATS did not store a message: {type(error).__name__} {error}") from error

    # Receiving

    async def _find_or_create_stream(self) -> StreamInfo:
        """The stream, created if there is none. One that an operator created or changed is left as it is."""
        assert self._stream is not None  # noqa: S101 for the type checker
        try:
            return await self._stream.stream_info(self._stream_name)
        except NotFoundError:
            pass
        refusal: APIError | None = None
        try:
            await self._stream.add_stream(
                StreamConfig(
                    name=self._stream_name,
                    subjects=[self._subject],
                    max_age=_RETENTION_SECONDS,
                    max_bytes=_RETENTION_BYTES,
                    discard=DiscardPolicy.OLD,
                    num_replicas=self._replicas,
                )
            )
        except APIError as error:
            refusal = error
        try:
            return await self._stream.stream_info(self._stream_name)
        except NotFoundError:
            if refusal is None:
                raise
            raise refusal from None  # no other process has created it meanwhile

    def _warn_of_replicas(self, stream: StreamInfo) -> None:
        present = stream.config.num_replicas or 1
        if present != self._replicas:
            log.warning(
                "the stream in NATS has %d replicas, nats_replicas is %d: nats stream edit %s --replicas changes it",
                present,
                self._replicas,
                self._stream_name,
            )

    async def _consume(self) -> None:
        """Subscribe to everything after the last message received."""
        assert self._client is not None  # noqa: S101 for the type checker
        assert self._stream is not None  # noqa: S101
        old, self._subscription = self._subscription, None
        if old is not None:
            with suppress(*_FAILURES):
                await old.unsubscribe()
        inbox = self._client.new_inbox()
        self._subscription = await self._client.subscribe(inbox, cb=self._receive)
        await self._stream.add_consumer(
            self._stream_name,
            ConsumerConfig(
                deliver_subject=inbox,
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=self._last_sequence + 1,
                ack_policy=AckPolicy.NONE,
                idle_heartbeat=_IDLE_HEARTBEAT_SECONDS,
            ),
        )
        self._last_received_at = _now()

    async def _consume_again(self) -> None:
        """Subscribe again after a loss, calling `on_gap` if messages are lost for good."""
        # Messages may still arrive while the stream is queried.
        last_sequence = max(self._last_sequence, self._last_stored)
        stream = await self._find_or_create_stream()
        if stream.created == self._stream_created and stream.state.last_seq < last_sequence:
            await asyncio.sleep(_LEADER_SECONDS)
            stream = await self._find_or_create_stream()
        state = stream.state
        if stream.created != self._stream_created or state.last_seq < last_sequence:
            # Another stream, or one without its newest messages: what it had is unknown.
            await self._start_anew("the stream in NATS has lost messages", state.last_seq)
            self._stream_created = stream.created
        elif state.first_seq > self._last_sequence + 1:
            lost = state.first_seq - self._last_sequence - 1
            await self._start_anew(f"{lost} messages in NATS expired before they were received", state.first_seq - 1)
        elif self._has_lost_own_messages() or await self._has_lost_received_message():
            await self._start_anew("NATS has lost messages and stored others since", state.last_seq)
        await self._consume()

    def _find_lost_messages(self) -> None:
        """Report a gap soon if a message of this process was stored where it has received another one."""
        if self._has_lost_own_messages():
            self._resubscribe.set()

    def _has_lost_own_messages(self) -> bool:
        """Whether a message of this process is not at the sequence number that the stream acknowledged it with."""
        return any(0 < sequence <= self._last_sequence for sequence in self._unreceived.values())

    async def _has_lost_received_message(self) -> bool:
        """Whether the stream has another message in the place of the last one received, or of a doubtful one."""
        for sequence, head in self._heads.to_compare():
            if await self._stored_head(sequence) not in {head, b""}:
                return True
        return False

    async def _stored_head(self, sequence: int) -> bytes:
        """The head of a message of the stream; empty if there is none with the number."""
        assert self._stream is not None  # noqa: S101 for the type checker
        if not sequence:
            return b""
        try:
            message = await self._stream.get_msg(self._stream_name, sequence)
        except NotFoundError:
            return b""
        return (message.data or b"")[:HEAD_BYTES]

    async def _start_anew(self, reason: str, last_sequence: int) -> None:
        """Report lost messages; what follows the batch that is the last one now is received. Raises BusUnavailable."""
        # Before the report: a session that begins after it has read a state with this batch.
        number, head = await self._read_last_batch(), await self._stored_head(last_sequence)
        log.warning("%s: sessions begin anew", reason)
        self._last_sequence, self._last_stored = last_sequence, 0
        self._heads.restart(last_sequence, head)
        self._unreceived = {each: stored for each, stored in self._unreceived.items() if not stored}
        self._batches.restart(number)
        self._missing_batch = 0
        # A database that has lost rows may give their numbers to others.
        self._seen_numbers.clear()
        self._seen_in_order.clear()
        self._subscribers.report_gap()

    async def _watch(self) -> None:
        """Subscribe again whenever the consumer ends, falls silent or skips a message, and look for lost batches."""
        while not self._closing:
            with suppress(TimeoutError):
                async with asyncio.timeout(1.0):
                    await self._resubscribe.wait()
            if not self.connected:
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            try:
                if self._resubscribe.is_set() or _now() - self._last_received_at >= _SILENCE_SECONDS:
                    self._resubscribe.clear()
                    await self._resubscribe_or_retry()
                elif _now() >= self._next_check_at:
                    self._next_check_at = _now() + _CHECK_SECONDS
                    await self._check_received()
            except (*_FAILURES, BusUnavailable) as error:
                log.warning("cannot compare what was received with NATS: %s %s", type(error).__name__, error)
            except Exception:
                # Without this task a lost consumer would never be replaced.
                log.exception("cannot watch the stream in NATS")
                await asyncio.sleep(_RETRY_SECONDS)

    async def _resubscribe_or_retry(self) -> None:
        """Subscribe again, now or in a moment."""
        try:
            await self._consume_again()
        except BaseException as error:
            self._resubscribe.set()
            if not isinstance(error, (*_FAILURES, BusUnavailable)):
                raise
            log.warning("cannot subscribe to NATS: %s %s", type(error).__name__, error)
            await asyncio.sleep(_RETRY_SECONDS)

    async def _check_received(self) -> None:
        """Report a gap if what was received is not in the stream, or the outbox's last batch will not be received."""
        if await self._has_lost_received_message():
            self._resubscribe.set()
            return
        number = await self._read_last_batch()
        if self._batches.is_ahead_of(number):
            await self._start_anew("the database has lost batches of events that were published", self._last_sequence)
            return
        if self._batches.has(number):
            return
        # It was stored before its number could be read: the stream has it now, or has lost it.
        state = (await self._find_or_create_stream()).state
        if state.last_seq < max(self._last_sequence, self._last_stored):
            self._resubscribe.set()
        elif self._last_sequence == state.last_seq:
            if self._missing_batch and not self._batches.has(self._missing_batch):
                await self._start_anew("NATS has lost the newest events", self._last_sequence)
                return
            self._missing_batch = number
            self._next_check_at = _now() + _LEADER_SECONDS

    async def _receive(self, message: Msg) -> None:
        self._last_received_at = _now()
        if message.headers and "Status" in message.headers:
            last = message.headers.get("Nats-Last-Stream")
            if last is not None and last.isdecimal() and int(last) > self._last_sequence:
                self._resubscribe.set()
            return
        try:
            metadata = message.metadata
        except (NatsError, JetStreamError, ValueError, LookupError, OverflowError, OSError) as problem:
            self._count_unauthentic(problem)  # another client has the address of the consumer
            return
        sequence = metadata.sequence.stream
        if sequence <= self._last_sequence:
            if self._heads.contradicts(sequence, message.data[:HEAD_BYTES]):
                self._resubscribe.set()
            return
        if sequence > self._last_sequence + 1:
            # Messages in between were dropped by the client or have expired: subscribing again finds out.
            self._resubscribe.set()
            return
        self._last_sequence, head = sequence, message.data[:HEAD_BYTES]
        self._heads.add(sequence, head)
        self._unreceived.pop(head, None)
        self._find_lost_messages()
        stored_ms = int(metadata.timestamp.timestamp() * 1000)
        try:
            batch = self._unpacker.unpack(self._seal.open(message.data, self._subject.encode(), stored_ms))
        except Unauthentic as problem:
            self._count_unauthentic(problem)
            return
        except msgspec.DecodeError:
            log.exception("a message from NATS cannot be decoded")
            self._subscribers.report_gap()
            return
        if batch is not None:
            self._take(batch)

    def _take(self, batch: Unpacked) -> None:
        if batch.position is not None:
            order = self._batches.add(batch.position)
            if order is Order.STALE:
                return
            if order is Order.GAP:
                log.warning("batches of events before number %d were lost: sessions begin anew", batch.position.number)
                self._subscribers.report_gap()
        self._subscribers.call(self._without_duplicates(batch.numbers, batch.envelopes))

    def _count_unauthentic(self, problem: Exception) -> None:
        """Count a message that is dropped, and log it once a minute."""
        self.unauthentic += 1
        if _now() < self._next_warning_at:
            return
        self._next_warning_at = _now() + _WARNING_SECONDS
        if isinstance(problem, UnknownKey):
            log.error("a process uses another server key: its events on NATS cannot be read. All need the same keys")
        else:
            log.warning("dropped a message on NATS (%d until now): %s", self.unauthentic, problem)

    def _without_duplicates(self, numbers: list[int], envelopes: list[Envelope]) -> list[Envelope]:
        """A batch without the envelopes published a second time because the first attempt's outcome was unknown."""
        if not numbers:
            return envelopes
        seen = self._seen_numbers
        fresh = [envelope for envelope, number in zip(envelopes, numbers, strict=False) if number not in seen]
        fresh += envelopes[len(numbers) :]
        for number in numbers:
            if number not in seen:
                seen.add(number)
                self._seen_in_order.append(number)
        while len(self._seen_in_order) > _MAX_REMEMBERED:
            seen.discard(self._seen_in_order.popleft())
        return fresh

    async def _handle_disconnect(self) -> None:
        if not self._closing:
            log.warning("NATS cannot be reached: events wait")

    async def _handle_reconnect(self) -> None:
        log.info("NATS can be reached again")
        self._resubscribe.set()
        self._subscribers.report_reconnect()


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _log_error(error: Exception) -> None:
    log.debug("NATS: %s %s", type(error).__name__, error)
