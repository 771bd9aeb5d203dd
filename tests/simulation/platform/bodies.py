"""Bodies and queries made from what the endpoints declare: the schemas of our own document, and some whole examples.

Every text that a body may choose freely is a marker: a text that is sent once and never again, so that wherever it
appears, it is known which request it comes from.
"""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from moothall.api.endpoint import Endpoint
from tests.conformance.own_schema import document
from tests.conformance.places import Places, parameter_named
from tests.conformance.recombined import PIXEL
from tests.simulation.platform.examples import EXAMPLES
from tests.simulation.randomness import Choices

_OF_APPLICATIONS: Final = frozenset({"edit_current_application", "modify_application"})
"""Endpoints whose `flags` would take intents from a bot that is connected."""
_DEEPEST: Final = 5
_IDS: Final = frozenset({"1", "2", "3"})
"""What stands for an id in an example."""
_QUERIED: Final = {"wait": "true", "scope": "bot"}
_HOUR: Final = 3_600
_KEPT_FIELDS: Final = frozenset(
    {
        "discriminator",
        "email",
        "event_webhooks_url",
        "interactions_endpoint_url",
        "new_password",
        "owner_id",
        "password",
        "username",
    }
)
"""Optional fields that are never sent: they take accounts and guilds from those who use them, or need a network."""


@cache
def _resolved(reference: str) -> Any:
    node: Any = document()
    for part in reference.removeprefix("#/").split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


def json_schema(endpoint: Endpoint) -> Any:
    """The schema of an endpoint's JSON body; None if it takes none."""
    operation = document()["paths"][endpoint.path][endpoint.method.lower()]
    content = operation.get("requestBody", {}).get("content", {})
    return content.get("application/json", {}).get("schema")


def file_part(endpoint: Endpoint) -> str:
    """The name of the part of a form that is a file."""
    operation = document()["paths"][endpoint.path][endpoint.method.lower()]
    form = operation.get("requestBody", {}).get("content", {}).get("multipart/form-data", {}).get("schema", {})
    named = (name for name, part in form.get("properties", {}).items() if "contentMediaType" in part)
    return next(named, "files[0]")


def query_parameters(endpoint: Endpoint) -> list[Any]:
    """What the document says of the parameters in an endpoint's query."""
    operation = document()["paths"][endpoint.path][endpoint.method.lower()]
    return [each for each in operation["parameters"] if each["in"] == "query"]


class Bodies:
    """Makes bodies with ids of things that exist. `now` is the time in seconds since the Unix epoch."""

    def __init__(self, places: Places, now: Callable[[], float], marker: Callable[[], str]) -> None:
        self._places = places
        self._now = now
        self._marker = marker

    def body(self, endpoint: Endpoint, choices: Choices) -> Any:
        """A body that the endpoint's schema allows, mostly an example with some fields changed."""
        schema = json_schema(endpoint)
        if schema is None:
            return None
        examples = EXAMPLES.get(endpoint.name)
        if not examples:
            return self._value(schema, "", choices, 0)
        body = self._filled(choices.choice(examples), "", choices)
        resolved = _resolved(schema["$ref"]) if "$ref" in schema else schema
        if isinstance(body, dict) and choices.chance(0.4):
            changed = self._object(resolved, choices, 0, chance=0.15)
            if endpoint.name in _OF_APPLICATIONS:
                changed.pop("flags", None)
            body = body | {key: value for key, value in changed.items() if key not in body or choices.chance(0.3)}
        return body

    def query(self, endpoint: Endpoint, choices: Choices) -> dict[str, Any]:
        """A query that the endpoint declares."""
        query: dict[str, Any] = {}
        for parameter in query_parameters(endpoint):
            name = parameter["name"]
            if name in _QUERIED:
                query[name] = _QUERIED[name]
            elif parameter.get("required") or choices.chance(0.2):
                value = self._value(parameter["schema"], name, choices, 0)
                query[name] = str(value).lower() if isinstance(value, bool) else value
        return self._places.fill_query(query, choices.random)

    def _time(self, hours: float) -> str:
        return datetime.fromtimestamp(int(self._now() + hours * _HOUR), UTC).isoformat()

    def _filled(self, node: Any, name: str, choices: Choices) -> Any:
        """An example with markers, times and ids in it."""
        if isinstance(node, dict):
            return {key: self._filled(value, key, choices) for key, value in node.items()}
        if isinstance(node, list):
            return [self._filled(item, name, choices) for item in node]
        if not isinstance(node, str):
            return node
        if node.startswith("+"):
            return self._time(float(node[1:]))
        values = self._places.values.get(node[1:] if node.startswith("@") else parameter_named(name))
        if (values and node in _IDS) or node.startswith("@"):
            return str(choices.choice(values[:4] + values[-8:])) if values else "1"
        return re.sub("MARKER", lambda _match: self._marker(), node)

    def _value(self, schema: Any, name: str, choices: Choices, depth: int) -> Any:
        if "$ref" in schema:
            return self._value(_resolved(schema["$ref"]), name, choices, depth + 1)
        if options := schema.get("anyOf") or schema.get("oneOf"):
            return self._option(options, name, choices, depth)
        if "const" in schema or "enum" in schema:
            return choices.choice(schema.get("enum") or [schema["const"]])
        match schema.get("type"):
            case "object":
                made: Any = self._object(schema, choices, depth, chance=0.3)
            case "array":
                made = self._list(schema, name, choices, depth)
            case "integer" | "number":
                made = self._integer(schema, choices)
            case "boolean":
                made = choices.chance(0.5)
            case "string":
                made = self._text(schema, name, choices)
            case _:
                made = None
        return made

    def _option(self, options: list[Any], name: str, choices: Choices, depth: int) -> Any:
        others = [option for option in options if option.get("type") != "null"]
        if len(others) < len(options) and choices.chance(0.2):
            return None
        return self._value(choices.choice(others), name, choices, depth)

    def _object(self, schema: Any, choices: Choices, depth: int, *, chance: float) -> dict[str, Any]:
        made: dict[str, Any] = {}
        for name, inner in schema.get("properties", {}).items():
            required = name in schema.get("required", ())
            if required or (depth < _DEEPEST and name not in _KEPT_FIELDS and choices.chance(chance)):
                made[name] = self._value(inner, name, choices, depth + 1)
        return made

    def _list(self, schema: Any, name: str, choices: Choices, depth: int) -> list[Any]:
        least = schema.get("minItems", 0)
        highest = min(schema.get("maxItems", 3), least + 2)
        count = least if depth >= _DEEPEST else choices.integer(least, max(least, highest))
        return [self._value(schema.get("items", {}), name, choices, depth + 1) for _ in range(count)]

    @staticmethod
    def _integer(schema: Any, choices: Choices) -> int:
        lowest, highest = int(schema.get("minimum", 0)), int(schema.get("maximum", 100))
        return choices.choice((lowest, min(lowest + 1, highest), choices.integer(lowest, min(highest, lowest + 500))))

    def _text(self, schema: Any, name: str, choices: Choices) -> str:
        if schema.get("format") == "snowflake":
            values = self._places.values.get(parameter_named(name))
            return str(choices.choice(values[-12:])) if values else "1"
        if name.endswith(("_url", "_uri", "_uris")) or schema.get("format") == "uri":
            return f"https://example.com/{self._marker()}"
        by_format: dict[str, str] = {
            "date-time": self._time(choices.choice((0.02, 1.0, 2.0, 30.0))),
            "permissions": choices.choice(("0", "1024", "3072", "8", "68608")),
            "data-uri": PIXEL,
        }
        if (formatted := by_format.get(schema.get("format", ""))) is not None:
            return formatted
        if (least := int(schema.get("minLength", 0))) > len(self._marker()):
            return self._marker() + "x" * least
        return self._marker() if schema.get("maxLength", 100) >= 9 else "a"
