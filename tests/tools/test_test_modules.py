"""Tests import what they share from `tests/support/` or from a module beside them, never from another test module.

A test that is moved, renamed or deleted then breaks no other one.
"""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"


def imported_modules(source: str) -> Iterator[str]:
    """The modules, by their whole names, that a source imports or imports from."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            yield node.module
            # What is imported from a package may be a module.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def sources() -> Iterator[Path]:
    """Our modules below `tests/`, without the packages of clients that are installed there."""
    for folder, folders, names in os.walk(TESTS):
        folders[:] = [name for name in folders if name not in {"site", "node_modules"}]
        yield from (Path(folder, name) for name in names if name.endswith(".py"))


def is_test_module(name: str) -> bool:
    """Whether a module has tests that pytest collects."""
    path = ROOT.joinpath(*name.split(".")).with_suffix(".py")
    return path.name.startswith("test_") and path.is_relative_to(TESTS) and path.is_file()


def test_no_module_imports_a_test_module() -> None:
    imports = [
        f"{path.relative_to(ROOT)} imports {name}"
        for path in [*sources(), *ROOT.glob("benchmarks/*.py"), *ROOT.glob("tools/*.py")]
        for name in imported_modules(path.read_text(encoding="utf-8"))
        if is_test_module(name)
    ]
    assert imports == []


def test_every_form_of_an_import_is_seen() -> None:
    forms = (
        "import {0}.{1}",
        "from {0} import {1}",
        "from {0}.{1} import ROOT",
        "def f():\n    from {0} import {1} as x",
    )

    for form in forms:
        names = imported_modules(form.format("tests.tools", "test_test_modules"))
        assert any(is_test_module(name) for name in names), form
    assert not any(map(is_test_module, imported_modules("from tests.test_server import controlled")))


def test_what_tests_share_is_not_loose_among_them() -> None:
    loose = [path.name for path in TESTS.glob("*.py") if not path.name.startswith("test_")]
    assert loose == ["conftest.py"]
