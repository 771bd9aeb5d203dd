"""Where the list of messages is in the client, in Chromium: what one sends is seen, places and the end stay in view."""

from typing import Any, NamedTuple

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import TIMEOUT_MS, Account, ClientPage, call, open_new_guild, sign_up
from tests.clients.live import Server
from tests.support.web_client import request

_AT_END = """() => { const list = document.querySelector(".timeline-scroller");
    return list.scrollHeight - list.scrollTop - list.clientHeight < 2; }"""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


_SETTLED = """() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""
_TOP_OF = """(text) => [...document.querySelectorAll("article.message")]
    .find(each => each.textContent.includes(text))?.getBoundingClientRect().top ?? null"""


async def is_at_end(client: ClientPage) -> None:
    """Wait until the list is at its end."""
    await client.page.wait_for_function(_AT_END, timeout=TIMEOUT_MS)


async def test_the_end_of_the_list_stays_in_view_and_what_is_sent_is_seen(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_end", "ben_end")
    channel = ada.page.url.split("/")[-1]
    for number in range(59):
        await request(ben, "POST", f"/channels/{channel}/messages", {"content": f"line {number}"})
    message = await request(ben, "POST", f"/channels/{channel}/messages", {"content": "line 59"})
    await expect(ada.message("line 59")).to_be_visible()
    await is_at_end(ada)

    # A reaction and an edit make the last message grow, what is written makes the list shrink.
    await request(ben, "PUT", f"/channels/{channel}/messages/{message['id']}/reactions/%F0%9F%91%8D/@me")
    await expect(ada.message("line 59").locator(".reaction")).to_be_visible()
    await is_at_end(ada)
    await ada.message("line 59").locator(".reaction").click()
    await expect(ada.message("line 59").locator(".reaction")).to_contain_text("2")
    await is_at_end(ada)
    long = {"content": "\n".join(f"row {number}" for number in range(12))}
    await request(ben, "PATCH", f"/channels/{channel}/messages/{message['id']}", long)
    await expect(ada.message("row 11")).to_be_visible()
    await is_at_end(ada)
    await ada.box.fill("\n".join("abcdefgh"))
    await is_at_end(ada)
    await ada.box.press("Control+End")
    await ada.page.keyboard.type("ij")
    await is_at_end(ada)
    await ada.box.fill("")
    await is_at_end(ada)
    await request(ben, "POST", f"/channels/{channel}/messages", {"content": "after all"})
    await expect(ada.message("after all")).to_be_in_viewport()

    # Who has scrolled up stays there until they send something.
    await ada.page.get_by_role("log").hover()
    await ada.page.mouse.wheel(0, -1500)
    await expect(ada.message("after all")).not_to_be_in_viewport()
    await request(ben, "POST", f"/channels/{channel}/messages", {"content": "not yet seen"})
    await expect(ada.message("not yet seen")).not_to_be_in_viewport()
    await ada.say("mine")
    await expect(ada.message("mine")).to_be_in_viewport()
    await is_at_end(ada)
    assert (ada.errors, ben.errors) == ([], [])


class Ben(NamedTuple):
    """A member who writes without a browser."""

    url: str
    account: Account
    path: str
    """Where the messages of the channel are."""

    async def call(self, method: str, path: str = "", body: object = None) -> Any:
        """Send a request about the messages of the channel."""
        return await call(self.url, self.account, method, self.path + path, body)

    async def seed(self, count: int) -> list[str]:
        """Write messages, of which every third has several lines; their ids."""
        contents = [f"line {number}." + ("" if number % 3 else "\nmore\nand more") for number in range(count)]
        return [(await self.call("POST", body={"content": content}))["id"] for content in contents]


async def open_channel(browser: Browser, server: Server, name: str, count: int) -> tuple[ClientPage, Ben, list[str]]:
    """A new channel with messages in a client, who writes there besides, and the messages' ids."""
    owner, writer = await sign_up(server.url, f"ada_{name}"), await sign_up(server.url, f"ben_{name}")
    guild = await call(server.url, owner, "POST", "/guilds", {"name": "The Moot"})
    channels = await call(server.url, owner, "GET", f"/guilds/{guild['id']}/channels")
    channel = next(each["id"] for each in channels if each["type"] == 0)
    invite = await call(server.url, owner, "POST", f"/channels/{channel}/invites", {})
    await call(server.url, writer, "POST", f"/invites/{invite['code']}", {})
    ben = Ben(server.url, writer, f"/channels/{channel}/messages")
    ids = await ben.seed(count)
    path = f"/channels/{guild['id']}/{channel}"
    ada = await ClientPage.logged_in(browser, server.url, owner, path, viewport={"width": 1200, "height": 700})
    await expect(ada.message(f"line {count - 1}.")).to_be_in_viewport()
    return ada, ben, ids


async def top_of(client: ClientPage, text: str) -> float:
    """Where a message is on the screen, once what has happened is drawn."""
    await client.page.evaluate(_SETTLED)
    top: float | None = await client.page.evaluate(_TOP_OF, text)
    assert top is not None, text
    return top


async def scroll_to(client: ClientPage, text: str) -> None:
    """Scroll up by the wheel until a message is in view."""
    await client.page.get_by_role("log").hover()
    while await client.page.locator("article.message", has_text=text).count() == 0:
        await client.page.mouse.wheel(0, -400)
        await client.page.evaluate(_SETTLED)
    await client.message(text).evaluate("each => each.scrollIntoView({ block: 'center' })")
    await client.page.evaluate(_SETTLED)


async def test_whatever_opens_beside_or_below_leaves_the_end_in_view(browser: Browser, server: Server) -> None:
    ada, ben, _ = await open_channel(browser, server, "panels", 40)
    words = "many words that make a long line in a channel that is narrow " * 4
    await ben.call("POST", body={"content": f"last {words}"})
    await expect(ada.message("last many")).to_be_in_viewport()
    await is_at_end(ada)
    await ada.page.get_by_role("button", name="Members", exact=True).click()
    await is_at_end(ada)
    await ada.page.get_by_role("button", name="Members", exact=True).click()
    await is_at_end(ada)
    await ada.page.get_by_role("button", name="Search messages").click()
    await expect(ada.page.get_by_role("complementary", name="Search messages")).to_be_visible()
    await is_at_end(ada)
    await ada.page.set_viewport_size({"width": 900, "height": 500})
    await is_at_end(ada)
    await ada.page.set_viewport_size({"width": 1300, "height": 900})
    await is_at_end(ada)
    await call(server.url, ben.account, "POST", ben.path.replace("messages", "typing"))
    await expect(ada.page.get_by_text("ben_panels is typing")).to_be_visible()
    await is_at_end(ada)
    assert ada.errors == []


async def test_a_place_in_the_middle_stays_whatever_grows_above_or_below(browser: Browser, server: Server) -> None:
    ada, ben, ids = await open_channel(browser, server, "middle", 70)
    # The page before the first one is loaded on the way, which moves nothing.
    await scroll_to(ada, "line 30.")
    top = await top_of(ada, "line 30.")
    long: dict[str, Any] = {"content": "\n".join(f"row {number}" for number in range(9))}

    async def stays() -> None:
        assert abs(await top_of(ada, "line 30.") - top) <= 1

    await ben.call("PATCH", f"/{ids[20]}", long)
    await expect(ada.page.locator("article.message", has_text="row 8")).to_have_count(1)
    await stays()
    await ben.call("PUT", f"/{ids[19]}/reactions/%F0%9F%91%8D/@me")
    await expect(ada.page.locator(".reaction")).to_have_count(1)
    await stays()
    await ben.call("DELETE", f"/{ids[18]}")
    await expect(ada.message("line 18.")).to_have_count(0)
    await stays()
    await ben.call("PATCH", f"/{ids[32]}", long)
    await expect(ada.page.locator("article.message", has_text="row 8")).to_have_count(2)
    await stays()
    await ben.call("POST", body={"content": "at the end"})
    await stays()
    await ada.box.fill("\n".join("abcdefgh"))
    await stays()
    await ada.box.fill("")
    await stays()
    # A list of another width breaks its lines elsewhere.
    await ada.page.get_by_role("button", name="Members", exact=True).click()
    await ada.page.evaluate(_SETTLED)
    await expect(ada.message("line 30.")).to_be_in_viewport()
    assert ada.errors == []


async def test_the_focus_moves_no_list(browser: Browser, server: Server) -> None:
    ada, ben, ids = await open_channel(browser, server, "focus", 40)
    # A menu that was opened at the end gives the focus back to a message that has moved out of view.
    await ada.message("line 39.").hover()
    await ada.message("line 39.").get_by_role("button", name="More").click()
    await expect(ada.page.get_by_role("menu")).to_be_visible()
    for number in range(20):
        await ben.call("POST", body={"content": f"below {number}."})
    await expect(ada.message("below 19.")).to_be_attached()
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_role("menu")).to_have_count(0)
    await ada.page.evaluate(_SETTLED)
    await is_at_end(ada)

    # In the middle, what is focused and grows stays, and what is above it grows upwards.
    await scroll_to(ada, "line 30.")
    await ada.message("line 30.").hover()
    await ada.message("line 30.").get_by_role("button", name="More").click()
    top = await top_of(ada, "line 30.")
    await ben.call("PATCH", f"/{ids[28]}", {"content": "\n".join("abcdefghijk")})
    await expect(ada.page.locator("article.message", has_text="k")).not_to_have_count(0)
    await ada.page.keyboard.press("Escape")
    await expect(ada.page.get_by_role("menu")).to_have_count(0)
    assert abs(await top_of(ada, "line 30.") - top) <= 1
    assert ada.errors == []


async def test_the_way_to_the_end_shows_from_half_a_screen_away(browser: Browser, server: Server) -> None:
    ada, _, ids = await open_channel(browser, server, "away", 70)
    button = ada.page.get_by_role("button", name="Jump to the newest messages")
    scroller = ada.page.locator(".timeline-scroller")
    await scroller.evaluate("list => { list.scrollTop -= list.clientHeight * 0.4; }")
    await ada.page.evaluate(_SETTLED)
    await expect(button).to_have_count(0)
    await scroller.evaluate("list => { list.scrollTop -= list.clientHeight * 0.2; }")
    await expect(button).to_be_visible()
    await button.click()
    await is_at_end(ada)
    await expect(button).to_have_count(0)

    # A jump shows its message, and what is loaded when one scrolls on from there does not lead back to it.
    await ada.page.evaluate("path => history.pushState(null, '', path)", f"{ada.page.url}/{ids[30]}")
    await ada.page.evaluate("dispatchEvent(new PopStateEvent('popstate'))")
    await expect(ada.page.locator(".timeline-row-target")).to_be_in_viewport()
    await expect(ada.message("line 30.")).to_be_in_viewport()
    await scroll_to(ada, "line 0.")
    await expect(ada.message("line 0.")).to_be_in_viewport()
    await expect(ada.message("line 30.")).not_to_be_in_viewport()
    assert ada.errors == []


async def test_completions_leave_the_line_that_says_whom_a_reply_is_for(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_reply", "ben_reply")
    await ben.say("Hello")
    await ada.message("Hello").hover()
    await ada.message("Hello").get_by_role("button", name="Reply", exact=True).click()
    await ada.box.press_sequentially("@ben")
    completion = await ada.page.locator(".completion").bounding_box()
    reply = await ada.page.locator(".composer-reply").bounding_box()
    assert completion is not None
    assert reply is not None
    assert completion["y"] + completion["height"] <= reply["y"]
    assert ada.errors == []


async def test_an_exact_name_that_is_typed_becomes_the_mention(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_typed", "ben_typed")
    channel = ada.page.url.split("/")[-1]
    # The list of completions is closed: nothing is chosen from it.
    await ada.box.fill("see #general, @ben_typed! and `@ben_typed`")
    await ada.page.keyboard.press("Escape")
    await ada.box.press("Enter")
    await expect(ben.page.locator(".message-mention .mention-user")).to_have_text("@ben_typed")
    (message, *_) = await request(ada, "GET", f"/channels/{channel}/messages?limit=1")
    assert message["content"] == f"see <#{channel}>, <@{message['mentions'][0]['id']}>! and `@ben_typed`"
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_jump_leaves_the_search_as_it_is(browser: Browser, server: Server) -> None:
    (ada,) = await open_new_guild(browser, server.url, "ada_jumps")
    channel = ada.page.url.split("/")[-1]
    for number in range(3):
        await request(ada, "POST", f"/channels/{channel}/messages", {"content": f"needle {number}"})
    await ada.page.get_by_role("button", name="Search messages").click()
    search = ada.page.get_by_role("complementary", name="Search messages")
    await search.get_by_role("searchbox").fill("needle")
    await search.get_by_role("searchbox").press("Enter")
    results = search.locator(".search-result")
    await expect(results).to_have_count(3)
    for index in (2, 0):
        await results.nth(index).get_by_role("link", name="Jump").click()
        await expect(ada.page.locator(".timeline-row-target")).to_have_count(1)
        await expect(search.get_by_role("searchbox")).to_have_value("needle")
        await expect(results).to_have_count(3)
    assert ada.errors == []
