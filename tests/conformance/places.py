"""What requests can name: values of parameters, and the places of things that exist, learned from what was answered."""

import random
import zlib
from collections import defaultdict
from functools import cache
from typing import Any

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 the rows of both
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.resources import load_endpoints

load_endpoints()

ROWS = sorted(REGISTRY.values(), key=lambda row: (row.path, row.method))
_MAX_PLACES = 40
_MAX_VALUES = 200
"""Values kept for a parameter; the newest replace others at random."""
_FIRST = 8
"""Places and values, the earliest, that are chosen as often as all others: more was made for them."""
_CREATED_BESIDE = {
    "/channels/{channel_id}/messages/{message_id}/threads": "/channels/{channel_id}",
    "/channels/{channel_id}/threads": "/channels/{channel_id}",
    "/channels/{channel_id}/webhooks": "/webhooks/{webhook_id}",
    "/guilds/{guild_id}/channels": "/channels/{channel_id}",
    "/users/@me/channels": "/channels/{channel_id}",
}
"""Paths of things that another path lists and creates."""


class Places:
    """The values of parameters, and the things that exist, by the paths of their rows."""

    def __init__(self) -> None:
        self.values: dict[str, list[str]] = defaultdict(list)
        """By the name of a parameter."""
        self.places: dict[str, list[dict[str, str]]] = defaultdict(list)
        """The parameters of things that exist, by the path of their row."""
        self._known: set[tuple[str, str]] = set()

    def add(self, name: str, value: Any) -> bool:
        """Remember a value of a parameter; whether it is new."""
        if not isinstance(value, str) or not value or len(value) > 300:
            return False
        if (name, value) in self._known:
            return False
        self._known.add((name, value))
        values = self.values[name]
        if len(values) < _MAX_VALUES:
            values.append(value)
        else:
            values[_FIRST + _number(value) % (_MAX_VALUES - _FIRST)] = value
        return True

    def learn(self, row: Endpoint, parameters: dict[str, str], answer: Any) -> None:
        """Remember what an answer names."""
        for below in _rows_below(row.path):
            name = below.rpartition("{")[2].rstrip("}")
            for item in answer if isinstance(answer, list) else [answer]:
                value = _identity(item, name)
                if value:
                    self.add(name, value)
                    self.add_location(below, parameters | {name: value})
        if (beside := _CREATED_BESIDE.get(row.path)) is not None:
            name = beside.rpartition("{")[2].rstrip("}")
            for item in answer if isinstance(answer, list) else [answer]:
                value = _identity(item, "id")
                if value:
                    self.add(name, value)
                    self.add_location(beside, {name: value})
        if row.name == "execute_webhook" and isinstance(answer, dict):
            self.add_location(f"{row.path}/messages/{{message_id}}", parameters | {"message_id": answer["id"]})
        self._learn_ids(answer, 0)

    def reached(self, row: Endpoint, parameters: dict[str, Any]) -> None:
        """Remember that the things in a path exist."""
        for path, names in (*things_in(row.path), (row.path, list(parameters))):
            self.add_location(path, {name: parameters[name] for name in names})

    def add_location(self, path: str, location: dict[str, Any]) -> None:
        """Remember the parameters of a thing that exists, by the path of its row."""
        places = self.places[path]
        if location in places:
            return
        if len(places) < _MAX_PLACES:
            places.append(location)
        else:
            places[_FIRST + _number(*map(str, location.values())) % (_MAX_PLACES - _FIRST)] = location

    def _learn_ids(self, node: Any, depth: int) -> None:
        if depth > 6:
            return
        if isinstance(node, list):
            for item in node[:20]:
                self._learn_ids(item, depth + 1)
        elif isinstance(node, dict):
            for key, value in node.items():
                if key.endswith("_id") or key == "code":
                    self.add(key, value)
                elif isinstance(value, dict):
                    self.add(f"{key}_id", value.get("id"))
                if isinstance(value, dict | list):
                    self._learn_ids(value, depth + 1)

    def parameters(self, row: Endpoint, drawn: dict[str, Any], chance: random.Random) -> dict[str, Any]:
        """The parameters of a row's path: of one thing that exists, of several, or as they were drawn."""
        if chance.random() < 0.08:
            return drawn
        chosen: dict[str, str] = {}
        if chance.random() < 0.85:
            # The nearest path of those whose things tell most of the parameters.
            telling = [path for path, places in self.places.items() if drawn.keys() & places[0].keys()]
            if telling and chance.random() < 0.3:
                chosen = _pick(self.places[chance.choice(telling)], chance)
            elif telling:
                path = max(
                    telling,
                    key=lambda p: (len(drawn.keys() & self.places[p][0].keys()), row.path.startswith(p), len(p)),
                )
                chosen = _pick(self.places[path], chance)
        return {
            name: chosen.get(name) or (_pick(self.values[name], chance) if self.values.get(name) else value)
            for name, value in drawn.items()
        }

    def forget(self, row: Endpoint, parameters: dict[str, Any]) -> None:
        """What a row deleted is named less often from now on."""
        places = self.places.get(row.path)
        if places and len(places) > 1 and parameters in places:
            places.remove(parameters)

    def fill_query(self, query: dict[str, Any], chance: random.Random) -> dict[str, Any]:
        """A query with ids of the right kind in it, mostly."""
        return {
            name: _pick(self.values[kind], chance)
            if isinstance(value, str) and self.values.get(kind := _QUERIED.get(name) or name) and chance.random() < 0.7
            else value
            for name, value in query.items()
        }

    def fill_ids(self, node: Any, chance: random.Random) -> Any:
        """A body with ids of the right kind in it, mostly: `parent_id` is left, `channel_id` becomes a channel's."""
        if isinstance(node, list):
            return [self.fill_ids(item, chance) for item in node]
        if not isinstance(node, dict):
            return node
        placed: dict[str, Any] = {}
        for key, value in node.items():
            name = parameter_named(key)
            known = self.values.get(name)
            if known and isinstance(value, str) and chance.random() < (0.3 if name in _SELDOM else 0.8):
                placed[key] = _pick(known, chance)
            elif known and isinstance(value, list) and all(isinstance(item, str) for item in value):
                placed[key] = [_pick(known, chance) if chance.random() < 0.8 else item for item in value]
            else:
                placed[key] = self.fill_ids(value, chance)
        return placed


def _pick(values: list[Any], chance: random.Random) -> Any:
    return chance.choice(values[:_FIRST] if chance.random() < 0.5 else values)


@cache
def _rows_below(path: str) -> list[str]:
    """Paths that have one more placeholder than a path, at its end."""
    return sorted({row.path for row in ROWS if row.path.rpartition("/{")[0] == path and row.path.endswith("}")})


@cache
def things_in(path: str) -> list[tuple[str, list[str]]]:
    """The paths of things in a path, with the names of their parameters."""
    parts = path.split("/")
    ends = [end for end, part in enumerate(parts, 1) if part.startswith("{")]
    return [("/".join(parts[:end]), [part[1:-1] for part in parts[:end] if part.startswith("{")]) for end in ends]


def _identity(item: Any, name: str) -> str:
    if not isinstance(item, dict):
        return ""
    user = item.get("user")
    of_user = user.get("id") if isinstance(user, dict) and name == "user_id" else None
    value = of_user or item.get(name) or item.get("id" if name.endswith("_id") else name.removeprefix("webhook_"))
    return value if isinstance(value, str) else ""


def _number(*texts: str) -> int:
    """A number made from texts, the same in each process."""
    return zlib.crc32(" ".join(texts).encode())


_QUERIED = {
    "client_id": "application_id",
    "after": "message_id",
    "around": "message_id",
    "before": "message_id",
    "max_id": "message_id",
    "min_id": "message_id",
    "thread_id": "channel_id",
}
_ALIASES = {
    "ids": "message_id",
    "messages": "message_id",
    "owner_id": "user_id",
    "parent_id": "channel_id",
    "recipients": "user_id",
    "roles": "role_id",
}
_KINDS = ("channel", "role", "user", "message", "guild", "emoji", "sticker", "sound", "webhook", "application", "event")


_SELDOM = frozenset({"username", "password", "login", "code"})
"""Fields that are mostly to differ from what exists."""


@cache
def parameter_named(key: str) -> str:
    """The parameter whose values a field takes: `system_channel_id` those of `channel_id`."""
    if key in _ALIASES:
        return _ALIASES[key]
    stem = key.removesuffix("_ids").removesuffix("_id") if key.endswith(("_id", "_ids")) else ""
    return next((f"{kind}_id" for kind in _KINDS if stem.endswith(kind)), key)
