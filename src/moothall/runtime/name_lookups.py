"""Looking up the addresses of host names, in threads that neither a domain nor an account takes from the others."""

import asyncio
import socket
from collections.abc import Hashable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from functools import partial
from typing import Any

from moothall.runtime.budgets import Overloaded
from moothall.runtime.fair_slots import FairSlots
from moothall.runtime.lanes import SERVER_LANE, current_lane

AddressInfo = tuple[int, int, int, str, tuple[Any, ...]]
"""An address as getaddrinfo returns it: family, type, protocol, canonical name, socket address."""


class NameLookups:
    """Looks names up in `threads`, of which a domain has at most `each`, and so has an account or network.

    A lookup cannot be stopped, and lasts for as long as the domain's name servers let it, half a minute and more. So
    those whose caller has given up count too: at most `waiting_max` run or wait, `waiting_each` of one domain and of
    one account. The account is that of the lane (`runtime/lanes.py`); what the server does by itself has none.
    """

    def __init__(self, *, threads: int = 8, each: int = 2, waiting_max: int = 128, waiting_each: int = 16) -> None:
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="looking-up")
        self._slots = FairSlots(threads, each=each, waiting_max=waiting_max, waiting_each=waiting_each)
        self._lanes = FairSlots(waiting_max, each=each, waiting_max=waiting_max, waiting_each=waiting_each)
        """Held by those who look up for an account, besides a slot of the domain."""

    @property
    def waiting(self) -> int:
        """How many lookups run or wait."""
        return max(self._slots.waiting, self._lanes.waiting)

    async def look_up(
        self, host: str, port: int, *, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[AddressInfo]:
        """The addresses of a host. Raises OSError, also if too many lookups run or wait already."""
        task = asyncio.get_running_loop().create_task(self._look_up(host, port, family, current_lane()))
        task.add_done_callback(_retrieve)
        return await asyncio.shield(task)

    async def _look_up(self, host: str, port: int, family: socket.AddressFamily, lane: Hashable) -> list[AddressInfo]:
        work = partial(socket.getaddrinfo, host, port, family=family, type=socket.SOCK_STREAM)
        try:
            of_lane = nullcontext() if lane is SERVER_LANE else self._lanes.slot(lane)
            async with of_lane, self._slots.slot(domain_of(host)):
                return [*await asyncio.get_running_loop().run_in_executor(self._threads, work)]
        except Overloaded:
            raise OSError("too many names are being looked up") from None


def domain_of(host: str) -> str:
    """The last two labels of a name, whose owner, or that of the zone above, chooses all names below."""
    return ".".join(host.rstrip(".").lower().split(".")[-2:])


def _retrieve(task: "asyncio.Task[list[AddressInfo]]") -> None:
    """Mark the exception of a lookup whose caller has given up as retrieved."""
    if not task.cancelled():
        task.exception()
