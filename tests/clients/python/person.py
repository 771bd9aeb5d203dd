"""What the laws of every Python client share: the environment of test_python_clients.py, and a person over HTTP."""

import asyncio
import os
from collections.abc import Callable
from typing import Any

import aiohttp

URL = os.environ["MOOTHALL_URL"]
TOKEN = os.environ["BOT_TOKEN"]
APPLICATION_ID = os.environ["APPLICATION_ID"]
GUILD_ID = int(os.environ["GUILD_ID"])
CHANNEL_ID = int(os.environ["CHANNEL_ID"])
_SECONDS = 20.0


async def person(method: str, path: str, body: Any = None) -> Any:
    """A request of the person's; the parsed answer, None for one without a body."""
    headers = {"Authorization": os.environ["PERSON_TOKEN"]}
    async with (
        aiohttp.ClientSession() as session,
        session.request(method, f"{URL}/api/v10{path}", json=body, headers=headers) as answer,
    ):
        assert answer.status < 300, (method, path, answer.status, await answer.text())
        return await answer.json() if answer.status != 204 else None


async def interact(kind: int, data: dict[str, Any], **fields: Any) -> None:
    """Use a command or a component, as the person's client does."""
    where = {"guild_id": str(GUILD_ID), "channel_id": str(CHANNEL_ID)}
    await person(
        "POST", "/interactions", {"type": kind, "application_id": APPLICATION_ID, "data": data} | where | fields
    )


async def use_command(name: str, **values: Any) -> None:
    """Use a slash command of the application with options that are texts and integers."""
    listed = await person("GET", f"/guilds/{GUILD_ID}/application-command-index")
    command = next(each for each in listed["application_commands"] if each["name"] == name)
    types = {option["name"]: option["type"] for option in command.get("options", ())}
    options = [{"name": key, "type": types[key], "value": value} for key, value in values.items()]
    await interact(2, {"id": command["id"], "name": name, "type": 1, "options": options})


async def messages() -> list[dict[str, Any]]:
    """The messages of the channel, newest first."""
    listed: list[dict[str, Any]] = await person("GET", f"/channels/{CHANNEL_ID}/messages")
    return listed


async def message_where(check: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The newest message that a check admits, once there is one."""
    async with asyncio.timeout(_SECONDS):
        while True:
            for message in await messages():
                if check(message):
                    return message
            await asyncio.sleep(0.1)


async def content(text: str) -> dict[str, Any]:
    """The newest message with a content, once there is one."""
    return await message_where(lambda message: bool(message["content"] == text))
