"""People who go through the pages of a live server: with plain forms over HTTP, and with Chromium."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Protocol, Self
from urllib.parse import urljoin

import requests
from playwright.async_api import Page, expect

from tests.clients.client_pages import PASSWORD, TIMEOUT_MS
from tests.pages.browser import HtmlForm, read_page

_FOCUSED = "() => [document.activeElement.tagName, document.activeElement.textContent.trim()]"
_TABS_MAX = 60
"""No page has so many places that the tabulator goes to."""


class Callback:
    """The address of an application that people come back to."""

    def __init__(self) -> None:
        self.login_paths: list[str] = []
        login_paths = self.login_paths

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                if self.path.startswith("/callback"):
                    login_paths.append(self.path)
                body = b"<!doctype html><title>Back</title><h1>Back at the app</h1>"
                self.send_response(200)
                self.send_header("content-type", "text/html")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                del format, args

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.base = f"http://localhost:{self._server.server_address[1]}"
        self.uri = f"{self.base}/callback"

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The URL at which the last person logged in."""
        return f"{self.base}{self.login_paths[-1]}"


class Walker(Protocol):
    """A user who can consent."""

    async def consent(self, url: str, name: str, **choices: str) -> None:
        """Open an application's link, log in, choose, allow, and come back to the application."""


class ByForms:
    """A browser of nothing but HTTP and forms."""

    def __init__(self) -> None:
        self.session = requests.Session()
        self.session.headers["accept"] = "text/html,*/*;q=0.8"

    async def consent(self, url: str, name: str, **choices: str) -> None:
        """The same without any browser."""
        await asyncio.to_thread(self._consent, url, name, choices)

    def _consent(self, url: str, name: str, choices: dict[str, str]) -> None:
        answer = self.session.get(url, timeout=TIMEOUT_MS / 1000)
        if "/login" in answer.url:
            answer = self._press(answer, "Log in", login=name, password=PASSWORD)
        self._press(answer, "Allow", **choices)

    def _press(self, page: requests.Response, button: str, **filled: str) -> requests.Response:
        forms: list[HtmlForm] = [each for each in read_page(page.text).forms if button in each.buttons()]
        # In a thread, `next` of nothing would be waited for without end.
        assert forms, page.text
        form = forms[0]
        pressed = next(each for each in form.controls if each.label == button)
        values = [pair for pair in form.values() if pair[0] not in filled] + list(filled.items())
        if pressed.name:
            values.append((pressed.name, pressed.value))
        origin = "/".join(page.url.split("/", 3)[:3])
        answer = self.session.post(
            urljoin(page.url, form.action), values, headers={"origin": origin}, timeout=TIMEOUT_MS / 1000
        )
        assert answer.status_code == 200, answer.text
        return answer


class ByChromium:
    """A page of Chromium; only the keyboard is used where `keys` says so."""

    def __init__(self, page: Page, *, keys: bool = False) -> None:
        self.page = page
        self.keys = keys
        page.set_default_timeout(TIMEOUT_MS)
        page.set_default_navigation_timeout(TIMEOUT_MS)

    async def consent(self, url: str, name: str, **choices: str) -> None:
        """The same by clicking, or by keys alone."""
        await self.open(url)
        if "/login" in self.page.url:
            await self.log_in(name)
        for field, label in choices.items():
            await self.page.locator(f"[name={field}]").select_option(label=label)
        await self.press("Allow")
        await expect(self.page).to_have_title("Back")

    async def open(self, url: str) -> None:
        """Go to an address, and wait until the page is whole."""
        await self.page.goto(url)
        await self._wait_for_focus()

    async def log_in(self, name: str) -> None:
        """Fill the form of logging in."""
        if self.keys:
            # The first field has the focus already.
            keyboard = self.page.keyboard
            await keyboard.type(name)
            await keyboard.press("Tab")
            await keyboard.type(PASSWORD)
            async with self._leaving():
                await keyboard.press("Enter")
        else:
            await self.fill(login=name, password=PASSWORD)
            await self.press("Log in")

    async def fill(self, **fields: str) -> None:
        """Write into fields."""
        for field, text in fields.items():
            await self.page.locator(f"#{field}").fill(text)

    async def press(self, button: str) -> None:
        """Press a button, by the keyboard after having gone to it with the tabulator; wait for the page it leads to."""
        if not self.keys:
            async with self._leaving():
                await self.page.get_by_role("button", name=button, exact=True).click()
            return
        for _ in range(_TABS_MAX):
            await self.page.keyboard.press("Tab")
            if await self.page.evaluate(_FOCUSED) == ["BUTTON", button]:
                async with self._leaving():
                    await self.page.keyboard.press("Enter")
                return
        raise AssertionError(f"the keyboard does not reach {button}")

    @asynccontextmanager
    async def _leaving(self) -> AsyncIterator[None]:
        """Wait until what is done inside has led to another page, and that one is whole.

        A click or a key returns before the form that it sends has left the page.
        """
        async with self.page.expect_navigation():
            yield
        await self._wait_for_focus()

    async def _wait_for_focus(self) -> None:
        """Wait for the focus of the page's first field, which browsers set when they draw the page."""
        first = self.page.locator("[autofocus]")
        if await first.count():
            await expect(first.first).to_be_focused()
