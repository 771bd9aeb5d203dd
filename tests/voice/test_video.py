"""Cameras of browsers reach those in the room who want them, as long as their senders may stream."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import pytest

from tests.voice.client import Gateway
from tests.voice.conftest import Hall
from tests.voice.video_browser import BLUE, RED, VideoBrowser, sees

Join = Callable[..., Awaitable[VideoBrowser]]
STREAM = 1 << 9


@pytest.fixture
async def join(hall: Hall) -> AsyncIterator[Join]:
    """Lets a member join General by a browser with a camera."""
    async with AsyncExitStack() as stack:

        async def joined(gateway: Gateway, codec: str = "VP8") -> VideoBrowser:
            await gateway.join(hall.guild_id, hall.channels["General"], self_video=True)
            update = await gateway.event("VOICE_SERVER_UPDATE")
            return await stack.enter_async_context(VideoBrowser.joined(await hall.connection(), gateway, update, codec))

        yield joined


async def test_ready_has_an_ssrc_for_each_stream_that_is_asked_for(hall: Hall) -> None:
    alice = await hall.member()
    await alice.join(hall.guild_id, hall.channels["General"])
    voice = await hall.connection()
    streams = [{"type": "video", "rid": "50", "quality": 50}, {"type": "screen", "rid": "s", "quality": 100}]
    await voice.identify(alice, await alice.event("VOICE_SERVER_UPDATE"), video=True, streams=streams)
    ready = (await voice.message(2))["streams"]
    assert [(each["type"], each["rid"], each["quality"], each["active"]) for each in ready] == [
        ("video", "50", 50, False),
        ("screen", "s", 100, False),
    ]
    assert len({each[name] for each in ready for name in ("ssrc", "rtx_ssrc")}) == 4


@pytest.mark.parametrize("codec", ["VP8", "H264"])
async def test_a_camera_is_seen_as_soon_as_someone_comes_and_as_it_changes(hall: Hall, join: Join, codec: str) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice = await join(alice, codec)
    await of_alice.show()
    of_bob = await join(bob, codec)
    track = await of_bob.watch(alice.user_id)
    assert await sees(track, RED)
    of_alice.camera.colour = BLUE
    assert await sees(track, BLUE)


async def test_a_sender_hears_whether_anyone_wants_its_camera(hall: Hall, join: Join) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice = await join(alice)
    await of_alice.show()
    await of_alice.has_demand(0)
    of_bob = await join(bob)
    await of_alice.has_demand(100)
    await of_bob.voice.send(15, {"any": 0})
    await of_alice.has_demand(0)
    await of_bob.voice.send(15, {"any": 0, str(of_alice.stream["ssrc"]): 50})
    await of_alice.has_demand(100)


async def test_who_may_no_longer_stream_is_no_longer_seen(hall: Hall, join: Join) -> None:
    alice, bob = await hall.member(), await hall.member()
    of_alice, of_bob = await join(alice), await join(bob)
    await of_alice.show()
    track = await of_bob.watch(alice.user_id)
    assert await sees(track, RED)
    path = f"/channels/{hall.channels['General']}/permissions/{alice.user_id}"
    before = len(of_bob.voice.all(12))
    await hall.request("PUT", path, {"type": 1, "allow": "0", "deny": str(STREAM)})
    video = await of_bob.voice.message(12, skip=before)
    assert (video["user_id"], video["video_ssrc"], video["streams"]) == (alice.user_id, 0, [])
    of_alice.camera.colour = BLUE
    assert not await sees(track, BLUE, seconds=0.7)
    await hall.request("DELETE", path)
    assert (await of_bob.voice.message(12, skip=before + 1))["video_ssrc"]
    assert await sees(track, BLUE)


async def test_bots_are_told_nothing_of_cameras(hall: Hall, join: Join) -> None:
    alice = await hall.member()
    of_alice = await join(alice)
    of_bot, _ = await hall.in_voice(await hall.member())
    await of_alice.show()
    await of_alice.has_demand(0)
    of_bot_messages: list[Any] = of_bot.all(12)
    assert of_bot_messages == []
