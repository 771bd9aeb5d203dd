"""Checks that README, docs/ and CHANGELOG tell of what is there; with `--write`, writes their generated parts anew.

- A relative link leads to a file, its `#anchor` to a heading.
- A `make` target, a `moothall` command and each of its flags exist.
- A file of the project that a page names, and a commit, exist.
- A decision begins with its status and date; one that is overturned says by what.
- What stands between `<!-- settings -->` and `<!-- /settings -->` is the table of settings, between
  `<!-- endpoints -->` and `<!-- /endpoints -->` every row of the API, between `<!-- spec -->` and
  `<!-- /spec -->` every row of the spec with what is known to differ, and between `<!-- public -->` and
  `<!-- /public -->` every operation of the public description and whether it is served.
"""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import groupby
from pathlib import Path
from urllib.parse import unquote

import click

from moothall.cli import cli
from moothall.settings import TABLE, masked

_FENCE = re.compile(r"^(```|~~~).*?^\1", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"`[^`\n]+`")
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_TARGET = re.compile(r"^([a-z][a-z-]*):", re.MULTILINE)
_MAKE = re.compile(r"\bmake ([a-z][a-z-]*)")
_MOOTHALL = re.compile(r"\bmoothall ((?:[a-z][a-z-]*(?: |\b))*)([^`\n]*)")
_FILE = re.compile(r"`([\w@.-]+(?:/[\w@.-]+)*\.(?:py|tsx?|sql|toml|ya?ml|md))`")
_COMMIT = re.compile(r"`((?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40})`")
_STATUS = re.compile(
    r"# .+\n\nStatus: (?:accepted|(?P<by>overturned|accepted, overturned in part))\. "
    r"Date: \d{4}-\d\d-\d\d\.(?P<how>(?:.+\n)*)"
)
_FILES_OF_OTHERS = {"bot.py", "mybot.py", "test_mybot.py", "moothall.toml"}
"""Files that pages name and that a reader makes."""
_GENERATED = re.compile(r"(<!-- (settings|endpoints|spec|public) -->\n).*?(<!-- /\2 -->)", re.DOTALL)


def pages(root: Path) -> list[Path]:
    """The documentation's files, those generated as a whole included."""
    paths = [root / "README.md", root / "CHANGELOG.md", *sorted((root / "docs").rglob("*.md"))]
    return [page for page in paths if page.exists()]


def settings_table() -> str:
    """Every setting as a row of a Markdown table."""
    lines = ["| Setting | Flag | Default | |", "| --- | --- | --- | --- |"]
    for name, setting in TABLE.items():
        default = masked(name, setting.default)
        if setting.boolean:
            default = "true" if default else "false"
            flag = f"`{setting.flag}`, `--no-{setting.flag.removeprefix('--')}`" if setting.flag else ""
        else:
            flag = f"`{setting.flag}`" if setting.flag else ""
        if setting.repeated:
            default = ", ".join(setting.default)
        lines.append(
            f"| `{name}` | {flag} | {f'`{default}`' if default not in (None, '') else ''} | {setting.description} |"
        )
    return "\n".join(lines) + "\n"


def endpoints_list() -> str:
    """Every endpoint of the API, one table for each resource."""
    import moothall.app.application  # noqa: F401, PLC0415 with it comes every row; slow, and few pages need it
    from moothall.api.endpoint import endpoints  # noqa: PLC0415
    from moothall.api.openapi import endpoint_summaries  # noqa: PLC0415
    from moothall.bus import Audience  # noqa: PLC0415
    from moothall.resources import load_endpoints  # noqa: PLC0415

    load_endpoints()
    ours = [row for row in endpoints() if row.handler.__module__.startswith("moothall.")]
    # Messages to gateway nodes, which no client hears.
    inner = {event.name for row in ours for event in row.fires if event.audience is Audience.NODE}
    lines: list[str] = []
    for tag, rows in groupby(endpoint_summaries(ours), key=lambda row: row.tag):
        heading = "OAuth2" if tag == "oauth2" else tag.replace("_", " ").capitalize()
        lines += [f"## {heading}", ""]
        lines += ["| Request | | Who | Answer | Events |", "| --- | --- | --- | --- | --- |"]
        for row in rows:
            who = row.permission.replace("|", " or ")
            who += f"; token scope `{row.scope.replace('|', '` or `')}`" if row.scope else ""
            answer = f"{row.status}{', reason' if row.audit_reason else ''}"
            fires = ", ".join(f"`{name}`" for name in sorted(set(row.fires) - inner))
            lines.append(f"| `{row.method} {row.path}` | {row.summary} | {who} | {answer} | {fires} |")
        lines.append("")
    return "\n".join(lines)


def spec_table() -> str:
    """Every row of the spec: whether it is there, and what differs.

    Raises KeyError for a difference of a row that the spec does not have.
    """
    import moothall.app.application  # noqa: F401, PLC0415 with it comes every row; slow, and few pages need it
    from moothall.api.endpoint import REGISTRY  # noqa: PLC0415
    from moothall.resources import load_endpoints  # noqa: PLC0415

    load_endpoints()
    root = Path(__file__).resolve().parent
    rows = runpy.run_path(str(root.parent / "tests" / "conformance" / "spec_rows.py"))["SPEC_ROWS"]
    differs = runpy.run_path(str(root / "differences.py"))["DIFFERS"]
    if unknown := sorted(set(differs) - set(rows)):
        raise KeyError(f"not in the spec: {', '.join(unknown)}")
    lines = ["| Request | Served | What is known to differ |", "| --- | --- | --- |"]
    for key in rows:
        method, path = key.split(" ")
        lines.append(f"| `{key}` | {'yes' if (method, path) in REGISTRY else 'no'} | {differs.get(key, '')} |")
    return "\n".join(lines) + "\n"


def public_operations() -> list[tuple[str, str]]:
    """The method and path of each operation of the public description, ordered by path."""
    listed = Path(__file__).resolve().parents[1] / "tests" / "conformance" / "public_operations.txt"
    return [(method, path) for method, path in map(str.split, listed.read_text(encoding="utf-8").splitlines())]


def unnamed(path: str) -> str:
    """A path whose placeholders have no names, which differ between descriptions of one path."""
    return re.sub(r"\{[^}]*\}", "{}", path)


def recorded_libraries() -> tuple[dict[str, str], dict[tuple[str, str], list[str]]]:
    """The versions of the recorded libraries, and which of them had success with each public operation.

    Raises KeyError if none had with any.
    """
    operations = [
        (method, re.compile(re.sub(r"\\{[^}]*\\}", "[^/]+", re.escape(path))), (method, unnamed(path)))
        for method, path in sorted(public_operations(), key=lambda operation: operation[1].count("{"))
    ]
    library_versions: dict[str, str] = {}
    libraries: dict[tuple[str, str], list[str]] = {}
    for record in sorted((Path(__file__).resolve().parents[1] / "tests" / "clients" / "recorded").glob("*.jsonl")):
        head, *requests = map(json.loads, record.read_text(encoding="utf-8").splitlines())
        library_versions[record.stem] = head["version"]
        for request in requests:
            if request.get("status", 400) >= 400:
                continue
            path = request["path"].partition("?")[0]
            keys = (key for method, shape, key in operations if method == request["method"] and shape.fullmatch(path))
            if (key := next(keys, None)) is not None and record.stem not in libraries.setdefault(key, []):
                libraries[key].append(record.stem)
    if not libraries:
        raise KeyError("no recorded request is of a public operation")
    return library_versions, libraries


def public_tables() -> str:
    """Every operation of the public description: whether it is served, else why not. One table for each resource.

    Raises KeyError for a reason that no public operation has.
    """
    import moothall.app.application  # noqa: F401, PLC0415 with it comes every row; slow, and few pages need it
    from moothall.api.endpoint import REGISTRY  # noqa: PLC0415
    from moothall.resources import load_endpoints  # noqa: PLC0415

    load_endpoints()
    served = {(method, unnamed(path)) for method, path in REGISTRY}
    values = runpy.run_path(str(Path(__file__).resolve().parent / "differences.py"))
    differs = {(key.split()[0], unnamed(key.split()[1])): text for key, text in values["DIFFERS"].items()}
    reasons = values["NOT_SERVED"]
    operations = public_operations()
    if unused := [start for start in reasons if not any(unnamed(path).startswith(start) for _, path in operations)]:
        raise KeyError(f"not in the public description: {', '.join(unused)}")
    library_versions, libraries = recorded_libraries()
    names = ", ".join(f"{name} {version}" for name, version in library_versions.items())
    lines = [f"Every row is of the description as of {values['PUBLIC_DESCRIPTION_DATE']}. The libraries: {names}.", ""]
    for resource, group in groupby(operations, key=lambda operation: operation[1].split("/")[1]):
        lines += [f"## {resource}", "", "| Operation | Served | Sent by | |", "| --- | --- | --- | --- |"]
        for method, path in group:
            key = (method, unnamed(path))
            if key in served:
                state, note = "yes", differs.get(key, "")
            else:
                why = (reason for start, reason in reasons.items() if key[1].startswith(start))
                state, note = "no", next(why, "Not yet.")
            senders = libraries.get(key, [])
            sent_by = f"all {len(senders)}" if len(senders) == len(library_versions) else ", ".join(senders)
            lines.append(f"| `{method} {path}` | {state} | {sent_by} | {note} |")
        lines.append("")
    return "\n".join(lines)


_MAKERS: dict[str, Callable[[], str]] = {
    "settings": settings_table,
    "endpoints": endpoints_list,
    "spec": spec_table,
    "public": public_tables,
}


def generate(text: str) -> str:
    """A page with its generated parts as they should be."""
    return _GENERATED.sub(lambda match: match[1] + _MAKERS[match[2]]() + match[3], text)


def anchors(text: str) -> set[str]:
    """What `#...` may lead to in a page: its headings, as forges spell them."""
    names: set[str] = set()
    for heading in _HEADING.findall(_FENCE.sub("", text)):
        words = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower()).replace(" ", "-")
        number = 0
        while (name := words if number == 0 else f"{words}-{number}") in names:
            number += 1
        names.add(name)
    return names


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Links of a page that lead nowhere."""
    for link in _LINK.findall(_CODE.sub("", _FENCE.sub("", text))):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, anchor = unquote(link).partition("#")
        target = page.parent / path if path else page
        if not target.exists():
            yield f"{link}: no such file"
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
            yield f"{link}: no such heading"


def unknown_commands(text: str, targets: set[str]) -> Iterator[str]:
    """What a page tells people to type and is not there."""
    for code in [*(match[0] for match in _FENCE.finditer(text)), *_CODE.findall(_FENCE.sub("", text))]:
        for target in _MAKE.findall(code):
            if target not in targets:
                yield f"make {target}: no such target"
        for words, rest in _MOOTHALL.findall(code):
            yield from _unknown(words.split(), f"{words} {rest}")


def _unknown(words: list[str], line: str) -> Iterator[str]:
    command: click.Command = cli
    context = click.Context(cli, info_name="moothall")
    for word in words:
        if not isinstance(command, click.Group):
            break
        subcommand = command.get_command(context, word)
        if subcommand is None:
            yield f"moothall {' '.join(words)}: no such command"
            return
        command = subcommand
    known = {flag for parameter in command.params for flag in (*parameter.opts, *parameter.secondary_opts)}
    for flag in re.findall(r"(?<!\S)--[a-z][a-z-]*", line):
        if flag not in known | {"--help", "--version"}:
            yield f"moothall {' '.join(words)} {flag}: no such flag"


def path_ends(root: Path) -> set[str]:
    """Every way in which a page may name a file of the project: its path from any folder on."""
    ends = set(_FILES_OF_OTHERS)
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for name in names:
            parts = Path(folder, name).relative_to(root).parts
            ends.update("/".join(parts[at:]) for at in range(len(parts)))
    return ends


_NOT_OURS = {".git", ".venv", "node_modules", "__pycache__", "site", "dist"}


def unknown_files(text: str, ends: set[str]) -> Iterator[str]:
    """Files that a page names and that do not exist."""
    for name in _FILE.findall(_FENCE.sub("", text)):
        if name not in ends:
            yield f"{name}: no such file"


def unknown_commits(root: Path, text: str) -> Iterator[str]:
    """Commits that a page names and that do not exist, where the project's history is there."""
    if not (root / ".git").exists():
        return
    for commit in _COMMIT.findall(_FENCE.sub("", text)):
        result = subprocess.run(["git", "cat-file", "-e", commit], cwd=root, capture_output=True, check=False)
        if result.returncode:
            yield f"{commit}: no such commit"


def status_problem(text: str) -> str | None:
    """What is wrong with the first lines of a decision."""
    match = _STATUS.match(text)
    if match is None:
        return "it begins with no status and date"
    if match["by"] and not match["how"].strip():
        return "it does not say what overturns it"
    return None


def check(root: Path) -> list[str]:
    """Everything that is wrong, one line each."""
    ends = path_ends(root)
    targets = set(_TARGET.findall((root / "Makefile").read_text(encoding="utf-8")))
    problems: list[str] = []
    for page in pages(root):
        text = page.read_text(encoding="utf-8")
        wrong = [
            *broken_links(page, text),
            *unknown_commands(text, targets),
            *unknown_files(text, ends),
            *unknown_commits(root, text),
        ]
        if page.parent.name == "decisions" and page.name != "README.md" and (problem := status_problem(text)):
            wrong.append(problem)
        if generate(text) != text:
            wrong.append("a generated part is not as it should be; run: make docs")
        problems.extend(f"{page.relative_to(root)}: {line}" for line in wrong)
    return problems


def main(root: Path, arguments: list[str]) -> int:
    """Check, or write first; the exit code."""
    if arguments == ["--write"]:
        for page in pages(root):
            text = page.read_text(encoding="utf-8")
            if (written := generate(text)) != text:
                page.write_text(written, encoding="utf-8")
    elif arguments:
        print(__doc__)
        return 2
    problems = check(root)
    print("\n".join(problems) or f"{len(pages(root))} pages tell of what is there")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(Path(__file__).resolve().parents[1], sys.argv[1:]))
