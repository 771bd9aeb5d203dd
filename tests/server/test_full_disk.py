"""A disk without room: writes are refused, reads go on, and all is well again when there is room."""

import subprocess
from pathlib import Path

import pytest

from tests.server.load import PASSWORD
from tests.support.serving import RunningServer

SMALL_DISK = ("unshare", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=24m tmpfs "$0" && exec "$@"')
"""Runs a command with a small disk of its own in the place of a folder, which vanishes with it."""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A folder that a small disk can be mounted on."""
    folder = tmp_path / "data"
    folder.mkdir()
    try:
        tried = subprocess.run([*SMALL_DISK, folder, "true"], capture_output=True, text=True, check=False, timeout=30)
    except OSError as error:
        pytest.skip(f"no way to have a small disk: {error}")
    if tried.returncode:
        pytest.skip(f"no way to have a small disk: {tried.stderr.strip()}")
    return folder


def fill(path: Path) -> None:
    """Write until there is no room for another page. Raises OSError."""
    with path.open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_disk_refuses_writes_in_shape_and_nothing_else_and_heals(data: Path) -> None:
    with RunningServer(data, "--no-demo", "--no-rate-limits", within=(*SMALL_DISK, str(data))) as server:
        token = server.request("POST", "/auth/register", {"username": "writer", "password": PASSWORD}).json["token"]
        guild = server.request("POST", "/guilds", {"name": "Full"}, token=token).json["id"]
        channels = server.request("GET", f"/guilds/{guild}/channels", token=token).json
        room = f"/channels/{next(channel['id'] for channel in channels if channel['type'] == 0)}/messages"
        kept = [server.request("POST", room, {"content": "before"}, token=token).json["id"]]

        # The disk as the server sees it, which is not as others see the folder.
        filler = Path(f"/proc/{server.process.pid}/root{data}/filler")
        with pytest.raises(OSError, match="No space left"):
            fill(filler)
        refusals = 0
        for number in range(400):
            answer = server.request("POST", room, {"content": f"{number} {'x' * 1900}"}, token=token)
            if answer.status == 200:
                kept.append(answer.json["id"])
                continue
            assert (answer.status, answer.json) == (507, {"code": 0, "message": "507: Insufficient Storage"})
            refusals += 1
            if refusals == 20:
                break
        assert refusals == 20
        role = server.request("POST", f"/guilds/{guild}/roles", {"name": "no room"}, token=token)
        assert role.status == 507

        reply = server.request("GET", f"{room}?limit=100", token=token)
        assert [message["id"] for message in reply.json] == kept[::-1][:100]
        assert len(server.request("GET", f"/guilds/{guild}/roles", token=token).json) == 1
        assert server.request("GET", f"/guilds/{guild}/audit-logs", token=token).json["audit_log_entries"] == []
        login = server.request("POST", "/auth/login", {"login": "writer", "password": PASSWORD})
        assert login.status == 507

        filler.unlink()
        for number in range(20):
            answer = server.request("POST", room, {"content": f"after {number} {'x' * 1900}"}, token=token)
            assert answer.status == 200
            kept.append(answer.json["id"])
        assert server.request("POST", f"/guilds/{guild}/roles", {"name": "room"}, token=token).status == 200
        reply = server.request("GET", f"{room}?limit=100", token=token)
        assert [message["id"] for message in reply.json] == kept[::-1][:100]
        assert server.stop() == 0
        assert "Traceback" not in server.printed
