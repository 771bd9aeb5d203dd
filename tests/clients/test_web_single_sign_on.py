"""Logging in with an identity provider in Chromium: from the button of the client to the client, and at /admin."""

import asyncio

import pytest
from playwright.async_api import Browser, expect

from tests.cli.running import run
from tests.clients.client_pages import AXE, Account, ClientPage, picture
from tests.clients.live import Server, World
from tests.support.identity_providers import CLIENT_ID, CLIENT_SECRET, ProviderServer


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "private_provider_hosts": "127.0.0.1"}


async def test_an_operator_adds_a_provider_and_a_person_logs_in_with_it(
    browser: Browser, server: Server, world: World
) -> None:
    operator = await world.person()
    made = await asyncio.to_thread(run, "operator", "add", str(int(operator.id)), "--data", str(server.data))
    assert made.exit_code == 0, made.output
    async with ProviderServer().serving() as provider:
        account = Account(str(int(operator.id)), operator.token)
        client = await ClientPage.open_as(browser, server.url, account, "/admin/login")
        page, dialog = client.page, client.page.get_by_role("dialog")
        await page.get_by_role("button", name="Add an identity provider").click()
        for label, text in (
            ("Name in URLs", "corp"),
            ("Issuer", provider.url),
            ("What people read", "Corp"),
            ("Client id", CLIENT_ID),
            ("Client secret", CLIENT_SECRET),
            ("Reason", "moving in"),
        ):
            await dialog.get_by_label(label, exact=True).fill(text)
        violations = await client.violations() if AXE.exists() else []
        await picture(page, "admin-provider-add")
        await dialog.get_by_role("button", name="Add an identity provider").click()
        await expect(page.get_by_text(f"{server.url}/login/callback/corp")).to_be_visible()
        await page.get_by_role("button", name="Check: Corp").click()
        await expect(page.get_by_role("status").filter(has_text="It answers, and signs by RS256.")).to_be_visible()
        violations += await client.violations() if AXE.exists() else []
        await picture(page, "admin-providers")
        await page.set_viewport_size({"width": 390, "height": 800})
        assert await page.evaluate("document.documentElement.scrollWidth") <= 390
        assert await page.evaluate("document.querySelector('.admin-provider strong').offsetHeight") < 40  # one line
        await picture(page, "admin-providers-390")
        assert client.errors == []

        person = await ClientPage.open(browser, server.url, "/app/")
        button = person.page.get_by_role("link", name="Log in with Corp")
        await expect(button).to_be_visible()
        violations += await person.violations() if AXE.exists() else []
        await picture(person.page, "login-with-provider")
        await button.click()
        await expect(person.page.locator(".user-names")).to_contain_text("Anna Arendt")
        assert person.errors == []
    assert violations == []
