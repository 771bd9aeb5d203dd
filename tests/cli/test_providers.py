"""`moothall provider`, next to a running server."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.running import failed, run
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a demo."""
    with ForkedServer(tmp_path_factory.mktemp("providers") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


def test_a_provider_is_added_mapped_changed_and_removed(server: RunningServer, tmp_path: Path) -> None:
    data = ("--data", str(server.data))
    secret = tmp_path / "secret"
    secret.write_text("tops3cret\n")
    added = run(
        "provider", "add", "corp", "--issuer", "https://login.example.org", "--client-id", "hall",
        "--client-secret-file", str(secret), "--label", "Corp", "--json", *data,
    )  # fmt: skip
    assert added.exit_code == 0, added.output
    fields = json.loads(added.stdout)
    assert fields["redirect_uri"] == f"{server.url}/login/callback/corp"
    assert "tops3cret" not in added.output
    methods = server.request("GET", "/auth/methods").json
    assert [each["label"] for each in methods["providers"]] == ["Corp"]
    assert failed(run("provider", "map", "corp", "staff", "1", *data)) == "moothall: Unknown Guild"
    owner = json.loads(run("user", "create", "olga", "--json", *data).stdout)
    guild = server.request("POST", "/guilds", {"name": "Hall"}, token=owner["token"]).json
    mapped = json.loads(run("provider", "map", "corp", "staff", guild["id"], "--json", *data).stdout)
    listed = [json.loads(line) for line in run("provider", "groups", "corp", "--json", *data).stdout.splitlines()]
    assert [(each["name"], each["guild_name"], each["role_id"]) for each in listed] == [("staff", "Hall", None)]
    assert run("provider", "unmap", "corp", mapped["id"], *data).exit_code == 0
    assert run("provider", "change", "corp", "--disable", *data).exit_code == 0
    assert server.request("GET", "/auth/methods").json["providers"] == []
    assert run("provider", "link", "corp", "subject-1", "olga", *data).exit_code == 0
    assert run("provider", "release", "corp", "subject-1", *data).exit_code == 0
    assert failed(run("provider", "release", "corp", "subject-1", *data)) == "moothall: Unknown User"
    assert run("provider", "remove", "corp", "--reason", "moved", *data).exit_code == 0
    assert run("provider", "list", *data).stdout == ""
    log = [json.loads(line) for line in run("audit", "list", "--json", *data).stdout.splitlines()]
    assert [each["act"] for each in reversed(log) if each["act"].startswith(("provider", "identity"))] == [
        "provider.add", "provider.add_group", "provider.remove_group", "provider.change", "identity.link",
        "identity.release", "provider.remove",
    ]  # fmt: skip
    assert "tops3cret" not in json.dumps(log)


def test_what_is_wrong_with_a_provider_is_one_line(server: RunningServer) -> None:
    data = ("--data", str(server.data))
    refused = run("provider", "add", "corp", "--issuer", "http://login.example.org", "--client-id", "x", *data)
    assert failed(refused) == "moothall: issuer: Name its URL, which begins with https://."
    assert failed(run("provider", "check", "nobody", *data)).startswith("moothall: nobody: no such provider")
    run("provider", "add", "gone", "--issuer", "https://127.0.0.1:9", "--client-id", "x", *data)
    result = run("provider", "check", "gone", *data)
    assert result.exit_code == 1
    assert result.stderr.startswith("moothall: gone: 127.0.0.1:9 does not answer")
