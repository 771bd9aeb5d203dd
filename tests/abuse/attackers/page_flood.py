"""Load the pages for people, and paths that do not exist."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_PATHS = (
    "/login",
    "/register",
    "/",
    "/developers",
    "/reference",
    "/api/v10/openapi.json",
    "/nowhere/{n}",
    "/%2e%2e/{n}",
)


async def attack(target: Target, seconds: float) -> None:
    """Load one page after another."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        await send(session, "GET", target.url + _PATHS[number % len(_PATHS)].format(n=number))

    await flood(target, seconds, act)
