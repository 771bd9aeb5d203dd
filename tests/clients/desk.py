"""A person at their client, who raises what a discord.py bot answers."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import discord
from discord import app_commands

from tests.clients.bots import Client, Harbour, soon
from tests.clients.live import Person, World


class Desk:
    """A person at their client, and the bot that they deal with."""

    def __init__(self, harbour: Harbour, person: Person) -> None:
        self.harbour = harbour
        self.person = person
        made: Any = harbour.client._connection._command_tree
        self.tree: app_commands.CommandTree[Any] = made or app_commands.CommandTree(harbour.client)
        self.failed: list[BaseException] = []
        self._nonce = 0

        async def fail(_interaction: discord.Interaction, error: app_commands.AppCommandError) -> None:
            self.failed.append(error)

        self.tree.error(fail)

    @property
    def client(self) -> Client:
        return self.harbour.client

    @property
    def guild(self) -> discord.Guild:
        return self.harbour.guild

    async def sync(self) -> dict[str, dict[str, Any]]:
        """Register the tree's commands; what the person's client then lists, by name."""
        await self.tree.sync()
        index = await self.person.get(f"/channels/{self.harbour.channel.id}/application-command-index")
        return {command["name"]: command for command in index["application_commands"]}

    async def raise_(self, kind: int, data: dict[str, Any], **more: Any) -> None:
        self._nonce += 1
        body = {
            "type": kind,
            "application_id": str(self.harbour.bot.application_id),
            "guild_id": str(self.guild.id),
            "channel_id": str(self.harbour.channel.id),
            "nonce": str(self._nonce),
            "data": data,
        }
        await self.person.post("/interactions", body | more)

    async def use(self, command: dict[str, Any], options: list[Any] | None = None, **data: Any) -> None:
        fields = {"id": command["id"], "type": command["type"], "version": command["version"]}
        await self.raise_(2, fields | ({} if options is None else {"options": options}) | data)

    async def click(self, message: discord.Message, custom_id: str, kind: int = 2, values: Any = None) -> None:
        data = {"custom_id": custom_id, "component_type": kind} | ({} if values is None else {"values": values})
        await self.raise_(3, data, message_id=str(message.id))

    async def said(self) -> discord.Message:
        """The next message of the bot in the channel."""
        message: discord.Message = await soon(self.client, "message")
        return message


@asynccontextmanager
async def opened(world: World) -> AsyncIterator[Desk]:
    """A guild with a bot online in it, and a member at their client."""
    async with Harbour.opened(world) as harbour:
        yield Desk(harbour, await harbour.guest())


def option(kind: int, name: str, value: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "value": value}


async def answered(desk: Desk, request: Any, done: "asyncio.Future[Any]") -> Any:
    await request
    result = await asyncio.wait_for(done, 30)
    assert desk.failed == []
    return result
