"""One seeded source of all choices of a simulation.

Each subject (a step, a client, a socket, the source of reads) draws from a stream of its own, named by the subject. So
a choice of one leaves those of the others as they are, which lets a failure be shrunk: a step or a fault that is left
out changes nothing else but by its effect.
"""

import random
import secrets
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """The choices of one subject, in the order in which it makes them."""

    __slots__ = ("_count", "_name", "_owner", "_random")

    def __init__(self, owner: "Randomness", name: str) -> None:
        self._owner = owner
        self._name = name
        self._random = random.Random(f"{owner.seed}/{name}")
        self._count = 0

    @property
    def random(self) -> random.Random:
        """The generator, for code that takes one."""
        return self._random

    def chance(self, probability: float) -> bool:
        """Whether something happens that is no fault."""
        return self._random.random() < probability

    def fault(self, kind: str, probability: float) -> bool:
        """Whether a fault happens. It is recorded, and can be suppressed by its name in a later run."""
        self._count += 1
        if self._random.random() >= probability:
            return False
        return self._owner.admit(f"{self._name}#{self._count}:{kind}", kind)

    def integer(self, lowest: int, highest: int) -> int:
        """A number from `lowest` to `highest`, both included."""
        return self._random.randint(lowest, highest)

    def uniform(self, lowest: float, highest: float) -> float:
        """A number between two others."""
        return lowest + (highest - lowest) * self._random.random()

    def delay(self, usual: float, longest: float = 0.0) -> float:
        """A duration in seconds: about `usual`, one time in sixteen up to `longest`."""
        if longest > usual and self._random.random() < 1 / 16:
            return self.uniform(usual, longest)
        return self.uniform(0.0, 2 * usual)

    def choice(self, values: Sequence[T]) -> T:
        """One of some values."""
        return values[int(self._random.random() * len(values))]

    def weighted(self, weights: dict[T, float]) -> T:
        """One of the keys, by their weights."""
        return self._random.choices(list(weights), list(weights.values()))[0]

    def sample(self, values: Sequence[T], count: int) -> list[T]:
        """Different ones of some values, at most `count`."""
        return self._random.sample(values, min(count, len(values)))

    def shuffled(self, values: Sequence[T]) -> list[T]:
        """The values in another order."""
        return self._random.sample(values, len(values))

    def token_bytes(self, size: int) -> bytes:
        """Bytes, in place of those of the operating system."""
        return self._random.randbytes(size)


class Randomness:
    """All choices of one run: the same seed makes the same ones.

    `suppressed` are the names of faults that do not happen, `excluded` kinds of which none happens; `faults` are those
    that did, and `counts` how many by kind.
    """

    def __init__(self, seed: int, *, suppressed: Collection[str] = (), excluded: Collection[str] = ()) -> None:
        self.seed = seed
        self._suppressed = frozenset(suppressed)
        self._excluded = frozenset(excluded)
        self._streams: dict[str, Choices] = {}
        self.faults: list[str] = []
        self.counts: dict[str, int] = {}

    def stream(self, name: str) -> Choices:
        """The choices of a subject; the same object for the same name."""
        stream = self._streams.get(name)
        if stream is None:
            stream = self._streams[name] = Choices(self, name)
        return stream

    def admit(self, name: str, kind: str) -> bool:
        """Record a fault unless it is suppressed; whether it happens."""
        if name in self._suppressed or kind in self._excluded:
            return False
        self.faults.append(name)
        self.counts[kind] = self.counts.get(kind, 0) + 1
        return True


@contextmanager
def seeded_secrets(choices: Choices) -> Iterator[None]:
    """Let the tokens of the module `secrets` come from a stream while the block runs."""
    original = secrets.token_bytes

    def token_bytes(nbytes: int | None = None) -> bytes:
        return choices.token_bytes(32 if nbytes is None else nbytes)

    secrets.token_bytes = token_bytes
    try:
        yield
    finally:
        secrets.token_bytes = original
