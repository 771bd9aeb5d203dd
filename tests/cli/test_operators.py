"""Operators' commands next to a running server, which applies and announces the changes at once."""

import asyncio
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import apsw
import pytest

from moothall.objects.features import ALL
from moothall.objects.wire import Timestamp
from tests.cli.running import failed, run
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

_DAY = 86_400_000


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without a demo."""
    with ForkedServer(tmp_path_factory.mktemp("operators") / "data", "--no-demo", "--no-rate-limits") as running:
        yield running


@pytest.fixture(scope="module")
def alice(server: RunningServer) -> Any:
    """An account that a command created."""
    return made(server, "alice")


@pytest.fixture
def guild_id(server: RunningServer, alice: Any) -> str:
    """A new guild of Alice."""
    answer = server.request("POST", "/guilds", {"name": "Hall"}, token=alice["token"])
    assert answer.status == 201, answer
    return str(answer.json["id"])


def made(server: RunningServer, name: str, *arguments: str) -> Any:
    """Create an account with the command."""
    result = run("user", "create", name, "--json", "--data", str(server.data), *arguments)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def features(server: RunningServer, *arguments: str) -> str:
    """The output of `moothall guild features`."""
    result = run("guild", "features", *arguments, "--data", str(server.data))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_an_account_that_was_made_can_be_used_at_once(server: RunningServer, alice: Any) -> None:
    assert server.request("GET", "/users/@me", token=alice["token"]).json["id"] == alice["id"]
    login = server.request("POST", "/auth/login", {"login": "alice", "password": alice["password"]})
    assert login.json["user_id"] == alice["id"]


def test_a_new_account_is_printed_with_one_line_a_field(server: RunningServer) -> None:
    result = run("user", "create", "dora", "--data", str(server.data))

    lines = dict(line.split(": ") for line in result.stdout.splitlines())
    assert list(lines) == ["id", "username", "token", "password"]
    assert server.request("GET", f"/users/{lines['id']}", token=lines["token"]).json["username"] == "dora"


def test_a_password_from_standard_input_is_not_printed_and_an_address_logs_in_too(server: RunningServer) -> None:
    arguments = ("--password-stdin", "--email", "erin@example.org", "--data", str(server.data))
    result = server.command("user", "create", "erin", *arguments[:3], stdin="correct horse\n")

    assert result.returncode == 0, result.stderr
    assert "correct horse" not in result.stdout
    login = server.request("POST", "/auth/login", {"login": "Erin@example.org", "password": "correct horse"})
    assert login.status == 200


def verify(server: RunningServer, *arguments: str) -> Any:
    """Run the command that vouches for an address."""
    return run("user", "verify", *arguments, "--data", str(server.data))


def address_of(server: RunningServer, person: Any) -> tuple[str | None, bool]:
    """The email address and verification of the user's own account."""
    me = server.request("GET", "/users/@me", token=person["token"]).json
    return me["email"], me["verified"]


def test_an_operator_vouches_for_an_address_and_takes_that_back(server: RunningServer) -> None:
    person = made(server, "hanna", "--email", "Hanna@Example.org")
    assert address_of(server, person) == ("Hanna@example.org", False)

    said = verify(server, "hanna").stdout
    assert said == f"id: {person['id']}\nusername: hanna\nemail: Hanna@example.org\nverified: yes\n"
    assert address_of(server, person) == ("Hanna@example.org", True)
    said = verify(server, "hanna", "--revoke", "--json").stdout
    assert json.loads(said) == {
        "id": person["id"],
        "username": "hanna",
        "email": "Hanna@example.org",
        "verified": False,
    }
    assert address_of(server, person) == ("Hanna@example.org", False)


def test_an_operator_gives_an_address_to_its_owner_and_a_squatter_loses_it(server: RunningServer) -> None:
    squatter, owner = made(server, "squatter", "--email", "ida@example.org"), made(server, "ida")

    said = verify(server, "ida", "--email", "IDA@example.org").stdout
    assert said.splitlines()[2:] == ["email: IDA@example.org", "verified: yes", "taken_from: squatter"]
    assert address_of(server, squatter) == (None, False)
    assert address_of(server, owner) == ("IDA@example.org", True)
    again = verify(server, "squatter", "--email", "ida@example.org")
    assert failed(again) == "moothall: email: Email is already registered."


def test_an_account_is_made_with_an_address_that_is_vouched_for(server: RunningServer) -> None:
    person = made(server, "jack", "--email", "jack@b\u00fccher.example", "--verified")

    assert address_of(server, person) == ("jack@xn--bcher-kva.example", True)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("create", "kim", "--verified"), "give the address to vouch for with --email"),
        (("create", "kim", "--email", "kim@example.org\n"), "email: 'kim@example.org\\n' is no address"),
        (("verify", "alice"), "email: alice has no email address."),
        (("verify", "alice", "--email", "alice"), "email: 'alice' is no address"),
        (("verify", "alice", "--email", "a@example.org", "--revoke"), "give either --email or --revoke"),
        (("verify", "nobody"), "Unknown User"),
    ],
)
def test_an_address_that_cannot_be_vouched_for_is_a_clear_error(
    server: RunningServer, alice: Any, arguments: tuple[str, ...], reason: str
) -> None:
    del alice
    assert failed(run("user", *arguments, "--data", str(server.data))) == f"moothall: {reason}"


async def test_a_session_hears_that_its_address_is_verified(server: RunningServer) -> None:
    person = await asyncio.to_thread(made, server, "lena", "--email", "lena@example.org")
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{server.url}/gateway/?v=10&encoding=json") as socket,
    ):
        await socket.receive_json(timeout=30)
        await socket.send_json({"op": 2, "d": {"token": person["token"], "intents": 0, "properties": {}}})
        while (heard := await socket.receive_json(timeout=30))["t"] != "READY":
            pass
        assert heard["d"]["user"]["verified"] is False

        await asyncio.to_thread(verify, server, "lena")

        while (heard := await socket.receive_json(timeout=30))["t"] != "USER_UPDATE":
            pass
        assert (heard["d"]["email"], heard["d"]["verified"]) == ("lena@example.org", True)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("alice",), "username: "),
        (("Not A Name",), "username: "),
        (("frank", "--email", "nobody"), "email: 'nobody' is no address"),
    ],
)
def test_an_account_that_cannot_be_made_is_a_clear_error(
    server: RunningServer, alice: Any, arguments: tuple[str, ...], reason: str
) -> None:
    del alice
    assert failed(run("user", "create", *arguments, "--data", str(server.data))).startswith(f"moothall: {reason}")


def test_a_password_that_is_too_short_is_a_clear_error(server: RunningServer) -> None:
    result = server.command("user", "create", "frank", "--password-stdin", stdin="short\n")

    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert "password" in result.stderr


@pytest.mark.parametrize("password", ["password123", "frank2024", "moothall!"])
def test_a_password_that_is_easy_to_guess_is_a_clear_error(server: RunningServer, password: str) -> None:
    result = server.command("user", "create", "frank", "--password-stdin", stdin=f"{password}\n")

    assert (result.returncode, result.stderr.count("\n")) == (1, 1)
    assert result.stderr.startswith("moothall: password: Password is too weak or common to use.")


def test_features_and_tier_are_the_guilds_at_once_and_stand_in_its_audit_log(
    server: RunningServer, alice: Any, guild_id: str
) -> None:
    def guild() -> Any:
        return server.request("GET", f"/guilds/{guild_id}", token=alice["token"]).json

    assert guild()["features"] == []  # so that the server has it in memory
    said = features(server, guild_id, "--add", "vanity_url", "--add", "BANNER", "--tier", "3")

    assert said == "features: BANNER VANITY_URL\ntier: 3\n"
    assert (guild()["features"], guild()["premium_tier"]) == (["BANNER", "VANITY_URL"], 3)
    assert features(server, guild_id, "--remove", "BANNER") == "features: VANITY_URL\ntier: 3\n"
    assert guild()["features"] == ["VANITY_URL"]
    log = server.request("GET", f"/guilds/{guild_id}/audit-logs", token=alice["token"]).json["audit_log_entries"]
    assert [(entry["action_type"], entry["user_id"]) for entry in log] == [(1, None), (1, None)]


def test_a_change_without_effect_is_printed_and_not_recorded(server: RunningServer, alice: Any, guild_id: str) -> None:
    assert features(server, guild_id, "--remove", "BANNER", "--tier", "0") == "features: none\ntier: 0\n"
    log = server.request("GET", f"/guilds/{guild_id}/audit-logs", token=alice["token"]).json["audit_log_entries"]
    assert log == []


def test_every_known_feature_can_be_added(server: RunningServer, guild_id: str) -> None:
    said = features(server, guild_id, *(word for name in sorted(ALL) for word in ("--add", name)))

    assert said.splitlines()[0] == f"features: {' '.join(sorted(ALL))}"


def test_an_operator_gives_a_guild_its_own_code(server: RunningServer, alice: Any, guild_id: str) -> None:
    def vanity(*arguments: str) -> Any:
        return run("guild", "vanity", guild_id, *arguments, "--data", str(server.data))

    def resolved(code: str) -> int:
        return server.request("GET", f"/invites/{code}").status

    assert vanity().stdout == "code: none\nuses: 0\n"
    assert vanity("The-Hall").stdout == "code: the-hall\nuses: 0\n"
    assert resolved("the-hall") == 200
    server.request("POST", "/invites/the-hall", {}, token=made(server, "visitor")["token"])
    assert vanity().stdout == "code: the-hall\nuses: 1\n"
    assert "code: " in failed(vanity("x"))
    assert failed(vanity("b--d")).startswith("moothall: ")
    assert "either a code or --none" in failed(vanity("other", "--none"))
    assert vanity("--none").stdout == "code: none\nuses: 0\n"
    assert resolved("the-hall") == 404
    log = server.request("GET", f"/guilds/{guild_id}/audit-logs", token=alice["token"]).json["audit_log_entries"]
    assert [entry["action_type"] for entry in log] == [1, 1]


def test_taking_the_screening_away_lets_in_all_who_wait(server: RunningServer, alice: Any, guild_id: str) -> None:
    features(server, guild_id, "--add", "MEMBER_VERIFICATION_GATE_ENABLED")
    (general, *_) = [
        channel["id"]
        for channel in server.request("GET", f"/guilds/{guild_id}/channels", token=alice["token"]).json
        if channel["type"] == 0
    ]
    code = server.request("POST", f"/channels/{general}/invites", {}, token=alice["token"]).json["code"]
    newcomer = made(server, "newcomer")
    server.request("POST", f"/invites/{code}", {}, token=newcomer["token"])

    def is_pending() -> bool:
        path = f"/guilds/{guild_id}/members/{newcomer['id']}"
        return bool(server.request("GET", path, token=alice["token"]).json["pending"])

    assert is_pending()
    features(server, guild_id, "--remove", "MEMBER_VERIFICATION_GATE_ENABLED")
    deadline = time.monotonic() + 30
    while is_pending():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (("guild", "features", "{guild}", "--add", "BANANA"), "BANANA: no such feature; there are "),
        (("guild", "features", "{guild}", "--add", "NEWS", "--remove", "NEWS"), "NEWS: both "),
        (("guild", "features", "123", "--add", "NEWS"), "Unknown Guild"),
        (("member", "last-seen", "123", "456", "--days-ago", "1"), "Unknown Guild"),
        (("member", "last-seen", "{guild}", "456", "--days-ago", "1"), "Unknown Member"),
    ],
)
def test_an_unknown_id_or_feature_is_an_error(
    server: RunningServer, guild_id: str, arguments: tuple[str, ...], reason: str
) -> None:
    filled = [word.replace("{guild}", guild_id) for word in arguments]

    assert failed(run(*filled, "--data", str(server.data))).startswith(f"moothall: {reason}")


@pytest.mark.parametrize(
    "arguments",
    [
        ("guild", "features", "here", "--tier", "1"),
        ("guild", "features", "1", "--tier", "4"),
        ("member", "last-seen", "1", "2"),
        ("member", "last-seen", "1", "2", "--days-ago", "-1"),
        ("user", "create"),
    ],
)
def test_invalid_arguments_exit_with_2(arguments: tuple[str, ...]) -> None:
    assert run(*arguments).exit_code == 2


def test_a_database_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "nowhere"

    for arguments in (("user", "create", "alice"), ("guild", "features", "1"), ("demo",)):
        assert "there is no database at" in failed(run(*arguments, "--data", str(folder)))
    assert not folder.exists()


def test_a_members_last_activity_is_set_to_days_ago(server: RunningServer, alice: Any, guild_id: str) -> None:
    result = run("member", "last-seen", guild_id, alice["id"], "--days-ago", "40", "--data", str(server.data))

    assert result.exit_code == 0, result.output
    with apsw.Connection(str(server.data / "moothall.sqlite3")) as connection:
        rows = connection.execute("SELECT last_seen_at FROM member_activity WHERE guild_id = ?", (int(guild_id),))
        (moment,) = next(rows)
        rows.close()
    assert abs(Timestamp.now() - 40 * _DAY - moment) < 60_000
    assert Timestamp(moment).wire() in result.stdout


async def test_sessions_receive_the_change(server: RunningServer, alice: Any, guild_id: str) -> None:
    token = alice["token"]
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"{server.url}/gateway/?v=10&encoding=json") as socket,
    ):
        await socket.receive_json(timeout=30)
        await socket.send_json({"op": 2, "d": {"token": token, "intents": 1, "properties": {}}})
        while (heard := await socket.receive_json(timeout=30))["t"] != "GUILD_CREATE" or heard["d"]["id"] != guild_id:
            pass

        await asyncio.to_thread(features, server, guild_id, "--add", "NEWS")

        while (heard := await socket.receive_json(timeout=30))["t"] != "GUILD_UPDATE":
            pass
        assert heard["d"]["id"] == guild_id
        assert heard["d"]["features"] == ["NEWS"]


def test_commands_work_on_the_database_that_a_url_names_without_the_servers_folder(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run("user", "create", "grace", "--database-url", database_url)
    again = run("user", "create", "grace", "--database-url", database_url)
    verified = run("user", "verify", "grace", "--email", "grace@example.org", "--database-url", database_url)
    none = run("demo", "--database-url", database_url)

    assert result.exit_code == 0, result.output
    assert failed(again).startswith("moothall: username: ")
    assert verified.stdout.splitlines()[1:] == ["username: grace", "email: grace@example.org", "verified: yes"]
    assert "no demo" in failed(none)
    assert not (tmp_path / "data").exists()
