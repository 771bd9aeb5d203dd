"""Delays of refusals: on a busy server, who goes on asking after many responses of 401 and 429 is answered later.

A client that waits as it is told never meets one. One that does not would cost the server as much as it can send. With
its responses delayed it sends as many requests as it has connections, and others do not notice it (decision 36).
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Final

from moothall.objects.clock import CLOCK
from moothall.runtime.budgets import Allowance, OverBudget, Payer, Rates
from moothall.runtime.turns import is_busy

_AT_ONCE: Final = Allowance(capacity=30, per_second=3)
"""Refusals of an account, or of a network without one, that are sent at once."""
_OF_NETWORK: Final = _AT_ONCE.times(8)
"""The same of all accounts of a network together."""
_MAX_SECONDS: Final = 2.0
"""The longest delay: shorter than any client's patience."""
_DELAYED_MAX: Final = 4096
_DELAYED_OF_PAYER: Final = 64
"""How many refusals are delayed at a time, in all and of one payer. What is beyond them is sent at once."""


class RefusalDelays:
    """Counts the refusals of accounts and networks, and delays those of who does not stop while the server is busy."""

    def __init__(
        self,
        *,
        loopback_multiplier: int = 20,
        clock: Callable[[], float] = CLOCK.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        busy: Callable[[], bool] = is_busy,
    ) -> None:
        self._busy = busy
        self._sleep = sleep
        self._rates = Rates(
            account=_AT_ONCE,
            network=_OF_NETWORK,
            anonymous=_AT_ONCE,
            loopback_multiplier=loopback_multiplier,
            clock=clock,
        )
        self._delayed: dict[Hashable, int] = {}
        self._delayed_in_all = 0

    async def delay(self, payer: Payer) -> None:
        """Count a refusal, and return once it may be sent: at once, or after two seconds at most."""
        seconds = self._seconds(payer)
        lane = payer.lane
        delayed = self._delayed.get(lane, 0)
        if not seconds or not self._busy() or delayed >= _DELAYED_OF_PAYER or self._delayed_in_all >= _DELAYED_MAX:
            return
        self._delayed[lane] = delayed + 1
        self._delayed_in_all += 1
        try:
            await self._sleep(seconds)
        finally:
            self._delayed_in_all -= 1
            if self._delayed[lane] == 1:
                del self._delayed[lane]
            else:
                self._delayed[lane] -= 1

    def _seconds(self, payer: Payer) -> float:
        """Seconds until the payer is to hear of a refusal."""
        try:
            self._rates.spend(payer)
        except OverBudget as refused:
            return min(refused.seconds, _MAX_SECONDS)
        return 0.0
