"""Channels in the client for people, in Chromium: threads, forums, settings, voice, events."""

import re
from datetime import UTC, datetime, timedelta
from io import BytesIO

import pytest
from PIL import Image
from playwright.async_api import Browser, FilePayload, Locator, Position, expect

from tests.clients.client_pages import (
    ClientPage,
    becomes,
    call,
    choose_option,
    drop_at,
    open_new_guild,
    picture,
    select_button,
    sign_up,
)
from tests.clients.live import CLIP, PIXEL, Server
from tests.support.web_client import guild_id, make_community, message_menu, open_menu, request


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def owner_and_member(browser: Browser, server: Server, suffix: str) -> tuple[ClientPage, ClientPage]:
    """The owner of a guild and a member, with its first channel open."""
    ada, ben = await open_new_guild(browser, server.url, f"ada{suffix}", f"ben{suffix}")
    return ada, ben


def panel(client: ClientPage, name: str) -> Locator:
    """The thread of this name that is open beside its channel."""
    return client.page.get_by_role("region", name=name, exact=True)


async def say_in(region: Locator, text: str) -> None:
    """Send a message in a part of the screen."""
    box = region.get_by_role("textbox", name=re.compile("^Message "))
    await box.fill(text)
    await box.press("Enter")


async def test_a_thread_starts_from_a_message_and_shows_beside_its_channel(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "20")
    await ada.say("**Tea** at noon?")
    await message_menu(ada, "Tea at noon?", "Create thread")
    dialog = ada.page.get_by_role("dialog", name="Create thread")
    await expect(dialog.get_by_label("Thread name")).to_have_value("Tea at noon?")
    await dialog.get_by_label("First message (optional)").fill("Green or black?")
    await dialog.get_by_role("button", name="Create thread").click()

    beside = panel(ada, "Tea at noon?")
    await expect(beside.locator("article.message", has_text="Green or black?")).to_have_count(1)
    await expect(beside.locator(".thread-starter")).to_contain_text("Tea at noon?")
    await expect(ada.box.first).to_be_visible()

    link = ben.page.get_by_role("button", name="Open thread Tea at noon?")
    await expect(link).to_contain_text("1 message")
    await link.click()
    await say_in(panel(ben, "Tea at noon?"), "Green!")
    await expect(beside.locator("article.message", has_text="Green!")).to_have_count(1)
    # Who writes in a thread joins it: it is in the channel list from then on.
    threads = ben.page.get_by_role("list", name="Threads")
    await expect(threads.get_by_role("link", name="Tea at noon?")).to_be_visible()
    await beside.get_by_role("button", name="Open in full width").click()
    await expect(ada.page.get_by_role("heading", level=1, name="Tea at noon?")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_private_thread_is_seen_by_those_who_are_added(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "21")
    await ada.page.get_by_role("button", name="Threads", exact=True).click()
    await expect(ada.page.get_by_text("No active threads.")).to_be_visible()
    await ada.page.get_by_role("button", name="Create thread").click()
    await ada.page.get_by_label("Thread name").fill("Surprise party")
    await ada.page.get_by_text("Private thread").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="Create thread").click()
    beside = panel(ada, "Surprise party")
    await say_in(beside, "a secret")
    await expect(beside.locator("article.message", has_text="a secret")).to_have_count(1)
    await expect(ben.page.get_by_role("link", name="Surprise party")).to_have_count(0)

    await ada.page.get_by_role("list", name="Threads").get_by_role("link", name="Surprise party").click()
    aside = ada.page.get_by_role("complementary", name="Members of the thread")
    await aside.get_by_role("button", name=re.compile("Add members")).click()
    await ada.page.get_by_role("option", name="ben21").click()
    await ada.page.keyboard.press("Escape")
    await expect(aside).to_contain_text("ben21")
    theirs = ben.page.get_by_role("list", name="Threads").get_by_role("link", name=re.compile("^Surprise party"))
    async with ben.page.expect_response(re.compile("/ack$")):
        await theirs.click()
    await expect(ben.message("a secret")).to_have_count(1)

    await open_menu(ben, ben.page.get_by_role("button", name="Actions of Surprise party"), "Leave thread")
    await expect(aside).not_to_contain_text("ben21")
    await expect(ben.page.get_by_text("There is no channel here that you can view.")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_thread_is_edited_locked_archived_and_deleted(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "27")
    await ada.say("Surprise party")
    await message_menu(ada, "Surprise party", "Create thread")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Create thread").click()
    await expect(panel(ada, "Surprise party")).to_be_visible()
    await ben.page.get_by_role("button", name="Open thread Surprise party").click()
    await panel(ben, "Surprise party").get_by_role("button", name="Open in full width").click()
    menu = ada.page.get_by_role("button", name="Actions of Surprise party")
    await open_menu(ada, menu, "Edit thread")
    await ada.page.get_by_label("Thread name").fill("Quiet party")
    await choose_option(ada.page, "Slow mode", "10 seconds")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ben.page.get_by_role("heading", level=1, name="Quiet party")).to_be_visible()

    menu = ada.page.get_by_role("button", name="Actions of Quiet party")
    await open_menu(ada, menu, "Lock")
    await expect(ben.page.get_by_text("This thread is locked.")).to_be_visible()
    await expect(ben.box).to_have_count(0)
    await open_menu(ada, menu, "Unlock")
    await expect(ben.box).to_be_visible()

    await open_menu(ada, menu, "Archive")
    await panel(ada, "Quiet party").get_by_role("button", name="Close thread").click()
    await expect(ada.page.get_by_role("list", name="Threads")).to_have_count(0)
    await ada.page.get_by_role("button", name="Threads", exact=True).click()
    await ada.page.get_by_role("tab", name="Archived", exact=True).click()
    await ada.page.get_by_role("button", name=re.compile("^Quiet party")).click()
    beside = panel(ada, "Quiet party")
    await expect(beside.get_by_text("A message opens it again.")).to_be_visible()
    # What ben's client still asked about the thread would be refused once it is deleted.
    async with ben.page.expect_response(re.compile("/ack$")):
        await say_in(beside, "again")
    await expect(beside.get_by_text("A message opens it again.")).to_have_count(0)
    await open_menu(ada, beside.get_by_role("button", name="Actions of Quiet party"), "Delete thread")
    await ada.page.get_by_role("button", name="Delete", exact=True).click()
    await expect(panel(ada, "Quiet party")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_mention_in_a_thread_counts_in_the_channel_list_until_it_is_read(
    browser: Browser, server: Server
) -> None:
    ada, ben = await owner_and_member(browser, server, "22")
    await ada.say("A topic")
    await message_menu(ada, "A topic", "Create thread")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Create thread").click()
    await expect(panel(ada, "A topic")).to_be_visible()
    await ben.page.get_by_role("button", name="Open thread A topic").click()
    await say_in(panel(ben, "A topic"), "I am here")
    await panel(ben, "A topic").get_by_role("button", name="Close thread").click()
    await say_in(panel(ada, "A topic"), "@everyone look")
    row = ben.page.get_by_role("list", name="Threads").get_by_role("link", name=re.compile("A topic"))
    await expect(row.locator(".mentions")).to_have_text("1")
    await expect(row).to_have_class(re.compile("channel-unread"))
    await row.click()
    await expect(row.locator(".mentions")).to_have_count(0)
    await expect(row).not_to_have_class(re.compile("channel-unread"))
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_muted_thread_shows_no_unread_messages(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "28")
    await ada.say("A topic")
    await message_menu(ada, "A topic", "Create thread")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Create thread").click()
    await expect(panel(ada, "A topic")).to_be_visible()
    await ben.page.get_by_role("button", name="Open thread A topic").click()
    await say_in(panel(ben, "A topic"), "I am here")
    menu = panel(ben, "A topic").get_by_role("button", name="Actions of A topic")
    await menu.click()
    await open_menu(ben, ben.page.get_by_role("menuitem", name="Mute thread"), "For 8 hours")
    await menu.click()
    await expect(ben.page.get_by_role("menuitem", name="Unmute thread")).to_contain_text("Until ")
    await ben.page.keyboard.press("Escape")
    await panel(ben, "A topic").get_by_role("button", name="Close thread").click()
    await say_in(panel(ada, "A topic"), "psst")
    general = ada.page.get_by_role("textbox", name="Message #general")
    await general.fill("the channel goes on")
    await general.press("Enter")
    await expect(ben.message("the channel goes on")).to_be_visible()
    row = ben.page.get_by_role("list", name="Threads").get_by_role("link", name=re.compile("A topic"))
    await expect(row).not_to_have_class(re.compile("channel-unread"))
    await ben.page.reload()
    await expect(row).to_be_visible()
    await expect(row).not_to_have_class(re.compile("channel-unread"))
    await row.click()
    await expect(ben.message("psst")).to_be_visible()
    await ben.page.get_by_role("button", name="Actions of A topic").click()
    await ben.page.get_by_role("menuitem", name="Unmute thread").click()
    await ben.page.get_by_role("link", name=re.compile("^general")).first.click()
    await say_in(panel(ada, "A topic"), "hello again")
    await expect(row).to_have_class(re.compile("channel-unread"))
    assert (ada.errors, ben.errors) == ([], [])


async def open_forum(browser: Browser, server: Server, suffix: str) -> tuple[ClientPage, ClientPage]:
    """The owner of a community and a member, with a forum open that requires a tag."""
    ada, ben = await owner_and_member(browser, server, suffix)
    await make_community(ada)
    tags = [{"name": "tea"}, {"name": "coffee"}, {"name": "news", "moderated": True}]
    body = {"name": "questions", "type": 15, "topic": "Be **kind**.", "flags": 16, "available_tags": tags}
    body["default_reaction_emoji"] = {"emoji_name": "👍"}
    forum = await request(ada, "POST", f"/guilds/{guild_id(ada)}/channels", body)
    assert forum["flags"] == 16
    for client in (ada, ben):
        await client.page.get_by_role("link", name="questions").click()
    return ada, ben


async def write_post(client: ClientPage, title: str, text: str, tag: str) -> None:
    """Write a post in the open forum."""
    await client.page.get_by_role("button", name="New post").click()
    dialog = client.page.get_by_role("dialog", name="New post")
    await dialog.get_by_label("Title").fill(title)
    await dialog.get_by_label("Message").fill(text)
    await dialog.get_by_role("row", name=tag).click()
    await dialog.get_by_role("button", name="Post", exact=True).click()
    await expect(panel(client, title)).to_be_visible()


async def test_a_post_has_tags_files_and_the_reaction_of_its_forum(browser: Browser, server: Server) -> None:
    ada, ben = await open_forum(browser, server, "23")
    await expect(ben.page.get_by_text("No posts yet")).to_be_visible()
    await ben.page.get_by_role("button", name="New post").click()
    dialog = ben.page.get_by_role("dialog", name="New post")
    await expect(dialog.get_by_text("Be kind.")).to_be_visible()
    await dialog.get_by_label("Title").fill("Which pot?")
    await dialog.get_by_label("Message").fill("Glass or **clay**?")
    await expect(dialog.get_by_role("button", name="Post", exact=True)).to_be_disabled()
    await expect(dialog.get_by_role("row", name="news")).to_have_attribute("aria-disabled", "true")
    await dialog.get_by_role("row", name="tea").click()
    picture = FilePayload(name="pot.png", mimeType="image/png", buffer=PIXEL)
    await dialog.locator("input[type=file]").set_input_files(picture)
    await dialog.get_by_role("button", name="Post", exact=True).click()
    await expect(panel(ben, "Which pot?").locator("article.message", has_text="Glass or clay?")).to_have_count(1)

    card = ada.page.locator("article.post", has_text="Which pot?")
    await expect(card).to_contain_text("Glass or clay?")
    await expect(card.locator("img.post-picture")).to_be_visible()
    await card.get_by_role("button", name=re.compile("^👍")).click()
    theirs = ben.page.locator("article.post", has_text="Which pot?")
    await expect(theirs.get_by_role("button", name="👍, 1 reaction")).to_be_visible()
    await ada.page.get_by_role("button", name="Which pot?", exact=True).click()
    await open_menu(ada, ada.page.get_by_role("button", name="Actions of Which pot?"), "Pin post")
    await expect(theirs.get_by_label("Pinned")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_posts_are_sorted_filtered_and_searched(browser: Browser, server: Server) -> None:
    ada, ben = await open_forum(browser, server, "26")
    await write_post(ben, "Which pot?", "Glass?", "tea")
    await write_post(ada, "Which mill?", "Steel?", "coffee")
    await say_in(panel(ben, "Which pot?"), "Clay, I think")

    titles = ada.page.locator("article.post .post-title")
    await expect(titles).to_have_text(["Which pot?", "Which mill?"])
    await choose_option(ada.page, "Sort by", "Newest posts")
    await expect(titles).to_have_text(["Which mill?", "Which pot?"])
    await ada.page.get_by_role("row", name="tea").click()
    await expect(titles).to_have_text(["Which pot?"])
    await ada.page.get_by_role("row", name="coffee").click()
    await ada.page.get_by_text("All of these tags").click()
    await expect(ada.page.get_by_text("No post matches")).to_be_visible()
    await ada.page.get_by_text("All of these tags").click()
    await expect(titles).to_have_count(2)
    await ada.page.get_by_label("Search posts").fill("pot which")
    await expect(titles).to_have_text(["Which pot?"])
    await ada.page.get_by_label("Search posts").fill("")
    await ada.page.get_by_role("radio", name="Gallery").click()
    await expect(ada.page.locator("article.post-gallery")).to_have_count(2)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_media_channel_shows_its_posts_as_a_grid_of_pictures(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "media")
    await make_community(ada)
    media = await request(ada, "POST", f"/guilds/{guild_id(ada)}/channels", {"name": "pictures", "type": 16})
    assert media["type"] == 16
    for client in (ada, ben):
        await client.page.get_by_role("link", name="pictures").click()
        await expect(client.page.get_by_role("radio", name="Gallery")).to_be_checked()
    files = {
        "The river": FilePayload(name="clip.webm", mimeType="video/webm", buffer=CLIP.read_bytes()),
        "The hill": FilePayload(name="picture.png", mimeType="image/png", buffer=picture_of("olivedrab")),
        "The barn": FilePayload(name="picture.png", mimeType="image/png", buffer=picture_of("firebrick")),
    }
    for title, file in files.items():
        await ada.page.get_by_role("button", name="New post").click()
        dialog = ada.page.get_by_role("dialog", name="New post")
        await dialog.get_by_label("Title").fill(title)
        await dialog.get_by_label("Message").fill("From the path")
        await dialog.locator("input[type=file]").set_input_files(file)
        await dialog.get_by_role("button", name="Post", exact=True).click()
        await expect(panel(ada, title)).to_be_visible()
    cards = ben.page.locator("article.post-gallery")
    await expect(cards.locator(".post-title")).to_have_text(["The barn", "The hill", "The river"])
    await expect(ben.page.get_by_text("No replies yet")).to_have_count(3)
    for index in range(2):
        picture_of_card = cards.nth(index).locator("img.post-picture")
        await expect(picture_of_card).to_be_visible()
        await picture_of_card.evaluate("picture => picture.decode()")
    # A video shows its first frame.
    frame = cards.nth(2).locator("video.post-picture")
    await expect(frame).to_be_visible()
    await ben.page.wait_for_function("() => document.querySelector('video.post-picture').readyState >= 2")
    barn, hill = await cards.nth(0).bounding_box(), await cards.nth(1).bounding_box()
    assert barn is not None
    assert hill is not None
    assert barn["y"] == hill["y"]
    assert barn["x"] + barn["width"] <= hill["x"]
    await ben.page.get_by_role("button", name="The hill", exact=True).click()
    await expect(panel(ben, "The hill").locator("article.message img")).to_be_visible()

    await ben.page.set_viewport_size({"width": 390, "height": 800})
    await ben.page.go_back()
    stacked = (
        "() => new Set([...document.querySelectorAll('.post')].map((each) => each.getBoundingClientRect().x)).size"
    )
    await expect(cards).to_have_count(3)
    await ben.page.wait_for_function(f"({stacked})() === 1")
    assert (ada.errors, ben.errors) == ([], [])


def picture_of(color: str) -> bytes:
    """A picture in one colour."""
    file = BytesIO()
    Image.new("RGB", (640, 400), color).save(file, "PNG")
    return file.getvalue()


async def test_who_is_in_a_voice_channel_shows_and_can_be_moderated(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "24")
    path = f"/guilds/{guild_id(ada)}/channels"
    await request(ada, "POST", path, {"name": "kitchen", "type": 2})
    await request(ada, "POST", path, {"name": "garden", "type": 2})
    await ben.page.get_by_role("link", name="kitchen").click()
    await ben.page.get_by_role("button", name="Join voice", exact=True).click()
    channels = ada.page.get_by_role("navigation", name="Channels")
    await expect(channels.locator(".voice-members")).to_contain_text("ben24")
    bar = ben.page.locator(".voice-bar")
    await expect(bar.get_by_role("link", name="kitchen")).to_be_visible()
    await bar.get_by_role("button", name="Mute", exact=True).click()
    await expect(channels.locator(".voice-members").get_by_label("Muted")).to_be_visible()
    await ben.say("typed, not said")

    await ada.page.get_by_role("link", name="kitchen").click()
    await expect(ada.message("typed, not said")).to_have_count(1)
    await ada.page.get_by_role("button", name="Edit status").click()
    await ada.page.get_by_label("Status", exact=True).fill("Cooking together")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ben.page.locator(".channel-status")).to_have_text("Cooking together")
    menu = ada.page.get_by_role("button", name="Options for ben24")
    await open_menu(ada, menu, "Deafen")
    await expect(ben.page.locator(".voice-card").get_by_label("Deafened by a moderator")).to_be_visible()
    await open_menu(ada, menu, "Move")
    await choose_option(ada.page, "To the channel", "garden")
    await ada.page.get_by_role("button", name="Move", exact=True).click()
    await expect(bar.get_by_role("link", name="garden")).to_be_visible()
    await ada.page.get_by_role("link", name="garden").click()
    await open_menu(ada, ada.page.get_by_role("button", name="Options for ben24"), "Disconnect")
    await expect(channels.locator(".voice-members")).to_have_count(0)
    await expect(bar).to_have_count(0)
    await ada.page.reload()
    await expect(channels.locator(".channel-status")).to_have_text("Cooking together")
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_stage_has_a_topic_speakers_and_an_audience(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "25")
    await make_community(ada)
    stage = await request(ada, "POST", f"/guilds/{guild_id(ada)}/channels", {"name": "theatre", "type": 13})
    assert stage["type"] == 13
    for client in (ada, ben):
        await client.page.get_by_role("link", name="theatre").click()
        await client.page.get_by_role("button", name="Join the audience").click()
        await expect(client.page.get_by_role("button", name="Leave").first).to_be_visible()
    await ada.page.get_by_role("button", name="Start the stage").click()
    await ada.page.get_by_role("textbox", name="Topic").fill("An evening of poems")
    await ada.page.get_by_role("dialog").get_by_role("button", name="Start the stage").click()
    await expect(ben.page.locator(".stage-topic")).to_have_text(re.compile("An evening of poems"))
    await ben.page.get_by_role("button", name="Request to speak").click()
    await expect(ada.page.get_by_label("Wants to speak")).to_be_visible()
    await open_menu(ada, ada.page.get_by_role("button", name="Options for ben25"), "Invite to speak")
    await expect(ben.page.get_by_role("heading", name="Speakers")).to_be_visible()
    await ben.page.get_by_role("button", name="Return to the audience").click()
    await expect(ben.page.get_by_role("button", name="Request to speak")).to_be_visible()
    await ada.page.get_by_role("button", name="Edit topic").click()
    await ada.page.get_by_role("textbox", name="Topic").fill("An evening of songs")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ben.page.locator(".stage-topic")).to_have_text(re.compile("An evening of songs"))
    await ada.page.get_by_role("button", name="End the stage").click()
    await ada.page.get_by_role("dialog").get_by_role("button", name="End the stage").click()
    await expect(ben.page.get_by_text("The stage is not live.")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def edit_channel(client: ClientPage, name: str) -> Locator:
    """Open the settings of a channel in the channel list."""
    await client.page.get_by_role("button", name=f"Settings of {name}", exact=True).click()
    await expect(client.page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    return client.page.locator(".panes")


async def leave_settings(client: ClientPage) -> None:
    """Go back from the settings of a channel to the channel."""
    await client.page.get_by_role("button", name="Close the settings").click()
    await expect(client.page.get_by_role("navigation", name="Channels", exact=True)).to_be_visible()


async def test_channels_are_created_edited_and_deleted(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "31")
    await make_community(ada)
    await open_menu(ada, ada.page.locator("button.sidebar-title"), "Create channel")
    await choose_option(ada.page, "Type", "Forum")
    name = ada.page.get_by_label("Channel name")
    await name.fill("q" * 101)
    await ada.page.get_by_role("button", name="Create channel").click()
    await expect(name).to_have_attribute("aria-invalid", "true")
    await expect(ada.page.get_by_role("alert")).to_have_text("Some values were refused. The reason is at the field.")
    ada.errors.clear()  # the browser says that the request was refused
    await name.fill("questions")
    await choose_option(ada.page, "Category", "Text Channels")
    await ada.page.get_by_role("button", name="Create channel").click()
    await expect(ben.page.get_by_role("link", name="questions")).to_be_visible()

    settings = await edit_channel(ada, "questions")
    await settings.get_by_label("Channel name").fill("answers")
    await settings.get_by_label("Guidelines").fill("Search first.")
    await settings.get_by_role("button", name="Add a tag").click()
    await settings.get_by_label("Tag name").fill("solved")
    await settings.get_by_text("Every post needs a tag").click()
    await choose_option(settings, "Default order", "Newest posts")
    await settings.get_by_role("button", name="Save").click()
    await expect(settings.get_by_role("region", name="You have unsaved changes.")).to_have_count(0)
    await leave_settings(ada)
    await ben.page.get_by_role("link", name="answers").click()
    await expect(ben.page.get_by_role("row", name="solved")).to_be_visible()
    await expect(select_button(ben.page, "Sort by")).to_have_text("Newest posts")

    settings = await edit_channel(ada, "General")
    await settings.get_by_role("textbox", name="Bitrate in kilobits a second").fill("48")
    await settings.get_by_role("textbox", name="User limit").fill("7")
    await choose_option(settings, "Slow mode", "30 seconds")
    await settings.get_by_role("button", name="Save").click()
    await expect(settings.get_by_role("region", name="You have unsaved changes.")).to_have_count(0)
    await leave_settings(ada)
    channels = await request(ada, "GET", f"/guilds/{guild_id(ada)}/channels")
    voice = next(channel for channel in channels if channel["type"] == 2)
    assert (voice["bitrate"], voice["user_limit"], voice["rate_limit_per_user"]) == (48_000, 7, 30)

    settings = await edit_channel(ada, "answers")
    await settings.get_by_role("link", name="Delete").click()
    await settings.get_by_role("button", name="Delete channel").click()
    await expect(ben.page.get_by_role("link", name="answers")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_permissions_of_a_channel_are_allowed_denied_and_synced(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "29")
    settings = await edit_channel(ada, "general")
    await settings.get_by_role("link", name="Permissions").click()
    await expect(settings.get_by_text("The permissions are those of the category")).to_be_visible()
    sends = settings.get_by_role("radiogroup", name="Send messages", exact=True)
    await sends.locator(".permission-deny").click()
    await settings.get_by_role("button", name="Save").click()
    await expect(ben.page.get_by_text("You cannot send messages in this channel.")).to_be_visible()
    await expect(settings.get_by_text("The permissions differ")).to_be_visible()

    await settings.get_by_role("button", name=re.compile("Add roles or members")).click()
    await ada.page.get_by_role("option", name="ben29").click()
    await ada.page.keyboard.press("Escape")
    await expect(select_button(settings, "Permissions of")).to_have_text("ben29")
    await sends.locator(".permission-allow").click()
    await settings.get_by_role("button", name="Save").click()
    await expect(ben.box).to_be_visible()

    await settings.get_by_role("button", name="Take over those of the category").click()
    await expect(settings.get_by_text("The permissions are those of the category")).to_be_visible()
    await expect(ben.box).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_channel_made_private_over_several_targets_is_private(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "private")
    role = await request(ada, "POST", f"/guilds/{guild_id(ada)}/roles", {"name": "Regulars", "permissions": "0"})
    general = ada.page.url.split("/")[-1]
    settings = await edit_channel(ada, "general")
    await settings.get_by_role("link", name="Permissions").click()
    views = settings.get_by_role("radiogroup", name="View channels", exact=True)
    await views.locator(".permission-deny").click()
    await settings.get_by_role("button", name=re.compile("Add roles or members")).click()
    await ada.page.get_by_role("option", name="@Regulars").click()
    await ada.page.keyboard.press("Escape")
    await views.locator(".permission-allow").click()
    # Neither another target nor another tab loses what is changed, and the bar says what that is.
    await settings.get_by_role("link", name="Overview").click()
    await settings.get_by_label("Topic").fill("secrets")
    await settings.get_by_role("link", name="Permissions").click()
    bar = settings.get_by_role("region", name="You have unsaved changes.")
    await expect(bar).to_contain_text("Unsaved: Overview, @everyone, @Regulars")
    await expect(settings.get_by_role("switch", name="Private channel")).to_be_checked()
    await ada.page.set_viewport_size({"width": 390, "height": 700})
    await expect(bar).to_be_in_viewport()
    assert await ada.violations() == []
    await picture(ada.page, "overwrites")
    await ada.page.set_viewport_size({"width": 1280, "height": 800})

    # Leaving asks.
    await ada.page.get_by_role("button", name="Close the settings").click()
    question = ada.page.get_by_role("dialog", name="You have unsaved changes.")
    await question.get_by_role("button", name="Keep editing").click()
    await bar.get_by_role("button", name="Save").click()
    await expect(bar).to_have_count(0)
    await expect(ben.page.get_by_role("link", name="general", exact=True)).to_have_count(0)
    channel = await request(ada, "GET", f"/channels/{general}")
    view = 1 << 10
    rights = {each["id"]: (int(each["allow"]), int(each["deny"])) for each in channel["permission_overwrites"]}
    assert rights[guild_id(ada)] == (0, view)
    assert rights[role["id"]] == (view, 0)
    assert channel["topic"] == "secrets"
    assert (ada.errors, ben.errors) == ([], [])


async def test_who_enters_a_private_channel_is_found_on_the_server(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_private")
    code = (await request(ada, "POST", f"/channels/{ada.page.url.split('/')[-1]}/invites", {}))["code"]
    crowd = [await sign_up(server.url, f"crowd{number}") for number in range(3)]
    for account in crowd:
        await call(server.url, account, "POST", f"/invites/{code}", {})
    # The client begins with itself alone: the others are found by searching.
    await ada.page.reload()
    await expect(ada.box).to_be_visible()
    await open_menu(ada, ada.page.locator("button.sidebar-title"), "Create channel")
    dialog = ada.page.get_by_role("dialog").first
    await dialog.get_by_label("Channel name").fill("council")
    await dialog.get_by_text("Private channel").click()
    await dialog.get_by_role("button", name=re.compile("Who may enter")).click()
    await ada.page.get_by_role("searchbox", name="Search").fill("crowd2")
    await ada.page.get_by_role("option", name="crowd2").click()
    # The first one empties the search.
    await ada.page.keyboard.press("Escape")
    await ada.page.keyboard.press("Escape")
    await expect(dialog.locator(".picker-tag")).to_have_text("crowd2")
    await expect(ada.page.locator(".menu-popover")).to_have_count(0)
    assert await ada.violations() == []
    await picture(ada.page, "private")
    await dialog.get_by_role("button", name="Create channel").click()
    await expect(ada.page.get_by_role("heading", level=1, name="council")).to_be_visible()
    channel = ada.page.url.split("/")[-1]
    members = (await call(server.url, crowd[2], "GET", f"/channels/{channel}"))["permission_overwrites"]
    assert [each["id"] for each in members if each["type"] == 1] == [crowd[2].id]
    with pytest.raises(AssertionError, match="50001"):
        await call(server.url, crowd[0], "GET", f"/channels/{channel}")
    assert ada.errors == []


async def test_channels_are_arranged_with_the_keyboard(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "30")
    path = f"/guilds/{guild_id(ada)}/channels"
    categories = {channel["name"]: channel["id"] for channel in await request(ada, "GET", path)}
    await request(ada, "POST", path, {"name": "tea", "parent_id": categories["Text Channels"]})
    names = ben.page.get_by_role("navigation", name="Channels").locator(".channel-line .channel-name")
    await expect(names).to_have_text(["general", "tea", "General"])
    await open_menu(ada, ada.page.locator("button.sidebar-title"), "Arrange channels")
    await ada.page.get_by_role("row", name="tea").focus()
    await ada.page.keyboard.press("ArrowRight")
    await expect(ada.page.get_by_role("button", name="Move tea")).to_be_focused()
    await ada.page.keyboard.press("Enter")
    await drop_at(ada.page, "ArrowUp", "Insert between Text Channels and general")
    await expect(names).to_have_text(["tea", "general", "General"])

    # Rows below the window are drawn when the page is idle, or at once for a key that leads to them.
    await ben.page.add_init_script("window.requestIdleCallback = () => 0")
    await ben.page.set_viewport_size({"width": 1000, "height": 100})
    await ben.page.reload()
    await expect(names).to_have_text(["tea", "general"])
    await ben.page.get_by_role("link", name="tea").focus()
    await ben.page.keyboard.press("End")
    await expect(ben.page.get_by_role("link", name="General", exact=True)).to_be_focused()
    assert (ada.errors, ben.errors) == ([], [])


async def test_channels_are_moved_where_they_are_listed(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "sidebar")
    path = f"/guilds/{guild_id(ada)}/channels"
    categories = {channel["name"]: channel["id"] for channel in await request(ada, "GET", path)}
    await request(ada, "POST", path, {"name": "tea", "parent_id": categories["Text Channels"]})
    sidebar = ada.page.get_by_role("navigation", name="Channels")
    names = ben.page.get_by_role("navigation", name="Channels").locator(".channel-line .channel-name")
    await expect(names).to_have_text(["general", "tea", "General"])
    # By keys, which say what has happened.
    await sidebar.get_by_role("link", name="tea").focus()
    await ada.page.keyboard.press("Control+Shift+ArrowUp")
    await expect(names).to_have_text(["tea", "general", "General"])
    await expect(sidebar.get_by_role("status")).to_have_text("tea was moved")
    await expect(sidebar.get_by_role("link", name="tea")).to_be_focused()
    # By dragging, into another category; members without the permission move nothing.
    heading = sidebar.locator(".category", has_text="Voice Channels")
    await sidebar.get_by_role("link", name="tea").drag_to(heading, target_position={"x": 40, "y": 20})
    await expect(names).to_have_text(["general", "tea", "General"])
    channels = {channel["name"]: channel for channel in await request(ada, "GET", path)}
    assert channels["tea"]["parent_id"] == categories["Voice Channels"]
    await ben.page.get_by_role("link", name="tea").focus()
    await ben.page.keyboard.press("Control+Shift+ArrowUp")
    # By the menu, for those who have neither: at the upper end of its category it goes to the one above.
    await sidebar.get_by_role("link", name="tea").click(button="right")
    await ada.page.get_by_role("menuitem", name="Move up").click()
    await expect(names).to_have_text(["general", "tea", "General"])
    await becomes(
        lambda: parent_of(ada, path, "tea"),
        categories["Text Channels"],
    )
    assert (ada.errors, ben.errors) == ([], [])


async def parent_of(client: ClientPage, path: str, name: str) -> object:
    """The category of the channel with a name."""
    return next(channel["parent_id"] for channel in await request(client, "GET", path) if channel["name"] == name)


async def test_channels_are_dragged_within_and_between_categories(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "drag")
    path = f"/guilds/{guild_id(ada)}/channels"
    categories = {channel["name"]: channel["id"] for channel in await request(ada, "GET", path)}
    for name in ("tea", "bread"):
        await request(ada, "POST", path, {"name": name, "parent_id": categories["Text Channels"]})
    names = ben.page.get_by_role("navigation", name="Channels").locator(".channel-line .channel-name")
    await expect(names).to_have_text(["general", "tea", "bread", "General"])
    await open_menu(ada, ada.page.locator("button.sidebar-title"), "Arrange channels")

    async def drag(name: str, target: str, below: bool = False) -> None:
        """Drag a row onto the upper or lower edge of another one."""
        row = ada.page.get_by_role("row", name=target, exact=True)
        box = await row.bounding_box()
        assert box is not None
        position: Position = {"x": 60, "y": box["height"] - 3 if below else 3}
        await ada.page.get_by_role("row", name=name, exact=True).drag_to(row, target_position=position)

    await drag("bread", "general")
    await expect(names).to_have_text(["bread", "general", "tea", "General"])
    await drag("bread", "tea", below=True)
    await expect(names).to_have_text(["general", "tea", "bread", "General"])
    await drag("tea", "Voice Channels", below=True)
    await expect(names).to_have_text(["general", "bread", "tea", "General"])
    channels = {channel["name"]: channel for channel in await request(ada, "GET", path)}
    assert channels["tea"]["parent_id"] == channels["Voice Channels"]["id"]
    # A category takes its channels along.
    await drag("Voice Channels", "Text Channels")
    await expect(names).to_have_text(["tea", "General", "general", "bread"])
    assert (ada.errors, ben.errors) == ([], [])


async def test_one_date_of_a_recurring_event_is_moved_cancelled_and_restored(browser: Browser, server: Server) -> None:
    ada, ben = await owner_and_member(browser, server, "dates")
    start = datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0) + timedelta(days=1)
    event = await request(
        ada,
        "POST",
        f"/guilds/{guild_id(ada)}/scheduled-events",
        {
            "name": "Choir",
            "privacy_level": 2,
            "entity_type": 3,
            "entity_metadata": {"location": "The hall"},
            "scheduled_start_time": start.isoformat(),
            "scheduled_end_time": (start + timedelta(hours=2)).isoformat(),
            "recurrence_rule": {"start": start.isoformat(), "frequency": 3, "interval": 1},
        },
    )
    for client in (ada, ben):
        await client.page.get_by_role("button", name=re.compile("^Events")).click()
        await open_menu(client, client.page.get_by_role("button", name="Actions of Choir"), "Dates")
        await expect(client.page.get_by_role("listitem").filter(has=client.page.locator("time"))).to_have_count(10)
    occurrence = (int(start.timestamp() * 1000) - 1_420_070_400_000) << 22
    path = f"/guilds/{event['guild_id']}/scheduled-events/{event['id']}/{occurrence}/users/@me"
    await request(ben, "PUT", path, {"response": 0})
    dates = ada.page.locator(".event-date")
    await expect(ben.page.get_by_role("button", name="Cancel this date")).to_have_count(0)

    await dates.nth(1).get_by_role("button", name="Cancel this date").click()
    for client in (ada, ben):
        await expect(client.page.locator(".event-date").nth(1)).to_contain_text("Cancelled")

    await dates.nth(2).get_by_role("button", name="Move this date").click()
    moved = ada.page.get_by_label("Start")
    before = datetime.fromisoformat(await moved.input_value())
    await moved.fill("2020-01-01T10:00")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.get_by_text("The start must be ahead.")).to_be_visible()
    later, end = (before + timedelta(hours=3), before + timedelta(hours=5))
    await moved.fill(later.isoformat(timespec="minutes"))
    await expect(ada.page.get_by_role("textbox", name="End")).to_have_value(end.isoformat(timespec="minutes"))
    await ada.page.get_by_role("button", name="Save").click()
    for client in (ada, ben):
        await expect(client.page.locator(".event-date").nth(2)).to_contain_text("Moved from")
    stored = await request(ada, "GET", f"/guilds/{event['guild_id']}/scheduled-events/{event['id']}")
    times = [(each["is_canceled"], each["scheduled_start_time"]) for each in stored["guild_scheduled_event_exceptions"]]
    assert [canceled for canceled, _ in times] == [True, False]
    assert datetime.fromisoformat(times[1][1]) == start + timedelta(days=2, hours=3)

    await dates.nth(0).get_by_role("button", name="Who has responded").click()
    dialog = ada.page.get_by_role("dialog", name=re.compile("^Responses for "))
    await expect(dialog.get_by_role("list", name="Not interested").get_by_text("ben")).not_to_have_count(0)
    await dialog.get_by_role("button", name="Close").click()

    await dates.nth(1).get_by_role("button", name="Back to the regular date").click()
    for client in (ada, ben):
        await expect(client.page.locator(".event-date").nth(1)).not_to_contain_text("Cancelled")
    assert ada.errors == ben.errors == []
