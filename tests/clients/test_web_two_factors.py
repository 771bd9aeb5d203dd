"""Two-factor authentication in the client, driven in Chromium."""

import pyotp
import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import PASSWORD, ClientPage, picture, sign_up
from tests.clients.live import Server


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def open_account(client: ClientPage) -> None:
    """Open the settings of the account."""
    await client.page.get_by_role("button", name="Settings", exact=True).click()
    await client.page.get_by_role("link", name="Account", exact=True).click()
    await expect(client.page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()


async def enable(client: ClientPage) -> list[str]:
    """Switch on codes of an app, with the secret that the dialog shows; the backup codes."""
    page = client.page
    await page.get_by_role("button", name="Switch on").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("Your password").fill("wrong horse")
    await dialog.get_by_role("button", name="Next").click()
    await expect(dialog.get_by_text("Password does not match.")).to_be_visible()
    await dialog.get_by_label("Your password").fill(PASSWORD)
    await dialog.get_by_role("button", name="Next").click()
    await expect(dialog.get_by_role("img", name="QR code with the secret")).to_be_visible()
    assert await client.violations() == []
    await picture(page, "two-factors-secret")
    secret = (await dialog.locator(".totp-secret").inner_text()).replace(" ", "")
    await dialog.get_by_role("textbox", name="Code").fill("000000")
    await dialog.get_by_role("button", name="Switch on").click()
    await expect(dialog.get_by_text("Invalid two-factor code")).to_be_visible()
    await dialog.get_by_role("textbox", name="Code").fill(pyotp.TOTP(secret).now())
    await dialog.get_by_role("button", name="Switch on").click()
    await expect(dialog.locator(".backup-codes li")).to_have_count(10)
    assert await client.violations() == []
    await picture(page, "two-factors-codes")
    codes = await dialog.locator(".backup-codes li").all_inner_texts()
    async with page.expect_download() as download:
        await dialog.get_by_role("link", name="Download").click()
    path = await (await download.value).path()
    assert path.read_text(encoding="utf-8").split() == codes
    await dialog.get_by_role("button", name="I have kept them").click()
    await expect(page.get_by_role("button", name="Switch off")).to_be_visible()
    return codes


async def test_a_second_factor_is_switched_on_needed_and_switched_off(browser: Browser, server: Server) -> None:
    ada = await ClientPage.logged_in(browser, server.url, await sign_up(server.url, "factors_ada"))
    await open_account(ada)
    codes = await enable(ada)

    elsewhere = await ClientPage.open(browser, server.url)
    await elsewhere.page.get_by_label("Username or email").fill("factors_ada")
    await elsewhere.page.get_by_label("Password").fill(PASSWORD)
    await elsewhere.page.get_by_role("button", name="Log in").click()
    await expect(elsewhere.page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    assert await elsewhere.violations() == []
    await picture(elsewhere.page, "two-factors-login")
    await elsewhere.page.get_by_role("textbox", name="Code").fill("wrong")
    await elsewhere.page.get_by_role("button", name="Log in").click()
    await expect(elsewhere.page.get_by_text("Invalid two-factor code")).to_be_visible()
    await elsewhere.page.get_by_role("textbox", name="Code").fill(codes[0])
    await elsewhere.page.get_by_role("button", name="Log in").click()
    await elsewhere.page.wait_for_url("**/channels/@me")

    # New backup codes need the password and a proof; nothing is mailed here.
    page = ada.page
    await page.get_by_role("button", name="New backup codes").click()
    await page.get_by_label("Your password").fill(PASSWORD)
    await page.get_by_role("button", name="Next").click()
    proof = page.get_by_role("dialog", name="Is it you?")
    await expect(proof).to_be_visible()
    await picture(page, "two-factors-proof")
    await proof.get_by_role("textbox", name="Code").fill(codes[0])
    await proof.get_by_role("button", name="Confirm").click()
    await expect(proof.get_by_text("Invalid two-factor code")).to_be_visible()
    await proof.get_by_role("textbox", name="Code").fill(codes[1])
    await proof.get_by_role("button", name="Confirm").click()
    await expect(page.locator(".backup-codes li")).to_have_count(10)
    codes = await page.locator(".backup-codes li").all_inner_texts()
    await page.get_by_role("button", name="I have kept them").click()

    await page.get_by_role("button", name="Switch off").click()
    await proof.get_by_role("textbox", name="Code").fill(codes[0])
    await proof.get_by_role("button", name="Confirm").click()
    await expect(page.get_by_role("button", name="Switch on")).to_be_visible()
    await expect(elsewhere.page.get_by_role("heading", name="Log in")).to_be_visible()
    await elsewhere.log_in("factors_ada")
    await picture(page, "two-factors-off")


async def test_a_passkey_is_added_logs_in_alone_and_proves_who_deletes_it(browser: Browser, server: Server) -> None:
    ben = await ClientPage.logged_in(browser, server.url, await sign_up(server.url, "factors_ben"))
    page = ben.page
    devtools = await page.context.new_cdp_session(page)
    await devtools.send("WebAuthn.enable")
    options = {
        "protocol": "ctap2",
        "transport": "internal",
        "hasResidentKey": True,
        "hasUserVerification": True,
        "isUserVerified": True,
        "automaticPresenceSimulation": True,
    }
    await devtools.send("WebAuthn.addVirtualAuthenticator", {"options": options})
    await open_account(ben)
    await page.get_by_label("Name of a new passkey").fill("Laptop")
    await page.get_by_role("button", name="Add a passkey").click()
    proof = page.get_by_role("dialog", name="Is it you?")
    await proof.get_by_label("Your password").fill(PASSWORD)
    await proof.get_by_role("button", name="Confirm").click()
    await expect(page.locator(".backup-codes li")).to_have_count(10)
    await page.get_by_role("button", name="I have kept them").click()
    await expect(page.get_by_role("button", name="Delete Laptop")).to_be_visible()
    await expect(page.get_by_text("10 backup codes are left.")).to_be_visible()
    assert await ben.violations() == []
    await page.get_by_role("button", name="Delete Laptop").scroll_into_view_if_needed()
    await picture(page, "passkeys")

    await page.get_by_role("button", name="Log out", exact=True).click()
    await expect(page.get_by_role("heading", name="Log in")).to_be_visible()
    await picture(page, "passkeys-login")
    await page.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_role("heading", name="Two-factor authentication")).to_be_visible()
    await page.get_by_role("button", name="Delete Laptop").click()
    await proof.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_text("You have none.")).to_be_visible()
    await expect(page.get_by_role("button", name="New backup codes")).to_have_count(0)
