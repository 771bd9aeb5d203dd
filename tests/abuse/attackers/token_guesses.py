"""Guess tokens of people, bots and webhooks, ids of interactions, and codes of invites."""

import secrets

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Guess as fast as answers come."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        guess = secrets.token_urlsafe(24)
        kind = number % 4
        if kind == 0:
            await send(session, "GET", f"{target.api}/users/@me", token=guess)
        elif kind == 1:
            await send(session, "GET", f"{target.api}/users/@me", token=f"Bot {guess}")
        elif kind == 2:
            await send(session, "GET", f"{target.api}/webhooks/{target.guild_id}/{guess}")
        else:
            await send(session, "GET", f"{target.api}/invites/{guess[:8]}")

    await flood(target, seconds, act)
