"""Logging in with a second factor on the pages: nothing is reached with the password alone."""

from collections.abc import AsyncIterator

import pytest

from moothall.objects.clock import CLOCK
from tests.pages.browser import ORIGIN, Browser
from tests.resources.user.mfa.totp import PASSWORD, careful
from tests.support.harness import Platform
from tests.support.mail_server import MailServer, config_of, deliver_all, mail_server, send_mail_by, token_of

ADDRESS = "alice@example.org"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait for the next code."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port, public_url=ORIGIN))
        yield running


async def test_the_password_alone_opens_no_page(platform: Platform) -> None:
    alice = await careful(platform)
    browser = Browser(platform)
    page = await browser.follow(await browser.visit("/developers"))
    code_form = await browser.press(page, "Log in", login="alice", password=PASSWORD)
    assert (code_form.status, code_form.cookies) == (200, [])
    assert (await browser.visit("/developers")).status == 303
    wrong = await browser.press(code_form, "Log in", code="000000")
    assert (wrong.status, wrong.cookies) == (400, [])
    shown = await browser.press(wrong, "Log in", code=alice.phone.next_code())
    assert (shown.status, shown.location) == (303, "/developers")
    assert "alice" in (await browser.follow(shown)).text


async def test_a_login_that_took_too_long_begins_again(platform: Platform) -> None:
    alice = await careful(platform)
    browser = Browser(platform)
    code_form = await browser.press(await browser.visit("/login"), "Log in", login="alice", password=PASSWORD)
    CLOCK.advance(601)
    again = await browser.press(code_form, "Log in", code=alice.phone.code())
    assert again.status == 400
    assert "password" in {control.name for control in again.form_with("Log in").controls}
    assert (await browser.visit("/login/code")).location.startswith("/login")


async def test_a_new_password_by_mail_takes_a_code_as_well(platform: Platform, server: MailServer) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    await platform.anonymous.post("/auth/forgot", {"login": "alice"})
    await deliver_all(platform)
    browser = Browser(platform)
    form = await browser.visit(f"/reset?token={token_of(server.mails[-1])}")
    refused = await browser.press(form, "Change the password", password="quite another staple", code="")
    assert (refused.status, refused.cookies) == (400, [])
    code = alice.backup_codes[0]
    done = await browser.press(refused, "Change the password", password="quite another staple", code=code)
    assert done.status == 200
    assert any(cookie.startswith("moothall_session=") for cookie in done.cookies)
