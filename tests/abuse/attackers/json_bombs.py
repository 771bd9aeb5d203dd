"""Send bodies of very many values, deep ones, and ones with an error in each value."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


async def attack(target: Target, seconds: float) -> None:
    """Send each body to endpoints of every kind, one that takes no account among them."""
    bombs = [
        b'{"name": "bomb", "channels": [' + b"1," * 7_000_000 + b"1]}",
        b'{"name": "bomb", "roles": [' + b"{}," * 40_000 + b"1]}",
        b'{"name": "bomb", "roles": [' + b'{"name":1},' * 5_000 + b"1]}",
        b'{"content": ' + b"[" * 900_000 + b"]" * 900_000 + b"}",
        b'{"embeds": [' + b'{"fields":[{},{},{}]},' * 2_500 + b"1]}",
        b'{"content": "' + b'\\"' * 900_000 + b'"}',
    ]
    headers = {"Content-Type": "application/json"}

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        bomb = bombs[number % len(bombs)]
        places = (
            f"{target.api}/guilds",
            f"{target.api}/channels/{target.channel_id}/messages",
            f"{target.url}{target.webhook_path}",
            f"{target.api}/auth/login",
        )
        await send(session, "POST", places[number % len(places)], token=target.token, data=bomb, headers=headers)

    await flood(target, seconds, act, lanes=8)
