"""The first minutes in the client: a new server of a kind, its list of first steps, places that are empty."""

from io import BytesIO

import aiohttp
from PIL import Image
from playwright.async_api import Browser, FilePayload, expect

from tests.clients.client_pages import ClientPage, call, open_new_guild, sign_up
from tests.clients.live import Server
from tests.support.web_client import request

VIEW_CHANNEL = 1 << 10
SEND_MESSAGES = 1 << 11


async def test_a_new_club_has_its_channels_and_its_first_steps_tick_themselves_off(
    browser: Browser, server: Server
) -> None:
    owner = await sign_up(server.url, "olive")
    ada = await ClientPage.logged_in(browser, server.url, owner)
    page = ada.page
    await expect(page.get_by_role("heading", name="No friend is online right now")).to_be_visible()
    await page.get_by_role("button", name="Create a server").click()
    await page.locator(".kind", has_text="Club").click()
    await page.get_by_role("textbox", name="Name", exact=True).fill("Rowers")
    await page.get_by_role("button", name="Create", exact=True).click()
    await expect(page.get_by_role("heading", name="Welcome to #rules")).to_be_visible()
    steps = page.get_by_role("region", name="Get Rowers going")
    await expect(steps.get_by_role("status")).to_have_text("2 of 5 done")
    assert await ada.violations() == []

    guild_id = page.url.split("/channels/")[1].split("/")[0]
    channels = await call(server.url, owner, "GET", f"/guilds/{guild_id}/channels")
    by_name = {channel["name"]: channel for channel in channels}
    assert {"Welcome", "rules", "announcements", "general", "events", "help", "Meeting"} <= by_name.keys()
    denied = {each["id"]: int(each["deny"]) for each in by_name["rules"]["permission_overwrites"]}
    assert denied[guild_id] & SEND_MESSAGES

    member = await sign_up(server.url, "mabel")
    invite = await call(server.url, owner, "POST", f"/channels/{by_name['general']['id']}/invites", {})
    await call(server.url, member, "POST", f"/invites/{invite['code']}")
    await expect(steps.get_by_role("status")).to_have_text("3 of 5 done")

    await steps.get_by_role("button", name="Hide this list").click()
    await expect(steps).to_have_count(0)
    await page.reload()
    await expect(page.get_by_role("link", name="general")).to_be_visible()
    await expect(steps).to_have_count(0)
    # It is closed for the account: on its other devices too.
    elsewhere = await ClientPage.logged_in(browser, server.url, owner, f"/channels/{guild_id}")
    await expect(elsewhere.page.get_by_role("link", name="general")).to_be_visible()
    await expect(elsewhere.page.get_by_role("region", name="Get Rowers going")).to_have_count(0)
    assert (ada.errors, elsewhere.errors) == ([], [])


async def test_a_server_becomes_a_community_with_channels_that_are_made_for_it(
    browser: Browser, server: Server
) -> None:
    owner = await sign_up(server.url, "otter")
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "Small"})
    ada = await ClientPage.logged_in(browser, server.url, owner, f"/app/guilds/{guild['id']}/settings/overview")
    page = ada.page
    await page.get_by_text("Community", exact=True).click()
    await page.get_by_role("button", name="Make both channels").click()
    await expect(page.get_by_role("button", name="Make both channels")).to_have_count(0)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("region", name="You have unsaved changes.")).to_have_count(0)
    made = await call(server.url, owner, "GET", f"/guilds/{guild['id']}")
    assert "COMMUNITY" in made["features"]
    channels = {each["id"]: each for each in await call(server.url, owner, "GET", f"/guilds/{guild['id']}/channels")}
    rules, updates = (channels[made[field]] for field in ("rules_channel_id", "public_updates_channel_id"))
    assert (rules["name"], updates["name"]) == ("rules", "moderators")
    assert int(updates["permission_overwrites"][0]["deny"]) == VIEW_CHANNEL
    # What it needs to be found is said, and set where it can be.
    await page.get_by_text("Discoverable", exact=True).click()
    await expect(page.get_by_text("It has a description (above).")).to_be_visible()
    await page.get_by_role("button", name="Set what can be set").click()
    await expect(page.get_by_text("The media of all members are checked.")).to_have_count(0)
    assert await ada.violations() == []
    assert ada.errors == []


async def test_who_was_removed_from_a_server_is_told(browser: Browser, server: Server) -> None:
    ada, ben, cleo = await open_new_guild(browser, server.url, "remover", "removed", "leaver")
    guild_id = ada.page.url.split("/channels/")[1].split("/")[0]
    user_id = await ben.page.evaluate("JSON.parse(localStorage.getItem('moothall.accounts'))[0].userId")
    await request(ada, "DELETE", f"/guilds/{guild_id}/members/{user_id}")
    note = ben.page.get_by_text("You are no longer in The Moot")
    await expect(note).to_be_visible()
    assert await ben.violations() == []
    await ben.page.get_by_role("button", name="Dismiss the note about The Moot").click()
    await expect(note).to_have_count(0)
    # Who leaves knows it.
    await cleo.page.locator("button.sidebar-title").click()
    await cleo.page.get_by_role("menuitem", name="Leave server").click()
    await cleo.page.get_by_role("button", name="Leave server").click()
    await cleo.page.wait_for_url("**/channels/@me")
    await expect(cleo.page.get_by_text("You are no longer in")).to_have_count(0)
    assert (ada.errors, ben.errors, cleo.errors) == ([], [], [])


async def test_who_did_not_make_the_server_sees_no_list_of_first_steps(browser: Browser, server: Server) -> None:
    owner, member = [await sign_up(server.url, name) for name in ("otto", "mika")]
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "Small"})
    channel_id = guild["system_channel_id"]
    invite = await call(server.url, owner, "POST", f"/channels/{channel_id}/invites", {})
    await call(server.url, member, "POST", f"/invites/{invite['code']}")
    ben = await ClientPage.logged_in(browser, server.url, member, f"/channels/{guild['id']}/{channel_id}")
    await expect(ben.page.get_by_role("heading", name="Welcome to #general")).to_be_visible()
    await expect(ben.page.locator(".beginning")).to_have_count(0)
    assert ben.errors == []


async def test_what_is_chosen_in_appearance_is_on_the_document_and_stays(browser: Browser, server: Server) -> None:
    ada = await ClientPage.logged_in(browser, server.url, await sign_up(server.url, "iris"), "/app/settings/appearance")
    page, root = ada.page, ada.page.locator("html")
    await page.locator(".radio-card", has_text="Midnight").click()
    await page.locator(".swatch[data-hue=teal]").click()
    await page.locator(".radio-card", has_text="Compact").click()
    await page.locator(".radio-card", has_text="Larger").click()
    for _ in range(2):
        for name, value in (("theme", "midnight"), ("accent", "teal"), ("density", "compact"), ("text", "larger")):
            await expect(root).to_have_attribute(f"data-{name}", value)
        await expect(root).to_have_css("font-size", "20px")
        await page.reload()
        await expect(page.locator(".swatch[data-hue=teal][data-selected]")).to_be_visible()
    faces = await page.evaluate("document.fonts.load('15px \"Onest Variable\"').then(faces => faces.length)")
    assert faces == 1  # the Latin letters: other files of the font are for other scripts
    assert await ada.violations() == []
    assert ada.errors == []


def halves() -> bytes:
    """A wide picture, red at the left and blue at the right."""
    image = Image.new("RGB", (200, 100), "red")
    image.paste("blue", (100, 0, 200, 100))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


async def test_an_avatar_is_the_part_of_the_picture_that_was_moved_under_the_mask_by_keys(
    browser: Browser, server: Server
) -> None:
    account = await sign_up(server.url, "pia")
    ada = await ClientPage.logged_in(browser, server.url, account, "/app/settings/profile")
    page = ada.page
    files = [FilePayload(name="halves.png", mimeType="image/png", buffer=halves())]
    await page.locator("input[type=file]").first.set_input_files(files)
    stage = page.get_by_role("application", name="Part of the picture")
    await expect(page.get_by_role("button", name="Use this part")).to_be_enabled()
    assert await ada.violations() == []
    await stage.focus()
    for _ in range(40):  # further than the picture goes
        await page.keyboard.press("ArrowRight")
    await page.get_by_role("button", name="Use this part").click()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_text("Saved.")).to_be_visible()

    me = await call(server.url, account, "GET", "/users/@me")
    url = f"{server.url}/avatars/{account.id}/{me['avatar']}.png"
    async with aiohttp.ClientSession() as session, session.get(url) as response:
        image = Image.open(BytesIO(await response.read())).convert("RGB")
    assert image.size == (100, 100)
    assert {image.getpixel((x, 50)) for x in (2, 50, 97)} == {(255, 0, 0)}
    assert ada.errors == []
