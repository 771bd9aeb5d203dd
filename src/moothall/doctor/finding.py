"""What a check found."""

from enum import StrEnum

from msgspec import Struct


class Level(StrEnum):
    """How a finding is to be taken."""

    OK = "ok"
    SKIPPED = "skipped"
    """Not checked, for the reason in the message."""
    WARNING = "warning"
    """Works, but not as it should, or not for long."""
    ERROR = "error"


class Finding(Struct, frozen=True):
    """One fact about the installation."""

    check: str
    """What was checked, in a word or two: `disk`, `public url`."""
    level: Level
    message: str
    advice: str = ""
    """What to do about a warning or an error."""


def ok(check: str, message: str) -> Finding:
    """A fact that is as it should be."""
    return Finding(check, Level.OK, message)


def skipped(check: str, message: str) -> Finding:
    """What could not be checked, and why."""
    return Finding(check, Level.SKIPPED, message)


def warning(check: str, message: str, advice: str) -> Finding:
    """A fact to look at."""
    return Finding(check, Level.WARNING, message, advice)


def error(check: str, message: str, advice: str) -> Finding:
    """A fact that keeps something from working."""
    return Finding(check, Level.ERROR, message, advice)


def reason(problem: BaseException) -> str:
    """What an exception says, or its name if it says nothing."""
    return str(problem) or type(problem).__name__
