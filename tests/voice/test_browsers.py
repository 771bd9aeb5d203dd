"""Browsers speak and listen by WebRTC, with each other and with bots."""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.voice.browser import Browser, frames
from tests.voice.client import SOON, Gateway
from tests.voice.conftest import Hall
from tests.voice.processes import voice_processes

Join = Callable[..., Awaitable[Browser]]


@pytest.fixture
async def join(hall: Hall) -> AsyncIterator[Join]:
    """Lets a member join General by a browser."""
    async with AsyncExitStack() as stack:

        async def joined(gateway: Gateway, update: Any = None) -> Browser:
            if update is None:
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


async def test_a_muted_member_is_not_heard_and_is_again_afterwards(hall: Hall, join: Join) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice, of_bob = await join(alice), await join(bob)
    from_alice = await of_bob.listens_to(alice.user_id)
    of_alice.say(b"\xfcbefore")
    await of_bob.hears(from_alice, [b"\xfcbefore"])

    path = f"/guilds/{hall.guild_id}/members/{alice.user_id}"
    await hall.request("PATCH", path, {"mute": True})
    await alice.event("VOICE_STATE_UPDATE", skip=alice.count("VOICE_STATE_UPDATE") - 1)
    await asyncio.sleep(0.1)
    of_alice.say(*frames(5, "muted"))
    await asyncio.sleep(0.2)
    await hall.request("PATCH", path, {"mute": False})
    async with asyncio.timeout(SOON):
        while (from_alice, b"\xfcafter") not in of_bob.heard:
            of_alice.say(b"\xfcafter")
            await asyncio.sleep(0.02)
    assert not [each for _, each in of_bob.heard if each in frames(5, "muted")]


async def test_sound_returns_after_the_voice_process_was_killed(hall: Hall, join: Join) -> None:
    alice, bob = await hall.member(), await hall.member()
    await join(alice)
    await join(bob)
    before = {each.user_id: each.count("VOICE_SERVER_UPDATE") for each in (alice, bob)}
    (pid,) = voice_processes(hall.server)

    os.kill(pid, signal.SIGKILL)
    async with asyncio.timeout(SOON):
        updates = [await each.event("VOICE_SERVER_UPDATE", skip=before[each.user_id]) for each in (alice, bob)]
        of_alice, of_bob = await join(alice, updates[0]), await join(bob, updates[1])
        from_alice = await of_bob.listens_to(alice.user_id)
        of_alice.say(*frames(5))
        await of_bob.hears(from_alice, frames(5))


async def test_a_browser_gets_the_messages_of_end_to_end_encryption_and_one_without_ends_it(hall: Hall) -> None:
    async with AsyncExitStack() as stack:
        voices = []
        for version in (1, 0):
            member = await hall.member()
            await member.join(hall.guild_id, hall.channels["General"])
            update = await member.event("VOICE_SERVER_UPDATE")
            voice = await hall.connection()
            joined = Browser.joined(voice, member, update, max_dave_protocol_version=version)
            await stack.enter_async_context(joined)
            voices.append(voice)
        able, unable = voices
        assert able.all(4)[0]["dave_protocol_version"] == 1
        assert [op for op, _ in able.binary] == [25]
        assert unable.all(4)[0]["dave_protocol_version"] == 0
        assert (await able.message(21))["protocol_version"] == 0


async def test_a_client_without_a_description_is_closed(hall: Hall) -> None:
    alice = await hall.member()
    await alice.join(hall.guild_id, hall.channels["General"])
    voice = await hall.connection()
    await voice.identify(alice, await alice.event("VOICE_SERVER_UPDATE"))
    await voice.message(2)
    await voice.send(1, {"protocol": "webrtc", "data": "a=ice-ufrag:abcd"})
    assert await voice.closed() == 4020
