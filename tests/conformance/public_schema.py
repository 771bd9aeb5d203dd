"""Every JSON answer of the suite against the public description of its operation, where that is present.

The description is looked for beside the project (`../shared/spec/openapi.json`) or where
`MOOTHALL_PUBLIC_SPEC` says. What differs on purpose stands in `EXCEPTIONS`, each with its reason; the list may
only shrink.
"""

import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no stubs of its own
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from tests.conformance.quick_validators import QuickValidators

SPEC = Path(
    os.environ.get("MOOTHALL_PUBLIC_SPEC", Path(__file__).parents[2].parent / "shared" / "spec" / "openapi.json")
)

EXCEPTIONS: dict[tuple[str, str], str] = {
    ("execute_slack_compatible_webhook", ""): (
        "the answer is Slack's own, the bare text ok, which its senders compare; the description has JSON"
    ),
    ("*", "**.message_reference.type"): (
        "what is forwarded is referred to with type 1, as the public documents say; the description has 0 alone"
    ),
    **{
        ("*", f"**.serialized_source_guild.{field}"): (
            "placeholder ids are integers, as the public documents say and show; the description has the text of ids"
        )
        for field in (
            "afk_channel_id",
            "system_channel_id",
            "channels.*.parent_id",
            "channels.*.permission_overwrites.*.id",
        )
    },
}
"""(operation or *, JSON path with * for indexes) -> why ours differs."""

MORE_FEATURES = ("ENHANCED_ROLE_COLORS", "GUESTS_ENABLED", "GUILD_TAGS", "MORE_SOUNDBOARD", "SOUNDBOARD")
"""Features that api.md names and the public list of them leaves out."""

MORE_SCOPES = ("identify.premium",)
"""Scopes that the public documentation names and the public list of them leaves out."""

MEDIA_CHANNEL = 16
"""A type of channels that api.md names and the public list of them leaves out."""

NOT_DESCRIBED = re.compile(
    r"/guilds/[^/]+/roles/connections-configurations|/channels/[^/]+/messages/search|/channels/[^/]+/recipients/@me"
    r"|/guilds/[^/]+/bans/search"
)
"""Paths that the description leaves out, where a placeholder of it would match a literal segment."""

USED: set[tuple[str, str]] = set()
"""The exceptions that an answer needed in this run."""

_PREFIX = "urn:public"


class Mismatch(AssertionError):
    """An answer that public clients may not be able to read."""


@cache
def _spec() -> dict[str, Any]:
    spec: dict[str, Any] = msgspec.json.decode(SPEC.read_bytes())
    spec["components"]["schemas"]["GuildFeatures"]["oneOf"].extend({"const": name} for name in MORE_FEATURES)
    spec["components"]["schemas"]["GuildChannelResponse"]["properties"]["type"]["enum"].append(MEDIA_CHANNEL)
    spec["components"]["schemas"]["ChannelTypes"]["oneOf"].append({"const": MEDIA_CHANNEL})
    spec["components"]["schemas"]["OAuth2Scopes"]["oneOf"].extend({"const": name} for name in MORE_SCOPES)
    return spec


@cache
def _operations() -> list[tuple[re.Pattern[str], int, dict[str, Any]]]:
    """(path pattern, number of placeholders, path item): the most literal path is tried first."""
    listed = []
    for path, item in _spec()["paths"].items():
        pattern = re.compile("".join(_segment(part) for part in path.strip("/").split("/")) + "$")
        listed.append((pattern, path.count("{"), item))
    return sorted(listed, key=lambda entry: entry[1])


def _segment(part: str) -> str:
    # Joining as `@me` is no Add Guild Member.
    return "/(?!@me$)[^/]+" if part.startswith("{") else "/" + re.escape(part)


@cache
def _registry() -> Any:
    return Registry().with_resource(_PREFIX, Resource.from_contents(_spec(), default_specification=DRAFT202012))


@cache
def _validator(pointer: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": f"{_PREFIX}#{pointer}"}, registry=_registry())


@cache
def _quick_validators() -> QuickValidators:
    return QuickValidators(_spec())


def find_operation(method: str, path: str) -> dict[str, Any] | None:
    """The public operation of a request; None for one that is not public."""
    if NOT_DESCRIBED.fullmatch(path):
        return None
    for pattern, _, item in _operations():
        if method.lower() in item and pattern.fullmatch(path):
            operation: dict[str, Any] = item[method.lower()]
            return operation
    return None


def check_answer(method: str, path: str, status: int, body: bytes) -> None:
    """Raise Mismatch unless a successful answer is one that the public description allows.

    Does nothing where the description is not present, or does not know the operation.
    """
    if not SPEC.exists() or not 200 <= status < 300:
        return
    operation = find_operation(method, path)
    if operation is None:
        return
    name = operation["operationId"]
    responses = operation["responses"]
    if str(status) not in responses:
        if not _excused(name, "status"):
            raise Mismatch(f"{name}: status {status}, the public ones are {', '.join(responses)}")
        return
    schema = responses[str(status)].get("content", {}).get("application/json", {}).get("schema")
    if schema is None:
        return
    template = next(p for p, item in _spec()["paths"].items() if item.get(method.lower()) is operation)
    escaped = template.replace("~", "~0").replace("/", "~1")
    pointer = f"/paths/{escaped}/{method.lower()}/responses/{status}/content/application~1json/schema"
    if _quick_validators().is_valid(pointer, body):
        return
    problems = {
        f"{where}: {message}" for where, message in _problems(body, _validator(pointer)) if not _excused(name, where)
    }
    if problems:
        raise Mismatch(f"{name}: " + "; ".join(sorted(problems)[:8]))


def _problems(body: bytes, validator: Draft202012Validator) -> list[tuple[str, str]]:
    """Where a body is not as its schema has it, and why."""
    try:
        answer = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return [("", "not JSON")]
    return [leaf for error in validator.iter_errors(answer) for leaf in innermost(error)]


def innermost(error: Any) -> list[tuple[str, str]]:
    """The innermost reasons: of a union, those of the option that fits best."""
    if error.context:
        by_option: dict[Any, list[Any]] = {}
        for inner in error.context:
            by_option.setdefault(inner.schema_path[0], []).append(inner)
        best = min(by_option.values(), key=lambda inner: (_is_null_option(inner), _is_other_option(inner), len(inner)))
        return [leaf for inner in best for leaf in innermost(inner)]
    where = ".".join("*" if isinstance(part, int) else str(part) for part in error.absolute_path)
    return [(where, error.message[:160])]


def _is_null_option(errors: list[Any]) -> bool:
    return any(e.validator == "type" and e.validator_value == "null" for e in errors)


def _is_other_option(errors: list[Any]) -> bool:
    """Whether the value names another option of the union, as by its type."""
    return any(e.validator == "const" for e in errors)


def _excused(name: str, where: str) -> bool:
    matching = {(op, known) for op, known in EXCEPTIONS if op in {name, "*"} and _fits(where, known)}
    USED.update(matching)
    return bool(matching)


def stale() -> list[str]:
    """The exceptions that no answer of the whole suite needed; none where there is no description to differ from."""
    return [f"{op} {where}" for op, where in EXCEPTIONS if (op, where) not in USED] if SPEC.exists() else []


def _fits(where: str, known: str) -> bool:
    return where == known or (known.startswith("**.") and (where == known[3:] or where.endswith(known[2:])))
