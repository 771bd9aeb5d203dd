"""The content security policy of the client for people, in Chromium: no screen does what it forbids.

Chromium writes each violation to the console, where `ClientPage` notes it: a test that checks its errors checks the
policy. The sections of both settings are visited by the tests of their accessibility.
"""

from typing import Any, Final

import pytest
from playwright.async_api import Browser, FilePayload, Page, expect

from moothall.pages.client_files import INSERTED_STYLES
from tests.clients.client_pages import ClientPage, becomes, call, open_new_guild, sign_up
from tests.clients.live import PIXEL, Server
from tests.support.web_client import guild_and_channel

_IPHONE: Final = (
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0"
    " Mobile/15E148 Safari/604.1"
)
_AS_AN_IPHONE: Final = """
Object.defineProperty(navigator, "platform", { get: () => "iPhone" });
Object.defineProperty(navigator, "userAgentData", { get: () => undefined });
"""
_STYLES: Final = "styles => styles.map(style => [style.textContent, style.sheet !== null])"
"""The text of each style element, and whether the browser applies it."""
_ADD_STYLES: Final = """() => {
    const style = document.createElement("style");
    style.textContent = "body { color: red }";
    document.head.append(style);
    document.body.setAttribute("style", "color: red");
}"""
_BUTTONS_STYLE, _DIALOGS_STYLE = INSERTED_STYLES
_CODE: Final = "```python\ndef meet(hall: str) -> None:\n    return None  # at noon\n```"


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def styles_of(page: Page) -> list[Any]:
    """The text of each style element of the page, and whether it is applied."""
    styles: list[Any] = await page.locator("style").evaluate_all(_STYLES)
    return sorted(styles)


async def close_dialog(page: Page) -> None:
    """Wait for a dialog to be shown, and close it."""
    await expect(page.get_by_role("dialog")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_the_only_inline_style_is_that_of_buttons(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "policy_ada1")
    await ada.page.locator("button.sidebar-title").click()
    await ada.page.get_by_role("menuitem", name="Invite people").click()
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    assert await styles_of(ada.page) == [[_BUTTONS_STYLE, True]]
    assert ada.errors == []


async def test_on_ios_an_open_dialog_adds_a_second_one(browser: Browser, server: Server) -> None:
    await sign_up(server.url, "policy_ada2")
    context = await browser.new_context(
        user_agent=_IPHONE, viewport={"width": 390, "height": 844}, service_workers="block", locale="en-US"
    )
    await context.add_init_script(_AS_AN_IPHONE)
    ada = ClientPage(await context.new_page(), server.url)
    await ada.page.goto(f"{server.url}/app/")
    await ada.log_in("policy_ada2")
    await ada.page.get_by_role("button", name="Create a server").click()
    await expect(ada.page.get_by_role("dialog")).to_be_visible()
    assert await styles_of(ada.page) == sorted([[_BUTTONS_STYLE, True], [_DIALOGS_STYLE, True]])
    await expect(ada.page.get_by_role("dialog")).to_have_css("overscroll-behavior", "contain")
    assert ada.errors == []


async def test_other_styles_are_refused_and_noted(browser: Browser, server: Server) -> None:
    ada = await ClientPage.open(browser, server.url)
    await expect(ada.page.get_by_role("button", name="Log in")).to_be_visible()
    await ada.page.evaluate(_ADD_STYLES)
    await expect(ada.page.locator("body")).not_to_have_css("color", "rgb(255, 0, 0)")

    async def refusals() -> int:
        return sum("style-src" in error for error in ada.errors)

    await becomes(refusals, 2)


async def test_messages_and_what_opens_over_them_keep_to_the_policy(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "policy_ada3", "policy_ben3")
    page = ada.page
    await ben.say(_CODE)
    await expect(page.locator("article pre .hljs-keyword").first).to_be_visible()
    await page.locator(".composer input[type=file]").set_input_files(
        FilePayload(name="lamp.png", mimeType="image/png", buffer=PIXEL)
    )
    await ada.say("||A secret|| with a lamp")
    picture = page.locator("article .attachment-image")
    await expect(picture).to_be_visible()
    await expect(ada.message("with a lamp")).not_to_contain_text("Sending…")
    await picture.click()
    await page.get_by_role("dialog").get_by_role("button", name="Close").click()
    await page.locator("article .spoiler").click()
    await page.get_by_role("button", name="Insert an emoji").click()
    await expect(page.locator("[frimousse-emoji]:visible").first).to_be_visible()
    await page.get_by_role("searchbox").fill("tada")
    emojis = page.locator("[frimousse-emoji]:visible")
    await expect(emojis.first).to_have_attribute("aria-label", "Party popper")
    await emojis.first.click()
    await expect(ada.box).not_to_have_value("")
    await ada.box.press("Enter")
    await page.locator(".composer-row").get_by_role("button", name="Add", exact=True).click()
    await page.get_by_role("menuitem", name="Create a poll").click()
    await close_dialog(page)
    await page.locator("article .message-author", has_text="policy_ben3").first.click()
    await close_dialog(page)
    await page.keyboard.press("Control+k")
    await expect(page.locator(".switcher-item").first).to_be_visible()
    await close_dialog(page)
    await page.locator(".channel-header .lucide-calendar-search").click()
    await close_dialog(page)
    for icon, name in (("spool", "Threads"), ("pin", "Pinned messages"), ("search", "Search messages")):
        await page.locator(f".channel-header .lucide-{icon}").click()
        await expect(page.get_by_role("complementary", name=name, exact=True)).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_the_settings_of_a_channel_keep_to_the_policy(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "policy_ada4")
    guild_id, channel_id = guild_and_channel(ada)
    page = ada.page
    await page.goto(f"{server.url}/channels/{guild_id}/{channel_id}")
    row = page.locator(".channel-line", has=page.locator(f".channel-row[data-channel='{channel_id}']"))
    await row.hover()
    await row.locator(".channel-edit").click()
    await expect(page.locator(".settings-body")).to_be_visible()
    sections = await page.locator("nav.channels .channel-row").all()
    assert len(sections) >= 2
    for section in sections:
        title = await section.inner_text()
        await section.click()
        await expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
        await expect(page.locator(".settings-body > *").first).to_be_visible()
    assert ada.errors == []


async def test_what_is_dragged_keeps_to_the_policy(browser: Browser, server: Server) -> None:
    account = await sign_up(server.url, "policy_ada5")
    for name in ("First Hall", "Second Hall"):
        await call(server.url, account, "POST", "/guilds", {"name": name})
    ada = await ClientPage.logged_in(browser, server.url, account)
    rail = ada.page.locator(".rail")
    await rail.get_by_role("link", name="Second Hall").drag_to(rail.get_by_role("link", name="First Hall"))
    await expect(rail.get_by_role("button", name="First Hall, Second Hall")).to_be_visible()
    assert ada.errors == []
