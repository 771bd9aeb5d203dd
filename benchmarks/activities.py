"""Activities: a request through the proxy against the same request to the target.

The target is the back of the example, `examples/activity`, or a bare server that answers 8 kB after 20 or 5
milliseconds, as a game's backend that reads a database does, or at once. Beside the last stands what a program that
does nothing but pass on bytes takes for the same.
"""

import json
import shutil
import sys
import urllib.request
from pathlib import Path
from typing import Any, Final

DELAYED: Final = "/delayed"
DELAYS_MS: Final = (20, 5)
BODY: Final = b"{" + b" " * 8_190 + b"}"
PASSWORD: Final = "benchmark correct horse"  # noqa: S105 of an account that lasts as long as the benchmark

EXAMPLE: Final = Path(__file__).parent.parent / "examples" / "activity"
EXAMPLE_PATHS: Final = ("/", "/api/config")


def call(port: int, path: str, body: Any, token: str = "") -> Any:
    """One POST request to the API; the response's body."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": token} if token else {})
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v10{path}", data=json.dumps(body).encode(), method="POST", headers=headers
    )
    with urllib.request.urlopen(request, timeout=30) as response:  # noqa: S310
        data = response.read()
    return json.loads(data) if data else None


def create_activity(port: int, target_port: int) -> str:
    """Create an application whose Activity leads to a target; the Host header of its origin."""
    token = call(port, "/auth/register", {"username": "activities", "password": PASSWORD})["token"]
    application_id = call(port, "/applications", {"name": "Benchmark"}, token)["id"]
    call(port, f"/applications/{application_id}/set-embedded", {"embedded": True}, token)
    mapping = {"prefix": "/", "target": f"127.0.0.1:{target_port}"}
    call(port, f"/applications/{application_id}/proxy-config", {"url_map": [mapping]}, token)
    return f"{application_id}.activities.localhost"


def request(path: str, host: str) -> bytes:
    """A request as it goes over the wire."""
    return f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()


def example(folder: Path) -> list[str]:
    """The command that serves the example's back, with its page as it is before the front is built."""
    assets = folder / "dist" / "assets"
    assets.mkdir(parents=True)
    shutil.copy(EXAMPLE / "index.html", assets.parent)
    return [sys.executable, str(shutil.copy(EXAMPLE / "server.py", folder))]


def example_settings(port: int) -> dict[str, str]:
    """The environment of the example's back."""
    return {"CLIENT_ID": "1", "CLIENT_SECRET": "1", "BOT_TOKEN": "1", "PORT": str(port)}
