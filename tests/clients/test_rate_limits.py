"""discord.py's own handling of rate limits, against a server that limits clients on this machine like any others."""

import asyncio
import time
from collections import Counter
from types import SimpleNamespace

import aiohttp
import discord
import pytest

from tests.clients.bots import Client, Harbour, online, until
from tests.clients.live import World


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    """No generosity for loopback, and few requests a second for each account."""
    return {"rate_limit_loopback_factor": "1", "rate_limit_global": "20"}


def counting(counts: Counter[int]) -> aiohttp.TraceConfig:
    """Counts answers by status, as they come in below discord.py."""
    trace = aiohttp.TraceConfig()

    async def note(_: aiohttp.ClientSession, __: SimpleNamespace, end: aiohttp.TraceRequestEndParams) -> None:
        counts[end.response.status] += 1

    trace.on_request_end.append(note)
    return trace


async def test_a_burst_of_sends_waits_and_arrives_whole_and_in_order(world: World) -> None:
    counts: Counter[int] = Counter()
    async with Harbour.opened(world, http_trace=counting(counts)) as harbour:
        began = time.monotonic()
        for number in range(15):
            await harbour.channel.send(str(number))
        assert time.monotonic() - began > 1, "nothing was limited"
        history = [message.content async for message in harbour.channel.history(limit=None, oldest_first=True)]
        assert history == [str(number) for number in range(15)]
        await until(lambda: len(harbour.client.events("message")) == 15)
        assert [message.content for (message,) in harbour.client.events("message")] == history
        # It heeds the headers of every answer, and so is never refused.
        assert counts[429] == 0


async def test_a_refused_request_is_repeated_after_the_time_that_the_refusal_names(world: World) -> None:
    counts: Counter[int] = Counter()
    async with (
        Harbour.opened(world, http_trace=counting(counts)) as harbour,
        online(Client(http_trace=counting(counts)), harbour.bot) as twin,
    ):
        channel = twin.get_channel(harbour.channel.id)
        assert isinstance(channel, discord.TextChannel)

        # Two processes of one bot share their limits and know nothing of each other.
        async def burst(where: discord.TextChannel, name: str) -> None:
            for number in range(8):
                await where.send(f"{name} {number}")

        await asyncio.gather(burst(harbour.channel, "first"), burst(channel, "second"))
        assert counts[429] > 0
        said = [message.content async for message in channel.history(limit=None, oldest_first=True)]
        for name in ("first", "second"):
            assert [text for text in said if text.startswith(name)] == [f"{name} {number}" for number in range(8)]
        assert len(said) == 16


async def test_the_global_limit_stops_every_route_at_once(world: World) -> None:
    counts: Counter[int] = Counter()
    async with Harbour.opened(world, http_trace=counting(counts)) as harbour:
        channels = [await harbour.guild.create_text_channel(f"channel-{number}") for number in range(9)]
        await asyncio.sleep(1)
        rounds = 0
        # On a busy machine, sending may be so slow that it stays within the limit.
        while not counts[429] and rounds < 10:
            sent = await asyncio.gather(*(channel.send(str(n)) for channel in channels for n in range(4)))
            assert len({message.id for message in sent}) == 36
            rounds += 1
        assert counts[429] > 0
        for channel in channels:
            assert len([message async for message in channel.history()]) == 4 * rounds


async def test_a_refusal_says_how_long_to_wait_in_every_place_that_libraries_read(world: World) -> None:
    async with Harbour.opened(world) as harbour, aiohttp.ClientSession() as session:
        url = f"{world.server.url}/api/v10/channels/{harbour.channel.id}/messages"
        headers = {"Authorization": f"Bot {harbour.bot.token}"}
        refusals = []
        for number in range(12):
            async with session.post(url, json={"content": str(number)}, headers=headers) as answer:
                if answer.status == 429:
                    refusals.append((await answer.json(), answer.headers.copy()))
        assert refusals
        for body, answer_headers in refusals:
            assert body.keys() >= {"message", "retry_after", "global"}
            assert body["global"] is False
            assert 0 < body["retry_after"] <= 5
            assert body["retry_after"] <= int(answer_headers["Retry-After"])
            assert answer_headers["X-RateLimit-Remaining"] == "0"
            assert answer_headers["X-RateLimit-Scope"] == "user"
            assert "Via" in answer_headers
