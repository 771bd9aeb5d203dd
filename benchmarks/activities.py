"""Activities: a request through the proxy against the same request to the target.

The target answers 8 kB after 20 or 5 milliseconds, as a game's backend that reads a database does, or at once.
"""

import json
import urllib.request
from typing import Any, Final

DELAYED: Final = "/delayed"
DELAYS_MS: Final = (20, 5)
BODY: Final = b"{" + b" " * 8_190 + b"}"
PASSWORD: Final = "benchmark correct horse"  # noqa: S105 of an account that lasts as long as the benchmark


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
