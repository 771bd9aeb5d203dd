"""HTTP by hand, for what client libraries would not send."""

import asyncio
import json
from typing import Any, NamedTuple, Self
from urllib.parse import urlsplit

PATIENCE = 20.0


class Heard(NamedTuple):
    """An answer as it came."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body parsed."""
        return json.loads(self.body)


class Wire:
    """One TCP connection to a server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def to(cls, url: str) -> Self:
        """Connect."""
        target = urlsplit(url)
        return cls(*await asyncio.open_connection(target.hostname, target.port))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.writer.close()

    def send(self, method: str, path: str, body: bytes | None = None, **headers: str) -> None:
        """One request; `_` in a header's name is `-`."""
        lines = [f"{method} {path} HTTP/1.1", "host: localhost"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        self.writer.write("\r\n".join([*lines, "", ""]).encode() + (body or b""))

    async def hear(self, *, head: bool = False) -> Heard:
        """One answer; to HEAD it has no body."""
        async with asyncio.timeout(PATIENCE):
            lines = (await self.reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
            headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines[1:] if line)}
            size = 0 if head else int(headers.get("content-length", 0))
            return Heard(int(lines[0].split()[1]), headers, await self.reader.readexactly(size))

    async def ask(self, method: str, path: str, body: bytes | None = None, **headers: str) -> Heard:
        """One request and its answer."""
        self.send(method, path, body, **headers)
        return await self.hear(head=method == "HEAD")

    async def ended(self) -> bytes:
        """What came until the server closed the connection."""
        async with asyncio.timeout(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionError:
                return b""
