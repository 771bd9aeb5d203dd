"""The same bot on either database."""

from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import discord
import pytest

from tests.clients.bots import Client, Harbour, online, soon, until
from tests.clients.live import Server, World


@pytest.fixture
async def harbour(tmp_path: Path, database_url: str) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it, on a server of its own."""
    server = Server(tmp_path, database_url=database_url)
    server.start()
    server.point_discord_py()
    try:
        async with aiohttp.ClientSession() as session, Harbour.opened(World(server, session)) as opened:
            yield opened
    finally:
        server.stop()


async def test_a_bot_moderates_and_finds_it_all_again(harbour: Harbour) -> None:
    guild, channel = harbour.guild, harbour.channel
    guest = await harbour.guest()
    role = await guild.create_role(name="Pilot", colour=discord.Colour(0x3366FF), reason="needed")
    made = await guild.create_text_channel("berths", category=channel.category, topic="Who lies where")
    await made.set_permissions(role, send_messages=False)
    member = await guild.fetch_member(guest.id)
    await member.add_roles(role)
    await member.edit(nick="Skipper")
    said = [await channel.send(str(number), embed=discord.Embed(title=str(number))) for number in range(3)]
    await said[0].add_reaction("⚓")
    await said[1].edit(content="edited")
    await said[2].pin()
    heard = soon(harbour.client, "message", lambda message: message.author.id == guest.id)
    await guest.say(channel.id, "aye")
    assert (await heard).content == "aye"
    await until(lambda: made.overwrites_for(role).send_messages is False)

    async with online(Client(), harbour.bot) as other:
        again = other.guilds[0]
        assert {c.id: (c.name, c.position, c.overwrites) for c in again.channels} == {
            c.id: (c.name, c.position, c.overwrites) for c in guild.channels
        }
        assert {(r.id, r.name, r.position, r.colour, r.permissions) for r in again.roles} == {
            (r.id, r.name, r.position, r.colour, r.permissions) for r in guild.roles
        }
        assert {(m.id, m.nick, tuple(m.roles)) for m in again.members} == {
            (m.id, m.nick, tuple(m.roles)) for m in guild.members
        }
        there = again.get_channel(channel.id)
        assert isinstance(there, discord.TextChannel)
        last_notice, *_ = history = [message async for message in there.history(limit=5)]
        assert last_notice.content == "aye"
        assert [message.content for message in history[2:]] == ["2", "edited", "0"]
        assert [(str(reaction.emoji), reaction.me) for reaction in history[4].reactions] == [("⚓", True)]
        assert [entry.reason async for entry in again.audit_logs(action=discord.AuditLogAction.role_create)][:1] == [
            "needed"
        ]
