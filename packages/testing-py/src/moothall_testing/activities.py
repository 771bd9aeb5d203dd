"""Activities as people of a test see them: in the platform's own client, in headless Chromium."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final, TypeVar

from moothall_testing.action import Action
from moothall_testing.browser import STEP_MS, Browser, Remote, plain_object
from moothall_testing.waiting import Entry, Follower
from moothall_testing.world import World

T = TypeVar("T")

_WITHIN: Final = STEP_MS / 1000
_PAUSE: Final = 0.02
_LOG_IN: Final = """if (location.origin === %s) {
    localStorage.setItem("moothall.accounts", JSON.stringify([%s]));
}"""


class ClientMissing(RuntimeError):
    """The client for people is not built. The message says how to build it."""


class ActivityWindow:
    """An Activity as one person sees it, from `launches_activity` or `joins_activity` to the end of the test."""

    def __init__(self, world: World, browser: Browser, page: Any, session_id: str) -> None:
        self._world = world
        self._browser = browser
        self._page = page
        self.session_id = session_id
        """The gateway session of the person's client."""
        self.application_id = ""
        self.channel_id = ""
        self.instance_id = ""
        """As the SDK has it in `instanceId`."""
        self.errors: list[str] = []
        """Uncaught errors and error messages of the console."""
        self._frame: Any = None
        self._id = self._location_id = ""

    @property
    def frame(self) -> Any:
        """Playwright's Frame of the Activity, whose methods are actions: `await window.frame.click("#start")`."""
        return Remote(self._browser, self._frame)

    @property
    def page(self) -> Any:
        """Playwright's Page of the whole client, with its dialogs."""
        return Remote(self._browser, self._page)

    def expects(self, target: Any) -> Any:
        """Playwright's assertions of a locator or page: `await window.expects(locator).to_have_text("...")`."""
        from playwright.async_api import expect  # noqa: PLC0415 an extra

        own = type(expect)()
        own.set_options(timeout=STEP_MS)
        return Remote(self._browser, self._browser.call(own, plain_object(target)))

    def allows(self) -> Action[None]:
        """Agree to what the Activity asks for with `authorize`."""
        return self.page.get_by_role("button", name="Allow", exact=True).click()  # type: ignore[no-any-return]

    def evaluates(self, script: str, argument: Any = None) -> Action[Any]:
        """Run a JavaScript function in the Activity's page; its result."""
        return self.frame.evaluate(script, argument)  # type: ignore[no-any-return]

    def drive(self, function: Callable[[Any, Any], Awaitable[T]], *, within: float = 60.0) -> Action[T]:
        """Run an asynchronous function with Playwright's own Frame and Page, in the browser's thread; its result."""

        async def work() -> T:
            return await function(self._frame, self._page)

        return Action(lambda: self._browser.run(work(), within=within))

    def participants(self) -> list[str]:
        """The names of those who take part, in the order in which they came."""
        page = self._world.control("GET", "/transcript")
        updates = [entry["data"] for entry in page["entries"] if _is_update(entry, self.instance_id)]
        names = {person["id"]: name for name, person in self._world.info["people"].items()}
        users = updates[-1]["participants"] if updates else []
        return list(dict.fromkeys(names.get(each["user_id"], each["user_id"]) for each in users))

    def screenshot(self, path: Path) -> None:
        """Write a picture of the client."""
        path.parent.mkdir(parents=True, exist_ok=True)
        self._browser.run(self._page.screenshot(path=path))

    def enter(self, follower: Follower, request: Callable[[], object]) -> None:
        """Send the request that launches or joins, and wait until the Activity's page is there."""
        request()
        entry = follower.until(
            self._is_joined, within=_WITHIN, what="EMBEDDED_ACTIVITY_UPDATE_V2 with this participant"
        )
        data = entry["data"]
        self.application_id, self.channel_id = data["application_id"], data["location"]["channel_id"]
        self.instance_id, self._id = data["composite_instance_id"], data["instance_id"]
        self._location_id = data["location"]["id"]
        self._frame = self._browser.run(self._find_frame())

    def _is_joined(self, entry: Entry) -> bool:
        data = entry.get("data") or {}
        return _is_update(entry) and any(each["session_id"] == self.session_id for each in data["participants"])

    async def _find_frame(self) -> Any:
        deadline = monotonic() + _WITHIN
        while monotonic() < deadline:
            for frame in self._page.frames:
                parent = frame.parent_frame
                if parent is not None and self._world.info["relay_path"] in parent.url and frame.url.startswith("http"):
                    await frame.wait_for_load_state("domcontentloaded")
                    return frame
            await asyncio.sleep(_PAUSE)
        text = await self._page.locator("body").inner_text()
        raise AssertionError("\n".join(["the Activity does not load. The client shows:", text, *self.errors]))

    def leave(self, call: Callable[..., object]) -> None:
        """Leave with the request of the client that is sent by `call`, and close the window."""
        location_id = self._location_id
        path = f"/applications/{self.application_id}/activities/{location_id}/instances/{self._id}/leave"
        call("POST", path, {"session_id": self.session_id})
        self.close()

    def close(self) -> None:
        """Close the person's client. Does nothing the second time."""
        page, self._page = self._page, None
        if page is not None:
            self._browser.run(page.context.close())


def open_window(world: World, person: Mapping[str, Any], guild_id: str | None, channel_id: str) -> ActivityWindow:
    """Open the client of a person in a channel, in a profile of its own. Raises BrowserMissing and ClientMissing."""
    if not world.info["has_client"]:
        raise ClientMissing("Activities need the client for people: run `make client` where Moothall was cloned")
    browser, url = world.server.browser(), world.info["url"]
    account = json.dumps({"userId": person["id"], "token": person["token"]})
    before = _sessions(world, person["name"])
    page = browser.run(browser.new_page(_LOG_IN % (json.dumps(url), account)))
    window = ActivityWindow(world, browser, page, "")
    browser.call(_listen, page, window.errors)
    try:
        browser.run(page.goto(f"{url}/channels/{guild_id or '@me'}/{channel_id}"))
        window.session_id = _new_session(world, person["name"], before)
    except BaseException:
        with suppress(Exception):
            window.close()
        raise
    return window


def _listen(page: Any, errors: list[str]) -> None:
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)


def _is_update(entry: Entry, instance_id: str | None = None) -> bool:
    return (
        entry["kind"] == "event"
        and entry["name"] == "EMBEDDED_ACTIVITY_UPDATE_V2"
        and instance_id in {None, entry["data"]["composite_instance_id"]}
    )


def _sessions(world: World, name: str) -> set[str]:
    answer = world.control("GET", "/sessions")
    return {each["id"] for each in answer["sessions"] if each["actor"] == name}


def _new_session(world: World, name: str, before: set[str]) -> str:
    """Wait until the client of a person has identified; the id of its session."""
    deadline, pause = monotonic() + _WITHIN, threading.Event()
    while monotonic() < deadline:
        if new := _sessions(world, name) - before:
            return new.pop()
        pause.wait(_PAUSE)
    raise AssertionError(f"the client of {name} did not connect to the gateway within {_WITHIN:g} s")
