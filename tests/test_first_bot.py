"""The bot of the README, as it stands there, on a server just started."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.serving import RunningServer

_README = Path(__file__).parents[1] / "README.md"
_PATIENCE = 60.0


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    """A server with the demo."""
    with RunningServer(tmp_path / "data") as running:
        yield running


def test_the_first_bot_of_the_readme_answers(server: RunningServer) -> None:
    demo: Any = msgspec.json.decode(server.command("demo", "--json").stdout)
    (code,) = re.findall(r"^```python\n(.*?)^```", _README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    assert len([line for line in code.splitlines() if line]) <= 10
    code = code.replace("localhost:3333", server.url.removeprefix("http://"))
    environ = {**os.environ, "TOKEN": demo["bot"]["token"]}
    general, token = demo["guild"]["channels"]["general"], f"Bot {demo['bot']['token']}"

    with subprocess.Popen([sys.executable, "-c", code], env=environ, stderr=subprocess.PIPE, text=True) as bot:
        try:
            deadline, contents = time.monotonic() + _PATIENCE, list[str]()
            # Until it is connected it hears nothing.
            while "pong" not in contents:
                assert bot.poll() is None
                assert time.monotonic() < deadline, contents
                path = f"/webhooks/{demo['webhook']['id']}/{demo['webhook']['token']}?wait=true"
                assert server.request("POST", path, {"content": "ping"}).status == 200
                time.sleep(0.5)
                page = server.request("GET", f"/channels/{general}/messages?limit=10", token=token)
                contents = [message["content"] for message in page.json]
        finally:
            bot.terminate()
            bot.communicate()
