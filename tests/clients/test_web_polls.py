"""Polls in the client for people, in Chromium."""

import pytest
from playwright.async_api import Browser, expect

from tests.clients.client_pages import AXE, call, open_new_guild
from tests.clients.live import Server
from tests.support.suites import leave_out
from tests.support.web_client import account_of, guild_and_channel


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


async def test_a_poll_is_made_and_answered(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_poll", "ben_poll")
    await ada.page.get_by_role("button", name="Add", exact=True).click()
    await ada.page.get_by_role("menuitem", name="Create a poll").click()
    form = ada.page.get_by_role("dialog", name="Create a poll")
    send = form.get_by_role("button", name="Send the poll")
    await expect(send).to_be_disabled()
    await form.get_by_label("Question").fill("Where do we meet?")
    await form.get_by_label("Answer 1", exact=True).fill("At the river")
    await form.get_by_role("button", name="Add an answer").click()
    await form.get_by_label("Answer 3", exact=True).fill("In the hall")
    await form.get_by_role("button", name="Remove answer 2").click()
    await form.get_by_role("button", name="Emoji of answer 1").click()
    await ada.page.get_by_role("gridcell", name="Grinning face", exact=True).click()
    await form.get_by_role("switch", name="Allow several answers").locator("xpath=ancestor::label").click()
    await send.click()
    await expect(form).to_have_count(0)

    poll = ben.page.get_by_role("group", name="Where do we meet?")
    await expect(poll.locator(".poll-answer")).to_have_count(2)
    await expect(poll).to_contain_text("\N{GRINNING FACE}")
    await expect(poll).to_contain_text("Choose one or more answers.")
    await poll.get_by_role("button", name="At the river").click()
    await poll.get_by_role("button", name="In the hall").click()
    own = ada.page.get_by_role("group", name="Where do we meet?")
    await expect(own.get_by_role("button", name="In the hall 1 (50 %)")).to_be_visible()
    await own.get_by_role("button", name="At the river 1 (50 %)").click()
    await expect(poll.get_by_role("button", name="At the river 2 (67 %)")).to_be_visible()
    await poll.get_by_role("button", name="3 votes", exact=True).click()
    voters = ben.page.get_by_role("dialog", name="Who has voted")
    await expect(voters.get_by_role("tabpanel")).to_contain_text("ada_poll")
    await voters.get_by_role("tab", name="In the hall").click()
    await expect(voters.get_by_role("tabpanel")).to_contain_text("ben_poll")
    await expect(voters.get_by_role("tabpanel")).not_to_contain_text("ada_poll")
    await voters.get_by_role("button", name="Close").click()
    assert (ada.errors, ben.errors) == ([], [])


async def test_a_poll_ends_with_its_result(browser: Browser, server: Server) -> None:
    ada, ben = await open_new_guild(browser, server.url, "ada_end", "ben_end")
    owner, (_, channel_id) = await account_of(ada), guild_and_channel(ada)
    answers = [{"poll_media": {"text": text}} for text in ("At the river", "In the hall")]
    body = {"question": {"text": "Where do we meet?"}, "answers": answers}
    await call(server.url, owner, "POST", f"/channels/{channel_id}/messages", {"poll": body})
    poll = ben.page.get_by_role("group", name="Where do we meet?")
    own = ada.page.get_by_role("group", name="Where do we meet?")
    await poll.get_by_role("button", name="At the river 0 (0 %)").click()
    await expect(own.get_by_role("button", name="At the river 1 (100 %)")).to_be_visible()
    await expect(poll.get_by_role("button", name="End the poll")).to_have_count(0)
    await own.get_by_role("button", name="End the poll").click()
    await ada.page.get_by_role("dialog", name="End the poll").get_by_role("button", name="End the poll").click()
    await expect(poll).to_contain_text("The poll has ended.")
    await expect(poll.get_by_role("button", name="At the river")).to_be_disabled()
    result = ben.message("The poll Where do we meet? has ended.")
    await expect(result).to_contain_text("At the river")
    await expect(result).to_contain_text("100 % of the votes")
    await result.get_by_role("button", name="Show the poll").click()
    await expect(ben.page.locator(".timeline-row-target")).to_contain_text("Where do we meet?")
    assert (ada.errors, ben.errors) == ([], [])


async def test_polls_have_no_accessibility_violation(browser: Browser, server: Server) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    (ada,) = await open_new_guild(browser, server.url, "ada_poll2")
    await ada.page.get_by_role("button", name="Add", exact=True).click()
    await ada.page.get_by_role("menuitem", name="Create a poll").click()
    form = ada.page.get_by_role("dialog", name="Create a poll")
    await form.get_by_label("Question").fill("Tea?")
    await form.get_by_label("Answer 1", exact=True).fill("Yes")
    await form.get_by_label("Answer 2", exact=True).fill("No")
    assert await ada.violations() == []
    await form.get_by_role("button", name="Send the poll").click()
    poll = ada.page.get_by_role("group", name="Tea?")
    await poll.get_by_role("button", name="Yes").click()
    await poll.get_by_role("button", name="1 vote", exact=True).click()
    await expect(ada.page.get_by_role("tabpanel")).to_contain_text("ada_poll2")
    assert await ada.violations() == []
