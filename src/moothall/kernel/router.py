"""Routing a path to its endpoints, by a tree of path segments. Literal segments take precedence over placeholders."""

from collections.abc import Iterable

from moothall.kernel.endpoint import Endpoint


class PathNode:
    """A node of the tree: the endpoints of one path, and the segments that may follow."""

    __slots__ = ("literal", "methods", "placeholder")

    def __init__(self) -> None:
        self.literal: dict[str, PathNode] = {}
        self.placeholder: PathNode | None = None
        self.methods: dict[str, Endpoint] = {}


class Router:
    """Matches paths to `endpoints`."""

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

    def match(self, path: str) -> tuple[dict[str, Endpoint], list[str]] | None:
        """The endpoints of a path by method, and the texts of its placeholders; None for an unknown path."""
        segments = path.split("/")
        if segments and not segments[0]:
            del segments[0]
        if len(segments) > 1 and not segments[-1]:
            del segments[-1]
        return _walk(self._root, segments, 0, [])


def _walk(
    node: PathNode, segments: list[str], index: int, values: list[str]
) -> tuple[dict[str, Endpoint], list[str]] | None:
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
            if child is None or not segment:
                return None
            values.append(segment)
        node = child
    return (node.methods, values) if node.methods else None
