"""Smaller things of the client for people: menus of messages, profiles, the soundboard, stickers, commands' rules."""

import asyncio
import json
import sys

import aiohttp
import pytest
from playwright.async_api import Browser, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import Account, ClientPage, becomes, call, open_new_guild, sign_up
from tests.clients.live import Server, World

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


async def account_of(client: ClientPage) -> Account:
    """The account that a client is logged in with."""
    stored = json.loads(await client.page.evaluate("localStorage.getItem('moothall.accounts')"))[0]
    return Account(stored["userId"], stored["token"])


def guild_and_channel(client: ClientPage) -> tuple[str, str]:
    """The ids in the address of the channel that is open."""
    guild_id, channel_id = client.page.url.rsplit("/", 2)[1:]
    return guild_id, channel_id


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
    await card.get_by_text("1 guild in common").click()
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
                 window.played.push(new URL(this.src).pathname); return Promise.resolve(); }; }"""
        )
        await client.page.get_by_role("link", name="Lounge", exact=True).click()
        await client.page.get_by_role("button", name="Join as present").click()
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
        path = f"/app/guilds/{harbour.guild.id}/settings/integrations"
        client = await ClientPage.open_as(browser, server.url, owner, path)
        page = client.page
        await page.get_by_role("button", name="Commands of").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Applies to").select_option(label="/tea")
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
