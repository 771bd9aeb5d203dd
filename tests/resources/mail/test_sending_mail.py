"""Mail: what is sent, by whatever mail server, and what is left of it."""

import asyncio
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import aiosmtplib
import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.mail import delivery
from moothall.resources.mail.delivery import DeliveryFailed, deliver
from moothall.resources.mail.messages import LANGUAGES, MailKind, build_message, texts
from moothall.resources.mail.operations import PER_ADDRESS, PER_NETWORK, send_mail
from moothall.resources.mail.queries import MailRow, MailState, list_mails
from moothall.resources.mail.sender import LOG_DAYS, MAX_ATTEMPTS, MailSender
from moothall.runtime.lifecycle import Lazy
from tests.activities.certificates import Authority
from tests.support.harness import Platform
from tests.support.mail_server import config_of, link_of, mail_server, send_mail_by, text_of

ALICE = EmailAddress.from_wire("alice@example.org")
LINK = "https://moot.example/reset?token=a-secret-token"
VALUES = {"name": "alice", "link": LINK, "minutes": "60"}
DAY_MS = 86_400_000


async def send(platform: Platform, address: EmailAddress = ALICE, **options: Any) -> bool:
    async def work(ctx: Context) -> bool:
        return await send_mail(ctx, MailKind.RESET_PASSWORD, address, VALUES, **options)

    return await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())


async def stored(platform: Platform) -> list[MailRow]:
    async with platform.database.read() as reader:
        return await list_mails(reader, state=None, maximum=100)


async def test_a_mail_says_the_same_in_plain_text_and_html_in_the_language_of_its_reader(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        assert await send(platform, locale="de")
        assert await send(platform, EmailAddress.from_wire("bob@example.org"), locale="fr")
        await sender.drain()
    (german,), (english,) = server.to("alice@example.org"), server.to("bob@example.org")
    assert (german["Subject"], german["Content-Language"]) == ("Wähle ein neues Passwort", "de")
    assert (english["Subject"], english["Auto-Submitted"]) == ("Choose a new password", "auto-generated")
    for mail in (german, english):
        assert link_of(mail) == LINK
        assert f'href="{LINK}"' in text_of(mail, "html")
        assert "alice" in text_of(mail)
        assert "alice" in text_of(mail, "html")
        assert mail["From"] == "Moothall <hall@moot.example>"
        assert mail["Message-ID"]


def test_every_mail_has_both_languages_with_the_same_values() -> None:
    def values(kind: MailKind, language: str) -> set[str]:
        text = texts(language)[kind]
        return set(re.findall(r"\{(\w+)\}", " ".join((text.subject, *text.paragraphs))))

    for kind in MailKind:
        assert len({frozenset(values(kind, language)) for language in LANGUAGES}) == 1
        assert len({texts(language)[kind].action is None for language in LANGUAGES}) == 1


def test_a_name_is_no_markup_in_a_mail() -> None:
    config = config_of(25)
    values = {**VALUES, "name": "<img src=x>"}
    mail = build_message(config, MailKind.RESET_PASSWORD, "en", "alice@example.org", values, mail_id=1)
    assert "<img" not in text_of(mail, "html")
    assert "<img src=x>" in text_of(mail)


async def test_the_log_says_what_was_sent_to_whom_and_never_the_link(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        assert await send(platform, user_id=UserId(Snowflake(7)))
        (waiting,) = await stored(platform)
        assert waiting.state == MailState.WAITING
        assert b"a-secret-token" not in (waiting.sealed or b"")
        await sender.drain()
    (row,) = await stored(platform)
    assert (row.kind, row.address, row.user_id) == ("reset_password", "alice@example.org", 7)
    assert (row.state, row.attempts, row.sealed) == (MailState.SENT, 1, None)
    assert row.sent_at is not None


async def test_without_a_mail_server_nothing_is_stored(platform: Platform) -> None:
    assert not await send(platform)
    assert await stored(platform) == []


async def test_a_mail_that_is_rolled_back_is_not_sent(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))

        async def work(ctx: Context) -> None:
            assert await send_mail(ctx, MailKind.RESET_PASSWORD, ALICE, VALUES)
            raise RuntimeError

        with pytest.raises(RuntimeError):
            await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())
        await sender.drain()
    assert server.mails == []


async def test_a_refused_address_is_given_up_at_once_and_a_busy_server_tried_again(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        server.refusal = f"550 no such mailbox, see {LINK}"
        await send(platform)
        await sender.drain()
        (row,) = await stored(platform)
        assert (row.state, row.attempts, row.sealed) == (MailState.FAILED, 1, None)
        assert row.last_error == "the address was refused: 550 no such mailbox, see (link)"
        server.refusal = "451 try later"
        await send(platform, EmailAddress.from_wire("bob@example.org"))
        await sender.drain()
        row = (await stored(platform))[0]
        assert (row.state, row.attempts) == (MailState.WAITING, 1)
        assert row.next_attempt_at is not None
        assert row.next_attempt_at > Timestamp.now() + 20_000
        server.refusal = None
        await sender.drain(row.next_attempt_at)
        assert [each["To"] for each in server.mails] == ["bob@example.org"]


async def test_a_mail_is_given_up_after_some_hours_of_attempts(platform: Platform) -> None:
    async with mail_server() as server:
        server.refusal = "451 try later"
        sender = send_mail_by(platform, config_of(server.port))
        await send(platform)
        delays = []
        while (row := (await stored(platform))[0]).next_attempt_at is not None:
            delays.append(row.next_attempt_at - row.created_at)
            await sender.drain(row.next_attempt_at)
    assert (row.state, row.attempts) == (MailState.FAILED, MAX_ATTEMPTS)
    assert delays == sorted(delays)
    assert timedelta(hours=2) < timedelta(milliseconds=delays[-1]) < timedelta(hours=8)


async def test_a_mail_that_cannot_be_built_is_given_up_and_the_others_are_sent(platform: Platform) -> None:
    async def work(ctx: Context) -> None:
        assert await send_mail(ctx, MailKind.RESET_PASSWORD, ALICE, {})  # its text names values that are missing

    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())
        await send(platform, EmailAddress.from_wire("bob@example.org"))
        await sender.drain()
        assert [each["To"] for each in server.mails] == ["bob@example.org"]
        while (row := (await stored(platform))[-1]).next_attempt_at is not None:
            await sender.drain(row.next_attempt_at)
    assert (row.state, row.attempts, row.sealed) == (MailState.FAILED, MAX_ATTEMPTS, None)
    assert row.last_error == "an unexpected error: KeyError"


async def test_a_mail_whose_link_has_expired_is_not_sent_any_more(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        await send(platform, expires_at=Timestamp(Timestamp.now() + 1000))
        await sender.drain(Timestamp(Timestamp.now() + 2000))
    assert server.mails == []
    assert (await stored(platform))[0].last_error == "its link has expired before it could be sent"


async def test_mail_is_limited_by_address_account_and_network_each_kind_for_itself(platform: Platform) -> None:
    async with mail_server() as server:
        send_mail_by(platform, config_of(server.port))
        spelled = EmailAddress.from_wire("ALICE@example.org")
        assert [await send(platform, spelled) for _ in range(PER_ADDRESS + 1)] == [True] * PER_ADDRESS + [False]
        assert not await send(platform)
        others = [EmailAddress.from_wire(f"p{number}@example.org") for number in range(PER_NETWORK + 1)]
        sent = [await send(platform, each, network="203.0.113.7") for each in others]
        assert sent == [True] * PER_NETWORK + [False]

        async def notice(ctx: Context) -> bool:
            values = {"name": "alice", "time": "now"}
            return await send_mail(ctx, MailKind.PASSWORD_CHANGED, ALICE, values, network="203.0.113.7")

        assert await unit_of_work.run(platform.services, ANONYMOUS, notice, fires=())


async def test_the_log_goes_back_for_thirty_days(platform: Platform) -> None:
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        await send(platform)
        await sender.drain()
        await sender.sweep(Timestamp(Timestamp.now() + (LOG_DAYS - 1) * DAY_MS))
        assert len(await stored(platform)) == 1
        await sender.sweep(Timestamp(Timestamp.now() + (LOG_DAYS + 1) * DAY_MS))
        assert await stored(platform) == []


async def test_of_several_processes_one_sends_a_mail(platform: Platform) -> None:
    async with mail_server() as server:
        config = config_of(server.port)
        senders = [send_mail_by(platform, config), *(MailSender(platform.services, config) for _ in range(3))]
        for number in range(8):
            await send(platform, EmailAddress.from_wire(f"p{number}@example.org"))
        await asyncio.gather(*(sender.drain() for sender in senders))
    assert sorted(each["To"] for each in server.mails) == [f"p{number}@example.org" for number in range(8)]


# Mail servers that misbehave

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def tcp_server(serve: Serve) -> AsyncIterator[int]:
    running = set[asyncio.Task[None]]()

    async def connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        running.add(cast("asyncio.Task[None]", asyncio.current_task()))
        try:
            await serve(reader, writer)
        except ConnectionError:
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(connection, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def hang(reader: asyncio.StreamReader, _writer: asyncio.StreamWriter) -> None:
    await reader.read()


async def hang_after_greeting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"220 hello\r\n")
    while await reader.readline():
        pass


async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answer line by line, none of which is the last."""
    while not writer.is_closing():
        writer.write(b"220-wait\r\n")
        await writer.drain()
        await asyncio.sleep(0.05)


async def garbage(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"\xff\x00\xfe nonsense\r\n" * 20)
    await writer.drain()
    writer.close()


async def endless_line(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for _ in range(200):
        if writer.is_closing():
            return
        writer.write(b"2" * 65_536)
        await writer.drain()


async def close_at_once(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.close()


@pytest.mark.parametrize(
    ("serve", "reason"),
    [
        (hang, "did not answer within 1 seconds"),
        (hang_after_greeting, "did not answer within 1 seconds"),
        (drip, "did not answer within 1 seconds"),
        (garbage, ""),
        (endless_line, ""),
        (close_at_once, ""),
    ],
)
async def test_whatever_a_mail_server_answers_the_delivery_ends_in_time_and_is_tried_again(
    platform: Platform, serve: Serve, reason: str
) -> None:
    async with tcp_server(serve) as port:
        sender = send_mail_by(platform, config_of(port, seconds=1.0))
        await send(platform)
        async with asyncio.timeout(10):
            await sender.drain()
    (row,) = await stored(platform)
    assert (row.state, row.attempts) == (MailState.WAITING, 1)
    assert row.last_error is not None
    assert reason in row.last_error
    assert len(row.last_error) <= 300


async def test_a_mail_server_that_hangs_keeps_no_request_waiting(platform: Platform) -> None:
    async with tcp_server(hang) as port:
        sender = send_mail_by(platform, config_of(port, seconds=5.0))
        await send(platform)
        sending = asyncio.create_task(sender.drain())
        await asyncio.sleep(0.2)
        async with asyncio.timeout(2):
            alice = await platform.person("alice")
            assert (await alice.patch("/users/@me", {"global_name": "Al"})).status == 200
        assert not sending.done()
        sending.cancel()
        await sender.close()


async def test_a_server_that_is_not_there_is_a_failure_with_its_name(platform: Platform) -> None:
    async with mail_server() as server:
        port = server.port
    sender = send_mail_by(platform, config_of(port))
    await send(platform)
    await sender.drain()
    assert f"127.0.0.1 port {port}" in str((await stored(platform))[0].last_error)


# TLS and logins


@pytest.fixture
def authority(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Authority:
    """An authority that certificates of mail servers are verified by."""
    made = Authority(tmp_path / "mail")

    def load() -> Any:
        return aiosmtplib, ssl.create_default_context(cafile=str(made.file))

    monkeypatch.setattr(delivery, "_LOADED", Lazy(load))
    return made


def message() -> Any:
    return build_message(config_of(25), MailKind.TEST, "en", "alice@example.org", {}, mail_id=1)


async def test_starttls_and_tls_encrypt_before_the_login(authority: Authority) -> None:
    context = authority.server_context("localhost")
    async with mail_server(starttls=context, logins=True) as server:
        config = config_of(server.port, host="localhost", tls="starttls", user="hall", password="secret")
        assert await deliver(config, message(), "alice@example.org") == "taken"
        assert (server.logins, server.encrypted) == ([("hall", "secret")], [True])
    async with mail_server(implicit_tls=context) as server:
        await deliver(config_of(server.port, host="localhost", tls="tls"), message(), "alice@example.org")
        assert len(server.mails) == 1


async def test_nothing_is_sent_to_a_server_whose_certificate_is_another_ones(authority: Authority) -> None:
    context = authority.server_context("other.example")
    async with mail_server(starttls=context, logins=True) as server:
        config = config_of(server.port, host="localhost", tls="starttls", user="hall", password="secret")
        with pytest.raises(DeliveryFailed, match=r"(?i)certificate"):
            await deliver(config, message(), "alice@example.org")
        assert (server.logins, server.mails) == ([], [])


async def test_nothing_is_sent_to_a_server_that_offers_no_starttls(authority: Authority) -> None:
    del authority
    async with mail_server() as server:
        with pytest.raises(DeliveryFailed, match="STARTTLS"):
            await deliver(config_of(server.port, host="localhost", tls="starttls"), message(), "alice@example.org")
        assert server.mails == []


async def test_a_wrong_password_of_the_mail_server_is_reported_and_not_shown(authority: Authority) -> None:
    async with mail_server(starttls=authority.server_context("localhost"), logins=True) as server:
        config = config_of(server.port, host="localhost", tls="starttls", user="hall", password="wrong-password")
        with pytest.raises(DeliveryFailed, match="refused the login: 535") as caught:
            await deliver(config, message(), "alice@example.org")
    assert "wrong-password" not in str(caught.value)
    assert not caught.value.permanent


def test_the_texts_are_part_of_the_package() -> None:
    folder = Path(delivery.__file__).with_name("texts")
    assert {path.stem for path in folder.iterdir()} == LANGUAGES
