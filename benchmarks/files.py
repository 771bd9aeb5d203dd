"""Files: 8 MiB up and down against a bare server that keeps and serves them, and what uploads take of memory.

    python -m benchmarks.files PORT FOLDER

is that bare server: uvicorn with the same loop and parser, which writes what it gets into a file and
reads what it serves from one, in portions.
"""

import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any, Final

import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MIB: Final = 1 << 20
SIZE: Final = 8 * MIB
UPLOADERS: Final = 32
CONNECTIONS: Final = 4
"""For transfers: more would measure the disk."""
_PORTION: Final = 256 * 1024
_BOUNDARY: Final = "benchmark-0123456789"
FORM_TYPE: Final = f"multipart/form-data; boundary={_BOUNDARY}"


def form(*sizes: int) -> bytes:
    """A form with files of noise."""
    parts = []
    for index, size in enumerate(sizes):
        head = (
            f'--{_BOUNDARY}\r\nContent-Disposition: form-data; name="files[{index}]"; filename="a{index}.bin"\r\n\r\n'
        )
        parts += [head.encode(), os.urandom(size), b"\r\n"]
    return b"".join([*parts, f"--{_BOUNDARY}--\r\n".encode()])


def request(port: int, path: str, body: bytes, headers: dict[str, str]) -> tuple[int, bytes]:
    """One POST over a connection of its own, sent as fast as the server takes it: the status and the body."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", "Connection: close", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        answer = b""
        while data := connection.recv(65_536):
            answer += data
    head, _, rest = answer.partition(b"\r\n\r\n")
    return int(head.split()[1]), rest


def uploading_memory(
    port: int, path: str, headers: dict[str, str], measure: Callable[[], int]
) -> tuple[int, int, float]:
    """Memory in kB before 32 clients upload 25 MiB each at once, at its highest while they do, and the seconds."""
    body = form(10 * MIB, 10 * MIB, 5 * MIB - 4096)
    own = {**headers, "Content-Type": FORM_TYPE}
    request(port, path, form(MIB), own)
    time.sleep(1)
    before = highest = measure()
    statuses: list[int] = []
    started = time.perf_counter()
    clients = [
        threading.Thread(target=lambda: statuses.append(request(port, path, body, own)[0])) for _ in range(UPLOADERS)
    ]
    for client in clients:
        client.start()
    while any(client.is_alive() for client in clients):
        highest = max(highest, measure())
        time.sleep(0.02)
    taken = time.perf_counter() - started
    if statuses != [200] * UPLOADERS:
        raise RuntimeError(f"uploads: {statuses}")
    return before, highest, taken


class BareFiles:
    """Keeps what is posted in one file, and serves another."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count = 0
        (folder / "served").write_bytes(os.urandom(SIZE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await receive()
            await send({"type": "lifespan.startup.complete"})
            await receive()
            await send({"type": "lifespan.shutdown.complete"})
        elif scope["method"] == "POST":
            self._count += 1
            with (self._folder / f"posted{self._count}").open("wb") as file:
                more = True
                while more:
                    message = await receive()
                    file.write(message.get("body", b""))
                    more = message.get("more_body", False)
            await _start(send, 2)
            await send({"type": "http.response.body", "body": b"{}"})
        else:
            await _start(send, SIZE)
            with (self._folder / "served").open("rb") as file:
                while portion := file.read(_PORTION):
                    await send({"type": "http.response.body", "body": portion, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


async def _start(send: Send, length: int) -> None:
    headers = [(b"content-length", b"%d" % length), (b"content-type", b"application/octet-stream")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})


def transfers(port: int, connections: int, seconds: float, request: bytes) -> dict[str, Any]:
    """Throughput of a request that is repeated."""
    command = [sys.executable, "-m", "benchmarks.load", "http", str(port), str(connections), str(seconds)]
    done = subprocess.run(command, input=json.dumps([request.hex()]).encode() + b"\n", capture_output=True, check=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def main() -> None:
    """Serve on the port given."""
    config = uvicorn.Config(
        BareFiles(Path(sys.argv[2])),
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
    )
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
