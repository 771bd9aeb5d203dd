"""Count, again and again, how many members of one's own guild a prune would remove."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Ask for the count with another number of days each time, so that nothing is answered from a cache."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        url = f"{target.api}/guilds/{target.own_guild_id}/prune?days={1 + number % 30}"
        await send(session, "GET", url, token=target.token)

    await flood(target, seconds, act)
