"""People who use the client in Chromium, driven by Playwright."""

import asyncio
import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, Self
from unittest import mock

import aiohttp
from playwright.async_api import Browser, ConsoleMessage, Locator, Page, async_playwright, expect

from moothall.pages.client_files import FOLDER
from tests.support.suites import leave_out

PASSWORD: Final = "correct horse battery"
TIMEOUT_MS: Final = 60_000
"""After so long, what a test expects counts as never coming. A machine that is merely busy needs far less."""
AXE: Final = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"
_AXE_OPTIONS: Final[dict[Literal["light", "dark"], dict[str, Any]]] = {
    "light": {},
    "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}},
}
"""What axe looks for in each theme: only colours differ between them."""
_ARGUMENTS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--js-flags=--no-opt --no-maglev",
    # A microphone that beeps, which may be used, and speakers: machines that run tests have none.
    "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream",
)  # fmt: skip
_POLLING: Final = Path(__file__).parent / "polling.cjs"
_PROFILE: Final = {"locale": "en-US", "reduced_motion": "reduce", "service_workers": "block"}
_STORE: Final = """
if (location.origin === %s && localStorage.getItem("test.profile") === null) {
  localStorage.setItem("test.profile", "used");
  Object.assign(localStorage, %s);
}
"""
"""Stores values once for each profile, before the page's own scripts. Playwright's way opens another page for it."""
_OFFLINE: Final = re.compile(r"net::ERR_(?:CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE)|WebSocket connection to")


def require_client() -> None:
    """Leave the running test out where the client's build is missing."""
    if not (FOLDER / "index.html").exists():
        leave_out("web-client", "the client is not built: make client")


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A browser of the machine's own Chromium. Leaves the running test out where there is none.

    Debian's build without windows takes half of the processor time.
    """
    program = shutil.which("chromium-headless-shell") or shutil.which("chromium")
    if program is None:
        leave_out("chromium", "chromium is not installed")
    expect.set_options(timeout=TIMEOUT_MS)
    async with AsyncExitStack() as stack:
        with mock.patch.dict(os.environ, NODE_OPTIONS=f'--require "{_POLLING}"'):
            playwright = await stack.enter_async_context(async_playwright())
        browser = await playwright.chromium.launch(executable_path=program, args=list(_ARGUMENTS))
        try:
            yield browser
        finally:
            await browser.close()


async def becomes(read: Callable[[], Awaitable[object]], expected: object) -> None:
    """Wait until what the server answers is as expected: a page may show a change before the server has made it."""
    deadline = asyncio.get_running_loop().time() + TIMEOUT_MS / 1000
    while (answer := await read()) != expected and asyncio.get_running_loop().time() < deadline:  # noqa: ASYNC110 no event tells
        await asyncio.sleep(0.05)
    assert answer == expected


def select_button(scope: Page | Locator, label: str) -> Locator:
    """The button of the select with a label, which shows its value and opens its list."""
    page = scope if isinstance(scope, Page) else scope.page
    own_label = page.locator(".field-label").get_by_text(label, exact=True)
    return scope.locator(".select-field").filter(has=own_label).get_by_role("button")


async def choose_option(scope: Page | Locator, label: str, option: str) -> None:
    """Choose an option of the select with a label, both by their whole texts."""
    page = scope if isinstance(scope, Page) else scope.page
    await select_button(scope, label).click()
    popover = page.locator(".select-popover")
    await expect(popover.get_by_role("listbox")).to_be_visible()
    search = popover.get_by_role("searchbox")
    if await search.count():
        # A long list has only the options in sight.
        await search.fill(option)
    await popover.get_by_role("option", name=option, exact=True).click()
    await expect(popover).to_have_count(0)


async def drop_at(page: Page, key: str, indicator: str) -> None:
    """Drop the row that is dragged by keys: press one until the drop indicator of that name has the focus, then Enter.

    The first indicator has the focus a frame after the drag began, and loses it if the list is drawn anew meanwhile.
    """
    await expect(page.locator("[aria-roledescription='drop indicator']").first).to_be_attached()
    target = page.get_by_role("button", name=indicator, exact=True)
    async with asyncio.timeout(TIMEOUT_MS / 1000):
        while not await target.evaluate_all("each => each.includes(document.activeElement)"):
            await page.keyboard.press(key)
    await page.keyboard.press("Enter")


async def picture(page: Page, name: str) -> None:
    """Save a picture of the page to be looked at: in the folder that an environment variable names."""
    if folder := os.environ.get("MOOTHALL_TEST_PICTURES"):
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            await page.emulate_media(color_scheme=scheme)
            await page.screenshot(path=f"{folder}/{name}-{scheme}.png")
            size = page.viewport_size
            await page.set_viewport_size({"width": 390, "height": 800})
            await page.screenshot(path=f"{folder}/{name}-{scheme}-phone.png")
            if size is not None:
                await page.set_viewport_size(size)


class Account(NamedTuple):
    """An account with a session token."""

    id: str
    token: str

    @property
    def stored(self) -> dict[str, str]:
        """What the client's local storage has when this account is logged in."""
        return {"moothall.accounts": json.dumps([{"userId": self.id, "token": self.token}])}


async def call(url: str, account: Account | None, method: str, path: str, body: object = None) -> Any:
    """Send a request of the API, which is answered with success."""
    headers = {} if account is None else {"Authorization": account.token}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.request(method, f"{url}/api/v10{path}", json=body) as response,
    ):
        assert response.ok, await response.text()
        return await response.json() if response.status != 204 else None


async def sign_up(url: str, username: str) -> Account:
    """Register an account over HTTP."""
    login = await call(url, None, "POST", "/auth/register", {"username": username, "password": PASSWORD})
    return Account(login["user_id"], login["token"])


async def open_new_guild(browser: Browser, url: str, *names: str, **options: Any) -> list["ClientPage"]:
    """The clients of the owner and the members of a new guild, with its first channel open."""
    owner, *members = [await sign_up(url, name) for name in names]
    guild = await call(url, owner, "POST", "/guilds", {"name": "The Moot"})
    channels = await call(url, owner, "GET", f"/guilds/{guild['id']}/channels")
    channel = next(each["id"] for each in channels if each["type"] == 0)
    invite = await call(url, owner, "POST", f"/channels/{channel}/invites", {})
    for member in members:
        await call(url, member, "POST", f"/invites/{invite['code']}", {})
    path = f"/channels/{guild['id']}/{channel}"
    clients = [await ClientPage.logged_in(browser, url, each, path, **options) for each in (owner, *members)]
    for client in clients:
        await expect(client.box).to_be_visible()
    return clients


class ClientPage:
    """A user's client in a browser profile of its own."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.errors: list[str] = []
        """Uncaught errors and error messages of the console, violations of the content security policy among them."""
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._note)

    @classmethod
    async def open(
        cls,
        browser: Browser,
        url: str,
        path: str = "/app/",
        *,
        stored: Mapping[str, str] | None = None,
        **options: Any,
    ) -> Self:
        """Open the client with a new profile. `options` are those of Playwright's contexts.

        `stored` is what the profile's local storage begins with.

        Service workers are blocked: keeping the client's files costs a quarter of what opening it does.
        """
        context = await browser.new_context(**_PROFILE | options)
        if stored:
            await context.add_init_script(_STORE % (json.dumps(url), json.dumps(stored)))
        client = cls(await context.new_page(), url)
        await client.page.goto(url + path)
        return client

    @classmethod
    async def open_as(cls, browser: Browser, url: str, account: Account, path: str, **options: Any) -> Self:
        """Open the client with a new profile in which an account is logged in."""
        return await cls.open(browser, url, path, stored=account.stored, **options)

    @classmethod
    async def logged_in(
        cls, browser: Browser, url: str, account: Account, path: str = "/channels/@me", **options: Any
    ) -> Self:
        """The same, at a screen that shows the user's name, once it does."""
        client = await cls.open_as(browser, url, account, path, **options)
        # Lists of accounts show the name that the client was told.
        await expect(client.page.locator(".user-names")).to_have_count(1)
        return client

    def _note(self, message: ConsoleMessage) -> None:
        if message.type == "error" and _OFFLINE.search(message.text) is None:
            self.errors.append(message.text)

    async def register(self, username: str) -> None:
        """Register an account through the form, and arrive at the direct messages."""
        await self.page.get_by_role("link", name="Register").click()
        await self.page.get_by_label("Username").fill(username)
        await self.page.get_by_label("Password").fill(PASSWORD)
        await self.page.get_by_role("button", name="Register").click()
        await self.page.wait_for_url("**/channels/@me")

    async def log_in(self, username: str) -> None:
        """Log in through the form, and arrive at the direct messages."""
        await self.page.get_by_label("Username or email").fill(username)
        await self.page.get_by_label("Password").fill(PASSWORD)
        await self.page.get_by_role("button", name="Log in").click()
        await self.page.wait_for_url("**/channels/@me")

    async def create_guild(self, name: str) -> None:
        """Create a server and arrive in its first channel."""
        await self.page.get_by_role("button", name="Create a server").click()
        await self.page.get_by_role("textbox", name="Name", exact=True).fill(name)
        await self.page.get_by_role("button", name="Create", exact=True).click()
        await expect(self.box).to_be_visible()

    async def invite_link(self) -> str:
        """Make an invite in the guild that is open; its code."""
        await self.page.locator("button.sidebar-title").click()
        await self.page.get_by_role("menuitem", name="Invite people").click()
        field = self.page.get_by_label("Invite link")
        await expect(field).to_have_value(re.compile("/invite/"))
        link = await field.input_value()
        await self.page.get_by_role("button", name="Close").click()
        return link.rpartition("/")[2]

    async def join(self, code: str) -> None:
        """Join by an invite."""
        await self.page.goto(f"{self.url}/app/invite/{code}")
        await self.page.get_by_role("button", name=re.compile("^Join")).click()
        await expect(self.box).to_be_visible()

    @property
    def box(self) -> Locator:
        """The text box of the composer."""
        return self.page.get_by_role("textbox", name=re.compile("^Message "))

    async def say(self, text: str) -> None:
        """Send a message."""
        await self.box.fill(text)
        await self.box.press("Enter")

    def message(self, text: str) -> Locator:
        """The messages that contain a text."""
        return self.page.locator("article.message", has_text=text)

    async def violations(self) -> list[str]:
        """The accessibility rules that the screen violates in either theme, by axe."""
        if not await self.page.evaluate("'axe' in window"):
            # Evaluated, since the policy of the page refuses a script element.
            await self.page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
        violations: list[str] = []
        for theme, options in _AXE_OPTIONS.items():
            await self.page.emulate_media(color_scheme=theme)
            results = await self.page.evaluate(
                "options => axe.run(document, options)", {"resultTypes": ["violations"]} | options
            )
            violations += [
                f"{theme}: {violation['id']}: {node['html'][:160]}"
                for violation in results["violations"]
                for node in violation["nodes"]
            ]
        return violations
