"""The pages of operators in the client, in Chromium."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from tests.cli.running import run
from tests.clients.client_pages import AXE, Account, ClientPage, choose_option, picture
from tests.clients.live import Person, Server, World
from tests.support.suites import leave_out


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def make_operator(server: Server, person: Person, *permissions: str) -> None:
    chosen = [option for permission in permissions for option in ("--may", permission)]
    arguments = ("operator", "add", str(int(person.id)), *chosen, "--data", str(server.data))
    result = await asyncio.to_thread(run, *arguments)
    assert result.exit_code == 0, result.output


async def open_as(browser: Browser, server: Server, person: Person, path: str, **options: object) -> ClientPage:
    account = Account(str(int(person.id)), person.token)
    return await ClientPage.open_as(browser, server.url, account, path, **options)


async def test_an_operator_suspends_a_user_with_a_reason_that_the_log_shows(
    browser: Browser, server: Server, world: World
) -> None:
    operator, victim = await world.person(), await world.person()
    await make_operator(server, operator)
    client = await open_as(browser, server, operator, "/admin/users")
    page = client.page
    await page.get_by_label("Name or address").fill(victim.name)
    await page.get_by_role("button", name=f"Suspend: {victim.name}", exact=True).click()
    dialog = page.get_by_role("dialog")
    confirm = dialog.get_by_role("button", name="Suspend", exact=True)
    await expect(confirm).to_be_disabled()
    await dialog.get_by_label("Reason").fill("spam")
    await confirm.click()
    await expect(dialog).to_have_count(0)
    await expect(page.get_by_role("button", name=f"Restore: {victim.name}", exact=True)).to_be_visible()
    await page.get_by_role("link", name="Log", exact=True).click()
    row = page.get_by_role("row").filter(has_text="user.suspend").first
    await expect(row).to_contain_text("spam")
    await expect(row).to_contain_text(operator.name)
    assert client.errors == []


async def test_a_setting_is_changed_and_an_act_is_refused_in_the_dialog(
    browser: Browser, server: Server, world: World
) -> None:
    operator = await world.person()
    await make_operator(server, operator)
    client = await open_as(browser, server, operator, "/admin/settings")
    page, dialog = client.page, client.page.get_by_role("dialog")
    await page.get_by_role("button", name="Change: Who may register").click()
    await choose_option(page, "Who may register", "Those with an address of the domains")
    await dialog.get_by_label("Reason").fill("move")
    await dialog.get_by_role("button", name="Change", exact=True).click()
    await expect(dialog.get_by_role("alert")).to_be_visible()
    await dialog.get_by_role("button", name="Cancel").click()
    await page.get_by_role("button", name="Change: Name of this instance").click()
    await dialog.get_by_role("textbox", name="Name of this instance").fill("The Hall")
    await dialog.get_by_label("Reason").fill("move")
    await dialog.get_by_role("button", name="Change", exact=True).click()
    await expect(page.get_by_text("The Hall", exact=True)).to_be_visible()
    await page.goto(f"{server.url}/login")
    await expect(page.get_by_role("link", name="The Hall")).to_be_visible()


async def test_a_report_is_read_as_it_was_and_closed(browser: Browser, server: Server, world: World) -> None:
    operator, reporter, other = await world.person(), await world.person(), await world.person()
    await make_operator(server, operator, "reports")
    body = {
        "version": "1.0",
        "variant": "1",
        "name": "user",
        "breadcrumbs": [1, 11],
        "elements": {"description": ["sells watches"]},
        "reported_user_id": str(int(other.id)),
    }
    await reporter.post("/reporting/user", body)
    client = await open_as(browser, server, operator, "/admin/reports", locale="de-DE")
    page, dialog = client.page, client.page.get_by_role("dialog")
    row = page.get_by_role("row").filter(has_text="sells watches")
    await row.get_by_role("button", name="Zeigen").click()
    await expect(dialog).to_contain_text(other.name)
    violations = await client.violations() if AXE.exists() else []
    await picture(page, "admin-report")
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await picture(page, "admin-report-390")
    await page.keyboard.press("Escape")
    await row.get_by_role("button", name="Meldung abschließen").click()
    await choose_option(page, "Was getan wurde", "Eine Verwarnung")
    await dialog.get_by_label("Notiz für Betreiber").fill("zum ersten Mal")
    await dialog.get_by_label("Grund").fill("Regeln")
    violations += await client.violations() if AXE.exists() else []
    await picture(page, "admin-report-close-390")
    await dialog.get_by_role("button", name="Meldung abschließen", exact=True).click()
    await expect(dialog).to_have_count(0)
    await expect(row).to_have_count(0)
    await choose_option(page, "Meldungen, die", "abgeschlossen sind")
    await expect(row).to_contain_text("Eine Verwarnung")
    await picture(page, "admin-reports-390")
    assert violations == []
    assert client.errors == []


async def test_a_guild_is_deleted_and_restored(browser: Browser, server: Server, world: World) -> None:
    operator, owner = await world.person(), await world.person()
    guild = (await owner.post("/guilds", {"name": "The Harbour"}))["id"]
    await make_operator(server, operator, "guilds")
    client = await open_as(browser, server, operator, "/admin/guilds")
    page, dialog = client.page, client.page.get_by_role("dialog")
    row = page.get_by_role("row").filter(has_text=str(guild))
    await row.get_by_role("button", name="Delete").click()
    await dialog.get_by_label("Reason").fill("raid")
    violations = await client.violations() if AXE.exists() else []
    await picture(page, "admin-guild-delete")
    await dialog.get_by_role("button", name="Delete", exact=True).click()
    await expect(row).to_have_count(0)
    await choose_option(page, "Show", "Deleted servers")
    await expect(row).to_contain_text("deleted on")
    await page.set_viewport_size({"width": 390, "height": 800})
    assert await page.evaluate("document.documentElement.scrollWidth") <= 390
    await picture(page, "admin-guilds-deleted-390")
    await row.get_by_role("button", name="Restore").click()
    await dialog.get_by_label("Reason").fill("mistake")
    violations += await client.violations() if AXE.exists() else []
    await dialog.get_by_role("button", name="Restore", exact=True).click()
    await expect(row).to_have_count(0)
    await choose_option(page, "Show", "Servers in use")
    await expect(row).to_be_visible()
    assert violations == []
    assert client.errors == []


async def test_others_see_no_page_and_operators_only_theirs(browser: Browser, server: Server, world: World) -> None:
    stranger, operator = await world.person(), await world.person()
    client = await open_as(browser, server, stranger, "/admin/users")
    await expect(client.page.get_by_role("heading", name="These pages are for operators")).to_be_visible()
    await make_operator(server, operator, "log")
    client = await open_as(browser, server, operator, "/admin/users")
    pages = client.page.get_by_role("navigation", name="Operators")
    await expect(pages.get_by_role("link")).to_have_text(["Overview", "Log"])


async def test_the_pages_are_accessible_and_fit_a_phone(browser: Browser, server: Server, world: World) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    operator = await world.person()
    await operator.post("/guilds", {"name": "The Moot"})
    await operator.post("/applications", {"name": "Dice"})
    await make_operator(server, operator)
    client = await open_as(browser, server, operator, "/admin/overview")
    page, violations = client.page, list[str]()
    await page.get_by_text("Show as a table").click()
    await expect(page.get_by_role("columnheader", name="Requests", exact=True)).to_be_visible()
    await expect(page.locator(".admin-chart").first).to_be_visible()
    names = (
        *("Overview", "Users", "Servers", "Reports", "Applications", "Announcements", "Storage", "Retention"),
        *("Jobs", "Mails", "Settings", "Login", "Log"),
    )
    for name in names:
        await page.set_viewport_size({"width": 1280, "height": 800})
        await page.get_by_role("link", name=name, exact=True).click()
        await expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
        await expect(page.locator(".settings-skeleton")).to_have_count(0)
        violations += await client.violations()
        await picture(page, f"admin-{name.lower()}")
        await page.set_viewport_size({"width": 390, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390, name
    assert violations == []


async def test_everyone_sees_an_announcement_until_they_dismiss_it_or_it_is_taken_back(
    browser: Browser, server: Server, world: World
) -> None:
    operator, person = await world.person(), await world.person()
    await make_operator(server, operator, "announcements")
    client = await open_as(browser, server, operator, "/admin/announcements")
    page, dialog = client.page, client.page.get_by_role("dialog")
    await page.get_by_role("button", name="New announcement").click()
    await dialog.get_by_label("Words").fill("Down at noon")
    await choose_option(page, "Kind", "Warning")
    await dialog.get_by_label("Reason").fill("update")
    violations = await client.violations() if AXE.exists() else []
    await picture(page, "admin-announcement-new")
    await dialog.get_by_role("button", name="New announcement", exact=True).click()
    await expect(page.get_by_role("row").filter(has_text="Down at noon")).to_be_visible()
    other = await open_as(browser, server, person, "/channels/@me")
    banner = other.page.locator(".announcement")
    await expect(banner).to_have_text("Down at noon")
    violations += await other.violations() if AXE.exists() else []
    await picture(other.page, "announcement")
    await other.page.set_viewport_size({"width": 390, "height": 800})
    assert await other.page.evaluate("document.documentElement.scrollWidth") <= 390
    await other.page.get_by_role("button", name="Dismiss the announcement").click()
    await expect(banner).to_have_count(0)
    await other.page.reload()
    await expect(other.page.get_by_role("heading").first).to_be_visible()
    await expect(banner).to_have_count(0)
    await page.get_by_role("button", name="Take back: Down at noon").click()
    await dialog.get_by_label("Reason").fill("over")
    await dialog.get_by_role("button", name="Take back", exact=True).click()
    await expect(page.get_by_text("Ended", exact=True)).to_be_visible()
    assert violations == []
    assert client.errors == []
    assert other.errors == []


async def test_a_rule_is_set_and_what_is_held_is_read_for_a_reason_that_the_log_shows(
    browser: Browser, server: Server, world: World
) -> None:
    operator, person = await world.person(), await world.person()
    await make_operator(server, operator, "retention", "log")
    client = await open_as(browser, server, operator, "/admin/retention")
    page, dialog = client.page, client.page.get_by_role("dialog")
    await page.get_by_role("button", name="Set a rule", exact=True).click()
    await dialog.get_by_label("Days until messages are deleted").fill("365")
    await dialog.get_by_label("Reason").fill("law")
    await dialog.get_by_role("button", name="Set a rule", exact=True).click()
    await expect(page.get_by_text("Messages after 365 days")).to_be_visible()
    await page.get_by_role("button", name="New hold").click()
    await dialog.get_by_label("Id", exact=True).fill(str(int(person.id)))
    await dialog.get_by_label("What for").fill("case 7")
    await dialog.get_by_label("Reason").fill("court")
    await dialog.get_by_role("button", name="New hold", exact=True).click()
    await page.get_by_role("button", name="Read: case 7").click()
    await dialog.get_by_label("Reason").fill("court")
    await dialog.get_by_role("button", name="Read", exact=True).click()
    await expect(dialog.get_by_text("There is nothing to show.")).to_be_visible()
    await page.keyboard.press("Escape")
    violations = await client.violations() if AXE.exists() else []
    await picture(page, "admin-retention-filled")
    await page.get_by_role("link", name="Log", exact=True).click()
    await expect(page.get_by_text("hold.read")).to_be_visible()
    assert violations == []
    assert client.errors == []
