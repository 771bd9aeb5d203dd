"""Check names and prose against the words of words.toml: `check_words.py [--count] [path...]`.

Names are those that the code binds: modules, classes, functions, parameters, variables, attributes, aliases of imports.
Uses are not checked, so that a library's name is not ours to change. Prose is docstrings, comments and the text of
Markdown and HTML; below src also every string with a space in it (error texts, log lines, help). The name of a test is
a sentence, hence prose.

Each finding is a line `path:line: word: say instead`; the exit code is 1 if there is any, 2 for a path that does not
exist. With `--count` the findings are counted by folder and by word instead.
"""

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

_MADE = frozenset({"site", "node_modules", "documentation"})
"""Folders of packages that the tests of clients install, and of the built documentation."""
CODE_FOLDERS = ("src", "tests", "tools", "benchmarks")
PROSE_PATHS = ("docs", "README.md", "CHANGELOG.md")

_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD = re.compile(r"[A-Za-z]+(?:'s)?\b")
# What prose quotes. The length stays, so that positions do.
_QUOTED = re.compile(
    r"^(```|~~~).*?^\1|``.+?``|`[^`\n]+`|<(style|script)\b.*?</\2>|<!--.*?-->",
    re.DOTALL | re.MULTILINE,
)


class Finding(NamedTuple):
    """A word that something else should be said for."""

    path: str
    line: int
    word: str
    name: str
    """The name that has the word as a part; empty in prose."""
    instead: str

    def __str__(self) -> str:
        name = f" in {self.name}" if self.name not in {"", self.word} else ""
        return f"{self.path}:{self.line}: {self.word}{name}: say {self.instead}"


class NameException(NamedTuple):
    """Neighbouring parts of a name among which a word is right."""

    parts: tuple[str, ...]
    under: str


class Words:
    """The list of words. Raises ValueError for an exception without a reason."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.parts: dict[str, str] = table["parts"]
        self.names: dict[str, str] = table["names"]
        self.modules: dict[str, str] = table["modules"]
        self.prose: dict[str, str] = table["prose"]
        self._exceptions: list[NameException] = []
        for entry in table["exceptions"]:
            if not entry.get("reason"):
                raise ValueError(f"the exception {entry['name']} has no reason")
            self._exceptions.append(NameException(name_parts(entry["name"]), entry.get("under", "")))
        self._any_prose = re.compile(rf"\b(?:{'|'.join(map(re.escape, self.prose))})\b", re.IGNORECASE)

    def in_name(self, name: str, path: str) -> Iterator[tuple[str, str]]:
        """Words of a name, each once, with what to say instead."""
        if name.strip("_") in self.names:
            yield name, self.names[name.strip("_")]
            return
        parts = name_parts(name)
        excused = self._excused(parts, path)
        for word in dict.fromkeys(part for at, part in enumerate(parts) if at not in excused):
            if word in self.parts:
                yield word, self.parts[word]

    def _excused(self, parts: Sequence[str], path: str) -> set[int]:
        positions: set[int] = set()
        for exception in self._exceptions:
            length = len(exception.parts)
            if not path.startswith(exception.under):
                continue
            for at in range(len(parts) - length + 1):
                if tuple(parts[at : at + length]) == exception.parts:
                    positions.update(range(at, at + length))
        return positions

    def in_module(self, name: str, path: str) -> Iterator[tuple[str, str]]:
        """Words of the name of a file or folder, with what to say instead."""
        if name in self.modules:
            yield name, self.modules[name]
        else:
            yield from self.in_name(name, path)

    def in_prose(self, text: str) -> Iterator[tuple[int, str, str]]:
        """Words of a text: their line, counted from 0, and what to say instead."""
        if not self._any_prose.search(text):
            return
        plain = _QUOTED.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
        for match in _WORD.finditer(plain):
            word = match[0].lower()
            if word in self.prose:
                yield plain.count("\n", 0, match.start()), word, self.prose[word]


def name_parts(name: str) -> tuple[str, ...]:
    """The parts of a name in lower case: HTTPFoundRow, http_found_row and HTTP_FOUND_ROW are http, found, row."""
    return tuple(part.lower() for part in _PART.findall(name))


def check_python(source: str, path: str, words: Words) -> Iterator[Finding]:
    """Words in a module's names, docstrings and comments, and below src in its sentences."""
    tree = ast.parse(source)
    for name, line in bound_names(tree):
        if path.startswith("tests/") and name.startswith("test_"):
            for _, word, instead in words.in_prose(name.replace("_", " ")):
                yield Finding(path, line, word, name, instead)
        else:
            for word, instead in words.in_name(name, path):
                yield Finding(path, line, word, name, instead)
    for text, line in _texts(tree, sentences=path.startswith("src/")):
        for offset, word, instead in words.in_prose(text):
            yield Finding(path, line + offset, word, "", instead)
    for comment, line in _comments(source):
        for _, word, instead in words.in_prose(comment):
            yield Finding(path, line, word, "", instead)


def bound_names(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every name that a module binds, with its line."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.FunctionDef(name=str(name))
                | ast.AsyncFunctionDef(name=str(name))
                | ast.ClassDef(name=str(name))
                | ast.arg(arg=str(name))
                | ast.Name(id=str(name), ctx=ast.Store())
                | ast.Attribute(attr=str(name), ctx=ast.Store())
                | ast.alias(asname=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
            ):
                yield name, node.lineno
            case _:
                pass


def _texts(tree: ast.AST, *, sentences: bool) -> Iterator[tuple[str, int]]:
    """Docstrings, those of attributes too, and with `sentences` every other string with a space in it."""
    docstrings: set[ast.expr] = set()
    for node in ast.walk(tree):
        # A statement comes before its expression in a walk.
        if isinstance(node, ast.Expr):
            docstrings.add(node.value)
        elif (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and (node in docstrings or (sentences and " " in node.value))
        ):
            yield node.value, node.lineno


def _comments(source: str) -> Iterator[tuple[str, int]]:
    if "#" in source:
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.COMMENT:
                yield token.string, token.start[0]


def check_file(file: Path, root: Path, words: Words) -> Iterator[Finding]:
    """Words in a file, and in the names of a module and of the folders it stands in."""
    path = file.relative_to(root).as_posix()
    source = file.read_text(encoding="utf-8")
    if file.suffix != ".py":
        for line, word, instead in words.in_prose(source):
            yield Finding(path, line + 1, word, "", instead)
        return
    modules = [(folder.name, folder.as_posix()) for folder in PurePosixPath(path).parents]
    # The modules of migrations keep the names that databases know them by.
    if file.parent.name != "versions":
        modules.append((file.stem, path))
    for name, where in modules:
        for word, instead in words.in_module(name, path):
            yield Finding(where, 1, word, name, instead)
    yield from check_python(source, path, words)


def files_below(paths: Sequence[Path]) -> Iterator[Path]:
    """The files to check: Python, Markdown and HTML, in the order of their paths. What tools have made is left out."""
    for path in paths:
        files = sorted(path.rglob("*")) if path.is_dir() else [path]
        for file in files:
            made = _MADE & set(file.relative_to(path).parts)
            if file.suffix in {".py", ".md", ".html"} and not made and file.exists():
                yield file


def check(root: Path, paths: Sequence[Path], words: Words) -> list[Finding]:
    """Every finding below the paths once, in the order of file and line."""
    return sorted({finding for file in files_below(paths) for finding in check_file(file, root, words)})


def counts(findings: Sequence[Finding]) -> str:
    """How many findings each folder and each word has, the most first."""
    lines: list[str] = []
    for heading, counter in (
        ("folder", Counter(finding.path.rpartition("/")[0] or "." for finding in findings)),
        ("word", Counter(finding.word for finding in findings)),
    ):
        lines += [f"{heading}:", *(f"{number:6} {key}" for key, number in counter.most_common())]
    return "\n".join([*lines, f"{len(findings)} in all"])


def main(root: Path, arguments: Sequence[str], words: Words) -> int:
    """Print the findings or their counts; the exit code."""
    names = [argument for argument in arguments if argument != "--count"]
    paths = [(root / name).resolve() for name in names or (*CODE_FOLDERS, *PROSE_PATHS)]
    if missing := [path for path in paths if names and not path.exists()]:
        print(f"no such file or folder: {', '.join(map(str, missing))}", file=sys.stderr)
        return 2
    findings = check(root.resolve(), paths, words)
    if "--count" in arguments:
        print(counts(findings))
    elif findings:
        print("\n".join(map(str, findings)))
    return 1 if findings else 0


def read_words(path: Path) -> Words:
    """The list in a TOML file."""
    return Words(tomllib.loads(path.read_text(encoding="utf-8")))


if __name__ == "__main__":
    here = Path(__file__).resolve().parent
    sys.exit(main(here.parent, sys.argv[1:], read_words(here / "words.toml")))
