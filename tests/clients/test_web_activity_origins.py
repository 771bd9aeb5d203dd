"""Messages between an Activity, the relay page and the client go to the origin that they are meant for, and no other.

A frame can be led to another origin at any time, so that each message names the origin that may receive it.
"""

import re
from collections.abc import AsyncIterator
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Frame, Page, Route, expect

from moothall.activities.origin import ActivityOrigins
from moothall.activities.relay import RelayPage
from moothall.objects.ids import ApplicationId, Snowflake
from tests.clients.activity_page import ActivityPage, Api, lead_away

APPLICATION: Final = ApplicationId(Snowflake(1 << 60))
CLIENT: Final = "http://client.example"
FOREIGN: Final = "http://foreign.example"
ORIGINS: Final = ActivityOrigins("http://activities.example", CLIENT)
ACTIVITY: Final = ORIGINS.of(APPLICATION)
LISTENING: Final = "<!doctype html><script>heard = []; onmessage = ({ data }) => heard.push(data);</script>"
LAST: Final = "the last message"


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


class Windows:
    """The relay page without its policies, in a page of some origin, with the Activity in its frame."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.tickets: list[str] = []

    async def open(self, origin: str) -> None:
        """Open the relay page inside a page of an origin."""
        await self.page.route("**/*", self._answer)
        await self.page.goto(f"{origin}/")
        await self.page.wait_for_function("() => frames.length === 1 && document.readyState === 'complete'")
        await expect(self.page.frame_locator("iframe").frame_locator("iframe").locator("html")).to_be_attached()

    async def _answer(self, route: Route) -> None:
        url = route.request.url
        if url.startswith(f"{ACTIVITY}/.moothall/ticket"):
            self.tickets.append(url)
            await route.fulfill(status=204)
            return
        body = LISTENING
        if url == f"{ACTIVITY}/.moothall/relay":
            body = RelayPage(ORIGINS, APPLICATION).body.decode()
        elif route.request.frame.parent_frame is None:
            body += f'<iframe src="{ACTIVITY}/.moothall/relay"></iframe>'
        await route.fulfill(body=body, content_type="text/html")

    @property
    def relay(self) -> Frame:
        """The relay page."""
        return self.page.main_frame.child_frames[0]

    @property
    def activity(self) -> Frame:
        """The page in the frame of the relay page."""
        return self.relay.child_frames[0]

    async def heard(self, sender: Frame, receiver: Frame, message: Any) -> list[Any]:
        """What a window hears once the relay page has got a message from another one."""
        await self.relay.evaluate(
            """() => { window.relayed = new Promise((resolve) => addEventListener("message", resolve)); }"""
        )
        way = "parent" if sender is self.activity else "frames[0]"
        await sender.evaluate(f"(message) => {way}.postMessage(message, '*')", message)
        # What the relay page sends itself comes after what it has passed on.
        other = "parent" if receiver is self.page.main_frame else "frames[0]"
        await self.relay.evaluate(
            f"(last) => window.relayed.then(() => {other}.postMessage(last, '*')).then(() => 0)", LAST
        )
        await receiver.wait_for_function("(last) => heard.includes(last)", arg=LAST)
        heard: list[Any] = await receiver.evaluate("() => heard.splice(0)")
        return heard[:-1]


@pytest.fixture
async def windows(pages_browser: Browser) -> AsyncIterator[Windows]:
    page = await pages_browser.new_page()
    yield Windows(page)
    await page.close()


async def test_the_relay_page_carries_messages_between_the_client_and_the_activity(windows: Windows) -> None:
    await windows.open(CLIENT)
    client = windows.page.main_frame
    assert await windows.heard(windows.activity, client, "hi") == ["hi"]
    assert await windows.heard(client, windows.activity, "hello") == ["hello"]
    async with windows.page.expect_response(re.compile("/ticket")):
        assert await windows.heard(client, windows.activity, {"proxyTicket": "a.b"}) == []
    assert windows.tickets == [f"{ACTIVITY}/.moothall/ticket?discord_proxy_ticket=a.b"]


async def test_the_relay_page_sends_nothing_to_another_page_around_it(windows: Windows) -> None:
    await windows.open(FOREIGN)
    around = windows.page.main_frame
    assert await windows.heard(windows.activity, around, "secret") == []
    assert await windows.heard(around, windows.activity, "forged") == []
    assert await windows.heard(around, windows.activity, {"proxyTicket": "a.b"}) == []
    assert windows.tickets == []


async def test_the_relay_page_sends_nothing_to_another_page_in_its_frame(windows: Windows) -> None:
    await windows.open(CLIENT)
    client = windows.page.main_frame
    await windows.activity.goto(f"{FOREIGN}/")
    assert await windows.heard(client, windows.activity, "secret") == []
    assert await windows.heard(windows.activity, client, "forged") == []


async def heard_by(page: Page, frame: Frame) -> list[Any]:
    """What a frame has heard from the client."""
    await page.evaluate(
        "(last) => document.querySelector('.activity-frame iframe').contentWindow.postMessage(last, '*')", LAST
    )
    await frame.wait_for_function("(last) => heard.includes(last)", arg=LAST)
    heard: list[Any] = await frame.evaluate("() => heard.splice(0)")
    return heard[:-1]


async def test_the_client_sends_nothing_to_another_origin_in_the_frame(activity: ActivityPage, api: Api) -> None:
    page = activity.client.page
    await activity.subscribe("ACTIVITY_LAYOUT_MODE_UPDATE")
    paused: list[Route] = []

    async def pause(route: Route) -> None:
        paused.append(route)

    await page.route("**/proxy-tickets", pause)
    await activity.evaluate("() => { window.sdk.commands.requestProxyTicketRefresh(); }")
    async with page.expect_response("**/proxy-tickets") as answered:
        frame = await lead_away(activity, api)
        await frame.evaluate("() => { window.heard = []; onmessage = ({ data }) => heard.push(data); }")
        await paused[0].continue_()
    assert (await answered.value).ok
    await page.get_by_role("button", name="Make small").click()
    await expect(page.locator(".activity-pip")).to_be_visible()
    assert await heard_by(page, frame) == []
