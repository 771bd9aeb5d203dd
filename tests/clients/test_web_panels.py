"""Panels beside a channel in the client, in Chromium: they make room, stay over navigation, and fill phones."""

import re

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.clients.client_pages import Account, ClientPage, picture
from tests.clients.live import Person, World

_OVERLAP = """() => {
    const [main, panel] = [".main", ".side-panel"].map(name => document.querySelector(name).getBoundingClientRect());
    return Math.max(0, Math.min(main.right, panel.right) - Math.max(main.left, panel.left));
}"""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def open_as(browser: Browser, person: Person, path: str, width: int) -> ClientPage:
    """The client of a person in a window of a width, at a channel."""
    account = Account(str(person.id), person.token)
    url = person.world.server.url
    client = await ClientPage.logged_in(browser, url, account, path, viewport={"width": width, "height": 700})
    await expect(client.box).to_be_visible()
    return client


def panel(client: ClientPage, name: str) -> Locator:
    """The panel of a name."""
    return client.page.get_by_role("complementary", name=name, exact=True)


async def makes_room(client: ClientPage, name: str) -> None:
    """Check that a panel shows beside the channel and covers nothing of it, and that no dialog is open."""
    await expect(panel(client, name)).to_be_visible()
    await expect(client.box).to_be_visible()
    await expect(client.page.locator(".side-panel")).to_have_count(1)
    assert await client.page.evaluate(_OVERLAP) == 0
    await expect(client.page.get_by_role("dialog")).to_have_count(0)


async def test_panels_make_room_beside_the_channel(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    message = await owner.say(general, "remember this")
    await owner.put(f"/channels/{general}/messages/pins/{message['id']}")
    await owner.post(f"/channels/{general}/threads", {"name": "Tea", "type": 11})
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}", 1200)
    await makes_room(ada, "Members")
    button = ada.page.get_by_role("button", name="Pinned messages", exact=True)
    box = await button.bounding_box()
    for name in ("Pinned messages", "Threads", "Activities", "Search messages"):
        await ada.page.get_by_role("button", name=name, exact=True).click()
        await makes_room(ada, name)
        # What one has just pressed does not move under the pointer.
        assert await button.bounding_box() == box
    # Away from the button, which says its name at the pointer.
    await ada.page.mouse.move(600, 300)
    await expect(ada.page.get_by_role("tooltip")).to_have_count(0)
    await picture(ada.page, "panel-search")
    assert await ada.violations() == []
    # The panel has the focus, and gives it back.
    await ada.page.keyboard.press("Escape")
    await makes_room(ada, "Members")
    await expect(ada.page.get_by_role("button", name="Search messages")).to_be_focused()

    await ada.page.locator(".members").get_by_role("button", name=owner.name).click()
    await ada.page.get_by_role("menuitem", name="Profile", exact=True).click()
    await makes_room(ada, "Profile")
    await picture(ada.page, "panel-profile")
    assert await ada.violations() == []

    # What is pinned meanwhile shows at once; the thread that was opened last stands before the panel.
    await ada.page.get_by_role("button", name="Pinned messages").click()
    await expect(panel(ada, "Pinned messages").get_by_role("listitem")).to_have_count(1)
    later = await owner.say(general, "this as well")
    await owner.put(f"/channels/{general}/messages/pins/{later['id']}")
    await expect(panel(ada, "Pinned messages").get_by_role("listitem")).to_have_count(2)
    await picture(ada.page, "panel-pins")
    await ada.page.get_by_role("button", name="Threads", exact=True).click()
    await picture(ada.page, "panel-threads")
    await panel(ada, "Threads").get_by_role("button", name=re.compile("^Tea")).click()
    thread = ada.page.get_by_role("region", name="Tea")
    await expect(thread).to_be_visible()
    await expect(panel(ada, "Threads")).to_have_count(0)
    await thread.get_by_role("button", name="Close thread").click()
    await makes_room(ada, "Threads")

    # A day leads to others by a small dialog beside it.
    await ada.page.locator(".timeline-day-button").first.click()
    await expect(ada.page.get_by_role("dialog", name="Go to a date").get_by_label("Day")).to_be_focused()
    assert ada.errors == []


async def test_a_search_stays_as_it_was_left_over_channels_and_guilds(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Search")
    other_id = await world.guild(owner, "The Mill")
    general, mill = await world.text_channel(owner, guild_id), await world.text_channel(owner, other_id)
    tea = (await owner.post(f"/guilds/{guild_id}/channels", {"name": "tea", "type": 0}))["id"]
    for number in range(12):
        await owner.say(int(tea), f"needle {number}\n" + "hay\n" * 4)
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}", 1200)
    await ada.page.keyboard.press("Control+f")
    search = panel(ada, "Search messages")
    field = search.get_by_role("searchbox")
    await expect(field).to_be_focused()
    await field.fill("needle")
    await field.press("Enter")
    await expect(search.locator(".search-result")).to_have_count(12)
    body = search.locator(".search-body")
    jump = search.get_by_role("link", name="Jump").nth(5)
    await jump.scroll_into_view_if_needed()
    top = await body.evaluate("each => each.scrollTop")
    assert top > 0

    async def is_as_it_was() -> None:
        await expect(field).to_have_value("needle")
        await expect(search.locator(".search-result")).to_have_count(12)
        same = "top => document.querySelector('.search-body').scrollTop === top"
        await ada.page.wait_for_function(same, arg=top)

    await jump.click()
    await expect(ada.page.locator(".timeline-row-target")).to_be_in_viewport()
    await is_as_it_was()
    await ada.page.get_by_role("link", name=re.compile("^general")).click()
    await is_as_it_was()
    await ada.page.get_by_role("link", name=re.compile("The Mill")).click()
    await ada.page.wait_for_url(f"**/{other_id}/{mill}")
    await expect(field).to_have_value("")
    await ada.page.get_by_role("link", name=re.compile("The Search")).click()
    await is_as_it_was()
    await search.get_by_role("button", name="Close search").click()
    await ada.page.get_by_role("button", name="Search messages").click()
    await is_as_it_was()
    assert ada.errors == []


async def test_on_a_phone_panels_are_screens_with_a_way_back(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    message = await owner.say(general, "remember this")
    await owner.put(f"/channels/{general}/messages/pins/{message['id']}")
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}", 390)
    for name, back in (("Pinned messages", "Close"), ("Members", "Close"), ("Search messages", "Close search")):
        await ada.page.get_by_role("button", name=name, exact=True).click()
        screen = ada.page.get_by_role("main", name=name, exact=True)
        box = await screen.bounding_box()
        assert box is not None
        assert (box["x"], box["width"], box["height"]) == (0, 390, 700)
        await expect(ada.page.locator(".main")).to_be_hidden()
        assert await ada.violations() == []
        button = await screen.get_by_role("button", name=back, exact=True).bounding_box()
        assert button is not None
        assert button["x"] < 20
        await screen.get_by_role("button", name=back, exact=True).click()
        await expect(ada.box).to_be_visible()
    # A link in a panel leads to what it hid.
    await ada.page.get_by_role("button", name="Pinned messages").click()
    await ada.page.get_by_role("main").get_by_role("link", name="Jump").click()
    await expect(ada.page.locator(".timeline-row-target")).to_be_in_viewport()
    assert ada.errors == []


async def test_the_inbox_has_what_waits_wherever_one_is(browser: Browser, world: World) -> None:
    owner, guest = await world.resident(), await world.person("guest")
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    await owner.invite(general, guest)
    other = (await owner.post(f"/guilds/{guild_id}/channels", {"name": "plans"}))["id"]
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}", 1200)
    await guest.say(int(other), f"<@{owner.id}> when do we meet?")
    await ada.page.get_by_role("button", name="Inbox, 1 mention", exact=True).click()
    inbox = panel(ada, "Inbox")
    unread = inbox.get_by_role("link", name=re.compile("plans"))
    await expect(unread.get_by_role("img", name="1 mention")).to_be_visible()
    assert await ada.violations() == []
    await picture(ada.page, "inbox")
    # It stays while it leads into the channel, where the mention is read.
    await unread.click()
    await expect(ada.message("when do we meet?")).to_be_visible()
    await expect(inbox.get_by_role("heading", name="All read")).to_be_visible()
    await expect(ada.page.get_by_role("button", name="Inbox", exact=True)).to_be_visible()

    await inbox.get_by_role("tab", name="Mentions").click()
    await expect(inbox.get_by_role("listitem")).to_contain_text("when do we meet?")
    await inbox.get_by_role("button", name="Dismiss this mention").click()
    await expect(inbox.get_by_role("heading", name="Nobody has called you")).to_be_visible()

    await inbox.get_by_role("tab", name="Saved").click()
    await expect(inbox.get_by_role("heading", name="Nothing saved")).to_be_visible()
    await ada.message("when do we meet?").click(button="right")
    await ada.page.get_by_role("menuitem", name="Save message").click()
    await expect(inbox.get_by_role("listitem")).to_contain_text("when do we meet?")
    await inbox.get_by_role("button", name="Remove from saved messages").click()
    await expect(inbox.get_by_role("heading", name="Nothing saved")).to_be_visible()
    assert ada.errors == []
