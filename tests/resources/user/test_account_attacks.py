"""Attacks on accounts: what tells which accounts exist, sets what is not the user's to set, or goes around a factor."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from moothall.resources.user.queries import select_user
from tests.oauth2.flow import CALLBACK, answer_of, application, bearer, consent
from tests.pages.browser import Browser
from tests.resources.user.mfa.totp import PASSWORD, careful, enable, password_login, register
from tests.support.harness import Platform, Reply
from tests.support.mail_server import MailServer, config_of, deliver_all, mail_server, send_mail_by, token_of

ADDRESS = "alice@example.org"
NEW_PASSWORD = "quite another staple"


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port))
        yield running


def token_in(reply: Reply) -> object:
    return reply.json.get("token") if isinstance(reply.json, dict) else None


@pytest.fixture
def hashed(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The passwords that were hashed or compared, which is what takes time."""
    counted: list[str] = []
    verify = platform.services.passwords.verify

    async def count(*args: Any, **options: Any) -> Any:
        counted.append("compared")
        return await verify(*args, **options)

    monkeypatch.setattr(platform.services.passwords, "verify", count)
    return counted


async def test_an_unknown_name_costs_and_says_what_a_wrong_password_does(platform: Platform, hashed: list[str]) -> None:
    await register(platform, email=ADDRESS)
    replies, costs = [], []
    for login in ("alice", "nobody", ADDRESS, "nobody@example.org"):
        hashed.clear()
        replies.append(await password_login(platform, login, "wrong horse battery"))
        costs.append(len(hashed))
    assert costs == [1, 1, 1, 1]
    assert len({(reply.status, reply.body) for reply in replies}) == 1


async def test_a_second_factor_shows_only_after_the_password(platform: Platform) -> None:
    await careful(platform)
    await register(platform, "bob")
    replies = [await password_login(platform, name, "wrong horse battery") for name in ("alice", "bob", "nobody")]
    assert len({(reply.status, reply.body) for reply in replies}) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "1", "bot": True, "system": True, "flags": 1, "public_flags": 1},
        {"verified": True, "mfa_enabled": True, "suspended": False, "pending": 0},
        {"permissions": ["operators"], "operator": True, "premium_type": 2, "password_hash": "x"},
    ],
)
async def test_a_request_sets_nothing_of_an_account_but_what_it_may(platform: Platform, fields: dict[str, Any]) -> None:
    alice = await register(platform, email=ADDRESS, **fields)
    me = (await alice.get("/users/@me")).json
    changed = await alice.patch("/users/@me", {"global_name": "Al", **fields})
    assert changed.status in {200, 400}
    after = (await alice.get("/users/@me")).json
    ignored = {"global_name"}
    assert {name: value for name, value in after.items() if name not in ignored} == {
        name: value for name, value in me.items() if name not in ignored
    }
    assert (me["verified"], me["mfa_enabled"], me.get("bot", False)) == (False, False, False)
    assert (await alice.get("/admin/v1/operators/@me")).status == 403
    async with platform.database.read() as reader:
        row = await select_user(reader, alice.id)
    assert row is not None
    assert (row.suspended, row.mfa_enabled, row.verified) == (False, False, False)


async def test_a_login_replaces_the_session_that_a_browser_had(platform: Platform) -> None:
    """A session that an attacker has planted in a browser never becomes that of its user."""
    await register(platform, "mallory")
    await register(platform)
    browser = Browser(platform)
    page = await browser.visit("/login")
    assert (await browser.press(page, "Log in", login="mallory", password=PASSWORD)).status == 303
    planted = dict(browser.jar)
    page = await browser.visit("/login")
    assert (await browser.press(page, "Log in", login="alice", password=PASSWORD)).status == 303
    assert browser.jar != planted
    # What the attacker knows opens nothing of the user, and has ended.
    other = Browser(platform)
    other.jar.update(planted)
    assert (await other.visit("/settings/sessions")).status == 303


async def ways_in(platform: Platform, server: MailServer) -> list[Reply]:
    """Everything that logs in but a second factor, with password and mailbox in the hands of a stranger."""
    anonymous = platform.anonymous
    login = await password_login(platform)
    undelete = await anonymous.post("/auth/login", {"login": "alice", "password": PASSWORD, "undelete": True})
    await anonymous.post("/auth/forgot", {"login": "alice"})
    await deliver_all(platform)
    link = {"token": token_of(server.to(ADDRESS)[-1]), "password": NEW_PASSWORD}
    reset = await anonymous.post("/auth/reset", link)
    tickets = [login.json["ticket"], undelete.json["ticket"], reset.json["ticket"]]
    crossed = [
        await anonymous.post("/auth/reset", link | {"ticket": tickets[0], "code": "000000"}),
        *[await anonymous.post("/auth/mfa/totp", {"ticket": ticket, "code": "000000"}) for ticket in tickets],
        *[await anonymous.post("/auth/mfa/password", {"ticket": ticket, "code": PASSWORD}) for ticket in tickets],
        await anonymous.post("/auth/conditional/finish", {"ticket": tickets[0], "credential": "{}"}),
        await anonymous.post("/auth/verify", {"token": link["token"]}),
        await anonymous.post("/auth/recovery", {"ticket": tickets[0]}),
    ]
    return [login, undelete, reset, *crossed]


async def test_no_way_in_goes_around_the_second_factor(platform: Platform, server: MailServer) -> None:
    await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    verification = next(mail for mail in server.to(ADDRESS) if "/verify" in str(mail))
    verified = await platform.anonymous.post("/auth/verify", {"token": token_of(verification)})
    assert (verified.status, token_in(verified)) == (200, None)
    for reply in await ways_in(platform, server):
        assert token_in(reply) is None, reply
    browser = Browser(platform)
    shown = await browser.press(await browser.visit("/login"), "Log in", login="alice", password=PASSWORD)
    assert shown.status == 200
    assert (await browser.visit("/settings/sessions")).status == 303


async def test_what_was_given_before_the_factor_gives_no_login_after_it(platform: Platform) -> None:
    before = await register(platform)
    app = await application(platform, await platform.person("dora"), redirect_uris=[CALLBACK])
    code = answer_of(await consent(before, app, "identify email"))["code"]
    issued = (await app.exchange(code)).json
    assert (await enable(before))[0].status == 200
    assert (await before.get("/users/@me")).status == 401
    # A refreshed token of an application stays one of the application.
    refreshed = await app.token(grant_type="refresh_token", refresh_token=issued["refresh_token"])
    assert refreshed.status == 200
    program = bearer(platform, before, refreshed.json["access_token"])
    for method, path in (
        ("GET", "/auth/sessions"),
        ("GET", "/users/@me/mfa"),
        ("DELETE", "/users/@me/mfa/recovery"),
        ("POST", "/users/@me/harvest"),
        ("GET", "/admin/v1/operators/@me"),
    ):
        assert (await program.request(method, path)).status in {401, 403}, path
