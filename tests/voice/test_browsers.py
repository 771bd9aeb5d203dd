"""Browsers speak and listen by WebRTC, with each other and with bots."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack

import pytest

from tests.voice.browser import Browser, frames
from tests.voice.client import Gateway
from tests.voice.conftest import Hall

Join = Callable[[Gateway], Awaitable[Browser]]


@pytest.fixture
async def join(hall: Hall) -> AsyncIterator[Join]:
    """Lets a member join General by a browser."""
    async with AsyncExitStack() as stack:

        async def joined(gateway: Gateway) -> Browser:
            before = gateway.count("VOICE_SERVER_UPDATE")
            await gateway.join(hall.guild_id, hall.channels["General"])
            update = await gateway.event("VOICE_SERVER_UPDATE", skip=before)
            browser = await stack.enter_async_context(Browser.joined(await hall.connection(), gateway, update))
            await browser.is_connected()
            return browser

        yield joined


async def test_two_browsers_hear_each_other(hall: Hall, join: Join) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice, of_bob = await join(alice), await join(bob)
    from_bob = await of_alice.listens_to(bob.user_id)
    from_alice = await of_bob.listens_to(alice.user_id)
    assert from_alice == of_alice.voice.ready["ssrc"]

    await of_alice.voice.send(5, {"speaking": 1, "delay": 0, "ssrc": from_alice})
    assert (await of_bob.voice.message(5))["ssrc"] == from_alice
    of_alice.say(*frames(20, "alice"))
    of_bob.say(*frames(20, "bob"))

    await of_bob.hears(from_alice, frames(20, "alice"))
    await of_alice.hears(from_bob, frames(20, "bob"))


async def test_a_browser_and_a_bot_hear_each_other(hall: Hall, join: Join) -> None:
    alice, bot = await hall.member(), await hall.member()
    of_alice = await join(alice)
    of_bot, _ = await hall.in_voice(bot)
    from_bot = await of_alice.listens_to(bot.user_id)

    for number, frame in enumerate(frames(20)):
        of_bot.say(frame, sequence=65_530 + number & 0xFFFF)
    await of_alice.hears(from_bot, frames(20))
    of_alice.say(*frames(20))
    assert [await of_bot.hear() for _ in range(20)] == [(of_alice.voice.ready["ssrc"], each) for each in frames(20)]
