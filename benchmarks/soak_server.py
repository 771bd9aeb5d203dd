"""`moothall serve` that writes what its memory holds into a file.

    python -m benchmarks.soak_server FILE SECONDS serve ...

A thread looks every so many seconds, and writes a line of JSON. It holds the interpreter for some tens of milliseconds.
"""

import ctypes
import ctypes.util
import gc
import json
import os
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import apsw

_MIN_LENGTH: Final = 64
"""Shorter containers are not reported."""
_MAX_REPORTED: Final = 400
_CONTAINERS: Final = (dict, list, set, deque)


class _Mallinfo(ctypes.Structure):
    """What glibc knows of its heap, in bytes."""

    _fields_ = [
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
        )
    ]  # fmt: skip


def _heap() -> dict[str, int]:
    """Bytes of the C heap in use, free, and in mappings of their own; nothing where the C library does not tell."""
    library = ctypes.CDLL(ctypes.util.find_library("c"))
    if not hasattr(library, "mallinfo2"):
        return {}
    library.mallinfo2.restype = _Mallinfo
    info = library.mallinfo2()
    return {"heap_used": info.uordblks, "heap_free": info.fordblks, "heap_mapped": info.hblkhd}


def _resident() -> dict[str, int]:
    """Bytes of memory that the process has, and of those that are of no file."""
    names = {"VmRSS": "resident", "RssAnon": "anonymous"}
    lines = (line.split() for line in Path("/proc/self/status").read_text().splitlines())
    return {names[words[0][:-1]]: int(words[1]) * 1024 for words in lines if words[0][:-1] in names}


def _attributes(holder: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, those in slots too."""
    if isinstance(holder, ModuleType | type):
        yield from vars(holder).items()
        return
    yield from getattr(holder, "__dict__", {}).items()
    for kind in type(holder).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            try:
                yield name, object.__getattribute__(holder, name)
            except AttributeError:
                continue


def _lengths(objects: list[Any]) -> dict[str, int]:
    """The lengths of the longest containers that attributes of our own objects hold, summed by attribute."""
    lengths: Counter[str] = Counter()
    for holder in objects:
        kind = holder if isinstance(holder, type) else type(holder)
        module = holder.__name__ if isinstance(holder, ModuleType) else kind.__module__
        if not module.startswith(("moothall", "uvicorn", "asyncpg", "nats", "aiohttp")):
            continue
        name = module if isinstance(holder, ModuleType) else f"{module}.{kind.__qualname__}"
        for attribute, value in _attributes(holder):
            if isinstance(value, _CONTAINERS) and len(value) >= _MIN_LENGTH:
                lengths[f"{name}.{attribute}"] += len(value)
    return dict(lengths.most_common(_MAX_REPORTED))


def look() -> dict[str, Any]:
    """What the memory of this process holds."""
    objects = gc.get_objects()
    types = Counter(f"{type(each).__module__}.{type(each).__qualname__}" for each in objects)
    return {
        **_resident(),
        **_heap(),
        "blocks": sys.getallocatedblocks(),
        "sqlite": apsw.memory_used(),
        "objects": len(objects),
        "types": dict(types.most_common(60)),
        "lengths": _lengths(objects),
    }


def _watch(file: Path, seconds: float) -> None:
    started = time.monotonic()
    with file.open("a") as lines:
        while True:
            time.sleep(seconds)
            lines.write(json.dumps({"seconds": round(time.monotonic() - started), **look()}) + "\n")
            lines.flush()


def main() -> None:
    """Serve, and look."""
    file, seconds = Path(sys.argv[1]), float(sys.argv[2])
    sys.argv = ["moothall", *sys.argv[3:]]
    os.environ.setdefault("PYTHONUNBUFFERED", "1")
    threading.Thread(target=_watch, args=(file, seconds), name="soak-watch", daemon=True).start()
    from moothall.cli import main as run  # noqa: PLC0415 so that what it imports is counted too

    run()


if __name__ == "__main__":
    main()
