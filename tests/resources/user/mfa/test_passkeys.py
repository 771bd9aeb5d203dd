"""Passkeys and security keys: adding, using and deleting them, and what no signature is good for."""

from typing import Any

import pytest
from msgspec import structs

from moothall.objects.clock import CLOCK
from tests.resources.user.mfa.security_key import SecurityKey
from tests.resources.user.mfa.totp import PASSWORD, careful, code_login, password_login, register
from tests.support.harness import Caller, Platform, Reply

CREDENTIALS = "/users/@me/mfa/webauthn/credentials"
PROOF = "x-discord-mfa-authorization"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture(autouse=True)
def local_server(platform: Platform) -> None:
    """Reach the server by a name for which browsers allow passkeys."""
    platform.services.limits = structs.replace(platform.services.limits, public_url="http://localhost:3333")


async def proved(caller: Caller, refused: Reply, kind: str, data: str) -> list[tuple[str, str]]:
    """The header with a proof for a refused request."""
    assert (refused.status, refused.json["code"]) == (401, 60003), refused
    body = {"ticket": refused.json["mfa"]["ticket"], "mfa_type": kind, "data": data}
    reply = await caller.post("/mfa/finish", body)
    assert reply.status == 200, reply
    return [(PROOF, reply.json["token"])]


async def add(
    caller: Caller, key: SecurityKey, name: str = "Key", kind: str = "password", data: str = PASSWORD
) -> Reply:
    """Add a key to an account."""
    headers = await proved(caller, await caller.post(CREDENTIALS, {}), kind, data)
    options = (await caller.post(CREDENTIALS, {}, headers=headers)).json
    body = {"name": name, "ticket": options["ticket"], "credential": key.create(options["challenge"])}
    return await caller.post(CREDENTIALS, body)


async def passkey_login(platform: Platform, key: SecurityKey, **options: Any) -> Reply:
    started = (await platform.anonymous.post("/auth/conditional/start")).json
    credential = key.sign(started["challenge"], **options)
    return await platform.anonymous.post(
        "/auth/conditional/finish", {"ticket": started["ticket"], "credential": credential}
    )


async def test_a_key_is_a_second_factor_and_logs_in_alone(platform: Platform) -> None:
    alice, key = await register(platform), SecurityKey()
    other = Caller(platform, alice.id, (await password_login(platform)).json["token"])
    with platform.listening():
        reply = await add(alice, key)
    assert (reply.status, reply.json["type"], reply.json["name"]) == (200, 1, "Key")
    assert len(reply.json["backup_codes"]) == 10
    assert platform.heard_data("USER_UPDATE")[-1]["mfa_enabled"] is True
    assert [(await each.get("/users/@me")).status for each in (alice, other)] == [200, 401]
    assert (await alice.get(CREDENTIALS)).json == [{"id": reply.json["id"], "type": 1, "name": "Key"}]

    answer = (await password_login(platform)).json
    assert (answer["totp"], answer["backup"]) == (False, True)
    login = await code_login(platform, answer["ticket"], key.sign(answer["webauthn"]), "webauthn")
    assert (await Caller(platform, alice.id, login.json["token"]).get("/users/@me")).status == 200
    alone = await passkey_login(platform, key)
    assert alone.json["user_id"] == str(alice.id)
    assert (await Caller(platform, alice.id, alone.json["token"]).get("/users/@me")).status == 200


async def test_a_key_that_has_not_verified_its_user_does_not_replace_the_password(platform: Platform) -> None:
    alice, key = await register(platform), SecurityKey()
    await add(alice, key)
    assert (await passkey_login(platform, key, verified=False)).json["code"] == 60008
    answer = (await password_login(platform)).json
    signed = key.sign(answer["webauthn"], verified=False)
    assert (await code_login(platform, answer["ticket"], signed, "webauthn")).status == 200


async def test_a_signature_is_good_once_and_for_its_own_ticket(platform: Platform) -> None:
    alice, key = await register(platform), SecurityKey()
    await add(alice, key)
    started = (await platform.anonymous.post("/auth/conditional/start")).json
    key.count = -1  # as synced passkeys, which do not count
    body = {"ticket": started["ticket"], "credential": key.sign(started["challenge"])}
    assert (await platform.anonymous.post("/auth/conditional/finish", body)).status == 200
    assert (await platform.anonymous.post("/auth/conditional/finish", body)).json["code"] == 60008
    again = (await platform.anonymous.post("/auth/conditional/start")).json
    mixed = body | {"ticket": again["ticket"]}
    assert (await platform.anonymous.post("/auth/conditional/finish", mixed)).json["code"] == 60008
    CLOCK.advance(301)
    late = {"ticket": again["ticket"], "credential": key.sign(again["challenge"])}
    assert (await platform.anonymous.post("/auth/conditional/finish", late)).json["code"] == 60006
    answer, second = (await password_login(platform)).json, (await password_login(platform)).json
    signed = key.sign(answer["webauthn"])
    assert (await code_login(platform, second["ticket"], signed, "webauthn")).json["code"] == 60008


async def test_a_copied_key_is_refused(platform: Platform) -> None:
    alice, key = await register(platform), SecurityKey()
    await add(alice, key)
    key.count = 10
    assert (await passkey_login(platform, key)).status == 200
    key.count = 5
    assert (await passkey_login(platform, key)).json["code"] == 60008


@pytest.mark.parametrize(
    "credential", ["", "{}", "[]", '{"id":"!","response":{}}', '{"id":1,"response":{"userHandle":2}}']
)
async def test_what_is_no_credential_is_refused(platform: Platform, credential: str) -> None:
    alice, key = await register(platform), SecurityKey()
    started = (await platform.anonymous.post("/auth/conditional/start")).json
    body = {"ticket": started["ticket"], "credential": credential}
    assert (await platform.anonymous.post("/auth/conditional/finish", body)).json["code"] == 60008
    headers = await proved(alice, await alice.post(CREDENTIALS, {}), "password", PASSWORD)
    options = (await alice.post(CREDENTIALS, {}, headers=headers)).json
    wrong = {"ticket": options["ticket"], "credential": credential or "x"}
    assert (await alice.post(CREDENTIALS, wrong)).json["code"] == 60008
    foreign = SecurityKey(origin="https://evil.example")
    wrong["credential"] = foreign.create(options["challenge"])
    assert (await alice.post(CREDENTIALS, wrong)).json["code"] == 60008
    wrong["credential"] = key.create(options["challenge"])
    assert (await alice.post(CREDENTIALS, wrong)).status == 200


async def test_a_ticket_for_a_key_is_the_caller_s_own(platform: Platform) -> None:
    alice, mallory, key = await register(platform), await register(platform, "mallory"), SecurityKey()
    headers = await proved(alice, await alice.post(CREDENTIALS, {}), "password", PASSWORD)
    options = (await alice.post(CREDENTIALS, {}, headers=headers)).json
    body = {"ticket": options["ticket"], "credential": key.create(options["challenge"])}
    assert (await mallory.post(CREDENTIALS, body)).json["code"] == 60006
    assert (await alice.post(CREDENTIALS, body)).status == 200
    assert (await alice.post(CREDENTIALS, body)).json["code"] == 60006


async def test_another_s_key_proves_nothing(platform: Platform) -> None:
    alice, mallory = await register(platform), await register(platform, "mallory")
    key, foreign = SecurityKey(), SecurityKey()
    await add(alice, key)
    await add(mallory, foreign)
    answer = (await password_login(platform)).json
    signed = foreign.sign(answer["webauthn"])
    assert (await code_login(platform, answer["ticket"], signed, "webauthn")).json["code"] == 60008
    listed = (await alice.get(CREDENTIALS)).json[0]["id"]
    refused = await mallory.delete(f"{CREDENTIALS}/{listed}")
    challenge = next(each["challenge"] for each in refused.json["mfa"]["methods"] if each["type"] == "webauthn")
    headers = await proved(mallory, refused, "webauthn", foreign.sign(challenge))
    assert (await mallory.delete(f"{CREDENTIALS}/{listed}", headers=headers)).status == 404
    assert (await mallory.patch(f"{CREDENTIALS}/{listed}", {"name": "mine"}, headers=headers)).status == 404
    assert len((await alice.get(CREDENTIALS)).json) == 1


async def test_deleting_the_last_factor_takes_the_backup_codes_with_it(platform: Platform) -> None:
    alice = await careful(platform)
    caller, first, second = alice.caller, SecurityKey(), SecurityKey()
    added = await add(caller, first, "First", "totp", alice.phone.next_code())
    assert added.json["backup_codes"] == []
    await add(caller, second, "Second", "totp", alice.phone.next_code())
    path = f"{CREDENTIALS}/{added.json['id']}"
    refused = await caller.patch(path, {"name": "Ring"})
    headers = await proved(caller, refused, "totp", alice.phone.next_code())
    assert (await caller.patch(path, {"name": "Ring"}, headers=headers)).json["name"] == "Ring"
    reply = await caller.post("/users/@me/mfa/totp/disable", headers=headers)
    caller = Caller(platform, caller.id, reply.json["token"])
    assert (await caller.get("/users/@me")).json["mfa_enabled"] is True
    answer = (await password_login(platform)).json
    assert (answer["totp"], answer["backup"]) == (False, True)
    for each, enabled in zip((await caller.get(CREDENTIALS)).json, (True, False), strict=True):
        refused = await caller.delete(f"{CREDENTIALS}/{each['id']}")
        challenge = refused.json["mfa"]["methods"][0]["challenge"]
        headers = await proved(caller, refused, "webauthn", second.sign(challenge))
        assert (await caller.delete(f"{CREDENTIALS}/{each['id']}", headers=headers)).status == 204
        assert (await caller.get("/users/@me")).json["mfa_enabled"] is enabled
    assert "token" in (await password_login(platform)).json


@pytest.mark.parametrize("url", ["http://192.0.2.1:3333", "http://moot.example", "https://192.0.2.1"])
async def test_there_are_no_passkeys_where_browsers_allow_none(platform: Platform, url: str) -> None:
    alice = await register(platform)
    platform.services.limits = structs.replace(platform.services.limits, public_url=url)
    assert (await platform.anonymous.post("/auth/conditional/start")).json["code"] == 40006
    headers = await proved(alice, await alice.post(CREDENTIALS, {}), "password", PASSWORD)
    assert (await alice.post(CREDENTIALS, {}, headers=headers)).json["code"] == 40006
