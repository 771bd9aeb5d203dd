"""Log in with wrong passwords, for names that exist and names that do not."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Try one wrong password after another."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        login = target.username if number % 2 else f"nobody-{number}"
        body = {"login": login, "password": f"wrong password {number}"}
        await send(session, "POST", f"{target.api}/auth/login", json=body)

    await flood(target, seconds, act)
