"""Email addresses of accounts: who is believed about them, and that one address is one account."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import jwt
import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors, Refusal
from moothall.resources.user.account.operations import (
    check_names,
    create_account,
    edit_account,
    get_user_by_username,
    revoke_email,
    verify_email,
)
from moothall.resources.user.queries import select_user
from moothall.storage.rows import UserRow
from tests.oauth2.flow import application, bearer, tokens_of
from tests.support.harness import Caller, Platform, Reply

PASSWORD = "correct horse battery"
T = TypeVar("T")

SPELLINGS = [
    "ALICE@EXAMPLE.ORG",
    "alice\uff20example.org",
    "al\u0130ce@example.org",
    "al\u0131ce@example.org",
    "\uff41lice@example\u3002org",
]


async def try_registering(platform: Platform, name: str, email: object) -> Reply:
    return await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD, "email": email})


async def register(platform: Platform, name: str = "alice", email: str = "alice@example.org") -> Caller:
    reply = await try_registering(platform, name, email)
    assert reply.status == 201, reply
    return Caller(platform, int(reply.json["user_id"]), reply.json["token"], name=name)  # type: ignore[arg-type]


async def log_in(platform: Platform, login: str) -> int:
    return (await platform.anonymous.post("/auth/login", {"login": login, "password": PASSWORD})).status


async def operate(platform: Platform, work: Callable[[Context], Awaitable[T]]) -> T:
    return await unit_of_work.run(platform.services, ANONYMOUS, work)


async def vouch(platform: Platform, username: str, email: str | None = None) -> UserRow | None:
    """The account that lost the address."""

    async def work(ctx: Context) -> UserRow | None:
        address = None if email is None else EmailAddress.from_wire(email)
        return (await verify_email(ctx, await get_user_by_username(ctx, username), address))[1]

    return await operate(platform, work)


async def address_of(person: Caller) -> tuple[str | None, bool]:
    me = (await person.get("/users/@me")).json
    return me["email"], me["verified"]


# What is claimed


async def test_a_stranger_cannot_pass_for_the_owner_of_an_address_by_registering_with_it(platform: Platform) -> None:
    app, mallory = await application(platform), await register(platform, "mallory", "ceo@example.org")
    assert await address_of(mallory) == ("ceo@example.org", False)
    tokens = await tokens_of(mallory, app, "openid identify email")
    claims = jwt.decode(tokens["id_token"], options={"verify_signature": False})
    client = bearer(platform, mallory, tokens["access_token"])
    assert (claims["email"], claims["email_verified"]) == ("ceo@example.org", False)
    assert (await client.get("/oauth2/userinfo")).json["email_verified"] is False
    assert await address_of(client) == ("ceo@example.org", False)


async def test_an_id_token_has_no_time_of_login(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    tokens = await tokens_of(person, app, "openid")
    assert "auth_time" not in jwt.decode(tokens["id_token"], options={"verify_signature": False})


async def test_a_stranger_cannot_pass_for_the_owner_of_an_address_by_changing_to_it(platform: Platform) -> None:
    mallory = await register(platform, "mallory", "mallory@example.org")
    await vouch(platform, "mallory")
    assert await address_of(mallory) == ("mallory@example.org", True)
    reply = await mallory.patch("/users/@me", {"email": "ceo@example.org", "password": PASSWORD})
    assert (reply.json["email"], reply.json["verified"]) == ("ceo@example.org", False)
    assert await address_of(mallory) == ("ceo@example.org", False)


async def test_another_spelling_of_a_verified_address_is_unverified_and_the_same_one_is_not(platform: Platform) -> None:
    alice = await register(platform)
    await vouch(platform, "alice")
    body = {"email": "alice@example.org", "password": PASSWORD, "global_name": "Al"}
    assert (await alice.patch("/users/@me", body)).json["verified"] is True
    assert (await alice.patch("/users/@me", {**body, "email": "Alice@example.org"})).json["verified"] is False


async def test_a_user_cannot_set_verified_and_similar_fields(platform: Platform) -> None:
    claims = {
        "verified": True,
        "mfa_enabled": True,
        "phone": "+4912345",
        "email_verified": True,
        "public_flags": 1 << 16,
    }
    body = {"username": "mallory", "password": PASSWORD, "email": "ceo@example.org", **claims}
    reply = await platform.anonymous.post("/auth/register", body)
    mallory = Caller(platform, int(reply.json["user_id"]), reply.json["token"])  # type: ignore[arg-type]
    await mallory.patch("/users/@me", {**claims, "global_name": "M"})
    me = (await mallory.get("/users/@me")).json
    assert (me["verified"], me["mfa_enabled"], me["public_flags"]) == (False, False, 0)
    assert me.get("phone") is None


async def test_an_address_that_changes_while_the_operator_vouches_does_not_become_verified(platform: Platform) -> None:
    alice = await register(platform)
    async with platform.database.read() as reader:
        before = await select_user(reader, alice.id)
    assert before is not None
    await alice.patch("/users/@me", {"email": "ceo@example.org", "password": PASSWORD})
    await operate(platform, lambda ctx: verify_email(ctx, before))
    assert await address_of(alice) == ("alice@example.org", True)


async def test_an_address_that_the_operator_vouches_for_while_it_changes_does_not_stay_verified(
    platform: Platform,
) -> None:
    alice = await register(platform)
    async with platform.database.read() as reader:
        before = await select_user(reader, alice.id)
    assert before is not None
    await vouch(platform, "alice")
    await operate(platform, lambda ctx: edit_account(ctx, before, {"email": "ceo@example.org"}))
    assert await address_of(alice) == ("ceo@example.org", False)


# One address, one account


@pytest.mark.parametrize("end", ["\n", "\r\n", " ", "\t", "\u2028", "\x00\n", "\x7f"])
async def test_a_line_break_or_space_does_not_make_another_address_of_one(platform: Platform, end: str) -> None:
    alice = await register(platform)
    for email in (f"alice@example.org{end}", f"{end}alice@example.org", f"bob{end}@example.org"):
        assert (await try_registering(platform, "bob", email)).errors_at("email") == ["EMAIL_TYPE_INVALID_EMAIL"]
        reply = await alice.patch("/users/@me", {"email": email, "password": PASSWORD})
        assert reply.errors_at("email") == ["EMAIL_TYPE_INVALID_EMAIL"]


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_an_address_cannot_be_had_twice_in_confusable_spellings(platform: Platform, spelling: str) -> None:
    alice, bob = await register(platform), await register(platform, "bob", "bob@example.org")
    assert (await try_registering(platform, "mallory", spelling)).errors_at("email") == ["EMAIL_ALREADY_REGISTERED"]
    reply = await bob.patch("/users/@me", {"email": spelling, "password": PASSWORD})
    assert reply.errors_at("email") == ["EMAIL_ALREADY_REGISTERED"]
    assert (await alice.patch("/users/@me", {"email": spelling, "password": PASSWORD})).status == 200


async def test_an_address_cannot_be_had_twice_with_its_domain_in_punycode(platform: Platform) -> None:
    await register(platform, "alice", "alice@b\u00fccher.example")
    for spelling in ("alice@xn--bcher-kva.example", "alice@XN--BCHER-KVA.EXAMPLE", "alice@bu\u0308cher.example"):
        assert (await try_registering(platform, "mallory", spelling)).errors_at("email") == ["EMAIL_ALREADY_REGISTERED"]


async def test_an_address_cannot_be_had_twice_by_registering_at_once(platform: Platform) -> None:
    async def create(number: int) -> object:
        email = EmailAddress.from_wire(SPELLINGS[number % len(SPELLINGS)])
        return await operate(
            platform, lambda ctx: create_account(ctx, username=f"u{number}", password_hash=None, email=email)
        )

    results = await asyncio.gather(*map(create, range(12)), return_exceptions=True)
    refusals = [result for result in results if isinstance(result, Refusal)]
    assert len(refusals) == len(results) - 1
    assert all(set(refusal.errors or {}) == {"email"} for refusal in refusals)


async def test_an_address_cannot_be_had_twice_by_changing_to_it_at_once(platform: Platform) -> None:
    people = [await platform.person() for _ in range(12)]
    async with platform.database.read() as reader:
        rows = [await select_user(reader, person.id) for person in people]

    async def change(row: UserRow | None) -> UserRow:
        assert row is not None

        async def work(ctx: Context) -> UserRow:
            form_errors = FormErrors()
            await check_names(ctx, form_errors, username=None, email=EmailAddress("a@example.org"), own=row.id)
            form_errors.raise_if_any()
            return await edit_account(ctx, row, {"email": "a@example.org"})

        return await operate(platform, work)

    results = await asyncio.gather(*map(change, rows), return_exceptions=True)
    assert sum(isinstance(result, Refusal) for result in results) == len(results) - 1


@pytest.mark.parametrize("spelling", SPELLINGS)
async def test_one_logs_in_by_any_spelling_of_the_address(platform: Platform, spelling: str) -> None:
    await register(platform)
    assert await log_in(platform, spelling) == 200
    assert await log_in(platform, "alice@example.com") == 400


async def test_an_address_that_is_too_long_for_mail_is_refused(platform: Platform) -> None:
    for email in (f"{'a' * 65}@example.org", f"alice@{'a' * 250}.org", "\u00e9" * 33 + "@example.org"):
        assert (await try_registering(platform, "bob", email)).errors_at("email") == ["EMAIL_TYPE_INVALID_EMAIL"]


async def test_without_the_password_a_session_does_not_find_out_who_has_an_address(platform: Platform) -> None:
    await register(platform)
    mallory = await register(platform, "mallory", "mallory@example.org")
    for body in ({}, {"password": "wrong password"}):
        replies = [
            await mallory.patch("/users/@me", {"email": email, **body})
            for email in ("alice@example.org", "free@example.org")
        ]
        assert replies[0].json == replies[1].json
        assert replies[0].errors_at("password") == ["PASSWORD_DOES_NOT_MATCH"]


# What the operator vouches for


async def test_the_owner_of_a_squatted_address_gets_it_from_the_operator(platform: Platform) -> None:
    squatter = await register(platform, "mallory", "Alice@example.org")
    assert (await try_registering(platform, "alice", "alice@example.org")).errors_at("email")
    alice = await platform.person("alice")
    with platform.listening() as heard:
        loser = await vouch(platform, "alice", "alice@example.org")
    assert loser is not None
    assert (loser.username, heard) == ("mallory", ["USER_UPDATE", "USER_UPDATE"])
    assert await address_of(squatter) == (None, False)
    assert await address_of(alice) == ("alice@example.org", True)
    assert (await try_registering(platform, "bob", "alice@example.org")).errors_at("email")
    assert await log_in(platform, "mallory") == 200
    assert await log_in(platform, "alice@example.org") == 400  # this alice has no password


async def test_a_verified_address_stays_with_its_account(platform: Platform) -> None:
    alice, mallory = await register(platform), await platform.person("mallory")
    await vouch(platform, "alice")
    with pytest.raises(Refusal) as refused:
        await vouch(platform, "mallory", "ALICE@example.org")
    assert refused.value.errors == {
        "email": {"_errors": [{"code": "EMAIL_ALREADY_REGISTERED", "message": "Email is already registered."}]}
    }
    with pytest.raises(Refusal):
        await operate(
            platform,
            lambda ctx: create_account(
                ctx, username="eve", password_hash=None, email=EmailAddress.from_wire("alice@example.org"), vouched=True
            ),
        )
    assert await address_of(alice) == ("alice@example.org", True)
    assert await address_of(mallory) == (None, False)


async def test_an_account_made_by_the_operator_with_a_vouched_address_takes_it_from_a_squatter(
    platform: Platform,
) -> None:
    squatter = await register(platform, "mallory", "alice@example.org")
    email = EmailAddress.from_wire("alice@example.org")
    await operate(
        platform, lambda ctx: create_account(ctx, username="alice", password_hash=None, email=email, vouched=True)
    )
    assert await address_of(squatter) == (None, False)
    async with platform.database.read() as reader:
        assert await select_user(reader, squatter.id) is not None
    with pytest.raises(Refusal):
        await operate(platform, lambda ctx: create_account(ctx, username="eve", password_hash=None, email=email))


async def test_an_operator_vouches_no_more_and_the_address_stays(platform: Platform) -> None:
    alice = await register(platform)
    await vouch(platform, "alice")
    with platform.listening() as heard:
        for _ in range(2):
            await operate(platform, lambda ctx: _revoke(ctx, "alice"))
    assert heard == ["USER_UPDATE"]
    assert await address_of(alice) == ("alice@example.org", False)
    assert await log_in(platform, "alice@example.org") == 200


async def test_vouching_needs_a_user_with_an_address(platform: Platform) -> None:
    bot = await platform.bot(await platform.person("alice"), "robot")
    for name in ("alice", "robot", "nobody"):
        with pytest.raises(Refusal):
            await vouch(platform, name)
    assert (await bot.get("/users/@me")).json["verified"] is False


async def _revoke(ctx: Context, username: str) -> UserRow:
    return await revoke_email(ctx, await get_user_by_username(ctx, username))
