"""Slots for one kind of work, fair between payers, who are charged for it and refused once over their budget."""

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Protocol

from moothall.objects.clock import stopwatch
from moothall.runtime.budgets import Budgets, Payer
from moothall.runtime.fair_slots import FairSlots


class Meter(Protocol):
    """Whom time is charged to: `Budgets`, or a limit of its own."""

    def check(self, payer: Payer) -> None:
        """Raise an exception for a payer whose time is used up."""

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        """Charge time, which may be more than was left."""


class MeteredSlots:
    """A semaphore as `FairSlots`, for payers whose budget at `meter` is not used up."""

    def __init__(
        self, slots: int, meter: Meter | None = None, *, waiting_max: int = 256, waiting_each: int = 32, each: int = 1
    ) -> None:
        self._meter: Meter = Budgets.unlimited() if meter is None else meter
        self._slots = FairSlots(slots, waiting_max=waiting_max, waiting_each=waiting_each, each=each)

    @property
    def waiting(self) -> int:
        """How much work has or waits for a slot."""
        return self._slots.waiting

    @asynccontextmanager
    async def slot(self, payer: Payer) -> AsyncIterator[None]:
        """Have a slot inside the block. Raises what the meter raises, and Overloaded if too much waits already."""
        self.check(payer)
        async with self._slots.slot(payer.lane):
            # Work of the same payer that went before may have used up the budget.
            self.check(payer)
            yield

    def check(self, payer: Payer) -> None:
        """Raise what the meter raises for a payer over its budget."""
        self._meter.check(payer)

    @contextmanager
    def timing(self, payer: Payer) -> Iterator[None]:
        """Charge the time that the block takes, however it ends."""
        started = stopwatch()
        try:
            yield
        finally:
            self.charge(payer, stopwatch() - started)

    def charge(self, payer: Payer, seconds: float) -> None:
        """Charge time that a slot was used, which may be more than was left."""
        self._meter.charge_cpu(payer, seconds)
