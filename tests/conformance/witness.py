"""What every row was seen to do in this run: the statuses it answered and the events it fired.

A declaration that nothing executes rots; so at the end of a whole run each declared event must have
been heard from its row, and each row that takes an audit reason must have written an entry.
"""

from collections.abc import Iterable

from moothall.kernel.pipeline import Pipeline

SEEN: dict[str, set[str]] = {}
"""By row name: statuses as text, and dispatch names."""


def witness(pipeline: Pipeline, method: str, path: str, status: int, heard: Iterable[str]) -> None:
    """Note one answer."""
    match = pipeline._router.match(path)
    row = None if match is None else match[0].get(method)
    if row is not None:
        SEEN.setdefault(row.name, set()).update([str(status), *heard])
