"""Write the longest messages that are allowed into a channel that everybody reads."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_TEXTS = (">" * 2000, "*a_" * 666, "`" * 2000, "@everyone " * 200, "https://example.com/ " * 95, "\u202e" * 2000)


async def attack(target: Target, seconds: float) -> None:
    """Write as a person and as a bot in turn."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        token = (target.token, target.bot_token)[number % 2]
        body = {"content": _TEXTS[number % len(_TEXTS)]}
        await send(session, "POST", f"{target.api}/channels/{target.channel_id}/messages", token=token, json=body)

    await flood(target, seconds, act)
