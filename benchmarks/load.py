"""The load: keep-alive connections that send one request after another, in a process of its own.

    python -m benchmarks.load http PORT CONNECTIONS SECONDS < requests.json
    python -m benchmarks.load sockets PORT COUNT < gateway.json

Plain protocols on uvloop: a client library would measure itself.
"""

import asyncio
import json
import os
import struct
import sys
import time
import zlib
from collections.abc import Callable
from functools import partial
from typing import Any, Final

import uvloop
import zstandard


class Connection(asyncio.Protocol):
    """Sends a request, waits for the whole answer, sends the next."""

    def __init__(self, requests: list[bytes], start: int, latencies: list[float], statuses: dict[bytes, int]) -> None:
        self._requests = requests
        self._index = start
        self._latencies = latencies
        self._statuses = statuses
        self._left = 0
        self._head = b""
        self._sent = 0.0
        self.transport: Any = None
        self.running = True

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self.transport = transport
        self._send()

    def _send(self) -> None:
        self._sent = time.perf_counter()
        self.transport.write(self._requests[self._index % len(self._requests)])
        self._index += 1

    def data_received(self, data: bytes) -> None:
        """Count an answer when all of it has come."""
        if self._left:
            self._left -= len(data)
        else:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            at = self._head.find(b"content-length:", 0, end)
            if at < 0:
                at = self._head.lower().find(b"content-length:", 0, end)
            length = int(self._head[at + 15 : self._head.index(b"\r\n", at)]) if at >= 0 else 0
            status = self._head[9:12]
            self._statuses[status] = self._statuses.get(status, 0) + 1
            self._left = length - (len(self._head) - end - 4)
            self._head = b""
        if self._left == 0:
            self._latencies.append(time.perf_counter() - self._sent)
            if self.running:
                self._send()


async def run_http(port: int, connections: int, seconds: float, requests: list[bytes]) -> dict[str, Any]:
    """Throughput and latencies of `connections` for so many seconds, after a short warm-up."""
    loop = asyncio.get_running_loop()
    latencies: list[float] = []
    statuses: dict[bytes, int] = {}
    opened: list[Connection] = []
    for index in range(connections):
        _, protocol = await loop.create_connection(
            partial(Connection, requests, index * max(7, len(requests) // connections), latencies, statuses),
            "127.0.0.1",
            port,
        )
        opened.append(protocol)
    await asyncio.sleep(min(0.5, seconds / 4))
    latencies.clear()
    statuses.clear()
    started = time.perf_counter()
    await asyncio.sleep(seconds)
    while not latencies:  # noqa: ASYNC110 connections announce nothing
        # What takes longer than this for the first of so many connections is measured by that one.
        await asyncio.sleep(0.01)
    taken = time.perf_counter() - started
    for connection in opened:
        connection.running = False
    count = len(latencies)
    ordered = sorted(latencies)
    await asyncio.sleep(0.1)
    for connection in opened:
        connection.transport.close()
    return {
        "per_second": count / taken,
        "p50_ms": ordered[count // 2] * 1000,
        "p99_ms": ordered[int(count * 0.99)] * 1000,
        "statuses": {status.decode(): seen for status, seen in statuses.items()},
    }


def _frame(text: str) -> bytes:
    """A masked client frame; the mask is zero, so that the text stays as it is."""
    data = text.encode()
    length = bytes([0x80 | len(data)]) if len(data) < 126 else bytes([0x80 | 126]) + struct.pack(">H", len(data))
    return b"\x81" + length + b"\0\0\0\0" + data


HEARTBEAT_SECONDS: Final = 20.0
_DISPATCH: Final = b'{"op":0,"s":'


class Socket(asyncio.Protocol):
    """A WebSocket that identifies, and counts the messages that hold a marker."""

    def __init__(self, path: str, hello: str | None, marker: bytes, counter: "Counter") -> None:
        self._path = path
        self._hello = hello
        self._marker = marker
        self._counter = counter
        self._open = False
        self._tail = b""
        self._decompress = _decompressor(path)
        self._buffer = b""
        self._sequence = b"null"
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        """Shake hands."""
        self.transport = transport
        transport.write(
            f"GET {self._path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def data_received(self, data: bytes) -> None:
        """Count."""
        if not self._open:
            self._open = True
            data = data[data.index(b"\r\n\r\n") + 4 :]
            if self._hello is not None:
                self.transport.write(_frame(self._hello))
                asyncio.get_running_loop().call_later(HEARTBEAT_SECONDS, self._heartbeat)
            self._counter.opened += 1
        if self._decompress is not None:
            payloads, self._buffer = _payloads(self._buffer + data)
            data = b"".join(map(self._decompress, payloads))
        begin = data.rfind(_DISPATCH)
        if begin >= 0:
            self._sequence = data[begin + len(_DISPATCH) :].partition(b",")[0]
        # The marker may be torn between two reads; only as much is kept as could hold its beginning.
        data = self._tail + data
        number = data.count(self._marker)
        if number:
            self._counter.marked += number
            self._counter.last = time.perf_counter()
        self._tail = data[-(len(self._marker) - 1) :] if len(self._marker) > 1 else b""

    def _heartbeat(self) -> None:
        """Acknowledge what has come, again and again."""
        if not self.transport.is_closing():
            self.transport.write(_frame('{"op":1,"d":' + self._sequence.decode() + "}"))
            asyncio.get_running_loop().call_later(HEARTBEAT_SECONDS, self._heartbeat)


def _decompressor(path: str) -> Callable[[bytes], bytes] | None:
    """What reads the stream that a URL of the gateway asks for; None for plain text."""
    if "zlib-stream" in path:
        return zlib.decompressobj().decompress
    if "zstd-stream" in path:
        return zstandard.ZstdDecompressor().decompressobj().decompress
    return None


def _payloads(data: bytes) -> tuple[list[bytes], bytes]:
    """The payloads of the whole WebSocket messages of a server, without its pings, and the bytes that follow them."""
    payloads = []
    while len(data) >= 2:
        length, start = data[1], 2
        if length == 126:
            length, start = int.from_bytes(data[2:4], "big"), 4
        elif length == 127:
            length, start = int.from_bytes(data[2:10], "big"), 10
        if len(data) < start + length:
            break
        if data[0] & 0x08 == 0:
            payloads.append(data[start : start + length])
        data = data[start + length :]
    return payloads, data


class Counter:
    """What all sockets have seen."""

    opened = 0
    marked = 0
    last = 0.0


async def run_sockets(port: int, count: int, path: str, hellos: list[str], marker: str) -> None:
    """Open `count` sockets, which identify with the texts in turn.

    Then for each line of standard input tell when so many marked frames have come.
    """
    loop = asyncio.get_running_loop()
    counter = Counter()
    for index in range(count):
        said = hellos[index % len(hellos)] if hellos else None
        await loop.create_connection(partial(Socket, path, said, marker.encode(), counter), "127.0.0.1", port)
        if index % 50 == 49:
            await asyncio.sleep(0.05)
    while counter.opened < count:  # noqa: ASYNC110 a poll each 10 ms measures nothing here
        await asyncio.sleep(0.01)
    print("open", flush=True)
    while True:
        line = await loop.run_in_executor(None, sys.stdin.readline)
        if not line.strip():
            break
        expected = int(line)
        deadline = time.perf_counter() + 60
        while counter.marked < expected and time.perf_counter() < deadline:  # noqa: ASYNC110 the frame notes its own time
            await asyncio.sleep(0.001)
        print(json.dumps({"marked": counter.marked, "last": counter.last}), flush=True)
        counter.marked = 0
    os._exit(0)


def main() -> None:
    """Read the orders from standard input's first line."""
    kind, port = sys.argv[1], int(sys.argv[2])
    orders = json.loads(sys.stdin.readline())
    if kind == "http":
        requests = [bytes.fromhex(request) for request in orders]
        print(json.dumps(uvloop.run(run_http(port, int(sys.argv[3]), float(sys.argv[4]), requests))))
    else:
        uvloop.run(run_sockets(port, int(sys.argv[3]), orders["path"], orders["hellos"], orders["marker"]))


if __name__ == "__main__":
    main()
