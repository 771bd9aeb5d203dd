"""The member list of the client in Chromium: by role and presence, and loaded a range at a time."""

import pytest
from playwright.async_api import Browser, Locator, expect

from tests.clients.client_pages import ClientPage, open_new_guild, sign_up
from tests.clients.live import Server


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


def row(client: ClientPage, text: str) -> Locator:
    """The rows of the list that contain a text."""
    return client.page.locator(".members-row", has_text=text)


async def test_members_move_between_groups_while_one_looks(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_lists")
    ben = await ClientPage.logged_in(browser, server.url, await sign_up(server.url, "ben_lists"))
    await expect(row(ada, "Online · 1")).to_be_visible()
    await ben.join(await ada.invite_link())
    await expect(row(ada, "Online · 2")).to_be_visible()
    await expect(row(ada, "ben_lists")).to_be_visible()
    await expect(row(ben, "ada_lists")).to_be_visible()
    await ben.page.close()
    await expect(row(ada, "Offline · 1")).to_be_visible()
    await expect(row(ada, "Online · 1")).to_be_visible()
    names = await ada.page.locator(".members-row").all_inner_texts()
    assert [name.split("\n")[-1] for name in names] == ["Online · 1", "ada_lists", "Offline · 1", "ben_lists"]
    assert ada.errors == []


async def test_a_list_is_there_again_after_another_guild_and_a_lost_connection(
    browser: Browser, server: Server
) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_again")
    await expect(row(ada, "ada_again")).to_be_visible()
    await ada.create_guild("Second")
    await expect(row(ada, "ada_again")).to_be_visible()
    await ada.page.get_by_role("link", name="The Moot").click()
    await expect(row(ada, "Online · 1")).to_be_visible()
    await ada.page.reload()
    await expect(row(ada, "ada_again")).to_be_visible()
    await expect(row(ada, "ada_again")).to_have_count(1)
    assert ada.errors == []
