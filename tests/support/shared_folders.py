"""Folders that all processes of one run of the suite share: built by the first that needs one, under a lock."""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest


def shared_folder(factory: pytest.TempPathFactory, name: str, build: Callable[[Path], object]) -> Path:
    """The folder of that name, which `build` fills once in a run. What `build` raises leaves it to be built again."""
    base = factory.getbasetemp()
    # pytest-xdist gives each process a folder of its own inside that of the run.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    complete = Path(f"{folder}.complete")
    with Path(f"{folder}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not complete.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            complete.touch()
    return folder
