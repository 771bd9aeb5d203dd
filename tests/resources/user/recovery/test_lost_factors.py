"""Lost second factors: removed after days in which the owner is told and can call it off, never at once."""

from collections.abc import AsyncIterator

import pytest
from msgspec import structs

from moothall.objects.clock import CLOCK
from tests.resources.user.mfa.totp import Careful, careful, code_login, password_login
from tests.support.harness import Platform
from tests.support.mail_server import MailServer, config_of, deliver_all, mail_server, send_mail_by, token_of
from tests.support.operators import log_rows, promote

ADDRESS = "alice@example.org"
_DAY = 86_400


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port))
        yield running


async def loses_the_phone(platform: Platform, server: MailServer) -> Careful:
    """A person with two factors and a verified address."""
    alice = await careful(platform, email=ADDRESS)
    await deliver_all(platform)
    (mail,) = [each for each in server.to(ADDRESS) if "token=" in str(each)]
    assert (await platform.anonymous.post("/auth/verify", {"token": token_of(mail)})).status == 200
    return alice


async def ask(platform: Platform) -> str | None:
    ticket = (await password_login(platform)).json["ticket"]
    reply = await platform.anonymous.post("/auth/recovery", {"ticket": ticket})
    assert reply.status == 200, reply
    await deliver_all(platform)
    recovery_at: str | None = reply.json["recovery_at"]
    return recovery_at


async def pass_days(platform: Platform, days: float) -> None:
    CLOCK.advance(days * _DAY)
    await platform.run_due_jobs()
    await deliver_all(platform)


async def test_who_has_lost_the_phone_logs_in_with_the_password_after_the_waiting_time(
    platform: Platform, server: MailServer
) -> None:
    alice = await loses_the_phone(platform, server)
    with platform.listening() as heard:
        due = await ask(platform)
    assert heard == ["USER_UPDATE"]
    assert (await alice.caller.get("/users/@me/mfa/recovery")).json == {"recovery_at": due}
    assert server.subjects()[-1] == "Your second factors will be removed"
    # Asking again neither hastens nor delays it, and mails nothing.
    count = len(server.mails)
    assert await ask(platform) == due
    assert len(server.mails) == count
    await pass_days(platform, 2.9)
    assert "ticket" in (await password_login(platform)).json
    await pass_days(platform, 0.2)
    login = await password_login(platform)
    assert "token" in login.json
    # Logins of before have ended, and all of it is in the log.
    assert (await alice.caller.get("/users/@me")).status == 401
    assert server.subjects()[-1] == "Two-factor authentication is off"
    rows = await log_rows(platform)
    assert [(row.act, row.origin, row.actor) for row in rows] == [
        ("user.recovery_request", "account", "alice"),
        ("user.recovery", "account", "alice"),
    ]
    assert all(row.target_id == alice.caller.id for row in rows)


@pytest.mark.parametrize("way", ["link", "session", "code", "backup code"])
async def test_the_owner_calls_it_off(platform: Platform, server: MailServer, way: str) -> None:
    alice = await loses_the_phone(platform, server)
    await ask(platform)
    link = token_of(server.to(ADDRESS)[-1])
    if way == "link":
        assert (await platform.anonymous.post("/auth/recovery/cancel", {"token": link})).status == 204
    elif way == "session":
        assert (await alice.caller.delete("/users/@me/mfa/recovery")).status == 204
    else:
        ticket = (await password_login(platform)).json["ticket"]
        code = alice.phone.next_code() if way == "code" else alice.backup_codes[0]
        assert (await code_login(platform, ticket, code)).status == 200
    await deliver_all(platform)
    assert "Your second factors stay" in server.subjects()
    await pass_days(platform, 4)
    assert "ticket" in (await password_login(platform)).json
    # Neither the link nor the session has anything left to call off.
    again = await platform.anonymous.post("/auth/recovery/cancel", {"token": link})
    assert again.errors_at("token") == ["INVALID_TOKEN"]
    assert (await alice.caller.delete("/users/@me/mfa/recovery")).status == 404
    assert [row.act for row in await log_rows(platform)] == ["user.recovery_request", "user.recovery_call_off"]


async def test_a_request_after_one_that_was_called_off_waits_for_its_own_days(
    platform: Platform, server: MailServer
) -> None:
    alice = await loses_the_phone(platform, server)
    await ask(platform)
    CLOCK.advance(2 * _DAY)
    assert (await alice.caller.delete("/users/@me/mfa/recovery")).status == 204
    await ask(platform)
    await pass_days(platform, 2)
    assert "ticket" in (await password_login(platform)).json
    await pass_days(platform, 1.1)
    assert "token" in (await password_login(platform)).json


async def test_it_takes_the_password_a_verified_address_mail_and_the_setting(
    platform: Platform, server: MailServer
) -> None:
    for wrong in ("", "x" * 43):
        reply = await platform.anonymous.post("/auth/recovery", {"ticket": wrong})
        assert reply.code == 60006
    await careful(platform)
    ticket = (await password_login(platform)).json["ticket"]
    assert (await platform.anonymous.post("/auth/recovery", {"ticket": ticket})).code == 40006
    await careful(platform, "bob", email="bob@example.org")
    ticket = (await password_login(platform, "bob")).json["ticket"]
    assert (await platform.anonymous.post("/auth/recovery", {"ticket": ticket})).code == 40006
    await deliver_all(platform)
    token = token_of(server.to("bob@example.org")[0])
    assert (await platform.anonymous.post("/auth/verify", {"token": token})).status == 200
    platform.services.limits = structs.replace(platform.services.limits, factor_recovery_days=0)
    assert (await platform.anonymous.post("/auth/recovery", {"ticket": ticket})).code == 40006
    assert await log_rows(platform) == []


async def test_a_link_for_a_new_password_does_not_lead_to_the_removal(platform: Platform, server: MailServer) -> None:
    """Who reads the mail of the owner would call nothing off."""
    await loses_the_phone(platform, server)
    await platform.anonymous.post("/auth/forgot", {"login": "alice"})
    await deliver_all(platform)
    body = {"token": token_of(server.to(ADDRESS)[-1]), "password": "quite another staple"}
    reset = await platform.anonymous.post("/auth/reset", body)
    assert (await platform.anonymous.post("/auth/recovery", {"ticket": reset.json["ticket"]})).code == 60006


async def test_factors_of_operators_come_off_by_other_operators_alone(platform: Platform, server: MailServer) -> None:
    alice = await loses_the_phone(platform, server)
    await ask(platform)
    await promote(platform, alice.caller)
    await pass_days(platform, 4)
    assert "Your second factors stay" in server.subjects()
    ticket = (await password_login(platform)).json["ticket"]
    assert (await platform.anonymous.post("/auth/recovery", {"ticket": ticket})).code == 40006
