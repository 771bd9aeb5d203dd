"""One folder for each noun of the API: its rows, its verbs, its SQL and its events."""

import importlib
import os
from functools import cache
from pathlib import Path
from typing import Final

_MODULES: Final = ("endpoints.py", "hooks.py")


@cache
def load_endpoints() -> None:
    """Import the `endpoints` and `hooks` modules of every room, which fill the registry of rows and the hooks."""
    top = Path(__file__).parent
    # pkgutil would import every package, and look at every file.
    for folder, subfolders, files in os.walk(top):
        subfolders[:] = sorted(set(subfolders) - {"__pycache__"})
        package = ".".join((__name__, *Path(folder).relative_to(top).parts))
        for name in _MODULES:
            if name in files:
                importlib.import_module(f"{package}.{name.removesuffix('.py')}")
