"""Figures of one hour or day from their rows."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from moothall.objects.wire import Timestamp
from moothall.resources.server_figure.queries import DAY, HOUR, FigureRow
from moothall.runtime.metrics import REQUEST_SECONDS

HOUR_MS: Final = 3_600_000
SPANS: Final[Mapping[str, int]] = {"hour": HOUR, "day": DAY}
Span = Literal["hour", "day"]


class FigureSample(Struct, frozen=True, kw_only=True):
    """What an hour or a day had. Null are numbers of which nothing was stored, as while the server was down."""

    start: Timestamp
    users: int | None
    """People's accounts at its end."""
    guilds: int | None
    file_bytes: int | None
    """Bytes of files that accounts are charged for, at its end."""
    messages: int
    """Messages that were sent."""
    requests: int
    """Requests that were answered."""
    errors: int
    """Requests that failed by a fault of the server (5xx)."""
    median_ms: float | None
    """Half of the requests took at most so many milliseconds."""
    p99_ms: float | None
    """99 of 100 requests took at most so many milliseconds."""


def latency_names() -> list[str]:
    """The names of the figures that count requests by how long they took, in ascending order."""
    return [f"within_{bound}" for bound in (*REQUEST_SECONDS, "inf")]


def samples_of(rows: Iterable[FigureRow]) -> list[FigureSample]:
    """The samples of the rows of one span, in their order."""
    by_start: dict[int, dict[str, int]] = {}
    for row in rows:
        by_start.setdefault(row.start, {})[row.name] = row.value
    return [_sample(start, values) for start, values in by_start.items()]


def _sample(start: int, values: Mapping[str, int]) -> FigureSample:
    within = [values.get(name, 0) for name in latency_names()]
    return FigureSample(
        start=Timestamp(start * HOUR_MS),
        users=values.get("users"),
        guilds=values.get("guilds"),
        file_bytes=values.get("file_bytes"),
        messages=values.get("messages", 0),
        requests=values.get("requests", 0),
        errors=values.get("errors", 0),
        median_ms=quantile_ms(within, 0.5),
        p99_ms=quantile_ms(within, 0.99),
    )


def quantile_ms(within: Sequence[int], share: float) -> float | None:
    """Milliseconds within which a share of the requests was answered; None without any.

    `within` has a count for each bound of `REQUEST_SECONDS` and for slower ones. Between two bounds the requests are
    taken to be spread evenly, as Prometheus does it; of slower ones only the last bound is known.
    """
    rank, lower = share * sum(within), 0.0
    if not rank:
        return None
    for count, bound in zip(within, REQUEST_SECONDS, strict=False):
        if count and rank <= count:
            return round((lower + (bound - lower) * rank / count) * 1000, 2)
        rank, lower = rank - count, bound
    return REQUEST_SECONDS[-1] * 1000
