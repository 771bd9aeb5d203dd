"""Doing one thing again and again, many times at once, until a time has passed."""

import asyncio
import itertools
from collections.abc import Awaitable, Callable

import aiohttp

from tests.abuse.target import Target

_PATIENCE = aiohttp.ClientTimeout(total=30)
_PAUSE = 0.02
"""Seconds that a lane waits after a failure, so that a closed port does not become a busy loop of the attacker."""

Act = Callable[[aiohttp.ClientSession, int], Awaitable[None]]


async def flood(target: Target, seconds: float, act: Act, *, lanes: int = 16) -> None:
    """Call `act` with a session and a counter, `lanes` at once; failures of the connection are what is expected."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    counter = itertools.count()
    connector = aiohttp.TCPConnector(limit=0)

    async def lane(session: aiohttp.ClientSession) -> None:
        while loop.time() < end:
            try:
                await act(session, next(counter))
            except (aiohttp.ClientError, TimeoutError, OSError):
                await asyncio.sleep(_PAUSE)

    async with aiohttp.ClientSession(connector=connector, headers=target.headers, timeout=_PATIENCE) as session:
        tasks = [asyncio.create_task(lane(session)) for _ in range(lanes)]
        _, late = await asyncio.wait(tasks, timeout=seconds + 5)
        for task in late:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result


async def send(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    *,
    token: str | None = None,
    json: object = None,
    data: object = None,
    headers: dict[str, str] | None = None,
) -> int:
    """Send a request and read its answer to the end; the status."""
    sent = dict(headers or {})
    if token is not None:
        sent["Authorization"] = token
    async with session.request(method, url, json=json, data=data, headers=sent) as response:
        await response.read()
        return response.status
