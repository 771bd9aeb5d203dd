"""The client without a network: it opens from what the browser has kept, and goes on once the server is back."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import open_new_guild
from tests.clients.live import Server

KEPT = """async () => {
    const caches_ = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
    const requests = await Promise.all(caches_.map((cache) => cache.keys()));
    return requests.flat().map((request) => new URL(request.url).pathname);
}"""
"""The paths of what the browser has kept."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def test_the_client_opens_without_a_network_and_comes_back(browser: Browser, server: Server) -> None:
    (client,) = await open_new_guild(browser, server.url, "ada_offline", service_workers="allow")
    page = client.page
    await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    server.stop()
    await page.reload()
    await expect(page.get_by_role("heading", name="You are offline")).to_be_visible()
    kept = await page.evaluate(KEPT)
    assert "/app/" in kept
    assert [path for path in kept if not re.match(r"/app/|/icon", path)] == []

    await page.get_by_role("button", name="Try again").click()
    server.start()
    await expect(client.box).to_be_visible()
    assert client.errors == []


async def test_a_lost_network_is_shown_and_loses_and_doubles_no_message(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_network", "ben_network")
    await ada.say("before")
    await expect(ben.message("before")).to_have_count(1)
    await ada.page.context.set_offline(offline=True)
    await expect(ada.page.get_by_text("No connection. Trying again…")).to_be_visible()
    await ada.say("while it is away")
    await expect(ada.message("while it is away")).to_contain_text("Sending…")
    await ben.say("meanwhile")
    await ada.page.context.set_offline(offline=False)
    for client in (ada, ben):
        for text in ("before", "while it is away", "meanwhile"):
            await expect(client.message(text)).to_have_count(1)
            await expect(client.message(text)).not_to_contain_text("Sending…")
    await expect(ada.page.locator(".shell-status")).to_have_count(0)
    assert ben.errors == []
