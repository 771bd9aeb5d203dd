"""Filters of SCIM (RFC 7644, section 3.4.2.2): parsed into functions that match documents."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Final, TypeAlias, TypeGuard

from msgspec import Struct

from moothall.objects.json_object import JsonObject
from moothall.resources.scim.errors import ScimRefusal

Match: TypeAlias = Callable[[JsonObject], bool]
LENGTH_MAX: Final = 1_000
_DEPTH_MAX: Final = 16
_TOKEN: Final = re.compile(r'\s*(?:([()\[\]])|("(?:[^"\\]|\\.)*")|([^\s()\[\]"]+))')
_URN: Final = re.compile(r"urn:[^\[\"]*:(?=[^:]*\Z)", re.IGNORECASE)
_OPERATORS: Final = frozenset(("eq", "ne", "co", "sw", "ew", "gt", "ge", "lt", "le"))
_EXACT: Final = frozenset(("id", "externalid", "meta.version", "value", "members.value", "groups.value"))
"""Attributes whose case matters."""


class Filter(Struct, frozen=True):
    """A filter: whether it matches a document, and what it compares if it is one comparison for equality."""

    matches: Match
    attribute: str | None = None
    """In lower case, without the URN of its schema."""
    value: object = None


def parse_filter(text: str) -> Filter:
    """Parse a filter. Raises ScimRefusal 400 (invalidFilter)."""
    if len(text) > LENGTH_MAX:
        raise invalid_filter("The filter is too long.")
    parser = _Parser(list(_tokens(text)))
    result = parser.parse_or(0)
    parser.expect_end()
    return result


def attribute_name(text: str) -> str:
    """The name of an attribute in lower case, without the URN of its schema."""
    return _URN.sub("", text).lower()


def invalid_filter(detail: str) -> ScimRefusal:
    """The refusal of a filter that cannot be read."""
    return ScimRefusal(400, detail, scim_type="invalidFilter")


def _tokens(text: str) -> Iterator[str]:
    position = 0
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise invalid_filter(f"The filter cannot be read at {text[position : position + 20]!r}.")
        yield match[0].strip()
        position = match.end()


class _Parser:
    """A recursive descent over tokens; `and` binds stronger than `or`."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens
        self._position = 0

    def parse_or(self, depth: int) -> Filter:
        if depth > _DEPTH_MAX:
            raise invalid_filter("The filter is nested too deeply.")
        result = self._parse_and(depth)
        while self._takes("or"):
            left, right = result.matches, self._parse_and(depth).matches
            result = Filter(_either(left, right))
        return result

    def expect_end(self) -> None:
        if self._position < len(self._tokens):
            raise invalid_filter(f"The filter goes on with {self._tokens[self._position]!r}.")

    def _parse_and(self, depth: int) -> Filter:
        result = self._parse_factor(depth)
        while self._takes("and"):
            left, right = result.matches, self._parse_factor(depth).matches
            result = Filter(_both(left, right))
        return result

    def _parse_factor(self, depth: int) -> Filter:
        if self._takes("not"):
            self._expect("(")
            inner = self.parse_or(depth + 1).matches
            self._expect(")")
            return Filter(lambda document: not inner(document))
        if self._takes("("):
            result = self.parse_or(depth + 1)
            self._expect(")")
            return result
        return self._parse_comparison(depth)

    def _parse_comparison(self, depth: int) -> Filter:
        name = attribute_name(self._next())
        if not re.fullmatch(r"[a-z$][\w$.-]*", name):
            raise invalid_filter(f"{name!r} is not the name of an attribute.")
        if self._takes("["):
            inner = self.parse_or(depth + 1).matches
            self._expect("]")
            return Filter(lambda document: any(inner(item) for item in values_of(document, name) if _is_object(item)))
        operator = self._next().lower()
        if operator == "pr":
            return Filter(lambda document: any(item not in (None, "", [], {}) for item in values_of(document, name)))
        if operator not in _OPERATORS:
            raise invalid_filter(f"{operator!r} is not an operator.")
        value = self._value()
        matches = _comparison(name, operator, value)
        return Filter(matches, name, value) if operator == "eq" else Filter(matches)

    def _value(self) -> object:
        text = self._next()
        try:
            return json.loads(text if text.startswith('"') else text.lower())
        except ValueError:
            raise invalid_filter(f"{text!r} is not a value.") from None

    def _next(self) -> str:
        if self._position >= len(self._tokens):
            raise invalid_filter("The filter ends too early.")
        self._position += 1
        return self._tokens[self._position - 1]

    def _takes(self, word: str) -> bool:
        if self._position < len(self._tokens) and self._tokens[self._position].lower() == word:
            self._position += 1
            return True
        return False

    def _expect(self, word: str) -> None:
        if not self._takes(word):
            raise invalid_filter(f"The filter lacks a {word!r}.")


def values_of(document: JsonObject, name: str) -> list[object]:
    """The values of an attribute in lower case, whose sub-attribute may follow a dot; those of all items of a list."""
    values: list[object] = [document]
    for part in name.split("."):
        deeper: list[object] = []
        for item in values:
            if isinstance(item, dict):
                deeper += [value for key, value in item.items() if key.lower() == part]
        values = [item for value in deeper for item in (value if isinstance(value, list) else [value])]
    return values


def _comparison(name: str, operator: str, value: object) -> Match:
    def fold(item: object) -> object:
        return item.casefold() if isinstance(item, str) and name not in _EXACT else item

    folded = fold(value)
    test = _TESTS[operator]

    def matches(document: JsonObject) -> bool:
        values = [item.get("value") if _is_object(item) else item for item in values_of(document, name)]
        if value is None:
            return (not values) == (operator == "eq")
        return any(_same_kind(item, value) and test(fold(item), folded) for item in values) or (
            operator == "ne" and not values
        )

    return matches


_TESTS: Final[dict[str, Callable[..., bool]]] = {
    "eq": lambda item, value: item == value,
    "ne": lambda item, value: item != value,
    "co": lambda item, value: isinstance(item, str) and value in item,
    "sw": lambda item, value: isinstance(item, str) and item.startswith(value),
    "ew": lambda item, value: isinstance(item, str) and item.endswith(value),
    "gt": lambda item, value: item > value,
    "ge": lambda item, value: item >= value,
    "lt": lambda item, value: item < value,
    "le": lambda item, value: item <= value,
}


def _same_kind(item: object, value: object) -> bool:
    if isinstance(item, bool) or isinstance(value, bool):
        return isinstance(item, bool) and isinstance(value, bool)
    numbers = (int, float)
    return (isinstance(item, str) and isinstance(value, str)) or (
        isinstance(item, numbers) and isinstance(value, numbers)
    )


def _is_object(value: object) -> TypeGuard[JsonObject]:
    return isinstance(value, dict)


def _both(left: Match, right: Match) -> Match:
    return lambda document: left(document) and right(document)


def _either(left: Match, right: Match) -> Match:
    return lambda document: left(document) or right(document)
