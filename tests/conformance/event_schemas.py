"""Every dispatch of the suite against the types of discord-api-types, which libraries for Node are written with.

The schemas are made once from the package that `tests/clients/node` installs. Where it or Node is missing, nothing is
checked. What differs on purpose stands in `EXCEPTIONS`, which may only shrink.
"""

import json
import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import jsonschema_rs
import msgspec
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it has no stubs of its own

from tests.conformance.public_schema import innermost

NODE_CLIENTS = Path(__file__).parents[1] / "clients" / "node"
TYPES = NODE_CLIENTS / "node_modules" / "discord-api-types"
GENERATOR = NODE_CLIENTS / "node_modules" / "ts-json-schema-generator"

_NULLS = "the public description has null where there is none, and so have older types"
EXCEPTIONS: dict[tuple[str, str], str] = {
    ("GUILD_AUDIT_LOG_ENTRY_CREATE", "action_type"): "the types do not list every kind of entry",
    ("RESUMED", ""): "the types have no data in it; the public gateway sends _trace",
    ("RATE_LIMITED", "opcode"): "the generator makes a text of the number that is the key of a type",
    ("GUILD_CREATE", "presences.*"): "presences in a guild have no guild_id, as the public documentation says",
    ("STAGE_INSTANCE_CREATE", "guild_scheduled_event_id"): _NULLS,
    ("STAGE_INSTANCE_UPDATE", "guild_scheduled_event_id"): _NULLS,
    ("STAGE_INSTANCE_DELETE", "guild_scheduled_event_id"): _NULLS,
}
"""(dispatch, JSON path with * for indexes) -> why ours differs from the types."""

SEEN: set[str] = set()
"""The kinds of dispatches that were judged in this run."""

USED: set[tuple[str, str]] = set()
"""The exceptions that a dispatch of this run needed."""

_LOOSE: dict[str, Any] = {
    # Audit logs have keys that the types do not list.
    "changes": {"type": "array", "items": {"properties": {"key": {"type": "string"}}, "required": ["key"]}},
    # What the generator makes of a type that picks properties of messages is no schema of it.
    "message_snapshots": {
        "type": "array",
        "items": {"properties": {"message": {"type": "object"}}, "required": ["message"]},
    },
}
"""Properties whose schema is not that of the types."""
_FLAGS = re.compile(r"(^|_)flags$")
_EXTRA = re.compile(r"'([^']+)'")


class Mismatch(AssertionError):
    """A dispatch that libraries may not be able to read."""


@cache
def schemas() -> dict[str, dict[str, Any]]:
    """The open and the closed schema of each kind of dispatch, by its name; empty where they cannot be made."""
    if not TYPES.is_dir() or not GENERATOR.is_dir() or shutil.which("node") is None:
        return {}
    version = json.loads((TYPES / "package.json").read_text(encoding="utf-8"))["version"]
    made = NODE_CLIENTS / "node_modules" / ".cache" / f"event-schemas-{version}.json"
    if not made.exists():
        made.parent.mkdir(exist_ok=True)
        mine = made.with_suffix(f".{os.getpid()}")
        subprocess.run(["node", "event-schemas.mjs", str(mine)], cwd=NODE_CLIENTS, check=True, timeout=300)
        mine.replace(made)
    documents = json.loads(made.read_bytes())
    by_name: dict[str, dict[str, Any]] = {}
    for kind, document in documents.items():
        definitions = document["definitions"]
        _allow_combined_flags(definitions)
        for option in definitions["GatewayDispatchPayload"]["anyOf"]:
            dispatch = _resolve(definitions, option)["properties"]
            names = dispatch["t"].get("enum") or [dispatch["t"]["const"]]
            for name in names:
                by_name.setdefault(name, {})[kind] = {"definitions": definitions, **dispatch["d"]}
    return by_name


def _resolve(definitions: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    while "$ref" in schema:
        schema = definitions[unquote(schema["$ref"].removeprefix("#/definitions/"))]
    return schema


def _allow_combined_flags(node: Any) -> None:
    """Let flags be any integer: the types list single bits. Replace what is in `_LOOSE`."""
    if isinstance(node, list):
        for each in node:
            _allow_combined_flags(each)
    elif isinstance(node, dict):
        for name, schema in node.get("properties", {}).items():
            if name in _LOOSE:
                node["properties"][name] = _LOOSE[name]
            elif isinstance(schema, dict) and _FLAGS.search(name) and schema.get("type") != "string":
                node["properties"][name] = {"type": "integer"}
        for each in node.values():
            _allow_combined_flags(each)


@cache
def _quick(name: str, kind: str) -> jsonschema_rs.Draft7Validator:
    return jsonschema_rs.Draft7Validator(schemas()[name][kind])


def check_dispatch(name: str, data: bytes) -> None:
    """Raise Mismatch unless the `d` of a dispatch is one that the types allow, whatever else it has.

    Does nothing for a dispatch that the types do not know, or without the types.
    """
    if name not in schemas():
        return
    SEEN.add(name)
    value = msgspec.json.decode(data)
    if _quick(name, "open").is_valid(value):
        return
    problems = {f"{where}: {message}" for where, message in _errors(name, "open", value) if not _excused(name, where)}
    if problems:
        raise Mismatch(f"{name}: " + "; ".join(sorted(problems)[:8]))


def undeclared(name: str, value: Any) -> set[str]:
    """The keys of a dispatch's `d` that the types do not declare, as JSON paths."""
    if name not in schemas() or _quick(name, "closed").is_valid(value):
        return set()
    return {
        f"{where}.{key}" if where else key
        for where, message in _errors(name, "closed", value)
        if message.startswith("Additional properties")
        for key in _EXTRA.findall(message)
    }


def _errors(name: str, kind: str, value: Any) -> list[tuple[str, str]]:
    validator = Draft7Validator(schemas()[name][kind])
    return [leaf for error in validator.iter_errors(value) for leaf in innermost(error)]


def _excused(name: str, where: str) -> bool:
    USED.update({(name, where)} & EXCEPTIONS.keys())
    return (name, where) in EXCEPTIONS


def unseen() -> list[str]:
    """The kinds of dispatches of the types that no test of the whole suite has seen."""
    return sorted(schemas().keys() - SEEN)


def stale() -> list[str]:
    """The exceptions that no dispatch of the whole suite needed."""
    return [f"{name} {where}" for name, where in EXCEPTIONS if (name, where) not in USED] if schemas() else []
