"""What work costs, counted by account and by network: CPU time, and bytes held in memory.

Cost is charged where it arises. An account pays first; the network that it connects from pays too, out of an allowance
so large that one account, which is refused long before, does not use it up for the others behind a shared address.
Cost without an account (logins, images for browsers) is charged to a separate allowance of the network. Each process
counts its own.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from moothall.objects.clock import CLOCK

_ENTRIES_MAX: Final = 100_000
_EXAMINED: Final = 4
"""How many of the oldest entries make room, if they can, for each new one."""


class WorkRefused(Exception):
    """Work is not done for a caller, who may try again after `seconds`."""

    def __init__(self, seconds: float = 2.0) -> None:
        super().__init__(f"not for the next {seconds:.3f} s")
        self.seconds = seconds


class OverBudget(WorkRefused):
    """The caller has used up its budget."""


class Overloaded(WorkRefused):
    """The server has no room for more work at the moment."""


class Payer(NamedTuple):
    """Whom work is charged to: an account (None without one) and the network that it connects from ("" for none)."""

    account: int | None
    network: str
    loopback: bool = False
    """Whether the network is the machine itself, whose allowance is a multiple of others'."""

    @property
    def lane(self) -> Hashable:
        """What shares one lane of a fair queue: an account, else a network."""
        return self.network if self.account is None else self.account


SERVER: Final = Payer(None, "", loopback=True)
"""The server itself: jobs and sweepers, which are never refused."""


class Allowance(NamedTuple):
    """A leaky bucket: how much it holds, and how much of it drains in a second."""

    capacity: float
    per_second: float

    def times(self, factor: float) -> "Allowance":
        """A multiple of it."""
        return Allowance(self.capacity * factor, self.per_second * factor)


UNLIMITED: Final = Allowance(math.inf, 1.0)


class Rates:
    """How much payers have used lately, of an amount that each may use up and that is replenished over time.

    The cost of a signed-in payer is charged to its account and its network, other cost to the network's allowance for
    `anonymous` cost. `loopback_multiplier` multiplies the allowances of payers on this machine.
    """

    def __init__(
        self,
        *,
        account: Allowance,
        network: Allowance,
        anonymous: Allowance,
        loopback_multiplier: int = 20,
        entries_max: int = _ENTRIES_MAX,
        clock: Callable[[], float] = CLOCK.monotonic,
    ) -> None:
        self._clock = clock
        self._loopback_multiplier = loopback_multiplier
        self._accounts = _Buckets(account, entries_max)
        self._networks = _Buckets(network, entries_max)
        self._anonymous = _Buckets(anonymous, entries_max)

    def check(self, payer: Payer) -> None:
        """Raise OverBudget for a payer who has nothing left."""
        now = self._clock()
        if payer.account is not None:
            wait = self._accounts.wait(payer.account, now)
            if payer.network:
                wait = max(wait, self._networks.wait(payer.network, now))
        elif payer.network:
            wait = self._anonymous.wait(payer.network, now)
        else:
            return
        if wait:
            raise OverBudget(wait)

    def charge(self, payer: Payer, amount: float) -> None:
        """Count an amount, which may be more than is left: the cost of work is known only afterwards."""
        now = self._clock()
        if payer.loopback:
            amount /= self._loopback_multiplier
        if payer.account is not None:
            self._accounts.add(payer.account, amount, now)
            if payer.network:
                self._networks.add(payer.network, amount, now)
        elif payer.network:
            self._anonymous.add(payer.network, amount, now)

    def spend(self, payer: Payer, amount: float = 1) -> None:
        """Count an amount unless nothing is left, for costs that are known before. Raises OverBudget."""
        self.check(payer)
        self.charge(payer, amount)

    def __len__(self) -> int:
        """How many accounts and networks are counted."""
        return len(self._accounts) + len(self._networks) + len(self._anonymous)


class _Buckets:
    """The leaky buckets of one kind of payer; a full table forgets the emptiest of its oldest entries."""

    __slots__ = ("_allowance", "_entries", "_entries_max")

    def __init__(self, allowance: Allowance, entries_max: int) -> None:
        self._allowance = allowance
        self._entries_max = entries_max
        self._entries: OrderedDict[Hashable, tuple[float, float]] = OrderedDict()
        """By payer: the level, and the moment at which it was that."""

    def __len__(self) -> int:
        return len(self._entries)

    def wait(self, key: Hashable, now: float) -> float:
        """Seconds until a full bucket has room again; 0 for one that has."""
        entry = self._entries.get(key)
        if entry is None:
            return 0.0
        allowance = self._allowance
        excess = self._level(entry, now) - allowance.capacity
        if excess < 0:
            return 0.0
        # A tenth more than its first drop of room, so that clients in step do not meet a bucket that is just full.
        return (excess + allowance.capacity / 10) / allowance.per_second

    def add(self, key: Hashable, amount: float, now: float) -> None:
        """Raise a level."""
        entry = self._entries.get(key)
        if entry is None:
            self._make_room(now)
            self._entries[key] = (amount, now)
        else:
            self._entries[key] = (self._level(entry, now) + amount, now)

    def _level(self, entry: tuple[float, float], now: float) -> float:
        level = entry[0] - (now - entry[1]) * self._allowance.per_second
        return max(level, 0.0)

    def _make_room(self, now: float) -> None:
        """Look at the oldest entries: forget drained ones, and the least used one of a full table."""
        entries = self._entries
        oldest = [entries.popitem(last=False) for _ in range(min(_EXAMINED, len(entries)))]
        live = [(key, entry) for key, entry in oldest if self._level(entry, now) > 0]
        if live and len(entries) + len(live) >= self._entries_max:
            live.remove(min(live, key=lambda item: self._level(item[1], now)))
        entries.update(live)


class Holdings:
    """How many bytes payers hold in memory at the moment, each at most so many, and all together at most `total`."""

    def __init__(
        self, *, account: float, network: float, anonymous: float, total: float, loopback_multiplier: int = 20
    ) -> None:
        self._account_max = account
        self._network_max = network
        self._anonymous_max = anonymous
        self._total_max = total
        self._loopback_multiplier = loopback_multiplier
        self._accounts: dict[Hashable, int] = {}
        self._networks: dict[Hashable, int] = {}
        self._anonymous: dict[Hashable, int] = {}
        self.total = 0
        """Bytes that all hold."""

    def hold(self, payer: Payer, size: int) -> None:
        """Count bytes until they are released. Raises OverBudget, and Overloaded if all together hold too many."""
        if self.total + size > self._total_max and payer.network:
            raise Overloaded
        factor = self._loopback_multiplier if payer.loopback else 1
        if payer.account is not None:
            of_account = self._accounts.get(payer.account, 0) + size
            of_network = self._networks.get(payer.network, 0) + size if payer.network else 0
            if of_account > self._account_max * factor or of_network > self._network_max * factor:
                raise OverBudget(1.0)
            self._accounts[payer.account] = of_account
            if payer.network:
                self._networks[payer.network] = of_network
        elif payer.network:
            of_network = self._anonymous.get(payer.network, 0) + size
            if of_network > self._anonymous_max * factor:
                raise OverBudget(1.0)
            self._anonymous[payer.network] = of_network
        self.total += size

    def release(self, payer: Payer, size: int) -> None:
        """Count bytes no more, which the same payer held."""
        if payer.account is not None:
            _subtract(self._accounts, payer.account, size)
            if payer.network:
                _subtract(self._networks, payer.network, size)
        elif payer.network:
            _subtract(self._anonymous, payer.network, size)
        self.total -= size

    def bytes_of(self, payer: Payer) -> int:
        """The bytes that an account holds, or a network without one."""
        if payer.account is not None:
            return self._accounts.get(payer.account, 0)
        return self._anonymous.get(payer.network, 0)

    @contextmanager
    def holding(self, payer: Payer, size: int) -> Iterator[None]:
        """Hold bytes inside the block. Raises what `hold` raises."""
        self.hold(payer, size)
        try:
            yield
        finally:
            self.release(payer, size)


def _subtract(table: dict[Hashable, int], key: Hashable, size: int) -> None:
    left = table[key] - size
    if left:
        table[key] = left
    else:
        del table[key]


class Budgets:
    """The budgets of a process: CPU time of long work in seconds, and bytes of requests that are in memory."""

    def __init__(self, cpu: Rates, requests: Holdings) -> None:
        self.cpu = cpu
        self.requests = requests

    @classmethod
    def unlimited(cls) -> "Budgets":
        """Budgets that refuse no one, for servers whose limits are switched off, and tests."""
        return cls(
            Rates(account=UNLIMITED, network=UNLIMITED, anonymous=UNLIMITED),
            Holdings(account=math.inf, network=math.inf, anonymous=math.inf, total=math.inf),
        )

    def cost_of(self, payer: Payer) -> "Cost":
        """Begin to count what one request costs."""
        return Cost(self, payer)

    def check(self, payer: Payer) -> None:
        """Raise OverBudget for a payer whose CPU time is used up."""
        self.cpu.check(payer)

    def charge_cpu(self, payer: Payer, seconds: float) -> None:
        """Charge CPU time, which may be more than was left."""
        self.cpu.charge(payer, seconds)

    def hold(self, payer: Payer, size: int) -> None:
        """Hold bytes of a request in memory. Raises OverBudget, Overloaded."""
        self.requests.hold(payer, size)

    def release(self, payer: Payer, size: int) -> None:
        """Release bytes that were held."""
        self.requests.release(payer, size)


class Cost:
    """What one request costs its payer: bytes that it holds until it ends, and CPU time outside of pools."""

    __slots__ = ("_budgets", "buffered", "payer")

    def __init__(self, budgets: Budgets, payer: Payer) -> None:
        self._budgets = budgets
        self.payer = payer
        self.buffered = 0
        """Bytes that the request holds."""

    def hold(self, size: int) -> None:
        """Hold more bytes. Raises OverBudget, Overloaded."""
        self._budgets.hold(self.payer, size)
        self.buffered += size

    def release(self) -> None:
        """Hold nothing any more."""
        buffered, self.buffered = self.buffered, 0
        if buffered:
            self._budgets.release(self.payer, buffered)

    def charge_cpu(self, seconds: float) -> None:
        """Charge CPU time. Raises OverBudget once it is used up."""
        self._budgets.charge_cpu(self.payer, seconds)
        self._budgets.check(self.payer)
