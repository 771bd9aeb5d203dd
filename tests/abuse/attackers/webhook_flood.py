"""Post through a webhook with ten full embeds each time, without an account."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_EMBED = {"title": "t" * 100, "description": "d" * 300, "fields": [{"name": "n", "value": "v"}] * 25}


async def attack(target: Target, seconds: float) -> None:
    """Post as fast as answers come."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        url = f"{target.url}{target.webhook_path}?wait={'true' if number % 2 else 'false'}"
        await send(session, "POST", url, json={"content": "flood", "embeds": [_EMBED] * 10})

    await flood(target, seconds, act)
