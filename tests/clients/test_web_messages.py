"""Messages, events and accounts in the client for people, in Chromium."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import AXE, PASSWORD, Account, ClientPage, choose_option, open_new_guild
from tests.clients.live import Person, Server, World
from tests.support.web_client import message_menu


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def open_as(browser: Browser, person: Person, path: str, **options: Any) -> ClientPage:
    """The client of a person who is logged in, at a path."""
    account = Account(str(person.id), person.token)
    return await ClientPage.logged_in(browser, person.world.server.url, account, path, **options)


async def make_community(owner: Person, guild_id: int, channel_id: int) -> None:
    """Make a guild a community, which may have announcement channels and stages."""
    await owner.patch(
        f"/guilds/{guild_id}",
        {
            "features": ["COMMUNITY"],
            "verification_level": 1,
            "explicit_content_filter": 2,
            "default_message_notifications": 1,
            "rules_channel_id": str(channel_id),
            "public_updates_channel_id": str(channel_id),
        },
    )


async def test_a_message_is_forwarded_published_and_answered_with_a_sticker(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    await make_community(owner, guild_id, general)
    await owner.post(f"/guilds/{guild_id}/channels", {"name": "news", "type": 5})
    await owner.say(general, "Tea at **noon**")
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}")
    await message_menu(ada, "Tea at noon", "Forward")
    dialog = ada.page.get_by_role("dialog", name="Forward")
    await dialog.get_by_role("combobox", name="Forward to").fill("new")
    await ada.page.get_by_role("option", name=re.compile("news")).click()
    await dialog.get_by_label("Comment").fill("Bring cups")
    await dialog.get_by_role("button", name="Forward", exact=True).click()
    await dialog.get_by_role("link", name="Go there").click()
    await expect(ada.message("Forwarded").locator("strong", has_text="noon")).to_be_visible()

    await ada.page.get_by_role("button", name="Follow this channel").click()
    dialog = ada.page.get_by_role("dialog", name="Follow this channel")
    await dialog.get_by_role("combobox", name="Your channel").fill("general")
    await ada.page.get_by_role("option", name=re.compile("general")).click()
    await dialog.get_by_role("button", name="Follow this channel").click()
    await expect(dialog.get_by_role("status")).to_contain_text("general")
    await dialog.get_by_role("button", name="Close").click()
    await message_menu(ada, "Bring cups", "Publish")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Publish").click()
    await expect(ada.message("Bring cups").get_by_text("Published")).to_be_visible()

    await ada.page.get_by_role("link", name=re.compile("^general")).click()
    await expect(ada.message("made this channel follow The Moot #news")).to_be_visible()
    await expect(ada.message("Bring cups")).to_be_visible()
    await ada.page.get_by_role("button", name="Send a sticker").click()
    await ada.page.get_by_role("searchbox", name="Search stickers").fill("tick")
    await ada.page.get_by_role("button", name="Tick", exact=True).click()
    await expect(ada.page.get_by_role("img", name="Tick")).to_be_visible()
    assert ada.errors == []


async def test_the_first_unread_message_and_the_days_are_found(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    made = await owner.post(f"/channels/{channel_id}/webhooks", {"name": "crier"})
    webhook = f"/webhooks/{made['id']}/{made['token']}?wait=true"
    await owner.say(channel_id, "I was here")

    async def cry(count: int, text: str) -> None:
        """Send messages: the first one before all others, which come in any order."""
        await owner.post(webhook, {"content": f"{text} 0."})
        numbers = range(1, count)
        await asyncio.gather(*(owner.post(webhook, {"content": f"{text} {number}."}) for number in numbers))

    await cry(52, "line")
    channel = f"{world.server.url}/channels/{guild_id}/{channel_id}"
    ada = await open_as(browser, owner, "/channels/@me", viewport={"width": 1000, "height": 500})
    async with ada.page.expect_response(re.compile("/ack$")):
        await ada.page.goto(channel)
    bar = ada.page.get_by_role("region", name="New messages")
    await bar.get_by_role("button", name=re.compile("More than .* new messages since")).click()
    await expect(ada.message("line 0.")).to_be_in_viewport()
    await expect(ada.page.get_by_text("New", exact=True)).to_be_in_viewport()
    await expect(bar).to_be_hidden()

    await ada.page.get_by_role("button", name="Go to a date").click()
    dialog = ada.page.get_by_role("dialog", name="Go to a date")
    await dialog.get_by_label("Day").fill("2020-01-31")
    await dialog.get_by_role("button", name="Go", exact=True).click()
    await expect(ada.page.get_by_text("This is the beginning of #general")).to_be_in_viewport()
    await ada.page.get_by_role("button", name="Jump to the newest messages").click()
    await expect(ada.page.get_by_text("This is the beginning of #general")).not_to_be_in_viewport()

    # What arrives while the channel is not open is new, until it is marked as read.
    await ada.page.goto(f"{world.server.url}/channels/@me")
    await cry(25, "more")
    await ada.page.goto(channel)
    await expect(bar.get_by_role("button", name=re.compile("^25 new messages since"))).to_be_visible()
    await bar.get_by_role("button", name="Mark as read").click()
    await expect(bar).to_be_hidden()
    assert ada.errors == []


async def test_a_link_to_the_first_message_leads_back_to_the_newest_which_are_deleted_together(
    browser: Browser, world: World
) -> None:
    """Nothing scrolls when the first message is at the top already: no event tells of newer ones."""
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    first = await owner.say(channel_id, "the first one")
    for number in range(40):
        await owner.say(channel_id, f"line {number}.")
    path = f"/channels/{guild_id}/{channel_id}/{first['id']}"
    ada = await open_as(browser, owner, path, viewport={"width": 1000, "height": 500})
    await expect(ada.message("the first one")).to_be_in_viewport()
    await ada.page.get_by_role("button", name="Jump to the newest messages").click()
    await expect(ada.message("line 39.")).to_be_in_viewport()
    await expect(ada.page.get_by_role("button", name="Jump to the newest messages")).to_be_hidden()

    await ada.message("line 39.").click(button="right")
    await ada.page.get_by_role("menuitem", name="Select messages").click()
    bar = ada.page.get_by_role("group", name="Select messages")
    await expect(bar.get_by_role("status")).to_have_text("1 message selected")
    await ada.page.get_by_role("checkbox", name=re.compile(r"line 38\.$")).check(force=True)
    await ada.page.get_by_role("checkbox", name=re.compile(r"line 37\.$")).check(force=True)
    await ada.page.get_by_role("checkbox", name=re.compile(r"line 37\.$")).uncheck(force=True)
    await expect(bar.get_by_role("status")).to_have_text("2 messages selected")
    await bar.get_by_role("button", name="Delete").click()
    await ada.page.get_by_role("dialog", name="Delete 2 messages").get_by_role("button", name="Delete").click()
    await expect(bar).to_be_hidden()
    await expect(ada.message("line 37.")).to_be_visible()
    for number in (38, 39):
        await expect(ada.message(f"line {number}.")).to_have_count(0)

    # A list beside the channel would cover it in a narrow window.
    await ada.page.get_by_role("button", name="Members", exact=True).click()
    members = ada.page.get_by_role("complementary", name="Members")
    await expect(members).to_be_visible()
    await ada.page.set_viewport_size({"width": 390, "height": 800})
    await expect(members).to_be_hidden()
    assert ada.errors == []


async def test_an_event_is_planned_shared_changed_and_begun(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{channel_id}")
    await ada.page.get_by_role("button", name="Events").click()
    await ada.page.get_by_role("button", name="Create an event").click()
    form = ada.page.get_by_role("dialog", name="Create an event")
    await form.get_by_label("Name", exact=True).fill("Summer moot")
    await choose_option(form, "Where", "Somewhere else")
    await form.get_by_role("button", name="Create an event").click()
    await expect(form.get_by_text("Say where it is.")).to_be_visible()
    await form.get_by_label("Address or link").fill("The hall")
    await form.get_by_label("End", exact=True).fill("2099-01-31T20:00")
    await form.get_by_label("Start", exact=True).fill("2099-01-31T18:00")
    await choose_option(form, "Repeats", "Every week")
    await form.get_by_role("button", name="Create an event").click()
    card = ada.page.get_by_role("article", name="Summer moot")
    await expect(card.get_by_text("Every Saturday")).to_be_visible()
    await expect(card.get_by_text("The hall")).to_be_visible()
    await card.get_by_role("button", name="Interested", exact=True).click()
    await card.get_by_role("button", name="1 person is interested").click()
    people = ada.page.get_by_role("dialog", name="Who is interested")
    await expect(people.get_by_role("listitem")).to_have_count(1)
    await people.get_by_role("button", name="Close").click()
    await card.get_by_role("button", name="Actions of Summer moot").click()
    await ada.page.get_by_role("menuitem", name="Edit the event").click()
    form = ada.page.get_by_role("dialog", name="Edit the event")
    await form.get_by_label("Name", exact=True).fill("Winter moot")
    await form.get_by_role("button", name="Save").click()
    card = ada.page.get_by_role("article", name="Winter moot")
    await card.get_by_role("button", name="Actions of Winter moot").click()
    await ada.page.get_by_role("menuitem", name="Start the event").click()
    await expect(card.get_by_text("Happening now")).to_be_visible()

    # A link shows a card where it is sent, and opens the event.
    [event] = await owner.get(f"/guilds/{guild_id}/scheduled-events")
    link = f"{world.server.url}/events/{guild_id}/{event['id']}"
    await ada.page.goto(link)
    await expect(ada.page.get_by_role("dialog", name="Events").get_by_role("article")).to_have_count(1)
    await ada.page.get_by_role("dialog", name="Events").get_by_role("button", name="Close").click()
    await ada.say(f"Come to {link}")
    await expect(ada.message("Come to").get_by_role("article", name="Winter moot")).to_be_visible()
    assert ada.errors == []


async def test_data_is_downloaded_and_a_closed_account_restored(browser: Browser, world: World) -> None:
    person = await world.person("leaver")
    leaver = await open_as(browser, person, "/app/settings/data")
    await leaver.page.get_by_role("button", name="Request an archive").click()
    await expect(leaver.page.get_by_text("You can request another one from")).to_be_visible()
    async with leaver.page.expect_download() as download:
        await leaver.page.get_by_role("link", name="Download").click()
    assert (await download.value).suggested_filename.endswith(".zip")

    await leaver.page.get_by_role("button", name="Delete account").click()
    dialog = leaver.page.get_by_role("dialog", name="Delete account")
    await expect(dialog.get_by_text("You are logged out on all devices.")).to_be_visible()
    await dialog.get_by_label("Your password").fill("wrong")
    await dialog.get_by_role("button", name="Delete account").click()
    await expect(dialog.get_by_role("textbox", name="Your password")).to_have_attribute("aria-invalid", "true")
    await dialog.get_by_label("Your password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Delete account").click()

    await leaver.page.get_by_label("Username or email").fill(person.name)
    await leaver.page.get_by_label("Password").fill(PASSWORD)
    await leaver.page.get_by_role("button", name="Log in").click()
    await expect(leaver.page.get_by_text("This account is waiting to be deleted.")).to_be_visible()
    await leaver.page.get_by_role("button", name="Restore and log in").click()
    await leaver.page.wait_for_url(re.compile("/channels/@me|/app/settings"))
    await expect(leaver.page.get_by_text(person.name).first).to_be_visible()


async def test_code_has_its_language_and_colours(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    client = await open_as(browser, owner, f"/channels/{guild_id}/{channel_id}")
    await client.say('```python\ndef tea(cups=2):\n    return "hot" # <b>\n```')
    code = client.message("def tea").locator(".content-code")
    await expect(code.locator(".content-language")).to_have_text("python")
    await expect(code.locator(".hljs-keyword")).to_have_text(["def", "return"])
    colors = {
        await code.locator(name).first.evaluate("token => getComputedStyle(token).color")
        for name in (".hljs-keyword", ".hljs-string", ".hljs-number", ".hljs-comment", "code")
    }
    assert len(colors) == 5
    await expect(code.locator("code")).to_have_text('def tea(cups=2):\n    return "hot" # <b>', use_inner_text=True)
    # Code in a language that is not known, or in none, is shown as it is.
    await client.say('```moothish\nreturn "cold"\n```')
    plain = client.message('return "cold"').locator(".content-code")
    await expect(plain.locator(".content-language")).to_have_text("moothish")
    await client.say('```\nreturn "lukewarm"\n```')
    bare = client.message('return "lukewarm"').locator(".content-code")
    await expect(bare.locator(".content-language")).to_have_count(0)
    for block in (plain, bare):
        await expect(block.locator("pre[tabindex] code")).to_be_visible()
        await expect(block.locator("code *")).to_have_count(0)
    if AXE.exists():
        assert await client.violations() == []  # the colours of code can be read in both themes
    assert client.errors == []


async def test_who_is_typing_shows_until_they_write_or_cease(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_typing", "ben_typing")
    line = ada.page.locator(".typing")
    await expect(line).to_be_empty()
    # The time of ada's page stands still, so that a slow machine does not end what it is to show.
    now = datetime.now(UTC)
    await ada.page.clock.set_fixed_time(now)
    async with ben.page.expect_response(re.compile("/typing$")):
        await ben.box.fill("one moment")
    await expect(line).to_have_text("ben_typing is typing…")
    await expect(ben.page.locator(".typing")).to_be_empty()
    await ada.page.clock.set_fixed_time(now + timedelta(seconds=11))
    await expect(line).to_be_empty()

    await ben.box.press("Enter")
    await expect(ada.message("one moment")).to_be_visible()
    async with ben.page.expect_response(re.compile("/typing$")):
        await ben.box.fill("here it is")
    await expect(line).to_have_text("ben_typing is typing…")
    await ben.box.press("Enter")
    await expect(ada.message("here it is")).to_be_visible()
    await expect(line).to_be_empty()
    assert (ada.errors, ben.errors) == ([], [])


_WATCH_SHIFTS = """() => {
    window.shifts = [];
    new PerformanceObserver((list) => {
        for (const { sources } of list.getEntries()) {
            for (const { node } of sources) {
                const moved = node?.nodeType === 1 ? node : node?.parentElement;
                if (moved?.closest(".timeline")) {
                    window.shifts.push(moved.outerHTML.slice(0, 120));
                }
            }
        }
    }).observe({ type: "layout-shift", buffered: true });
}"""
"""Note what moves in the list of messages without being moved by the user."""
_DISTANCES = """() => {
    const list = document.querySelector(".timeline-scroller");
    const bottom = list.getBoundingClientRect().bottom;
    const box = (name) => list.querySelector(name).getBoundingClientRect();
    const last = [...list.querySelectorAll("article.message")].at(-1).getBoundingClientRect();
    return { below: bottom - last.bottom, above: box(".timeline-start").bottom <= box("article.message").top };
}"""


async def test_a_short_history_stands_above_the_composer(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    channel_id = await world.text_channel(owner, guild_id)
    await owner.patch(f"/channels/{channel_id}", {"name": "a-channel-with-a-long-name-" * 3})
    await owner.say(channel_id, "first\nof three lines\nat once")
    await owner.say(channel_id, "second ```\nwith code\n```")
    path = f"/channels/{guild_id}/{channel_id}"
    client = await open_as(browser, owner, "/channels/@me", viewport={"width": 800, "height": 700})
    await client.page.add_init_script(f"({_WATCH_SHIFTS})()")
    await client.page.goto(f"{world.server.url}{path}")
    await expect(client.message("second").locator("pre[tabindex]")).to_have_text("with code")
    settled = "() => new Promise(done => requestAnimationFrame(() => setTimeout(done)))"
    await client.page.evaluate(settled)
    assert await client.page.evaluate("window.shifts") == []
    distances = await client.page.evaluate(_DISTANCES)
    assert 0 <= distances["below"] <= 24
    assert distances["above"]
    # A longer history fills the list, and stays at its end.
    for number in range(12):
        await owner.say(channel_id, f"line {number}\n" * 3)
    await expect(client.message("line 11")).to_be_in_viewport(ratio=1)
    await expect(client.message("first")).not_to_be_in_viewport()
    await client.page.locator(".timeline-scroller").evaluate("list => list.scrollTo(0, 0)")
    await expect(client.page.get_by_text("This is the beginning of")).to_be_in_viewport(ratio=1)

    # The long name in the empty composer ends with an ellipsis.
    placeholder = client.page.locator(".composer-placeholder")
    await expect(placeholder).to_have_text(re.compile("^Message #a-channel-with-a-long-name"))
    await expect(placeholder).to_have_css("text-overflow", "ellipsis")
    assert await placeholder.evaluate("each => each.scrollWidth > each.clientWidth")
    await client.box.fill("x")
    await expect(placeholder).to_have_count(0)
    assert client.errors == []


TRANSFER = """(type) => {
    const data = new DataTransfer();
    data.items.add(new File(["fog at noon"], `${type}.txt`, { type: "text/plain" }));
    return data;
}"""
"""A file that is dragged or pasted, named after how."""


async def test_files_are_dropped_and_pasted(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner, "The Moot")
    general = await world.text_channel(owner, guild_id)
    client = await open_as(browser, owner, f"/channels/{guild_id}/{general}")
    page, tray = client.page, client.page.get_by_role("list", name="Attached files")
    await expect(client.box).to_be_visible()
    dropped = await page.evaluate_handle(TRANSFER, "dropped")
    target = page.locator(".conversation")
    await target.dispatch_event("dragover", {"dataTransfer": dropped})
    await expect(target).to_have_class(re.compile("conversation-dropping"))
    await target.dispatch_event("drop", {"dataTransfer": dropped})
    await expect(tray.get_by_role("listitem")).to_have_count(1)
    pasted = await page.evaluate_handle(TRANSFER, "pasted")
    await client.box.evaluate(
        "(box, data) => box.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true }))", pasted
    )
    await expect(tray.get_by_role("listitem")).to_have_count(2)
    await client.say("both files")
    message = client.message("both files")
    for name in ("dropped.txt", "pasted.txt"):
        await expect(message.get_by_role("link", name=re.compile(name))).to_be_visible()
    assert client.errors == []


async def test_fields_stand_side_by_side_and_edited_in_the_line_of_its_text(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    general = await world.text_channel(owner, guild_id)
    message = await owner.say(general, "Bread and sald")
    await owner.patch(f"/channels/{general}/messages/{message['id']}", {"content": "Bread and salt"})
    hook = await owner.post(f"/channels/{general}/webhooks", {"name": "Baker"})
    fields = [{"name": name, "value": "one loaf", "inline": True} for name in ("Rye", "Oats", "Wheat")]
    fields.append({"name": "Oven", "value": "hot", "inline": False})
    embed = {"title": "Breads", "fields": fields}
    await owner.post(f"/webhooks/{hook['id']}/{hook['token']}", {"username": "Ann", "embeds": [embed]})
    await owner.post(f"/webhooks/{hook['id']}/{hook['token']}", {"username": "Ann", "content": "from Ann"})
    other = {"username": "Ann", "content": "another Ann", "avatar_url": f"{world.server.url}/embed/avatars/3.png"}
    await owner.post(f"/webhooks/{hook['id']}/{hook['token']}", other)
    ada = await open_as(browser, owner, f"/channels/{guild_id}/{general}")
    await expect(ada.message("Breads")).to_be_visible()
    rye, oats, wheat, oven = [
        await ada.page.locator(".embed-field", has_text=name).evaluate("e => e.getBoundingClientRect().toJSON()")
        for name in ("Rye", "Oats", "Wheat", "Oven")
    ]
    assert rye["top"] == oats["top"] == wheat["top"] < oven["top"]
    assert rye["right"] <= oats["left"] < oats["right"] <= wheat["left"]
    edited = ada.message("Bread and salt").get_by_text("(edited)")
    line = ada.message("Bread and salt").locator(".content p")
    text_box, edited_box = await line.bounding_box(), await edited.bounding_box()
    assert text_box is not None
    assert edited_box is not None
    assert text_box["y"] <= edited_box["y"] < text_box["y"] + text_box["height"] < text_box["y"] + 40
    await expect(ada.message("from Ann")).to_have_class(re.compile("message-compact"))
    await expect(ada.message("another Ann")).not_to_have_class(re.compile("message-compact"))
    picture = ada.message("another Ann").locator("img").first
    await expect(picture).to_have_js_property("naturalWidth", 64)
    await ada.page.set_viewport_size({"width": 390, "height": 800})
    await expect(ada.page.locator(".embed-field", has_text="Oven")).to_be_visible()
    assert ada.errors == []
