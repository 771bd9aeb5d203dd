"""The voice process: started by the server, ended with it."""

import asyncio
import hmac
import logging
import os
import socket
import sys
from contextlib import suppress
from typing import Final

import msgspec

from moothall.logs import start_logging
from moothall.voice.datagrams import Datagrams, bind
from moothall.voice.gateway import ClientConnection
from moothall.voice.link import (
    Departure,
    Everyone,
    FromVoice,
    Hello,
    Start,
    Statistics,
    decode_hello,
    decode_to_voice,
    encode,
    framed,
    read_frame,
)
from moothall.voice.opcodes import CloseCode
from moothall.voice.rooms import Rooms
from moothall.voice.streams import Streams

log = logging.getLogger("moothall.voice")

_HELLO_SECONDS: Final = 5.0
_SWEEP_SECONDS: Final = 5.0


class VoiceProcess:
    """The rooms, and what connects to them."""

    def __init__(self, start: Start, sockets: list[socket.socket]) -> None:
        self._start = start
        self._control: asyncio.StreamWriter | None = None
        self.rooms = Rooms(self._report)
        self._datagrams = Datagrams(self.rooms, sockets)
        self._streams = Streams(self.rooms, self._datagrams)
        self._synchronised = asyncio.Event()
        """Set once the server has told who is in voice."""

    async def run(self) -> None:
        """Serve until standard input ends, which the server holds open. Raises OSError."""
        self._datagrams.start()
        await self._streams.start()
        server = await asyncio.start_unix_server(self._accept, self._start.path)
        os.chmod(self._start.path, 0o600)  # noqa: PTH101
        sweeper = asyncio.create_task(self._sweep())
        sys.stdout.write(f"{self._datagrams.port}\n")
        sys.stdout.flush()
        try:
            await _end_of_input()
        finally:
            sweeper.cancel()
            sessions = list(self.rooms.sessions.values())
            self.rooms.end_all(sessions, CloseCode.SERVER_CRASHED, "The server is going away.")
            await asyncio.sleep(0)
            server.close()
            self._streams.close()
            self._datagrams.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP_SECONDS)
            now = asyncio.get_running_loop().time()
            self.rooms.end_expired(now)
            self._datagrams.browsers.expire(now)
            self._streams.sweep(now)
            for session in self.rooms.sessions.values():
                if session.address is not None:
                    self._datagrams.forwarding.report(session)
            forwarded = self._datagrams.forwarding.forwarded
            self._report(Statistics(len(self.rooms.sessions), forwarded, self._datagrams.dropped))

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(_HELLO_SECONDS):
                hello = decode_hello(await read_frame(reader))
            if hmac.compare_digest(hello.key, self._start.key):
                await self._serve(hello, reader, writer)
        except (asyncio.IncompleteReadError, OSError, ValueError, msgspec.MsgspecError, TimeoutError):
            pass  # the peer is gone, or none of the server's processes
        except Exception:
            log.exception("a connection failed")
        finally:
            writer.close()

    async def _serve(self, hello: Hello, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not hello.control:
            # Before, no one could identify.
            await self._synchronised.wait()
            await ClientConnection(
                self.rooms, hello, reader, writer, media_address=self._media_address, datagrams=self._datagrams
            ).run()
            return
        self._control = writer
        while True:
            message = decode_to_voice(await read_frame(reader))
            if isinstance(message, Everyone):
                self.rooms.replace_all(message)
                self._synchronised.set()
            elif isinstance(message, Departure):
                self.rooms.remove(message)
            else:
                self.rooms.update(message)

    def _media_address(self, reached_at: str) -> tuple[str, int]:
        return self._start.address or reached_at, self._datagrams.port

    def _report(self, message: FromVoice) -> None:
        if self._control is not None and not self._control.is_closing():
            self._control.write(framed(encode(message)))


async def _end_of_input() -> None:
    """Wait until nothing holds the other end of standard input open any more."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    while await reader.read(64):
        pass


async def _serve(start: Start) -> None:
    await VoiceProcess(start, bind(start.host, start.port)).run()


def main() -> int:
    """Run the process; its exit status. Its `Start` comes as the first line of standard input."""
    line = sys.stdin.buffer.readline()
    start = msgspec.json.decode(line, type=Start)
    start_logging(start.log_level, start.log_format)
    import uvloop  # noqa: PLC0415 after the check of what it was started with

    with suppress(KeyboardInterrupt):
        try:
            uvloop.run(_serve(start))
        except OSError as error:
            sys.stderr.write(f"moothall voice: {error}\n")
            return 1
    return 0
