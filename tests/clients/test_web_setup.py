"""The first minute of an operator in Chromium: from the link on the console to the first server."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pyotp
import pytest
from playwright.async_api import Browser, Page, expect

from tests.cli.running import run
from tests.clients.client_pages import PASSWORD, ClientPage, choose_option, picture
from tests.support.mail_server import MailServer, mail_server_beside
from tests.support.serving import RunningServer

_LINK = r"http://\S+/setup\?token=(\S+)"
_ICON = Path(__file__).with_name("icon.png")


@pytest.fixture
def mails() -> Iterator[MailServer]:
    with mail_server_beside() as server:
        yield server


async def make_account(page: Page) -> None:
    """Make the first operator's account; an easy password is refused."""
    await page.get_by_label("Username").fill("olga")
    await page.get_by_label("Password").fill("password")
    await picture(page, "setup-account")
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.locator(".field-error")).to_be_visible()
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Make the account").click()
    await expect(page.get_by_role("heading", name="Second factor", exact=True)).to_be_visible()


async def enable_factor(page: Page) -> list[str]:
    """Switch on codes of an app, which begins a new session at the same step; return the backup codes."""
    await page.get_by_role("button", name="Switch on").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Your password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Next").click()
    secret = (await dialog.locator(".totp-secret").inner_text()).replace(" ", "")
    await dialog.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).now())
    await dialog.get_by_role("button", name="Switch on").click()
    await expect(dialog.locator(".backup-codes li")).to_have_count(10)
    codes = await dialog.locator(".backup-codes li").all_inner_texts()
    await dialog.get_by_role("button", name="I have kept them").click()
    await page.get_by_role("button", name="Next").click()
    return codes


async def name_the_instance(page: Page) -> None:
    """Name the instance; what is typed and not saved is there again after leaving the step and coming back."""
    await page.get_by_label("Name of this instance").fill("The Hall")
    await expect(page.get_by_role("status").filter(has_text="Not saved yet")).to_be_visible()
    await page.get_by_role("link", name="Registration").click()
    await expect(page.get_by_role("heading", name="Registration")).to_be_visible()
    await page.go_back()
    await expect(page.get_by_label("Name of this instance")).to_have_value("The Hall")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Choose a picture").click()
    await (await chooser.value).set_files(_ICON)
    await page.get_by_role("dialog").get_by_role("button", name="Use this part").click()
    await picture(page, "setup-instance")
    await page.get_by_role("button", name="Save and go on").click()


async def save_mail(page: Page, code: str) -> None:
    """Save the mail server, which needs a proof."""
    await page.get_by_role("button", name="Save", exact=True).click()
    proof = page.get_by_role("dialog", name="Is it you?")
    await proof.get_by_role("textbox", name="Code").fill(code)
    await proof.get_by_role("button", name="Confirm").click()
    await expect(proof).to_have_count(0)


async def set_mail_up(page: Page, port: int, codes: list[str]) -> None:
    """Set the mail server, and send a test message."""
    await page.get_by_label("Mail server").fill("127.0.0.1")
    await page.get_by_label("Port").fill(str(port))
    await choose_option(page, "Encryption", "None: only within a private network")
    await save_mail(page, codes[0])
    await expect(page.locator(".field-error")).to_be_visible()
    await page.get_by_label("Sender").fill("hall@moot.example")
    await save_mail(page, codes[1])
    await page.get_by_label("Send it to").fill("olga@moot.example")
    await page.get_by_role("button", name="Send a test message").click()
    await expect(page.get_by_role("status").filter(has_text="The mail server took it: taken")).to_be_visible()


async def see_as_others(other: ClientPage) -> None:
    """Find the link spent, the name and picture in force, and register with a proof of work and for approval."""
    page = other.page
    await expect(page.get_by_text("This link has been used")).to_be_visible()
    await expect(page.get_by_text("The Hall")).to_be_visible()
    icon = await page.request.get(f"{other.url}/icon.svg")
    assert icon.headers["content-type"] == "image/png"
    await page.goto(f"{other.url}/app/register")
    await page.get_by_label("Username").fill("bob")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Register").click()
    await expect(page.get_by_role("status").filter(has_text="approval")).to_be_visible()
    assert other.errors == []


async def test_the_first_operator_sets_the_instance_up_leaves_and_resumes(
    browser: Browser, tmp_path: Path, mails: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOTHALL_REGISTRATION_PROOF_OF_WORK", "2000")
    with RunningServer(tmp_path / "data", "--no-demo", "--no-rate-limits") as server:
        link = f"/setup?token={server.wait_for(_LINK)[1]}"
        client = await ClientPage.open(browser, server.url, link)
        page, violations = client.page, list[str]()
        await make_account(page)
        violations += await client.violations()
        codes = await enable_factor(page)
        await name_the_instance(page)
        await expect(page.get_by_role("heading", name="Registration")).to_be_visible()
        violations += await client.violations()
        await choose_option(page, "Who may register", "Anyone, once an operator has approved")
        await page.get_by_role("button", name="Save and go on").click()
        await set_mail_up(page, mails.port, codes)
        violations += await client.violations()
        await picture(page, "setup-mail")
        await page.set_viewport_size({"width": 390, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        await picture(page, "setup-mail-390")
        await page.set_viewport_size({"width": 1440, "height": 900})

        # Leaving and coming back leads to the first step that is not done.
        await page.goto(f"{server.url}/setup")
        await expect(page.get_by_role("heading", name="Storage")).to_be_visible()
        await expect(page.get_by_text("A file was stored, read and deleted there.")).to_be_visible()
        violations += await client.violations()
        await page.emulate_media(color_scheme="dark")
        await picture(page, "setup-storage-dark")
        await page.get_by_role("button", name="Later", exact=True).click()
        await expect(page.get_by_role("heading", name="First server")).to_be_visible()
        await page.get_by_text("Club", exact=True).click()
        violations += await client.violations()
        await page.get_by_role("button", name="Create", exact=True).click()
        await page.wait_for_url("**/channels/*")
        await expect(page.get_by_role("link", name="rules")).to_be_visible()

        await see_as_others(await ClientPage.open(browser, server.url, link))
        assert violations == []

    # A command sends by the same mail server.
    arguments = ("mail", "test", "erin@moot.example", "--data", str(tmp_path / "data"))
    result = await asyncio.to_thread(run, *arguments)
    assert result.exit_code == 0, result.output
    assert [str(mail["To"]) for mail in mails.mails] == ["olga@moot.example", "erin@moot.example"]
