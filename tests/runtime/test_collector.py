"""The garbage collector looks at all objects only when no request waits."""

import gc
import mmap
import platform
import subprocess
import sys
import weakref

import pytest

from moothall.runtime import collector


class Link:
    """An object that refers to itself."""

    def __init__(self) -> None:
        self.itself = self


def test_all_objects_are_looked_at_once_the_server_is_idle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 100))
    link = weakref.ref(Link())
    assert not collector.collect_if_due(busy_seconds=0.5)
    assert link() is not None
    assert collector.collect_if_due(busy_seconds=0.001)
    assert link() is None


def test_a_server_that_is_never_idle_collects_at_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 10_000))
    assert collector.collect_if_due(busy_seconds=1.0)


def test_an_idle_server_does_not_collect_what_it_has_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gc, "get_count", lambda: (0, 0, 99))
    assert not collector.collect_if_due(busy_seconds=0.0)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries return memory by themselves")
def test_freed_memory_goes_back_to_the_system() -> None:
    program = """
from pathlib import Path
from moothall.runtime.collector import return_memory

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])

pieces = [bytes(30_000) for _ in range(4_000)]
last = pieces[-1]
full = resident()
pieces.clear()
return_memory()
print(full - resident())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert int(done.stdout) * mmap.PAGESIZE > 100_000_000


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such option")
def test_large_blocks_go_back_to_the_system_as_they_are_freed() -> None:
    """Also after a larger one was freed, which lets glibc take them from the heap by default."""
    program = """
import sys
from pathlib import Path
from moothall.runtime.collector import limit_free_memory

def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1])

if sys.argv[1] == "limited":
    limit_free_memory()
large = bytearray(20_000_000)
del large
before = resident()
blocks = [bytearray(b"x") * 1_000_000 for _ in range(100)]
last = bytearray(b"x") * 1_000_000
blocks.clear()
print(resident() - before)
"""
    left = {
        kind: int(subprocess.run([sys.executable, "-c", program, kind], capture_output=True, check=True).stdout)
        for kind in ("limited", "as usual")
    }
    assert left["limited"] * mmap.PAGESIZE < 5_000_000
    assert left["as usual"] * mmap.PAGESIZE > 50_000_000
