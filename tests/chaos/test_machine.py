"""Clocks, syncs and disks do what a fault needs of them: one without effect would prove nothing."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.chaos.machine import Clock, SmallDisk, Syncs, preloading

_SECONDS = 0.2


def _printed(code: str, variables: dict[str, str]) -> float:
    """The number that a new process prints."""
    command = [sys.executable, "-S", "-c", code]
    return float(subprocess.run(command, env={**os.environ, **variables}, capture_output=True, check=True).stdout)


def test_the_wall_clock_jumps_and_the_monotonic_one_does_not(tmp_path: Path) -> None:
    clock = Clock(tmp_path, "node")
    if clock.missing:
        pytest.skip(clock.missing)
    variables = preloading(clock)
    wall, monotonic = "import time; print(time.time())", "import time; print(time.monotonic())"
    before = _printed(wall, {}), _printed(monotonic, {})
    clock.set(3600)
    assert _printed(wall, variables) - before[0] >= 3600
    assert _printed(monotonic, variables) - before[1] < 3600
    clock.set(0)
    assert _printed(wall, variables) - before[0] < 3600


def test_each_fsync_takes_longer_while_they_are_slow(tmp_path: Path) -> None:
    syncs = Syncs(tmp_path, "disk")
    if syncs.missing:
        pytest.skip(syncs.missing)
    code = (
        "import os, time; file = os.open('/dev/null', os.O_WRONLY); before = time.monotonic()\n"
        "for sync in (os.fsync, os.fdatasync):\n"
        "    try: sync(file)\n"
        "    except OSError: pass\n"
        "print(time.monotonic() - before)"
    )
    syncs.slow_down(_SECONDS)
    assert _printed(code, preloading(syncs)) >= 2 * _SECONDS


@pytest.mark.parametrize("may_mount", [True, False])
def test_a_full_disk_takes_nothing_until_it_is_free_and_keeps_what_it_had(
    may_mount: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not may_mount:
        monkeypatch.setattr("os.geteuid", lambda: 1000)
    disk = SmallDisk(tmp_path / "disk")
    try:
        (tmp_path / "disk" / "kept").write_bytes(b"kept")
        code = (
            "import sys\n"
            "print('ready', flush=True)\n"
            "for line in sys.stdin:\n"
            f"    try: open({str(tmp_path / 'disk' / 'data')!r}, 'wb', buffering=0).write(bytes(100_000)[8192:])\n"
            "    except OSError as error: print(error.errno, flush=True)\n"
            "    else: print(0, flush=True)"
        )
        command = [sys.executable, "-S", "-c", code]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as writer:
            assert writer.stdin is not None
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"

            def write() -> int:
                assert writer.stdin is not None
                assert writer.stdout is not None
                writer.stdin.write("\n")
                return int(writer.stdout.readline())

            assert write() == 0
            (tmp_path / "disk" / "data").unlink()
            disk.fill([writer.pid])
            assert write() in {errno.ENOSPC, 0}
            assert (tmp_path / "disk" / "data").stat().st_size <= 4096
            disk.free()
            assert write() == 0
            writer.stdin.close()
    finally:
        disk.close()
    assert (tmp_path / "disk" / "kept").read_bytes() == b"kept"
