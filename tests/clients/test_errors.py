"""Refusals reach bots as discord.py's own exceptions, with the public codes."""

from collections.abc import AsyncIterator, Awaitable, Callable

import discord
import pytest

from tests.clients.bots import Client, Harbour, online
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it that may see and write, nothing else."""
    async with Harbour.opened(
        world, permissions=discord.Permissions(view_channel=True, send_messages=True).value
    ) as opened:
        yield opened


async def test_what_a_bot_may_not_do_is_forbidden(harbour: Harbour) -> None:
    guild, channel = harbour.guild, harbour.channel
    refused: list[Callable[[], Awaitable[object]]] = [
        lambda: guild.create_role(name="x"),
        lambda: guild.create_text_channel("x"),
        lambda: guild.edit(name="xx"),
        lambda: guild.kick(discord.Object(harbour.owner.id)),
        lambda: guild.ban(discord.Object(harbour.owner.id)),
        lambda: channel.edit(name="x"),
        lambda: channel.create_webhook(name="x"),
        lambda: guild.default_role.edit(hoist=True),
        guild.invites,
    ]
    for attempt in refused:
        with pytest.raises(discord.Forbidden) as error:
            await attempt()
        assert (error.value.status, error.value.code) == (403, 50013)


async def test_the_owner_is_above_every_bot(world: World) -> None:
    async with Harbour.opened(world) as harbour:
        member = harbour.guild.get_member(harbour.owner.id)
        assert member is not None
        for attempt in (member.edit(nick="x"), member.kick(), member.ban()):
            with pytest.raises(discord.Forbidden) as error:
                await attempt
            assert error.value.code == 50013


async def test_what_does_not_exist_is_not_found(harbour: Harbour) -> None:
    client, guild, channel = harbour.client, harbour.guild, harbour.channel
    missing: list[tuple[Callable[[], Awaitable[object]], int]] = [
        (lambda: channel.fetch_message(1), 10008),
        (lambda: client.fetch_channel(1), 10003),
        (lambda: client.fetch_guild(1), 10004),
        (lambda: client.fetch_user(1), 10013),
        (lambda: guild.fetch_member(1), 10007),
        (lambda: guild.fetch_role(1), 10011),
        (lambda: client.fetch_invite("nowhere"), 10006),
        (lambda: client.fetch_webhook(1), 10015),
    ]
    for attempt, code in missing:
        with pytest.raises(discord.NotFound) as error:
            await attempt()
        assert (error.value.status, error.value.code) == (404, code)


async def test_a_bad_form_names_every_field(harbour: Harbour) -> None:
    with pytest.raises(discord.HTTPException) as error:
        await harbour.channel.send(
            "x" * 2001, embed=discord.Embed(title="y" * 257).add_field(name="z" * 257, value="z")
        )
    assert (error.value.status, error.value.code) == (400, 50035)
    for field in ("content", "embeds.0.title", "embeds.0.fields.0.name"):
        assert f"In {field}: " in error.value.text


async def test_a_guild_that_the_bot_is_not_in_does_not_exist_for_it(world: World) -> None:
    stranger = await world.person()
    guild_id = await world.guild(stranger)
    channel_id = await world.text_channel(stranger, guild_id)
    async with online(Client(), await world.bot(stranger)) as client:
        with pytest.raises(discord.NotFound) as guild_error:
            await client.fetch_guild(guild_id)
        assert guild_error.value.code == 10004
        with pytest.raises(discord.Forbidden) as channel_error:
            await client.fetch_channel(channel_id)
        assert channel_error.value.code == 50001
