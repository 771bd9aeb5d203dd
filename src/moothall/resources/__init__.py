"""One folder for each noun of the API: its rows, its verbs, its SQL and its events."""

import importlib
import pkgutil


def load_endpoints() -> None:
    """Import the `endpoints` module of every noun, which fills the registry of rows."""
    for found in pkgutil.iter_modules(__path__):
        if found.ispkg:
            package = importlib.import_module(f"{__name__}.{found.name}")
            if any(module.name == "endpoints" for module in pkgutil.iter_modules(package.__path__)):
                importlib.import_module(f"{package.__name__}.endpoints")
