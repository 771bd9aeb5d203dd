"""Starting: once on the same data, again after an end of any kind."""

import subprocess
import sys
from pathlib import Path

from tests.server.load import PASSWORD
from tests.serving import RunningServer


def test_a_second_server_on_the_same_file_is_refused_and_the_first_serves_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [sys.executable, "-m", "moothall", "serve", "--port", "0", "--data", str(data), "--no-demo"]
    with RunningServer(data, "--no-demo") as server:
        second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        assert second.returncode == 1
        assert second.stderr == f"moothall: another server serves from {data / 'moothall.sqlite3'}\n"
        assert server.request("POST", "/auth/register", {"username": "first", "password": PASSWORD}).status == 201
    with RunningServer(data, "--no-demo") as server:
        answer = server.request("POST", "/auth/login", {"login": "first", "password": PASSWORD})
        assert answer.status == 200
        assert server.request("GET", "/users/@me", token=answer.json["token"]).json["username"] == "first"
