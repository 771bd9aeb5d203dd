"""Tracebacks without the frames of this package: what fails is the bot or the test."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Final

_OWN: Final = str(Path(__file__).parent)
_CARRIERS: Final = tuple(
    str(Path(path)) for path in (sys.modules[name].__file__ for name in ("concurrent.futures", "asyncio")) if path
)
"""Files of the packages that carry an error from one thread to another."""


def _is_own(traceback: TracebackType) -> bool:
    return traceback.tb_frame.f_code.co_filename.startswith(_OWN)


def _is_carrier(traceback: TracebackType) -> bool:
    path = traceback.tb_frame.f_code.co_filename
    return any(path.startswith(str(Path(each).parent)) for each in _CARRIERS) or "/trio/" in path or "/anyio/" in path


def _stripped(traceback: TracebackType | None) -> TracebackType | None:
    entries = []
    while traceback is not None:
        entries.append(traceback)
        traceback = traceback.tb_next
    own = [index for index, entry in enumerate(entries) if _is_own(entry)]
    if not own:
        return entries[0] if entries else None
    kept = [
        entry
        for index, entry in enumerate(entries)
        if not _is_own(entry) and not (index > own[0] and _is_carrier(entry))
    ]
    result: TracebackType | None = None
    for entry in reversed(kept):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def strip(error: BaseException) -> None:
    """Remove the frames of this package from an error and from those that led to it."""
    seen: set[int] = set()
    pending: list[BaseException | None] = [error]
    while pending:
        each = pending.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        each.__traceback__ = _stripped(each.__traceback__)
        pending += [each.__cause__, each.__context__]


def chain(error: BaseException) -> list[BaseException]:
    """An error, what libraries say that it wraps, and what it was raised from."""
    errors: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        each = pending.pop()
        if isinstance(each, BaseException) and each not in errors:
            errors.append(each)
            pending += [each.__context__, each.__cause__, getattr(each, "original", None)]
    return errors
