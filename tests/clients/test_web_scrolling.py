"""Where the list of messages is in the client, in Chromium: what one sends is seen, and the end stays the end."""

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import TIMEOUT_MS, ClientPage, open_new_guild
from tests.clients.live import Server
from tests.support.web_client import request

_AT_END = """() => { const list = document.querySelector(".timeline-scroller");
    return list.scrollHeight - list.scrollTop - list.clientHeight < 2; }"""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


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
