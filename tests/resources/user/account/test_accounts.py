"""Accounts: how one comes to have one, gets into it, and changes it."""

import asyncio

import msgspec
import pytest

from moothall.runtime.secrets import Passwords
from tests.support.accounts import PASSWORD, register
from tests.support.harness import Caller, Platform
from tests.support.passwords import REAL_COST


async def log_in(platform: Platform, login: str, password: str = PASSWORD) -> int:
    return (await platform.anonymous.post("/auth/login", {"login": login, "password": password})).status


async def test_a_new_account_is_logged_in_and_sees_itself_whole(platform: Platform) -> None:
    alice = await register(platform, email="Alice@example.org", global_name="  Al  ice ")
    me = (await alice.get("/users/@me")).json
    assert me["id"] == str(alice.id)
    assert (me["username"], me["global_name"], me["discriminator"]) == ("alice", "Al ice", "0")
    assert (me["email"], me["verified"], me["mfa_enabled"]) == ("Alice@example.org", False, False)
    assert "password_hash" not in me


async def test_a_username_belongs_to_one_person_whatever_its_case(platform: Platform) -> None:
    await register(platform)
    for name, code in (("alice", "USERNAME_ALREADY_TAKEN"), ("Alice!", "USERNAME_INVALID_CHARACTERS")):
        reply = await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD})
        assert reply.errors_at("username") == [code]


async def test_everything_wrong_with_a_registration_is_told_at_once(platform: Platform) -> None:
    reply = await platform.anonymous.post("/auth/register", {"username": [], "password": "short", "email": "nowhere"})
    assert set(reply.json["errors"]) == {"username", "password", "email"}


async def test_closed_registration_creates_no_account(platform: Platform) -> None:

    platform.services.limits = msgspec.structs.replace(platform.services.limits, registration="closed")
    reply = await platform.anonymous.post("/auth/register", {"username": "alice", "password": PASSWORD})
    assert reply.code == 40006


async def test_one_logs_in_by_name_or_address_with_the_right_password_only(platform: Platform) -> None:
    await register(platform, email="alice@example.org")
    assert await log_in(platform, "ALICE") == 200
    assert await log_in(platform, "Alice@Example.org") == 200
    wrong = await platform.anonymous.post("/auth/login", {"login": "alice", "password": "wrong password"})
    absent = await platform.anonymous.post("/auth/login", {"login": "nobody", "password": "wrong password"})
    assert wrong.json == absent.json
    assert wrong.errors_at("login") == ["INVALID_LOGIN"]


async def test_guessing_a_password_is_throttled_even_for_the_right_one(platform: Platform) -> None:
    await register(platform)
    for _ in range(10):
        assert await log_in(platform, "alice", "wrong password") == 400
    assert await log_in(platform, "alice") == 429


async def test_many_who_log_in_at_once_do_not_wait_for_each_other_for_ever(platform: Platform) -> None:
    await register(platform)
    async with asyncio.timeout(20):
        assert await asyncio.gather(*(log_in(platform, "alice") for _ in range(40))) == [200] * 40
        replies = await asyncio.gather(
            *(platform.anonymous.post("/auth/register", {"username": f"u{n}", "password": PASSWORD}) for n in range(16))
        )
    assert [reply.status for reply in replies] == [201] * 16


async def test_more_passwords_than_can_be_hashed_soon_are_refused(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Passwords, "cost", REAL_COST)
    platform.services.passwords = Passwords(concurrency=1, max_waiting=2)
    await register(platform)
    statuses = await asyncio.gather(*(log_in(platform, "alice") for _ in range(6)))
    assert sorted(statuses) == [200, 200, 503, 503, 503, 503]


async def test_a_session_does_not_help_to_guess_the_password(platform: Platform) -> None:
    alice = await register(platform)
    for _ in range(10):
        reply = await alice.patch("/users/@me", {"password": "wrong password", "new_password": "another one 1"})
        assert reply.errors_at("password") == ["PASSWORD_DOES_NOT_MATCH"]
    assert (await alice.patch("/users/@me", {"password": PASSWORD, "new_password": "another one 1"})).status == 429


async def test_logging_out_ends_that_token_and_its_sessions_only(platform: Platform) -> None:
    alice = await register(platform)
    other = await platform.anonymous.post("/auth/login", {"login": "alice", "password": PASSWORD})
    assert (await alice.post("/auth/logout")).status == 204
    assert (await alice.get("/users/@me")).status == 401
    again = Caller(platform, alice.id, other.json["token"])
    assert (await again.get("/users/@me")).status == 200
    assert [envelope.name for envelope in platform.heard] == ["SESSIONS_CLOSE"]
    assert platform.heard_data("SESSIONS_CLOSE")[0]["token_hash"]


async def test_others_see_no_private_fields(platform: Platform) -> None:
    alice, bob = await register(platform, email="alice@example.org"), await platform.person("bob")
    seen = (await bob.get(f"/users/{alice.id}")).json
    assert seen["username"] == "alice"
    assert not {"email", "verified", "mfa_enabled", "locale", "bio"} & seen.keys()
    assert (await bob.get("/users/1")).code == 10013


async def test_an_access_token_sees_what_its_scopes_say(platform: Platform) -> None:
    alice = await register(platform, email="alice@example.org")
    plain = (await (await platform.bearer(alice, 1, "identify")).get("/users/@me")).json
    with_email = (await (await platform.bearer(alice, 1, "identify", "email")).get("/users/@me")).json
    assert "email" not in plain
    assert with_email["email"] == "alice@example.org"
    assert (await (await platform.bearer(alice, 1, "guilds")).get("/users/@me")).code == 50026


async def test_a_public_change_is_told_to_oneself_and_in_every_guild(platform: Platform) -> None:
    alice = await register(platform)
    await platform.guild(alice), await platform.guild(alice)
    with platform.listening() as heard:
        reply = await alice.patch("/users/@me", {"global_name": "Al", "bio": "I was here"})
    assert reply.json["global_name"] == "Al"
    assert heard == ["USER_UPDATE", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_UPDATE"]
    with platform.listening() as heard:
        await alice.patch("/users/@me", {"bio": "no longer"})
    assert heard == ["USER_UPDATE"]


async def test_a_patch_without_changes_emits_nothing(platform: Platform) -> None:
    alice = await register(platform, global_name="Al")
    with platform.listening() as heard:
        assert (await alice.patch("/users/@me", {"global_name": "Al"})).status == 200
        assert (await alice.patch("/users/@me", {})).status == 200
    assert heard == []


async def test_name_and_password_change_only_with_the_present_password(platform: Platform) -> None:
    alice = await register(platform)
    for body in ({"username": "bob"}, {"new_password": "another password"}):
        assert (await alice.patch("/users/@me", body)).errors_at("password") == ["PASSWORD_DOES_NOT_MATCH"]
    assert (await alice.patch("/users/@me", {"username": "bob", "password": PASSWORD})).json["username"] == "bob"
    assert await log_in(platform, "bob") == 200
    assert await log_in(platform, "alice") == 400


async def test_a_new_password_ends_every_login_and_gives_a_new_token(platform: Platform) -> None:
    alice = await register(platform)
    reply = await alice.patch("/users/@me", {"password": PASSWORD, "new_password": "another password"})
    assert (await alice.get("/users/@me")).status == 401
    assert (await Caller(platform, alice.id, reply.json["token"]).get("/users/@me")).status == 200
    assert await log_in(platform, "alice", "another password") == 200


async def test_a_bot_is_renamed_without_a_password_and_need_not_be_the_only_one_of_its_name(platform: Platform) -> None:
    bot = await platform.bot(await platform.person("alice"))
    assert (await bot.patch("/users/@me", {"username": "Alice the Bot"})).json["username"] == "Alice the Bot"
    assert (await bot.patch("/users/@me", {"new_password": "some password"})).code == 20001


async def test_an_avatar_is_verified_stored_and_named_by_its_content(platform: Platform) -> None:
    alice = await register(platform)
    refused = await alice.patch("/users/@me", {"avatar": "data:image/png;base64,AAAA"})
    assert refused.errors_at("avatar") == ["IMAGE_INVALID"]
    gif = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
    avatar = (await alice.patch("/users/@me", {"avatar": gif})).json["avatar"]
    assert await platform.services.blobs.exists(f"images/{avatar}")
    assert (await alice.patch("/users/@me", {"avatar": None})).json["avatar"] is None
