"""Two-factor authentication: switching it on and off, logging in with codes, and every way around it that is closed."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select

from moothall.objects.clock import CLOCK
from moothall.resources.user.factor.queries import select_factors
from moothall.storage.database import Query
from moothall.storage.schema import backup_codes as codes_table
from moothall.storage.schema import users
from tests.oauth2.flow import CALLBACK, application, bearer, tokens_of
from tests.resources.user.mfa.totp import PASSWORD, Careful, careful, code_login, enable, password_login, register
from tests.support.harness import Caller, Platform, Reply
from tests.support.mail_server import MailServer, config_of, deliver_all, mail_server, send_mail_by, text_of, token_of

ADDRESS = "alice@example.org"
NEW_PASSWORD = "quite another staple"
PROOF = "x-discord-mfa-authorization"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait for the next code."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port))
        yield running


async def ticket_of(platform: Platform, name: str = "alice") -> str:
    reply = await password_login(platform, name)
    assert reply.status == 200, reply
    assert "token" not in reply.json
    return str(reply.json["ticket"])


async def prove(alice: Careful, refused: Reply, code: str | None = None) -> Reply:
    """Exchange the ticket of a refused request for a proof."""
    assert (refused.status, refused.json["code"]) == (401, 60003)
    code = alice.phone.next_code() if code is None else code
    return await alice.caller.post(
        "/mfa/finish", {"ticket": refused.json["mfa"]["ticket"], "mfa_type": "totp", "data": code}
    )


# Switching it on


async def test_enabling_it_ends_every_login_and_announces_the_account(platform: Platform, server: MailServer) -> None:
    first = await register(platform, email=ADDRESS)
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    other = Caller(platform, first.id, (await password_login(platform)).json["token"])
    with platform.listening():
        reply, _ = await enable(first)
    assert reply.status == 200
    assert platform.heard_data("USER_UPDATE")[-1]["mfa_enabled"] is True
    for caller in (first, other):
        assert (await caller.get("/users/@me")).status == 401
    renewed = Caller(platform, first.id, reply.json["token"])
    assert (await renewed.get("/users/@me")).json["mfa_enabled"] is True
    codes = reply.json["backup_codes"]
    assert {each["user_id"] for each in codes} == {str(first.id)}
    assert len({each["code"] for each in codes}) == 10
    await deliver_all(platform)
    assert server.mails[-1]["Subject"] == "Two-factor authentication is on"


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"password": "wrong"}, 50035),
        ({"secret": None}, 60005),
        ({"secret": "JBSWY3DPEHPK3PXP"}, 60005),  # 80 bits
        ({"secret": "not base32!"}, 60005),
        ({"code": None}, 60008),
        ({"code": "000000x"}, 60008),
    ],
)
async def test_enabling_it_needs_password_secret_and_code(
    platform: Platform, changes: dict[str, Any], code: int
) -> None:
    caller = await register(platform)
    reply, _ = await enable(caller, **changes)
    assert (reply.status, reply.json["code"]) == (400, code)
    assert (await caller.get("/users/@me")).json["mfa_enabled"] is False
    assert "token" in (await password_login(platform)).json


async def test_a_second_app_cannot_be_added_without_the_first(platform: Platform) -> None:
    alice = await careful(platform)
    refused, _ = await enable(alice.caller)
    assert (refused.status, refused.json["code"]) == (401, 60003)
    proof = (await prove(alice, refused)).json["token"]
    body = {"password": PASSWORD, "secret": "A" * 32, "code": "000000"}
    reply = await alice.caller.post("/users/@me/mfa/totp/enable", body, headers=[(PROOF, proof)])
    assert (reply.status, reply.json["code"]) == (400, 60001)


async def test_neither_secret_nor_backup_codes_are_readable_in_the_database(platform: Platform) -> None:
    alice = await careful(platform)
    async with platform.database.read() as reader:
        row = await select_factors(reader, alice.caller.id)
        stored = await reader.all(Query(select(codes_table.c.hash)))
    assert row is not None
    assert row.totp_secret is not None
    assert alice.phone.secret.encode() not in row.totp_secret
    assert len(stored) == 10
    assert not {each[0] for each in stored} & set(alice.backup_codes)


# Logging in


async def test_logging_in_takes_a_code_after_the_password(platform: Platform) -> None:
    alice = await careful(platform)
    answer = (await password_login(platform)).json
    assert answer.keys() == {
        "user_id", "mfa", "ticket", "login_instance_id", "totp", "backup", "sms", "webauthn"
    }  # fmt: skip
    assert (answer["mfa"], answer["totp"], answer["backup"], answer["sms"]) == (True, True, True, False)
    assert (await Caller(platform, alice.caller.id, answer["ticket"]).get("/users/@me")).status == 401
    wrong = await code_login(platform, answer["ticket"], "12345x")
    assert (wrong.status, wrong.json["code"]) == (400, 60008)
    reply = await code_login(
        platform, answer["ticket"], alice.phone.next_code(), login_instance_id=answer["login_instance_id"]
    )
    assert reply.status == 200
    assert (await Caller(platform, alice.caller.id, reply.json["token"]).get("/users/@me")).status == 200


async def test_a_wrong_password_is_refused_as_for_everyone_else(platform: Platform) -> None:
    await careful(platform)
    await register(platform, "bob")
    refusals = [await password_login(platform, name, "wrong") for name in ("alice", "bob", "nobody")]
    assert len({reply.body for reply in refusals}) == 1


async def test_a_code_is_accepted_once(platform: Platform) -> None:
    alice = await careful(platform)
    assert (await code_login(platform, await ticket_of(platform), alice.phone.code())).json["code"] == 60008
    code = alice.phone.next_code()
    assert (await code_login(platform, await ticket_of(platform), code)).status == 200
    assert (await code_login(platform, await ticket_of(platform), code)).json["code"] == 60008
    backup = alice.backup_codes[0]
    written = f"{backup[:4]}-{backup[4:]} ".upper()
    assert (await code_login(platform, await ticket_of(platform), written)).status == 200
    for kind in ("totp", "backup"):
        assert (await code_login(platform, await ticket_of(platform), backup, kind)).json["code"] == 60008


@pytest.mark.parametrize(("seconds", "status"), [(-60, 400), (-30, 200), (30, 200), (60, 400)])
async def test_a_clock_may_be_off_by_half_a_minute(platform: Platform, seconds: int, status: int) -> None:
    alice = await careful(platform)
    CLOCK.advance(600)
    assert (await code_login(platform, await ticket_of(platform), alice.phone.code(seconds))).status == status


async def test_a_ticket_is_good_once_for_ten_minutes_and_for_its_own_account(platform: Platform) -> None:
    alice, mallory = await careful(platform), await careful(platform, "mallory")
    ticket = await ticket_of(platform)
    # A code of another account does not use it up, and is refused.
    assert (await code_login(platform, ticket, mallory.phone.next_code())).json["code"] == 60008
    assert (await code_login(platform, ticket, mallory.backup_codes[0])).json["code"] == 60008
    assert (await code_login(platform, ticket, alice.phone.code())).status == 200
    assert (await code_login(platform, ticket, alice.phone.next_code())).json["code"] == 60006
    ticket = await ticket_of(platform)
    CLOCK.advance(601)
    assert (await code_login(platform, ticket, alice.phone.code())).json["code"] == 60006
    for other in ("", "x" * 43):
        assert (await code_login(platform, other, alice.phone.code())).json["code"] == 60006
    ticket = await ticket_of(platform)
    mixed = await code_login(platform, ticket, alice.phone.next_code(), login_instance_id="0" * 32)
    assert mixed.json["code"] == 60006


async def test_ten_wrong_codes_stop_guessing_but_not_the_backup_codes(platform: Platform, server: MailServer) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    for _ in range(10):
        CLOCK.advance(1)
        reply = await code_login(platform, await ticket_of(platform), "000000")
        assert reply.json["code"] == 60008
    refused = await code_login(platform, await ticket_of(platform), alice.phone.next_code())
    assert (refused.status, "token" in refused.json) == (429, False)
    await deliver_all(platform)
    assert server.mails[-1]["Subject"] == "Somebody entered wrong codes"
    assert (await code_login(platform, await ticket_of(platform), alice.backup_codes[0])).status == 200
    CLOCK.advance(900)
    assert (await code_login(platform, await ticket_of(platform), alice.phone.code())).status == 200


async def test_wrong_codes_are_counted_by_network_for_all_accounts_together(platform: Platform) -> None:
    alice = await careful(platform)
    ticket = await ticket_of(platform)
    for _ in range(50):
        await platform.anonymous.post("/auth/mfa/backup", {"ticket": ticket, "code": "aaaaaaaa"}, client="192.0.2.7")
    body = {"ticket": ticket, "code": alice.backup_codes[0]}
    assert (await platform.anonymous.post("/auth/mfa/backup", body, client="192.0.2.7")).status == 429
    assert (await platform.anonymous.post("/auth/mfa/backup", body, client="192.0.2.8")).status == 200


# Ways around it


async def test_a_link_for_a_new_password_needs_the_factor_too(platform: Platform, server: MailServer) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    verified = await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    assert (verified.status, "token" in verified.json) == (200, False)
    await platform.anonymous.post("/auth/forgot", {"login": "alice"})
    await deliver_all(platform)
    body: dict[str, Any] = {"token": token_of(server.mails[-1]), "password": NEW_PASSWORD}
    answer = (await platform.anonymous.post("/auth/reset", body)).json
    assert (answer["mfa"], "token" in answer) == (True, False)
    assert (await password_login(platform, password=NEW_PASSWORD)).status == 400
    body["ticket"] = answer["ticket"]
    assert (await platform.anonymous.post("/auth/reset", body | {"code": "000000"})).json["code"] == 60008
    login_ticket = await ticket_of(platform)
    mixed = await platform.anonymous.post("/auth/reset", body | {"ticket": login_ticket, "code": alice.backup_codes[0]})
    assert mixed.json["code"] == 60006
    reply = await platform.anonymous.post("/auth/reset", body | {"code": alice.phone.next_code()})
    assert "token" in reply.json
    assert (await password_login(platform, password=NEW_PASSWORD)).json["mfa"] is True
    # The ticket of the old password is worthless, and so is the one of the reset for logging in.
    for ticket in (login_ticket, answer["ticket"]):
        assert (await code_login(platform, ticket, alice.phone.next_code())).json["code"] == 60006


async def test_applications_that_were_authorized_before_get_no_further(platform: Platform) -> None:
    caller = await register(platform)
    app = await application(platform, await platform.person("dora"), redirect_uris=[CALLBACK])
    tokens = await tokens_of(caller, app, scope="identify email")
    reply, _ = await enable(caller)
    assert reply.status == 200
    application_of = bearer(platform, caller, tokens["access_token"])
    assert (await application_of.get("/users/@me")).json["mfa_enabled"] is True
    for path in ("/users/@me/mfa/totp/enable", "/users/@me/mfa/totp/disable", "/mfa/finish"):
        refused = await application_of.post(
            path, {"password": PASSWORD, "ticket": "x", "mfa_type": "totp", "data": "x"}
        )
        assert refused.status in {401, 403}
    assert (
        await application_of.patch("/users/@me", {"password": PASSWORD, "new_password": NEW_PASSWORD})
    ).status >= 400


# Fresh proofs


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/users/@me", {"password": PASSWORD, "email": "new@example.org"}),
        ("PATCH", "/users/@me", {"password": PASSWORD, "new_password": NEW_PASSWORD}),
        ("POST", "/users/@me/mfa/totp/disable", {}),
        ("POST", "/auth/verify/view-backup-codes-challenge", {"password": PASSWORD}),
        ("POST", "/users/@me/disable", {"password": PASSWORD}),
        ("POST", "/users/@me/delete", {"password": PASSWORD}),
        ("POST", "/auth/sessions/logout", {"session_id_hashes": ["0"]}),
    ],
)
async def test_dangerous_acts_need_a_fresh_proof(
    platform: Platform, method: str, path: str, body: dict[str, Any]
) -> None:
    alice = await careful(platform)
    refused = await alice.caller.request(method, path, body)
    assert refused.json["mfa"]["methods"] == [{"type": "totp", "backup_codes_allowed": True}, {"type": "backup"}]
    proof = (await prove(alice, refused)).json["token"]
    CLOCK.advance(301)
    assert (await alice.caller.request(method, path, body, headers=[(PROOF, proof)])).status == 401
    proof = (await prove(alice, await alice.caller.request(method, path, body))).json["token"]
    assert (await alice.caller.request(method, path, body, headers=[(PROOF, proof)])).status in {200, 204}


async def test_a_proof_is_good_for_the_session_that_made_it(platform: Platform) -> None:
    alice = await careful(platform)
    reply = await code_login(platform, await ticket_of(platform), alice.phone.next_code())
    stolen = Caller(platform, alice.caller.id, reply.json["token"])
    refused = await alice.caller.post("/users/@me/mfa/totp/disable")
    proof = (await prove(alice, refused)).json["token"]
    assert (await stolen.post("/users/@me/mfa/totp/disable", headers=[(PROOF, proof)])).status == 401
    taken = {"ticket": refused.json["mfa"]["ticket"], "mfa_type": "totp", "data": alice.phone.next_code()}
    assert (await stolen.post("/mfa/finish", taken)).json["code"] == 60006
    # A ticket is no proof, a code cannot be used again, and a password is none with a second factor.
    ticket = refused.json["mfa"]["ticket"]
    assert (await alice.caller.post("/users/@me/mfa/totp/disable", headers=[(PROOF, ticket)])).status == 401
    assert (await prove(alice, refused, alice.backup_codes[0])).status == 200
    assert (await prove(alice, refused, alice.backup_codes[0])).json["code"] == 60008
    body = {"ticket": ticket, "mfa_type": "password", "data": PASSWORD}
    assert (await alice.caller.post("/mfa/finish", body)).json["code"] == 60008


async def test_without_a_factor_the_password_is_the_proof(platform: Platform) -> None:
    caller = await register(platform)
    refused = await caller.post("/users/@me/disable", {})
    assert refused.json["mfa"]["methods"] == [{"type": "password"}]
    body = {"ticket": refused.json["mfa"]["ticket"], "mfa_type": "password", "data": "wrong"}
    assert (await caller.post("/mfa/finish", body)).json["code"] == 60008
    proof = (await caller.post("/mfa/finish", body | {"data": PASSWORD})).json["token"]
    assert (await caller.post("/users/@me/disable", {}, headers=[(PROOF, proof)])).status == 204


# Switching it off, and new backup codes


async def test_disabling_it_ends_every_login_and_lets_the_password_suffice(platform: Platform) -> None:
    alice = await careful(platform)
    proof = (await prove(alice, await alice.caller.post("/users/@me/mfa/totp/disable"))).json["token"]
    reply = await alice.caller.post("/users/@me/mfa/totp/disable", headers=[(PROOF, proof)])
    assert reply.status == 200
    assert (await alice.caller.get("/users/@me")).status == 401
    renewed = Caller(platform, alice.caller.id, reply.json["token"])
    assert (await renewed.get("/users/@me")).json["mfa_enabled"] is False
    assert "token" in (await password_login(platform)).json
    assert (await renewed.post("/users/@me/mfa/totp/disable")).json["code"] == 60002


async def test_new_backup_codes_replace_those_of_before_and_need_the_mailed_key(
    platform: Platform, server: MailServer
) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    path, body = "/auth/verify/view-backup-codes-challenge", {"password": PASSWORD}
    proof = (await prove(alice, await alice.caller.post(path, body))).json["token"]
    nonce = (await alice.caller.post(path, body, headers=[(PROOF, proof)])).json["regenerate_nonce"]
    await deliver_all(platform)
    key = text_of(server.to(ADDRESS)[-1]).partition("this key: ")[2][:9]
    request = {"nonce": nonce, "key": key, "regenerate": True}
    path = "/users/@me/mfa/codes-verification"
    assert (await alice.caller.post(path, request | {"key": "aaaa-aaaa"})).json["code"] == 60008
    bob = await careful(platform, "bob")
    assert (await bob.caller.post(path, request)).json["code"] == 60009
    assert (await alice.caller.post(path, request | {"regenerate": False})).status == 400
    made = (await alice.caller.post(path, request)).json["backup_codes"]
    assert (await alice.caller.post(path, request)).json["code"] == 60009
    old = await code_login(platform, await ticket_of(platform), alice.backup_codes[0])
    assert old.json["code"] == 60008
    assert (await code_login(platform, await ticket_of(platform), made[0]["code"])).status == 200


async def test_five_wrong_keys_end_the_request_for_backup_codes(platform: Platform, server: MailServer) -> None:
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    await platform.anonymous.post("/auth/verify", {"token": token_of(server.mails[-1])})
    path, body = "/auth/verify/view-backup-codes-challenge", {"password": PASSWORD}
    proof = (await prove(alice, await alice.caller.post(path, body))).json["token"]
    nonce = (await alice.caller.post(path, body, headers=[(PROOF, proof)])).json["regenerate_nonce"]
    request = {"nonce": nonce, "key": "wrong", "regenerate": True}
    refusals = [(await alice.caller.post("/users/@me/mfa/codes-verification", request)).json["code"] for _ in range(6)]
    assert refusals == [60008] * 5 + [60009]


async def test_a_deleted_account_keeps_no_factor(platform: Platform) -> None:
    alice = await careful(platform)
    proof = (await prove(alice, await alice.caller.post("/users/@me/delete", {}))).json["token"]
    assert (await alice.caller.post("/users/@me/delete", {}, headers=[(PROOF, proof)])).status == 204
    CLOCK.advance(15 * 86_400)
    await platform.run_due_jobs()
    async with platform.database.read() as reader:
        assert await select_factors(reader, alice.caller.id) is None
        deleted = await reader.scalar(Query(select(users.c.deleted).where(users.c.id == alice.caller.id)))
    assert deleted
