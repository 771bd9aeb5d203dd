"""What a message to 500 gateway sessions costs the server: its processor time for each delivery, to a bare broadcast.

The receivers are processes of their own, whose time is not counted. Rounds of ours and of the bare server take turns.
"""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

SESSIONS = 500
ROUNDS = 5
MESSAGES = 20
"""In a round."""

_GUILD_MESSAGES, _MESSAGE_CONTENT, _GUILDS = 1 << 9, 1 << 15, 1
_OTHER_INTENTS = (1 << 2, 1 << 3, 1 << 7, 1 << 10, 1 << 11)
"""Intents whose events the messages do not cause: their sets keep sessions apart."""


def identify(token: str, intents: int) -> str:
    """The IDENTIFY of a session."""
    return json.dumps({"op": 2, "d": {"token": token, "properties": {}, "intents": intents, "large_threshold": 50}})


def one_set(tokens: list[str]) -> list[str]:
    """Sessions that are all alike."""
    return [identify(tokens[0], _GUILDS | _GUILD_MESSAGES | _MESSAGE_CONTENT)]


def many_sets(tokens: list[str], count: int = 20) -> list[str]:
    """Sessions of several people with so many different sets of intents."""
    texts = []
    for number in range(count):
        others = sum(intent for bit, intent in enumerate(_OTHER_INTENTS) if number >> bit & 1)
        texts.append(identify(tokens[number % len(tokens)], _GUILDS | _GUILD_MESSAGES | _MESSAGE_CONTENT | others))
    return texts


def processor_seconds(process: subprocess.Popen[bytes]) -> float:
    """The seconds of the processor that all threads of a running process have taken, as Linux counts them."""
    tasks = Path(f"/proc/{process.pid}/task").iterdir()
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9


class Receivers:
    """The sessions, open, in a process of their own."""

    def __init__(self, server: subprocess.Popen[bytes], port: int, path: str, hellos: list[str]) -> None:
        self._server = server
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load", "sockets", str(port), str(SESSIONS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._say(json.dumps({"path": path, "hellos": hellos, "marker": '"t":"MESSAGE_CREATE"'}))
        if self._read() != "open":
            raise RuntimeError("the sockets did not open")
        self._wait_until_idle()

    def _say(self, line: str) -> None:
        if self._process.stdin is None:
            raise RuntimeError("the receivers have no standard input")
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def _read(self) -> str:
        if self._process.stdout is None:
            raise RuntimeError("the receivers have no standard output")
        return self._process.stdout.readline().strip()

    def _wait_until_idle(self) -> None:
        """Wait until the server has sent all that its sessions begin with."""
        quiet = 0
        while quiet < 3:
            before = processor_seconds(self._server)
            time.sleep(0.2)
            quiet = quiet + 1 if processor_seconds(self._server) - before < 0.01 else 0

    def await_messages(self, count: int) -> None:
        """Wait until all sessions together have received so many messages."""
        self._say(str(count))
        marked = json.loads(self._read())["marked"]
        if marked != count:
            raise RuntimeError(f"{marked} of {count} messages came")

    def each(self, send: Callable[[], object]) -> float:
        """Microseconds of the server's processor for each delivery, in one round."""
        before = processor_seconds(self._server)
        for _ in range(MESSAGES):
            send()
            self.await_messages(SESSIONS)
        return (processor_seconds(self._server) - before) * 1e6 / (MESSAGES * SESSIONS)

    def close(self) -> None:
        """Close all sessions."""
        self._say("")
        self._process.wait(10)


@contextmanager
def receiving(server: subprocess.Popen[bytes], port: int, path: str, hellos: list[str]) -> Iterator[Receivers]:
    """Receivers, while the block runs."""
    receivers = Receivers(server, port, path, hellos)
    try:
        yield receivers
    finally:
        receivers.close()


def compare(
    mine: Receivers, other: Receivers, send: Callable[[], object], broadcast: Callable[[], object]
) -> tuple[float, str]:
    """Our microseconds for a delivery to those of the bare broadcast: the median ratio, and the figures as text."""
    for receivers, act in ((mine, send), (other, broadcast)):
        receivers.each(act)
    pairs = [(mine.each(send), other.each(broadcast)) for _ in range(ROUNDS)]
    ratio = statistics.median(ours / bare for ours, bare in pairs)
    ours, bare = (statistics.median(column) for column in zip(*pairs, strict=True))
    return ratio, f"{ours:.1f} us of the processor for a delivery, bare {bare:.1f} us"
