"""Check where SQL stands and where changes are announced and recorded.

- Below src/moothall/resources and src/moothall/oauth2, `emit`, `audit`, `audit_each` and `audit_all` of a context are
  used in operations only: in a file operations.py or in a package operations/.
- There, SQL is written in queries only: sqlalchemy, moothall.storage.sql and the tables (moothall.storage.tables and
  moothall.storage.schema) are imported in a file queries.py or in a package queries/.

A call is found by the name of its attribute, and a reference that is not called counts as well: `ctx.emit` handed to
another function would announce from there. Each finding is a line `path:line: what: where it belongs`; the exit code is
1 if there is any.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Final

FOLDERS: Final = ("src/moothall/resources", "src/moothall/oauth2")
ANNOUNCING: Final = frozenset({"emit", "audit", "audit_each", "audit_all"})
SQL_MODULES: Final = ("sqlalchemy", "moothall.storage.schema", "moothall.storage.sql", "moothall.storage.tables")


def belongs_to(path: str, kind: str) -> bool:
    """Whether a file is `kind`.py or stands in a package of that name."""
    return kind in PurePosixPath(path).with_suffix("").parts


def check_source(source: str, path: str) -> list[str]:
    """Findings in one file by line; its path begins at the project's root."""
    return [f"{path}:{line}: {text}" for line, text in sorted(_findings(source, path))]


def _findings(source: str, path: str) -> Iterator[tuple[int, str]]:
    operations, queries = belongs_to(path, "operations"), belongs_to(path, "queries")
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Attribute) and node.attr in ANNOUNCING and not operations:
            yield node.lineno, f"{ast.unparse(node)}: belongs in operations"
        elif isinstance(node, ast.Import | ast.ImportFrom) and not queries:
            for module in imported_modules(node):
                if any(module == name or module.startswith(f"{name}.") for name in SQL_MODULES):
                    yield node.lineno, f"import of {module}: belongs in queries"


def imported_modules(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Modules that a statement imports; `from package import module` may name one too."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif node.module is not None:
        inner = [f"{node.module}.{alias.name}" for alias in node.names]
        yield from [name for name in inner if name in SQL_MODULES] or [node.module]


def check(root: Path) -> list[str]:
    """Every finding below a project's root, by path and line."""
    findings: list[str] = []
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            findings.extend(check_source(file.read_text(encoding="utf-8"), path))
    return findings


def main(root: Path) -> int:
    """Print the findings; the exit code."""
    findings = check(root)
    if findings:
        print("\n".join(findings))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1]))
