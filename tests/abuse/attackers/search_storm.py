"""Search a guild for one word after another, common and rare, with every filter."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_QUERIES = (
    "content=the",
    "content=hello&sort_by=relevance",
    "content=a%20b%20c%20d%20e%20f%20g%20h",
    "has=link&has=embed&has=file",
    "mentions={user}&offset=9975",
    "author_id={user}&min_id=0&limit=25",
)


async def attack(target: Target, seconds: float) -> None:
    """Search as fast as answers come."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        query = _QUERIES[number % len(_QUERIES)].format(user=target.user_id)
        url = f"{target.api}/guilds/{target.guild_id}/messages/search?{query}"
        await send(session, "GET", url, token=target.token)

    await flood(target, seconds, act)
