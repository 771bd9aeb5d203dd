"""Who may register an account, by the operator's settings."""

import asyncio
import ipaddress
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import structs

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.user.account import policy
from moothall.resources.user.account.operations import approve_account, get_user_by_username
from moothall.resources.user.queries import ConsentRow, select_consent, select_user
from moothall.resources.user.registration_token.operations import create_invitation, revoke_invitation
from tests.pages.browser import Browser
from tests.support.harness import Platform, Reply
from tests.support.mail_server import MailServer, config_of, deliver_all, mail_server, send_mail_by, token_of

PASSWORD = "correct horse battery"
DAY_MS = 86_400_000


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port))
        yield running


def limit(platform: Platform, **limits: object) -> None:
    platform.services.limits = structs.replace(platform.services.limits, **limits)


async def register(platform: Platform, name: str = "alice", client: str = "127.0.0.1", **fields: object) -> Reply:
    body = {"username": name, "password": PASSWORD, **fields}
    return await platform.anonymous.post("/auth/register", body, client=client)


async def log_in(platform: Platform, name: str = "alice") -> Reply:
    return await platform.anonymous.post("/auth/login", {"login": name, "password": PASSWORD})


async def invite(platform: Platform, *, uses: int = 1, days: int = 7) -> tuple[Snowflake, str]:
    async def work(ctx: Context) -> tuple[Snowflake, str]:
        made = await create_invitation(ctx, uses=uses, days=days, note=None, address=None, locale="en-US")
        return made.id, made.token

    return await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())


# Invitations


async def test_an_invitation_registers_as_many_accounts_as_it_says(platform: Platform) -> None:
    limit(platform, registration="token")
    assert (await register(platform)).errors_at("registration_token") == ["BASE_TYPE_REQUIRED"]
    assert (await register(platform, registration_token="guessed")).errors_at("registration_token") == ["INVALID_TOKEN"]
    _, token = await invite(platform, uses=2)
    replies = await asyncio.gather(
        *(register(platform, f"user{number}", registration_token=token) for number in range(4))
    )
    assert sorted(reply.status for reply in replies) == [201, 201, 400, 400]


async def test_a_registration_that_fails_uses_no_invitation_up(platform: Platform) -> None:
    limit(platform, registration="token")
    await platform.person("alice")
    _, token = await invite(platform)
    reply = await register(platform, registration_token=token)
    assert reply.errors_at("username") == ["USERNAME_ALREADY_TAKEN"]
    assert (await register(platform, "bob", registration_token=token)).status == 201


async def test_an_invitation_ends_with_its_days_and_when_it_is_revoked(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit(platform, registration="token")
    (token_id, revoked), (_, old) = await invite(platform), await invite(platform, days=1)

    async def revoke(ctx: Context) -> None:
        await revoke_invitation(ctx, token_id)

    await unit_of_work.run(platform.services, ANONYMOUS, revoke, fires=())
    reply = await register(platform, registration_token=revoked)
    assert reply.errors_at("registration_token") == ["INVALID_TOKEN"]
    later = Timestamp(Timestamp.now() + 2 * DAY_MS)
    monkeypatch.setattr(Timestamp, "now", classmethod(lambda _cls: later))
    assert (await register(platform, registration_token=old)).errors_at("registration_token") == ["INVALID_TOKEN"]


# Domains


async def test_an_address_of_the_domain_must_be_confirmed_before_the_first_login(
    platform: Platform, server: MailServer
) -> None:
    limit(platform, registration="domain", registration_domains=("company.example",))
    assert (await register(platform)).errors_at("email") == ["BASE_TYPE_REQUIRED"]
    for outside in ("a@example.org", "a@company.example.org", "a@sub.company.example", "a@evilcompany.example"):
        assert (await register(platform, email=outside)).errors_at("email") == ["EMAIL_DOMAIN_NOT_ALLOWED"]
    reply = await register(platform, email="Alice@COMPANY.example")
    assert (reply.status, reply.json["required_actions"]) == (201, ["verify_email"])
    assert "token" not in reply.json
    assert (await log_in(platform)).code == 40002
    await deliver_all(platform)
    verified = await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    assert verified.status == 200
    headers = [("authorization", verified.json["token"])]
    assert (await log_in(platform)).status == 200
    body = {"password": PASSWORD, "email": "alice@example.org"}
    moved = await platform.anonymous.patch("/users/@me", body, headers=headers)
    assert moved.errors_at("email") == ["EMAIL_DOMAIN_NOT_ALLOWED"]


async def test_an_account_that_is_not_confirmed_in_a_week_makes_room_for_its_name(
    platform: Platform, server: MailServer
) -> None:
    limit(platform, registration="domain", registration_domains=("company.example",))
    squatter = await register(platform, email="alice@company.example")
    confirmed = await register(platform, "bob", email="bob@company.example")
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.to("bob@company.example")[-1])})
    await platform.run_jobs_at(Timestamp(Timestamp.now() + 8 * DAY_MS))
    async with platform.database.read() as reader:
        rows = [
            await select_user(reader, UserId(Snowflake(int(each.json["user_id"])))) for each in (squatter, confirmed)
        ]
    assert [row is not None and row.deleted for row in rows] == [True, False]


async def test_registering_with_a_colleagues_address_answers_alike(platform: Platform, server: MailServer) -> None:
    limit(platform, registration="domain", registration_domains=("company.example",))
    await register(platform, email="alice@company.example")
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    taken = await register(platform, "mallory", email="alice@company.example")
    free = await register(platform, "bob", email="bob@company.example")
    assert taken.status == free.status == 201
    assert taken.json.keys() == free.json.keys()
    await deliver_all(platform)
    assert server.to("alice@company.example")[-1]["Subject"] == "Your email address was entered for another account"
    assert (await log_in(platform, "mallory")).code == 40002


# Approval


async def test_an_account_logs_in_once_the_operator_has_approved_it(platform: Platform, server: MailServer) -> None:
    limit(platform, registration="approval")
    reply = await register(platform, email="alice@example.org")
    assert reply.json["required_actions"] == ["await_approval"]
    assert (await log_in(platform)).code == 40002
    await deliver_all(platform)
    verified = await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    assert verified.json == {"user_id": reply.json["user_id"], "required_actions": ["await_approval"]}

    async def approve(ctx: Context) -> None:
        await approve_account(ctx, await get_user_by_username(ctx, "alice"))

    for _ in range(2):
        await unit_of_work.run(platform.services, ANONYMOUS, approve, fires=())
    await deliver_all(platform)
    assert (await log_in(platform)).status == 200
    assert [mail["Subject"] for mail in server.mails[1:]] == ["Your account is ready"]


async def test_a_wrong_password_says_nothing_of_what_an_account_waits_for(platform: Platform) -> None:
    limit(platform, registration="approval")
    await register(platform)
    wrong = await platform.anonymous.post("/auth/login", {"login": "alice", "password": "wrong password"})
    assert wrong.errors_at("login") == ["INVALID_LOGIN"]


# Blocklists


async def test_blocked_words_domains_and_networks_are_refused(platform: Platform) -> None:
    networks = tuple(ipaddress.ip_network(each) for each in ("203.0.113.0/24", "2001:db8:1::/48", "198.51.100.7/32"))
    limit(
        platform,
        blocked_usernames=("Admin",),
        blocked_address_domains=("trash.example",),
        blocked_networks=networks,
    )
    assert (await register(platform, "the_admin")).errors_at("username") == ["USERNAME_INVALID_CONTAINS"]
    for blocked in ("a@trash.example", "a@deep.sub.trash.example", "a@TRASH.example"):
        assert (await register(platform, email=blocked)).errors_at("email") == ["EMAIL_DOMAIN_BLOCKED"]
    assert (await register(platform, "okay", email="a@nottrash.example")).status == 201
    for client in ("203.0.113.9", "198.51.100.7", "2001:db8:1:2::3", "::ffff:203.0.113.9"):
        assert (await register(platform, "bob", client=client)).code == 40006
    assert (await register(platform, "bob", client="198.51.100.8")).status == 201


async def test_a_name_and_an_address_cannot_be_changed_to_blocked_ones(platform: Platform) -> None:
    made = (await register(platform, email="alice@example.org")).json
    limit(platform, blocked_usernames=("admin",), blocked_address_domains=("trash.example", "example.org"))
    headers = [("authorization", made["token"])]
    body = {"username": "admin", "email": "a@trash.example", "password": PASSWORD}
    reply = await platform.anonymous.patch("/users/@me", body, headers=headers)
    assert reply.errors_at("username") == ["USERNAME_INVALID_CONTAINS"]
    assert reply.errors_at("email") == ["EMAIL_DOMAIN_BLOCKED"]
    # What one has already stays.
    body = {"username": "alicia", "email": "alice@example.org", "password": PASSWORD}
    assert (await platform.anonymous.patch("/users/@me", body, headers=headers)).status == 200


# Age and terms


async def consent_of(platform: Platform, user_id: str) -> ConsentRow | None:
    async with platform.database.read() as reader:
        return await select_consent(reader, UserId(Snowflake(int(user_id))))


async def test_who_is_too_young_registers_no_account_and_the_date_of_birth_is_not_stored(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (await register(platform, "bert", date_of_birth="not asked for")).status == 201
    limit(platform, registration_min_age=16)
    march = SimpleNamespace(now_ms=lambda: 1_772_323_200_000)  # 2026-03-01, 00:00 UTC
    monkeypatch.setattr(policy, "CLOCK", march)
    for text, code in (
        (None, "BASE_TYPE_REQUIRED"),
        ("2010-03-02", "DATE_OF_BIRTH_UNDERAGE"),
        ("2027-01-01", "DATE_OF_BIRTH_INVALID"),
        ("1776-07-04", "DATE_OF_BIRTH_INVALID"),
        ("yesterday", "DATE_OF_BIRTH_INVALID"),
        ("2010-02-30", "DATE_OF_BIRTH_INVALID"),
    ):
        assert (await register(platform, date_of_birth=text)).errors_at("date_of_birth") == [code], text
    made = await register(platform, date_of_birth="2010-03-01")
    assert made.status == 201
    row = await consent_of(platform, made.json["user_id"])
    assert row is not None
    assert (row.min_age, row.terms_version) == (16, None)
    assert row.created_at > 0


async def test_the_version_of_the_terms_is_stored_that_was_accepted(platform: Platform) -> None:
    limit(platform, terms_url="https://hall.example/terms", terms_version="2026-11")
    refused: list[dict[str, Any]] = [{}, {"consent": False}]
    for fields in refused:
        assert (await register(platform, **fields)).errors_at("consent") == ["CONSENT_REQUIRED"]
    made = await register(platform, consent=True)
    row = await consent_of(platform, made.json["user_id"])
    assert row is not None
    assert (row.terms_version, row.min_age) == ("2026-11", None)
    methods = (await platform.anonymous.get("/auth/methods")).json
    assert (methods["terms_url"], methods["min_age"]) == ("https://hall.example/terms", 0)


async def test_where_nothing_is_asked_nothing_is_stored(platform: Platform) -> None:
    made = await register(platform)
    assert await consent_of(platform, made.json["user_id"]) is None


async def test_the_page_asks_for_age_and_terms_and_keeps_what_was_typed(platform: Platform) -> None:
    limit(platform, terms_url="https://hall.example/terms", registration_min_age=16)
    browser = Browser(platform)
    page = await browser.visit("/register")
    assert "Date of birth" in page.text
    assert "https://hall.example/terms" in [attributes.get("href") for _, attributes in page.tags]
    form: dict[str, Any] = {"username": "alice", "password": PASSWORD, "date_of_birth": "2000-12-31"}
    refused = await browser.press(page, "Make the account", **form)
    assert "Accept the terms to register." in refused.text
    assert "2000-12-31" in [attributes.get("value") for _, attributes in refused.tags]
    done = await browser.press(refused, "Make the account", **form, consent="on")
    assert done.status == 303
