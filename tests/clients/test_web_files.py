"""Files in the client for people: the progress of an upload, and players for sound and video."""

import base64
import json
import re
from typing import Any

import aiohttp
import pytest
from playwright.async_api import Browser, FilePayload, Locator, Route, expect

from tests.clients.client_pages import AXE, TIMEOUT_MS, Account, ClientPage
from tests.clients.live import CLIP, Person, World
from tests.resources.soundboard.sound_files import opus

SIZE = 9 << 20
"""Bytes of a file that is being sent."""
SLOW = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": SIZE / 600}
"""A connection that needs ten minutes for it."""
IS_VOICE_MESSAGE = 1 << 13


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def open_channel(browser: Browser, world: World, **options: Any) -> tuple[Person, int, ClientPage]:
    """The owner of a new guild, its channel, and the owner's client there."""
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    account = Account(str(owner.id), owner.token)
    path = f"/channels/{guild_id}/{channel_id}"
    client = await ClientPage.logged_in(browser, world.server.url, account, path, **options)
    await expect(client.box).to_be_visible()
    return owner, channel_id, client


async def attach(client: ClientPage, *files: FilePayload) -> None:
    """Attach files to the next message."""
    async with client.page.expect_file_chooser() as chooser:
        await client.page.get_by_role("button", name="Add", exact=True).click()
        await client.page.get_by_role("menuitem", name="Attach files").click()
    await (await chooser.value).set_files(list(files))


async def test_an_upload_shows_its_progress_and_is_cancelled(browser: Browser, world: World) -> None:
    owner, channel_id, client = await open_channel(browser, world)
    network = await client.page.context.new_cdp_session(client.page)
    await network.send("Network.enable")
    await network.send("Network.emulateNetworkConditions", SLOW)
    await attach(client, FilePayload(name="film.bin", mimeType="application/octet-stream", buffer=bytes(SIZE)))
    await client.say("the whole film")
    pending = client.message("the whole film")
    bar = pending.get_by_role("progressbar")
    await expect(pending.get_by_text("film.bin")).to_be_visible()
    await expect(bar).to_have_attribute("value", re.compile(r"^0\.[0-9]*[1-9]"))
    before = float(await bar.get_attribute("value") or 0)
    await client.page.wait_for_function("value => document.querySelector('progress').value > value", arg=before)
    assert await bar.evaluate("bar => bar.value < bar.max")
    await pending.get_by_role("button", name="Cancel").click()
    await expect(pending).to_have_count(0)
    # Nothing of it goes on, and the next message is not held up.
    await network.send("Network.emulateNetworkConditions", SLOW | {"uploadThroughput": -1})
    await attach(client, FilePayload(name="still.bin", mimeType="application/octet-stream", buffer=b"one picture"))
    await client.say("only a still")
    await expect(client.message("only a still").get_by_role("link", name=re.compile("still.bin"))).to_be_visible()
    messages = await owner.get(f"/channels/{channel_id}/messages")
    assert [message["content"] for message in messages] == ["only a still"]
    assert client.errors == []


async def send_voice_message(owner: Person, channel_id: int, seconds: float) -> None:
    """Send a voice message of silence."""
    waveform = base64.b64encode(bytes(range(0, 256, 4))).decode()
    described = {"id": "0", "filename": "voice-message.ogg", "duration_secs": seconds, "waveform": waveform}
    form = aiohttp.FormData()
    form.add_field("payload_json", json.dumps({"flags": IS_VOICE_MESSAGE, "attachments": [described]}))
    form.add_field("files[0]", opus(seconds), filename="voice-message.ogg", content_type="audio/ogg")
    url = f"{owner.world.server.url}/api/v10/channels/{channel_id}/messages"
    async with owner.world.session.post(url, data=form, headers={"Authorization": owner.token}) as answer:
        assert answer.status == 200, await answer.text()


async def played(player: Locator) -> None:
    """Play a file to its end."""
    await player.evaluate("player => { player.muted = true; return player.play(); }")
    handle = await player.element_handle()
    await player.page.wait_for_function("player => player.ended && player.error === null", arg=handle)


async def test_sound_voice_messages_and_video_are_played_where_they_are_sent(browser: Browser, world: World) -> None:
    owner, channel_id, client = await open_channel(browser, world)
    sound = FilePayload(name="rain.ogg", mimeType="audio/ogg", buffer=opus(1))
    await attach(client, sound, FilePayload(name="waves.webm", mimeType="video/webm", buffer=CLIP.read_bytes()))
    await client.say("by the sea")
    message = client.message("by the sea")
    await expect(message.locator("audio[controls]")).to_be_visible()
    await expect(message.locator("figcaption")).to_have_text("rain.ogg")
    await expect(message.locator("video[controls]")).to_be_visible()
    await played(message.locator("audio"))
    await played(message.locator("video"))

    await send_voice_message(owner, channel_id, 2)
    voice = client.page.locator("article.message", has=client.page.get_by_text("Voice message"))
    await expect(voice.locator("figcaption")).to_contain_text("0:02")
    await expect(voice.locator("audio[controls]")).to_be_visible()
    await played(voice.locator("audio"))
    await voice.hover()
    actions = voice.get_by_role("group", name="Actions of this message")
    await expect(actions.get_by_role("button", name="Reply")).to_be_visible()
    await expect(actions.get_by_role("button", name="Edit")).to_have_count(0)  # the server refuses it
    if AXE.exists():
        assert await client.violations() == []
    assert client.errors == []


async def test_a_video_has_its_room_before_it_is_loaded(browser: Browser, world: World) -> None:
    """Else it would move the messages below it when it is there."""
    _, _, client = await open_channel(browser, world)
    await attach(client, FilePayload(name="waves.webm", mimeType="video/webm", buffer=CLIP.read_bytes()))
    await client.say("look")
    video = client.message("look").locator("video")
    await expect(video).to_be_visible()
    height = "video => video.getBoundingClientRect().height"
    await video.evaluate("video => new Promise(done => video.readyState ? done() : video.onloadedmetadata = done)")
    loaded = await video.evaluate(height)

    async def leave_open(_: Route) -> None:
        """Answer nothing."""

    await client.page.route("**/attachments/**", leave_open)
    await client.page.reload(wait_until="commit", timeout=TIMEOUT_MS)
    await expect(video).to_be_visible()
    assert await video.evaluate("video => video.readyState") == 0
    assert await video.evaluate(height) == loaded > 0
