"""`moothall mail`: the test message, and the log."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import failed, run
from tests.support.mail_server import PUBLIC_URL, MailServer, mail_server_beside, text_of


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server_beside() as running:
        yield running


def settings(server: MailServer) -> dict[str, str | None]:
    return {
        "MOOTHALL_SMTP_HOST": "127.0.0.1",
        "MOOTHALL_SMTP_PORT": str(server.port),
        "MOOTHALL_SMTP_TLS": "none",
        "MOOTHALL_MAIL_FROM": "hall@moot.example",
        "MOOTHALL_PUBLIC_URL": PUBLIC_URL,
    }


def test_the_test_message_arrives_and_the_answer_of_the_mail_server_is_printed(server: MailServer) -> None:
    result = run("mail", "test", "alice@example.org", "--locale", "de", env=settings(server))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"sent to alice@example.org by 127.0.0.1 port {server.port} (none): taken\n"
    (mail,) = server.mails
    assert mail["Subject"] == "Ein Test von moot.example"
    assert "moot.example" in text_of(mail, "html")
    printed = json.loads(run("mail", "test", "alice@example.org", "--json", env=settings(server)).stdout)
    assert printed == {
        "address": "alice@example.org",
        "server": f"127.0.0.1 port {server.port}",
        "tls": "none",
        "answer": "taken",
    }


def test_what_is_wrong_with_the_mail_server_ends_the_command_with_the_reason(server: MailServer) -> None:
    server.refusal = "550 no such mailbox"
    result = run("mail", "test", "alice@example.org", env=settings(server))
    assert failed(result) == "moothall: the address was refused: 550 no such mailbox"
    assert failed(run("mail", "test", "alice", env=settings(server))) == "moothall: 'alice' is no email address"
    line = failed(run("mail", "test", "alice@example.org"))
    assert line == "moothall: no mail server is set: see smtp_host and mail_from"


def test_the_log_of_a_new_server_is_empty(tmp_path: Path) -> None:
    assert run("migrate", "--data", str(tmp_path)).exit_code == 0
    assert run("mail", "list", "--data", str(tmp_path)).stdout == "no mails\n"
    assert run("mail", "list", "--json", "--state", "failed", "--data", str(tmp_path)).stdout == ""
