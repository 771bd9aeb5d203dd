"""The test server: its start, what a test waits for it, and a fresh platform for the next test.

Ratios are to the start of Python itself. The test is of a bot of discord.py, in the first run of a project: the server
starts when pytest does, and gets ready while the library is imported.

Python's bytecode is cached, as in an installation, whatever the environment says. The time of the processor is what the
server itself takes, also on a machine that does other work meanwhile.
"""

import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from moothall_testing import Moothall, ServerProcess

ROUNDS = 5
PLATFORMS = 30

TEST = "import discord\n\n\ndef test_it(moothall, alice):\n    assert alice.name == 'alice'\n"

Row = tuple[str, float | None, str, str]


def processor_seconds() -> float:
    """Seconds of the processor that child processes took which have ended, their end included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def first_test_seconds(folder: Path) -> float:
    """Seconds that the first test of a run waits for the server, and for its platform."""
    (folder / "test_bot.py").write_text(TEST, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--durations=0", "-vv", "test_bot.py"]
    others = ["-p", "no:schemathesis", "-p", "no:hypothesispytest"]
    printed = subprocess.run([*command, *others], cwd=folder, check=True, capture_output=True, text=True).stdout
    waited = re.search(r"([\d.]+)s setup", printed)
    if waited is None:
        raise RuntimeError(printed)
    return float(waited[1])


def rows() -> list[Row]:
    """The three rows. Starts of the server and of Python take turns, since the machine may do other work meanwhile."""
    starts, processor, bare, waits = [], [], [], []
    with tempfile.TemporaryDirectory() as folder:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = folder
        with ServerProcess():
            pass
        for _ in range(ROUNDS):
            began = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], check=True)
            bare.append(time.perf_counter() - began)
            used = processor_seconds()
            began = time.perf_counter()
            with ServerProcess():
                starts.append(time.perf_counter() - began)
            processor.append(processor_seconds() - used)
            waits.append(first_test_seconds(Path(folder)))
        del os.environ["PYTHONPYCACHEPREFIX"]
    fresh = []
    with ServerProcess() as server:
        for _ in range(PLATFORMS):
            began = time.perf_counter()
            Moothall(server)
            fresh.append(time.perf_counter() - began)
    start, python, platform, wait = map(statistics.median, (starts, bare, fresh, waits))
    return [
        (
            "test server: start",
            start / python,
            f"{start:.2f} s, {statistics.median(processor):.2f} s of the processor",
            f"python -c pass: {python * 1000:.0f} ms",
        ),
        ("test server: what the first test waits", wait / python, f"{wait:.2f} s", "at most 0.3 s; of discord.py"),
        ("test server: a fresh platform", platform / python, f"{platform * 1000:.1f} ms", "at most 20 ms"),
    ]
