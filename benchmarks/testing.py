"""The test server: its start, and a fresh platform for the next test, to the start of Python itself."""

import statistics
import subprocess
import sys
import time

from moothall.testing import Moothall, ServerProcess

ROUNDS = 5
PLATFORMS = 30

Row = tuple[str, float | None, str, str]


def rows() -> list[Row]:
    """The two rows. Starts of the server and of Python take turns, since the machine may do other work meanwhile."""
    starts, bare = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-c", "pass"], check=True)
        bare.append(time.perf_counter() - began)
        began = time.perf_counter()
        with ServerProcess():
            starts.append(time.perf_counter() - began)
    fresh = []
    with ServerProcess() as server:
        for _ in range(PLATFORMS):
            began = time.perf_counter()
            Moothall(server)
            fresh.append(time.perf_counter() - began)
    start, python, platform = map(statistics.median, (starts, bare, fresh))
    return [
        ("test server: start", start / python, f"{start:.2f} s", f"python -c pass: {python * 1000:.0f} ms"),
        ("test server: a fresh platform", platform / python, f"{platform * 1000:.1f} ms", "at most 20 ms"),
    ]
