"""The client in a language that is written from right to left, in Chromium."""

from playwright.async_api import Browser, expect

from tests.clients.client_pages import ClientPage, call, picture, sign_up
from tests.clients.live import Server


async def test_arabic_is_laid_out_from_right_to_left(browser: Browser, server: Server) -> None:
    owner = await sign_up(server.url, "amal")
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "Chess"})
    client = await ClientPage.logged_in(browser, server.url, owner, f"/channels/{guild['id']}", locale="ar")
    page = client.page
    root = page.locator("html")
    await expect(root).to_have_attribute("lang", "ar")
    await expect(root).to_have_attribute("dir", "rtl")
    rail = page.get_by_role("navigation", name="الخوادم")
    await expect(rail).to_be_visible()
    box = page.get_by_role("textbox").last
    await box.fill("شكرًا (Ada)!")
    await box.press("Enter")
    message = page.locator("article.message", has_text="شكرًا")
    await expect(message).to_be_visible()
    width = await page.evaluate("innerWidth")
    rail_box, message_box = await rail.bounding_box(), await message.bounding_box()
    assert rail_box is not None
    assert message_box is not None
    assert rail_box["x"] + rail_box["width"] == width
    assert message_box["x"] < rail_box["x"]
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await picture(page, "arabic")
    assert await client.violations() == []
    await page.goto(f"{server.url}/app/settings/appearance")
    await expect(page.get_by_role("heading", name="المظهر").first).to_be_visible()
    await picture(page, "arabic-settings")
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert client.errors == []
