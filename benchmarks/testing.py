"""The test server: its start, and a fresh platform for the next test, to the start of Python itself.

Python's bytecode is cached, as in an installation, whatever the environment says. The time of the processor is what the
server itself takes, also on a machine that does other work meanwhile.
"""

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from moothall.testing import Moothall, ServerProcess

ROUNDS = 5
PLATFORMS = 30

Row = tuple[str, float | None, str, str]


def processor_seconds() -> float:
    """Seconds of the processor that child processes took which have ended, their end included."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def rows() -> list[Row]:
    """The two rows. Starts of the server and of Python take turns, since the machine may do other work meanwhile."""
    starts, processor, bare = [], [], []
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
        del os.environ["PYTHONPYCACHEPREFIX"]
    fresh = []
    with ServerProcess() as server:
        for _ in range(PLATFORMS):
            began = time.perf_counter()
            Moothall(server)
            fresh.append(time.perf_counter() - began)
    start, python, platform = map(statistics.median, (starts, bare, fresh))
    return [
        (
            "test server: start",
            start / python,
            f"{start:.2f} s, {statistics.median(processor):.2f} s of the processor",
            f"at most 0.3 s; python -c pass: {python * 1000:.0f} ms",
        ),
        ("test server: a fresh platform", platform / python, f"{platform * 1000:.1f} ms", "at most 20 ms"),
    ]
