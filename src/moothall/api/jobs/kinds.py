"""The base class of jobs, and the registry of their kinds."""

from typing import ClassVar, Final, TypeVar

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects.ids import Snowflake


class Job(Struct, frozen=True, kw_only=True):
    """A job. Its fields are its state between two steps."""

    kind: ClassVar[str]
    """The name in the database, which must not change while a job of the kind may be stored."""

    @property
    def lock(self) -> Snowflake | None:
        """The id of the guild whose lock a step takes, because it changes the guild; None for no lock."""
        return None

    async def step(self, ctx: Context) -> "Job | None":
        """Do a small part of the work in one transaction; return the remaining job, or None once all is done.

        A step is run again if its transaction is rolled back by a crash, a conflict or an exception.
        """
        raise NotImplementedError


J = TypeVar("J", bound=type[Job])

KINDS: Final[dict[str, type[Job]]] = {}
"""All kinds of jobs of imported modules, by name."""

MAX_TRANSACTION_MS: Final = 60_000
"""Upper bound on the duration of a concurrent transaction, in milliseconds."""


def job(kind: J) -> J:
    """Register a kind of job. Raises TypeError if its name is taken."""
    if KINDS.setdefault(kind.kind, kind) is not kind:
        raise TypeError(f"two jobs are called {kind.kind}")
    return kind
