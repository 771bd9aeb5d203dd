"""From the start page to a public server, in Chromium: found without an account, joined with a new one."""

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import PASSWORD, ClientPage, call, choose_option, picture, sign_up
from tests.clients.live import Server


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "discovery": "true"}


async def test_a_visitor_finds_a_public_server_registers_and_joins_it(browser: Browser, server: Server) -> None:
    owner = await sign_up(server.url, "bela")
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "Bike kitchen", "system_channel_id": None})
    hidden = await call(server.url, owner, "POST", "/guilds", {"name": "Secret garden"})
    channels = await call(server.url, owner, "GET", f"/guilds/{guild['id']}/channels")
    text = next(channel["id"] for channel in channels if channel["type"] == 0)
    await call(
        server.url,
        owner,
        "PATCH",
        f"/guilds/{guild['id']}",
        {
            "description": "We mend bicycles every Tuesday.",
            "verification_level": 1,
            "explicit_content_filter": 2,
            "rules_channel_id": text,
            "public_updates_channel_id": text,
            "features": ["COMMUNITY", "DISCOVERABLE"],
        },
    )
    await call(server.url, owner, "PATCH", f"/guilds/{guild['id']}/discovery-metadata", {"primary_category_id": 7})
    client = await ClientPage.open(browser, server.url, "/")
    page = client.page
    await expect(page.get_by_role("link", name="Bike kitchen")).to_be_visible()
    await expect(page.get_by_text("Secret garden")).to_have_count(0)
    await picture(page, "start")
    assert await client.violations() == []
    await page.get_by_role("searchbox", name="Search servers").fill("chess")
    await page.get_by_role("button", name="Search", exact=True).click()
    await expect(page.get_by_role("status")).to_have_text("No public server matches. Try other words.")
    await page.goto(f"{server.url}/app/discover")
    await expect(page.get_by_role("heading", name="Discover servers")).to_be_visible()
    await picture(page, "discover")
    assert await client.violations() == []
    await choose_option(page, "Category", "Music")
    await expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    await page.get_by_role("button", name="Show all servers").click()
    await page.get_by_role("searchbox", name="Search servers").fill("BICYCLES")
    await page.get_by_role("link", name="Bike kitchen").click()
    await expect(page.get_by_role("heading", name="Bike kitchen")).to_be_visible()
    await picture(page, "discover-one")
    assert await client.violations() == []
    await page.get_by_role("link", name="Register to join").click()
    await page.get_by_label("Username").fill("visitor.of.the.hall")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Register").click()
    await page.get_by_role("button", name="Join Bike kitchen").click()
    await expect(page).to_have_url(f"{server.url}/channels/{guild['id']}/{text}")
    await expect(page.get_by_role("button", name="Discover servers")).to_be_visible()
    assert client.errors == []
    assert hidden["id"] not in await page.content()


async def test_an_owner_chooses_what_the_server_is_listed_by(browser: Browser, server: Server) -> None:
    owner = await sign_up(server.url, "carla")
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "Choir"})
    client = await ClientPage.logged_in(browser, server.url, owner, f"/app/guilds/{guild['id']}/settings/discovery")
    page = client.page
    await choose_option(page, "Category", "Music")
    await page.get_by_label("Keywords").fill("singing,")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Save")).to_have_count(0)
    metadata = await call(server.url, owner, "GET", f"/guilds/{guild['id']}/discovery-metadata")
    assert (metadata["primary_category_id"], metadata["keywords"]) == (2, ["singing"])
    await picture(page, "discovery-settings")
    assert client.errors == []
