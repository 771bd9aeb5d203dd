"""Clients that reset their connections: others miss nothing, over real sockets, with each way of writing frames."""

import asyncio
import contextlib
import random

import pytest

from moothall.bus.local import LocalBus
from moothall.objects.intents import Intent
from tests.gateway.peer import message
from tests.gateway.raw_sockets import RawClient
from tests.support.served_gateways import serving

MESSAGES = 600
PATIENCE = 120


async def listen(url: str, token: str = "alice") -> RawClient:
    """A client that has identified and received its guild."""
    client = await RawClient.open(url)
    client.identify(token)
    await client.until("GUILD_CREATE")
    return client


async def reset_again_and_again(url: str, seed: int) -> None:
    """Identify, and reset the connection at some moment, until cancelled."""
    chance = random.Random(seed)
    while True:
        client = await RawClient.open(url)
        try:
            client.identify("bob")
            with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
                if chance.random() < 0.7:
                    await client.until("GUILD_CREATE")
                await asyncio.sleep(chance.random() * 0.02)
        finally:
            client.reset()


async def publish(bus: LocalBus, count: int) -> None:
    """Publish messages one after another, with time for clients to come and go."""
    for number in range(count):
        bus.publish([message(str(number))])
        if number % 3 == 0:
            await asyncio.sleep(0.001)


async def contents(client: RawClient, count: int) -> list[str]:
    """The next messages."""
    return [(await client.until("MESSAGE_CREATE"))["content"] for _ in range(count)]


@pytest.mark.parametrize("direct_writes", [True, False])
async def test_clients_that_reset_their_connections_make_no_other_miss_an_event(*, direct_writes: bool) -> None:
    async with serving(direct_writes=direct_writes) as (node, bus, url), asyncio.timeout(PATIENCE):
        listeners = [await listen(url) for _ in range(3)]
        resetting = [asyncio.create_task(reset_again_and_again(url, seed)) for seed in range(20)]
        received = [asyncio.create_task(contents(listener, MESSAGES)) for listener in listeners]
        await publish(bus, MESSAGES)
        expected = [str(number) for number in range(MESSAGES)]
        assert [await each for each in received] == [expected] * 3
        for task in resetting:
            task.cancel()
        await asyncio.gather(*resetting, return_exceptions=True)
        assert not node.hub._delivery_scheduled
        for listener in listeners:
            await listener.close()


@pytest.mark.parametrize("direct_writes", [True, False])
async def test_delivery_to_more_than_512_sessions_goes_on_after_half_of_them_were_reset(*, direct_writes: bool) -> None:
    unlimited = {"identifies_per_window": 0, "identifies_per_day": 0}
    async with serving(direct_writes=direct_writes, **unlimited) as (node, bus, url), asyncio.timeout(PATIENCE):
        doomed = [await RawClient.open(url) for _ in range(260)]
        others = [await RawClient.open(url) for _ in range(260)]
        for client in (*doomed, *others):
            client.identify("bot", intents=int(Intent.GUILDS | Intent.GUILD_MESSAGES | Intent.MESSAGE_CONTENT))
        for client in (*doomed, *others):
            await client.until("GUILD_CREATE")
        assert len(node.hub.sessions) == 520
        for client in doomed:
            client.reset()
        # In the turn in which the resets arrive, and those after it.
        for number in range(30):
            bus.publish([message(str(number))])
            await asyncio.sleep(0)
        expected = [str(number) for number in range(30)]
        for client in others:
            assert await contents(client, 30) == expected
        for client in others:
            await client.close()
