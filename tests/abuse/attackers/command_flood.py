"""Overwrite all commands of an application with a hundred others, each as large as is allowed."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


def _commands(number: int) -> list[dict[str, object]]:
    options = [
        {
            "type": 3,
            "name": f"option{index}",
            "description": "d" * 100,
            "choices": [{"name": f"c{choice}", "value": "v" * 100} for choice in range(25)],
        }
        for index in range(10)
    ]
    return [
        {"name": f"command{number % 7}x{index}", "description": "d" * 100, "options": options} for index in range(100)
    ]


async def attack(target: Target, seconds: float) -> None:
    """Overwrite commands as fast as answers come, four at once."""
    application_id = ""

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        nonlocal application_id
        if not application_id:
            headers = {**target.headers, "Authorization": target.bot_token}
            async with session.get(f"{target.api}/applications/@me", headers=headers) as response:
                if response.status == 200:
                    application_id = (await response.json())["id"]
            return
        url = f"{target.api}/applications/{application_id}/commands"
        await send(session, "PUT", url, token=target.bot_token, json=_commands(number))

    await flood(target, seconds, act, lanes=4)
