"""Activities in the client: the example with the unmodified SDK, which two people launch, join, allow and leave."""

import asyncio
import base64
import json
import os
import re
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, FrameLocator, expect

from tests.clients.activity_page import RELEASED, SHARED, ActivityPage, Api, authenticate, brag, lead_away, register
from tests.clients.client_pages import PASSWORD, ClientPage, open_new_guild
from tests.clients.example_front import EXAMPLE
from tests.clients.live import Server

ICON = Path(__file__).with_name("icon.png")


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


def free_port() -> int:
    """A port that nothing listens at."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def answers(port: int) -> None:
    """Wait until a program listens at a port."""
    async with asyncio.timeout(30):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.05)
            else:
                writer.close()
                return


class Whiteboard:
    """The example's server in a process of its own, for an application of an account."""

    def __init__(self, api: Api, server: Server) -> None:
        self.api = api
        self.server = server
        self.id = ""
        self.port = free_port()
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Create the application, enable and release its Activity, and start its server."""
        app = await self.api.post("/applications", {"name": "Whiteboard"})
        self.id = app["id"]
        path = f"/applications/{self.id}"
        await self.api.post(path, {"redirect_uris": ["https://127.0.0.1"]}, "PATCH")
        await self.api.post(f"{path}/set-embedded", {"embedded": True})
        mapping = {"prefix": "/", "target": f"localhost:{self.port}"}
        await self.api.post(f"{path}/proxy-config", {"url_map": [mapping]})
        await self.api.post(f"{path}/embedded-activity-config", RELEASED, "PATCH")
        environ = os.environ | {
            "CLIENT_ID": self.id,
            "CLIENT_SECRET": app["secret"],
            "BOT_TOKEN": app["bot"]["token"],
            "MOOTHALL_URL": self.server.url,
            "PORT": str(self.port),
        }
        self._process = await asyncio.create_subprocess_exec(sys.executable, str(EXAMPLE / "server.py"), env=environ)
        await answers(self.port)

    async def stop(self) -> None:
        """End the server."""
        if self._process is not None:
            self._process.terminate()
            await self._process.wait()


@pytest.fixture
async def whiteboard(api: Api, server: Server, front: Path) -> AsyncIterator[Whiteboard]:
    assert front.exists()
    made = Whiteboard(api, server)
    try:
        yield made
    finally:
        await made.stop()


def board(client: ClientPage) -> FrameLocator:
    """The Activity, in its frame inside that of the relay page."""
    return client.page.frame_locator(".activity-frame iframe").frame_locator("iframe")


async def open_activity(client: ClientPage, button: str) -> None:
    """Launch the Activity from its list, or join it where the channel says that it runs, and allow what it asks for."""
    if button == "Launch":
        await client.page.get_by_role("button", name="Activities").click()
    await client.page.get_by_role("button", name=button, exact=True).click()
    await client.page.get_by_role("button", name="Allow").click()


async def inked(client: ClientPage) -> int:
    """How many pixels of the board are drawn on."""
    script = """(canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height)
        .data.filter((value, index) => index % 4 === 3 && value > 0).length"""
    count: int = await board(client).locator("#board").evaluate(script)
    return count


async def draw(client: ClientPage) -> None:
    """Draw a line."""
    box = await board(client).locator("#board").bounding_box()
    assert box is not None
    mouse = client.page.mouse
    await mouse.move(box["x"] + 40, box["y"] + 40)
    await mouse.down()
    for step in range(10):
        await mouse.move(box["x"] + 40 + 20 * step, box["y"] + 40 + 10 * step)
    await mouse.up()


async def test_two_people_draw_together(
    browser: Browser, server: Server, api: Api, whiteboard: Whiteboard, tmp_path: Path
) -> None:
    ada, ben = await open_new_guild(browser, server.url, "adaactivity", "benactivity")
    await api.log_in("adaactivity")
    await whiteboard.start()

    await open_activity(ada, "Launch")
    await expect(board(ada).locator("#status")).to_have_text("adaactivity in The Moot")
    # Others see that it runs, in the list of channels and in the channel, and it covers nothing of the conversation.
    await expect(ben.page.locator(".activity-running")).to_contain_text("Whiteboard is running here, with adaactivity")
    await expect(ben.page.get_by_role("link", name=re.compile("^general.*An Activity is running"))).to_be_visible()
    beside = await ada.page.locator(".activity-grid").bounding_box()
    main = await ada.page.locator(".main").bounding_box()
    assert beside is not None
    assert main is not None
    assert main["x"] + main["width"] <= beside["x"]
    handle = ada.page.get_by_role("separator", name="Width of the Activity")
    await handle.press("ArrowLeft")
    await expect(handle).to_have_attribute("aria-valuenow", "50")
    await ada.page.locator(".activity-running").get_by_text("You take part").wait_for()
    await open_activity(ben, "Join")
    await expect(board(ben).locator("#status")).to_have_text("benactivity in The Moot")
    for client in (ada, ben):
        await expect(board(client).locator("#participants li")).to_have_text(["adaactivity", "benactivity"])
        await expect(board(client).locator("#board[data-shared]")).to_be_visible()
    assert await inked(ben) == 0
    await draw(ada)
    await expect(board(ben).locator("#board[data-inked]")).to_be_visible()
    assert await inked(ben) > 0
    await ada.page.screenshot(path=tmp_path / "focused.png")

    await ada.page.get_by_role("button", name="Make small").click()
    await expect(ada.page.locator(".activity-pip")).to_be_visible()
    await expect(board(ada).locator("#status")).to_have_text("adaactivity in The Moot")
    await ada.page.get_by_role("button", name="Show beside the conversation").click()
    await ada.say("I drew something")
    await ada.page.get_by_role("button", name="Leave the Activity").click()
    await expect(ada.page.locator(".activity")).to_have_count(0)
    await expect(board(ben).locator("#participants li")).to_have_text(["benactivity"])
    assert ada.errors == []


async def test_commands_of_the_sdk_are_answered_or_refused_with_their_public_codes(
    activity: ActivityPage, api: Api
) -> None:
    page, app = activity.client.page, activity.application
    for command in ("getSkus", "startPurchase", "getQuest", "getEntitlements"):
        assert await activity.call(command, {"sku_id": "1"}) == 4006, command
    await authenticate(activity, api)
    sku = await api.post("/store/skus", {"application_id": app["id"], "type": 2, "name": "Hat", "flags": 4})
    assert await activity.call("getSkus") == {
        "skus": [
            {
                "id": sku["id"],
                "name": "Hat",
                "type": 2,
                "price": {"amount": 0, "currency": "usd"},
                "application_id": app["id"],
                "flags": 4,
                "release_date": None,
            }
        ]
    }
    await activity.subscribe("ENTITLEMENT_CREATE")
    me = await activity.evaluate("() => window.sdk.commands.getEntitlements()")
    assert me == {"entitlements": []}
    owner = await api.post("/users/@me", None, "GET")
    granted = {"sku_id": sku["id"], "owner_id": owner["id"], "owner_type": 2}
    entitlement = await api.post(f"/applications/{app['id']}/entitlements", granted)
    event, data = await activity.first_event()
    assert (event, data["entitlement"]["id"]) == ("ENTITLEMENT_CREATE", entitlement["id"])
    assert await activity.call("startPurchase", {"sku_id": sku["id"]}) == 5008
    assert await activity.call("getQuestEnrollmentStatus", {"quest_id": "1"}) == 1001
    assert await activity.call("questStartTimer", {"quest_id": "1"}) == 1001
    assert await activity.call("getQuest") == 1001
    assert await activity.call("inviteUserEmbedded", {"user_id": "1"}) == 4010
    assert await activity.call("shareInteraction", {"command": "nothing"}) == 4000
    assert await activity.call("shareLink", {"message": ""}) == 4000
    for url in ("https://example.com/a.png", f"{activity.client.url}/api/v10/users/@me", "javascript:1"):
        assert await activity.call("openShareMomentDialog", {"mediaUrl": url}) == 4000

    sharing = activity.start("shareLink", {"message": "Play!", "custom_id": "room 1"})
    await activity.send_to("general")
    assert await sharing == {"success": True, "didCopyLink": False, "didSendMessage": True}
    uploading = activity.start("initiateImageUpload")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose an image").click()
    await (await chooser.value).set_files(ICON)
    image = (await uploading)["image_url"]
    sharing = activity.start("openShareMomentDialog", {"mediaUrl": image})
    await activity.send_to("general")
    assert await sharing is None
    channels = await api.post(f"/guilds/{activity.guild_id}/channels", None, "GET")
    channel_id = next(each["id"] for each in channels if each["type"] == 0)
    picture, link = await api.post(f"/channels/{channel_id}/messages", None, "GET")
    query = f"referrer_id={owner['id']}&custom_id=room+1"
    assert link["content"] == f"Play!\n{activity.client.url}/activities/{app['id']}?{query}"
    assert picture["attachments"][0]["filename"] == ICON.name
    uploading = activity.start("initiateImageUpload")
    await page.get_by_role("button", name="Cancel").click()
    assert await uploading == 1002
    assert activity.client.errors == []


async def test_the_activitys_own_server_learns_who_the_user_is(activity: ActivityPage, api: Api) -> None:
    owner = await api.post("/users/@me", None, "GET")
    who = "(_, options) => fetch('/who', options).then((response) => response.json())"
    expected = {"application_id": activity.application["id"], "user_id": owner["id"], "is_developer": True}
    for options in ({}, {"referrerPolicy": "no-referrer"}):
        payload = await activity.evaluate(who, options)
        assert expected.items() <= payload.items(), options
    refreshed = await activity.call("requestProxyTicketRefresh")
    assert list(refreshed) == ["ticket"]
    script = "(_, ticket) => fetch(`/who?discord_proxy_ticket=${ticket}`).then((response) => response.json())"
    assert expected.items() <= (await activity.evaluate(script, refreshed["ticket"])).items()
    assert activity.client.errors == []


async def test_a_quick_link_shows_its_image_and_leads_into_the_activity(activity: ActivityPage, api: Api) -> None:
    page, app = activity.client.page, activity.application
    image = "data:image/png;base64," + base64.b64encode(ICON.read_bytes()).decode()
    body = {"title": "Baby Brick", "description": "Small but mighty", "image": image, "custom_id": "level 10"}
    link = await api.post(f"/applications/{app['id']}/quick-links/", body)
    assert await activity.call("shareLink", {"message": "Play!", "link_id": "1-1"}) == 4000
    activity.client.errors.clear()  # the browser says that there is no such link
    sharing = activity.start("shareLink", {"message": "Play!", "link_id": link["link_id"]})
    await activity.send_to("general")
    assert await sharing == {"success": True, "didCopyLink": False, "didSendMessage": True}
    await page.get_by_role("button", name="Leave the Activity").click()
    await page.get_by_role("link", name="general").first.click()
    card = page.locator(".activity-card")
    await expect(card.get_by_text("Baby Brick")).to_be_visible()
    await expect(card.get_by_text("Small but mighty")).to_be_visible()
    loaded = "(image) => image.decode().then(() => image.naturalWidth)"
    assert await card.locator("img").evaluate(loaded) > 0
    await card.get_by_role("button", name="Play").click()
    await activity.wait_until_ready()
    owner = await api.post("/users/@me", None, "GET")
    said = "() => [window.sdk.customId, window.sdk.referrerId]"
    assert await activity.evaluate(said) == ["level 10", owner["id"]]
    # A custom id in the link itself overrides that of the quick link.
    await page.goto(f"{activity.client.url}/activities/{app['id']}?link_id={link['link_id']}&custom_id=other")
    await expect(page.get_by_role("heading", name="Baby Brick")).to_be_visible()
    await page.get_by_role("combobox", name="Where?").fill("general")
    await page.get_by_role("option", name="general").first.click()
    await page.get_by_role("button", name="Launch").click()
    await activity.wait_until_ready()
    assert await activity.evaluate(said) == ["other", None]
    assert activity.client.errors == []


async def test_an_activity_shows_what_it_does_and_which_voice_channel_is_selected(
    activity: ActivityPage, api: Api
) -> None:
    app, page = activity.application, activity.client.page
    channel = await api.post(f"/guilds/{activity.guild_id}/channels", {"name": "Lounge", "type": 2})
    await authenticate(activity, api)
    shown = {"type": 0, "details": "Level 10", "state": "Playing"}
    name = {"name": "Playground", "application_id": app["id"]}
    assert await activity.call("setActivity", {"activity": shown}) == shown | name
    assert await activity.call("setActivity", {"activity": None}) == {"type": 0, **name}
    # The SDK has no function for this command, and drops the answer: the frame itself is read.
    script = """() => new Promise((resolve) => {
        addEventListener("message", function listen({ data }) {
            if (data?.[1]?.cmd === "GET_SELECTED_VOICE_CHANNEL") {
                removeEventListener("message", listen);
                resolve(data[1]);
            }
        });
        window.sdk.sendCommand({ cmd: "GET_SELECTED_VOICE_CHANNEL", args: {} });
    })"""
    assert (await activity.evaluate(script))["data"] is None
    await page.get_by_role("button", name="Show beside the conversation").click()
    await page.get_by_role("link", name="Lounge").first.click()
    await page.get_by_role("button", name="Join").first.click()
    async with asyncio.timeout(20):
        while (frame := await activity.evaluate(script))["data"] is None:  # noqa: ASYNC110 the page has no event of it
            await asyncio.sleep(0.1)
    assert frame["evt"] is None
    assert {name: frame["data"][name] for name in ("id", "type", "guild_id", "name", "messages")} == {
        "id": channel["id"],
        "type": 2,
        "guild_id": activity.guild_id,
        "name": "Lounge",
        "messages": [],
    }
    owner = await api.post("/users/@me", None, "GET")
    (state,) = frame["data"]["voice_states"]
    assert state["user"]["id"] == owner["id"]


async def open_invite(browser: Browser, server: Server, api: Api, name: str, link: str) -> ClientPage:
    """Open an invite's link for a new account, which makes the requests of `api` from now on."""
    return await ClientPage.open_as(browser, server.url, await register(api, name), link.removeprefix(server.url))


async def test_an_invite_from_a_thread_leads_into_the_activity_there(
    activity: ActivityPage, browser: Browser, server: Server, api: Api
) -> None:
    page = activity.client.page
    channels = await api.post(f"/guilds/{activity.guild_id}/channels", None, "GET")
    text = next(each["id"] for each in channels if each["type"] == 0)
    thread = await api.post(f"/channels/{text}/threads", {"name": "Round two", "type": 11})
    await page.get_by_role("button", name="Leave the Activity").click()
    query = f"/activities/{activity.application['id']}"
    await page.goto(f"{activity.client.url}{query}")
    await page.get_by_role("combobox", name="Where?").fill("Round two")
    await page.get_by_role("option", name="Round two").first.click()
    await page.get_by_role("button", name="Launch").click()
    await activity.wait_until_ready()
    assert await activity.evaluate("() => window.sdk.channelId") == thread["id"]
    await activity.call("openInviteDialog")
    field = page.get_by_label("Invite link")
    await expect(field).to_have_value(re.compile("/invite/"))
    link = await field.input_value()
    guest = await open_invite(browser, server, api, "threadguest", link)
    await expect(guest.page.get_by_text("It leads into the Activity Playground.")).to_be_visible()
    await guest.page.get_by_role("button", name="Join Workshop").click()
    theirs = ActivityPage(guest, activity.application, activity.guild_id)
    await theirs.wait_until_ready()
    assert await theirs.evaluate("() => window.sdk.channelId") == thread["id"]
    assert len((await theirs.call("getInstanceConnectedParticipants"))["participants"]) == 2
    assert guest.errors == []


async def test_the_preview_of_a_command_shows_an_image_and_buttons(activity: ActivityPage, api: Api) -> None:
    page, shared = activity.client.page, SHARED
    await brag(activity, api)
    for wrong in (
        {"preview_image": {"url": 1, "width": 1, "height": 1}},
        {"preview_image": {"url": "x", "width": 0, "height": 1}},
        {"components": [{"type": 2}]},
        {"components": [{"type": 1, "components": [{"type": 2, "style": 6}]}]},
        {"components": [{"type": 1, "components": [{"type": 2, "style": 1}] * 6}]},
        {"components": [{"type": 1, "components": [{"type": 2, "style": 1, "label": "x" * 81}]}]},
    ):
        assert await activity.call("shareInteraction", {"command": "brag", **wrong}) == 4000, wrong
    origin = await activity.evaluate("() => location.origin")
    button = {"type": 2, "style": 1, "label": "Beat me", "custom_id": "beat"}
    preview = {
        "preview_image": {"url": f"{origin}/picture.png", "width": 64, "height": 64},
        "components": [{"type": 1, "components": [button]}],
    }
    sharing = activity.start("shareInteraction", {"command": "brag", "options": shared, **preview})
    dialog = page.get_by_role("dialog")
    await expect(dialog.get_by_role("button", name="Beat me")).to_be_disabled()
    picture = dialog.get_by_role("img", name="A picture of Playground")
    assert await picture.evaluate("(image) => image.decode().then(() => image.naturalWidth)") > 0
    await dialog.get_by_role("button", name="Cancel").click()
    assert await sharing == {"success": False}
    foreign = {"preview_image": {"url": "https://example.com/a.png", "width": 64, "height": 64}}
    sharing = activity.start("shareInteraction", {"command": "brag", "options": shared, **foreign})
    await expect(dialog.get_by_text("/brag")).to_be_visible()
    await expect(dialog.get_by_role("img")).to_have_count(0)
    await dialog.get_by_role("button", name="Cancel").click()
    assert await sharing == {"success": False}
    assert activity.client.errors == []


async def test_commands_and_invites_are_sent_once_the_user_agrees(activity: ActivityPage, api: Api) -> None:
    page = activity.client.page
    await authenticate(activity, api)
    await brag(activity, api)
    owner = api.token
    async with page.expect_request("**/api/v10/interactions") as request:
        sharing = activity.start("shareInteraction", {"command": "brag", "options": SHARED, "content": "Level 7!"})
        await activity.send_to("general", "Use the command")
        assert await sharing == {"success": True}
    sent = json.loads((await request.value).post_data or "")["data"]["options"]
    assert [each["value"] for each in sent] == [7, True]
    sharing = activity.start("shareInteraction", {"command": "brag", "require_launch_channel": True})
    await page.get_by_role("button", name="Cancel").click()
    assert await sharing == {"success": False}

    api.token = ""
    guest = await api.post("/auth/register", {"username": "invitedguest", "password": PASSWORD})
    api.token = owner
    channels = await api.post(f"/guilds/{activity.guild_id}/channels", None, "GET")
    text = next(each["id"] for each in channels if each["type"] == 0)
    code = (await api.post(f"/channels/{text}/invites", {}))["code"]
    api.token = guest["token"]
    await api.post(f"/invites/{code}", {})
    invite = {"user_id": guest["user_id"], "content": "Play with me"}
    await activity.wait_for_user(guest["user_id"])
    inviting = activity.start("inviteUserEmbedded", invite)
    await page.get_by_role("button", name="Send the invite").click()
    assert await inviting is None
    (direct,) = await api.post("/users/@me/channels", None, "GET")
    (message,) = await api.post(f"/channels/{direct['id']}/messages", None, "GET")
    assert re.fullmatch(rf"Play with me\n{activity.client.url}/invite/\w+", message["content"])
    inviting = activity.start("inviteUserEmbedded", invite)
    await page.get_by_role("button", name="Cancel").click()
    assert await inviting == 1002
    assert activity.client.errors == []


async def test_an_invite_and_a_link_lead_into_the_activity(
    activity: ActivityPage, browser: Browser, server: Server, api: Api
) -> None:
    await activity.call("openInviteDialog")
    field = activity.client.page.get_by_label("Invite link")
    await expect(field).to_have_value(re.compile("/invite/"))
    guest = await open_invite(browser, server, api, "guestactivity", await field.input_value())
    await expect(guest.page.get_by_text("It leads into the Activity Playground.")).to_be_visible()
    await guest.page.get_by_role("button", name="Join Workshop").click()
    theirs = ActivityPage(guest, activity.application, activity.guild_id)
    await theirs.wait_until_ready()
    assert len((await theirs.call("getInstanceConnectedParticipants"))["participants"]) == 2
    query = "referrer_id=1385320255148003439&custom_id=room+1"
    await guest.page.goto(f"{server.url}/activities/{activity.application['id']}?{query}")
    await guest.page.get_by_role("combobox", name="Where?").fill("general")
    await guest.page.get_by_role("option", name="general").first.click()
    await guest.page.get_by_role("button", name="Launch").click()
    await theirs.wait_until_ready()
    assert await theirs.evaluate("() => [window.sdk.customId, window.sdk.referrerId]") == [
        "room 1",
        "1385320255148003439",
    ]
    assert guest.errors == []


ATTACK = """async (_, client) => {
    const outcome = {};
    const attempt = async (name, work) => {
        try { outcome[name] = await work(); } catch (error) { outcome[name] = `refused ${error.name}`; }
    };
    // Frames of the protocol to the client without the relay, to the relay from a frame below, and as another frame.
    const heard = [];
    addEventListener("message", ({ data }) => {
        heard.push(data?.[1]?.evt === "READY" ? "from another handshake" : data?.[1]?.nonce);
    });
    const frame = (nonce) => [1, { cmd: "GET_PLATFORM_BEHAVIORS", args: {}, nonce }];
    const below = document.createElement("iframe");
    below.sandbox = "allow-scripts";
    below.srcdoc = `<script>
        top.postMessage(${JSON.stringify(frame("below"))}, "*");
        parent.parent.postMessage(${JSON.stringify(frame("below"))}, "*");
    </` + "script>";
    const loaded = new Promise((resolve) => { below.onload = resolve; });
    document.body.append(below);
    await loaded;
    top.postMessage(frame("past the relay"), "*");
    // Messages in the relay page, which has the Activity's origin, as if they came from elsewhere.
    const relay = (nonce, origin, source) => parent.dispatchEvent(
        new MessageEvent("message", { data: frame(nonce), origin, source }));
    relay("from another frame", location.origin, below.contentWindow);
    relay("from another origin", "https://example.com", window);
    relay("not from the client's frame", client, below.contentWindow);
    relay("not from the client's origin", "https://example.com", top);
    const shake = (fields) => parent.postMessage([0, { v: 1, encoding: "json", ...fields }], location.origin);
    shake({ client_id: window.sdk.clientId, frame_id: "another" });
    await attempt("cookies of the client", () => document.cookie.includes("moothall"));
    await attempt("storage of the client", () => top.localStorage.length);
    await attempt("page of the client", () => top.document.title);
    await attempt("navigation", () => { top.location = "https://example.com/"; return "done"; });
    await attempt("popup", () => window.open("https://example.com/") === null);
    await attempt("form", () => {
        const form = document.createElement("form");
        Object.assign(form, { action: "/elsewhere", target: "_top" });
        document.body.append(form);
        form.submit();
        return "done";
    });
    await attempt("another host", async () => (await fetch("http://127.0.0.1:9/")).status);
    await attempt("a redirect to a private address", async () => (await fetch("/away")).status);
    await attempt("the API as the user", async () => {
        const options = { credentials: "include" };
        return (await fetch(`${client}/api/v10/users/@me`, options)).status;
    });
    await window.sdk.commands.getPlatformBehaviors();
    outcome.heard = heard.filter((nonce) => /^(below|past|from|not) ?/.test(nonce));
    return outcome;
}"""


FOREIGN = """() => {
    const ended = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    window.foreign = new Promise((resolve) => {
        addEventListener("message", ({ data }) => data === "last" && ended().then(resolve));
    });
}"""


async def replace_page(activity: ActivityPage, api: Api) -> None:
    """Let the Activity lead its frame to another application's origin, whose messages are not its own."""
    page = activity.client.page
    frame_id = await activity.evaluate("() => new URLSearchParams(location.search).get('frame_id')")
    await page.evaluate(FOREIGN)
    frame = await lead_away(activity, api)
    shake = [0, {"v": 1, "encoding": "json", "client_id": "1", "frame_id": frame_id}]
    await frame.evaluate("(shake) => { parent.postMessage(shake, '*'); parent.postMessage('last', '*'); }", shake)
    await page.evaluate("() => window.foreign")
    await expect(page.get_by_text("The Activity has ended")).to_have_count(0)
    await page.get_by_role("button", name="Leave the Activity").click()
    await expect(page.locator(".activity")).to_have_count(0)


async def test_an_activity_does_not_break_out_of_its_frame(activity: ActivityPage, api: Api) -> None:
    page, url = activity.client.page, activity.client.page.url
    outcome = await activity.evaluate(ATTACK, activity.client.url)
    assert outcome.pop("navigation").startswith("refused")
    assert outcome == {
        "cookies of the client": False,
        "storage of the client": "refused SecurityError",
        "page of the client": "refused SecurityError",
        "popup": True,
        "form": "done",
        "another host": "refused TypeError",
        "a redirect to a private address": "refused TypeError",
        "the API as the user": "refused TypeError",
        "heard": [],
    }
    # A message of the client's own origin is none of the Activity's: it ends nothing.
    await page.evaluate("""() => window.postMessage([2, { code: 1000 }], "*")""")
    assert await activity.call("getPlatformBehaviors") == {"iosKeyboardResizesView": True}
    assert (page.url, len(page.context.pages)) == (url, 1)
    await replace_page(activity, api)
    await activity.launch()
    # A handshake as another application ends the connection with the public code, and the client stays as it is.
    shake = """() => parent.postMessage([0, { v: 1, encoding: "json", client_id: "1",
        frame_id: new URLSearchParams(location.search).get("frame_id") }], location.origin)"""
    await activity.evaluate(shake)
    await expect(page.get_by_text("The Activity has ended: Invalid client id")).to_be_visible()
    await expect(activity.client.box).to_be_attached()


MODULE = "document.body.dataset.version = '%d'; import.meta.hot.accept();"


async def test_a_development_server_replaces_modules_through_the_proxy(
    activity: ActivityPage, api: Api, tmp_path: Path
) -> None:
    """Vite, as public guides use it, without any setting for the proxy: its WebSocket carries the changes."""
    (tmp_path / "index.html").write_text('<!doctype html><body><script type="module" src="/main.js"></script></body>')
    (tmp_path / "main.js").write_text(MODULE % 1)
    port = free_port()
    vite = str(EXAMPLE / "node_modules" / "vite" / "bin" / "vite.js")
    arguments = (vite, str(tmp_path), "--host", "127.0.0.1", "--port", str(port), "--strictPort")
    process = await asyncio.create_subprocess_exec("node", *arguments, stdout=asyncio.subprocess.DEVNULL)
    try:
        await answers(port)
        mapping = {"prefix": "/", "target": f"localhost:{port}"}
        await api.post(f"/applications/{activity.application['id']}/proxy-config", {"url_map": [mapping]})
        async with activity.client.page.expect_console_message(lambda message: "[vite] connected" in message.text):
            await activity.evaluate("() => { location.reload(); }")
        await expect(activity.frame.locator("body[data-version='1']")).to_be_attached()
        await activity.evaluate("() => { window.kept = true; }")
        (tmp_path / "main.js").write_text(MODULE % 2)
        await expect(activity.frame.locator("body[data-version='2']")).to_be_attached()
        assert await activity.evaluate("() => window.kept") is True
    finally:
        process.terminate()
        await process.wait()
    assert activity.client.errors == []


async def test_developers_see_the_messages_of_the_sdk(activity: ActivityPage, api: Api) -> None:
    page = activity.client.page
    await expect(page.get_by_role("button", name="Show the SDK's messages")).to_have_count(0)
    await api.post("/users/@me/settings", {"developer_mode": True}, "PATCH")
    await page.get_by_role("button", name="Show the SDK's messages").click()
    await activity.call("getPlatformBehaviors")
    panel = page.get_by_role("region", name="Messages of the SDK")
    entry = panel.get_by_role("listitem").filter(has_text="GET_PLATFORM_BEHAVIORS").first
    await entry.locator("summary").click()
    await expect(entry.locator("pre")).to_contain_text("iosKeyboardResizesView")
    await panel.get_by_role("button", name="Clear").click()
    await expect(panel.get_by_role("listitem")).to_have_count(0)
