"""Steps and communities that several tests of the client for people share."""

import json
import re
from collections.abc import Callable
from typing import Any, Final

from playwright.async_api import Locator, Route, expect

from tests.clients.client_pages import (
    Account,
    ClientPage,
)


async def show_message(client: ClientPage, change: Callable[[dict[str, Any]], object]) -> None:
    """Let the client show the first message of the channel as `change` makes it, after a reload."""

    async def alter(route: Route) -> None:
        answer = await route.fetch()
        messages = await answer.json()
        for message in messages:
            change(message)
        await route.fulfill(response=answer, body=json.dumps(messages))

    await client.page.route(re.compile(r"/channels/\d+/messages(\?|$)"), alter)
    await client.page.reload()
    await expect(client.page.locator("article.message").first).to_be_visible()


async def request(client: ClientPage, method: str, path: str, body: object = None) -> Any:
    """Send a request of the API as the user of a page."""
    script = """async ([method, path, body]) => {
        const [account] = JSON.parse(localStorage.getItem("moothall.accounts"));
        const headers = { Authorization: account.token, "Content-Type": "application/json" };
        const options = { method, headers, ...(body && { body: JSON.stringify(body) }) };
        const response = await fetch("/api/v10" + path, options);
        return response.status === 204 ? null : response.json();
    }"""
    return await client.page.evaluate(script, [method, path, body])


def guild_id(client: ClientPage) -> str:
    """The guild that is open, or whose settings are."""
    match = re.search(r"/(?:guilds|channels)/(\d+)", client.page.url)
    assert match is not None, client.page.url
    return match[1]


async def make_community(client: ClientPage) -> None:
    """Make the open guild a community, which may have forums and stages.

    Its members get a role: those without one would have to verify an address before they write.
    """
    path = f"/guilds/{guild_id(client)}"
    role = await request(client, "POST", f"{path}/roles", {"name": "Regulars", "permissions": "0"})
    for member in await request(client, "GET", f"{path}/members?limit=10"):
        await request(client, "PUT", f"{path}/members/{member['user']['id']}/roles/{role['id']}")
    channels = await request(client, "GET", f"/guilds/{guild_id(client)}/channels")
    general = next(channel["id"] for channel in channels if channel["type"] == 0)
    guild = await request(
        client,
        "PATCH",
        f"/guilds/{guild_id(client)}",
        {
            "features": ["COMMUNITY"],
            "verification_level": 1,
            "explicit_content_filter": 2,
            "default_message_notifications": 1,
            "rules_channel_id": general,
            "public_updates_channel_id": general,
        },
    )
    assert "COMMUNITY" in guild["features"], guild


async def open_menu(client: ClientPage, trigger: Locator, item: str) -> None:
    """Choose an item of a menu."""
    await trigger.click()
    await client.page.get_by_role("menuitem", name=item, exact=True).click()


async def message_menu(client: ClientPage, text: str, item: str) -> None:
    """Choose an item of a message's menu."""
    message = client.page.locator("article.message", has_text=text).first
    await message.hover()
    await open_menu(client, message.get_by_role("button", name="More"), item)


async def account_of(client: ClientPage) -> Account:
    """The account that a client is logged in with."""
    stored = json.loads(await client.page.evaluate("localStorage.getItem('moothall.accounts')"))[0]
    return Account(stored["userId"], stored["token"])


def guild_and_channel(client: ClientPage) -> tuple[str, str]:
    """The ids in the address of the channel that is open."""
    guild_id, channel_id = client.page.url.rsplit("/", 2)[1:]
    return guild_id, channel_id


CUT_OFF: Final = """() => {
    const lines = [];
    const note = (problem, each) => lines.push(`${problem}: ${each.outerHTML.slice(0, 140)}`);
    const shown = [...document.querySelectorAll("body *")].filter((each) => {
        const box = each.getBoundingClientRect();
        return box.width > 1 && box.height > 1 && each.checkVisibility({ visibilityProperty: true })
            && each.closest("svg, pre, [aria-hidden=true]") === null && getComputedStyle(each).clipPath === "none";
    });
    if (document.scrollingElement.scrollWidth > innerWidth) {
        note("the page scrolls sideways", document.body);
    }
    for (const each of shown) {
        const { left, right } = each.getBoundingClientRect();
        const { overflowX, textOverflow } = getComputedStyle(each);
        const isWider = each.scrollWidth > each.clientWidth + 1;
        const matters = each.matches("a, button, input, textarea, select, label, h1, h2, h3, p, [role]");
        if (matters && (left < -1 || right > innerWidth + 1)) {
            note("outside of the window", each);
        }
        if (isWider && (overflowX === "auto" || overflowX === "scroll")) {
            note("scrolls sideways", each);
        }
        if (isWider && overflowX === "hidden" && textOverflow !== "ellipsis" && !each.matches("input")) {
            note("cut off", each);
        }
    }
    return lines;
}"""
