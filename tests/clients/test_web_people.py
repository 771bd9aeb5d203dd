"""Friends, settings, joining and notifications in the client, driven in Chromium."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.clients.client_pages import (
    AXE,
    PASSWORD,
    Account,
    ClientPage,
    becomes,
    call,
    choose_option,
    open_new_guild,
    select_button,
    sign_up,
)
from tests.clients.live import Server, World
from tests.support.suites import leave_out
from tests.support.web_client import guild_id, request


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def registered(browser: Browser, server: Server, *names: str) -> list[ClientPage]:
    """People with new accounts, each in a browser profile of their own."""
    url = server.url
    return [await ClientPage.logged_in(browser, url, await sign_up(url, name)) for name in names]


async def befriend(person: ClientPage, other: ClientPage, name: str) -> None:
    """Send a friend request to `name`, who accepts it."""
    await person.page.get_by_role("tab", name="Add friend").click()
    await person.page.get_by_label("Username").fill(name)
    await person.page.get_by_role("button", name="Send friend request").click()
    await expect(person.page.get_by_text(f"Your request to {name} has been sent.")).to_be_visible()
    await expect(other.page.get_by_label("1 friend request").first).to_be_visible()
    await other.page.get_by_role("tab", name="Pending").click()
    await other.page.get_by_role("button", name="Accept").click()
    await expect(person.page.get_by_text(f"You and {name} are friends now.")).to_be_visible()


async def test_friends_find_each_other_see_who_is_online_and_talk(browser: Browser, server: Server) -> None:
    ada, ben = await registered(browser, server, "people_ada1", "people_ben1")
    await befriend(ada, ben, "people_ben1")
    await ada.page.get_by_role("tab", name="Online").click()
    row = ada.page.locator(".friend", has_text="people_ben1")
    await expect(row).to_contain_text("Online")

    await row.get_by_role("button", name=re.compile("^More actions")).click()
    await ada.page.get_by_role("menuitem", name="Nickname and note").click()
    await ada.page.get_by_role("textbox", name="Nickname").fill("Benny")
    await ada.page.get_by_role("textbox", name="Note").fill("met at the fair")
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.locator(".friend", has_text="Benny")).to_be_visible()

    await ada.page.get_by_role("button", name="Message", exact=True).click()
    await ada.say("hello friend")
    await ben.page.locator(".direct-row a", has_text="people_ada1").click()
    await expect(ben.message("hello friend")).to_have_count(1)

    await ada.page.get_by_role("link", name="Friends").click()
    await ada.page.get_by_role("tab", name="Online").click()
    await expect(ada.page.locator(".friend")).to_have_count(1)
    await ben.page.context.close()
    await expect(ada.page.get_by_text("No friend is online right now")).to_be_visible()
    assert ada.errors == []


async def test_unknown_names_are_refused_where_they_are_typed(browser: Browser, server: Server) -> None:
    (ada,) = await registered(browser, server, "people_ada2")
    await ada.page.get_by_role("tab", name="Add friend").click()
    field = ada.page.get_by_label("Username")
    await field.fill("nobody_of_this_name")
    await ada.page.get_by_role("button", name="Send friend request").click()
    await expect(field).to_have_attribute("aria-invalid", "true")


async def test_messages_of_blocked_people_are_collapsed(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada3", "people_ben3")
    await ben.say("first unwanted")
    await ben.say("second unwanted")
    await expect(ada.message("second unwanted")).to_have_count(1)

    await ada.page.locator("button.member", has_text="people_ben3").click()
    await ada.page.get_by_role("menuitem", name="Block").click()
    await ada.page.get_by_role("button", name="Block", exact=True).click()
    await expect(ada.page.get_by_text("messages of blocked people")).to_be_visible()
    await expect(ada.message("unwanted")).to_have_count(0)
    await ada.page.get_by_role("button", name="Show").click()
    await expect(ada.message("unwanted").first).to_be_visible()
    await ada.page.get_by_role("button", name="Hide", exact=True).click()
    await expect(ada.message("unwanted")).to_have_count(0)

    await ada.page.get_by_role("link", name="Direct messages").first.click()
    await ada.page.get_by_role("tab", name="Blocked").click()
    await ada.page.get_by_role("button", name=re.compile("^More actions")).click()
    await ada.page.get_by_role("menuitem", name="Unblock").click()
    await expect(ada.page.get_by_text("You have not blocked anyone")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def search_total(person: ClientPage, path: str) -> int:
    """How many messages a search has: what was just written is indexed a moment later."""
    total: int = (await request(person, "GET", path))["total_results"]
    return total


async def newest_is_acknowledged(person: ClientPage, acknowledged: list[str]) -> bool:
    """Whether one of the requests marked the newest message of the channel as read."""
    channel_id = person.page.url.partition("me/")[2].partition("/")[0]
    newest = (await request(person, "GET", f"/channels/{channel_id}/messages?limit=1"))[0]["id"]
    return any(url.endswith(f"/messages/{newest}/ack") for url in acknowledged)


async def test_a_group_is_made_of_friends_searched_renamed_and_left(browser: Browser, server: Server) -> None:
    ada, ben, cat = await registered(browser, server, "people_ada4", "people_ben4", "people_cat4")
    acknowledged: list[str] = []
    ben.page.on("response", lambda response: acknowledged.append(response.url))
    await befriend(ada, ben, "people_ben4")
    await befriend(ada, cat, "people_cat4")
    await ada.page.get_by_role("button", name="New group").click()
    for name in ("people_ben4", "people_cat4"):
        await ada.page.locator(".people-choice .checkbox", has_text=name).click()
    await ada.page.get_by_role("button", name="Create group").click()
    await expect(ada.page.locator(".direct-row", has_text="3 people")).to_be_visible()
    await ada.say("welcome both")
    await ben.page.locator(".direct-row a", has_text="3 people").click()
    await expect(ben.message("welcome both")).to_have_count(1)

    path = f"/channels/{ben.page.url.rpartition('/')[2]}/messages/search?content=welcome"
    await becomes(lambda: search_total(ben, path), 1)
    await ben.page.keyboard.press("Control+f")
    await ben.page.get_by_role("searchbox", name="Search messages").fill("from:people_ada4 welcome")
    await ben.page.keyboard.press("Enter")
    await expect(ben.page.locator(".search-result")).to_have_text(re.compile("welcome both"))
    await ben.page.get_by_role("link", name="Jump").click()
    await expect(ben.page.locator(".timeline-row-target")).to_contain_text("welcome both")
    await ben.page.get_by_role("button", name="Close search").click()

    await ada.page.locator(".channel-header").get_by_role("button", name=re.compile("^Actions of")).click()
    await ada.page.get_by_role("menuitem", name="Group settings").click()
    await ada.page.get_by_role("textbox", name="Name").fill("The Circle")
    await ada.page.get_by_role("button", name="Remove people_cat4").click()
    await expect(ada.page.get_by_role("button", name="Remove people_cat4")).to_have_count(0)
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ben.page.get_by_role("heading", name="The Circle", level=1)).to_be_visible()
    await expect(cat.page.locator(".direct-row")).to_have_count(0)

    # What marks a message as read must not arrive after its sender has left.
    await becomes(lambda: newest_is_acknowledged(ben, acknowledged), True)
    await ben.page.locator(".channel-header").get_by_role("button", name=re.compile("^Actions of")).click()
    await ben.page.get_by_role("menuitem", name="Leave group").click()
    await ben.page.get_by_role("button", name="Leave group").click()
    await expect(ben.page.locator(".direct-row")).to_have_count(0)
    assert (ada.errors, ben.errors, cat.errors) == ([], [], [])


async def test_dialogs_of_groups_and_folders_have_no_accessibility_violation(browser: Browser, server: Server) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    names = ("people_ada_axe", "people_ben_axe", "people_cat_axe")
    accounts = [await sign_up(server.url, name) for name in names]
    for friend in accounts[1:]:
        await call(server.url, accounts[0], "PUT", f"/users/@me/relationships/{friend.id}", {})
        await call(server.url, friend, "PUT", f"/users/@me/relationships/{accounts[0].id}", {"type": 1})
    guild = await call(server.url, accounts[0], "POST", "/guilds", {"name": "The Barn"})
    folder = {"id": "1", "name": "Mine", "color": None, "guild_ids": [guild["id"]]}
    await call(server.url, accounts[0], "PATCH", "/users/@me/settings", {"guild_folders": [folder]})
    ada = await ClientPage.logged_in(browser, server.url, accounts[0])
    await expect(ada.page.locator(".rail").get_by_role("button", name="Mine")).to_be_visible()
    await ada.page.get_by_role("button", name="New group").click()
    await expect(ada.page.get_by_role("dialog", name="New group")).to_be_visible()
    assert await ada.violations() == []
    for name in names[1:]:
        await ada.page.locator(".people-choice .checkbox", has_text=name).click()
    await ada.page.get_by_role("button", name="Create group").click()
    await expect(ada.box).to_be_visible()
    await ada.page.locator(".channel-header").get_by_role("button", name=re.compile("^Actions of")).click()
    await ada.page.get_by_role("menuitem", name="Group settings").click()
    await expect(ada.page.get_by_role("textbox", name="Name")).to_be_visible()
    assert await ada.violations() == []
    await ada.page.keyboard.press("Escape")
    # The rule is not among those that run by default.
    rule = {"runOnly": {"type": "rule", "values": ["label-content-name-mismatch"]}}
    mismatches = await ada.page.evaluate("rule => axe.run(document, rule)", rule)
    assert [node["html"] for each in mismatches["violations"] for node in each["nodes"]] == []


async def open_settings(person: ClientPage, section: str) -> None:
    """Open a section of the user's settings by its link."""
    await person.page.get_by_role("button", name="Settings", exact=True).click()
    await person.page.get_by_role("link", name=section, exact=True).click()
    await expect(person.page.get_by_role("heading", name=section, exact=True)).to_be_visible()


async def test_a_profile_is_changed_with_its_picture(browser: Browser, server: Server) -> None:
    (ada,) = await registered(browser, server, "people_ada5")
    await open_settings(ada, "Profile")
    await ada.page.get_by_label("Display name").fill("Ada Lovelace")
    await ada.page.get_by_label("About me").fill("Writes programs")
    await ada.page.locator("input[type=file]").first.set_input_files("tests/clients/icon.png")
    await ada.page.get_by_role("button", name="Use this part").click()
    await ada.page.get_by_role("button", name="Save").click()
    await expect(ada.page.get_by_text("Saved.")).to_be_visible()
    await ada.page.reload()
    await expect(ada.page.get_by_label("About me")).to_have_value("Writes programs")
    await expect(ada.page.locator(".profile-card strong")).to_have_text("Ada Lovelace")
    await expect(ada.page.locator(".profile-card img")).to_have_attribute("src", re.compile("^/avatars/"))
    assert ada.errors == []


async def test_a_new_password_ends_other_logins_and_keeps_this_one(browser: Browser, server: Server) -> None:
    (ada,) = await registered(browser, server, "people_ada6")
    elsewhere = await ClientPage.open(browser, server.url)
    await elsewhere.log_in("people_ada6")
    await open_settings(ada, "Logins")
    await expect(ada.page.locator(".preferences-row")).to_have_count(2)
    await open_settings(ada, "Account")
    await ada.page.get_by_label("Current password").fill("wrong horse battery")
    await ada.page.get_by_label("New password").fill("an entirely new passphrase")
    await ada.page.get_by_role("button", name="Change password").click()
    await expect(ada.page.get_by_text("Password does not match.").first).to_be_visible()
    await ada.page.get_by_label("Current password").fill(PASSWORD)
    await ada.page.get_by_role("button", name="Change password").click()
    await expect(elsewhere.page.get_by_role("heading", name="Log in")).to_be_visible()
    await open_settings(ada, "Logins")
    await expect(ada.page.locator(".preferences-row")).to_have_count(1)


async def test_a_custom_status_shows_to_friends(browser: Browser, server: Server) -> None:
    ada, ben = await registered(browser, server, "people_ada7", "people_ben7")
    await befriend(ada, ben, "people_ben7")
    await open_settings(ada, "Status")
    await ada.page.get_by_label("What are you up to?").fill("reading Babbage")
    await choose_option(ada.page, "Clear after", "1 hour")
    await ada.page.get_by_role("button", name="Set status").click()
    await ben.page.get_by_role("tab", name="All").click()
    await expect(ben.page.locator(".friend", has_text="reading Babbage")).to_be_visible()
    await ada.page.get_by_text("Do not disturb").click()
    await expect(ben.page.locator(".friend .presence-dnd")).to_be_visible()
    await ada.page.get_by_role("button", name="Clear status").click()
    await expect(ben.page.locator(".friend", has_text="reading Babbage")).to_have_count(0)
    assert (ada.errors, ben.errors) == ([], [])


async def test_two_accounts_are_switched_and_logged_out_each(browser: Browser, server: Server) -> None:
    (ada,) = await registered(browser, server, "people_ada8")
    await ada.page.goto(f"{server.url}/app/login")
    await ada.register("people_eve8")
    await expect(ada.page.locator(".user-names")).to_contain_text("people_eve8")
    menu = ada.page.get_by_role("button", name="Your status and accounts")
    await menu.click()
    await ada.page.get_by_role("menuitem", name="Switch to people_ada8").click()
    await expect(ada.page.locator(".user-names")).to_contain_text("people_ada8")
    await open_settings(ada, "Account")
    await ada.page.get_by_role("button", name="Log out people_eve8").click()
    await expect(ada.page.get_by_role("button", name="Log out people_eve8")).to_have_count(0)
    await expect(ada.page.locator(".user-names")).to_contain_text("people_ada8")
    await menu.click()
    await ada.page.get_by_role("menuitem", name="Log out").click()
    await expect(ada.page.get_by_role("heading", name="Log in")).to_be_visible()


async def test_the_start_page_leads_to_an_account_in_the_client(browser: Browser, server: Server) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(server.url)
    await page.get_by_role("link", name="Make an account").click()
    await page.get_by_role("textbox", name="Username").fill("people_fay9")
    await page.get_by_role("textbox", name="Password").fill(PASSWORD)
    await page.get_by_role("button", name="Register").click()
    await page.wait_for_url("**/channels/@me")
    await expect(page.locator(".user-names")).to_contain_text("people_fay9")


async def test_who_registers_from_the_page_for_developers_is_in_the_client_and_leaves_both_at_once(
    browser: Browser, server: Server
) -> None:
    page = await (await browser.new_context()).new_page()
    await page.goto(server.url)
    await page.get_by_role("link", name="For developers").click()
    await page.get_by_role("link", name="With the browser").click()
    await page.get_by_label("Username").fill("people_eve9")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Make the account").click()
    await page.wait_for_url("**/channels/@me")
    await expect(page.locator(".user-names")).to_contain_text("people_eve9")
    await page.goto(f"{server.url}/developers")
    await expect(page).to_have_url(f"{server.url}/developers")
    await page.goto(f"{server.url}/app/")
    await page.get_by_role("button", name="Your status and accounts").click()
    await page.get_by_role("menuitem", name="Log out").click()
    await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    await page.goto(f"{server.url}/developers")
    await expect(page).to_have_url(f"{server.url}/login?next=/developers")


async def test_an_app_that_may_use_the_account_is_listed_and_removed(
    browser: Browser, server: Server, world: World
) -> None:
    person, developer = await world.person("people_reader"), await world.person("people_developer")
    app = await developer.post("/applications", {"name": "Almanac"})
    changes = {"redirect_uris": ["https://127.0.0.1"], "description": "Knows when the river rises."}
    await developer.patch(f"/applications/{app['id']}", changes)
    query = f"client_id={app['id']}&response_type=code&scope=identify%20guilds&redirect_uri=https://127.0.0.1"
    await person.post(f"/oauth2/authorize?{query}", {"authorize": True})
    account = Account(str(person.id), person.token)
    ada = await ClientPage.logged_in(browser, server.url, account, "/app/settings/apps")
    apps = ada.page.get_by_role("main").get_by_role("listitem")
    await expect(apps).to_have_count(1)
    await expect(apps).to_contain_text("Almanac")
    await expect(apps).to_contain_text("Knows when the river rises.")
    await expect(apps).to_contain_text("identify, guilds")
    await apps.get_by_role("button", name="Revoke").click()
    await expect(ada.page.get_by_text("You have not authorized any app.")).to_be_visible()
    assert await person.get("/oauth2/tokens") == []
    assert ada.errors == []


async def test_every_section_of_the_settings_is_accessible_in_both_themes_and_fits_a_phone(
    browser: Browser, server: Server, world: World
) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    person = await world.person("people_axe")
    app = await person.post("/applications", {"name": "Almanac", "redirect_uris": ["https://127.0.0.1"]})
    query = f"client_id={app['id']}&response_type=code&scope=identify&redirect_uri=https://127.0.0.1"
    await person.post(f"/oauth2/authorize?{query}", {"authorize": True})
    account = Account(str(person.id), person.token)
    ada = await ClientPage.logged_in(browser, server.url, account, "/app/settings/account")
    links = ada.page.get_by_role("navigation", name="Settings").get_by_role("link")
    sections = await links.all_inner_texts()
    assert {"Account", "Authorized apps", "Keyboard"} <= set(sections)
    for section in sections:
        await links.and_(ada.page.get_by_role("link", name=section, exact=True)).click()
        await expect(ada.page.get_by_role("heading", name=section, exact=True, level=1)).to_be_visible()
        await expect(ada.page.locator(".skeleton, .settings-skeleton")).to_have_count(0)
        assert await ada.violations() == [], section
        await ada.page.set_viewport_size({"width": 390, "height": 844})
        await ada.page.wait_for_function("innerWidth === 390 && document.documentElement.scrollWidth <= 390")
        await ada.page.set_viewport_size({"width": 1280, "height": 720})
    await links.and_(ada.page.get_by_role("link", name="Keyboard", exact=True)).click()
    await ada.page.get_by_role("button", name=re.compile("^Go to a channel or conversation.*Change$")).click()
    await ada.page.keyboard.press("j")
    await expect(ada.page.get_by_text("J cannot be used")).to_be_visible()
    assert await ada.violations() == []
    await ada.page.keyboard.press("Control+f")
    await expect(ada.page.get_by_text("Ctrl + F is also the shortcut of")).to_have_count(2)
    assert await ada.violations() == []
    assert ada.errors == []


async def test_themes_language_and_motion_apply_at_once(browser: Browser, server: Server) -> None:
    (ada,) = await registered(browser, server, "people_ada9")
    await open_settings(ada, "Appearance")
    root = ada.page.locator("html")
    await ada.page.get_by_text("High contrast").click()
    await expect(root).to_have_attribute("data-theme", "contrast")
    await ada.page.get_by_text("Reduce motion").click()
    await expect(root).to_have_attribute("data-motion", "reduced")
    await choose_option(ada.page, "Language", "Deutsch")
    await expect(ada.page.get_by_role("heading", name="Darstellung")).to_be_visible()
    await ada.page.reload()
    await expect(root).to_have_attribute("data-theme", "contrast")
    await expect(root).to_have_attribute("lang", "de")
    assert ada.errors == []


async def test_a_muted_guild_shows_no_unread_mark(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada10", "people_ben10")
    await open_settings(ben, "Notifications")
    await choose_option(ben.page, "Mute the server", "Until I unmute it")
    await expect(select_button(ben.page, "Mute the server")).to_have_text("Muted")
    await ada.say("nobody hears this")
    await ada.say("@everyone hear this")
    rail = ben.page.get_by_role("link", name="The Moot")
    await expect(rail.locator(".mentions")).to_have_text("1")
    await expect(rail.locator(".rail-unread")).to_have_count(0)
    await choose_option(ben.page, "Mute the server", "Not muted")
    await expect(rail.locator(".rail-unread")).to_be_visible()
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_channel_and_a_guild_are_muted_for_a_time(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada20", "people_ben20")
    page = ben.page
    path = f"/guilds/{guild_id(ada)}/channels"
    garden = await request(ada, "POST", path, {"name": "garden"})
    channels = page.get_by_role("navigation", name="Channels")
    row = channels.get_by_role("link", name=re.compile("^general"))
    await page.get_by_role("link", name="General", exact=True).click()
    await page.clock.install()
    await row.click(button="right")
    await page.get_by_role("menuitem", name="Mute").click()
    times = page.get_by_role("menu", name="Mute").get_by_role("menuitem")
    await expect(times).to_have_text(
        ["For 15 minutes", "For an hour", "For 3 hours", "For 8 hours", "For 24 hours", "Until I unmute it"]
    )
    async with page.expect_request(re.compile("/guilds/.*/settings$")) as changed:
        await times.filter(has_text="For 15 minutes").click()
    body: Any = (await changed.value).post_data_json
    [override] = body["channel_overrides"].values()
    assert (override["muted"], override["mute_config"]["selected_time_window"]) == (True, 900)
    await row.click(button="right")
    unmute = page.get_by_role("menuitem", name="Unmute")
    await expect(unmute).to_contain_text(re.compile(r"Until .*\d"))
    await page.keyboard.press("Escape")
    await ada.say("while it is muted")
    await expect(ada.message("while it is muted")).not_to_contain_text("Sending…")
    await request(ada, "POST", f"/channels/{garden['id']}/messages", {"content": "and then"})
    await expect(channels.get_by_role("link", name=re.compile("^garden"))).to_have_class(re.compile("channel-unread"))
    await expect(row).not_to_have_class(re.compile("channel-unread"))
    await page.clock.fast_forward(900_000)
    await expect(row).to_have_class(re.compile("channel-unread"))

    # The same for the guild, which its own menu unmutes before the time is over.
    await page.locator("button.sidebar-title").click()
    await page.get_by_role("menuitem", name="Mute").click()
    await times.filter(has_text="For 3 hours").click()
    await expect(row).not_to_have_class(re.compile("channel-unread"))
    await page.locator("button.sidebar-title").click()
    await unmute.click()
    await expect(row).to_have_class(re.compile("channel-unread"))
    assert (ada.errors, ben.errors) == ([], [])


async def test_an_invite_is_opened_logged_out_and_leads_into_the_guild(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "people_ada11")
    code = await ada.invite_link()
    stranger = await ClientPage.open(browser, server.url)
    await stranger.page.goto(f"{server.url}/invite/{code}")
    await expect(stranger.page.get_by_role("heading", name="The Moot")).to_be_visible()
    await expect(stranger.page.get_by_text("people_ada11 invites you to")).to_be_visible()
    await stranger.page.get_by_role("link", name="Register to join").click()
    await stranger.page.get_by_label("Username").fill("people_fay11")
    await stranger.page.get_by_label("Password").fill(PASSWORD)
    await stranger.page.get_by_role("button", name="Register").click()
    await expect(stranger.box).to_be_visible()
    await stranger.say("I came in by the link")
    await expect(ada.message("I came in by the link")).to_have_count(1)
    assert (ada.errors, stranger.errors) == ([], [])


async def test_a_newcomer_agrees_answers_waits_and_is_welcomed(browser: Browser, server: Server, world: World) -> None:
    owner = await world.person("people_owner12")
    guild_id = await world.guild(owner)
    channel_id = await world.text_channel(owner, guild_id)
    screening = {
        "enabled": True,
        "description": "Be kind",
        "form_fields": [
            {"field_type": "TERMS", "label": "Rules", "values": ["No spam", "No harm"], "required": True},
            {"field_type": "TEXT_INPUT", "label": "Who sent you?", "required": True},
        ],
    }
    await owner.request("PATCH", f"/guilds/{guild_id}/member-verification", screening)
    welcome = {
        "enabled": True,
        "description": "A house for all",
        "welcome_channels": [{"channel_id": str(channel_id), "description": "Say hello here", "emoji_name": "👋"}],
    }
    await owner.request("PATCH", f"/guilds/{guild_id}/welcome-screen", welcome)
    invite = await owner.request("POST", f"/channels/{channel_id}/invites", {})

    (ben,) = await registered(browser, server, "people_ben12")
    await ben.page.goto(f"{server.url}/app/invite/{invite['code']}")
    await ben.page.get_by_role("button", name=re.compile("^Join")).click()
    dialog = ben.page.get_by_role("dialog")
    await expect(dialog).to_contain_text("No harm")
    submit = dialog.get_by_role("button", name="Submit")
    await expect(submit).to_be_disabled()
    await dialog.get_by_text("I have read the rules").click()
    await dialog.get_by_label("Who sent you?").fill("The owner")
    await submit.click()
    await expect(ben.page.get_by_text("Your answers wait for the moderators")).to_be_visible()

    (request,) = (await owner.request("GET", f"/guilds/{guild_id}/requests"))["guild_join_requests"]
    assert request["form_responses"][1]["response"] == "The owner"
    await owner.request("PATCH", f"/guilds/{guild_id}/requests/{request['id']}", {"action": "APPROVED"})
    await expect(dialog.get_by_text("A house for all")).to_be_visible()
    await dialog.get_by_role("link", name=re.compile("Say hello here")).click()
    await expect(ben.box).to_be_visible()
    # The browser logs that there was no join request yet.
    assert [error for error in ben.errors if "404" not in error] == []


async def test_a_newcomer_answers_questions_that_bring_roles_and_channels(
    browser: Browser, server: Server, world: World
) -> None:
    owner = await world.person("people_owner13")
    guild_id = await world.guild(owner)
    channels = [
        (await owner.request("POST", f"/guilds/{guild_id}/channels", {"name": f"hall-{number}"}))["id"]
        for number in range(8)
    ]
    role = await owner.request("POST", f"/guilds/{guild_id}/roles", {"name": "Painters"})
    options = [
        {"title": "Painting", "role_ids": [role["id"]], "channel_ids": [channels[7]]},
        {"title": "Music", "role_ids": [], "channel_ids": [channels[6]]},
    ]
    prompt = {"title": "What do you like?", "options": options, "required": True, "in_onboarding": True, "type": 0}
    community = {"features": ["COMMUNITY"], "rules_channel_id": channels[0], "public_updates_channel_id": channels[1]}
    await owner.request("PATCH", f"/guilds/{guild_id}", community)
    onboarding = {"enabled": True, "mode": 0, "prompts": [prompt], "default_channel_ids": channels[:7]}
    await owner.request("PUT", f"/guilds/{guild_id}/onboarding", onboarding)
    invite = await owner.request("POST", f"/channels/{channels[0]}/invites", {})

    (ben,) = await registered(browser, server, "people_ben13")
    await ben.page.goto(f"{server.url}/app/invite/{invite['code']}")
    await ben.page.get_by_role("button", name=re.compile("^Join")).click()
    finish = ben.page.get_by_role("button", name="Finish")
    await expect(finish).to_be_disabled()
    await ben.page.get_by_role("button", name="Painting").click()
    await finish.click()
    await expect(ben.page.get_by_role("link", name="hall-7")).to_be_visible()

    async def roles_of_ben() -> object:
        return (await owner.request("GET", f"/guilds/{guild_id}/members/search?query=people_ben13"))[0]["roles"]

    await becomes(roles_of_ben, [role["id"]])

    await ben.page.get_by_role("link", name="Channels and roles").click()
    await ben.page.get_by_text("#hall-3").click()
    await expect(ben.page.get_by_role("link", name="hall-3")).to_have_count(0)
    await ben.page.get_by_role("button", name="Music").click()
    await expect(ben.page.get_by_role("button", name="Music")).to_have_attribute("aria-pressed", "true")
    await ben.page.get_by_text("Show all channels").click()
    await expect(ben.page.get_by_role("link", name="hall-3")).to_be_visible()
    assert ben.errors == []


async def test_a_guild_is_made_from_a_template(browser: Browser, server: Server, world: World) -> None:
    owner = await world.person("people_owner14")
    guild_id = await world.guild(owner)
    await owner.request("POST", f"/guilds/{guild_id}/channels", {"name": "workshop"})
    template = await owner.request("POST", f"/guilds/{guild_id}/templates", {"name": "A workshop"})
    (ada,) = await registered(browser, server, "people_ada14")
    await ada.page.get_by_role("button", name="Create a server").click()
    await ada.page.get_by_label("Invite link or code").fill(f"{server.url}/template/{template['code']}")
    await ada.page.get_by_role("button", name="Join with an invite").click()
    await expect(ada.page.get_by_role("heading", name="A workshop")).to_be_visible()
    await ada.page.get_by_role("textbox", name="Name", exact=True).fill("My workshop")
    await ada.page.get_by_role("button", name="Create", exact=True).click()
    await expect(ada.page.get_by_role("link", name="workshop", exact=True)).to_be_visible()
    assert ada.errors == []


async def test_guilds_go_into_folders_which_other_devices_show(browser: Browser, server: Server) -> None:
    account = await sign_up(server.url, "people_ada15")
    for name in ("First Hall", "Second Hall"):
        await call(server.url, account, "POST", "/guilds", {"name": name})
    ada = await ClientPage.logged_in(browser, server.url, account)
    rail = ada.page.locator(".rail")
    await rail.get_by_role("link", name="Second Hall").drag_to(rail.get_by_role("link", name="First Hall"))
    folder = rail.get_by_role("button", name="First Hall, Second Hall")
    await expect(folder).to_be_visible()
    await folder.click(button="right")
    await ada.page.get_by_role("menuitem", name="Name and colour").click()
    await ada.page.get_by_label("Name of the folder").fill("Halls")
    await ada.page.get_by_role("button", name="Save").click()

    elsewhere = await ClientPage.logged_in(browser, server.url, account)
    await elsewhere.page.get_by_role("button", name="Halls").click()
    await expect(elsewhere.page.locator(".rail").get_by_role("link", name="Second Hall")).to_be_visible()
    await elsewhere.page.locator(".rail").get_by_role("link", name="First Hall").click(button="right")
    await elsewhere.page.get_by_role("menuitem", name="Take out of the folder").click()
    await expect(rail.get_by_role("link", name="First Hall")).to_be_visible()
    assert (ada.errors, elsewhere.errors) == ([], [])


async def test_guilds_and_folders_are_sorted_by_dragging(browser: Browser, server: Server) -> None:
    account = await sign_up(server.url, "people_ada21")
    ids = {}
    for name in ("Alder", "Birch", "Cedar", "Dogwood"):
        ids[(await call(server.url, account, "POST", "/guilds", {"name": name}))["id"]] = name
    ada = await ClientPage.logged_in(browser, server.url, account)
    rail = ada.page.locator(".rail")

    async def stored() -> list[list[str]]:
        folders = (await call(server.url, account, "GET", "/users/@me/settings"))["guild_folders"]
        return [[ids[each] for each in folder["guild_ids"]] for folder in folders]

    async def drag(item: Locator, target: Locator, share: float) -> None:
        """Drag an item of the rail to a share of the target's height."""
        box = await target.bounding_box()
        assert box is not None
        await item.drag_to(target, target_position={"x": box["width"] / 2, "y": box["height"] * share})

    def guild(name: str) -> Locator:
        return rail.get_by_role("link", name=name, exact=True)

    names = rail.get_by_role("link", name=re.compile("Alder|Birch|Cedar|Dogwood"))
    await expect(names).to_have_count(4)
    order = await names.evaluate_all("links => links.map(link => link.getAttribute('aria-label') ?? link.textContent)")
    first, second, third, fourth = [next(name for name in ids.values() if name in each) for each in order]
    await drag(guild(fourth), guild(first), 0.06)
    await becomes(stored, [[fourth], [first], [second], [third]])
    await drag(guild(fourth), guild(second), 0.94)
    await becomes(stored, [[first], [second], [fourth], [third]])
    await drag(guild(second), guild(first), 0.5)
    folder = rail.get_by_role("button", name=f"{first}, {second}", exact=True)
    await expect(folder).to_be_visible()
    await drag(guild(third), folder, 0.5)
    await becomes(stored, [[first, second, third], [fourth]])
    await drag(rail.locator(".rail-folder-button"), guild(fourth), 0.94)
    await becomes(stored, [[fourth], [first, second, third]])
    await rail.locator(".rail-folder-button").click()
    await drag(guild(second), guild(fourth), 0.06)
    await becomes(stored, [[second], [fourth], [first, third]])
    await ada.page.reload()
    await expect(names).to_have_count(4)  # the folder is still open
    assert ada.errors == []


async def test_mentions_are_counted_in_the_title_and_icon(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada16", "people_ben16")
    await ben.page.get_by_role("link", name="Direct messages").first.click()
    await ada.say("@everyone come")
    await expect(ben.page).to_have_title("(1) Moothall")
    await expect(ben.page.locator("link[rel=icon]")).to_have_attribute("href", re.compile("^data:image/png"))
    await ben.page.get_by_role("link", name="The Moot").click()
    await expect(ben.page).to_have_title("#general · The Moot · Moothall")
    await expect(ben.page.locator("link[rel=icon]")).to_have_attribute("href", "/icon.svg")
    assert (ada.errors, ben.errors) == ([], [])


_RECORD_NOTIFICATIONS = """
window.shown = [];
window.Notification = class {
  static permission = "granted";
  constructor(title, options) { window.shown.push({title, body: options.body, notification: this}); }
  close() {}
};
document.hasFocus = () => false;
"""


async def test_a_notification_names_the_message_and_leads_to_its_channel(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada17", "people_ben17")
    await ben.page.get_by_role("link", name="Direct messages").first.click()
    await ben.page.evaluate(_RECORD_NOTIFICATIONS)
    await ada.say("@everyone to arms")
    await ben.page.wait_for_function("() => window.shown.length === 1")
    shown = await ben.page.evaluate("window.shown.map(each => [each.title, each.body])")
    assert shown == [["people_ada17 in #general", "@everyone to arms"]]
    await ben.page.evaluate("window.shown[0].notification.onclick()")
    await expect(ben.message("to arms")).to_have_count(1)
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_member_leaves_a_guild(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "people_ada_left", "people_ben_left")
    await ben.page.locator("button.sidebar-title").click()
    await ben.page.get_by_role("menuitem", name="Leave server").click()
    await ben.page.get_by_role("dialog").get_by_role("button", name="Leave server").click()
    await ben.page.wait_for_url("**/channels/@me")
    await expect(ben.page.get_by_role("link", name="The Moot")).to_have_count(0)
    await expect(ada.page.get_by_role("complementary", name="Members")).not_to_contain_text("people_ben_left")
    assert (ada.errors, ben.errors) == ([], [])


async def test_privacy_says_who_may_write_and_ask(browser: Browser, server: Server) -> None:
    _, ben = await open_new_guild(browser, server.url, "people_ada_private", "people_ben_private")
    guild_id = ben.page.url.split("/")[-2]
    await open_settings(ben, "Privacy")

    async def chosen() -> object:
        settings = await request(ben, "GET", "/users/@me/settings")
        return settings["restricted_guilds"], settings["friend_source_flags"]

    await ben.page.get_by_text("Members of The Moot").click()
    await becomes(chosen, ([guild_id], {"all": True}))
    await ben.page.get_by_text("Everyone", exact=True).click()
    await becomes(chosen, ([guild_id], {}))
    await expect(ben.page.get_by_role("switch", name="Friends of friends")).not_to_be_checked()
    assert ben.errors == []
