"""A TCP proxy between a process and what it uses, which can be silent in one direction or both, or cut."""

import asyncio
from contextlib import suppress
from typing import Final

_ATTEMPTS: Final = 50
"""How often a port is tried that was closed a moment ago."""


class Proxy:
    """Passes bytes on to `port` of this machine; `silence` holds them back without closing a connection."""

    def __init__(self, port: int) -> None:
        self.target = port
        self.port = 0
        self._up = asyncio.Event()
        self._down = asyncio.Event()
        self._up.set()
        self._down.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen at a free port; at the same one after `close`, which may be taken for a moment."""
        for attempt in range(_ATTEMPTS):
            try:
                self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port)
                break
            except OSError:
                if attempt + 1 == _ATTEMPTS:
                    raise
                await asyncio.sleep(0.1)
        assert self._server is not None
        self.port = self._server.sockets[0].getsockname()[1]

    def silence(self, *, up: bool = True, down: bool = True) -> None:
        """Hold back what goes up to the target, what comes down from it, or both."""
        if up:
            self._up.clear()
        if down:
            self._down.clear()

    def heal(self) -> None:
        """Pass on again, what was held back first."""
        self._up.set()
        self._down.set()

    def cut(self) -> None:
        """Reset all connections."""
        for writer in list(self._writers):
            writer.transport.abort()

    async def close(self) -> None:
        """End the connections and refuse others."""
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._connect(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        ends = {writer}
        try:
            # Who connects through a silent proxy gets no answer, as from a host that drops packets.
            await self._up.wait()
            with suppress(OSError):
                upstream, sink = await asyncio.open_connection("127.0.0.1", self.target)
                ends.add(sink)
                self._writers |= ends
                async with asyncio.TaskGroup() as group:
                    group.create_task(self._pass_on(reader, sink, self._up))
                    group.create_task(self._pass_on(upstream, writer, self._down))
        finally:
            for end in ends:
                end.transport.abort()
            self._writers -= ends

    @staticmethod
    async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, open_: asyncio.Event) -> None:
        with suppress(OSError, RuntimeError):  # the latter is what uvloop raises for a transport that was aborted
            while data := await reader.read(65_536):
                await open_.wait()
                writer.write(data)
                await writer.drain()
        writer.transport.abort()
