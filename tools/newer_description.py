"""Compare the public description of the API with a newer copy: what is new, what is gone, and what is served of it.

    python tools/newer_description.py NEWER [--known OLDER]

Operations, their parameters, the fields of schemas and the values of enumerations are compared by name. Each line of
the output is one of them: `new` or `gone`, and for a new operation whether this server has an endpoint at its path. The
exit code is 1 if anything is new, so that a nightly job notices. Copies are JSON files in OpenAPI.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

METHODS: Final = ("get", "put", "post", "patch", "delete")
KNOWN: Final = Path(__file__).parents[2] / "shared" / "spec" / "openapi.json"
"""Where a checkout keeps the copy that the suite judges by, beside the project."""

Node = dict[str, object]


def described(document: Node) -> set[str]:
    """Everything that a description names, a line each."""
    return {line for part in (_operations, _fields) for line in part(document)}


def _operations(document: Node) -> Iterator[str]:
    for path, item in _objects(document.get("paths")):
        for method, operation in _objects(item):
            if method not in METHODS:
                continue
            name = f"{method.upper()} {path}"
            yield f"operation {name}"
            for parameter in _list(operation.get("parameters")):
                yield f"parameter {name} {parameter.get('name')}"
            for status, _ in _objects(operation.get("responses")):
                yield f"answer {name} {status}"


def _fields(document: Node) -> Iterator[str]:
    components = document.get("components")
    schemas = components.get("schemas") if isinstance(components, dict) else None
    for name, schema in _objects(schemas):
        yield f"schema {name}"
        for field, _ in _objects(schema.get("properties")):
            yield f"field {name}.{field}"
        required = schema.get("required")
        for field in required if isinstance(required, list) else ():
            yield f"required {name}.{field}"
        for option in _list(schema.get("oneOf")):
            if "const" in option:
                yield f"value {name} {option['const']}"


def _objects(value: object) -> list[tuple[str, Node]]:
    return [(key, each) for key, each in value.items() if isinstance(each, dict)] if isinstance(value, dict) else []


def _list(value: object) -> list[Node]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def served_paths() -> set[str]:
    """The endpoints of this server, with {} for each parameter of a path."""
    import moothall.oauth2.endpoints  # noqa: F401, PLC0415 fills the registry
    from moothall.api.endpoint import REGISTRY  # noqa: PLC0415
    from moothall.resources import load_endpoints  # noqa: PLC0415

    load_endpoints()
    return {_unnamed(f"operation {method} {path}") for method, path in REGISTRY}


def _unnamed(line: str) -> str:
    return re.sub(r"\{[^}]*\}", "{}", line)


def differences(older: Node, newer: Node, served: set[str]) -> list[str]:
    """What the newer copy has and the older one has not, and the reverse, a line each."""
    before, after = described(older), described(newer)
    lines = []
    for line in sorted(after - before):
        note = ""
        if line.startswith("operation "):
            note = " (served)" if _unnamed(line) in served else " (not served)"
        lines.append(f"new  {line}{note}")
    return lines + [f"gone {line}" for line in sorted(before - after)]


def main(arguments: list[str]) -> int:
    """Print the differences; 1 if anything is new."""
    parser = argparse.ArgumentParser(description="Compare the public description with a newer copy of it.")
    parser.add_argument("newer", type=Path)
    parser.add_argument("--known", type=Path, default=KNOWN)
    options = parser.parse_args(arguments)
    older, newer = (json.loads(path.read_text(encoding="utf-8")) for path in (options.known, options.newer))
    lines = differences(older, newer, served_paths())
    print("\n".join(lines) or "nothing is new")
    return int(any(line.startswith("new ") for line in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
