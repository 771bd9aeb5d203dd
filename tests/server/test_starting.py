"""Starting: once on the same data, again after an end of any kind."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.server.load import PASSWORD
from tests.support.serving import RunningServer

LATER: Final = (
    "PIL", "aiohttp", "aiosmtplib", "alembic", "anyio", "asyncpg", "cryptography.hazmat.primitives.serialization",
    "cryptography.x509", "google.protobuf", "http_ece", "idna", "jinja2", "jwt", "lxml", "nats", "prometheus_client",
    "sqlalchemy", "starlette", "yarl", "zxcvbn",
)  # fmt: skip
"""Modules that are imported by the functions that use them (docs/architecture.md, Imports)."""
_START: Final = """
import asyncio, sys
from pathlib import Path
from moothall.app.application import App
from moothall.app.server import http_config
from moothall.settings import Settings

async def main():
    app = App(Settings(data=Path(sys.argv[1]), demo=False))
    http_config(app, shutdown_seconds=1).load()
    await app.start()
    await app.stop()

asyncio.run(main())
print(*(name for name in sys.argv[2:] if name in sys.modules))
"""


def test_a_start_on_sqlite_imports_no_package_that_few_servers_need(tmp_path: Path) -> None:
    """The first start creates the tables, the second one finds them; `make statements` has compiled what they run."""
    for _ in range(2):
        command = [sys.executable, "-c", _START, str(tmp_path), *LATER]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
        assert done.stdout.split() == []


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
