"""The shape of a guild, recorded through a bot and loaded again."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
import yaml

from moothall.demo.community import permission_names
from moothall.objects.permissions import Permissions
from tests.support.separate_runs import PLUGIN_SOURCE
from tests.test_server.controlled import ControlledServer

sys.path.append(PLUGIN_SOURCE)
from moothall_testing.__main__ import main
from moothall_testing.recording import RecordingError, record_guild

_HALL: Final = {
    "people": {"dora": {}, "emil": {"global_name": "Emil the Quiet"}},
    "bots": {"recorder": {"owner": "dora", "permissions": ["VIEW_CHANNEL"], "intents": ["GUILD_MEMBERS"]}},
    "guilds": [
        {
            "name": "Hall",
            "owner": "dora",
            "community": True,
            "roles": [
                {"name": "@everyone", "permissions": ["VIEW_CHANNEL", "SEND_MESSAGES"]},
                {"name": "Guard", "permissions": ["KICK_MEMBERS"], "color": 0x336699, "hoist": True},
                {"name": "Herald", "mentionable": True},
            ],
            "channels": [
                {"name": "lobby", "topic": "Hello", "slow_mode": 5},
                {"name": "guards", "category": "Tower", "overwrites": {"@everyone": {"deny": ["VIEW_CHANNEL"]},
                    "Guard": {"allow": ["VIEW_CHANNEL"]}, "emil": {"allow": ["VIEW_CHANNEL"]},
                    "recorder": {"allow": ["VIEW_CHANNEL"]}}},
                {"name": "wall", "type": "voice", "category": "Tower"},
                {"name": "questions", "type": "forum", "category": "Yard", "nsfw": True},
            ],
            "members": {"emil": ["Guard"], "recorder": ["Herald"]},
            "messages": [{"channel": "lobby", "author": "emil", "content": "A private word"}],
        }
    ],
}  # fmt: skip


def _load(server: ControlledServer, community: Any) -> dict[str, str]:
    """Load a community with one guild; the ids of the guild and its channels by name."""
    guild = server.control("POST", "/load", community)["guilds"][0]
    server.info = server.control("GET", "")
    return {**guild["channels"], "guild": guild["id"]}


def _record(server: ControlledServer, guild_id: str, bot: str = "recorder") -> dict[str, Any]:
    return record_guild(guild_id, server.info["bots"][bot]["token"], api=server.info["api_url"])


@pytest.fixture
def server() -> Any:
    with ControlledServer() as controlled:
        yield controlled


def test_what_is_recorded_and_loaded_elsewhere_has_the_same_shape(server: ControlledServer, tmp_path: Path) -> None:
    hall = _load(server, _HALL)
    # Names that occur twice, as they may in a guild, though not in a file.
    for path, body in (("channels", {"name": "lobby"}), ("roles", {"name": "Guard", "permissions": "0"})):
        assert server.api("POST", f"/guilds/{hall['guild']}/{path}", body, who="dora").status < 300

    recorded = _record(server, hall["guild"])

    guild = recorded["guilds"][0]
    assert {each["name"] for each in guild["roles"]} == {"@everyone", "Guard", "Guard (2)", "Herald"}
    assert {each["name"] for each in guild["channels"]} == {"lobby", "lobby-2", "guards", "wall", "questions"}
    assert recorded["bots"]["recorder"] == _HALL["bots"]["recorder"] | {"owner": "alice"}  # type: ignore[index]
    assert guild["members"] == {"bob": [], "recorder": ["Herald"]}
    guards = next(each for each in guild["channels"] if each["name"] == "guards")
    seen = {"allow": ["VIEW_CHANNEL"]}
    assert guards["overwrites"] == {"@everyone": {"deny": ["VIEW_CHANNEL"]}, "Guard": seen, "recorder": seen}
    roles = [each["name"] for each in guild["roles"]]  # a later one is higher
    (tmp_path / "hall.json").write_text(json.dumps(recorded), encoding="utf-8")
    with ControlledServer("--fixture", str(tmp_path / "hall.json")) as other:
        assert _record(other, other.guild["id"]) == recorded
        assert [each["name"] for each in other.control("GET", "/dump")["guilds"][0]["roles"]] == roles


def test_a_recording_has_no_message_and_names_no_member(server: ControlledServer) -> None:
    hall = _load(server, _HALL)

    text = json.dumps(_record(server, hall["guild"]))

    assert "A private word" not in text
    assert "emil" not in text.casefold()
    assert hall["guild"] not in text


def test_the_command_writes_a_file_that_a_test_can_use(
    server: ControlledServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hall = _load(server, _HALL)
    file = tmp_path / "hall.yaml"
    command = ["record", hall["guild"], str(file), "--api", server.info["api_url"]]
    monkeypatch.delenv("DISCORD_TOKEN", raising=False)

    assert main(command) == 2
    assert "DISCORD_TOKEN" in capsys.readouterr().err
    monkeypatch.setenv("DISCORD_TOKEN", server.info["bots"]["recorder"]["token"])
    assert main(command) == 0

    assert yaml.safe_load(file.read_text(encoding="utf-8")) == _record(server, hall["guild"])
    monkeypatch.setenv("DISCORD_TOKEN", server.info["bots"]["bot"]["token"])
    assert main(command) == 1  # this bot is no member
    assert "404: Unknown Guild" in capsys.readouterr().err


def test_every_permission_of_the_platform_can_be_recorded(server: ControlledServer) -> None:
    hall = _load(server, _HALL)
    body = {"name": "All", "permissions": str(int(Permissions.ALL))}
    assert server.api("POST", f"/guilds/{hall['guild']}/roles", body, who="dora").status < 300

    roles = _record(server, hall["guild"])["guilds"][0]["roles"]

    everything = next(each for each in roles if each["name"] == "All")["permissions"]
    assert sorted(everything) == sorted(permission_names(int(Permissions.ALL)))


class _Limited(BaseHTTPRequestHandler):
    """An API that limits each path once, and then knows nothing."""

    limited: set[str]

    def do_GET(self) -> None:
        is_first = self.path not in self.limited
        self.limited.add(self.path)
        self.send_response(429 if is_first else 404)
        self.send_header("Retry-After", "0.01")
        self.end_headers()
        self.wfile.write(json.dumps({"message": "Unknown Guild", "code": 10004}).encode())

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def test_a_limit_is_waited_for_and_a_refusal_is_told() -> None:
    handler = type("Handler", (_Limited,), {"limited": set()})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as api:
        Thread(target=api.serve_forever, daemon=True).start()
        with pytest.raises(RecordingError, match="404: Unknown Guild"):
            record_guild("1", "token", api=f"http://127.0.0.1:{api.server_port}")
        api.shutdown()
    with pytest.raises(RecordingError, match="cannot be read"):
        record_guild("1", "token", api=f"http://127.0.0.1:{api.server_port}")
