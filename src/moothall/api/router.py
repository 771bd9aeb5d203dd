"""Routing a path to its endpoints, by a tree of path segments. Literal segments take precedence over placeholders."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from moothall.api.endpoint import Endpoint

_MAX_MATCHES: Final = 2_000
_MAX_KEPT_PATH: Final = 160
"""Characters of the longest path whose match is kept: with a webhook's token it has some 120."""

Match = tuple[dict[str, Endpoint], tuple[str, ...]]
"""The endpoints of a path by method, and the texts of its placeholders."""


class PathNode:
    """A node of the tree: the endpoints of one path, and the segments that may follow."""

    __slots__ = ("literal", "methods", "placeholder")

    def __init__(self) -> None:
        self.literal: dict[str, PathNode] = {}
        self.placeholder: PathNode | None = None
        self.methods: dict[str, Endpoint] = {}


class Router:
    """Matches paths to `endpoints`. The matches of the paths requested last are kept."""

    def __init__(self, endpoints: Iterable[Endpoint]) -> None:
        self._root = PathNode()
        for endpoint in endpoints:
            node = self._root
            for segment in endpoint.path.strip("/").split("/"):
                if segment.startswith("{"):
                    node.placeholder = node = node.placeholder or PathNode()
                else:
                    node = node.literal.setdefault(segment, PathNode())
            node.methods[endpoint.method] = endpoint
        self._find_kept = lru_cache(_MAX_MATCHES)(self._find)

    def match(self, path: str) -> Match | None:
        """The endpoints of a path by method, and the texts of its placeholders; None for an unknown path."""
        return self._find_kept(path) if len(path) <= _MAX_KEPT_PATH else self._find(path)

    def _find(self, path: str) -> Match | None:
        # Libraries join base URLs and paths with two slashes, or end paths with one.
        return _walk(self._root, [segment for segment in path.split("/") if segment], 0, [])


def _walk(node: PathNode, segments: list[str], index: int, values: list[str]) -> Match | None:
    for position in range(index, len(segments)):
        segment = segments[position]
        child = node.literal.get(segment)
        if child is not None and node.placeholder is not None:
            # Both match: backtrack to the placeholder if the literal segment leads to no endpoint.
            match = _walk(child, segments, position + 1, list(values))
            if match is not None:
                return match
            child = None
        if child is None:
            child = node.placeholder
            if child is None:
                return None
            values.append(segment)
        node = child
    return (node.methods, tuple(values)) if node.methods else None
