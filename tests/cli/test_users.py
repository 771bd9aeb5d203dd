"""`moothall user`: accounts as operators see and change them, next to a running server."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyotp
import pytest

from tests.cli.running import failed, run
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

NEW_PASSWORD = "quite another staple"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a demo and without mail."""
    with ForkedServer(tmp_path_factory.mktemp("users") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


def user(server: RunningServer, *arguments: str) -> Any:
    """The JSON that a command prints."""
    result = run("user", *arguments, "--json", "--data", str(server.data))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def listed(server: RunningServer, *arguments: str) -> list[str]:
    result = run("user", "list", "--json", "--data", str(server.data), *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line)["username"] for line in result.stdout.splitlines()]


def log_in(server: RunningServer, name: str, password: str, **fields: object) -> Any:
    return server.request("POST", "/auth/login", {"login": name, "password": password, **fields})


def test_a_link_of_the_operator_replaces_a_password_once(server: RunningServer) -> None:
    alice = user(server, "create", "alice", "--email", "alice@example.org")
    assert user(server, "reset-password", "Alice@example.org")["username"] == "alice"
    assert user(server, "reset-password", alice["id"])["username"] == "alice"
    made = user(server, "reset-password", "alice")
    assert made["link"].startswith(f"{server.url}/reset?token=")
    body = {"token": made["link"].partition("token=")[2], "password": NEW_PASSWORD}
    reply = server.request("POST", "/auth/reset", body)
    assert reply.json["user_id"] == alice["id"]
    assert server.request("GET", "/users/@me", token=alice["token"]).status == 401
    assert log_in(server, "alice", NEW_PASSWORD).status == 200
    assert server.request("POST", "/auth/reset", body).status == 400
    line = failed(run("user", "reset-password", "no_one", "--data", str(server.data)))
    assert line == "moothall: Unknown User"


def test_a_suspended_account_has_no_way_in_until_the_operator_enables_it(server: RunningServer) -> None:
    bob = user(server, "create", "bob")
    link = user(server, "reset-password", "bob")["link"]
    assert user(server, "disable", "bob")["state"] == "suspended"
    assert server.request("GET", "/users/@me", token=bob["token"]).status == 401
    assert log_in(server, "bob", bob["password"], undelete=True).json["code"] == 20013
    body = {"token": link.partition("token=")[2], "password": NEW_PASSWORD, "undelete": True}
    assert server.request("POST", "/auth/reset", body).status == 400
    line = failed(run("user", "reset-password", "bob", "--data", str(server.data)))
    assert line == "moothall: bob is disabled: see `moothall user enable`"
    assert user(server, "enable", "bob")["state"] == "active"
    assert log_in(server, "bob", bob["password"]).status == 200


def test_a_suspended_person_who_had_closed_the_account_cannot_restore_it(server: RunningServer) -> None:
    made = user(server, "create", "carl")
    body = {"password": made["password"]}
    assert server.request("POST", "/users/@me/delete", body, token=made["token"]).status == 204
    user(server, "disable", "carl")
    assert log_in(server, "carl", made["password"], undelete=True).json["code"] == 20013


def test_a_deletion_can_be_called_off_until_its_day(server: RunningServer) -> None:
    dora = user(server, "create", "dora")
    shown = user(server, "delete", "dora", "--days", "3")
    assert shown["state"] == "suspended"
    assert shown["deletes_at"] is not None
    assert log_in(server, "dora", dora["password"], undelete=True).json["code"] == 20013
    assert user(server, "enable", "dora")["deletes_at"] is None
    assert log_in(server, "dora", dora["password"]).status == 200


def test_an_account_can_be_deleted_at_once(server: RunningServer) -> None:
    erin, fred = user(server, "create", "erin", "--email", "erin@example.org"), user(server, "create", "fred")
    user(server, "delete", "erin", "--days", "0")

    def name() -> str:
        return str(server.request("GET", f"/users/{erin['id']}", token=fred["token"]).json["username"])

    deadline = time.monotonic() + 30
    while name() == "erin" and time.monotonic() < deadline:
        time.sleep(0.1)
    assert name().startswith("deleted_user_")
    assert failed(run("user", "show", "erin", "--data", str(server.data))) == "moothall: Unknown User"
    assert failed(run("user", "show", erin["id"], "--data", str(server.data))) == "moothall: Unknown User"
    assert "erin@example.org" not in json.dumps(listed(server))


def test_the_list_has_pages_and_filters(server: RunningServer) -> None:
    made = [user(server, "create", f"page{number}", "--email", f"p{number}@list.example") for number in range(3)]
    assert listed(server, "--search", "LIST.example") == ["page0", "page1", "page2"]
    assert listed(server, "--search", "page_") == []
    assert listed(server, "--search", "page", "--limit", "2") == ["page0", "page1"]
    assert listed(server, "--search", "page", "--after", made[1]["id"]) == ["page2"]
    user(server, "disable", "page1")
    assert listed(server, "--search", "page", "--state", "suspended") == ["page1"]
    assert listed(server, "--search", "page", "--state", "active") == ["page0", "page2"]
    result = run("user", "list", "--search", "page", "--limit", "1", "--data", str(server.data))
    assert result.stdout.split()[-2:] == ["page0", "p0@list.example"]
    assert f"--after {made[0]['id']}" in result.stderr


def test_an_account_is_shown_with_what_it_has(server: RunningServer) -> None:
    gina = user(server, "create", "gina")
    assert server.request("POST", "/guilds", {"name": "Hall"}, token=gina["token"]).status == 201
    shown = user(server, "show", "gina")
    assert (shown["guilds"], shown["applications"], shown["logins"]) == (1, 0, 1)
    assert "password" not in json.dumps(shown)
    lines = run("user", "show", "gina", "--data", str(server.data)).stdout.splitlines()
    assert lines[:2] == [f"id: {gina['id']}", "username: gina"]
    assert "email: none" in lines


def test_bots_are_no_people(server: RunningServer) -> None:
    hans = user(server, "create", "hans")
    application = server.request("POST", "/applications", {"name": "Helper"}, token=hans["token"]).json
    bot_id = application["bot"]["id"]
    assert failed(run("user", "disable", bot_id, "--data", str(server.data))) == "moothall: Unknown User"
    assert "Helper" not in listed(server)


def invitation(server: RunningServer, *arguments: str) -> Any:
    result = run("invitation", *arguments, "--data", str(server.data))
    assert result.exit_code == 0, result.output
    return result


def test_invitations_are_made_listed_and_revoked(server: RunningServer) -> None:
    made = json.loads(invitation(server, "create", "--uses", "3", "--note", "for the choir", "--json").stdout)
    assert made["link"].startswith(f"{server.url}/register?token=")
    (row,) = [json.loads(line) for line in invitation(server, "list", "--json").stdout.splitlines()]
    assert (row["id"], row["uses_left"], row["note"]) == (made["id"], 3, "for the choir")
    assert made["link"].partition("token=")[2] not in json.dumps(row)
    invitation(server, "revoke", made["id"])
    assert invitation(server, "list").stdout == ""
    assert failed(run("invitation", "revoke", made["id"], "--data", str(server.data))) == "moothall: Unknown Token"
    line = failed(run("invitation", "create", "--email", "a@example.org", "--data", str(server.data)))
    assert line == "moothall: no mail server is set: see smtp_host and mail_from"


def test_a_new_account_waits_for_the_operator(tmp_path: Path) -> None:
    arguments = ("--no-demo", "--no-rate-limits")
    with ForkedServer(tmp_path / "data", *arguments, settings={"MOOTHALL_REGISTRATION": "approval"}) as own:
        body = {"username": "nina", "password": "correct horse battery"}
        made = own.request("POST", "/auth/register", body).json
        assert made["required_actions"] == ["await_approval"]
        assert listed(own, "--state", "pending") == ["nina"]
        assert user(own, "approve", "nina")["state"] == "active"
        assert listed(own, "--state", "pending") == []
        assert log_in(own, "nina", "correct horse battery").status == 200


def test_second_factors_that_were_lost_are_removed_with_a_line_in_the_log(
    server: RunningServer, caplog: pytest.LogCaptureFixture
) -> None:
    grace = user(server, "create", "grace")
    secret = pyotp.random_base32()
    body = {"password": grace["password"], "secret": secret, "code": pyotp.TOTP(secret).now()}
    enabled = server.request("POST", "/users/@me/mfa/totp/enable", body, token=grace["token"])
    assert enabled.status == 200, enabled
    assert "token" not in log_in(server, "grace", grace["password"]).json
    assert user(server, "reset-mfa", "grace")["username"] == "grace"
    assert f"second factors of grace ({grace['id']})" in caplog.text
    assert server.request("GET", "/users/@me", token=enabled.json["token"]).status == 401
    assert "token" in log_in(server, "grace", grace["password"]).json
    assert "no second factor" in failed(run("user", "reset-mfa", "grace", "--data", str(server.data)))
