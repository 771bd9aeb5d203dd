"""The machine: Python, the clock, the data folder, the disk, the server key, the client's build."""

import ctypes
import os
import platform
import shutil
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from moothall import __version__
from moothall.app.services import server_key
from moothall.doctor.finding import Finding, error, ok, warning
from moothall.pages.paths import CLIENT_FOLDER
from moothall.runtime.secrets import ServerKey, ServerKeyError
from moothall.settings import Settings
from moothall.storage.inspection import sqlite_version

LITTLE_BYTES: Final = 1 << 30
"""Free space below which the disk is worth a warning."""
TOO_LITTLE_BYTES: Final = 100 << 20
_TIME_ERROR: Final = 5
"""Returned by adjtimex(2) while no source of time keeps the clock right."""
_TIMEX_BYTES: Final = 512
"""More than `struct timex` has on any platform."""


def check_python() -> Iterator[Finding]:
    """The versions of what runs."""
    python, library = platform.python_version(), ssl.OPENSSL_VERSION
    yield ok("versions", f"Moothall {__version__}, Python {python}, SQLite {sqlite_version()}, {library}")


def check_clock() -> Iterator[Finding]:
    """Whether the operating system keeps the clock right, where it can tell."""
    state = _clock_state()
    if state is None:
        return
    if state == _TIME_ERROR:
        yield warning(
            "clock",
            "nothing keeps this machine's clock right",
            "Enable NTP, for example with: timedatectl set-ntp true (in a container: on its host).",
        )
    else:
        yield ok("clock", "is kept right by the operating system")


def _clock_state() -> int | None:
    """What adjtimex(2) says of the clock, which it leaves alone; None on systems without it."""
    try:
        adjtimex = ctypes.CDLL(None).adjtimex
    except AttributeError:
        return None
    state: int = adjtimex(ctypes.create_string_buffer(_TIMEX_BYTES))
    return None if state < 0 else state


def check_data_folder(settings: Settings) -> Iterator[Finding]:
    """Whether the data folder can be used, and only by its owner."""
    data = settings.data.absolute()
    if not data.exists():
        ancestor = _existing(data)
        if os.access(ancestor, os.W_OK | os.X_OK) and ancestor.is_dir():
            yield ok("data folder", f"{data} is made at the first start")
        else:
            yield error("data folder", f"{data} cannot be made in {ancestor}", _own(data))
    elif not data.is_dir():
        yield error("data folder", f"{data} is no folder", "Name a folder with --data or the setting data.")
    elif not os.access(data, os.R_OK | os.W_OK | os.X_OK):
        yield error("data folder", f"this user may not write in {data}", _own(data))
    elif data.stat().st_mode & 0o007:
        yield warning("data folder", f"all users of this machine may look into {data}", f"Run: chmod o-rwx {data}")
    else:
        yield ok("data folder", str(data))


def _own(folder: Path) -> str:
    return f"Make it as root, for the user that serves: install -d -m 700 -o USER {folder}"


def check_disk(settings: Settings) -> Iterator[Finding]:
    """Free space where the data folder is."""
    folder = _existing(settings.data.absolute())
    free = shutil.disk_usage(folder).free
    shown = f"{free / (1 << 30):.1f} GiB are free at {folder}"
    advice = "Make room or move the data folder: changes are refused with 507 when the disk is full."
    if free < TOO_LITTLE_BYTES:
        yield error("disk", shown, advice)
    elif free < LITTLE_BYTES:
        yield warning("disk", shown, advice)
    else:
        yield ok("disk", shown)


def check_key(settings: Settings, *, has_database: bool) -> Iterator[Finding]:
    """The server key: there, readable, and for its owner only. `has_database` tells whether secrets are stored."""
    path = settings.key_path.absolute()
    if settings.secret_key is not None:
        yield ok("server key", "is the setting secret_key")
    elif not path.exists() and has_database:
        yield error(
            "server key",
            f"{path} is missing: tokens of webhooks, secrets of bots and signed URLs of the database are lost with it",
            "Copy it back from the backup, or name the folder that has it with --data.",
        )
    elif not path.exists():
        yield ok("server key", f"{path} is made at the first start")
    elif path.stat().st_mode & 0o007:
        yield error("server key", f"all users of this machine may read {path}", f"Run: chmod 600 {path}")
    elif (problem := key_problem(settings)) is not None:
        yield error("server key", problem, "Copy it back from the backup. A new one loses what the old one encrypted.")
    elif path.stat().st_mode & 0o070:
        yield warning("server key", f"the group of {path} may read it", f"Run: chmod 600 {path}")
    else:
        yield ok("server key", str(path))


def key_problem(settings: Settings) -> str | None:
    """Why an existing key cannot be used; None if it can."""
    try:
        server_key(settings)
    except (ServerKeyError, OSError) as problem:
        return str(problem)
    return None


def existing_key(settings: Settings) -> ServerKey | None:
    """The server key, if there is one that can be used. Makes none."""
    missing = settings.secret_key is None and not settings.key_path.exists()
    return None if missing or key_problem(settings) is not None else server_key(settings)


def check_client() -> Iterator[Finding]:
    """Whether the client for people is built."""
    if (CLIENT_FOLDER / "index.html").is_file():
        yield ok("client", "is built")
    else:
        yield warning(
            "client",
            "is not built: people cannot open the server in a browser",
            "Install a package that has it, or in a source tree run: make client",
        )


def _existing(path: Path) -> Path:
    """The path, or the next folder above it that exists."""
    return next(each for each in (path, *path.parents) if each.exists())
