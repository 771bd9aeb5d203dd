"""Further requests of a row, made from some that schemathesis made: cheap, and each another one.

Making a request from its schema takes schemathesis twenty milliseconds and more, so a search has it make a few for
each row and recombines them: fields of several bodies are mixed, dropped and doubled, and values replaced by those of
other bodies, by the boundaries that the document sets, and by wrong types. What the server accepted, and what it
refused in a new way, is recombined again.
"""

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

from moothall.api.endpoint import Endpoint
from tests.conformance.own_schema import document

NO_BODY: Final = object()
"""In place of a body, where none is sent."""
_MAX_KEPT = 150
"""Cases kept for a row; further ones replace some."""
_MAX_ACCEPTED = 80
_MAX_DONORS = 60
_DEEPEST = 7
_LONGEST = 6_000
"""Characters of the longest text made; longer limits have tests of their own."""
_MAX_DEPTH, _MAX_ITEMS = 40, 300
_CHANGES = (1, 1, 1, 2, 2, 3, 3, 5)
_ODD: tuple[Any, ...] = (None, True, "", "0", "null", 0, -1, 1.5, 2**31, 2**63, [], {}, [None], {"": ""}, "\x00", "é́ ")
"""Values of every type that few fields take."""
_OF_TYPES: dict[Any, tuple[Any, ...]] = {"boolean": (True, False), "null": (None,)}
_DAY = timedelta(days=1)
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)
_ROOT: Final = ""
"""The name of a body as a whole; items of a list are named after it, as in `embeds[]`."""


class Case(NamedTuple):
    """What a request consists of."""

    path: dict[str, Any]
    query: dict[str, Any] | str | None
    """A text is a query that is sent as it is."""
    headers: dict[str, str]
    media: str | None
    body: Any


class Boundaries:
    """Values that the document's limits suggest for each field of a body, by name, and the fields of each object."""

    def __init__(self) -> None:
        self.values: dict[str, list[Any]] = defaultdict(list)
        self.fields: dict[str, list[str]] = defaultdict(list)

    def visit(self, schema: Any, name: str, seen: tuple[str, ...] = ()) -> list[Any]:
        """Collect what a schema suggests for a field; returns values that it allows, mostly."""
        if len(seen) > _DEEPEST or not isinstance(schema, dict):
            return []
        if reference := schema.get("$ref"):
            return [] if seen.count(reference) > 1 else self.visit(_resolved(reference), name, (*seen, reference))
        allowed: list[Any] = []
        refused: list[Any] = []
        for option in (*schema.get("anyOf", ()), *schema.get("oneOf", ()), *schema.get("allOf", ())):
            allowed += self.visit(option, name, (*seen, ""))
        for values, extra in (_enumerated(schema), _of_numbers(schema), _of_texts(schema)):
            allowed += values
            refused += extra
        allowed += _OF_TYPES.get(schema.get("type"), ())
        allowed += self._of_containers(schema, name, seen)
        known = self.values[name]
        known.extend(value for value in (*allowed, *refused) if len(known) < 4 * _MAX_DONORS)
        return allowed[:12]

    def _of_containers(self, schema: dict[str, Any], name: str, seen: tuple[str, ...]) -> Iterator[Any]:
        if "items" in schema:
            yield from self._of_lists(schema, name, seen)
        if "properties" in schema:
            yield from self._of_objects(schema, name, seen)
        if isinstance(schema.get("additionalProperties"), dict):
            values = self.visit(schema["additionalProperties"], f"{name}{{}}", (*seen, ""))
            yield {}
            yield from ({"en-US": value, "0": value} for value in values[:3])

    def _of_lists(self, schema: dict[str, Any], name: str, seen: tuple[str, ...]) -> Iterator[Any]:
        items = self.visit(schema["items"], f"{name}[]", (*seen, "")) or [None]
        lengths = {0, 1, 2, schema.get("minItems", 0), min(schema.get("maxItems", 3), 120)}
        if schema.get("maxItems", 120) < 120:
            lengths.add(schema["maxItems"] + 1)
        yield from ([items[index % len(items)] for index in range(length)] for length in sorted(lengths, reverse=True))

    def _of_objects(self, schema: dict[str, Any], name: str, seen: tuple[str, ...]) -> Iterator[Any]:
        least, all_fields = {}, {}
        for field, inner in schema["properties"].items():
            if field not in self.fields[name]:
                self.fields[name].append(field)
            values = self.visit(inner, field, (*seen, ""))
            if values:
                all_fields[field] = values[0]
                if field in schema.get("required", ()):
                    least[field] = values[0]
        yield from (least, all_fields)


def _enumerated(schema: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    values = list(schema.get("enum", [schema["const"]] if "const" in schema else []))
    numbers = [value for value in values if isinstance(value, int)]
    return values, [max(numbers) + 1, min(numbers) - 1, str(numbers[0])] if numbers else []


def _of_numbers(schema: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    if schema.get("type") not in {"integer", "number"}:
        return [], []
    minimum, maximum = schema.get("minimum", 0), schema.get("maximum", 1000)
    allowed = [minimum, maximum, (minimum + maximum) // 2, min(minimum + 1, maximum)]
    return allowed, [minimum - 1, maximum + 1, float(maximum), str(minimum), minimum + 0.5]


def _of_texts(schema: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    if schema.get("type") != "string":
        return [], []
    now = datetime.now(UTC).replace(microsecond=0)
    by_format: dict[str | None, list[str]] = {
        "snowflake": ["0", "1", str(2**64 - 1), str(2**64)],
        "permissions": ["0", "8", "3072", str(2**60)],
        "date-time": [(now + days * _DAY).isoformat() for days in (1, 2, -1, 400)] + ["9999-12-31T23:59:59Z"],
        "data-uri": [PIXEL, "data:image/png;base64,", PIXEL[:60]],
        "uri": ["https://example.com/", "http://example.com:1/%00", "https://", "javascript:0"],
    }
    if values := by_format.get(schema.get("format")):
        return values[:3], values[3:]
    minimum, maximum = schema.get("minLength", 0), min(schema.get("maxLength", 100), _LONGEST)
    refused = ["x" * (maximum + 1), "x" * max(minimum - 1, 0), " " * max(minimum, 1), "\u200b" * max(minimum, 1), 5]
    return ["x" * max(minimum, 1), "x" * maximum, "\N{GRINNING FACE}" * maximum, "Word and word"[:maximum]], refused


@cache
def _resolved(reference: str) -> Any:
    node: Any = document()
    for part in reference.removeprefix("#/").split("/"):
        node = node[part.replace("~1", "/").replace("~0", "~")]
    return node


@cache
def boundaries(row: Endpoint, media: str) -> Boundaries:
    """What the document suggests for a body of a row."""
    made = Boundaries()
    content = document()["paths"][row.path][row.method.lower()].get("requestBody", {}).get("content", {})
    made.visit(content.get(media, {}).get("schema", {}), _ROOT)
    return made


@cache
def query_values(row: Endpoint) -> dict[str, list[Any]]:
    """What the document suggests for the parameters in a row's query."""
    made = Boundaries()
    for parameter in document()["paths"][row.path][row.method.lower()]["parameters"]:
        if parameter["in"] == "query":
            made.visit(parameter["schema"], parameter["name"])
    return made.values


class Pool:
    """The cases of a row, which are recombined."""

    def __init__(self, row: Endpoint, cases: list[Case], accepted: list[Case]) -> None:
        self.row = row
        self.cases = list(cases)
        self.accepted = list(accepted)
        self._outcomes: set[tuple[Any, ...]] = set()
        self._donors: dict[str, list[Any]] = defaultdict(list)
        for case in (*cases, *accepted):
            self._give(case.body, _ROOT)

    def keep(self, case: Case, outcome: tuple[Any, ...], chance: random.Random, *, accepted: bool) -> None:
        """Take a case that was accepted or had an outcome that no earlier one had."""
        if accepted and (case.body is not NO_BODY or case.query):
            _put(self.accepted, case, _MAX_ACCEPTED, chance)
        if outcome not in self._outcomes:
            self._outcomes.add(outcome)
            _put(self.cases, case, _MAX_KEPT, chance)
            self._give(case.body, _ROOT)

    def _give(self, node: Any, name: str, depth: int = 0) -> None:
        """Let the values of a body be exchanged with those of fields of the same name."""
        if depth:
            donors = self._donors[name]
            if len(donors) < _MAX_DONORS and (isinstance(node, dict | list) or node not in donors):
                donors.append(node)
        if depth > _DEEPEST:
            return
        if isinstance(node, dict):
            for key, value in node.items():
                self._give(value, key, depth + 1)
        elif isinstance(node, list):
            for item in node[:20]:
                self._give(item, f"{name}[]", depth + 1)

    def recombine(self, chance: random.Random) -> Case:
        """Another case."""
        base = chance.choice(self.accepted if self.accepted and chance.random() < 0.6 else self.cases)
        body = base.body
        if body is not NO_BODY and not isinstance(body, bytes):
            known = boundaries(self.row, base.media or "application/json")
            body = _copied(body)
            for _ in range(chance.choice(_CHANGES)):
                body = self._changed(body, known, chance)
            if not _is_bounded(body):
                body = _copied(base.body)
        return base._replace(query=self._query(base.query, chance), body=body)

    def _query(self, query: dict[str, Any] | str | None, chance: random.Random) -> dict[str, Any] | str | None:
        values = query_values(self.row)
        if not values or isinstance(query, str) or chance.random() < 0.25:
            return query
        changed = dict(query or {})
        for _ in range(chance.choice((1, 1, 2))):
            name = chance.choice([*values])
            donor = chance.choice(self.cases).query
            if chance.random() < 0.2:
                changed.pop(name, None)
            elif isinstance(donor, dict) and name in donor and chance.random() < 0.3:
                changed[name] = donor[name]
            else:
                changed[name] = chance.choice(values[name] or [""])
        return changed

    def _changed(self, body: Any, known: Boundaries, chance: random.Random) -> Any:
        """A body with one thing in it changed."""
        if not isinstance(body, dict | list):
            return self._value(_ROOT, body, known, chance)
        node, name = _somewhere(body, chance)
        if isinstance(node, dict):
            self._change_object(node, name, known, chance)
        else:
            self._change_list(node, name, known, chance)
        return body

    def _change_object(self, node: dict[str, Any], name: str, known: Boundaries, chance: random.Random) -> None:
        action, fields = chance.random(), known.fields.get(name)
        if action < 0.2 and node:
            del node[chance.choice([*node])]
        elif action < 0.4 and name == _ROOT:
            other = chance.choice(self.accepted or self.cases).body
            if isinstance(other, dict) and other:
                for key in chance.sample([*other], min(len(other), 1 + chance.randrange(3))):
                    node[key] = _copied(other[key])
        elif fields and (action < 0.85 or not node):
            key = chance.choice(fields)
            node[key] = self._value(key, node.get(key), known, chance)
        elif node:
            key = chance.choice([*node])
            node[key] = self._value(key, node[key], known, chance)

    def _change_list(self, node: list[Any], name: str, known: Boundaries, chance: random.Random) -> None:
        action, index = chance.random(), chance.randrange(len(node) + 1)
        if action < 0.3 and node:
            node.pop(index % len(node))
        elif action < 0.5 and node:
            node.insert(index, _copied(chance.choice(node)))
        elif action < 0.6:
            chance.shuffle(node)
        elif action < 0.85 or not node:
            node.insert(index, self._value(f"{name}[]", None, known, chance))
        else:
            index %= len(node)
            node[index] = self._value(f"{name}[]", node[index], known, chance)

    def _value(self, name: str, value: Any, known: Boundaries, chance: random.Random) -> Any:
        """Another value for a field."""
        action, donors, limits = chance.random(), self._donors.get(name), known.values.get(name)
        if action < 0.08:
            return _copied(chance.choice(_ODD))
        if limits and action < 0.6:
            return _copied(chance.choice(limits))
        if donors and action < 0.85:
            return _copied(chance.choice(donors))
        if isinstance(value, bool) or value is None:
            return not value
        if isinstance(value, int | float):
            return value + chance.choice((1, -1, 0.5, 10, -1000, 2**31))
        if isinstance(value, str) and value:
            at = chance.randrange(len(value))
            return chance.choice((value[:at], value[at:] + value[:at], f"{value[:at]}\n{value[at:]}", value * 2))
        return _copied(chance.choice(limits)) if limits else value


def _somewhere(body: Any, chance: random.Random) -> tuple[Any, str]:
    """An object or list within a body, and its name."""
    node, name = body, _ROOT
    while True:
        inner = (
            [(value, key) for key, value in node.items() if isinstance(value, dict | list)]
            if isinstance(node, dict)
            else [(value, f"{name}[]") for value in node if isinstance(value, dict | list)]
        )
        if not inner or chance.random() < 0.4:
            return node, name
        node, name = chance.choice(inner)


def _is_bounded(node: Any, depth: int = 0) -> bool:
    """Whether a body has not grown beyond what is worth sending, by values that were put into themselves."""
    if depth > _MAX_DEPTH:
        return False
    if isinstance(node, str):
        return len(node) <= 2 * _LONGEST
    inner = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
    return len(inner) <= _MAX_ITEMS and all(_is_bounded(each, depth + 1) for each in inner)


def _copied(node: Any) -> Any:
    if isinstance(node, dict):
        return {key: _copied(value) for key, value in node.items()}
    return [_copied(item) for item in node] if isinstance(node, list) else node


def _put(cases: list[Case], case: Case, maximum: int, chance: random.Random) -> None:
    if len(cases) < maximum:
        cases.append(case)
    else:
        cases[chance.randrange(maximum)] = case
