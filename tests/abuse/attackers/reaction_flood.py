"""Add and take back reactions on one message."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_EMOJIS = ("%F0%9F%91%8D", "%F0%9F%8E%89", "%E2%9D%A4", "%F0%9F%94%A5")


async def attack(target: Target, seconds: float) -> None:
    """React to the newest message of the channel, which is looked up once."""
    message_id = ""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        nonlocal message_id
        messages = f"{target.api}/channels/{target.channel_id}/messages"
        if not message_id:
            async with session.get(f"{messages}?limit=1", headers=target.authorized) as response:
                messages_page = await response.json()
                if response.status == 200 and messages_page:
                    message_id = messages_page[0]["id"]
            return
        url = f"{messages}/{message_id}/reactions/{_EMOJIS[number // 2 % 4]}/@me"
        await send(session, "DELETE" if number % 2 else "PUT", url, token=target.token)

    await flood(target, seconds, act)
