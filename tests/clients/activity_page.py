"""An Activity whose page does nothing but hold the public SDK, for tests that call its commands and use its events."""

import asyncio
import base64
import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import aiohttp
from aiohttp import web
from playwright.async_api import Frame, FrameLocator, Locator, expect

from tests.clients.client_pages import PASSWORD, Account, ClientPage

SDK: Final = (
    Path(__file__).parents[2] / "examples" / "activity" / "node_modules" / "@discord" / "embedded-app-sdk" / "output"
)
RELEASED: Final = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}
"""Settings with which anyone may launch an Activity where it is installed."""
SCOPES: Final = ("guilds", "identify", "rpc.activities.write", "rpc.voice.read")
SHARED: Final = [{"name": "level", "value": "7"}, {"name": "hard", "value": "true"}]
"""Options of the command `brag`, as an Activity shares them."""
_PAGE: Final = """<!doctype html><html lang="en"><title>Activity</title><body><script type="module">
import { DiscordSDK, Events } from "/sdk/index.mjs";
const { client_id: id } = await (await fetch("/id")).json();
window.events = [];
window.listeners = new Map();
window.eventNames = Object.values(Events);
window.sdk = new DiscordSDK(id, { disableConsoleLogOverride: true });
await window.sdk.ready();
document.body.dataset.ready = "true";
</script></body></html>"""
_CALL: Final = """(_, [command, args]) => window.sdk.commands[command](args).then(
  (value) => ({ value }), (error) => ({ code: error.code, error: String(error.message) }))"""

_SUBSCRIBE: Final = """(_, [event, args]) => {
    const listener = (data) => window.events.push([event, data]);
    window.listeners.set(event, listener);
    return window.sdk.subscribe(event, listener, args ?? undefined).then(() => null, ({ code }) => {
        // The SDK keeps the listener, with which it would not ask again.
        window.sdk.eventBus.off(event, listener);
        return code;
    });
}"""


class Api:
    """Requests of one account."""

    def __init__(self, session: aiohttp.ClientSession, url: str) -> None:
        self.session = session
        self.url = f"{url}/api/v10"
        self.token = ""

    async def log_in(self, username: str) -> None:
        """Log in with the password of all accounts."""
        self.token = (await self.post("/auth/login", {"login": username, "password": PASSWORD}))["token"]

    async def post(self, path: str, body: Any, method: str = "POST") -> Any:
        """Send a request; its response."""
        headers = {"authorization": self.token} if self.token else {}
        data = {} if body is None else {"json": body}
        async with self.session.request(method, self.url + path, headers=headers, **data) as response:
            assert response.status < 300, await response.text()
            return None if response.status == 204 else await response.json()


async def register(api: Api, name: str) -> Account:
    """A new account; `api` makes its requests from now on."""
    api.token = ""
    login = await api.post("/auth/register", {"username": name, "password": PASSWORD})
    api.token = login["token"]
    return Account(login["user_id"], api.token)


class ActivityPage:
    """The Activity as one user sees it."""

    def __init__(self, client: ClientPage, application: dict[str, Any], guild_id: str) -> None:
        self.client = client
        self.application = application
        self.guild_id = guild_id

    @property
    def frame(self) -> FrameLocator:
        """The Activity's own frame, inside that of the relay page."""
        return self.client.page.frame_locator(".activity-frame iframe").frame_locator("iframe")

    @property
    def body(self) -> Locator:
        """The body of the Activity's page."""
        return self.frame.locator("body")

    async def launch(self, button: str = "Launch") -> None:
        """Launch the Activity from the shelf, and wait until the SDK is ready."""
        await self.client.page.get_by_role("button", name="Activities").click()
        await self.client.page.get_by_role("button", name=button, exact=True).click()
        await self.wait_until_ready()

    async def wait_until_ready(self) -> None:
        """Wait until the SDK has shaken hands."""
        await expect(self.frame.locator("body[data-ready]")).to_be_attached()

    async def evaluate(self, script: str, argument: Any = None) -> Any:
        """Run a function in the Activity's page; its first parameter is the body."""
        return await self.body.evaluate(script, argument)

    async def call(self, command: str, args: Any = None) -> Any:
        """Call a command of the SDK: its value, or the code of the error."""
        answer = await self.evaluate(_CALL, [command, args])
        return answer.get("value") if "code" not in answer else answer["code"]

    def start(self, command: str, args: Any = None) -> "asyncio.Task[Any]":
        """Call a command that is answered once the user has done something."""
        return asyncio.ensure_future(self.call(command, args))

    async def subscribe(self, event: str, args: Any = None) -> Any:
        """Subscribe to an event, whose data are then collected; the code of the error, if it is refused."""
        return await self.evaluate(_SUBSCRIBE, [event, args])

    async def unsubscribe(self, event: str) -> None:
        """End a subscription."""
        await self.evaluate(
            "(_, name) => window.sdk.unsubscribe(name, window.listeners.get(name)).then(() => 0)", event
        )

    async def first_event(self) -> Any:
        """Wait for the first event: its name and its data."""
        script = """async () => {
            while (window.events.length === 0) { await new Promise((resolve) => setTimeout(resolve, 20)); }
            return window.events[0];
        }"""
        return await self.evaluate(script)

    async def wait_for_user(self, user_id: str) -> None:
        """Wait until the client knows a user. Needs the scope identify."""
        script = """async (_, id) => {
            while ((await window.sdk.commands.getUser({ id })) === null) {
                await new Promise((resolve) => setTimeout(resolve, 50));
            }
        }"""
        await self.evaluate(script, user_id)

    async def send_to(self, channel: str, button: str = "Send") -> None:
        """Choose a channel in the dialog that is open, and confirm."""
        dialog = self.client.page.get_by_role("dialog")
        await dialog.get_by_role("combobox", name="Send to").fill(channel)
        await self.client.page.get_by_role("option", name=channel).first.click()
        await dialog.get_by_role("button", name=button, exact=True).click()
        await expect(dialog).to_have_count(0)


@asynccontextmanager
async def serve_activity(application_id: str) -> AsyncIterator[int]:
    """Serve the page of an application's Activity; the port."""

    async def page(_request: web.Request) -> web.Response:
        return web.Response(text=_PAGE, content_type="text/html")

    async def client_id(_request: web.Request) -> web.Response:
        return web.json_response({"client_id": application_id})

    async def who(request: web.Request) -> web.Response:
        """What the proxy says about the user."""
        return web.Response(body=base64.b64decode(request.headers.get("x-discord-proxy-payload", "bnVsbA==")))

    async def picture(_request: web.Request) -> web.FileResponse:
        return web.FileResponse(Path(__file__).with_name("icon.png"))

    async def away(_request: web.Request) -> web.Response:
        return web.Response(status=302, headers={"location": "http://169.254.169.254/latest/meta-data"})

    app = web.Application()
    app.router.add_get("/", page)
    app.router.add_get("/away", away)
    app.router.add_get("/who", who)
    app.router.add_get("/picture.png", picture)
    app.router.add_get("/id", client_id)
    app.router.add_static("/sdk", SDK)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


async def access_token(activity: ActivityPage, api: Api, scopes: Sequence[str], *, needs_consent: bool) -> str:
    """A token for scopes, which authorize asks the user for unless they have allowed all of them before."""
    app = activity.application
    params = {"client_id": app["id"], "response_type": "code", "state": "", "prompt": "none", "scope": list(scopes)}
    authorizing = activity.start("authorize", params)
    if needs_consent:
        await activity.client.page.get_by_role("button", name="Allow").click()
    form = {
        "client_id": app["id"],
        "client_secret": app["secret"],
        "grant_type": "authorization_code",
        "code": (await authorizing)["code"],
    }
    async with api.session.post(f"{api.url}/oauth2/token", data=form) as response:
        token: str = (await response.json())["access_token"]
    return token


async def authenticate(
    activity: ActivityPage, api: Api, scopes: Sequence[str] = SCOPES, *, needs_consent: bool = True
) -> None:
    """Get a token and authenticate with it."""
    token = await access_token(activity, api, scopes, needs_consent=needs_consent)
    assert (await activity.call("authenticate", {"access_token": token}))["scopes"] == list(scopes)


async def brag(activity: ActivityPage, api: Api) -> None:
    """Install the application, with a command `brag`."""
    app, owner = activity.application, api.token
    query = f"client_id={app['id']}&scope=applications.commands"
    await api.post(f"/oauth2/authorize?{query}", {"authorize": True, "guild_id": activity.guild_id})
    options = [{"type": kind, "name": name, "description": "x"} for kind, name in ((4, "level"), (5, "hard"))]
    api.token = f"Bot {app['bot']['token']}"
    await api.post(f"/applications/{app['id']}/commands", {"name": "brag", "description": "x", "options": options})
    api.token = owner


async def lead_away(activity: ActivityPage, api: Api) -> Frame:
    """Let the Activity lead its frame to the origin of another application; its page there."""
    page, app = activity.client.page, activity.application
    other = await api.post("/applications", {"name": "Other"})
    config = await api.post(f"/applications/{app['id']}/proxy-config", None, "GET")
    await api.post(f"/applications/{other['id']}/set-embedded", {"embedded": True})
    await api.post(f"/applications/{other['id']}/proxy-config", {"url_map": config["url_map"]})
    # Its own frame may not navigate the one above, but a link in that one may.
    script = """(_, id) => {
        const link = parent.document.createElement("a");
        link.href = `${location.origin.replace(/[0-9]{15,}/, id)}/id`;
        parent.document.body.append(link);
        link.click();
    }"""
    await activity.evaluate(script, other["id"])
    await expect(page.frame_locator(".activity-frame iframe").get_by_text(app["id"])).to_be_visible()
    frame = page.frame(url=re.compile(rf"//{other['id']}\."))
    assert frame is not None
    await api.post(f"/applications/{other['id']}/set-embedded", {"embedded": False})
    return frame
