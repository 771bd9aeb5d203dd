"""Logging in with an identity provider in Chromium: from the button of the client to the client, and at /admin."""

import asyncio
from functools import partial
from pathlib import Path

import aiohttp
import pytest
from playwright.async_api import Browser, expect

from tests.cli.running import run
from tests.clients.client_pages import AXE, PASSWORD, Account, ClientPage, picture
from tests.clients.live import Server, World
from tests.support.identity_providers import CLIENT_ID, CLIENT_SECRET, ProviderServer


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "private_provider_hosts": "127.0.0.1,localhost"}


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


async def test_a_second_instance_logs_in_with_the_first(browser: Browser, server: Server, tmp_path: Path) -> None:
    first = Server(tmp_path / "first", rate_limits="false")
    first.start()
    try:
        async with aiohttp.ClientSession() as session:
            world = World(first, session)
            owner, ada = await world.person(), await world.person("ada")
            application = await owner.post("/applications", {"name": "Second"})
            path = f"/applications/{application['id']}"
            await owner.patch(path, {"redirect_uris": [f"{server.url}/login/callback/first"]})
            secret = (await owner.post(f"{path}/reset"))["secret"]
        secret_file = tmp_path / "secret"
        secret_file.write_text(secret)
        arguments: tuple[str, ...] = ("--issuer", first.url, "--client-id", str(application["id"]), "--label", "First")
        arguments += ("--client-secret-file", str(secret_file), "--data", str(server.data))
        command = partial(
            run, "provider", "add", "first", *arguments, env={"MOOTHALL_PRIVATE_PROVIDER_HOSTS": "localhost"}
        )
        made = await asyncio.to_thread(command)
        assert made.exit_code == 0, made.output

        client = await ClientPage.open(browser, server.url, "/app/")
        page = client.page
        await page.get_by_role("link", name="Log in with First").click()
        await page.get_by_label("Username or email").fill(ada.name)
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Log in").click()
        await expect(page.get_by_text("Second").first).to_be_visible()
        await picture(page, "consent-second-instance")
        await page.get_by_role("button", name="Allow").click()
        await expect(page.locator(".user-names")).to_contain_text(ada.name)
        assert page.url.startswith(server.url)
        assert client.errors == []
    finally:
        first.stop()
