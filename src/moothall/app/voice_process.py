"""Starts the voice process with the first participant, watches it, and tells it who is in voice."""

import asyncio
import json
import logging
import secrets
import shutil
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec

from moothall.objects.clock import stopwatch
from moothall.runtime.background import BackgroundTask
from moothall.settings import Settings
from moothall.voice.link import (
    Departure,
    Everyone,
    FromVoice,
    Hello,
    Participant,
    Start,
    decode_from_voice,
    encode,
    framed,
    read_frame,
)

log = logging.getLogger("moothall.voice")

_READY_SECONDS: Final = 20.0
_END_SECONDS: Final = 3.0
_FIRST_PAUSE: Final = 0.1
_MAX_PAUSE: Final = 10.0
_STABLE_SECONDS: Final = 10.0
"""After so many seconds a process counts as started well."""


class VoiceSocket:
    """The path of the local socket and its key, which only the processes of this server know."""

    def __init__(self, folder: Path | None = None) -> None:
        """`folder` is one of this user alone; without one, it is made when it is needed."""
        self._folder = folder
        self._own: Path | None = None
        self.key = secrets.token_hex(32)

    @property
    def path(self) -> Path:
        """The socket's path."""
        if self._folder is None:
            self._folder = self._own = Path(tempfile.mkdtemp(prefix="moothall-voice-"))
        return self._folder / "voice"

    def remove(self) -> None:
        """Delete the folder, if it was made here."""
        if self._own is not None:
            shutil.rmtree(self._own, ignore_errors=True)
            self._folder = self._own = None

    async def connect(self, hello: Hello) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the voice process. Raises OSError if it does not run."""
        reader, writer = await asyncio.open_unix_connection(str(self.path))
        writer.write(framed(encode(hello)))
        return reader, writer


class VoiceProcess(BackgroundTask):
    """The voice process of this server, started again whenever it ends.

    `everyone` returns all who are in voice, `on_message` is called with what the process tells, and `on_restarted` is
    called when a new process has taken over.
    """

    def __init__(
        self,
        settings: Settings,
        socket: VoiceSocket,
        *,
        everyone: Callable[[], list[Participant]],
        on_message: Callable[[FromVoice], None],
        on_restarted: Callable[[], None],
    ) -> None:
        super().__init__()
        self._settings = settings
        self.socket = socket
        self._everyone = everyone
        self._on_message = on_message
        self._on_restarted = on_restarted
        self._control: asyncio.StreamWriter | None = None
        self.pid: int | None = None
        """Of the running process; None without one."""

    def ensure_started(self) -> None:
        """Start the process, unless it has been started."""
        if self._task is None:
            self.start()

    def tell(self, message: Participant | Departure) -> None:
        """Tell the process of a change; one that starts later is told everything."""
        if self._control is not None:
            self._control.write(framed(encode(message)))

    async def stop(self) -> None:
        """End the process, and wait for its end."""
        await super().stop()
        self.socket.remove()

    async def _run(self) -> None:
        pause, restarted = _FIRST_PAUSE, False
        while not self._stopping:
            started_at = stopwatch()
            try:
                await self._run_once(restarted=restarted)
                log.warning("the voice process has ended, and is started again")
            except (OSError, TimeoutError, ValueError, msgspec.MsgspecError) as problem:
                log.error("the voice process does not run: %s", str(problem) or "it did not start in time")  # noqa: TRY400
            except Exception:
                log.exception("the voice process cannot be followed")
            pause = _FIRST_PAUSE if stopwatch() - started_at > _STABLE_SECONDS else min(pause * 2, _MAX_PAUSE)
            restarted = True
            await asyncio.sleep(pause)

    async def _run_once(self, *, restarted: bool) -> None:
        """Run a process until it ends."""
        start = await self._start_message()
        self.socket.path.unlink(missing_ok=True)
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "moothall", "voice", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        self.pid = process.pid
        try:
            if process.stdin is None or process.stdout is None:
                raise OSError("it has no pipes")
            process.stdin.write(json.dumps(msgspec.to_builtins(start)).encode() + b"\n")
            async with asyncio.timeout(_READY_SECONDS):
                port = await process.stdout.readline()
            if not port:
                raise OSError("it ended at its start")
            await self._follow(restarted=restarted)
        finally:
            self.pid = self._control = None
            await _end(process)

    async def _follow(self, *, restarted: bool) -> None:
        """Tell the process who is in voice, and hear of its sessions until the connection ends."""
        reader, writer = await self.socket.connect(Hello(key=self.socket.key, control=True))
        try:
            writer.write(framed(encode(Everyone(self._everyone()))))
            self._control = writer
            if restarted:
                self._on_restarted()
            while True:
                self._on_message(decode_from_voice(await read_frame(reader)))
        except asyncio.IncompleteReadError:
            pass
        finally:
            writer.close()

    async def _start_message(self) -> Start:
        settings = self._settings
        return Start(
            path=str(self.socket.path),
            key=self.socket.key,
            host=listening_host(settings),
            port=udp_port(settings),
            address=settings.voice_address or await address_of(settings.public_host),
            log_level=settings.log_level,
            log_format=settings.log_format,
        )


def listening_host(settings: Settings) -> str:
    """Where sound is received; empty for every address: a proxy in front of `host` passes no datagrams on."""
    if settings.voice_host is not None:
        return settings.voice_host
    return settings.host if settings.public_url is None and settings.voice_address is None else ""


def udp_port(settings: Settings) -> int:
    """The port that sound is received at; 0 for any free one."""
    return settings.port if settings.voice_port is None else settings.voice_port


async def address_of(host: str | None) -> str | None:
    """An address of a host, rather one of IPv4, which is all that some clients know; None without one."""
    if host is None:
        return None
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, None)
    except OSError as error:
        log.warning("the address of %s is not known, which voice clients are told: %s", host, error)
        return None
    addresses = sorted({str(entry[4][0]) for entry in entries}, key=lambda address: (":" in address, address))
    return addresses[0] if addresses else None


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a process: it ends when its standard input does."""
    if process.stdin is not None:
        process.stdin.close()
    try:
        async with asyncio.timeout(_END_SECONDS):
            await process.wait()
    except (TimeoutError, asyncio.CancelledError) as ended:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
        if isinstance(ended, asyncio.CancelledError):
            raise
