"""Keys and menus of the client, in Chromium: messages by the arrow keys, and a secondary press on what has a menu."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import Account, ClientPage, picture
from tests.clients.live import Person, World


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def open_as(browser: Browser, person: Person, guild_id: int, channel_id: int, **options: Any) -> ClientPage:
    """The client of a person at a channel."""
    account = Account(str(person.id), person.token)
    path = f"/channels/{guild_id}/{channel_id}"
    options = {"viewport": {"width": 1200, "height": 600}} | options
    client = await ClientPage.logged_in(browser, person.world.server.url, account, path, **options)
    await expect(client.box).to_be_visible()
    return client


async def open_with_loaves(browser: Browser, world: World, count: int, **options: Any) -> ClientPage:
    """A channel with messages of a webhook."""
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    hook = await owner.post(f"/channels/{general}/webhooks", {"name": "Baker"})
    for number in range(count):
        await owner.post(f"/webhooks/{hook['id']}/{hook['token']}", {"content": f"loaf {number}."})
    ada = await open_as(browser, owner, guild_id, general, **options)
    await expect(ada.message(f"loaf {count - 1}.")).to_be_in_viewport()
    return ada


async def test_the_arrow_keys_walk_through_messages_and_back_to_the_composer(browser: Browser, world: World) -> None:
    ada = await open_with_loaves(browser, world, 30)
    # There is no message of one's own to edit: the key leads to the last one, and on to those out of view.
    await ada.box.press("ArrowUp")
    await expect(ada.message("loaf 29.")).to_be_focused()
    for number in range(28, 9, -1):
        await ada.page.keyboard.press("ArrowUp")
        await expect(ada.message(f"loaf {number}.")).to_be_focused()
    await expect(ada.message("loaf 10.")).to_be_in_viewport(ratio=1)
    for number in range(11, 30):
        await ada.page.keyboard.press("ArrowDown")
        await expect(ada.message(f"loaf {number}.")).to_be_focused()
    await ada.page.keyboard.press("ArrowDown")
    await expect(ada.box).to_be_focused()
    assert ada.errors == []


async def test_single_keys_act_on_the_message_that_the_arrows_led_to(browser: Browser, world: World) -> None:
    ada = await open_with_loaves(browser, world, 3)
    keyboard, log = ada.page.keyboard, ada.page.get_by_role("log")
    await ada.box.press("ArrowUp")
    # What the keys do is loaded with the controls of the first message that has the focus.
    await expect(ada.page.locator("article:focus").get_by_role("group", name="Actions of this message")).to_be_visible()
    await keyboard.press("r")
    await expect(ada.page.locator(".composer-reply")).to_be_visible()
    await expect(ada.box).to_be_focused()
    await ada.say("an answer")
    await expect(ada.message("an answer").locator(".message-reply")).to_contain_text("loaf 2.")

    await log.focus()
    await keyboard.press("ArrowUp")
    await expect(ada.message("an answer")).to_be_focused()
    await keyboard.press("e")
    editor = ada.page.get_by_role("textbox", name="Edit message")
    await expect(editor).to_be_focused()
    await editor.fill("a better one")
    await editor.press("Enter")
    await expect(ada.message("a better one")).to_be_visible()

    await log.focus()
    await keyboard.press("ArrowUp")
    await keyboard.press("ArrowUp")
    await expect(ada.message("loaf 2.").first).to_be_focused()
    await expect(ada.page.locator("article:focus").get_by_role("group", name="Actions of this message")).to_be_visible()
    await keyboard.press("+")
    await expect(ada.page.get_by_role("dialog", name="Add a reaction")).to_be_visible()
    await keyboard.press("Escape")
    await expect(ada.message("loaf 2.").first).to_be_focused()
    await keyboard.press("ArrowDown")
    await keyboard.press("Delete")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(ada.message("a better one")).to_have_count(0)

    # A letter that is typed after a click on a message is for the composer.
    await ada.message("loaf 1.").locator(".content").click()
    await keyboard.press("e")
    await expect(ada.box).to_have_value("e")
    assert ada.errors == []


async def test_a_secondary_press_opens_the_menu_of_what_is_there(browser: Browser, world: World) -> None:
    owner, member = await world.resident(), await world.person("guest")
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    await owner.patch(f"/channels/{general}", {"topic": "Rules: **be kind**\n# and brief"})
    await owner.invite(general, member)
    await member.say(general, "Hello")
    ada = await open_as(browser, owner, guild_id, general)
    page = ada.page
    topic = page.locator(".channel-topic")
    await expect(topic.locator("strong")).to_have_text("be kind")
    assert await topic.evaluate("each => each.scrollHeight <= each.clientHeight + 1")

    menu = page.get_by_role("menu")
    name = ada.message("Hello").get_by_role("button", name=member.name, exact=True)
    for target in (name, page.locator(".members").get_by_role("button", name=member.name)):
        await target.click(button="right")
        await expect(menu.get_by_role("menuitem", name="Ban")).to_be_visible()
        await expect(menu).to_have_count(1)
        await page.keyboard.press("Escape")
        await expect(menu).to_have_count(0)
    await name.click(button="right")
    await menu.get_by_role("menuitem", name="Profile").click()
    await expect(page.get_by_role("complementary", name="Profile")).to_contain_text(member.name)
    # A dialog that an item has opened stays when its menu is gone.
    await name.click(button="right")
    await menu.get_by_role("menuitem", name="Kick").click()
    await expect(page.get_by_role("dialog", name=re.compile("Kick"))).to_be_visible()
    await page.keyboard.press("Escape")

    channels = page.get_by_role("navigation", name="Channels")
    box = await channels.bounding_box()
    assert box is not None
    await page.mouse.click(box["x"] + 60, box["y"] + box["height"] - 20, button="right")
    await menu.get_by_role("menuitem", name="Create channel").click()
    await expect(page.get_by_role("dialog", name="Create a channel")).to_be_visible()
    assert ada.errors == []


async def test_on_a_phone_a_resting_finger_opens_a_sheet_and_a_swipe_replies(browser: Browser, world: World) -> None:
    ada = await open_with_loaves(browser, world, 4, viewport={"width": 390, "height": 700}, has_touch=True)
    message = ada.message("loaf 2.")

    async def touch(kind: str, x: int, y: int = 300) -> None:
        point = {"pointerType": "touch", "isPrimary": True, "clientX": x, "clientY": y}
        await message.dispatch_event(f"pointer{kind}", point)

    # A finger that moves up or down scrolls.
    await touch("down", 200)
    await touch("move", 200, 330)
    await touch("up", 200, 330)
    await touch("down", 200)
    sheet = ada.page.locator(".menu-sheet")
    await expect(sheet).to_be_visible()
    await touch("up", 200)
    await expect(ada.page.get_by_role("menu")).to_have_count(1)
    box = await sheet.bounding_box()
    assert box is not None
    assert (box["x"], box["width"], box["y"] + box["height"]) == (0, 390, 700)
    await expect(sheet.get_by_role("menuitem").first).to_have_accessible_name("React with 👍")
    await picture(ada.page, "sheet")
    assert await ada.violations() == []
    await sheet.get_by_role("menuitem", name="React with 🎉").click()
    await expect(message.get_by_role("button", name="🎉, 1")).to_be_visible()

    # A short swipe does nothing, a long one replies.
    await touch("down", 300)
    await touch("move", 260)
    await touch("up", 260)
    await expect(ada.page.locator(".composer-reply")).to_have_count(0)
    await touch("down", 300)
    await touch("move", 260)
    await touch("move", 200)
    await touch("up", 200)
    await expect(ada.page.locator(".composer-reply")).to_be_visible()
    await expect(message).to_have_css("translate", "none")
    assert ada.errors == []


async def test_the_emoji_picker_remembers_what_was_used_and_the_skin_tone(browser: Browser, world: World) -> None:
    ada = await open_with_loaves(browser, world, 1)
    page = ada.page
    button, dialog = (
        page.get_by_role("button", name="Insert an emoji"),
        page.get_by_role("dialog", name="Insert an emoji"),
    )
    await button.click()
    tone = dialog.get_by_role("button", name="Change the skin tone")
    await tone.click()
    await expect(tone).to_have_text("✋🏻")
    await dialog.get_by_role("searchbox").fill("waving hand")
    await expect(dialog.locator(".emoji-preview")).to_contain_text("aving hand")
    await dialog.get_by_role("gridcell").first.click()
    await expect(ada.box).to_have_value("👋🏻")
    await page.reload()
    await button.click()
    await expect(tone).to_have_text("✋🏻")
    await picture(page, "emojis")
    await dialog.get_by_role("group", name="Recently used").get_by_role("button", name="👋🏻").click()
    await expect(ada.box).to_have_value(re.compile("👋🏻$"))
    assert ada.errors == []
