"""Bots as processes of their own, in any language; programs of Python with a clock that tests move."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final

from moothall_testing.bot_errors import BotFailed, CaughtError
from moothall_testing.bots import READY_WITHIN, STOP_WITHIN, TOKEN_NAMES, Bot
from moothall_testing.waiting import Follower
from moothall_testing.world import World

LINK_VARIABLE: Final = "MOOTHALL_TESTING_LINK"
"""The environment variable with the number of the file descriptor of a bot's `Link`."""
_MAX_SHOWN: Final = 40
"""Lines of its output that the error of an ended process shows."""
_ANSWER_WITHIN: Final = 10.0


class RunningProcess(Bot):
    """A bot as a process of its own, in any language: ready once it is connected to the gateway, ended with `stop`.

    It finds its token in `TOKEN`, `BOT_TOKEN` and `DISCORD_TOKEN`, the server in `MOOTHALL_API_URL` and
    `MOOTHALL_GATEWAY_URL`, its application's key in `PUBLIC_KEY`, and a free port for what it serves in `PORT`, which
    `{port}` in its command and environment stands for.
    """

    def __init__(
        self,
        world: World,
        data: Mapping[str, Any],
        command: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        ready: Callable[[], bool] | None = None,
        serves: bool = False,
        link: "Link | None" = None,
    ) -> None:
        super().__init__(data)
        self._world = world
        self.is_connected = ready is None and not serves
        """Whether it has a gateway connection, for which the start has waited."""
        self.port = free_port()
        """The port that `{port}` stands for."""
        self._stopping = False
        follower = Follower(world)
        self._process = subprocess.Popen(  # noqa: S603 the test's command
            [self._filled(word) for word in command],
            env=self._variables(data, environment or {}),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            pass_fds=() if link is None else (link.other_end,),
        )
        if link is not None:
            link.is_passed_on()
        self.output: list[str] = []
        """What it has printed, by lines."""
        self._reader = threading.Thread(target=self._read, name=f"bot {self.name}", daemon=True)
        self._reader.start()
        self._wait(follower, self._serves if serves and ready is None else ready)

    def _serves(self) -> bool:
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.port)) == 0

    def _filled(self, text: str) -> str:
        return text.replace("{port}", str(self.port))

    def _variables(self, data: Mapping[str, Any], environment: Mapping[str, str]) -> dict[str, str]:
        info = self._world.info
        return {
            **os.environ,
            **dict.fromkeys(TOKEN_NAMES, self.token),
            "MOOTHALL_URL": info["url"],
            "MOOTHALL_API_URL": info["api_url"],
            "MOOTHALL_GATEWAY_URL": info["gateway_url"],
            "MOOTHALL_APPLICATION_ID": self.application_id,
            "MOOTHALL_PUBLIC_KEY": str(data["public_key"]),
            "PUBLIC_KEY": str(data["public_key"]),
            "PORT": str(self.port),
            **{name: self._filled(value) for name, value in environment.items()},
        }

    def _wait(self, follower: Follower, ready: Callable[[], bool] | None) -> None:
        try:
            if ready is None:
                follower.until(
                    lambda entry: _is_ready(entry, self.name), within=READY_WITHIN, what="READY", ended=self._has_ended
                )
            else:
                self._poll(ready)
        except AssertionError as error:
            self.stop()
            if isinstance(error, BotFailed):
                raise
            raise BotFailed(f"{''.join(self.output)}\n{error}".strip()) from None

    def stop(self) -> None:
        """End it. Does nothing the second time."""
        self._stopping = True
        if not self._has_ended():
            self._process.terminate()
        try:
            self._process.wait(STOP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._reader.join(STOP_WITHIN)

    def _has_ended(self) -> bool:
        return self._process.poll() is not None

    def _read(self) -> None:
        """Read what it prints; that it has failed ends whatever waits for it."""
        if self._process.stdout is not None:
            with self._process.stdout as stream:
                self.output.extend(stream)
        status = self._process.wait()
        if status and not self._stopping:
            text = f"{''.join(self.output[-_MAX_SHOWN:])}the process of the bot {self.name} ended with status {status}"
            self._world.report_error(CaughtError(self.name, None, frozenset(), text))

    def _poll(self, ready: Callable[[], bool]) -> None:
        deadline, pause = monotonic() + READY_WITHIN, threading.Event()
        while not ready():
            if self._has_ended() or monotonic() > deadline:
                raise AssertionError(f"the bot {self.name} is not ready")
            pause.wait(0.05)


class RunningProgram(RunningProcess):
    """A program of Python as a process, whose clock `advance` moves.

    Its library points at the server, and errors that it does not handle fail the test. `python` is its interpreter,
    which may be of another environment.
    """

    def __init__(
        self,
        world: World,
        data: Mapping[str, Any],
        program: Sequence[str],
        *,
        python: str | None = None,
        **options: Any,
    ) -> None:
        self.link = Link()
        """How its clock is moved."""
        source = Path(__file__).parents[1]
        command = [python or sys.executable, "-P", str(Path(__file__).with_name("launcher.py")), *program]
        environment = {
            **(options.pop("environment", None) or {}),
            LINK_VARIABLE: str(self.link.other_end),
            "MOOTHALL_TESTING_SOURCE": str(source),
            "MOOTHALL_TESTING_BOT": str(data["name"]),
            "MOOTHALL_TESTING_CONTROL": str(world.info["control_url"]),
            "MOOTHALL_TESTING_OFFSET": str(world.clock_offset()),
        }
        super().__init__(world, data, command, environment=environment, link=self.link, **options)

    def stop(self) -> None:
        """End it. Does nothing the second time."""
        super().stop()
        self.link.close()


class Link:
    """A connection to a bot's process, over which its clock is moved: a line of JSON each way."""

    def __init__(self) -> None:
        self._own, self._other = socket.socketpair()
        self._own.settimeout(_ANSWER_WITHIN)
        self._stream = self._own.makefile("rw", encoding="utf-8")
        self.other_end = self._other.fileno()
        """The file descriptor of the process."""

    def is_passed_on(self) -> None:
        """Close the other end here: the process has it."""
        self._other.close()

    def until_next_timer(self) -> float | None:
        """Seconds until the bot's next timer; None if there is none."""
        seconds = self._ask({"do": "next"})
        return None if seconds is None else float(seconds)

    def move(self, seconds: float) -> None:
        """Move its clock; what is due by then has been done."""
        self._ask({"do": "move", "seconds": seconds})

    def close(self) -> None:
        """End the connection. Does nothing the second time."""
        self._own.close()
        self._other.close()

    def _ask(self, question: dict[str, Any]) -> Any:
        """Ask the process; None if it has ended."""
        try:
            self._stream.write(json.dumps(question) + "\n")
            self._stream.flush()
            line = self._stream.readline()
        except (OSError, ValueError):
            return None
        return json.loads(line)["value"] if line else None


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _is_ready(entry: Mapping[str, Any], name: str) -> bool:
    return bool(entry["kind"] == "dispatch" and entry["name"] == "READY" and entry["actor"] == name)
