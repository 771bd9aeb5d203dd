"""The control API: people, snapshots, time, transcript."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from openapi_spec_validator import validate

from tests.test_server.controlled import PATIENCE, ControlledServer, Gateway


def test_it_prints_one_line_of_json_with_working_tokens(server: ControlledServer) -> None:
    assert json.loads(server.line)["url"] == server.info["url"]
    assert server.api("GET", "/users/@me", who="bob").json["username"] == "bob"
    assert server.api("GET", "/users/@me", who="bot").json["bot"] is True


def test_it_ends_with_its_parent() -> None:
    program = (
        "import subprocess, sys, time\n"
        "p = subprocess.Popen([sys.executable, '-m', 'moothall', 'test-server', '--json'], stdout=subprocess.PIPE)\n"
        "p.stdout.readline(); print(p.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)

    deadline = time.monotonic() + PATIENCE
    while _is_running(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("header", [{"Host": "example.com"}, {"Origin": "http://example.com"}])
def test_web_pages_cannot_use_the_control_api(server: ControlledServer, header: dict[str, str]) -> None:
    answer = server.send("GET", server.info["control_url"], headers=header)

    assert answer.status == 403
    assert "token" not in answer.body.decode()


def test_the_platform_that_people_use_has_no_control_api(tmp_path: Path) -> None:
    from tests.support.serving import RunningServer  # noqa: PLC0415 only here

    with RunningServer(tmp_path / "data", "--no-demo") as serving:
        answer = ControlledServer().send("GET", f"{serving.url}/_test")

    assert answer.status == 404


def test_its_description_is_valid_openapi(server: ControlledServer) -> None:
    document = server.control("GET", "/openapi.json")

    validate(document)
    assert document["paths"]["/_test/time"]["post"]["operationId"] == "advance"


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("GET", "/nothing", None, 404),
        ("PATCH", "/time", None, 405),
        ("POST", "/time", {"seconds": -1}, 400),
        ("POST", "/time", {"minutes": 1}, 400),
        ("POST", "/restore", {"name": "unknown"}, 404),
        ("POST", "/people", {"name": "alice"}, 400),
        ("POST", "/bots", {"name": "helper", "owner": "zoe"}, 404),
        ("POST", "/bots", {"name": "helper", "intents": ["EVERYTHING"]}, 400),
        ("POST", "/faults", {"kind": "tea"}, 400),
        ("POST", "/outages/end", {"guild_id": "1"}, 404),
        ("POST", "/load", {"guilds": [{"name": "Hall", "owner": "zoe"}]}, 400),
    ],
)
def test_what_cannot_be_done_is_refused(
    server: ControlledServer, method: str, path: str, body: object, status: int
) -> None:
    assert server.send(method, f"{server.info['control_url']}{path}", body).status == status


def test_a_restored_platform_has_the_same_ids_and_tokens_and_nothing_else(server: ControlledServer) -> None:
    before = server.info
    message = server.say("hello").json
    server.control("POST", "/people", {"name": "carol"})

    server.info = server.control("POST", "/restore")

    assert {**server.info, "now": ""} == {**before, "now": ""}
    assert server.api("GET", f"/channels/{server.general}/messages/{message['id']}").status == 404
    assert server.api("GET", f"/channels/{server.general}/messages").json == []
    assert server.control("GET", "/transcript")["entries"][0]["kind"] == "request"


def test_a_snapshot_of_ones_own_can_be_restored(server: ControlledServer) -> None:
    server.say("kept")
    server.control("POST", "/snapshots", {"name": "greeted"})
    server.say("dropped")

    server.control("POST", "/restore", {"name": "greeted"})

    contents = [each["content"] for each in server.api("GET", f"/channels/{server.general}/messages").json]
    assert contents == ["kept"]


def test_a_person_who_is_created_can_be_a_member(server: ControlledServer) -> None:
    carol = server.control("POST", "/people", {"name": "carol", "guild_id": server.guild["id"]})

    assert server.api("GET", f"/guilds/{server.guild['id']}/members/{carol['id']}").status == 200


def test_a_bot_that_is_created_has_the_permissions_and_intents_it_was_given(server: ControlledServer) -> None:
    body = {"name": "helper", "guild_ids": [server.guild["id"]], "permissions": ["VIEW_CHANNEL"], "intents": []}
    server.control("POST", "/bots", body)
    server.info = server.control("GET", "")

    refused = server.api("PATCH", f"/channels/{server.general}", {"name": "mine"}, who="helper")
    with Gateway(server, who="helper", intents=1 << 15) as gateway:
        gateway.send(2, {"token": gateway.token, "intents": 1 << 15, "properties": {}})
        assert gateway.close_code() == 4014

    assert (refused.status, refused.json["code"]) == (403, 50013)
    assert server.warnings() == ["missing_permission", "gateway_refused"]


def test_advancing_the_clock_ends_timeouts(server: ControlledServer) -> None:
    bob = server.info["people"]["bob"]["id"]
    now = datetime.fromisoformat(server.control("POST", "/time", {"seconds": 0})["now"])
    path = f"/guilds/{server.guild['id']}/members/{bob}"
    until = (now + timedelta(hours=24)).isoformat()
    assert server.api("PATCH", path, {"communication_disabled_until": until}).status == 200
    assert server.say("let me", who="bob").status == 403

    server.control("POST", "/time", {"seconds": 25 * 3600})

    assert server.say("at last", who="bob").status == 200


def test_advancing_the_clock_closes_polls_before_it_returns(server: ControlledServer) -> None:
    poll = {"question": {"text": "Tea?"}, "answers": [{"poll_media": {"text": "Yes"}}], "duration": 1}
    message = server.api("POST", f"/channels/{server.general}/messages", {"poll": poll}).json

    server.control("POST", "/time", {"seconds": 3601})

    page = server.api("GET", f"/channels/{server.general}/messages").json
    assert [each["type"] for each in page] == [46, 0]  # the poll's result is posted
    closed = next(each for each in page if each["id"] == message["id"])
    assert closed["poll"]["results"]["is_finalized"] is True


def test_advancing_the_clock_ends_slow_mode(server: ControlledServer) -> None:
    server.api("PATCH", f"/channels/{server.general}", {"rate_limit_per_user": 600})
    assert server.say("one", who="bob").status == 200
    assert server.say("two", who="bob").status == 429

    server.control("POST", "/time", {"seconds": 601})

    assert server.say("two", who="bob").status == 200


def test_an_interaction_that_is_not_answered_fails_and_is_a_warning(server: ControlledServer) -> None:
    application = server.info["bots"]["bot"]["application_id"]
    body = {"name": "ping", "description": "Ping", "type": 1}
    command = server.api("POST", f"/applications/{application}/commands", body, who="bot").json
    use = {
        "type": 2,
        "application_id": application,
        "guild_id": server.guild["id"],
        "channel_id": server.general,
        "data": {"id": command["id"], "name": "ping", "type": 1, "options": []},
    }
    assert server.api("POST", "/interactions", use).status == 204

    server.control("POST", "/time", {"seconds": 4})

    assert server.warnings() == ["unanswered_interaction"]


def test_an_answer_to_an_interaction_counts_as_the_bots_request(server: ControlledServer) -> None:
    application = server.info["bots"]["bot"]["application_id"]
    body = {"name": "ping", "description": "Ping", "type": 1}
    command = server.api("POST", f"/applications/{application}/commands", body, who="bot").json
    use = {
        "type": 2,
        "application_id": application,
        "guild_id": server.guild["id"],
        "channel_id": server.general,
        "data": {"id": command["id"], "name": "ping", "type": 1, "options": []},
    }
    with Gateway(server).identify() as gateway:
        server.api("POST", "/interactions", use)
        interaction = gateway.event("INTERACTION_CREATE")
    callback = f"{server.info['api_url']}/interactions/{interaction['id']}/{interaction['token']}/callback"

    assert server.send("POST", callback, {"type": 99}).status == 400

    requests = [each for each in server.control("GET", "/transcript")["entries"] if each["kind"] == "request"]
    assert (requests[-1]["actor"], requests[-1]["status"]) == ("bot", 400)
    assert server.warnings() == ["refused_request"]


def test_a_bot_that_asks_for_what_is_not_modelled_is_warned(server: ControlledServer) -> None:
    assert server.api("POST", "/lobbies", {}, who="bot").status == 404
    assert server.api("GET", "/channels/1", who="bot").status == 404

    assert server.warnings() == ["not_modelled", "refused_request"]


def test_a_bot_without_the_intent_is_warned_once_of_missing_content(server: ControlledServer) -> None:
    with Gateway(server, intents=1 << 0 | 1 << 9).identify() as gateway:
        for _ in range(2):
            server.say("ping")
            assert gateway.event("MESSAGE_CREATE")["content"] == ""

        assert server.warnings() == ["missing_intent"]


def test_the_transcript_has_requests_with_their_status_and_what_bots_were_sent(server: ControlledServer) -> None:
    with Gateway(server).identify() as gateway:
        server.say("ping")
        gateway.event("MESSAGE_CREATE")
        server.say("pong", who="bot")

        entries = server.control("GET", "/transcript")["entries"]

    requests = [(e["actor"], e["method"], e["status"]) for e in entries if e["kind"] == "request"]
    assert requests == [("alice", "POST", 200), ("bot", "POST", 200)]
    dispatched = [e["name"] for e in entries if e["kind"] == "dispatch" and e["name"] != "PRESENCE_UPDATE"]
    assert dispatched[:3] == ["READY", "GUILD_CREATE", "MESSAGE_CREATE"]
    assert next(e for e in entries if e["kind"] == "gateway")["name"] == "IDENTIFY"
    page = server.send("GET", f"{server.info['control_url']}/transcript.html").body.decode()
    assert "pong" in page
    assert "IDENTIFY" in page


def test_new_entries_can_be_waited_for(server: ControlledServer) -> None:
    last = server.control("GET", "/transcript")["last"]
    started = time.monotonic()
    assert server.control("GET", f"/transcript?after={last}&wait=0.3")["entries"] == []
    assert time.monotonic() - started >= 0.3

    server.say("hello")

    page = server.control("GET", f"/transcript?after={last}&wait=30")
    assert page["entries"][0]["number"] == last + 1
    assert page["last"] > last


_HALL = {
    "people": {"dora": {}, "emil": {"global_name": "Emil"}},
    "bots": {"keeper": {"owner": "dora", "permissions": ["KICK_MEMBERS", "VIEW_CHANNEL"], "intents": []}},
    "guilds": [
        {
            "name": "Hall",
            "owner": "dora",
            "community": True,
            "roles": [{"name": "Guard", "permissions": ["KICK_MEMBERS"], "color": 255, "hoist": True}],
            "channels": [
                {"name": "news", "type": "announcement", "category": "Talk"},
                {
                    "name": "lobby",
                    "category": "Talk",
                    "topic": "Hello",
                    "slow_mode": 5,
                    "overwrites": {"Guard": {"deny": ["SEND_MESSAGES"]}, "emil": {"allow": ["SEND_MESSAGES"]}},
                },
            ],
            "members": {"emil": ["Guard"], "keeper": []},
            "messages": [{"channel": "lobby", "author": "emil", "content": "Hello!"}],
        }
    ],
}


def test_what_a_file_says_is_there_and_can_be_dumped(server: ControlledServer) -> None:
    loaded = server.control("POST", "/load", _HALL)
    server.info = server.control("GET", "")

    hall = loaded["guilds"][0]
    member = server.api("GET", f"/guilds/{hall['id']}/members/{loaded['people']['emil']['id']}", who="dora").json
    assert member["roles"] == [hall["roles"]["Guard"]]
    lobby = server.api("GET", f"/channels/{hall['channels']['lobby']}", who="emil").json
    assert (lobby["topic"], lobby["rate_limit_per_user"]) == ("Hello", 5)
    dumped = next(each for each in server.control("GET", "/dump")["guilds"] if each["name"] == "Hall")
    assert {each["name"] for each in dumped["channels"]} == {"news", "lobby"}
    assert dumped["messages"] == _HALL["guilds"][0]["messages"]  # type: ignore[index]
    assert next(each for each in dumped["roles"] if each["name"] == "Guard")["permissions"] == ["KICK_MEMBERS"]


def test_a_later_role_of_a_file_is_higher(server: ControlledServer) -> None:
    guild = {"name": "Yard", "owner": "dora", "roles": [{"name": "low"}, {"name": "middle"}, {"name": "high"}]}
    loaded = server.control("POST", "/load", {"people": {"dora": {}}, "guilds": [guild]})["guilds"][0]
    server.info = server.control("GET", "")

    roles = server.api("GET", f"/guilds/{loaded['id']}/roles", who="dora").json

    assert [each["name"] for each in sorted(roles, key=lambda each: each["position"])][1:] == ["low", "middle", "high"]


def test_a_dump_can_be_the_fixture_of_another_server(server: ControlledServer, tmp_path: Path) -> None:
    server.control("POST", "/load", _HALL)
    dumped = server.control("GET", "/dump")
    (tmp_path / "hall.json").write_text(json.dumps(dumped), encoding="utf-8")

    with ControlledServer("--fixture", str(tmp_path / "hall.json")) as other:
        again = other.control("GET", "/dump")

    # The second dump lists everything in the order of the first.
    assert again == dumped


def test_a_fixture_may_be_yaml_and_says_what_is_wrong_with_it(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text("people:\n  zoe: {}\nguilds:\n  - name: Yard\n", encoding="utf-8")
    bad.write_text("people:\n  zoe: {age: 3}\n", encoding="utf-8")

    with ControlledServer("--fixture", str(good)) as server:
        assert server.guild["name"] == "Yard"
    command = [sys.executable, "-m", "moothall", "test-server", "--fixture", str(bad)]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)

    assert refused.returncode == 1
    assert "age" in refused.stderr


def test_serve_creates_a_fixture_once(tmp_path: Path) -> None:
    from tests.support.serving import RunningServer  # noqa: PLC0415 only here

    (tmp_path / "hall.json").write_text(json.dumps(_HALL), encoding="utf-8")
    with RunningServer(tmp_path / "data", "--fixture", str(tmp_path / "hall.json")) as first:
        token = first.wait_for(r"  dora: (\S+)")[1]
    with RunningServer(tmp_path / "data", "--fixture", str(tmp_path / "hall.json")) as again:
        guilds = again.request("GET", "/users/@me/guilds", token=token).json

    assert [guild["name"] for guild in guilds] == ["Hall"]
    assert "dora" not in again.printed
