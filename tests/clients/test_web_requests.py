"""Message requests in the client, in Chromium: senders wait apart from direct messages until they are accepted."""

import re

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import ClientPage, call, picture, sign_up
from tests.clients.live import Server


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def test_message_requests_are_listed_apart_until_accepted_or_ignored(browser: Browser, server: Server) -> None:
    ada = await sign_up(server.url, "ada_asked")
    senders = [await sign_up(server.url, f"stranger{number}") for number in range(2)]
    channels = []
    for stranger in senders:
        channel = await call(server.url, stranger, "POST", "/users/@me/channels", {"recipient_id": ada.id})
        await call(
            server.url, stranger, "POST", f"/channels/{channel['id']}/messages", {"content": "**Hello**, friend"}
        )
        channels.append(channel["id"])
    client = await ClientPage.logged_in(browser, server.url, ada, "/channels/@me")
    sidebar = client.page.get_by_role("navigation", name="Direct messages")
    await expect(sidebar.get_by_role("link", name=re.compile("stranger"))).to_have_count(0)
    await expect(client.page.get_by_role("img", name="2 messages and requests wait")).to_be_visible()
    await sidebar.get_by_role("link", name=re.compile("^Message requests")).click()
    main = client.page.get_by_role("main")
    await expect(main.locator(".request-preview")).to_have_text(["Hello, friend"] * 2)
    assert await client.violations() == []
    await picture(client.page, "requests")
    await client.page.set_viewport_size({"width": 1280, "height": 800})

    await main.get_by_role("button", name="Ignore the request of stranger1").click()
    await expect(main.locator(".request")).to_have_count(1)
    await main.get_by_role("link", name=re.compile("stranger0")).click()
    bar = client.page.get_by_role("region", name=re.compile("You do not know"))
    await expect(client.message("Hello, friend")).to_be_visible()
    await bar.get_by_role("button", name="Accept the request of stranger0").click()
    await expect(bar).to_have_count(0)
    await expect(sidebar.get_by_role("link", name=re.compile("stranger0"))).to_be_visible()
    await expect(sidebar.get_by_role("link", name=re.compile("^Message requests"))).to_have_count(0)
    private = await call(server.url, ada, "GET", "/users/@me/channels")
    assert [each["id"] for each in private] == [channels[0]]
    assert private[0]["is_message_request"] is False
    assert client.errors == []
