"""Register account after account."""

import secrets

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Register names that are free, with passwords that are strong enough to be hashed."""

    async def act(session: aiohttp.ClientSession, _number: int) -> None:
        name = f"robot_{secrets.token_hex(6)}"
        body = {"username": name, "password": secrets.token_urlsafe(24), "email": f"{name}@robots.example"}
        await send(session, "POST", f"{target.api}/auth/register", json=body)

    await flood(target, seconds, act)
