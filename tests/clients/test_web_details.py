"""Smaller things of the client for people: menus of messages, profiles, the soundboard, stickers, commands' rules."""

import asyncio
import json
import re
import sys

import aiohttp
import pytest
from playwright.async_api import Browser, FilePayload, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import (
    Account,
    ClientPage,
    becomes,
    call,
    choose_option,
    open_new_guild,
    select_button,
    sign_up,
)
from tests.clients.live import PIXEL, Server, World
from tests.resources.soundboard.sound_files import mp3, uri
from tests.support.web_client import account_of, guild_and_channel, open_menu

SQUARE = {
    "v": "5.7.4", "fr": 30, "ip": 0, "op": 30, "w": 320, "h": 320, "nm": "square", "ddd": 0, "assets": [],
    "layers": [{
        "ddd": 0, "ind": 1, "ty": 4, "nm": "square", "sr": 1, "ip": 0, "op": 30, "st": 0, "bm": 0, "ao": 0,
        "cl": "dialog-scrim", "ln": "main",
        "ks": {
            "o": {"a": 0, "k": 100}, "r": {"a": 0, "k": 0}, "p": {"a": 0, "k": [160, 160, 0]},
            "a": {"a": 0, "k": [0, 0, 0]}, "s": {"a": 0, "k": [100, 100, 100]},
        },
        "shapes": [
            {"ty": "rc", "d": 1, "s": {"a": 0, "k": [200, 200]}, "p": {"a": 0, "k": [0, 0]}, "r": {"a": 0, "k": 9}},
            {"ty": "fl", "c": {"a": 0, "k": [0.5, 0.2, 0.1, 1]}, "o": {"a": 0, "k": 100}, "r": 1},
        ],
    }],
}  # fmt: skip
"""An animation whose layer names a class and an id of the page."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def test_a_picked_emoji_is_written_at_the_caret(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_picker")
    await ada.box.fill("Hooray!")
    await ada.box.press("Home")
    await ada.page.get_by_role("button", name="Insert an emoji").click()
    await ada.page.get_by_role("searchbox").fill("tada")
    emojis = ada.page.get_by_role("gridcell")
    await expect(emojis.first).to_have_accessible_name("Party popper")
    await emojis.first.click()
    await expect(ada.box).to_have_value("🎉Hooray!")
    await expect(ada.box).to_be_focused()
    assert ada.errors == []


async def test_a_select_of_many_channels_draws_those_in_sight_and_is_searched(browser: Browser, server: Server) -> None:
    owner = await sign_up(server.url, "ada_many")
    guild_id = (await call(server.url, owner, "POST", "/guilds", {"name": "The Moot"}))["id"]
    for number in range(60):
        await call(server.url, owner, "POST", f"/guilds/{guild_id}/channels", {"name": f"room-{number:02}"})
    ada = await ClientPage.open_as(browser, server.url, owner, f"/app/guilds/{guild_id}/settings/overview")
    page, button = ada.page, select_button(ada.page, "System messages")
    await expect(button).to_have_text("#general")
    await button.click()
    options = page.get_by_role("option")
    await expect(options.nth(5)).to_be_visible()
    assert await options.count() < 40
    await expect(page.get_by_role("option", name="#general", exact=True)).to_have_attribute("aria-selected", "true")
    await expect(page.get_by_role("searchbox")).to_be_focused()
    await page.keyboard.type("room-5")
    await expect(options).to_have_count(10)
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect(options).to_have_count(0)
    await expect(button).to_have_text(re.compile("#room-5[01]"))
    await expect(button).to_be_focused()
    assert ada.errors == []


async def test_a_colour_is_typed_or_moved_by_keys(browser: Browser, server: Server) -> None:
    owner = await sign_up(server.url, "ada_colours")
    guild_id = (await call(server.url, owner, "POST", "/guilds", {"name": "The Moot"}))["id"]
    role = await call(server.url, owner, "POST", f"/guilds/{guild_id}/roles", {"name": "Keepers", "color": 0x808080})
    path = f"/app/guilds/{guild_id}/settings/roles/{role['id']}"
    ada = await ClientPage.open_as(browser, server.url, owner, path)
    page = ada.page
    button = page.get_by_role("button", name="Colour #")
    await button.click()
    field = page.get_by_role("dialog").get_by_role("textbox", name="Colour")
    await field.fill("#FF0000")
    await field.press("Enter")
    await expect(button).to_contain_text("#ff0000")
    await page.get_by_role("slider", name="Hue").focus()
    await page.keyboard.press("PageUp")
    await expect(button).not_to_contain_text("#ff0000")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    chosen = (await button.inner_text()).strip()
    await page.get_by_role("button", name="Save").click()

    async def color() -> str:
        roles = await call(server.url, owner, "GET", f"/guilds/{guild_id}/roles")
        return next(f"#{each['color']:06x}" for each in roles if each["id"] == role["id"])

    await becomes(color, chosen)
    assert ada.errors == []


async def test_a_message_has_its_menu_at_the_pointer(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_menu", "ben_menu")
    await ada.say("Shall we meet?")
    await ben.message("Shall we meet?").click(button="right")
    menu = ben.page.get_by_role("menu", name="More")
    box, text = await menu.bounding_box(), await ben.message("Shall we meet?").bounding_box()
    assert box is not None
    assert text is not None
    assert abs(box["x"] - text["x"] - text["width"] / 2) < 40
    await menu.get_by_role("menuitem", name="Reply").click()
    await ben.say("On Friday")
    await expect(ada.message("On Friday").locator(".message-reply")).to_contain_text("Shall we meet?")
    await ada.message("Shall we meet?").first.click(button="right")
    await ada.page.get_by_role("menuitem", name="Edit").click()
    await ada.page.get_by_role("textbox", name="Edit message").fill("Shall we meet on Friday?")
    await ada.page.keyboard.press("Enter")
    await expect(ben.message("Shall we meet on Friday?").first).to_contain_text("(edited)")
    assert (ada.errors, ben.errors) == ([], [])


async def test_the_actions_of_a_message_are_reached_with_the_keyboard(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_keys")
    await ada.say("Hello")
    await expect(ada.message("Hello")).not_to_contain_text("Sending…")
    await ada.message("Hello").get_by_role("button", name="ada_keys").last.focus()
    actions = ada.message("Hello").get_by_role("group", name="Actions of this message")
    await expect(actions).to_be_visible()
    await ada.say("and more")
    await expect(ada.message("and more")).not_to_contain_text("Sending…")
    await ada.message("and more").get_by_role("button", name="Actions of this message").focus()
    group = ada.message("and more").get_by_role("group", name="Actions of this message")
    await expect(group.get_by_role("button").first).to_be_focused()
    assert ada.errors == []


async def test_a_profile_shows_what_two_users_share(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_card", "ben_card")
    one, other = [await account_of(client) for client in (ada, ben)]
    friend = await sign_up(server.url, "carol_card")
    for account in (one, other):
        await call(server.url, account, "PUT", f"/users/@me/relationships/{friend.id}", {})
        await call(server.url, friend, "PUT", f"/users/@me/relationships/{account.id}", {"type": 1})
    await call(server.url, other, "PATCH", "/users/@me", {"bio": "I keep **bees**."})
    await ben.say("Hello")
    await ada.message("Hello").get_by_role("button", name="ben_card").click()
    card = ada.page.get_by_role("dialog", name="Profile")
    await expect(card.locator("strong", has_text="bees")).to_be_visible()
    await card.get_by_text("1 server in common").click()
    await expect(card.get_by_role("link", name="The Moot")).to_be_visible()
    await card.get_by_text("1 friend in common").click()
    await expect(card.get_by_text("carol_card").first).to_be_visible()
    assert ada.errors == []


async def test_sounds_are_heard_and_seen_in_a_voice_channel(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_sound", "ben_sound")
    guild_id, _ = guild_and_channel(ada)
    owner = await account_of(ada)
    channel = await call(server.url, owner, "POST", f"/guilds/{guild_id}/channels", {"name": "Lounge", "type": 2})
    for client in (ada, ben):
        await client.page.evaluate(
            """() => { window.played = []; HTMLMediaElement.prototype.play = function () {
                 if (this.src) window.played.push(new URL(this.src).pathname);
                 return Promise.resolve(); }; }"""
        )
        await client.page.get_by_role("link", name="Lounge", exact=True).click()
        await client.page.get_by_role("button", name="Join voice", exact=True).click()
        await expect(client.page.get_by_role("button", name="Soundboard")).to_be_visible()
    await expect(ben.page.locator(".voice-card")).to_have_count(2)
    await ada.page.get_by_role("button", name="Soundboard").click()
    board = ada.page.get_by_role("dialog", name="Soundboard")
    await board.locator(".soundboard-sound").first.click()
    await expect(ben.page.get_by_role("img", name="has played a sound")).to_be_visible()
    sounds = await call(server.url, owner, "GET", "/soundboard-default-sounds")
    heard = f"/soundboard-sounds/{sounds[0]['sound_id']}"
    for client in (ada, ben):
        await client.page.wait_for_function("path => window.played.includes(path)", arg=heard)
    assert (ada.errors, ben.errors) == ([], [])
    assert channel["name"] == "Lounge"


async def test_sounds_of_other_guilds_are_played_where_that_is_allowed(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_sounds")
    guild_id, _ = guild_and_channel(ada)
    owner = await account_of(ada)
    other = await call(server.url, owner, "POST", "/guilds", {"name": "The Barn"})
    sound = {"name": "moo", "sound": uri(mp3(0.2))}
    await call(server.url, owner, "POST", f"/guilds/{other['id']}/soundboard-sounds", sound)
    await call(server.url, owner, "POST", f"/guilds/{guild_id}/channels", {"name": "Lounge", "type": 2})
    await ada.page.get_by_role("link", name="Lounge", exact=True).click()
    await ada.page.get_by_role("button", name="Join voice", exact=True).click()
    await ada.page.get_by_role("button", name="Soundboard").click()
    board = ada.page.get_by_role("dialog", name="Soundboard")
    await board.get_by_role("region", name="The Barn").get_by_role("button", name="moo").click()
    await expect(ada.page.get_by_role("img", name="has played a sound")).to_be_visible()
    await expect(board.get_by_role("alert")).to_have_count(0)
    assert ada.errors == []


async def test_members_have_a_name_and_a_picture_of_their_own_in_a_guild(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_profile", "ben_profile")
    await ben.say("Here I am")
    await ben.page.locator("button.sidebar-title").click()
    await ben.page.get_by_role("menuitem", name="Edit your profile here").click()
    dialog = ben.page.get_by_role("dialog", name="Your profile in The Moot")
    await dialog.get_by_label("Nickname").fill("Benjamin")
    async with ben.page.expect_file_chooser() as chooser:
        await dialog.get_by_role("group", name="Avatar").get_by_role("button", name="Choose a picture").click()
    await (await chooser.value).set_files([FilePayload(name="me.png", mimeType="image/png", buffer=PIXEL)])
    await ben.page.get_by_role("button", name="Use this part").click()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    message = ada.message("Here I am")
    await expect(message.locator(".message-author")).to_have_text("Benjamin")
    await expect(message.locator(".message-gutter img")).to_have_attribute("src", re.compile(r"^/guilds/\d+/users/"))
    assert (ada.errors, ben.errors) == ([], [])


async def test_the_writer_of_a_message_is_moderated_from_their_card(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_judge", "ben_loud")
    await ben.say("I shout")
    await ada.message("I shout").get_by_role("button", name="ben_loud").click()
    await ada.page.get_by_role("dialog", name="Profile").get_by_role("button", name="Actions of ben_loud").click()
    await ada.page.get_by_role("menuitem", name="Time out").click()
    await ada.page.get_by_role("dialog", name="Time out ben_loud").get_by_role("button", name="Time out").click()
    await expect(ben.page.get_by_text("You are timed out until")).to_be_visible()
    await expect(ben.box).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_slow_mode_says_how_long_to_wait(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_slow", "ben_slow")
    _, channel_id = guild_and_channel(ada)
    owner = await account_of(ada)
    await call(server.url, owner, "PATCH", f"/channels/{channel_id}", {"rate_limit_per_user": 3600})
    await expect(ben.page.get_by_text("Slow mode: one message every 1 hour.")).to_be_visible()
    await ben.say("the first")
    await expect(ben.page.get_by_text("Slow mode: your next message in 59:")).to_be_visible()
    await ben.box.fill("the second")
    await expect(ben.page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
    await ben.box.press("Enter")
    await expect(ben.box).to_have_value("the second")
    # Those who manage messages need not wait.
    await ada.say("one")
    await ada.say("two")
    await expect(ben.message("two")).to_have_count(1)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_channel_for_adults_asks_first(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_adult")
    _, channel_id = guild_and_channel(ada)
    await ada.say("not for children")
    owner = await account_of(ada)
    await call(server.url, owner, "PATCH", f"/channels/{channel_id}", {"nsfw": True})
    await expect(ada.page.get_by_role("heading", name="Age-restricted")).to_be_visible()
    await expect(ada.message("not for children")).to_have_count(0)
    await ada.page.get_by_role("button", name="I am an adult: enter").click()
    await expect(ada.message("not for children")).to_be_visible()
    await ada.page.reload()
    await expect(ada.message("not for children")).to_be_visible()
    assert ada.errors == []


_BECOME = """async (state) => {
  Object.defineProperty(document, "visibilityState", {value: state, configurable: true});
  document.dispatchEvent(new Event("visibilitychange"));
  await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
}"""
"""Hide or show the page; two frames later what follows of it is drawn."""


async def test_a_message_is_marked_as_unread_and_a_reply_need_not_notify(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_unread", "ben_unread")
    await ada.say("first")
    await ada.say("second")
    await expect(ben.message("second")).to_have_count(1)
    await ben.message("second").click(button="right")
    await ben.page.get_by_role("menuitem", name="Mark as unread").click()
    await expect(ben.page.locator(".timeline-new")).to_have_count(1)
    await expect(ben.page.locator(".channel-row.channel-unread")).to_contain_text("general")

    # Marked before the client has marked it as read, which it does where the page is visible: it stays unread.
    await ben.page.evaluate(_BECOME, "hidden")
    await ada.say("third")
    await expect(ben.message("third")).to_have_count(1)
    await ben.message("third").click(button="right")
    await ben.page.get_by_role("menuitem", name="Mark as unread").click()
    await expect(ben.page.get_by_role("menu")).to_have_count(0)
    await ben.page.evaluate(_BECOME, "visible")
    await expect(ben.page.locator(".channel-row.channel-unread")).to_contain_text("general")

    await ben.message("first").first.click(button="right")
    await ben.page.get_by_role("menuitem", name="Reply").click()
    mention = ben.page.get_by_role("button", name="Notify ada_unread of your reply")
    await expect(mention).to_have_attribute("aria-pressed", "true")
    await mention.click()
    await ben.say("quietly")
    await expect(ada.message("quietly")).to_have_count(1)
    await expect(ada.page.locator(".message-mention")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_pins_lead_to_their_message_and_are_taken_away(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_pins")
    await ada.say("remember this")
    await expect(ada.message("remember this")).not_to_contain_text("Sending…")
    await ada.message("remember this").click(button="right")
    await ada.page.get_by_role("menuitem", name="Pin").click()
    await ada.page.get_by_role("button", name="Pinned messages").click()
    pins = ada.page.get_by_role("complementary", name="Pinned messages")
    await pins.get_by_role("link", name="Jump").click()
    await expect(ada.page.locator(".timeline-row-target")).to_contain_text("remember this")
    await pins.get_by_role("button", name="Unpin").click()
    await expect(pins.get_by_role("listitem")).to_have_count(0)
    assert ada.errors == []


async def test_moderators_read_what_automatic_moderation_has_blocked(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_rules", "ben_rude")
    guild_id, channel_id = guild_and_channel(ada)
    owner = await account_of(ada)
    alerts = await call(server.url, owner, "POST", f"/guilds/{guild_id}/channels", {"name": "alerts", "type": 0})
    rule = {
        "name": "No turnips", "event_type": 1, "trigger_type": 1, "enabled": True,
        "trigger_metadata": {"keyword_filter": ["turnip"]},
        "actions": [{"type": 1}, {"type": 2, "metadata": {"channel_id": alerts["id"]}}],
    }  # fmt: skip
    await call(server.url, owner, "POST", f"/guilds/{guild_id}/auto-moderation/rules", rule)
    await ben.say("I sell a turnip")
    await expect(ben.page.get_by_text("Not sent")).to_be_visible()
    await ada.page.goto(f"{server.url}/channels/{guild_id}/{alerts['id']}")
    alert = ada.page.locator(".alert-message")
    await expect(alert).to_contain_text("has blocked this message by the rule No turnips")
    await expect(alert.locator("blockquote")).to_have_text("I sell a turnip")
    await expect(alert).to_contain_text("#general")
    assert channel_id in ben.page.url


async def test_a_channel_has_its_menu_at_the_pointer(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_rows")
    row = ada.page.get_by_role("navigation", name="Channels").get_by_role("link", name="general", exact=True)
    await row.click(button="right")
    await open_menu(ada, ada.page.get_by_role("menuitem", name="Mute"), "Until I unmute it")
    await row.click(button="right")
    await expect(ada.page.get_by_role("menuitem", name="Unmute")).to_be_visible()
    await ada.page.get_by_role("menuitem", name="Notifications").click()
    await expect(ada.page.get_by_role("dialog", name="Notifications")).to_be_visible()
    await ada.page.get_by_role("button", name="Close").click()
    await expect(ada.page.get_by_role("dialog")).to_have_count(0)
    assert ada.errors == []


async def test_a_touch_shows_the_actions_of_a_message(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(
        browser, server.url, "ada_touch", has_touch=True, is_mobile=True, viewport={"width": 390, "height": 844}
    )
    await ada.say("tap me")
    message = ada.message("tap me")
    await expect(message).not_to_contain_text("Sending…")
    actions = message.get_by_role("group", name="Actions of this message")
    await expect(actions).to_have_count(0)
    await message.locator(".content").tap()
    await expect(actions).to_be_visible()
    await actions.get_by_role("button", name="More").tap()
    await expect(ada.page.get_by_role("menuitem", name="Delete message")).to_be_visible()
    assert ada.errors == []


async def test_a_sticker_of_vectors_is_drawn_and_reaches_nothing_of_the_page(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_lottie")
    guild_id, channel_id = guild_and_channel(ada)
    owner = await account_of(ada)
    # Only guilds that the operator marks so may have them.
    command = [sys.executable, "-m", "moothall", "guild", "features", guild_id, "--add", "VERIFIED"]
    process = await asyncio.create_subprocess_exec(*command, "--data", str(server.data))
    assert await process.wait() == 0
    form = aiohttp.FormData()
    form.add_field("name", "square")
    form.add_field("tags", "square")
    form.add_field("description", "")
    form.add_field("file", json.dumps(SQUARE), filename="square.json", content_type="application/json")
    async with (
        aiohttp.ClientSession(headers={"Authorization": owner.token}) as session,
        session.post(f"{server.url}/api/v10/guilds/{guild_id}/stickers", data=form) as response,
    ):
        assert response.ok, await response.text()
        sticker = await response.json()
    await call(server.url, owner, "POST", f"/channels/{channel_id}/messages", {"sticker_ids": [sticker["id"]]})
    drawing = ada.page.get_by_role("img", name="square")
    await expect(drawing.locator("svg path")).to_have_count(1)
    assert await drawing.locator(".dialog-scrim, #main").count() == 0
    assert ada.errors == []


async def test_rules_say_who_may_use_an_applications_commands(browser: Browser, server: Server, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        application = harbour.bot.application_id
        body = [{"name": "tea", "description": "Make tea"}]
        headers = {"Authorization": f"Bot {harbour.bot.token}"}
        path = f"/applications/{application}/guilds/{harbour.guild.id}/commands"
        async with world.session.put(f"{server.url}/api/v10{path}", json=body, headers=headers) as response:
            assert response.ok, await response.text()
            (tea,) = await response.json()
        owner = Account(str(harbour.owner.id), harbour.owner.token)
        screen = f"/app/guilds/{harbour.guild.id}/settings/integrations"
        client = await ClientPage.open_as(browser, server.url, owner, screen)
        page = client.page
        await page.get_by_role("button", name="Commands of").click()
        dialog = page.get_by_role("dialog")
        await choose_option(dialog, "Applies to", "/tea")
        await dialog.get_by_role("button", name="Add: Role").click()
        await page.get_by_role("option", name="@everyone").click()
        await page.keyboard.press("Escape")
        await dialog.get_by_role("switch", name="@everyone").press("Space")
        await dialog.get_by_role("button", name="Save").click()

        async def rules() -> object:
            stored = await call(server.url, owner, "GET", f"{path}/permissions")
            return {each["id"]: each["permissions"] for each in stored}

        everyone = {"id": str(harbour.guild.id), "type": 1, "permission": False}
        await becomes(rules, {tea["id"]: [everyone]})
        assert client.errors == []


async def test_an_address_without_a_screen_leads_back(browser: Browser, server: Server) -> None:
    account = await sign_up(server.url, "ada_lost")
    ada = await ClientPage.logged_in(browser, server.url, account)
    await ada.page.goto(f"{server.url}/app/nowhere")
    await expect(ada.page.get_by_role("heading", name="There is nothing here")).to_be_visible()
    await ada.page.get_by_role("link", name="To your messages").click()
    await ada.page.wait_for_url("**/channels/@me")
    assert ada.errors == []


async def test_who_creates_a_channel_learns_what_communities_have(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_types")
    await ada.page.locator("button.sidebar-title").click()
    await ada.page.get_by_role("menuitem", name="Create channel").click()
    kinds = select_button(ada.page, "Type")
    await expect(kinds).to_have_accessible_description(re.compile("switch Community on"))
    await kinds.click()
    await expect(ada.page.get_by_role("option")).to_have_text(["Text", "Voice", "Category"])


async def test_the_keys_of_shortcuts_are_recorded_switched_off_and_reset(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_keybinds")
    page = ada.page
    await page.keyboard.press("Control+/")
    await page.get_by_role("dialog").get_by_role("button", name="Change shortcuts").click()
    switcher = page.get_by_role("button", name=re.compile("Go to a channel or conversation.*Change$"))
    await expect(switcher).to_have_accessible_name("Go to a channel or conversation: Ctrl K. Change")

    # Typing keeps its keys, Escape keeps the old ones, and what two shortcuts share is said at both.
    await switcher.click()
    await page.keyboard.press("j")
    await expect(page.get_by_text("J cannot be used")).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(switcher).to_have_accessible_name(re.compile("Ctrl K"))
    await switcher.click()
    await page.keyboard.press("Control+f")
    await expect(page.get_by_text("Ctrl + F is also the shortcut of")).to_have_count(2)
    await page.get_by_role("button", name=re.compile("^Search messages: .*Change$")).click()
    await page.keyboard.press("Control+Shift+f")
    await expect(page.get_by_text("is also the shortcut of")).to_have_count(0)
    await page.get_by_role("button", name="Switch off: Bold").click()
    await expect(page.get_by_role("button", name="Bold: Off. Change")).to_be_visible()
    stored = await page.evaluate("id => localStorage.getItem('moothall.keybinds.' + id)", (await account_of(ada)).id)
    assert json.loads(stored) == {"switcher": "Mod+F", "search": "Mod+Shift+F", "bold": None}

    await page.get_by_role("button", name="Reset: Bold").click()
    await expect(page.get_by_role("button", name="Bold: Ctrl B. Change")).to_be_visible()
    await page.get_by_role("button", name="Reset all shortcuts").click()
    await expect(switcher).to_have_accessible_name("Go to a channel or conversation: Ctrl K. Change")
    await expect(page.get_by_role("button", name="Reset all shortcuts")).to_be_disabled()
    assert ada.errors == []


async def test_every_handler_and_name_of_a_shortcut_has_the_chosen_keys(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_chosen_keys")
    page, search = ada.page, ada.page.get_by_role("button", name="Search messages")
    await expect(search).to_have_attribute("aria-keyshortcuts", "Control+F")
    changes = json.dumps({"switcher": "Mod+F", "search": "Mod+Shift+F", "bold": None})
    entry = [f"moothall.keybinds.{(await account_of(ada)).id}", changes]
    await page.evaluate("([key, value]) => localStorage.setItem(key, value)", entry)
    await page.reload()
    await expect(ada.box).to_be_focused()
    await ada.box.fill("word")
    await ada.box.press("Control+a")
    await ada.box.press("Control+b")
    await ada.box.press("Control+i")
    await expect(ada.box).to_have_value("*word*")
    await page.keyboard.press("Control+k")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await page.keyboard.press("Control+f")
    await expect(page.get_by_role("combobox", name="Go to")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)
    await expect(ada.box).to_be_focused()
    await page.keyboard.press("Control+Shift+f")
    await expect(page.get_by_role("searchbox", name="Search messages")).to_be_focused()
    await expect(search).to_have_attribute("aria-keyshortcuts", "Control+Shift+F")
    # The first movement tells the page that there is a pointer.
    await page.mouse.move(400, 400)
    await search.hover()
    await expect(page.get_by_role("tooltip")).to_have_text(re.compile("Search messages.*Ctrl.*Shift.*F"))
    assert ada.errors == []


async def test_channels_that_not_everybody_may_enter_say_so_in_the_list(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_signs")
    guild_id, _ = guild_and_channel(ada)
    owner = await account_of(ada)
    closed = {"permission_overwrites": [{"id": guild_id, "type": 0, "deny": "1024", "allow": "0"}]}
    for body in ({"name": "committee"} | closed, {"name": "cellar", "nsfw": True}, {"name": "porch"}):
        await call(server.url, owner, "POST", f"/guilds/{guild_id}/channels", body)
    channels = ada.page.get_by_role("navigation", name="Channels")
    await expect(channels.get_by_role("link", name="committee")).to_have_accessible_name(re.compile("Private$"))
    await expect(channels.get_by_role("link", name="cellar")).to_have_accessible_name(re.compile("Age-restricted$"))
    await expect(channels.get_by_role("link", name="porch", exact=True).locator(".channel-sign")).to_have_count(0)
    await expect(channels.locator(".channel-sign")).to_have_count(2)
    assert ada.errors == []
