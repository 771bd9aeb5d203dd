"""A proxy between a platform and PostgreSQL that cuts or silences connections at a moment that a test chooses."""

import asyncio
from contextlib import suppress
from enum import Enum
from typing import Self
from urllib.parse import urlsplit, urlunsplit


class Fault(Enum):
    """What happens to a connection at a request."""

    CUT_BEFORE = "the request does not reach PostgreSQL, and the connection breaks"
    CUT_AFTER = "PostgreSQL has answered the request, and the connection breaks before the answer arrives"
    SILENCE = "the request does not reach PostgreSQL, and the connection stays open"
    SILENCE_AFTER = "PostgreSQL has answered the request, the answer never arrives, and the connection stays open"


class PostgresProxy:
    """Listens at `url` and passes everything on to the database at another URL."""

    def __init__(self, url: str) -> None:
        self._target = urlsplit(url)
        self.url = ""
        self.refuses = False
        """Whether new connections are closed at once."""
        self.is_silent = False
        """Whether nothing is passed on any more, on whichever connection."""
        self.struck = asyncio.Event()
        """Set once the fault has happened."""
        self._fault: tuple[Fault, bytes] | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        user, at, _ = self._target.netloc.rpartition("@")
        self.url = urlunsplit(self._target._replace(netloc=f"{user}{at}127.0.0.1:{port}"))
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut_all()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def cut_all(self) -> None:
        """Break every connection."""
        for writer in list(self._writers):
            writer.transport.abort()

    def strike(self, fault: Fault, pattern: bytes = b"") -> None:
        """Let a fault happen at the next request that has these bytes."""
        self.struck.clear()
        self._fault = fault, pattern

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refuses:
            writer.transport.abort()
            return
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            server_reader, server_writer = await asyncio.open_connection(
                self._target.hostname, self._target.port or 5432
            )
            self._writers.add(server_writer)
            answers = asyncio.create_task(self._pass_answers(server_reader, writer))
            self._tasks.add(answers)
            with suppress(OSError, asyncio.CancelledError):
                await self._pass_requests(reader, writer, server_writer, answers)
            answers.cancel()
            server_writer.transport.abort()
            writer.transport.abort()
        finally:
            self._tasks.discard(task)

    async def _pass_answers(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while (data := await reader.read(65_536)) and not self.is_silent:
                writer.write(data)
        if not self.is_silent:
            writer.close()

    async def _pass_requests(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        server_writer: asyncio.StreamWriter,
        answers: "asyncio.Task[None]",
    ) -> None:
        while data := await reader.read(65_536):
            if self.is_silent:
                continue
            fault = self._take_fault(data)
            if fault is None:
                server_writer.write(data)
                continue
            if fault in {Fault.CUT_AFTER, Fault.SILENCE_AFTER}:
                # The answer is left in the stream, which nothing reads any more.
                answers.cancel()
                await asyncio.gather(answers, return_exceptions=True)
                server_writer.write(data)
                await self._answered(server_writer)
            self.struck.set()
            if fault in {Fault.CUT_BEFORE, Fault.CUT_AFTER}:
                writer.transport.abort()
                return
            while await reader.read(65_536):
                pass

    async def _answered(self, server_writer: asyncio.StreamWriter) -> None:
        """Wait until PostgreSQL has answered: its protocol says so in the stream that is no longer passed on."""
        protocol = server_writer.transport.get_protocol()
        assert isinstance(protocol, asyncio.StreamReaderProtocol)
        reader = protocol._stream_reader  # type: ignore[attr-defined]
        data = b""
        while not data.endswith((b"Z\0\0\0\5I", b"Z\0\0\0\5T", b"Z\0\0\0\5E")) and (part := await reader.read(65_536)):
            data += part

    def _take_fault(self, data: bytes) -> Fault | None:
        if self._fault is None or self._fault[1] not in data:
            return None
        fault, self._fault = self._fault[0], None
        return fault
