"""The URL mappings of Activities: which target a path of an Activity's origin belongs to."""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple
from urllib.parse import unquote

from moothall.objects.activity import UrlMapping

PROXY_PREFIX: Final = "/.proxy"
"""A prefix that the public SDK adds to paths; it is removed before the mapping."""

_RESERVED: Final = frozenset({".proxy", ".moothall"})
_SEGMENT: Final = r"(?:[A-Za-z0-9._~-]+|\{[A-Za-z_][A-Za-z0-9_]*\})"
_PREFIX: Final = re.compile(rf"/|(?:/{_SEGMENT})+/?")
_HOST: Final = r"(?:[A-Za-z0-9-]+|\{[A-Za-z_][A-Za-z0-9_]*\})+"
_TARGET: Final = re.compile(
    rf"(?P<host>{_HOST}(?:\.{_HOST})*|\[[0-9A-Fa-f:.]+\])(?P<port>:[0-9]{{1,5}})?(?P<path>(?:/(?:{_SEGMENT}))*/?)"
)
_PARAMETER: Final = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_HOST_VALUE: Final = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?")
_PORT_MAX: Final = 65_535


class MappedPath(NamedTuple):
    """Where a request goes: `authority` is a host with an optional port, `path` begins with a slash."""

    authority: str
    path: str


def prefix_error(prefix: str) -> str | None:
    """What is wrong with a prefix; None if it is valid."""
    if _PREFIX.fullmatch(prefix) is None:
        return "A prefix is a path such as /api or /maps/{region}."
    names = _PARAMETER.findall(prefix)
    if len(set(names)) < len(names):
        return "A prefix names each parameter once."
    if any(segment in {".", ".."} for segment in prefix.split("/")):
        return "A prefix has no dot segments."
    if prefix.split("/")[1] in _RESERVED:
        return "This prefix belongs to the platform."
    return None


def target_error(mapping: UrlMapping) -> str | None:
    """What is wrong with a mapping's target; None if it is valid."""
    match = _TARGET.fullmatch(mapping.target)
    if match is None:
        return "A target is a host with an optional port and path, without a protocol."
    if match["port"] and not 0 < int(match["port"][1:]) <= _PORT_MAX:
        return "The port is out of range."
    if not set(_PARAMETER.findall(mapping.target)) <= set(_PARAMETER.findall(mapping.prefix)):
        return "A target has no parameter that its prefix has not."
    return None


def has_parameters(target: str) -> bool:
    """Whether parts of a target depend on the path of the request."""
    return _PARAMETER.search(target) is not None


class UrlMap:
    """The URL mappings of one application. The longest prefix that fits a path decides."""

    def __init__(self, mappings: Iterable[UrlMapping]) -> None:
        by_length = sorted(mappings, key=lambda mapping: _specificity(mapping.prefix), reverse=True)
        self._rules = [(_pattern(mapping.prefix), *_split(mapping.target)) for mapping in by_length]

    def find(self, path: str) -> MappedPath | None:
        """The target of a percent-encoded path; None if no prefix fits, or for a path with dot segments."""
        if path == PROXY_PREFIX or path.startswith(f"{PROXY_PREFIX}/"):
            path = path[len(PROXY_PREFIX) :] or "/"
        if not path.startswith("/") or _has_dot_segments(path):
            return None
        for pattern, authority, start, is_fixed in self._rules:
            match = pattern.match(path)
            if match is not None:
                rest = path[match.end() :]
                return _joined(authority, start, rest) if is_fixed else _mapped(authority, start, match, rest)
        return None


def _specificity(prefix: str) -> tuple[int, int]:
    segments = [segment for segment in prefix.split("/") if segment]
    return len(segments), sum(not segment.startswith("{") for segment in segments)


def _pattern(prefix: str) -> re.Pattern[str]:
    segments = [segment for segment in prefix.split("/") if segment]
    parts = [f"(?P<{segment[1:-1]}>[^/]+)" if segment.startswith("{") else re.escape(segment) for segment in segments]
    return re.compile("".join(f"/{part}" for part in parts) + "(?=/|\\Z)")


def _split(target: str) -> tuple[str, str, bool]:
    """The authority and the path of a target, and whether they are the same for all requests."""
    authority, slash, path = target.partition("/")
    return authority, slash + path, not has_parameters(target)


def _mapped(authority: str, start: str, match: re.Match[str], rest: str) -> MappedPath | None:
    """Fill in the parameters of a target."""
    if any(_HOST_VALUE.fullmatch(match[name]) is None for name in _PARAMETER.findall(authority)):
        return None
    authority = _PARAMETER.sub(lambda parameter: match[parameter[1]], authority)
    return _joined(authority, _PARAMETER.sub(lambda parameter: match[parameter[1]], start), rest)


def _joined(authority: str, start: str, rest: str) -> MappedPath:
    return MappedPath(authority, start.rstrip("/") + (rest or ("" if len(start) > 1 else "/")) or "/")


def _has_dot_segments(path: str) -> bool:
    if "/." not in path and "%" not in path and "\\" not in path:
        return False
    return any(unquote(segment) in {".", ".."} for segment in re.split(r"/|%2[fF]|\\|%5[cC]", path))
