"""Voice in the client for people, in Chromium with a microphone that beeps twice a second."""

import asyncio
import json
import math
import re
import struct
from contextlib import AsyncExitStack
from typing import Any, Final

import aiohttp
import av
import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import Account, ClientPage, call, picture, sign_up
from tests.clients.live import Server
from tests.voice.client import Gateway, Voice

HEARS: Final = "() => window.loudness() > 0.05"
SILENT: Final = "() => window.loudness() < 0.001"
"""For the last two thirds of a second, in which the microphone beeps at least once."""
SPEAK: Final = 1 << 21
_TAP: Final = """
const connect = AudioNode.prototype.connect;
const taps = [];
AudioNode.prototype.connect = function (target, ...rest) {
  if (target instanceof AudioDestinationNode) {
    const tap = new AnalyserNode(this.context, { fftSize: 32768 });
    connect.call(this, tap);
    taps.push(tap);
  }
  return connect.call(this, target, ...rest);
};
window.loudness = () => {
  const peaks = taps.filter((tap) => tap.context.state === "running").map((tap) => {
    const samples = new Float32Array(tap.fftSize);
    tap.getFloatTimeDomainData(samples);
    return samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), 0);
  });
  return Math.max(0, ...peaks);
};
"""
"""Measures all that the page plays."""
_NO_CUES: Final = {"moothall.voice": json.dumps({"cues": False})}
_REFUSE: Final = """
navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", "NotAllowedError"));
"""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


class Lounge:
    """A guild with a voice channel, and its people."""

    def __init__(self, browser: Browser, url: str, owner: Account, guild_id: str, channel_id: str) -> None:
        self.browser = browser
        self.url = url
        self.owner = owner
        self.guild_id = guild_id
        self.channel_id = channel_id

    @classmethod
    async def build(cls, browser: Browser, url: str, owner_name: str) -> "Lounge":
        owner = await sign_up(url, owner_name)
        guild = await call(url, owner, "POST", "/guilds", {"name": "The Moot"})
        channel = await call(url, owner, "POST", f"/guilds/{guild['id']}/channels", {"name": "Lounge", "type": 2})
        return cls(browser, url, owner, guild["id"], channel["id"])

    async def member(self, name: str) -> Account:
        account = await sign_up(self.url, name)
        invite = await call(self.url, self.owner, "POST", f"/channels/{self.channel_id}/invites", {})
        await call(self.url, account, "POST", f"/invites/{invite['code']}", {})
        return account

    async def open(self, account: Account, *scripts: str, **options: Any) -> ClientPage:
        """The client of a person, with the channel open."""
        context = await self.browser.new_context(
            locale="en-US", reduced_motion="reduce", service_workers="block", **options
        )
        stored = json.dumps(account.stored | _NO_CUES)
        await context.add_init_script(
            f"if (localStorage.length === 0) Object.assign(localStorage, {stored}); {_TAP} {' '.join(scripts)}"
        )
        client = ClientPage(await context.new_page(), self.url)
        await client.page.goto(f"{self.url}/channels/{self.guild_id}/{self.channel_id}")
        await expect(client.page.locator(".voice-panel")).to_be_visible()
        return client

    async def joined(self, account: Account, *scripts: str, **options: Any) -> ClientPage:
        """The same, once sound can pass."""
        client = await self.open(account, *scripts, **options)
        await client.page.get_by_role("button", name="Join voice", exact=True).click()
        await connected(client)
        return client


async def connected(client: ClientPage) -> None:
    """Wait until the bar tells how good the connection is."""
    await expect(client.page.locator(".voice-bar")).to_contain_text(re.compile("(Good|Fair|Poor) connection"))


async def test_people_hear_each_other_until_they_are_muted_or_may_not_speak(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada1")
    ben_account = await lounge.member("voice_ben1")
    ada = await lounge.joined(lounge.owner)
    ben = await lounge.open(ben_account)
    await ben.page.get_by_role("button", name="Join Lounge").click()
    for client, other in ((ada, "voice_ben1"), (ben, "voice_ada1")):
        await client.page.wait_for_function(HEARS)
        await expect(client.page.locator(".voice-card[data-speaking]", has_text=other)).to_be_visible()
    await expect(ada.page.get_by_text("voice_ben1 joined.")).to_have_count(1)
    assert await ada.violations() == []
    await picture(ada.page, "voice-room")

    bar = ada.page.locator(".voice-bar")
    await bar.get_by_role("button", name="Mute", exact=True).click()
    await ben.page.wait_for_function(SILENT)
    await expect(ben.page.locator(".voice-card", has_text="voice_ada1").get_by_label("Muted")).to_be_visible()
    await ada.page.keyboard.press("Control+Shift+M")
    await ben.page.wait_for_function(HEARS)

    overwrite = f"/channels/{lounge.channel_id}/permissions/{ben_account.id}"
    await call(server.url, lounge.owner, "PUT", overwrite, {"type": 1, "allow": "0", "deny": str(SPEAK)})
    await ada.page.wait_for_function(SILENT)
    await call(server.url, lounge.owner, "DELETE", overwrite)
    await ada.page.wait_for_function(HEARS)

    await bar.get_by_role("button", name="Deafen", exact=True).click()
    await ada.page.wait_for_function(SILENT)
    await bar.get_by_role("button", name="Undeafen").click()
    await ada.page.wait_for_function(HEARS)
    assert (ada.errors, ben.errors) == ([], [])


async def test_each_person_has_a_volume_that_the_account_keeps(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada2")
    ben = await lounge.joined(await lounge.member("voice_ben2"))
    ada = await lounge.joined(lounge.owner)
    await ada.page.wait_for_function(HEARS)
    options = ada.page.get_by_role("button", name="Options for voice_ben2")
    await options.click()
    await ada.page.get_by_role("menuitem", name="Mute for me").click()
    await ada.page.wait_for_function(SILENT)
    await expect(ada.page.get_by_label("Muted by you")).to_be_visible()

    await ada.page.reload()
    await expect(ada.page.get_by_text("You were in Lounge.")).to_be_visible()
    await ada.page.get_by_role("button", name="Join again").click()
    await connected(ada)
    await expect(ada.page.get_by_label("Muted by you")).to_be_visible()
    await options.click()
    await ada.page.get_by_role("menuitem", name="Volume").click()
    slider = ada.page.get_by_role("slider", name="Volume")
    await slider.focus()
    await slider.press("ArrowRight")
    await expect(ada.page.get_by_role("dialog").get_by_text("105 %")).to_be_visible()
    await ada.page.wait_for_function(HEARS)
    assert await ada.violations() == []
    await ada.page.keyboard.press("Escape")
    await ada.page.locator(".voice-bar").get_by_role("button", name="Leave").click()
    await expect(ada.page.locator(".voice-bar")).to_have_count(0)
    await ada.page.reload()
    await expect(ada.page.get_by_role("button", name="Join voice", exact=True)).to_be_visible()
    await expect(ada.page.get_by_text("You were in Lounge.")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


def tone() -> list[bytes]:
    """A second of 440 Hz in packets of Opus."""
    encoder: Any = av.CodecContext.create("libopus", "w")
    encoder.sample_rate, encoder.layout, encoder.format = 48_000, "stereo", "s16"
    packets: list[bytes] = []
    for start in range(0, 48_000, 960):
        wave = (int(16_000 * math.sin(each * 440 * 2 * math.pi / 48_000)) for each in range(start, start + 960))
        frame = av.AudioFrame("s16", "stereo", 960)
        frame.planes[0].update(b"".join(2 * struct.pack("<h", sample) for sample in wave))
        frame.sample_rate, frame.pts = 48_000, start
        packets += [bytes(packet) for packet in encoder.encode(frame)]
    return packets


async def test_who_refuses_the_microphone_stays_and_hears_what_a_bot_plays(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada3")
    player = await lounge.member("voice_player3")
    ada = await lounge.joined(lounge.owner, _REFUSE)
    await expect(ada.page.get_by_role("alert")).to_contain_text("Your browser blocks the microphone")
    await picture(ada.page, "voice-refused")
    async with AsyncExitStack() as stack:
        http = await stack.enter_async_context(aiohttp.ClientSession())
        gateway = await stack.enter_async_context(Gateway.online(http, server.url, player.token))
        await gateway.join(lounge.guild_id, lounge.channel_id)
        update = await gateway.event("VOICE_SERVER_UPDATE")
        voice = await stack.enter_async_context(Voice.connected(http, server.url))
        await voice.begin(gateway, update)
        await voice.send(5, {"speaking": 1, "delay": 0, "ssrc": voice.ready["ssrc"]})

        async def play() -> None:
            packets = tone()
            for number in range(3_000):
                voice.say(packets[number % len(packets)], sequence=number)
                await asyncio.sleep(0.02)

        playing = asyncio.ensure_future(play())
        await ada.page.wait_for_function(HEARS)
        await expect(ada.page.locator(".voice-card[data-speaking]", has_text="voice_player3")).to_be_visible()
        playing.cancel()
    await ada.page.wait_for_function(SILENT)
    await expect(ada.page.get_by_text("voice_player3 left.")).to_have_count(1)
    assert ada.errors == []


async def test_sound_comes_back_after_a_restart_of_the_server(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada4")
    ben = await lounge.joined(await lounge.member("voice_ben4"))
    ada = await lounge.joined(lounge.owner)
    await ada.page.wait_for_function(HEARS)
    server.stop()
    for client in (ada, ben):
        await expect(client.page.locator(".voice-bar")).to_contain_text("reconnecting")
    server.start()
    for client in (ada, ben):
        await client.page.evaluate("dispatchEvent(new Event('online'))")
        await connected(client)
        await client.page.wait_for_function(HEARS)


async def test_settings_show_the_level_and_let_a_key_open_the_microphone(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada5")
    ben = await lounge.joined(await lounge.member("voice_ben5"))
    ada = await lounge.joined(lounge.owner)
    page = ada.page
    await page.locator(".voice-bar").get_by_role("link", name="Voice settings").click()
    await page.get_by_role("button", name="Test the microphone").click()
    await page.wait_for_function(
        "() => parseFloat(document.querySelector('.level-meter').style.getPropertyValue('--level')) > 0.7"
    )
    await expect(page.get_by_role("meter").first).to_have_attribute("aria-valuetext", re.compile("loud enough"))
    assert await ada.violations() == []
    await picture(page, "voice-settings")
    # From here on the microphone is too quiet.
    await page.get_by_role("slider", name="Sensitivity").press("End")
    await ben.page.wait_for_function(SILENT)
    await page.get_by_text("While you hold a key").click()
    await page.get_by_role("button", name="Key to talk").click()
    await page.keyboard.press("F8")
    await expect(page.get_by_role("button", name="Key to talk: F8")).to_be_visible()
    await page.keyboard.down("F8")
    await ben.page.wait_for_function(HEARS)
    await page.keyboard.up("F8")
    await ben.page.wait_for_function(SILENT)
    assert (ada.errors, ben.errors) == ([], [])


async def test_on_a_phone_the_bar_stays_in_view(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "voice_ada6")
    ada = await lounge.joined(lounge.owner, viewport={"width": 390, "height": 800}, has_touch=True)
    bar = ada.page.locator(".voice-bar")
    await expect(bar.get_by_role("button", name="Mute", exact=True)).to_be_in_viewport()
    await picture(ada.page, "voice-phone")
    assert await ada.violations() == []
    await ada.page.locator(".back").click()
    await expect(bar.get_by_role("button", name="Leave")).to_be_in_viewport()
    assert await ada.page.evaluate("document.documentElement.scrollWidth") == 390
    await bar.get_by_role("button", name="Leave").click()
    await expect(bar).to_have_count(0)
    assert ada.errors == []


SEES: Final = """
([label]) => {
  const video = document.querySelector(`video[aria-label="${label}"]`);
  if (video === null || video.videoWidth === 0) return false;
  const canvas = Object.assign(document.createElement("canvas"), {width: 32, height: 32});
  const context = canvas.getContext("2d");
  context.drawImage(video, 0, 0, 32, 32);
  const data = context.getImageData(0, 0, 32, 32).data;
  let [min, max] = [255, 0];
  for (let at = 0; at < data.length; at += 4) {
    min = Math.min(min, data[at + 1]);
    max = Math.max(max, data[at + 1]);
  }
  return %s;
}
"""
_PICTURE: Final = SEES % "max - min > 40"
"""Whether a video shows something: the browser's own camera is green with a dark dial."""
_ORANGE: Final = SEES % "min > 100 && max < 180"
_SCREEN: Final = """
navigator.mediaDevices.getDisplayMedia = async (wishes) => {
  window.wishes = wishes;
  const canvas = Object.assign(document.createElement("canvas"), {width: 1280, height: 720});
  const context = canvas.getContext("2d");
  const draw = () => { context.fillStyle = "rgb(230 140 20)"; context.fillRect(0, 0, 1280, 720); };
  draw();
  setInterval(draw, 50);
  const stream = canvas.captureStream(20);
  if (wishes.audio) {
    const audio = new AudioContext();
    const target = audio.createMediaStreamDestination();
    const tone = audio.createOscillator();
    tone.connect(target);
    tone.start();
    stream.addTrack(target.stream.getAudioTracks()[0]);
  }
  return stream;
};
"""
"""A screen of one colour that hums: machines that run tests have none to share."""
STREAM: Final = 1 << 9


async def test_cameras_are_seen_in_a_grid_and_large_until_they_are_turned_off(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "video_ada1")
    ben_account = await lounge.member("video_ben1")
    ada = await lounge.joined(lounge.owner, viewport={"width": 1440, "height": 900})
    ben = await lounge.joined(ben_account, viewport={"width": 390, "height": 800}, has_touch=True)
    await ben.page.get_by_role("button", name="Turn the camera on").click()
    await ada.page.wait_for_function(_PICTURE, arg=["Camera of video_ben1"])
    await ada.page.get_by_role("button", name="Turn the camera on").click()
    await ben.page.wait_for_function(_PICTURE, arg=["Camera of video_ada1"])
    await expect(ada.page.locator(".voice-members li", has_text="video_ben1").get_by_label("Camera")).to_be_visible()
    assert await ben.violations() == []
    await picture(ada.page, "video-grid")
    await picture(ben.page, "video-grid-phone")
    assert await ben.page.evaluate("document.documentElement.scrollWidth") == 390

    large = ada.page.get_by_role("button", name="Show large: Camera of video_ben1")
    await large.focus()
    await large.press("Enter")
    await expect(ada.page.locator(".video-tile[data-focused]")).to_have_count(1)
    await picture(ada.page, "video-speaker")

    overwrite = f"/channels/{lounge.channel_id}/permissions/{ben_account.id}"
    await call(server.url, lounge.owner, "PUT", overwrite, {"type": 1, "allow": "0", "deny": str(STREAM)})
    await expect(ada.page.get_by_label("Camera of video_ben1", exact=True)).to_have_count(0)
    await expect(ben.page.get_by_role("button", name="Turn the camera off")).to_have_count(0)
    await ada.page.get_by_role("button", name="Turn the camera off").click()
    await expect(ben.page.get_by_label("Camera of video_ada1", exact=True)).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_screen_is_shared_with_its_sound_and_ends_with_it(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "video_ada2")
    ben = await lounge.joined(await lounge.member("video_ben2"), viewport={"width": 1440, "height": 900})
    ada = await lounge.joined(lounge.owner, _SCREEN)
    await ada.page.locator(".voice-bar").get_by_role("button", name="Mute", exact=True).click()
    await ben.page.wait_for_function(SILENT)
    await ada.page.get_by_role("button", name="Share your screen").click()
    dialog = ada.page.get_by_role("dialog")
    await expect(dialog.get_by_role("switch", name="With sound")).to_be_checked()
    assert await ada.violations() == []
    await dialog.get_by_role("button", name="Choose what to share").click()
    await ben.page.wait_for_function(_ORANGE, arg=["Screen of video_ada2"])
    await ben.page.wait_for_function(HEARS)
    assert await ada.page.evaluate("window.wishes.video.frameRate.max") == 30
    speakers = ben.page.locator(".voice-card[data-speaking]")
    await expect(speakers.filter(has_text="video_ben2")).to_be_visible()
    await expect(speakers.filter(has_text="video_ada2")).to_have_count(0)
    await expect(ben.page.locator(".video-tile[data-speaking]")).to_have_count(0)
    await picture(ben.page, "video-screen")
    await ada.page.get_by_role("button", name="Stop sharing your screen").click()
    await expect(ben.page.get_by_label("Screen of video_ada2", exact=True)).to_have_count(0)
    await ben.page.wait_for_function(SILENT)
    await ada.page.set_viewport_size({"width": 390, "height": 800})
    await ada.page.get_by_role("button", name="Share your screen").click()
    await expect(dialog).to_be_visible()
    await picture(ada.page, "video-screen-dialog")
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_call_rings_is_accepted_is_heard_and_leaves_a_message(browser: Browser, server: Server) -> None:
    lounge = await Lounge.build(browser, server.url, "call_ada1")
    ben_account = await lounge.member("call_ben1")
    direct = await call(server.url, lounge.owner, "POST", "/users/@me/channels", {"recipient_id": ben_account.id})
    ada = await lounge.open(lounge.owner, viewport={"width": 1440, "height": 900})
    ben = await lounge.open(ben_account, viewport={"width": 390, "height": 800}, has_touch=True)
    await ada.page.goto(f"{server.url}/channels/@me/{direct['id']}")
    start = ada.page.get_by_role("button", name="Call", exact=True)
    card = ben.page.get_by_role("region", name="call_ada1 is calling")
    ringing = ada.page.get_by_text("Ringing: call_ben1")

    await start.click()
    await card.get_by_role("button", name="Decline").click()
    await expect(card).to_have_count(0)
    await expect(ringing).to_have_count(0)
    await ada.page.locator(".voice-controls").get_by_role("button", name="Leave the call").click()
    await expect(ada.page.get_by_text(re.compile("started a call, which lasted 0:"))).to_be_visible()

    await start.click()
    await card.get_by_role("button", name="Accept").click()
    await expect(ben.page.get_by_text("called, and you missed it.")).to_be_visible()
    for client in (ada, ben):
        await connected(client)
        await client.page.wait_for_function(HEARS)
    assert await ada.violations() == []
    await picture(ada.page, "call-room")
    assert await ben.page.evaluate("document.documentElement.scrollWidth") == 390
    await ben.page.locator(".voice-bar").get_by_role("button", name="Leave").click()
    await expect(ben.page.locator(".voice-bar")).to_have_count(0)
    await expect(ada.page.locator(".voice-card")).to_have_count(1)

    await ada.page.locator(".voice-controls").get_by_role("button", name="Leave the call").click()
    await start.click()
    await expect(card).to_be_visible()
    await picture(ben.page, "call-incoming")
    assert await ben.violations() == []
    assert (ada.errors, ben.errors) == ([], [])
