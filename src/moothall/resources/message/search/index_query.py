"""Queries of the index, and their text for SQLite and PostgreSQL."""

from itertools import pairwise
from typing import Final

from msgspec import Struct

from moothall.resources.message.search.terms import Phrase, phrases_of

_MAX_NEAR: Final = 32
"""The number of leading words of a query that must be near each other; later ones only have to occur."""


class AnyOf(Struct, frozen=True):
    """At least one of the facets."""

    facets: tuple[str, ...]


class Near(Struct, frozen=True):
    """Two different words, in either order, with at most `slop` others between them."""

    first: str
    second: str
    slop: int


class AllOf(Struct, frozen=True):
    """All of `every`, which is not empty, and none of `none`."""

    every: "tuple[AnyOf | Phrase | Near | AllOf, ...]"
    none: "tuple[AnyOf | Phrase | Near | AllOf, ...]" = ()


Node = AnyOf | Phrase | Near | AllOf


def content_nodes(content: str, slop: int) -> list[Node]:
    """The nodes of a text: every word, and each near the next one of the text."""
    phrases = phrases_of(content)
    nodes: list[Node] = list(dict.fromkeys(phrases))
    for left, right in pairwise(phrases[:_MAX_NEAR]):
        first, second = left.words[-1], right.words[0]
        if first != second:
            nodes.append(Near(min(first, second), max(first, second), slop))
    return list(dict.fromkeys(nodes))


def to_fts5(node: Node) -> str:
    """A node as text for FTS5 MATCH. Terms have only letters, digits and symbols, so quotes need no escape."""
    match node:
        case AnyOf(facets):
            return _facets(facets)
        case Phrase(words):
            return f'words : "{" ".join(words)}"'
        case Near(first, second, slop):
            return f'words : NEAR("{first}" "{second}", {slop})'
        case AllOf(every, none):
            all_of = " AND ".join(map(to_fts5, every))
            return f"(({all_of}) NOT ({' OR '.join(map(to_fts5, none))}))" if none else f"({all_of})"


def _facets(facets: tuple[str, ...]) -> str:
    listed = " OR ".join(f'"{facet}"' for facet in facets)
    return f"facets : ({listed})"


def to_tsquery(node: Node) -> str:
    """A node as text for a tsquery."""
    match node:
        case AnyOf(facets):
            return _lexemes(facets)
        case Phrase(words):
            joined = " <-> ".join(f"'{word}'" for word in words)
            return f"({joined})"
        case Near(first, second, slop):
            apart = range(1, slop + 2)
            ways = [f"'{a}' <{n}> '{b}'" for a, b in ((first, second), (second, first)) for n in apart]
            return f"({' | '.join(ways)})"
        case AllOf(every, none):
            all_of = " & ".join(map(to_tsquery, every))
            return f"({all_of} & !({' | '.join(map(to_tsquery, none))}))" if none else f"({all_of})"


def _lexemes(facets: tuple[str, ...]) -> str:
    listed = " | ".join(f"'={facet}'" for facet in facets)
    return f"({listed})"
