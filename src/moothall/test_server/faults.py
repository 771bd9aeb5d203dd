"""Faults of requests and events: which ones there are, and which of them applies next."""

import itertools
import random
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from msgspec import Meta, Struct

FaultKind = Literal["rate_limit", "error", "slow", "drop", "hang", "late_event", "duplicate_event"]
_EVENT_KINDS: Final = frozenset({"late_event", "duplicate_event"})
_SEA_ERRORS: Final = (500, 502)
"""After these every library sends a request again."""


class Fault(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A fault that applies to the next requests, or the next events, that match."""

    kind: FaultKind
    route: Annotated[str, Meta(max_length=200)] | None = None
    """`POST /channels/*/messages`; the method may be left out, and `*` or `{name}` is any one segment."""
    event: Annotated[str, Meta(max_length=64)] | None = None
    """The dispatch name of late and duplicated events; None for any."""
    actor: Annotated[str, Meta(max_length=64)] | None = None
    """The name or id of the bot or person; None for any bot."""
    count: Annotated[int, Meta(ge=1, le=1_000_000)] | None = 1
    """To how many it applies; None until it is removed."""
    status: Literal[500, 502, 503, 504] = 503
    """Of `error`."""
    seconds: Annotated[float, Meta(ge=0, le=600)] = 1.0
    """`retry_after` of a rate limit, and how long slow answers and late events wait, in real time."""
    scope: Literal["user", "global", "shared"] = "user"
    """Of `rate_limit`."""


class ActiveFault(Struct):
    """A fault that was set."""

    id: int
    fault: Fault
    applied: int = 0


class RoughSeas(Struct, forbid_unknown_fields=True):
    """Faults at random, the same for the same seed and the same requests. Each number is a probability."""

    seed: int = 0
    rate_limits: Annotated[float, Meta(ge=0, le=1)] = 0.05
    errors: Annotated[float, Meta(ge=0, le=1)] = 0.03
    slow: Annotated[float, Meta(ge=0, le=1)] = 0.05
    late_events: Annotated[float, Meta(ge=0, le=1)] = 0.05
    duplicate_events: Annotated[float, Meta(ge=0, le=1)] = 0.02
    reconnects: Annotated[float, Meta(ge=0, le=1)] = 0.02
    """Of each event sent to a bot, that its connection is dropped after it; the bot can resume."""


class Faults:
    """The faults that are set. Only requests of bots have faults, unless a fault names a person."""

    def __init__(self) -> None:
        self.active: list[ActiveFault] = []
        self.seas: RoughSeas | None = None
        self._random = random.Random(0)  # noqa: S311 repeatable, not secret
        self._ids: Iterator[int] = itertools.count(1)

    def add(self, fault: Fault) -> ActiveFault:
        """Set a fault. Several that match apply in the order in which they were set, one to each request."""
        active = ActiveFault(next(self._ids), fault)
        self.active.append(active)
        return active

    def remove(self, fault_id: int) -> bool:
        """Remove a fault; whether there was one."""
        before = len(self.active)
        self.active = [each for each in self.active if each.id != fault_id]
        return len(self.active) < before

    def clear(self) -> None:
        """Remove every fault, and calm the seas."""
        self.active.clear()
        self.seas = None

    def set_seas(self, seas: RoughSeas | None) -> None:
        """Start random faults, or end them with None."""
        self.seas = seas
        self._random = random.Random(0 if seas is None else seas.seed)  # noqa: S311 repeatable, not secret

    def for_request(self, method: str, path: str, names: frozenset[str], *, bot: bool) -> Fault | None:
        """The fault of a request, which counts as applied; `names` are those of the caller."""
        for active in self.active:
            fault = active.fault
            if fault.kind in _EVENT_KINDS or not (bot if fault.actor is None else fault.actor in names):
                continue
            if route_matches(fault.route, method, path):
                self._apply(active)
                return fault
        return self._sea_fault() if bot else None

    def for_event(self, name: str) -> Fault | None:
        """The fault of an event, which counts as applied."""
        for active in self.active:
            fault = active.fault
            if fault.kind in _EVENT_KINDS and fault.event in {None, name}:
                self._apply(active)
                return fault
        seas = self.seas
        if seas is None:
            return None
        number = self._random.random()
        if number < seas.late_events:
            return Fault("late_event", seconds=self._random.uniform(0.01, 0.2))
        if number < seas.late_events + seas.duplicate_events:
            return Fault("duplicate_event")
        return None

    def drops_connection(self) -> bool:
        """Whether a bot's connection is dropped after this event."""
        return self.seas is not None and self._random.random() < self.seas.reconnects

    def _apply(self, active: ActiveFault) -> None:
        active.applied += 1
        if active.fault.count is not None and active.applied >= active.fault.count:
            self.active.remove(active)

    def _sea_fault(self) -> Fault | None:
        seas = self.seas
        if seas is None:
            return None
        number = self._random.random()
        if number < seas.rate_limits:
            return Fault("rate_limit", seconds=self._random.uniform(0.05, 0.3))
        if number < seas.rate_limits + seas.errors:
            return Fault("error", status=self._random.choice(_SEA_ERRORS))
        if number < seas.rate_limits + seas.errors + seas.slow:
            return Fault("slow", seconds=self._random.uniform(0.01, 0.2))
        return None


def route_matches(route: str | None, method: str, path: str) -> bool:
    """Whether a request is of a route; None is every route. `path` is without /api/v10."""
    if route is None:
        return True
    first, _, rest = route.partition(" ")
    if rest:
        if first != method:
            return False
        route = rest
    pattern = re.escape(re.sub(r"\{[^{}/]*\}", "*", route)).replace(r"\*", "[^/]+")
    return re.fullmatch(pattern, path) is not None
