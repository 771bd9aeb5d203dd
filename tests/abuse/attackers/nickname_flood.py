"""Change one's own nickname, avatar and profile all the time: each change goes to all sessions of the guild."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Change the nickname, and the display name, in turn."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        if number % 2:
            body: dict[str, object] = {"nick": f"name {number}"}
            await send(
                session, "PATCH", f"{target.api}/guilds/{target.guild_id}/members/@me", token=target.token, json=body
            )
        else:
            body = {"global_name": f"name {number}"}
            await send(session, "PATCH", f"{target.api}/users/@me", token=target.token, json=body)

    await flood(target, seconds, act)
