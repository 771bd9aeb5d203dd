"""Where the time of a row goes: `make profile ROW="GET guild"` writes `benchmarks/profiles/get-guild.txt`.

py-spy looks at the server while the row's load runs. The text is a tree of calls, each with its share of the samples in
which a thread held the interpreter, and only those of at least one in a hundred. What a call takes beyond those below
it is its own code, and what it calls of C.
"""

import contextlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

FOLDER = Path(__file__).with_name("profiles")
_LEAST_SHARE = 0.01
_RATE = 250
"""Looks a second."""


class Call:
    """A function called from one point of the tree."""

    def __init__(self) -> None:
        self.samples = 0
        self.calls: dict[str, Call] = {}


@contextlib.contextmanager
def profiling(row: str, process: subprocess.Popen[bytes], folder: Path = FOLDER) -> Iterator[None]:
    """Profile a server while the block runs, and write the text of the row."""
    folder.mkdir(exist_ok=True)
    stacks = folder / "stacks.tmp"
    command = [str(Path(sys.executable).with_name("py-spy")), "record", "--pid", str(process.pid)]
    command += ["--gil", "--format", "raw", "--rate", str(_RATE), "--output", str(stacks), "--duration", "3600"]
    watcher = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        yield
    finally:
        watcher.send_signal(signal.SIGINT)
        _, errors = watcher.communicate(timeout=60)
    if not stacks.exists():
        raise RuntimeError(f"py-spy wrote nothing: {errors.decode().strip()}")
    (folder / f"{file_name(row)}.txt").write_text(tree_text(row, stacks.read_text()))
    stacks.unlink()


def file_name(row: str) -> str:
    """A row's name as that of a file."""
    return re.sub(r"[^a-z0-9]+", "-", row.lower()).strip("-")


def tree_text(row: str, stacks: str) -> str:
    """The tree of calls of collapsed stacks: a line each, frames from the outermost, then the count of samples."""
    root = Call()
    for line in stacks.splitlines():
        path, _, count = line.rpartition(" ")
        call = root
        call.samples += int(count)
        for frame in _from_the_loop(path.split(";")):
            call = call.calls.setdefault(_shown(frame), Call())
            call.samples += int(count)
    lines = [f"{row}: {root.samples} samples", ""]
    _write(root, root.samples, 0, lines)
    return "\n".join(lines) + "\n"


def _from_the_loop(frames: list[str]) -> list[str]:
    """The frames below the event loop, or below the start of another thread: all stacks share those above."""
    for index, frame in enumerate(frames):
        if frame.startswith(("Runner.run ", "Thread.run ")):
            return [frame, *frames[index + 1 :]]
    return frames


def _shown(frame: str) -> str:
    """`function (file)` of a frame, without the line and without what leads to our own or to a library's file."""
    return re.sub(r"\((?:.*?/)?(?:src/|site-packages/|python3\.\d+/)?([^()]*?):\d+\)$", r"(\1)", frame)


def _write(call: Call, total: int, depth: int, lines: list[str]) -> None:
    for name, inner in sorted(call.calls.items(), key=lambda item: -item[1].samples):
        if inner.samples >= total * _LEAST_SHARE:
            lines.append(f"{inner.samples / total:6.1%} {'  ' * depth}{name}")
            _write(inner, total, depth + 1, lines)
