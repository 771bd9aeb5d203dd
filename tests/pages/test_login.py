"""Logging in, out and registering with a browser."""

from typing import Any

import msgspec
import pytest

from moothall.objects.ids import Snowflake
from tests.pages.browser import ORIGIN, PASSWORD, Browser, registered
from tests.support.harness import Caller, Platform


async def test_logging_in_redirects_to_the_requested_page(platform: Platform) -> None:
    person = await registered(platform)
    page = await person.visit("/settings/authorized-apps")
    assert (page.status, page.location) == (303, "/login?next=/settings/authorized-apps")
    page = await person.follow(page)
    shown = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    assert (shown.status, shown.location) == (303, "/settings/authorized-apps")
    assert "wanda" in (await person.follow(shown)).text


async def test_the_cookie_is_limited_to_the_pages_and_hidden_from_scripts(platform: Platform) -> None:
    person = await registered(platform)
    shown = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    session = [cookie for cookie in shown.cookies if cookie.startswith("moothall_session=")]
    paths = {part for cookie in session for part in cookie.split("; ") if part.startswith("Path=")}
    public = ("login", "logout", "oauth2", "activate", "invite", "template", "linked-roles")
    assert paths == {f"Path=/{name}" for name in (*public, "settings", "developers")}
    for cookie in session:
        assert {"HttpOnly", "SameSite=Lax"} <= set(cookie.split("; "))
        assert "Secure" not in cookie


def over_https(platform: Platform) -> None:
    platform.services.limits = msgspec.structs.replace(platform.services.limits, public_url="https://moot.example")


async def test_behind_https_no_cookie_goes_in_the_clear_or_can_be_set_by_another_server(platform: Platform) -> None:
    over_https(platform)
    person = await registered(platform)
    page = await person.visit("/login")
    shown = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    assert shown.status == 303
    await person.press(await person.visit("/developers"), "Log out")
    cookies = [*page.cookies, *shown.cookies]
    names = {cookie.partition("=")[0] for cookie in cookies}
    assert names == {"__Host-moothall_form", "__Host-moothall_session", "__Host-moothall_device"}
    for cookie in cookies:
        assert {"Secure", "HttpOnly", "Path=/"} <= set(cookie.split("; "))
        assert "Domain=" not in cookie
    assert set(person.jar) == {("/", "__Host-moothall_form"), ("/", "__Host-moothall_device")}


async def test_over_https_a_cookie_that_another_server_may_have_set_is_no_session(platform: Platform) -> None:
    over_https(platform)
    person = await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    token = person.jar.pop(("/", "__Host-moothall_session"))
    person.jar["/", "moothall_session"] = token
    assert (await person.visit("/developers")).status == 303
    person.jar["/", "__Host-moothall_session"] = token
    assert (await person.visit("/developers")).status == 200


@pytest.mark.parametrize("space", [b"\xe2\x80\x80", b"\xe3\x80\x80", b"\xc2\x85", b"\xc2\xa0", b"\x85", b"\xa0"])
async def test_a_cookie_whose_name_only_seems_to_begin_with_the_prefix_is_no_session(
    platform: Platform, space: bytes
) -> None:
    # Browsers let other servers of the domain set it: to them, the name does not begin with `__Host-`.
    over_https(platform)
    person = await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    token = person.jar.pop(("/", "__Host-moothall_session"))
    person.jar.clear()
    cookie = space + f"__Host-moothall_session={token}".encode()
    assert (await person.ask("GET", "/developers", raw_headers=((b"cookie", cookie),))).status == 303
    # One of another server, with letters of any kind, takes nothing from ours.
    cookie = f"a={'é'}; __Host-moothall_session={token}".encode()
    assert (await person.ask("GET", "/developers", raw_headers=((b"cookie", cookie),))).status == 200


async def test_a_wrong_password_is_an_error_at_the_fields_and_not_repeated(platform: Platform) -> None:
    person = await registered(platform)
    page = await person.press(await person.visit("/login"), "Log in", login="wanda", password="wrong horse battery")
    assert page.status == 400
    assert "Login or password is invalid." in page.text
    assert "wrong horse battery" not in page.body
    assert ("aria-invalid", "true") in {item for tag, attrs in page.tags if tag == "input" for item in attrs.items()}


WRONG: dict[str, Any] = {"login": "wanda", "password": "wrong horse battery"}


async def test_guessing_is_throttled_with_the_apis_own_count(platform: Platform) -> None:
    person = await registered(platform)
    for _ in range(10):
        assert (await platform.anonymous.post("/auth/login", WRONG, client="203.0.113.9")).status == 400
    person.address = "198.51.100.7"
    page = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert page.status == 429
    assert int(page.headers["retry-after"]) > 0


async def test_wrong_passwords_from_elsewhere_do_not_lock_out_a_known_browser(platform: Platform) -> None:
    person = await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    await person.press(await person.visit("/developers"), "Log out")
    person.address = "203.0.113.9"
    # From the same network, so that nothing but the cookie tells them apart.
    for number in range(50):
        await platform.anonymous.post("/auth/login", WRONG | {"login": f"no{number % 5}"}, client="203.0.113.9")
        await platform.anonymous.post("/auth/login", WRONG, client=f"198.51.100.{number}")
    assert (await platform.anonymous.post("/auth/login", WRONG, client="203.0.113.9")).status == 429
    shown = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert shown.status == 303


async def test_a_known_browser_has_a_count_of_its_own_and_no_more(platform: Platform) -> None:
    person = await registered(platform)
    page = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    await person.press(await person.visit("/developers"), "Log out")
    page = await person.visit("/login")
    assert [(await person.press(page, "Log in", **WRONG)).status for _ in range(11)] == [400] * 10 + [429]
    other = Browser(platform)
    other.address = "198.51.100.7"
    shown = await other.press(await other.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert shown.status == 303


async def test_a_browser_is_known_to_its_own_account_only(platform: Platform) -> None:
    await registered(platform)
    mallory = await registered(platform, "mallory")
    page = await mallory.press(await mallory.visit("/login"), "Log in", login="mallory", password=PASSWORD)
    await mallory.press(await mallory.visit("/developers"), "Log out")
    mallory.address = "203.0.113.9"
    page = await mallory.visit("/login")
    assert [(await mallory.press(page, "Log in", **WRONG)).status for _ in range(10)] == [400] * 10
    for forged in ("", "x", "AAAA", mallory.jar["/login", "moothall_device"][:-4] + "AAAA"):
        mallory.jar["/login", "moothall_device"] = forged
        assert (await mallory.press(page, "Log in", **WRONG)).status == 429


@pytest.mark.parametrize(
    "target",
    [
        "//evil.example",
        "https://evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "javascript:alert(1)",
        "/\t/evil.example",
        "evil",
        "/\n/evil.example",
        " //evil.example",
        "///evil.example",
        "/\\/evil.example",
        "http:evil.example",
        "/\x7f/evil.example",
        "\u2044\u2044evil.example",
        "\uff0f\uff0fevil.example",
        "\uff3c\uff3cevil.example",
    ],
)
async def test_logging_in_leads_to_no_other_site(platform: Platform, target: str) -> None:
    person = await registered(platform)
    page = await person.visit("/login", next=target)
    shown = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    assert (shown.status, shown.location) == (303, "/app/")
    shown = await person.post("/logout", [("csrf", "x"), ("next", target)])
    assert "location" not in shown.headers


async def test_the_pages_and_the_client_are_one_login_at_the_request_of_the_clients_script(platform: Platform) -> None:
    own, foreign = ((b"origin", ORIGIN.encode()),), ((b"origin", b"https://evil.example"),)
    person = Browser(platform)
    page = await person.visit("/register")
    shown = await person.press(page, "Make the account", username="wanda", password=PASSWORD)
    assert (shown.status, shown.location) == (303, "/app/")
    # From the pages to the client: what it is given is a login that the API knows.
    answer = await person.ask("POST", "/login/session", raw_headers=own)
    login = msgspec.json.decode(answer.body)
    wanda = Caller(platform, Snowflake(int(login["user_id"])), login["token"])
    assert (await wanda.get("/users/@me")).json["username"] == "wanda"
    # Neither other sites, nor sandboxed frames, nor what is no script are given anything.
    for headers in (foreign, ((b"origin", b"null"),), ()):
        refused = await person.ask("POST", "/login/session", raw_headers=headers)
        assert (refused.status, login["token"] in refused.body) == (403, False)
    # From the client to the pages.
    browser = Browser(platform)
    assert (await browser.ask("POST", "/login/session", raw_headers=own)).status == 204
    wrong = (b"authorization", login["token"].encode() + b"x")
    assert (await browser.ask("POST", "/login/session", raw_headers=(*own, wrong))).status == 401
    assert (await browser.visit("/developers")).status == 303
    right = (b"authorization", login["token"].encode())
    assert (await browser.ask("POST", "/login/session", raw_headers=(*foreign, right))).status == 403
    assert (await browser.ask("POST", "/login/session", raw_headers=(*own, right))).status == 204
    assert (await browser.visit("/developers")).status == 200
    # It is one session: the end of it is the end for all.
    assert (await wanda.post("/auth/logout", {})).status == 204
    assert (await browser.visit("/developers")).status == 303
    assert (await person.visit("/developers")).status == 303


async def test_logging_out_deletes_the_cookie_and_the_session(platform: Platform) -> None:
    person = await registered(platform)
    shown = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    jar = dict(person.jar)
    assert any(name == "moothall_session" for _, name in jar)
    page = await person.visit("/developers")
    shown = await person.press(page, "Log out")
    assert (shown.status, shown.location) == (303, "/login")
    assert not any(name == "moothall_session" for _, name in person.jar)
    person.jar = jar
    assert (await person.visit("/developers")).status == 303
    del shown


async def test_an_account_can_be_registered_unless_registration_is_closed(platform: Platform) -> None:
    stranger = Browser(platform)
    page = await stranger.visit("/register", next="/settings/authorized-apps")
    refused = await stranger.press(page, "Make the account", username="No Good", password="short")
    assert refused.status == 400
    assert "password-error" in {attrs.get("id") for _, attrs in refused.tags}
    refused = await stranger.press(refused, "Make the account", username="No Good", password=PASSWORD)
    assert "username-error" in {attrs.get("id") for _, attrs in refused.tags}
    shown = await stranger.press(refused, "Make the account", username="newcomer", password=PASSWORD)
    assert (shown.status, shown.location) == (303, "/settings/authorized-apps")
    assert "newcomer" in (await stranger.follow(shown)).text


async def test_a_weak_password_is_refused_on_the_page_too(platform: Platform) -> None:
    stranger = Browser(platform)
    page = await stranger.visit("/register")
    refused = await stranger.press(page, "Make the account", username="newcomer", password="password123")
    assert refused.status == 400
    assert "too weak or common" in refused.text
    assert "password-error" in {attrs.get("id") for _, attrs in refused.tags}


async def test_a_bots_token_is_no_session(platform: Platform) -> None:
    bot = await platform.bot(await platform.person())
    person = Browser(platform, bot)
    assert (await person.visit("/developers")).status == 303


@pytest.mark.parametrize("path", ["/login", "/register"])
async def test_a_form_that_another_site_sends_is_refused(platform: Platform, path: str) -> None:
    person = await registered(platform)
    page = await person.visit(path)
    form = [pair for pair in page.forms[-1].values() if pair[0] == "csrf"]
    filled = [("login", "wanda"), ("username", "other"), ("password", PASSWORD)]
    assert (await person.post(path, filled)).status == 403
    assert (await person.post(path, [*filled, ("csrf", "A" * 80)])).status == 403
    assert (await person.post(path, [*filled, *form], origin="https://evil.example")).status == 403
    assert (await person.post(path, [*filled, *form], origin="null")).status == 403
    stranger = Browser(platform)
    assert (await stranger.post(path, [*filled, *form])).status == 403


@pytest.mark.parametrize("path", ["/login", "/register", "/oauth2/nothing", "/invite/x", "/oauth2/authorized"])
async def test_no_page_can_be_framed_or_cached(platform: Platform, path: str) -> None:
    page = await Browser(platform).visit(path)
    assert page.headers["cache-control"] == "no-store"
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["referrer-policy"] == "same-origin"
    assert [tag for tag, _ in page.tags if tag == "script"] == []
    assert ("html", {"lang": "en"}) in page.tags
    assert [tag for tag, _ in page.tags].count("h1") == 1


async def test_a_closed_account_is_restored_by_a_tick_in_the_form(platform: Platform) -> None:
    person = await registered(platform)
    token = (await platform.anonymous.post("/auth/login", {"login": "wanda", "password": PASSWORD})).json["token"]
    wanda = Caller(platform, Snowflake(0), token)
    assert (await wanda.post("/users/@me/delete", {"password": PASSWORD})).status == 204
    page = await person.visit("/login")
    assert "Restore my account" not in page.text
    page = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    assert "scheduled for deletion" in page.text
    assert "Restore my account" in page.text
    page = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    assert "Restore my account" in page.text, "not without the tick"
    page = await person.press(page, "Log in", login="wanda", password=PASSWORD, undelete="on")
    assert (page.status, page.location) == (303, "/app/")
