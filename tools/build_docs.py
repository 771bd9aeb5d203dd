"""Build the documentation into a site: `build_docs.py [--output FOLDER]`.

The pages are those of docs/ and a reference that is generated from the code: gateway events, errors, settings,
commands. Links that leave docs/ lead to pages of the project that are copied, or are left as text. The site is also put
into the package, where the server serves it at /docs. Nothing in it is fetched from elsewhere.
"""

import argparse
import inspect
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import click
import msgspec

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # as pytest has it, when this runs as a script

from tools.check_docs import settings_table

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = ROOT / "src" / "moothall" / "pages" / "documentation"
_LINK: Final = re.compile(r"\[([^\]]*)\]\(([^)\s]+)\)")
_COPIED: Final = {
    "CONTRIBUTING.md": "project/contributing.md", "CHANGELOG.md": "project/changelog.md",
    "SECURITY.md": "project/security.md", "GOVERNANCE.md": "project/governance.md",
    "CODE_OF_CONDUCT.md": "project/conduct.md", "changes/README.md": "project/changes.md",
    "packages/testing-py/README.md": "packages/testing-py.md",
    "packages/testing-js/README.md": "packages/testing-js.md",
    "web/README.md": "project/client.md",
}  # fmt: skip
"""Pages of the project outside of docs/, and where the site has them."""
OF_GATEWAY: Final = {
    "CHANNEL_INFO": "The answer to Request Channel Info (opcode 43): the requested fields of channels.",
    "GUILD_CREATE": "A guild with all that the session sees of it: after READY, and when it is joined or back.",
    "GUILD_MEMBERS_CHUNK": "A part of the answer to Request Guild Members (opcode 8).",
    "PRESENCE_UPDATE": "A user's status or activities have changed.",
    "RATE_LIMITED": "A gateway command was refused for being sent too often.",
    "READY": "The session has begun.",
    "RESUMED": "The session goes on, and what it has missed has been sent.",
    "SOUNDBOARD_SOUNDS": "The answer to Request Soundboard Sounds (opcode 31).",
    "THREAD_LIST_SYNC": "The session sees a channel from now on, with these active threads.",
    "VOICE_SERVER_UPDATE": "Where to connect to for the voice channel that the session has joined.",
}
"""The events that the gateway itself makes for a session."""
_EXAMPLES: Final = ROOT / "docs" / "reference" / "event-examples.json"
_KINDS: Final = {
    "str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "list", "dict": "object",
    "NoneType": "null here",
}  # fmt: skip
_UNUSED: Final = ("*.map", "sitemap.xml*", "assets/javascripts/lunr/*.min.js")


def events_page() -> str:
    """Every gateway event that the server publishes: when, to whom, with which fields, and an example."""
    lines = [
        "# Gateway events",
        "",
        "Every event that a session may receive, generated from the declarations in the code.",
        "",
    ]
    published = {event.name: event for event in _events()}
    for name in sorted(published.keys() | OF_GATEWAY.keys()):
        if name in OF_GATEWAY:
            lines += [f"## {name}", "", OF_GATEWAY[name], "", *_fields_of_example(_recorded().get(name))]
            continue
        event = published[name]
        lines += [f"## {name}", "", _first_paragraph(event), ""]
        if event.intent:
            lines += [f"Needs one of the intents: {_flags('intents', 'Intent', event.intent)}.", ""]
        if event.permission:
            lines += [f"Only for those with one of: {_flags('permissions', 'Permissions', event.permission)}.", ""]
        lines += _fields(event)
    return "\n".join(lines)


def _events() -> list[Any]:
    import moothall.app.application  # noqa: F401, PLC0415 with it comes every event
    from moothall.api.events import Event  # noqa: PLC0415
    from moothall.bus import Audience  # noqa: PLC0415
    from moothall.resources import load_endpoints  # noqa: PLC0415

    load_endpoints()
    events: dict[str, Any] = {}
    pending = list(Event.__subclasses__())
    while pending:
        event = pending.pop()
        pending += event.__subclasses__()
        if not event.__module__.startswith("moothall."):
            continue  # tests declare events too
        if event.audience is not Audience.NODE and isinstance(event.__dict__.get("name"), str):
            events[event.name] = event
    return list(events.values())


def _first_paragraph(kind: Any) -> str:
    text = inspect.cleandoc(kind.__doc__ or "").split("\n\n")[0].replace("\n", " ")
    return re.sub(r"^[A-Z_]+: (.)", lambda match: match[1].upper(), text)


def _flags(module: str, name: str, bits: int) -> str:
    kind: Any = getattr(__import__(f"moothall.objects.{module}", fromlist=[name]), name)
    values = {name: value for name, value in vars(kind).items() if name.isupper() and isinstance(value, int)}
    return ", ".join(f"`{name}`" for name, value in values.items() if value & bits and value.bit_count() == 1)


def _fields(event: Any) -> Iterator[str]:
    """The fields of an event's data, as a table and as an example."""
    from moothall.api.events import Event  # noqa: PLC0415
    from moothall.api.field_descriptions import describe_field  # noqa: PLC0415
    from moothall.api.openapi import schema_of  # noqa: PLC0415

    kind, example = event, _recorded().get(event.name)
    if event.payload is not Event.payload:
        kind = inspect.signature(event.payload, eval_str=True).return_annotation
    try:
        schema, components = schema_of(kind)
    except (TypeError, NotImplementedError):
        yield from _fields_of_example(example)
        return
    resolved = _resolved(schema, components)
    yield from ("| Field | Type | |", "| --- | --- | --- |")
    for name, field in resolved.get("properties", {}).items():
        optional = "" if name in resolved.get("required", ()) else "optional"
        text = field.get("description") or describe_field(name) or ""
        yield f"| `{name}` | {_type_of(field)} | {' '.join(filter(None, (text, optional and '(optional)')))} |"
    yield from _code(_example(schema, components, 3) if example is None else example)


def _fields_of_example(example: Any) -> Iterator[str]:
    """The fields of data that the code builds, by an example from a test."""
    if isinstance(example, dict):
        from moothall.api.field_descriptions import describe_field  # noqa: PLC0415

        yield from ("| Field | Type | |", "| --- | --- | --- |")
        for name, value in example.items():
            yield f"| `{name}` | {_KINDS.get(type(value).__name__, 'any')} | {describe_field(name) or ''} |"
    if example is not None:
        yield from _code(example)


def _code(example: Any) -> Iterator[str]:
    yield from ("", "```json", msgspec.json.format(msgspec.json.encode(example), indent=2).decode(), "```", "")


def _recorded() -> dict[str, Any]:
    """Examples of events by name, as tests emitted them (tools/record_events.py)."""
    examples: dict[str, Any] = msgspec.json.decode(_EXAMPLES.read_bytes())
    return examples


def _resolved(schema: dict[str, Any], components: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = components[schema["$ref"].rpartition("/")[2]]
    return schema


def _type_of(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        return " or ".join(dict.fromkeys(_type_of(each) for each in schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema.get('items') or {})}"
    return str(schema.get("format") or schema.get("type") or "any")


def _example(schema: dict[str, Any], components: dict[str, Any], depth: int) -> Any:
    """A value that the schema accepts."""
    schema = _resolved(schema, components)
    if "anyOf" in schema:
        return _example(next((each for each in schema["anyOf"] if each.get("type") != "null"), {}), components, depth)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type")
    if kind == "object" or "properties" in schema:
        required = set(schema.get("required", ()))
        properties = schema.get("properties", {}).items()
        chosen = [(name, field) for name, field in properties if name in required or depth == 3]
        return {name: _example(field, components, depth - 1) for name, field in chosen} if depth else {}
    if kind == "array":
        return [_example(schema["items"], components, depth - 1)] if depth and schema.get("items") else []
    by_format = {"snowflake": "1100000000000000001", "permissions": "1024", "date-time": "2026-11-27T12:00:00+00:00"}
    plain = {"string": "text", "integer": 0, "number": 0.0, "boolean": False}
    return by_format.get(schema.get("format", ""), plain.get(str(kind)))


def errors_page() -> str:
    """Every error code, with its status and usual message."""
    from moothall.objects import errors  # noqa: PLC0415

    kinds = {kind for kind in vars(errors).values() if isinstance(kind, errors.ErrorKind)}
    lines = [
        "# Errors",
        "",
        'A refusal is `{"code", "message"}`; an invalid form adds `errors`, nested like the body.',
        "",
    ]
    lines += ["| Code | Status | Message |", "| --- | --- | --- |"]
    lines += [
        f"| {kind.code} | {kind.status} | {kind.message} |"
        for kind in sorted(kinds, key=lambda each: (each.code, each.status))
    ]
    return "\n".join(lines) + "\n"


def commands_page() -> str:
    """Every command of `moothall`, with its flags."""
    from moothall.cli import cli  # noqa: PLC0415

    return "\n".join(["# Commands", "", *_command(cli, click.Context(cli, info_name="moothall"), "moothall")]) + "\n"


def _command(command: click.Command, context: click.Context, path: str) -> Iterator[str]:
    if not isinstance(command, click.Group):
        yield from (f"## {path}", "", "```text", command.get_help(context), "```", "")
        return
    for name in command.list_commands(context):
        subcommand = command.get_command(context, name)
        if subcommand is not None and not subcommand.hidden:
            child = click.Context(subcommand, info_name=name, parent=context)
            yield from _command(subcommand, child, f"{path} {name}")


def _rewritten(text: str, source: Path, target: Path) -> str:
    """A page whose links lead within the site; those to other files of the project are left as text."""

    def replace(match: re.Match[str]) -> str:
        label, link = match[1], match[2]
        path, _, anchor = link.partition("#")
        if not path or re.match(r"[a-z]+:", link):
            return match[0]
        file = (source.parent / path).resolve()
        if file.is_relative_to(ROOT / "docs"):
            inside = file.relative_to(ROOT / "docs")
        elif str(file.relative_to(ROOT) if file.is_relative_to(ROOT) else file) in _COPIED:
            inside = Path(_COPIED[str(file.relative_to(ROOT))])
        else:
            return label if label.startswith(("`", "!")) else f"{label} (`{path.lstrip('./')}`)"
        relative = Path(*[".."] * (len(target.parts) - 1), inside)
        return f"[{label}]({relative}{'#' + anchor if anchor else ''})"

    return _LINK.sub(replace, text)


def prepare(folder: Path) -> None:
    """Write the pages of the site into a folder."""
    for path in sorted((ROOT / "docs").rglob("*")):
        target = path.relative_to(ROOT / "docs")
        if path.is_dir():
            (folder / target).mkdir(parents=True, exist_ok=True)
        elif path.suffix == ".md":
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            (folder / target).write_text(_rewritten(path.read_text(encoding="utf-8"), path, target), encoding="utf-8")
        else:
            shutil.copy(path, folder / target)
    for name, target_name in _COPIED.items():
        (folder / target_name).parent.mkdir(parents=True, exist_ok=True)
        text = _rewritten((ROOT / name).read_text(encoding="utf-8"), ROOT / name, Path(target_name))
        (folder / target_name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "src" / "moothall" / "pages" / "icons" / "icon.svg", folder)
    reference = folder / "reference"
    reference.mkdir(exist_ok=True)
    (reference / "events.md").write_text(events_page(), encoding="utf-8")
    (reference / "errors.md").write_text(errors_page(), encoding="utf-8")
    (reference / "commands.md").write_text(commands_page(), encoding="utf-8")
    (reference / "settings.md").write_text(f"# Settings\n\n{settings_table()}", encoding="utf-8")


def build(output: Path) -> None:
    """Build the site into a folder, which is replaced. Raises CalledProcessError for a link that leads nowhere."""
    with tempfile.TemporaryDirectory(prefix="moothall-docs-") as name:
        folder = Path(name)
        (folder / "docs").mkdir()
        prepare(folder / "docs")
        shutil.copy(ROOT / "mkdocs.yml", folder)
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "mkdocs",
            "build",
            "--strict",
            "--quiet",
            "--config-file",
            str(folder / "mkdocs.yml"),
        ]
        environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
        subprocess.run([*command, "--site-dir", str(folder / "site")], check=True, env=environment)
        for pattern in _UNUSED:
            for path in (folder / "site").rglob(pattern):
                path.unlink()
        shutil.rmtree(output, ignore_errors=True)
        shutil.copytree(folder / "site", output)


def main(arguments: Sequence[str]) -> int:
    """Build as the arguments say; returns the exit code."""
    parser = argparse.ArgumentParser(description="Build the documentation into a site.")
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "docs", help="Folder that is made anew.")
    options = parser.parse_args(arguments)
    try:
        build(options.output)
    except subprocess.CalledProcessError:
        return 1
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(options.output, PACKAGE)
    print(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
