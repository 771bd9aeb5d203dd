"""`moothall operator`, `token` and `audit`, next to a running server."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from tests.cli.running import failed, run
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a demo."""
    with ForkedServer(tmp_path_factory.mktemp("operators") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


def command(server: RunningServer, *arguments: str) -> Any:
    """The JSON that a command prints."""
    result = run(*arguments, "--json", "--data", str(server.data))
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def lines(server: RunningServer, *arguments: str) -> list[Any]:
    result = run(*arguments, "--json", "--data", str(server.data))
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def test_commands_make_operators_and_tokens_and_all_is_in_the_log(server: RunningServer) -> None:
    data = str(server.data)
    made = command(server, "operator", "add", "olga", "--create", "--reason", "first")
    assert made["password"]
    login = server.request("POST", "/auth/login", {"login": "olga", "password": made["password"]}).json["token"]
    assert len(server.request("GET", "/admin/v1/operators/@me", token=login).json["permissions"]) == 11
    alice = command(server, "user", "create", "alice")
    command(server, "operator", "add", "alice", "--may", "users", "--may", "log")
    token = command(server, "token", "create", "alice", "--may", "users", "--label", "script")
    program = f"Operator {token['token']}"
    assert server.request("GET", "/admin/v1/operators/@me", token=program).json["permissions"] == ["users"]
    assert [each["name"] for each in lines(server, "token", "list")] == ["script"]
    assert run("token", "revoke", token["id"], "--data", data).exit_code == 0
    assert server.request("GET", "/admin/v1/operators/@me", token=program).status == 401
    assert failed(run("token", "revoke", token["id"], "--data", data)) == "moothall: Unknown Token"
    assert [each["username"] for each in lines(server, "operator", "list")] == ["olga", "alice"]
    command(server, "operator", "remove", "alice")
    assert server.request("GET", "/admin/v1/operators/@me", token=alice["token"]).status == 403
    command(server, "user", "disable", "alice", "--reason", "spam")
    command(server, "user", "enable", "alice")
    rows = lines(server, "audit", "list")[::-1]
    assert [row["act"] for row in rows] == [
        "operator.add",
        "user.create",
        "operator.add",
        "token.create",
        "token.revoke",
        "operator.remove",
        "user.suspend",
        "user.restore",
    ]
    assert {row["origin"] for row in rows} == {"command"}
    assert rows[6]["changes"] == {"state": ["active", "suspended"]}
    assert (rows[0]["reason"], rows[6]["reason"], rows[6]["target_id"]) == ("first", "spam", alice["id"])
    assert [row["number"] for row in lines(server, "audit", "list", "--act", "token", "--before", "5")] == ["4"]


def test_a_tampered_log_is_found_by_verify(server: RunningServer) -> None:
    data = str(server.data)
    command(server, "user", "create", "zoe")
    command(server, "user", "disable", "zoe")
    head = command(server, "audit", "verify")["head"]
    assert command(server, "audit", "verify", "--known", head)["head"] == head
    assert "not like" in failed(run("audit", "verify", "--known", "x", "--data", data))
    connection = apsw.Connection(str(Path(server.data, "moothall.sqlite3")))
    with pytest.raises(apsw.ConstraintError, match="neither changed nor deleted"):
        connection.execute("UPDATE operator_log SET actor = 'mallory'")
    with pytest.raises(apsw.ConstraintError, match="neither changed nor deleted"):
        connection.execute("INSERT OR REPLACE INTO operator_log SELECT * FROM operator_log")
    last = head.partition(":")[0]
    for name in ("changed", "deleted"):
        connection.execute(f"DROP TRIGGER operator_log_{name}")
    connection.execute(f"DELETE FROM operator_log WHERE number = {last}")  # noqa: S608 a number
    assert run("audit", "verify", "--data", data).exit_code == 0
    line = failed(run("audit", "verify", "--known", head, "--data", data))
    assert line.startswith(f"moothall: row {last} is missing")
    connection.execute("UPDATE operator_log SET actor = 'mallory' WHERE number = 1")
    assert "row 1 of" in failed(run("audit", "verify", "--data", data))
    connection.close()


def test_reports_are_listed_shown_and_closed_by_commands(server: RunningServer) -> None:
    reporter, other = command(server, "user", "create", "rita"), command(server, "user", "create", "rolf")
    body = {"version": "1.0", "variant": "1", "name": "user", "breadcrumbs": [1, 11], "reported_user_id": other["id"]}
    made = server.request("POST", "/reporting/user", body, token=reporter["token"])
    report_id = made.json["report_id"]
    (listed,) = lines(server, "report", "list")
    assert (listed["id"], listed["reason"], listed["reporter_id"]) == (report_id, "spam", reporter["id"])
    shown = command(server, "report", "show", report_id)
    assert {**listed, "evidence": shown["evidence"]} == shown
    assert shown["evidence"]["username"] == "rolf"
    closed = command(server, "report", "close", report_id, "--outcome", "warned", "--note", "once", "--reason", "rules")
    assert (closed["state"], closed["note"], closed["reporter_notified"]) == ("closed", "once", False)
    again = run("report", "close", report_id, "--outcome", "warned", "--data", str(server.data))
    assert failed(again) == "moothall: report_id: This report is closed."
    assert lines(server, "report", "list") == []
    assert [each["id"] for each in lines(server, "report", "list", "--closed")] == [report_id]
    assert [(row["act"], row["reason"]) for row in lines(server, "audit", "list", "--act", "report")] == [
        ("report.close", "rules")
    ]


def test_commands_delete_a_guild_and_bring_it_back(server: RunningServer) -> None:
    token = command(server, "user", "create", "carol")["token"]
    guild_id = server.request("POST", "/guilds", {"name": "Harbour"}, token=token).json["id"]
    assert command(server, "guild", "show", guild_id)["channels"] > 0
    deleted = command(server, "guild", "delete", guild_id, "--days", "5", "--reason", "raid")
    assert deleted["deletes_at"] > deleted["deleted_at"]
    assert server.request("GET", f"/guilds/{guild_id}", token=token).status == 404
    assert guild_id in [each["id"] for each in lines(server, "guild", "list", "--deleted")]
    assert failed(run("guild", "delete", guild_id, "--data", str(server.data))) == "moothall: Unknown Guild"
    assert command(server, "guild", "restore", guild_id)["deleted_at"] is None
    assert server.request("GET", f"/guilds/{guild_id}", token=token).status == 200
    assert failed(run("guild", "restore", guild_id, "--data", str(server.data))) == "moothall: Unknown Guild"
    acts = [row["act"] for row in lines(server, "audit", "list", "--limit", "2")]
    assert acts == ["guild.restore", "guild.delete"]


def test_commands_set_rules_of_retention_and_holds(server: RunningServer) -> None:
    data = str(server.data)
    guild_id = server.request(
        "POST", "/guilds", {"name": "Archive"}, token=command(server, "user", "create", "dora")["token"]
    ).json["id"]
    rule = command(server, "retention", "set", "guild", guild_id, "--days", "90", "--reason", "law")
    assert (rule["scope"], rule["message_days"]) == ("guild", 90)
    assert lines(server, "retention", "list") == [rule]
    assert lines(server, "retention", "set", "guild", guild_id) == []
    assert (
        failed(run("retention", "set", "channel", "17", "--days", "9", "--data", data)) == "moothall: Unknown Channel"
    )
    hold = command(server, "hold", "add", "guild", guild_id, "--name", "case 7")
    assert lines(server, "hold", "list") == [hold]
    assert run("hold", "release", hold["id"], "--data", data).exit_code == 0
    assert lines(server, "hold", "list") == []
