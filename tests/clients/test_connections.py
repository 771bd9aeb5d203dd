"""What happens to a bot when its connection or the server goes away and comes back."""

import asyncio
import importlib.util
import math
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import discord
import discord.backoff
import pytest
import yarl

from tests.clients.bots import Client, Harbour, cut, soon, until
from tests.clients.live import Server, World

AFTER_BACKOFF = 60.0
"""Seconds within which discord.py is back, which tries again every `BACKOFF` until the server answers."""
BACKOFF = 0.5


@pytest.fixture(autouse=True)
def _even_backoff(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let discord.py wait as long each time, where it would draw up to 2, then 4, then 8 seconds."""
    monkeypatch.setattr(discord.backoff.ExponentialBackoff, "delay", lambda _backoff: BACKOFF)


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def contents(client: Client) -> list[str]:
    """What every message that the client heard of says, in order."""
    return [message.content for (message,) in client.events("message")]


async def test_a_cut_connection_is_resumed_with_nothing_missed_or_doubled(harbour: Harbour) -> None:
    client, session_id = harbour.client, harbour.client.ws.session_id
    for round_number in range(3):
        resumed = soon(client, "resumed")
        await harbour.owner.say(harbour.channel.id, f"{round_number} before")
        cut(client)
        for number in range(5):
            await harbour.owner.say(harbour.channel.id, f"{round_number} meanwhile {number}")
        await resumed
        await harbour.owner.say(harbour.channel.id, f"{round_number} after")
    said = [message["content"] for message in await harbour.owner.get(f"/channels/{harbour.channel.id}/messages")][::-1]
    await until(lambda: len(contents(client)) >= len(said))
    assert contents(client) == said
    assert client.ws.session_id == session_id
    assert len(client.events("ready")) == 1
    assert len(client.events("resumed")) == 3


async def test_sends_under_way_when_the_connection_is_cut_are_heard_once(harbour: Harbour) -> None:
    client = harbour.client

    async def chatter() -> None:
        for number in range(40):
            await harbour.channel.send(str(number))

    talking = asyncio.create_task(chatter())
    for count in (5, 15, 25):
        await until(lambda count=count: len(contents(client)) >= count)  # type: ignore[misc]
        resumed = soon(client, "resumed")
        cut(client)
        await resumed
    await talking
    await until(lambda: len(contents(client)) >= 40)
    assert contents(client) == [str(number) for number in range(40)]


async def test_changes_made_meanwhile_are_in_the_caches_after_a_resume(harbour: Harbour) -> None:
    client, guild = harbour.client, harbour.guild
    resumed = soon(client, "resumed")
    cut(client)
    await harbour.owner.patch(f"/guilds/{guild.id}", {"name": "Renamed"})
    role = await harbour.owner.post(f"/guilds/{guild.id}/roles", {"name": "Late"})
    channel = await harbour.owner.post(f"/guilds/{guild.id}/channels", {"name": "late", "type": 0})
    await resumed
    await until(lambda: guild.get_channel(int(channel["id"])) is not None)
    assert guild.name == "Renamed"
    assert guild.get_role(int(role["id"])) is not None


async def test_a_session_that_is_gone_is_replaced_by_a_new_one(harbour: Harbour) -> None:
    client = harbour.client
    again = soon(client, "ready")
    client.ws.session_id = "0" * 32
    cut(client)
    await again
    assert client.ws.session_id != "0" * 32
    heard = soon(client, "message")
    await harbour.owner.say(harbour.channel.id, "still there?")
    assert (await heard).content == "still there?"
    assert len(client.guilds) == 1


async def test_a_client_that_comes_too_late_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    server = Server(tmp_path, gateway_resume_seconds="0", gateway_heartbeat_ms="1000")
    server.start()
    server.point_discord_py()
    try:
        async with aiohttp.ClientSession() as session, Harbour.opened(World(server, session)) as harbour:
            again = soon(harbour.client, "ready", seconds=AFTER_BACKOFF)
            old = harbour.client.ws.session_id
            connect = harbour.client.http.ws_connect

            async def late(url: str, *, compress: int = 0) -> aiohttp.ClientWebSocketResponse:
                await asyncio.sleep(3)
                return await connect(url, compress=compress)

            monkeypatch.setattr(harbour.client.http, "ws_connect", late)
            cut(harbour.client)
            await again
            assert harbour.client.ws.session_id != old
    finally:
        server.stop()


async def test_heartbeats_keep_a_quiet_connection_alive(tmp_path: Path) -> None:
    server = Server(tmp_path, gateway_heartbeat_ms="2000")
    server.start()
    server.point_discord_py()
    try:
        async with aiohttp.ClientSession() as session, Harbour.opened(World(server, session)) as harbour:
            client = harbour.client
            await harbour.owner.say(harbour.channel.id, "before")
            await asyncio.sleep(3.6)  # a client that stays silent for one and a half intervals is let go
            assert not client.events("disconnect")
            assert math.isfinite(client.latency), "no heartbeat was acknowledged"
            # What heartbeats acknowledged is forgotten, what came after them is not.
            await harbour.owner.say(harbour.channel.id, "after")
            resumed = soon(client, "resumed")
            cut(client)
            await harbour.owner.say(harbour.channel.id, "meanwhile")
            await resumed
            await until(lambda: len(contents(client)) >= 3)
            assert contents(client) == ["before", "after", "meanwhile"]
    finally:
        server.stop()


@pytest.mark.parametrize("kind", [signal.SIGTERM, signal.SIGKILL])
async def test_a_restarted_server_is_found_again_with_everything_that_it_acknowledged(
    tmp_path: Path, kind: signal.Signals
) -> None:
    server = Server(tmp_path)
    server.start()
    server.point_discord_py()
    try:
        async with aiohttp.ClientSession() as session, Harbour.opened(World(server, session)) as harbour:
            client, channel = harbour.client, harbour.channel
            said = [await channel.send(str(number)) for number in range(5)]
            again, disconnected = soon(client, "ready", seconds=AFTER_BACKOFF), soon(client, "disconnect")
            old = client.ws.session_id
            code = await asyncio.to_thread(server.stop, kind)
            assert code == (0 if kind is signal.SIGTERM else -signal.SIGKILL)
            await disconnected
            await asyncio.to_thread(server.start)
            await again
            assert client.ws.session_id != old
            assert [message.id async for message in channel.history(oldest_first=True)] == [sent.id for sent in said]
            heard = soon(client, "message", lambda message: message.content == "welcome back")
            await harbour.owner.say(channel.id, "welcome back")
            await heard
            assert [guild.id for guild in client.guilds] == [harbour.guild.id]
    finally:
        server.stop()


async def test_a_server_that_stops_lets_clients_go_with_a_code_to_resume_with(tmp_path: Path) -> None:
    server = Server(tmp_path)
    server.start()
    try:
        async with aiohttp.ClientSession() as session:
            world = World(server, session)
            bot = await world.bot(await world.person())
            url = yarl.URL(f"ws://localhost:{server.port}/gateway?v=10&encoding=json")
            async with session.ws_connect(url) as socket:
                assert (await socket.receive_json())["op"] == 10
                identify = {"token": bot.token, "intents": 1, "properties": {"os": "", "browser": "", "device": ""}}
                await socket.send_json({"op": 2, "d": identify})
                assert (await socket.receive_json())["t"] == "READY"
                stopping = asyncio.create_task(asyncio.to_thread(server.stop))
                assert (await socket.receive_json())["op"] == 7
                assert (await socket.receive()).type is aiohttp.WSMsgType.CLOSE
                assert socket.close_code == 4000
                assert await stopping == 0
    finally:
        server.stop()


@pytest.mark.parametrize("compress", ["zlib-stream", "zstd-stream"])
async def test_both_transport_compressions_carry_a_session(
    world: World, compress: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    requested: list[str] = []
    connect = discord.http.HTTPClient.ws_connect

    async def noted(http: discord.http.HTTPClient, url: str, **options: int) -> aiohttp.ClientWebSocketResponse:
        requested.append(yarl.URL(url).query["compress"])
        return await connect(http, url, **options)

    monkeypatch.setattr(discord.http.HTTPClient, "ws_connect", noted)
    if compress == "zlib-stream":
        # discord.py takes zstandard where it is installed: this is what it does where it is not.
        monkeypatch.setitem(sys.modules, "zstandard", None)
        spec = importlib.util.find_spec("discord.utils")
        assert spec is not None
        assert spec.loader is not None
        without = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(without)
        monkeypatch.setattr(discord.utils, "_ActiveDecompressionContext", without._ActiveDecompressionContext)
    async with Harbour.opened(world) as harbour:
        long = "tide " * 300
        for number in range(20):
            await harbour.owner.say(harbour.channel.id, f"{number} {long}")
        resumed = soon(harbour.client, "resumed")
        cut(harbour.client)
        await harbour.owner.say(harbour.channel.id, "last")
        await resumed
        await until(lambda: len(contents(harbour.client)) == 21)
        assert contents(harbour.client)[-1] == "last"
    assert requested == [compress, compress]
