"""The outbox and its relay, as the database of several nodes has them: events in the order of their commits.

A batch has a number of a sequence, drawn in the transaction that deletes its rows. If that is rolled back after the
batch was published, the next attempt has another number, the same predecessor, and carries the same events and more.
"""

from collections.abc import Callable

from moothall.bus.batches import BatchNumbers
from moothall.bus.envelope import BusUnavailable, Envelope
from moothall.bus.nats import NatsBus
from moothall.bus.packing import encode_envelope
from tests.simulation.gateway.model import Change
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices


class Outbox:
    """Rows that wait to be published. `bus` returns that of a node which lives, None if there is none."""

    def __init__(
        self,
        loop: SimulatedLoop,
        choices: Choices,
        bus: Callable[[], NatsBus | None],
        on_publish: Callable[[Change], None],
    ) -> None:
        self.faults = True
        self._loop = loop
        self._choices = choices
        self._bus = bus
        self._on_publish = on_publish
        self._rows: list[tuple[int, bytes]] = []
        self._unpublished: list[tuple[int, Change]] = []
        """Changes with the number of their last row, none of which was sent yet."""
        self._last_row = 0
        self._sequence = 0
        self._last_batch = 0

    @property
    def is_empty(self) -> bool:
        """Whether all rows are published."""
        return not self._rows

    def add(self, change: Change) -> None:
        """Store the events of a change with it."""
        for envelope in change.envelopes:
            self._add_row(envelope)
        self._unpublished.append((self._last_row, change))

    def _add_row(self, envelope: Envelope) -> None:
        self._last_row += 1
        self._rows.append((self._last_row, encode_envelope(envelope)))

    async def last_batch(self) -> int:
        """The number of the last batch whose transaction was committed. Raises BusUnavailable."""
        await self._loop.io(self._choices.delay(0.002, 0.3))
        if self.faults and self._choices.fault("the last batch cannot be read", 0.01):
            raise BusUnavailable("the database cannot be read")
        return self._last_batch

    async def relay(self) -> None:
        """Publish rows, batch by batch, for ever."""
        while True:
            await self._loop.io(self._choices.delay(0.01, 0.5))
            bus = self._bus()
            if bus is not None and self._rows:
                await self._publish(bus)

    async def _publish(self, bus: NatsBus) -> None:
        rows = self._rows[: self._choices.integer(1, 20)]
        self._sequence += 1
        number = self._sequence
        while self._unpublished and self._unpublished[0][0] <= rows[-1][0]:
            self._on_publish(self._unpublished.pop(0)[1])
        try:
            await bus.deliver(rows, BatchNumbers(number, self._last_batch))
        except BusUnavailable:
            return
        await self._loop.io(self._choices.delay(0.002, 0.1))
        if self.faults and self._choices.fault("a published batch is rolled back", 0.03):
            return
        self._last_batch = number
        self._rows = self._rows[len(rows) :]
