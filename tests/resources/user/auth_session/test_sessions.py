"""People's logins: listed, ended, and ended by themselves when they are not used."""

import base64
import json
from datetime import datetime
from typing import Any

import msgspec
import pytest
from sqlalchemy import bindparam, func, select, update

from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.user.auth_session.sweeper import SessionSweeper
from moothall.resources.user.auth_session.usage import TokenUseRecorder
from moothall.resources.user.password.queries import is_known
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Query
from moothall.storage.schema import auth_sessions, tokens
from tests.oauth2.flow import CALLBACK, answer_of, application, bearer, consent, tokens_of
from tests.support.harness import Caller, Platform

PASSWORD = "correct horse battery"
DAY_MS = 86_400_000
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

_select_used = Query(select(auth_sessions.c.last_used_at).where(auth_sessions.c.token_hash == bindparam("digest")))
_set_used = Query(
    update(auth_sessions).where(auth_sessions.c.token_hash == bindparam("digest")).values(last_used_at=bindparam("at"))
)
_set_expiry = Query(update(tokens).where(tokens.c.hash == bindparam("digest")).values(expires_at=bindparam("at")))
_count = {table.name: Query(select(func.count()).select_from(table)) for table in (auth_sessions, tokens)}


async def register(platform: Platform, name: str = "alice") -> Caller:
    reply = await platform.anonymous.post("/auth/register", {"username": name, "password": PASSWORD})
    assert reply.status == 201, reply
    return Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"], name=name)


async def log_in(platform: Platform, name: str = "alice", agent: str = "", **options: Any) -> Caller:
    headers = [("user-agent", agent), *options.pop("headers", [])]
    reply = await platform.anonymous.post(
        "/auth/login", {"login": name, "password": PASSWORD}, headers=headers, **options
    )
    assert reply.status == 200, reply
    return Caller(platform, Snowflake(int(reply.json["user_id"])), reply.json["token"], name=name)


async def listed(caller: Caller) -> list[dict[str, Any]]:
    reply = await caller.get("/auth/sessions")
    assert reply.status == 200
    sessions: list[dict[str, Any]] = reply.json["user_sessions"]
    return sessions


async def end(caller: Caller, *id_hashes: str, password: str = PASSWORD) -> int:
    body = {"session_id_hashes": id_hashes, "password": password}
    return (await caller.post("/auth/sessions/logout", body)).status


async def set_used(platform: Platform, caller: Caller, days_ago: float) -> None:
    async with platform.database.transaction() as tx:
        at = Timestamp(Timestamp.now() - int(days_ago * DAY_MS))
        assert await tx.execute(_set_used, digest=hash_token(caller.token), at=at) == 1


async def last_used(platform: Platform, caller: Caller) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(_select_used, digest=hash_token(caller.token)))


async def count(platform: Platform, table: str) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(_count[table]))


def sweeper(platform: Platform, *connected: Caller) -> SessionSweeper:
    recorder = TokenUseRecorder(platform.database)
    return SessionSweeper(platform.services, recorder, lambda: [hash_token(caller.token) for caller in connected])


async def is_in(caller: Caller) -> bool:
    return (await caller.get("/users/@me")).status == 200


async def test_a_person_sees_where_they_are_logged_in_the_latest_first(platform: Platform) -> None:
    alice = await register(platform)
    await set_used(platform, alice, 3)
    await set_used(platform, await log_in(platform, agent="bot-tool/1.0 (by hand)"), 2)
    await set_used(platform, await log_in(platform, agent=FIREFOX, client="2001:db8::7"), 1)
    await register(platform, "bob")
    sessions = await listed(alice)
    assert [each["client_info"] for each in sessions] == [
        {"os": "Linux", "platform": "Firefox", "location": "2001:db8::/64"},
        {"os": None, "platform": "bot-tool", "location": "127.0.0.1"},
        {"os": None, "platform": None, "location": "127.0.0.1"},
    ]
    times = [datetime.fromisoformat(each["approx_last_used_time"]) for each in sessions]
    assert [round((times[0] - time).total_seconds() / 86_400) for time in times] == [0, 1, 2]
    assert len({each["id_hash"] for each in sessions}) == 3
    assert [each["is_current"] for each in sessions].count(True) == 1
    own = next(each["id_hash"] for each in sessions if each["is_current"])
    assert await end(alice, *(each["id_hash"] for each in sessions if each["id_hash"] != own)) == 204
    assert [each["id_hash"] for each in await listed(alice)] == [own]
    # Nothing shown can be used as a session.
    assert not {hash_token(alice.token).hex(), alice.token} & {each["id_hash"] for each in sessions}


async def test_what_a_client_says_of_itself_is_shown_within_bounds(platform: Platform) -> None:
    properties = {"os": "Plan\u202e 9", "browser": "x" * 300}
    sent = base64.b64encode(json.dumps(properties).encode()).decode()
    await register(platform)
    caller = await log_in(platform, agent=FIREFOX, headers=[("x-super-properties", sent)])
    info = (await listed(caller))[0]["client_info"]
    assert (info["os"], info["platform"]) == ("Plan 9", "x" * 64)
    for odd in ("AAAA", "{", "é", base64.b64encode(b'{"os": 5}').decode(), "A" * 9000):
        caller = await log_in(platform, agent=FIREFOX, headers=[("x-super-properties", odd)])
        assert (await listed(caller))[0]["client_info"]["platform"] == "Firefox"


async def test_a_login_that_is_ended_lets_in_no_more_and_its_gateway_sessions_end(platform: Platform) -> None:
    alice, bob = await register(platform), await register(platform, "bob")
    phone, desk = await log_in(platform), await log_in(platform)
    await set_used(platform, phone, 1)
    lost = (await listed(alice))[-1]["id_hash"]
    platform.heard.clear()
    assert await end(desk, lost, lost, "unknown") == 204
    assert [await is_in(each) for each in (alice, phone, desk, bob)] == [True, False, True, True]
    assert [envelope.name for envelope in platform.heard] == ["SESSIONS_CLOSE"]
    assert platform.heard_data("SESSIONS_CLOSE")[0]["token_hash"] == hash_token(phone.token).hex()
    assert lost not in {each["id_hash"] for each in await listed(desk)}
    assert await end(desk, lost) == 204


async def test_a_person_ends_no_login_of_another(platform: Platform) -> None:
    alice, bob = await register(platform), await register(platform, "bob")
    (session,) = await listed(alice)
    assert await end(bob, session["id_hash"]) == 204
    assert await is_in(alice)


async def test_a_stolen_session_alone_ends_no_other(platform: Platform) -> None:
    alice = await register(platform)
    thief = await log_in(platform)
    hashes = [each["id_hash"] for each in await listed(thief)]
    reply = await thief.post("/auth/sessions/logout", {"session_id_hashes": hashes, "password": "wrong password"})
    assert reply.errors_at("password") == ["PASSWORD_DOES_NOT_MATCH"]
    reply = await thief.post("/auth/sessions/logout", {"session_id_hashes": hashes})
    assert (reply.status, reply.json["code"]) == (401, 60003)
    assert await is_in(alice)


async def test_bots_and_access_tokens_see_no_logins(platform: Platform) -> None:
    alice = await register(platform)
    bot, app = await platform.bot(alice), await platform.bearer(alice, 1, "identify")
    assert (await bot.get("/auth/sessions")).code == 20001
    assert (await app.get("/auth/sessions")).code == 50026


async def test_a_login_that_is_not_used_ends(platform: Platform) -> None:
    alice = await register(platform)
    phone, desk = await log_in(platform), await log_in(platform)
    bot = await platform.bot(alice)
    await set_used(platform, phone, 90.1)
    await set_used(platform, desk, 89.9)
    platform.heard.clear()
    assert await sweeper(platform).sweep() == 1
    assert [await is_in(each) for each in (alice, phone, desk, bot)] == [True, False, True, True]
    assert platform.heard_data("SESSIONS_CLOSE") == [
        {"user_id": int(alice.id), "token_hash": hash_token(phone.token).hex()}
    ]
    assert await sweeper(platform).sweep() == 0


async def test_how_long_a_login_may_be_unused_is_a_setting(platform: Platform) -> None:
    alice = await register(platform)
    await set_used(platform, alice, 8)
    platform.services.limits = msgspec.structs.replace(platform.services.limits, session_unused_days=7)
    await sweeper(platform).sweep()
    assert not await is_in(alice)


async def test_how_long_a_login_lasts_at_most_is_a_setting(platform: Platform) -> None:
    alice = await register(platform)
    platform.services.limits = msgspec.structs.replace(platform.services.limits, session_max_days=2)
    phone = await log_in(platform)

    async def ends_in_days(caller: Caller) -> float | None:
        async with platform.database.read() as reader:
            expires_at = await reader.scalar(
                Query(select(tokens.c.expires_at).where(tokens.c.hash == bindparam("hash"))),
                hash=hash_token(caller.token),
            )
        return None if expires_at is None else (expires_at - Timestamp.now()) / 86_400_000

    assert await ends_in_days(alice) is None
    remaining = await ends_in_days(phone)
    assert remaining is not None
    assert 1.9 < remaining <= 2


async def test_a_login_with_a_gateway_connection_is_in_use(platform: Platform) -> None:
    alice = await register(platform)
    await set_used(platform, alice, 200)
    assert await sweeper(platform, alice).sweep() == 0
    assert await is_in(alice)
    assert Timestamp.now() - await last_used(platform, alice) < 60_000


async def test_every_use_counts_and_is_written_once_an_hour(platform: Platform) -> None:
    recorder = TokenUseRecorder(platform.database)
    platform.services.record_token_use = recorder.record_actor
    alice = await register(platform)
    bot = await platform.bot(alice)
    await set_used(platform, alice, 80)
    assert await is_in(alice)
    assert await is_in(bot)
    await recorder.flush()
    assert Timestamp.now() - await last_used(platform, alice) < 60_000
    # Another process, or this one after a restart, has not noted it yet.
    for days_ago, written in ((0.03, False), (0.05, True)):
        await set_used(platform, alice, days_ago)
        before, other = await last_used(platform, alice), TokenUseRecorder(platform.database)
        other.record(hash_token(alice.token))
        await other.close()
        assert (await last_used(platform, alice) > before) is written
    await recorder.close()


async def test_tokens_that_have_expired_are_removed_of_every_kind(platform: Platform) -> None:
    alice = await register(platform)
    web, app = await log_in(platform), await platform.bearer(alice, 1, "identify")
    before = await count(platform, "tokens")
    async with platform.database.transaction() as tx:
        for caller, ago in ((web, 1), (app, 1), (alice, -60_000)):
            await tx.execute(_set_expiry, digest=hash_token(caller.token), at=Timestamp(Timestamp.now() - ago))
    assert await sweeper(platform).sweep() == 2
    assert (await count(platform, "tokens"), await count(platform, "auth_sessions")) == (before - 2, 1)
    assert await is_in(alice)


async def test_where_a_person_logged_in_from_is_forgotten_as_well(platform: Platform) -> None:
    alice = await register(platform)
    async with platform.database.read() as reader:
        assert await is_known(reader, alice.id, "127.0.0.1")
    platform.services.limits = msgspec.structs.replace(platform.services.limits, session_unused_days=-1)
    await sweeper(platform).sweep()
    async with platform.database.read() as reader:
        assert not await is_known(reader, alice.id, "127.0.0.1")


async def test_logging_out_and_a_new_password_leave_nothing_of_a_login(platform: Platform) -> None:
    alice = await register(platform)
    await (await log_in(platform)).post("/auth/logout")
    assert await count(platform, "auth_sessions") == 1
    await log_in(platform)
    change = {"password": PASSWORD, "new_password": "tulip anchor plank"}
    fresh = (await alice.patch("/users/@me", change)).json["token"]
    (session,) = await listed(Caller(platform, alice.id, fresh))
    assert session["client_info"]["location"] == "127.0.0.1"
    assert await count(platform, "auth_sessions") == 1


@pytest.mark.parametrize("ends", [True, False])
async def test_a_new_password_ends_what_applications_may_do_if_asked(platform: Platform, ends: bool) -> None:
    alice, bob, app = await register(platform), await register(platform, "bob"), await application(platform)
    of_alice, of_bob = await tokens_of(alice, app, "identify"), await tokens_of(bob, app, "identify")
    unused = answer_of(await consent(alice, app, "identify"))["code"]
    change = {"password": PASSWORD, "new_password": "tulip anchor plank", "end_authorizations": ends}
    alice = Caller(platform, alice.id, (await alice.patch("/users/@me", change)).json["token"])
    assert await is_in(bearer(platform, alice, of_alice["access_token"])) is not ends
    assert len((await alice.get("/oauth2/tokens")).json) == (0 if ends else 1)
    for form in (
        {"grant_type": "refresh_token", "refresh_token": of_alice["refresh_token"]},
        {"grant_type": "authorization_code", "code": unused, "redirect_uri": CALLBACK},
    ):
        assert (await app.token(**form)).status == (400 if ends else 200)
    assert await is_in(bearer(platform, bob, of_bob["access_token"]))
    assert len((await bob.get("/oauth2/tokens")).json) == 1


async def test_authorizations_end_with_a_new_password_only(platform: Platform) -> None:
    alice = await register(platform)
    token = await platform.bearer(alice, 1, "identify")
    reply = await alice.patch("/users/@me", {"password": PASSWORD, "end_authorizations": True})
    assert reply.errors_at("new_password") == ["BASE_TYPE_REQUIRED"]
    assert await is_in(token)
