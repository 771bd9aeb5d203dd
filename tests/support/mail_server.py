"""A mail server for tests (aiosmtpd), and platforms that send their mail to it."""

import asyncio
import re
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, Session
from msgspec import structs

from moothall.resources.mail.config import MailConfig
from moothall.resources.mail.sender import MailSender
from tests.support.harness import Platform

PUBLIC_URL = "https://moot.example"


class MailServer:
    """Takes every mail, unless `refusal` is what it answers to the recipient."""

    def __init__(self) -> None:
        self.port = 0
        self.mails: list[EmailMessage] = []
        self.logins: list[tuple[str, str]] = []
        self.encrypted: list[bool] = []
        self.refusal: str | None = None
        self.recipients: list[str] = []

    async def handle_RCPT(  # noqa: N802 aiosmtpd's name
        self, _server: Any, _session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        if self.refusal is not None:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        message = message_from_bytes(content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.mails.append(message)
        self.recipients += envelope.rcpt_tos
        self.encrypted.append(session.ssl is not None)
        return "250 taken"

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: Any, data: Any) -> AuthResult:
        """Take the login of `hall` with the password `secret`."""
        self.logins.append((data.login.decode(), data.password.decode()))
        return AuthResult(success=data.password == b"secret", handled=False)

    def to(self, address: str) -> list[EmailMessage]:
        """The mails to an address, oldest first."""
        return [each for each in self.mails if each["To"] == address]

    def subjects(self) -> list[str]:
        """The subject of each mail."""
        return [str(each["Subject"]) for each in self.mails]


def text_of(mail: EmailMessage, kind: str = "plain") -> str:
    """A mail's text, plain or HTML."""
    body = mail.get_body((kind,))
    assert body is not None
    return str(body.get_content())


def link_of(mail: EmailMessage) -> str:
    """The link of a mail, which stands on a line of its own."""
    (link,) = re.findall(r"^(https?://\S+)\r?$", text_of(mail), re.MULTILINE)
    return str(link)


def token_of(mail: EmailMessage) -> str:
    """The token in the link of a mail."""
    return link_of(mail).partition("token=")[2]


@asynccontextmanager
async def mail_server(
    *, implicit_tls: ssl.SSLContext | None = None, starttls: ssl.SSLContext | None = None, logins: bool = False
) -> AsyncIterator[MailServer]:
    """A mail server on this machine."""
    server = MailServer()

    connections: list[SMTP] = []

    def protocol() -> SMTP:
        connections.append(
            made := SMTP(
                server,
                hostname="mail.example",
                loop=asyncio.get_running_loop(),
                tls_context=starttls,
                require_starttls=starttls is not None,
                authenticator=server.authenticate if logins else None,
                auth_required=logins,
                auth_require_tls=starttls is not None,
            )
        )
        return made

    listening = await asyncio.get_running_loop().create_server(protocol, "127.0.0.1", 0, ssl=implicit_tls)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        for connection in connections:
            if connection.transport is not None:
                connection.transport.close()
        # What the connections leave is closed with the loop still running.
        await asyncio.sleep(0)


def config_of(port: int, **changes: Any) -> MailConfig:
    """The settings of a mail server on this machine."""
    config = MailConfig(
        host="127.0.0.1",
        port=port,
        tls="none",
        user=None,
        password=None,
        sender="hall@moot.example",
        public_url=PUBLIC_URL,
        seconds=5.0,
    )
    return structs.replace(config, **changes)


def send_mail_by(platform: Platform, config: MailConfig) -> MailSender:
    """Let a platform send its mail by a mail server."""
    sender = MailSender(platform.services, config)
    platform.services.resources.add(sender)
    platform.services.limits = structs.replace(platform.services.limits, public_url=config.public_url)
    return sender


async def deliver_all(platform: Platform) -> None:
    """Run the jobs that are due, and send the mails that wait."""
    await platform.run_due_jobs()
    await platform.services.resources[MailSender].drain()


@contextmanager
def mail_server_beside() -> Iterator[MailServer]:
    """A mail server with an event loop of its own, for tests that block theirs."""
    started, ended = threading.Event(), asyncio.Event()
    servers: list[MailServer] = []
    loop = asyncio.new_event_loop()

    async def run() -> None:
        async with mail_server() as server:
            servers.append(server)
            started.set()
            await ended.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),))
    thread.start()
    started.wait(20)
    try:
        yield servers[0]
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(20)
        loop.close()
