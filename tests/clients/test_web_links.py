"""What people write in the client, in Chromium: links say where they lead, and no text takes the screens of others."""

import re
from typing import Any

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import ClientPage, call, open_new_guild, picture, sign_up
from tests.clients.live import Server
from tests.support.web_client import guild_id, make_community, request, show_message

EVIL = "https://evil.example/login"
BOMBS = (
    "> " * 1_000,
    ">" * 2_000,
    "*a_" * 650,
    "- " * 1_000,
    "||**" * 500,
    "[" * 2_000,
    "[a](" * 500,
    "👍🏽" * 400 + "!",
)


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def test_a_link_says_where_it_leads_and_its_host_is_confirmed_once(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_masked", "ben_masked")
    await ada.say(f"[https://example.com]({EVIL}) [\u200b]({EVIL}) [the shop]({EVIL}) inv\u202egpj.exe")
    shown = ben.message("the shop").locator(".content")
    await expect(shown).to_contain_text(f"[https://example.com]({EVIL})")
    await expect(shown.get_by_role("link", name="https://example.com")).to_have_count(0)
    assert await shown.get_by_role("link").all_text_contents() == [EVIL, EVIL, "the shop"]

    # Nothing opens, by whichever button, before the host is confirmed.
    for button in ("left", "middle"):
        await shown.get_by_role("link", name="the shop").click(button=button)
        dialog = ben.page.get_by_role("dialog", name="Leave for another site?")
        await expect(dialog.locator(".link-address")).to_have_text(EVIL)
        await expect(dialog.locator(".link-address strong")).to_have_text("evil.example")
        if button == "left":
            assert await ben.violations() == []
            await picture(ben.page, "link")
        await dialog.get_by_role("button", name="Cancel").click()
        await expect(dialog).to_have_count(0)
    assert len(ben.page.context.pages) == 1

    await ben.page.context.route("https://evil.example/**", lambda route: route.fulfill(body="caught"))
    await shown.get_by_role("link", name="the shop").click()
    async with ben.page.context.expect_page() as opened:
        await ben.page.get_by_role("button", name="Open link").click()
    assert (await opened.value).url == EVIL
    await ben.page.reload()
    async with ben.page.context.expect_page() as opened:
        await shown.get_by_role("link", name="the shop").click()
    assert (await opened.value).url == EVIL
    # It is remembered for the account, and goes with its login.
    stored = "() => Object.keys(localStorage).filter(key => key.startsWith('moothall.account.')).length"
    assert await ben.page.evaluate(stored) >= 1
    assert (ada.errors, ben.errors) == ([], [])


async def test_links_of_embeds_and_buttons_say_where_they_lead(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_embeds")
    await ada.say("Hello")
    await expect(ada.message("Hello")).not_to_contain_text("Sending…")

    def change(message: dict[str, Any]) -> None:
        message["embeds"] = [
            {"type": "rich", "title": "https://example.com", "url": EVIL, "description": f"[example.com]({EVIL})",
             "author": {"name": "\u0430\u0440\u0440\u04cf\u0435.com", "url": EVIL},
             "fields": [{"name": "a\u202eb", "value": "c"}]},
            {"type": "rich", "title": "A title", "url": EVIL},
        ]  # fmt: skip
        message["components"] = [
            {"type": 1, "components": [{"type": 2, "style": 5, "label": "example.com", "url": EVIL}]},
            {"type": 1, "components": [{"type": 2, "style": 5, "label": "The shop", "url": EVIL}]},
        ]
        file = {"id": "1", "filename": "invoice\u202egpj.exe", "size": 9, "url": "/x", "proxy_url": "/x"}
        message["attachments"] = [file]

    await show_message(ada, change)
    article = ada.page.locator("article.message").first
    await expect(article.locator(".attachment-name")).to_have_text("invoice[U+202E]gpj.exe")
    await expect(article.locator("dt")).to_have_text("a[U+202E]b")
    await expect(article.get_by_role("link", name="The shop")).to_be_visible()
    labels = [text.strip() for text in await article.get_by_role("link").all_text_contents() if text.strip()]
    assert sorted(labels) == sorted([EVIL, EVIL, EVIL, EVIL, "A title", "The shop"])
    await article.get_by_role("link", name="The shop").click()
    await expect(ada.page.get_by_role("dialog", name="Leave for another site?")).to_be_visible()


async def test_no_text_takes_a_forum_the_pins_or_the_search_from_others(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_screens", "ben_screens")
    await make_community(ada)
    guild = guild_id(ada)
    channels = await request(ada, "GET", f"/guilds/{guild}/channels")
    general = next(channel["id"] for channel in channels if channel["type"] == 0)
    forum = await request(ada, "POST", f"/guilds/{guild}/channels", {"name": "questions", "type": 15})
    for number, bomb in enumerate(BOMBS):
        body = {"name": f"post {number}", "message": {"content": f"needle {bomb}\n{bomb}"[:2_000]}}
        await request(ben, "POST", f"/channels/{forum['id']}/threads", body)
        message = await request(ben, "POST", f"/channels/{general}/messages", {"content": f"needle\n{bomb}"[:2_000]})
        await request(ada, "PUT", f"/channels/{general}/messages/pins/{message['id']}")

    await ada.page.get_by_role("link", name="questions").click()
    await expect(ada.page.get_by_role("button", name="post 0")).to_be_visible()
    await ada.page.get_by_role("button", name="post 1", exact=True).click()
    await expect(ada.page.locator("article.message", has_text="needle").first).to_be_visible()

    await ada.page.goto(f"{server.url}/channels/{guild}/{general}")
    await ada.page.get_by_role("button", name="Pinned messages").click()
    await expect(ada.page.locator(".pins > li")).to_have_count(len(BOMBS))
    assert ada.errors == []


async def test_a_card_that_cannot_be_drawn_leaves_the_forum_and_opens(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_cards")
    await make_community(ada)
    forum = await request(ada, "POST", f"/guilds/{guild_id(ada)}/channels", {"name": "questions", "type": 15})
    for name in ("Broken", "Whole"):
        body = {"name": name, "message": {"content": name}}
        await request(ada, "POST", f"/channels/{forum['id']}/threads", body)

    async def alter(route: Any) -> None:
        answer = await route.fetch()
        data = await answer.json()
        for message in data["first_messages"]:
            if message["content"] == "Broken":
                message["attachments"] = 7
        await route.fulfill(response=answer, json=data)

    await ada.page.route(re.compile(r"/channels/\d+/threads/search"), alter)
    await ada.page.get_by_role("link", name="questions").click()
    await expect(ada.page.get_by_role("button", name="Whole")).to_be_visible()
    await expect(ada.page.get_by_text("This message cannot be shown.")).to_be_visible()
    await ada.page.get_by_role("button", name="Broken").click()
    await expect(ada.page.locator("article.message", has_text="Broken").first).to_be_visible()


async def test_what_is_confirmed_is_forgotten_with_the_login(browser: Browser, server: Server) -> None:
    account = await sign_up(server.url, "ada_forgets")
    guild = await call(server.url, account, "POST", "/guilds", {"name": "The Moot"})
    client = await ClientPage.logged_in(browser, server.url, account, f"/channels/{guild['id']}")
    await client.page.evaluate(
        "id => localStorage.setItem(`moothall.account.${id}.trusted-hosts`, '[\"evil.example\"]')", account.id
    )
    await client.page.get_by_role("button", name=re.compile("ada_forgets")).first.click()
    await client.page.get_by_role("menuitem", name="Log out").click()
    await expect(client.page.get_by_role("heading", name="Log in")).to_be_visible()
    keys = await client.page.evaluate("() => Object.keys(localStorage)")
    assert [key for key in keys if key.startswith("moothall.account.")] == []
