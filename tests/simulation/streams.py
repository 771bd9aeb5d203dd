"""Unix sockets between simulated processes: bytes arrive late, in pieces and in order, and are lost with the process.

What was written before a process is killed still arrives, as the kernel has it; then the other end is told.
"""

import asyncio
from collections.abc import Callable
from contextvars import Context, copy_context
from pathlib import Path
from typing import Any

from tests.simulation.processes import PROCESS, ProcessLoop
from tests.simulation.randomness import Choices

Factory = Callable[[], asyncio.BaseProtocol]


class Listening:
    """A socket that processes may listen at, one after the other."""

    def __init__(self, path: Path) -> None:
        self.path = path


class StreamLoop(ProcessLoop):
    """A loop whose processes connect to each other."""

    def __init__(self, choices: Choices, streams: Choices) -> None:
        super().__init__(choices)
        self._streams = streams
        self._listeners: dict[str, tuple[int, Context, Factory]] = {}
        self._ends: list[_End] = []
        self.resetting = 0.0
        """The chance that a connection is reset when something is sent over it."""

    async def create_unix_server(self, protocol_factory: Factory, *_: Any, sock: Any = None, **__: Any) -> Any:
        """Accept connections to a `Listening`."""
        self.listen(str(sock.path), protocol_factory)
        return _Server(self, str(sock.path))

    def listen(self, path: str, factory: Factory) -> None:
        """Accept connections to a path in this process."""
        self._listeners[path] = (PROCESS.get(), copy_context(), factory)

    def stop_listening(self, path: str) -> None:
        """Refuse connections to a path."""
        self._listeners.pop(path, None)

    async def create_unix_connection(self, protocol_factory: Factory, path: Any = None, **_: Any) -> Any:
        """Connect to a path. Raises ConnectionRefusedError where nothing listens."""
        await self.io(self._streams.delay(0.0005, 0.01))
        listener = self._listeners.get(str(path))
        if listener is None:
            raise ConnectionRefusedError(path)
        process, context, factory = listener
        near = _End(self, self._streams, PROCESS.get(), copy_context())
        far = _End(self, self._streams, process, context)
        near.peer, far.peer = far, near
        self._ends += [near, far]
        far.open(factory)
        return near, near.open(protocol_factory)

    def kill(self, process: int) -> None:
        """Let nothing of a process run any more, and let its peers notice."""
        super().kill(process)
        for path, (owner, _, _) in list(self._listeners.items()):
            if owner == process:
                del self._listeners[path]
        for end in self._ends:
            if end.process == process:
                end.lose()
        self._ends = [end for end in self._ends if end.process != process]


class _Server:
    """What `create_unix_server` returns."""

    def __init__(self, loop: StreamLoop, path: str) -> None:
        self._loop = loop
        self._path = path

    def close(self) -> None:
        """Stop listening."""
        self._loop.stop_listening(self._path)


class _End(asyncio.Transport):
    """One end of a connection."""

    peer: "_End"

    def __init__(self, loop: StreamLoop, choices: Choices, process: int, context: Context) -> None:
        super().__init__()
        self._loop = loop
        self._choices = choices
        self.process = process
        self._context = context
        self._protocol: Any = None
        self._arrives_at = 0.0
        self._closing = self._closed = False
        self._paused = False
        self._buffered: list[bytes] = []

    def open(self, factory: Factory) -> Any:
        """Make the protocol, in the process of this end."""
        self._protocol = self._context.copy().run(factory)
        self._context.copy().run(self._protocol.connection_made, self)
        return self._protocol

    def write(self, data: Any) -> None:
        """Send bytes, which arrive later, in pieces."""
        if self._closing:
            return
        if self._loop.resetting and self._choices.fault("stream reset", self._loop.resetting):
            self.abort()
            return
        data = bytes(data)
        cut = self._choices.integer(1, len(data)) if len(data) > 1 and self._choices.chance(0.1) else len(data)
        for part in (data[:cut], data[cut:]):
            if part:
                self._later(self.peer.receive, part)

    def _later(self, callback: Callable[..., None], *args: Any) -> None:
        self._arrives_at = max(self._loop.time() + self._choices.delay(0.0003, 0.02), self._arrives_at + 1e-6)
        self._loop.call_at(self._arrives_at, callback, *args, context=self.peer.context())

    def context(self) -> Context:
        """The context in which this end's protocol is called."""
        return self._context.copy()

    def receive(self, data: bytes) -> None:
        """Hand bytes to the protocol, unless it reads none now."""
        if self._paused:
            self._buffered.append(data)
        elif not self._closed:
            self._protocol.data_received(data)

    def ended(self) -> None:
        """Tell the protocol that the other end is closed, once."""
        if not self._closed:
            self._closing = self._closed = True
            self._protocol.connection_lost(None)

    def lose(self) -> None:
        """Let the other end learn that the process of this one has ended."""
        if not self._closed:
            self._closing = self._closed = True
            self._later(self.peer.ended)

    def close(self) -> None:
        """Close both ends after what was written."""
        if not self._closing:
            self._closing = True
            self._later(self.peer.ended)
            self._loop.call_soon(self.ended, context=self.context())

    def abort(self) -> None:
        """Close both ends; what is on its way arrives still."""
        self.close()

    def is_closing(self) -> bool:
        """Whether it is closed."""
        return self._closing

    def get_write_buffer_size(self) -> int:
        """Nothing waits: the other end takes everything."""
        return 0

    def pause_reading(self) -> None:
        """Keep what arrives."""
        self._paused = True

    def resume_reading(self) -> None:
        """Hand over what was kept."""
        self._paused = False
        buffered, self._buffered = self._buffered, []
        for data in buffered:
            self.receive(data)

    def get_extra_info(self, name: Any, default: Any = None) -> Any:
        """No address: a Unix socket has none."""
        del name
        return default
