"""One folder for each noun of the API: its rows, its verbs, its SQL and its events."""

import importlib
import pkgutil
from functools import cache


@cache
def load_endpoints() -> None:
    """Import the `endpoints` and `hooks` modules of every room, which fill the registry of rows and the hooks."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        if module.name.rpartition(".")[2] in {"endpoints", "hooks"}:
            importlib.import_module(module.name)
