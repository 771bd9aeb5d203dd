"""What a job is, and which kinds this version knows."""

from typing import ClassVar, Final, TypeVar

from msgspec import Struct

from moothall.kernel.context import Context


class Job(Struct, frozen=True, kw_only=True):
    """A piece of work; its fields are all that it remembers between two steps."""

    kind: ClassVar[str]
    """The name in the database: never changed while a job of the kind may be waiting."""

    async def step(self, ctx: Context) -> "Job | None":
        """Do a little in one short transaction; return what remains to be done, or None when all is done.

        A step whose transaction was rolled back, by a crash, a conflict or an exception, is run again.
        """
        raise NotImplementedError


J = TypeVar("J", bound=type[Job])

KINDS: Final[dict[str, type[Job]]] = {}
"""Every kind of job that has been imported, by name."""

SETTLED_MS: Final = 60_000
"""Upper bound on the duration of a concurrent transaction, in milliseconds."""


def job(kind: J) -> J:
    """Register a kind of job. Raises TypeError if its name is taken."""
    if KINDS.setdefault(kind.kind, kind) is not kind:
        raise TypeError(f"two jobs are called {kind.kind}")
    return kind
