"""Say that one types, in a channel that everybody reads, without ever writing."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Trigger the typing indicator as fast as answers come."""

    async def act(session: aiohttp.ClientSession, _number: int) -> None:
        await send(session, "POST", f"{target.api}/channels/{target.channel_id}/typing", token=target.token)

    await flood(target, seconds, act)
