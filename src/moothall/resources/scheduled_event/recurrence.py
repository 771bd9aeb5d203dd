"""When an event recurs: the rules that may be set, and the moments that they name (recurrence rule object)."""

import calendar
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Annotated, Any, Final, Literal

from msgspec import Meta, Struct

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.scheduled_event import Frequency, NWeekday, RecurrenceRule
from moothall.objects.wire import Timestamp

Weekday = Literal[0, 1, 2, 3, 4, 5, 6]
Month = Literal[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]

_KNOWN_SETS: Final = (
    frozenset({0, 1, 2, 3, 4}),
    frozenset({1, 2, 3, 4, 5}),
    frozenset({6, 0, 1, 2, 3}),
    frozenset({4, 5}),
    frozenset({5, 6}),
    frozenset({6, 0}),
)
"""The days of a daily event, if they are told at all."""
_SOME_LEAP_YEAR: Final = 2024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
_MOST_STEPS: Final = 100
"""More than between any two occurrences of a rule that can be set."""


class NWeekdayInput(Struct, frozen=True, kw_only=True):
    """A day of one week of the month."""

    n: Annotated[int, Meta(ge=1, le=5)]
    day: Weekday


class RecurrenceRuleInput(Struct, frozen=True, kw_only=True):
    """A rule as requests carry it; null is like absence."""

    start: Timestamp
    frequency: Literal[0, 1, 2, 3]
    interval: int | None = None
    by_weekday: Annotated[list[Weekday], Meta(max_length=7)] | None = None
    by_n_weekday: Annotated[list[NWeekdayInput], Meta(max_length=7)] | None = None
    by_month: Annotated[list[Month], Meta(max_length=12)] | None = None
    by_month_day: Annotated[list[Annotated[int, Meta(ge=-1, le=31)]], Meta(max_length=33)] | None = None
    end: Any = None
    count: Any = None
    by_year_day: Any = None

    def rule(self) -> RecurrenceRule:
        """The rule, once it has been checked."""
        listed = None if self.by_n_weekday is None else [NWeekday(n=d.n, day=d.day) for d in self.by_n_weekday]
        return RecurrenceRule(
            start=self.start,
            frequency=self.frequency,
            interval=1 if self.interval is None else self.interval,
            by_weekday=None if self.by_weekday is None else list(self.by_weekday),
            by_n_weekday=listed,
            by_month=None if self.by_month is None else list(self.by_month),
            by_month_day=self.by_month_day,
        )


def check_rule(given: RecurrenceRuleInput, found: FormErrors) -> None:
    """Report every part of a rule that is not among the combinations that may be set."""
    for field in ("end", "count", "by_year_day"):
        if getattr(given, field) is not None:
            _refuse(found, field, "This field cannot be set.")
    kind = int(given.frequency)
    if given.interval not in (None, 1) and not (kind == Frequency.WEEKLY and given.interval == 2):
        found.add("recurrence_rule.interval", *FieldError.choices((1, 2) if kind == Frequency.WEEKLY else (1,)))
    if given.by_weekday is not None:
        _check_weekdays(kind, given.by_weekday, found)
    if given.by_n_weekday is not None:
        if kind != Frequency.MONTHLY:
            _refuse(found, "by_n_weekday", "Only for events that recur monthly.")
        elif len(given.by_n_weekday) != 1:
            found.add("recurrence_rule.by_n_weekday", *FieldError.length(1, 1))
    _check_date(kind, given, found)


def _check_weekdays(kind: int, days: list[Weekday], found: FormErrors) -> None:
    if len(set(days)) < len(days):
        found.add(
            "recurrence_rule.by_weekday", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this day."
        )
    elif kind == Frequency.WEEKLY:
        if len(days) != 1:
            found.add("recurrence_rule.by_weekday", *FieldError.length(1, 1))
    elif kind != Frequency.DAILY:
        _refuse(found, "by_weekday", "Only for events that recur daily or weekly.")
    elif frozenset(days) not in _KNOWN_SETS:
        _refuse(found, "by_weekday", "Not a known set of days.")


def _check_date(kind: int, given: RecurrenceRuleInput, found: FormErrors) -> None:
    parts = {"by_month": given.by_month, "by_month_day": given.by_month_day}
    if all(part is None for part in parts.values()):
        return
    fits = True
    for field, part in parts.items():
        if kind != Frequency.YEARLY:
            if part is not None:
                _refuse(found, field, "Only for events that recur yearly.")
            fits = False
        elif part is None:
            found.add(f"recurrence_rule.{field}", *FieldError.required())
            fits = False
        elif len(part) != 1:
            found.add(f"recurrence_rule.{field}", *FieldError.length(1, 1))
            fits = False
    if fits and given.by_month and given.by_month_day:
        last = calendar.monthrange(_SOME_LEAP_YEAR, given.by_month[0])[1]
        if not 1 <= given.by_month_day[0] <= last:
            _refuse(found, "by_month_day", "There is no such day.")


def _refuse(found: FormErrors, field: str, message: str) -> None:
    found.add(f"recurrence_rule.{field}", FormCode.BASE_TYPE_CHOICES, message)


def next_occurrence(rule: RecurrenceRule, after: Timestamp) -> Timestamp | None:
    """The first moment of a rule that is later than another; None if there is none that a calendar knows."""
    try:
        start = _EPOCH + rule.start * _MS
        floor = max(start, _EPOCH + (after + 1) * _MS)
        for number, moment in enumerate(_moments(rule, start, floor)):
            if moment >= floor:
                return Timestamp((moment - _EPOCH) // _MS)
            if number > _MOST_STEPS:
                break
    except (OverflowError, ValueError):
        # Beyond the year 9999.
        return None
    return None


def is_occurrence(rule: RecurrenceRule, moment: Timestamp) -> bool:
    """Whether a moment is one that a rule names."""
    return next_occurrence(rule, Timestamp(moment - 1)) == moment


def _moments(rule: RecurrenceRule, start: datetime, floor: datetime) -> Iterator[datetime]:
    """Moments of a rule in their order, from a little before `floor` on."""
    match rule.frequency:
        case Frequency.DAILY:
            days = set(rule.by_weekday or range(7))
            since = start + timedelta(days=max(0, (floor - start).days))
            yield from (day for day in _days(since) if day.weekday() in days)
        case Frequency.WEEKLY:
            weekday = rule.by_weekday[0] if rule.by_weekday else start.weekday()
            # Weeks begin on Mondays; the first one counted is that of the start.
            first = start + timedelta(days=weekday - start.weekday())
            length = timedelta(weeks=rule.interval)
            for week in count(max(0, (floor - first) // length)):
                yield first + week * length
        case Frequency.MONTHLY:
            for number in count(12 * floor.year + floor.month - 1):
                yield from _in_month(rule, start, *divmod(number, 12))
        case _:
            month = rule.by_month[0] if rule.by_month else start.month
            day = rule.by_month_day[0] if rule.by_month_day else start.day
            for year in count(floor.year):
                if day <= calendar.monthrange(year, month)[1]:
                    yield start.replace(year=year, month=month, day=day)


def _days(since: datetime) -> Iterator[datetime]:
    for number in count():
        yield since + timedelta(days=number)


def _in_month(rule: RecurrenceRule, start: datetime, year: int, month: int) -> Iterator[datetime]:
    first, last = calendar.monthrange(year, month + 1)
    day = start.day
    if rule.by_n_weekday:
        wanted = rule.by_n_weekday[0]
        day = 1 + (wanted.day - first) % 7 + 7 * (wanted.n - 1)
    if day <= last:
        yield start.replace(year=year, month=month + 1, day=day)
