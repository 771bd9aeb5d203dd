"""Getting back into an account by mail: who gets links, what they are good for, and what they tell strangers."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.clock import CLOCK
from moothall.objects.email_address import EmailAddress
from moothall.resources.user.account.operations import get_user_by_username, verify_email
from moothall.resources.user.account_mail.operations import create_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.queries import update_user
from tests.support.harness import Caller, Platform, Reply
from tests.support.mail_server import (
    PUBLIC_URL,
    MailServer,
    config_of,
    deliver_all,
    link_of,
    mail_server,
    send_mail_by,
    text_of,
    token_of,
)

ADDRESS = "alice@example.org"
PASSWORD = "correct horse battery"
NEW_PASSWORD = "quite another staple"


@pytest.fixture
async def server(platform: Platform) -> AsyncIterator[MailServer]:
    """The mail server of the platform."""
    async with mail_server() as running:
        send_mail_by(platform, config_of(running.port))
        yield running


async def register(platform: Platform, name: str = "alice", email: str | None = ADDRESS) -> Caller:
    body = {"username": name, "password": PASSWORD, "email": email}
    reply = await platform.anonymous.post("/auth/register", body)
    assert reply.status == 201, reply
    await deliver_all(platform)
    return Caller(platform, int(reply.json["user_id"]), reply.json["token"], name=name)  # type: ignore[arg-type]


async def verify(platform: Platform, server: MailServer, address: str = ADDRESS) -> Reply:
    """Use the link in the last mail to an address."""
    reply = await platform.anonymous.post("/auth/verify", {"token": token_of(server.to(address)[-1])})
    await deliver_all(platform)
    return reply


async def verified(platform: Platform, server: MailServer, name: str = "alice", email: str = ADDRESS) -> Caller:
    caller = await register(platform, name, email)
    assert (await verify(platform, server, email)).status == 200
    return caller


async def forgot(platform: Platform, login: str = ADDRESS, client: str = "127.0.0.1") -> Reply:
    reply = await platform.anonymous.post("/auth/forgot", {"login": login}, client=client)
    await deliver_all(platform)
    return reply


async def reset(platform: Platform, token: str, password: str = NEW_PASSWORD, **fields: object) -> Reply:
    reply = await platform.anonymous.post("/auth/reset", {"token": token, "password": password, **fields})
    await deliver_all(platform)
    return reply


async def log_in(platform: Platform, login: str, password: str = PASSWORD, **options: str) -> Reply:
    return await platform.anonymous.post("/auth/login", {"login": login, "password": password}, **options)


# Resetting


async def test_a_forgotten_password_is_replaced_by_the_link_in_a_mail(platform: Platform, server: MailServer) -> None:
    alice = await verified(platform, server)
    assert (await forgot(platform)).status == 204
    mail = server.to(ADDRESS)[-1]
    assert link_of(mail).startswith(f"{PUBLIC_URL}/reset?token=")
    reply = await reset(platform, token_of(mail))
    assert reply.status == 200
    assert reply.json["user_id"] == str(alice.id)
    assert (await Caller(platform, alice.id, reply.json["token"]).get("/users/@me")).status == 200
    assert (await log_in(platform, "alice", NEW_PASSWORD)).status == 200
    assert (await log_in(platform, "alice")).status == 400


async def test_a_reset_ends_all_other_logins_with_their_connections_and_tells_the_owner(
    platform: Platform, server: MailServer
) -> None:
    alice = await verified(platform, server)
    other = Caller(platform, alice.id, (await log_in(platform, "alice")).json["token"])
    await forgot(platform)
    with platform.listening():
        await reset(platform, token_of(server.to(ADDRESS)[-1]))
    for caller in (alice, other):
        assert (await caller.get("/users/@me")).status == 401
    assert platform.heard_data("SESSIONS_CLOSE")[-1]["user_id"] == alice.id
    assert server.to(ADDRESS)[-1]["Subject"] == "Your password was changed"


async def test_a_link_is_good_once_even_for_two_at_the_same_time(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    await forgot(platform)
    token = token_of(server.to(ADDRESS)[-1])
    body = {"token": token, "password": NEW_PASSWORD}
    replies = await asyncio.gather(*(platform.anonymous.post("/auth/reset", body) for _ in range(4)))
    assert sorted(reply.status for reply in replies) == [200, 400, 400, 400]
    assert (await reset(platform, token, "one more password 1")).errors_at("token") == ["INVALID_TOKEN"]


async def test_a_used_link_makes_all_others_to_the_account_worthless(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    await forgot(platform)
    await forgot(platform)
    first, second = (token_of(mail) for mail in server.to(ADDRESS)[-2:])
    assert first != second
    assert (await reset(platform, second)).status == 200
    assert (await reset(platform, first)).errors_at("token") == ["INVALID_TOKEN"]


async def test_a_link_expires_after_an_hour(
    platform: Platform, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test
    await verified(platform, server)
    await forgot(platform)
    CLOCK.advance(3601)
    assert (await reset(platform, token_of(server.to(ADDRESS)[-1]))).errors_at("token") == ["INVALID_TOKEN"]


async def test_a_password_change_and_a_new_address_make_links_worthless(platform: Platform, server: MailServer) -> None:
    alice = await verified(platform, server)
    await forgot(platform)
    body = {"password": PASSWORD, "new_password": "some other secret"}
    token = (await alice.patch("/users/@me", body)).json["token"]
    await deliver_all(platform)
    assert (await reset(platform, token_of(server.to(ADDRESS)[-2]))).errors_at("token") == ["INVALID_TOKEN"]
    await forgot(platform)
    mail = server.to(ADDRESS)[-1]
    alice = Caller(platform, alice.id, token)
    await alice.patch("/users/@me", {"password": "some other secret", "email": "new@example.org"})
    assert (await reset(platform, token_of(mail))).errors_at("token") == ["INVALID_TOKEN"]


async def test_a_weak_password_is_refused_and_leaves_the_link_good(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    await forgot(platform)
    token = token_of(server.to(ADDRESS)[-1])
    assert (await reset(platform, token, "password")).errors_at("password") == ["PASSWORD_BAD_PASSWORD"]
    assert (await reset(platform, token)).status == 200


async def test_links_of_one_purpose_are_no_good_for_the_other(platform: Platform, server: MailServer) -> None:
    await register(platform)
    token = token_of(server.to(ADDRESS)[-1])
    assert (await reset(platform, token)).errors_at("token") == ["INVALID_TOKEN"]
    assert (await platform.anonymous.post("/auth/verify", {"token": token})).status == 200
    await forgot(platform)
    token = token_of(server.to(ADDRESS)[-1])
    assert (await platform.anonymous.post("/auth/verify", {"token": token})).errors_at("token") == ["INVALID_TOKEN"]


async def test_a_closed_account_is_restored_only_when_its_user_says_so(platform: Platform, server: MailServer) -> None:
    alice = await verified(platform, server)
    assert (await alice.post("/users/@me/disable", {"password": PASSWORD})).status == 204
    await forgot(platform)
    token = token_of(server.to(ADDRESS)[-1])
    assert (await reset(platform, token)).code == 20013
    assert (await reset(platform, token, undelete=True)).status == 200


async def test_the_operators_suspension_outlives_every_link(platform: Platform, server: MailServer) -> None:
    alice = await verified(platform, server)
    await forgot(platform)
    token = token_of(server.to(ADDRESS)[-1])

    async def suspend(ctx: Context) -> None:
        await update_user(ctx.tx, alice.id, suspended=True)

    await unit_of_work.run(platform.services, ANONYMOUS, suspend, fires=())
    assert (await reset(platform, token, undelete=True)).code == 20013
    count = len(server.mails)
    assert (await forgot(platform)).status == 204
    assert len(server.mails) == count


# What strangers learn


async def test_forgetting_answers_alike_whether_there_is_an_account_or_not(
    platform: Platform, server: MailServer
) -> None:
    await verified(platform, server)
    await register(platform, "bob", "bob@example.org")
    count = len(server.mails)
    replies = [await forgot(platform, login) for login in (ADDRESS, "alice", "nobody@example.org", "nobody", "bob")]
    assert {(reply.status, reply.body) for reply in replies} == {(204, b"")}
    headers = [{k: v for k, v in reply.headers.items() if k not in {"date", "x-request-id"}} for reply in replies]
    assert all(each.keys() == headers[0].keys() for each in headers)
    # To the verified address alone: bob's is a claim.
    assert [mail["To"] for mail in server.mails[count:]] == [ADDRESS, ADDRESS]


async def test_the_request_looks_nothing_up_that_would_take_longer_for_an_account(
    platform: Platform, server: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    await verified(platform, server)
    lookups: list[str] = []

    async def find(_ctx: Context, login: str) -> None:
        lookups.append(login)

    monkeypatch.setattr("moothall.resources.user.account_mail.jobs.find_by_login", find)
    await platform.anonymous.post("/auth/forgot", {"login": ADDRESS})
    assert lookups == []
    await platform.run_due_jobs()
    assert lookups == [ADDRESS]


async def test_registering_with_a_taken_address_answers_alike_and_mails_its_owner(
    platform: Platform, server: MailServer
) -> None:
    await verified(platform, server)
    mallory, bob = await register(platform, "mallory"), await register(platform, "bob", "bob@example.org")
    seen = [(await caller.get("/users/@me")).json for caller in (mallory, bob)]
    assert [each["verified"] for each in seen] == [False, False]
    assert [each["email"] for each in seen] == [ADDRESS, "bob@example.org"]
    mail = server.to(ADDRESS)[-1]
    assert mail["Subject"] == "Your email address was entered for another account"
    assert link_of(mail) == f"{PUBLIC_URL}/forgot"
    assert "mallory" not in text_of(mail)
    assert (await log_in(platform, ADDRESS)).json["user_id"] != str(mallory.id)


async def test_changing_to_a_taken_address_answers_alike(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    mallory = await register(platform, "mallory", None)
    for address in (ADDRESS, "free@example.org"):
        reply = await mallory.patch("/users/@me", {"password": PASSWORD, "email": address})
        assert (reply.status, reply.json["email"], reply.json["verified"]) == (200, address, False)
        await deliver_all(platform)
    assert server.to(ADDRESS)[-1]["Subject"] == "Your email address was entered for another account"
    assert server.to("free@example.org")[-1]["Subject"] == "Confirm your email address"


async def test_the_host_header_gets_into_no_mail(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    headers = [("host", "evil.example"), ("x-forwarded-host", "evil.example"), ("origin", "https://evil.example")]
    await platform.anonymous.post("/auth/forgot", {"login": ADDRESS}, headers=headers)
    await deliver_all(platform)
    assert link_of(server.to(ADDRESS)[-1]).startswith(f"{PUBLIC_URL}/")
    assert all("evil" not in mail.as_string() for mail in server.mails)


async def test_a_mailbox_is_not_flooded(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    for number in range(8):
        assert (await forgot(platform, client=f"198.51.100.{number}")).status == 204
    subjects = [mail["Subject"] for mail in server.to(ADDRESS)]
    assert subjects.count("Choose a new password") == 3


# Verifying


async def test_an_address_is_verified_by_its_link_which_logs_in(platform: Platform, server: MailServer) -> None:
    alice = await register(platform)
    assert server.subjects() == ["Confirm your email address"]
    assert (await log_in(platform, ADDRESS)).status == 400
    with platform.listening() as heard:
        reply = await verify(platform, server)
    assert heard == ["USER_UPDATE"]
    assert reply.json["user_id"] == str(alice.id)
    me = (await Caller(platform, alice.id, reply.json["token"]).get("/users/@me")).json
    assert (me["email"], me["verified"]) == (ADDRESS, True)
    assert (await log_in(platform, ADDRESS)).status == 200
    assert (await verify(platform, server)).errors_at("token") == ["INVALID_TOKEN"]


async def test_of_several_who_enter_an_address_its_owner_gets_it(platform: Platform, server: MailServer) -> None:
    await register(platform, "mallory")
    alice = await register(platform)
    first, second = (token_of(mail) for mail in server.to(ADDRESS))
    assert (await platform.anonymous.post("/auth/verify", {"token": second})).json["user_id"] == str(alice.id)
    assert (await platform.anonymous.post("/auth/verify", {"token": first})).errors_at("token") == ["INVALID_TOKEN"]
    assert (await log_in(platform, ADDRESS)).json["user_id"] == str(alice.id)


async def test_an_address_from_before_there_was_mail_goes_to_who_verifies_it(platform: Platform) -> None:
    squatter = await register(platform, "squatter")
    async with mail_server() as server:
        send_mail_by(platform, config_of(server.port))
        alice = await verified(platform, server)
        assert (await squatter.get("/users/@me")).json["email"] is None
        assert (await log_in(platform, ADDRESS)).json["user_id"] == str(alice.id)


async def test_a_link_verifies_only_the_address_that_it_was_sent_to(platform: Platform, server: MailServer) -> None:
    alice = await register(platform)
    await alice.patch("/users/@me", {"password": PASSWORD, "email": "new@example.org"})
    await deliver_all(platform)
    assert (await verify(platform, server)).errors_at("token") == ["INVALID_TOKEN"]
    assert (await verify(platform, server, "new@example.org")).status == 200


async def test_another_link_can_be_asked_for_until_the_address_is_verified(
    platform: Platform, server: MailServer
) -> None:
    alice = await register(platform)
    assert (await alice.post("/auth/verify/resend")).status == 204
    await deliver_all(platform)
    assert server.subjects() == ["Confirm your email address"] * 2
    await verify(platform, server)
    assert (await alice.post("/auth/verify/resend")).status == 204
    await deliver_all(platform)
    assert len(server.mails) == 2
    bob = await register(platform, "bob", None)
    assert (await bob.post("/auth/verify/resend")).errors_at("email") == ["BASE_TYPE_REQUIRED"]


async def test_without_a_mail_server_the_requests_for_mail_are_refused(platform: Platform) -> None:
    alice = await register(platform)
    assert (await forgot(platform)).code == 40006
    assert (await alice.post("/auth/verify/resend")).code == 40006


async def test_a_link_that_the_operator_passes_on_works_without_mail(platform: Platform) -> None:
    alice = await register(platform, email=None)

    async def work(ctx: Context) -> str:
        return (await create_link(ctx, alice.id, LinkPurpose.RESET, minutes=60))[0]

    link = await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())
    assert (await reset(platform, link.partition("token=")[2])).status == 200
    assert (await log_in(platform, "alice", NEW_PASSWORD)).status == 200


# Notices


async def test_a_verified_address_of_before_hears_of_the_change(platform: Platform, server: MailServer) -> None:
    alice = await verified(platform, server)
    await alice.patch("/users/@me", {"password": PASSWORD, "email": "new@example.org"})
    await deliver_all(platform)
    assert server.to(ADDRESS)[-1]["Subject"] == "Your email address was changed"
    assert "new@example.org" not in text_of(server.to(ADDRESS)[-1])
    assert server.to("new@example.org")[-1]["Subject"] == "Confirm your email address"


async def test_a_login_from_a_new_network_is_told_once(platform: Platform, server: MailServer) -> None:
    await verified(platform, server)
    before = len(server.mails)
    await log_in(platform, "alice")
    await deliver_all(platform)
    assert len(server.mails) == before
    agent = [("user-agent", "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0")]
    body = {"login": "alice", "password": PASSWORD}
    for _ in range(2):
        await platform.anonymous.post("/auth/login", body, client="203.0.113.7", headers=agent)
        await deliver_all(platform)
    (mail,) = server.mails[before:]
    assert mail["Subject"] == "A login from a new place"
    assert "203.0.113.7" in text_of(mail)
    assert "Firefox Linux" in text_of(mail)


async def test_an_unverified_address_gets_no_notice(platform: Platform, server: MailServer) -> None:
    alice = await register(platform)
    await log_in(platform, "alice", client="203.0.113.7")
    await alice.patch("/users/@me", {"password": PASSWORD, "new_password": NEW_PASSWORD})
    await deliver_all(platform)
    assert server.subjects() == ["Confirm your email address"]


async def test_the_operator_may_vouch_with_a_mail_server_too(platform: Platform, server: MailServer) -> None:
    await register(platform)

    async def vouch(ctx: Context) -> None:
        await verify_email(ctx, await get_user_by_username(ctx, "alice"), EmailAddress.from_wire(ADDRESS))

    await unit_of_work.run(platform.services, ANONYMOUS, vouch, fires=None)
    assert (await log_in(platform, ADDRESS)).status == 200
    assert len(server.mails) == 1
