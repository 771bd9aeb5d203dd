"""What clients did, what they were answered, and what their sessions received."""

import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class Outcome(Enum):
    """What the client of a request knows of it."""

    DONE = "done"
    REFUSED = "refused"
    """4xx: nothing may have changed."""
    UNKNOWN = "unknown"
    """The connection broke, or the answer was 5xx: it may have taken effect, once at the most."""


@dataclass
class Call:
    """A request that changes something."""

    kind: str
    target: str
    """What it is about: the marker of a message, the name of a role, the code of an invite."""
    client: str
    started: float
    ended: float = 0.0
    outcome: Outcome = Outcome.UNKNOWN
    status: int = 0
    content: str = ""
    """The content of a message that is created or edited."""
    answer: Any = None
    node: int = 0
    """The number of the node that it was sent to."""


@dataclass
class Fault:
    """Something that was done to the platform."""

    name: str
    began: float
    healed: float = 0.0
    """When nothing more was done to it, though the platform may not have recovered."""


@dataclass
class Epoch:
    """A session from READY until it ended or the run did; connections that are resumed belong to one epoch."""

    listener: str
    node: int
    started: float
    events: list[tuple[int, str, Any]] = field(default_factory=list)
    """Sequence number, dispatch name, and `d`."""
    received: list[float] = field(default_factory=list)
    """When each event was received."""
    joined_seq: int = 0
    """The number of GUILD_CREATE; events of the guild follow it."""
    joined: float = 0.0
    """When it was received."""
    ended: float = 0.0
    """When the server said that the session is over; 0 for one that lives at the end of the run."""
    resumes: int = 0


class History:
    """Everything that the clients of a run know."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.epochs: list[Epoch] = []
        self.faults: list[Fault] = []

    def begin(self, kind: str, target: str, client: str, *, content: str = "") -> Call:
        """Record a request that is about to be sent."""
        call = Call(kind, target, client, time.monotonic(), content=content)
        self.calls.append(call)
        return call

    def of_kind(self, kind: str) -> list[Call]:
        """The calls of a kind, in the order of their start."""
        return [call for call in self.calls if call.kind == kind]
