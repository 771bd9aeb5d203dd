"""PostgreSQL for tests over connections that outlive them.

A new connection costs a test more than its requests: a process of the server that knows no table yet, and every
statement prepared again. asyncpg binds a connection to its event loop, and each test has a loop of its own; so asyncpg
gets a loop here that is whichever runs, and a transport that is moved from one loop to the next.
"""

import asyncio
import socket
from collections.abc import Callable, Iterable
from typing import Any, Final, cast

import asyncpg

from moothall.storage.postgres.connection import Deadlines, PostgresConnection, connect_arguments
from moothall.storage.postgres.engine import PostgresDatabase
from moothall.storage.postgres.pool import PostgresPool

_READ_BYTES: Final = 1 << 18
_MAX_KEPT: Final = 4
"""Few tests run more transactions at once."""


class _Transport(asyncio.Transport):
    """A connected socket, read and written by the loop that it is attached to."""

    def __init__(self, connected: socket.socket, protocol: Any) -> None:
        super().__init__()
        self._socket = connected
        self._protocol = protocol
        self._loop = asyncio.get_running_loop()
        self._unsent = bytearray()
        self._closing = False

    def attach(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.add_reader(self._socket, self._read)

    def detach(self) -> None:
        self._loop.remove_reader(self._socket)
        self._loop.remove_writer(self._socket)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is left to send, and the server has neither sent anything nor closed its end."""
        if self._closing or self._unsent:
            return False
        try:
            self._socket.recv(1, socket.MSG_PEEK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        return False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._unsent += data
        self._send()

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def _send(self) -> None:
        try:
            del self._unsent[: self._socket.send(self._unsent)]
        except BlockingIOError:
            pass
        except OSError as error:
            self._lose(error)
            return
        if self._unsent:
            self._loop.add_writer(self._socket, self._send)
        else:
            self._loop.remove_writer(self._socket)

    def _read(self) -> None:
        try:
            data = self._socket.recv(_READ_BYTES)
        except BlockingIOError:
            return
        except OSError as error:
            self._lose(error)
            return
        if data:
            self._protocol.data_received(data)
        else:
            self._protocol.eof_received()
            self._lose(None)

    def pause_reading(self) -> None:
        self._loop.remove_reader(self._socket)

    def resume_reading(self) -> None:
        if not self._closing:
            self._loop.add_reader(self._socket, self._read)

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        self._lose(None)

    def abort(self) -> None:
        self._lose(None)

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return self._socket if name == "socket" else default

    def _lose(self, error: Exception | None) -> None:
        if not self._closing:
            self._closing = True
            self.detach()
            self._socket.close()
            self._loop.call_soon(self._protocol.connection_lost, error)


class _RunningLoop:
    """Whichever loop runs, with connections that another one can take over."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio.get_running_loop(), name)

    def create_future(self) -> asyncio.Future[Any]:
        # The protocol looks this method up once.
        return asyncio.get_running_loop().create_future()

    def is_closed(self) -> bool:
        return asyncio._get_running_loop() is None

    async def create_connection(self, factory: Callable[[], Any], host: str, port: int) -> tuple[_Transport, Any]:
        family, kind, number, _, address = (
            await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        )[0]
        return await self._connect(factory, socket.socket(family, kind, number), address)

    async def create_unix_connection(self, factory: Callable[[], Any], path: str) -> tuple[_Transport, Any]:
        return await self._connect(factory, socket.socket(socket.AF_UNIX), path)

    @staticmethod
    async def _connect(factory: Callable[[], Any], sock: socket.socket, address: Any) -> tuple[_Transport, Any]:
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, address)
        except BaseException:
            sock.close()
            raise
        protocol = factory()
        transport = _Transport(sock, protocol)
        protocol.connection_made(transport)
        transport.attach()
        return transport, protocol


class KeptConnections:
    """The connections to one database that no test uses at the moment."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._idle: list[Any] = []

    async def take(self) -> Any:
        """A connection of the running loop."""
        while self._idle:
            connection = self._idle.pop()
            usable = connection._transport.is_idle
            connection._transport.attach()
            if usable:
                return connection
            connection.terminate()
        return await asyncpg.connect(
            self._url,
            ssl=False,  # TLS is a transport of the loop's own
            loop=cast("asyncio.AbstractEventLoop", _RunningLoop()),
            **connect_arguments(Deadlines()),
        )

    def put(self, connection: Any) -> None:
        """Keep a connection, or terminate it if it is closed or many are kept."""
        if connection.is_closed() or not connection._transport.is_idle or len(self._idle) == _MAX_KEPT:
            connection.terminate()
        else:
            connection._transport.detach()
            self._idle.append(connection)

    async def close(self) -> None:
        """Close all."""
        while self._idle:
            connection = self._idle.pop()
            connection._transport.attach()
            connection.terminate()


class _Pool(PostgresPool[PostgresConnection]):
    """The pool of one test."""

    def __init__(self, kept: KeptConnections, size: int) -> None:
        super().__init__(kept.take, maximum=size, seconds=Deadlines().acquire)
        self._kept = kept

    def release(self, connection: Any) -> None:
        if connection.is_in_transaction() or connection._protocol._is_cancelling():
            self.drop(connection)
        else:
            super().release(connection)

    async def close(self) -> None:
        while self._idle:
            self._kept.put(self._idle.pop()[0])
            self._count -= 1
        await super().close()


class KeptPostgres(PostgresDatabase):
    """A PostgreSQL database whose connections come from earlier tests."""

    def __init__(self, url: str, kept: KeptConnections) -> None:
        self._kept = kept
        super().__init__(url)

    async def open(self) -> None:
        """Connect when a connection is needed."""
        if not self._open:
            self._pool, self._open = self._new_pool(), True

    def _new_pool(self) -> PostgresPool[PostgresConnection]:
        return _Pool(self._kept, self._connections)
