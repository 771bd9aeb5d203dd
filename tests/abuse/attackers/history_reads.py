"""Read all of a channel's history, a hundred messages at a time, from ever other places."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Read pages around ids that differ each time."""
    newest = int(target.channel_id) + (1 << 40)

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        url = f"{target.api}/channels/{target.channel_id}/messages?limit=100&before={newest + (number << 20)}"
        await send(session, "GET", url, token=target.token)

    await flood(target, seconds, act)
