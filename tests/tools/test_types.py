"""Annotations of `src/` that turn type checks off become fewer."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_ANY = 699
"""Lines with `Any` in `src/`. Lower it when they are fewer; a value whose type is not asked for is an `object`, JSON
without a type of its own a `JsonObject`."""


def sources() -> Iterator[Path]:
    return (path for path in (ROOT / "src").rglob("*.py") if not path.stem.endswith("_pb2"))


def test_no_more_lines_say_any() -> None:
    lines = [line for path in sources() for line in path.read_text(encoding="utf-8").splitlines()]
    assert len([line for line in lines if re.search(r"\bAny\b", line)]) <= MAX_ANY


def test_no_transaction_or_connection_is_any() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in sources()
        for match in re.finditer(r"\b(?:tx|connection|_connection): Any\b", path.read_text(encoding="utf-8"))
    ]
    assert wrong == []


def test_no_field_that_is_decoded_is_an_object() -> None:
    """Msgspec takes `object` for a type of its own, which it cannot decode."""
    wrong = [
        f"{path.relative_to(ROOT)}:{field.lineno} {ast.unparse(field)}"
        for path in sources()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and "Struct" in {ast.unparse(each) for each in node.bases}
        for field in node.body
        if isinstance(field, ast.AnnAssign) and "dict[str, object]" in ast.unparse(field.annotation)
    ]
    assert wrong == []
