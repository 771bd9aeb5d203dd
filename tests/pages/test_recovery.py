"""The pages of forgotten passwords and of addresses to confirm, in a browser without scripts."""

from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import pytest
from msgspec import structs

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.resources.user.registration_token.operations import create_invitation
from tests.pages.browser import ORIGIN, PASSWORD, Browser, Page, registered
from tests.resources.user.mfa.totp import PASSWORD as TOTP_PASSWORD
from tests.resources.user.mfa.totp import careful
from tests.support.harness import Platform
from tests.support.mail_server import MailServer, config_of, deliver_all, link_of, mail_server, send_mail_by, text_of

ADDRESS = "wanda@example.org"
NEW_PASSWORD = "quite another staple"


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port, public_url=ORIGIN))
        yield running


async def open_link(browser: Browser, server: MailServer) -> Page:
    """Open the link of the last mail."""
    parts = urlsplit(link_of(server.mails[-1]))
    return await browser.visit(f"{parts.path}?{parts.query}")


async def confirmed(platform: Platform, server: MailServer) -> Browser:
    """A browser that is not logged in, whose user has confirmed an address."""
    body = {"username": "wanda", "password": PASSWORD, "email": ADDRESS}
    assert (await platform.anonymous.post("/auth/register", body)).status == 201
    await deliver_all(platform)
    browser = Browser(platform)
    page = await browser.press(await open_link(browser, server), "Confirm the address")
    assert page.status == 200
    assert f"{ADDRESS} is confirmed for the account wanda" in page.text
    return browser


async def test_a_forgotten_password_is_replaced_from_the_login_page_on(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    login = await browser.visit("/login")
    assert ("a", {"href": "/forgot"}) in login.tags
    page = await browser.press(await browser.visit("/forgot"), "Send the link", login="wanda")
    await deliver_all(platform)
    assert "a link is on its way" in page.text
    form = await open_link(browser, server)
    weak = await browser.press(form, "Change the password", password="password")
    assert weak.status == 400
    assert ("aria-invalid", "true") in {item for tag, attrs in weak.tags if tag == "input" for item in attrs.items()}
    done = await browser.press(weak, "Change the password", password=NEW_PASSWORD)
    assert done.status == 200
    assert "all other logins have ended" in done.text
    assert (await browser.visit("/developers")).status == 200
    again = await open_link(browser, server)
    assert "not valid any more" in again.text
    shown = await Browser(platform).press(await Browser(platform).visit("/login"), "Log in", login="x", password="y")
    assert shown.status == 403


async def test_the_page_is_the_same_for_an_unknown_account(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    count = len(server.mails)
    pages = [
        await browser.press(await browser.visit("/forgot"), "Send the link", login=login)
        for login in ("wanda", "nobody", ADDRESS, "nobody@example.org")
    ]
    await deliver_all(platform)
    assert len({(page.status, page.body) for page in pages}) == 1
    assert len(server.mails) == count + 2


async def test_opening_the_link_confirms_nothing(platform: Platform, server: MailServer) -> None:
    """Programs that check links for their readers open them, and send no forms."""
    body = {"username": "wanda", "password": PASSWORD, "email": ADDRESS}
    reply = await platform.anonymous.post("/auth/register", body)
    await deliver_all(platform)
    browser = Browser(platform)
    for _ in range(3):
        assert "belong to the account wanda" in (await open_link(browser, server)).text
    me = await platform.anonymous.get("/users/@me", headers=[("authorization", reply.json["token"])])
    assert me.json["verified"] is False


async def test_another_site_can_use_no_link(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    await browser.press(await browser.visit("/forgot"), "Send the link", login="wanda")
    await deliver_all(platform)
    form = (await open_link(browser, server)).form_with("Change the password")
    values = [(name, NEW_PASSWORD if name == "password" else value) for name, value in form.values()]
    assert (await browser.post("/reset", values, origin="https://evil.example")).status == 403
    without = [(name, value) for name, value in values if name != "csrf"]
    assert (await browser.post("/reset", without)).status == 403
    assert (await browser.post("/reset", values)).status == 200


async def test_links_that_are_none_are_answered_alike(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    used = urlsplit(link_of(server.mails[-1])).query.partition("=")[2]
    for path in ("/reset", "/verify"):
        texts = {
            (await browser.visit(f"{path}?token={token}")).text
            for token in ("", "x", "x" * 5_000, used, "%00", "%F0%9F%98%80", "%ED%A0%80")
        }
        assert len(texts) == 1
        assert "not valid any more" in texts.pop()


async def test_the_address_of_a_page_with_a_link_is_not_passed_on(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    page = await browser.visit("/reset?token=secret")
    assert page.headers["referrer-policy"] == "same-origin"
    assert page.headers["cache-control"] == "no-store"


async def test_an_invitation_opens_the_form_of_a_new_account(platform: Platform) -> None:
    platform.services.limits = structs.replace(platform.services.limits, registration="token")
    browser = Browser(platform)
    page = await browser.visit("/register")
    assert "You need an invitation" in page.text
    assert page.forms == []

    async def invite(ctx: Context) -> str:
        return (await create_invitation(ctx, uses=1, days=1, note=None, address=None, locale="en-US")).link

    link = urlsplit(await unit_of_work.run(platform.services, ANONYMOUS, invite, fires=()))
    page = await browser.visit(f"{link.path}?{link.query}")
    refused = await browser.press(page, "Make the account", username="wanda", password="password")
    assert refused.status == 400
    other = Browser(platform)
    late = await other.visit(f"{link.path}?{link.query}")
    assert (await browser.press(refused, "Make the account", username="wanda", password=PASSWORD)).status == 303
    refused = await other.press(late, "Make the account", username="willy", password=PASSWORD)
    assert "This invitation has been used" in refused.text


async def test_the_page_of_a_new_account_says_what_it_waits_for(platform: Platform) -> None:
    platform.services.limits = structs.replace(platform.services.limits, registration="approval")
    browser = Browser(platform)
    form = await browser.visit("/register")
    made = await browser.press(form, "Make the account", username="wanda", password=PASSWORD)
    assert "waits for the approval" in made.text
    assert not any("session" in cookie for cookie in made.cookies)
    refused = await browser.press(await browser.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert "waits for the approval" in refused.text


async def test_without_mail_the_page_says_whom_to_ask(platform: Platform) -> None:
    browser = await registered(platform)
    page = await browser.visit("/forgot")
    assert "Ask its operator for a link" in page.text
    assert page.forms == []


async def test_the_pages_are_german_for_who_reads_german(platform: Platform, server: MailServer) -> None:
    browser = await confirmed(platform, server)
    german = (("accept-language", "de"),)
    assert "Passwort vergessen?" in (await browser.ask("GET", "/forgot", headers=german)).text
    assert "Neuen Link anfordern" in (await browser.ask("GET", "/reset?token=x", headers=german)).text
    assert "Bestätige deine E-Mail-Adresse" in (await browser.ask("GET", "/verify?token=x", headers=german)).text


async def test_who_has_lost_the_second_factors_asks_on_the_page_and_the_owner_keeps_them_by_the_link(
    platform: Platform, server: MailServer
) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    browser = Browser(platform)
    verification = next(mail for mail in server.to(ADDRESS) if "/verify" in text_of(mail))
    parts = urlsplit(link_of(verification))
    await browser.press(await browser.visit(f"{parts.path}?{parts.query}"), "Confirm the address")
    login = await browser.visit("/login")
    code = await browser.press(login, "Log in", login="alice", password=TOTP_PASSWORD)
    requested = await browser.press(code, "I have lost my second factors and backup codes")
    assert "Your second factors are removed at" in requested.text
    await deliver_all(platform)
    page = await open_link(browser, server)
    # Programs that only open links keep nothing.
    assert (await alice.caller.get("/users/@me/mfa/recovery")).json["recovery_at"] is not None
    kept = await browser.press(page, "Keep my second factors")
    assert "The second factors of alice stay." in kept.text
    assert (await alice.caller.get("/users/@me/mfa/recovery")).json == {"recovery_at": None}
    assert "not valid any more" in (await open_link_of(browser, server, "/recovery")).text


async def open_link_of(browser: Browser, server: MailServer, path: str) -> Page:
    """Open the link of the last mail that has one with a path."""
    mail = next(mail for mail in reversed(server.mails) if path in text_of(mail))
    parts = urlsplit(link_of(mail))
    return await browser.visit(f"{parts.path}?{parts.query}")
