"""Make guilds, channels, roles and threads until the server refuses, and go on asking."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Make things of four kinds in turn."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        own = f"{target.api}/guilds/{target.own_guild_id}"
        kind = number % 4
        name = f"flood {number}"
        if kind == 0:
            await send(session, "POST", f"{target.api}/guilds", token=target.token, json={"name": name})
        elif kind == 1:
            await send(session, "POST", f"{own}/channels", token=target.token, json={"name": name})
        elif kind == 2:
            await send(session, "POST", f"{own}/roles", token=target.token, json={"name": name})
        else:
            thread = {"name": name, "type": 11}
            await send(
                session, "POST", f"{target.api}/channels/{target.channel_id}/threads", token=target.token, json=thread
            )

    await flood(target, seconds, act)
