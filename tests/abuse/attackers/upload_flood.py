"""Upload files to a channel as fast as they are taken, many in a message, some broken off halfway."""

import os
from collections.abc import AsyncIterator

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_FILES = 10
_BYTES = 300_000


async def _half(data: bytes) -> AsyncIterator[bytes]:
    yield data
    raise ConnectionError


async def attack(target: Target, seconds: float) -> None:
    """Send messages with files."""
    data = os.urandom(_BYTES)
    url = f"{target.api}/channels/{target.channel_id}/messages"

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        form = aiohttp.FormData()
        for index in range(_FILES):
            form.add_field(f"files[{index}]", data, filename=f"{number}.bin")
        if number % 4 == 3:
            form = aiohttp.FormData()
            form.add_field("files[0]", _half(data), filename="half.bin")
        await send(session, "POST", url, token=target.token, data=form)

    await flood(target, seconds, act, lanes=8)
