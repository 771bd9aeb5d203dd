"""Post links to private addresses, to hosts that never answer, and to many hosts, for the server to fetch."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_LINKS = (
    "http://127.0.0.1:{n}/",
    "http://[::ffff:127.0.0.1]/{n}",
    "http://0x7f.1/{n}",
    "http://169.254.169.254/latest/{n}",
    "http://nowhere-{n}.invalid/",
)


async def attack(target: Target, seconds: float) -> None:
    """Post five links in each message."""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        content = " ".join(link.format(n=1024 + number % 40000) for link in _LINKS)
        url = f"{target.api}/channels/{target.channel_id}/messages"
        await send(session, "POST", url, token=target.token, json={"content": content})

    await flood(target, seconds, act, lanes=8)
