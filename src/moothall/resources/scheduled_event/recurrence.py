"""Recurrence rules: which may be set, and the occurrences that they have (recurrence rule object)."""

import calendar
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Annotated, Any, Final, Literal

from dateutil.rrule import DAILY, MO, MONTHLY, WEEKLY, YEARLY, rrule, weekday
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
"""The weekdays that a daily rule may have."""
_FREQUENCIES: Final = (YEARLY, MONTHLY, WEEKLY, DAILY)
"""dateutil's, by the numbers of ours."""
_SOME_LEAP_YEAR: Final = 2024
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
_SECOND: Final = 1000
_DAY: Final = timedelta(days=1)
_WEEK: Final = timedelta(weeks=1)


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


def check_rule(body: RecurrenceRuleInput, errors: FormErrors) -> None:
    """Add an error for every field of a rule that is not among the combinations that may be set."""
    for field in ("end", "count", "by_year_day"):
        if getattr(body, field) is not None:
            _refuse(errors, field, "This field cannot be set.")
    kind = int(body.frequency)
    if body.interval not in (None, 1) and not (kind == Frequency.WEEKLY and body.interval == 2):
        errors.add("recurrence_rule.interval", *FieldError.choices((1, 2) if kind == Frequency.WEEKLY else (1,)))
    if body.by_weekday is not None:
        _check_weekdays(kind, body.by_weekday, errors)
    if body.by_n_weekday is not None:
        if kind != Frequency.MONTHLY:
            _refuse(errors, "by_n_weekday", "Only for events that recur monthly.")
        elif len(body.by_n_weekday) != 1:
            errors.add("recurrence_rule.by_n_weekday", *FieldError.length(1, 1))
    _check_date(kind, body, errors)


def _check_weekdays(kind: int, days: list[Weekday], errors: FormErrors) -> None:
    if len(set(days)) < len(days):
        errors.add(
            "recurrence_rule.by_weekday", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this day."
        )
    elif kind == Frequency.WEEKLY:
        if len(days) != 1:
            errors.add("recurrence_rule.by_weekday", *FieldError.length(1, 1))
    elif kind != Frequency.DAILY:
        _refuse(errors, "by_weekday", "Only for events that recur daily or weekly.")
    elif frozenset(days) not in _KNOWN_SETS:
        _refuse(errors, "by_weekday", "Not a known set of days.")


def _check_date(kind: int, body: RecurrenceRuleInput, errors: FormErrors) -> None:
    fields = {"by_month": body.by_month, "by_month_day": body.by_month_day}
    if all(values is None for values in fields.values()):
        return
    valid = True
    for field, values in fields.items():
        if kind != Frequency.YEARLY:
            if values is not None:
                _refuse(errors, field, "Only for events that recur yearly.")
            valid = False
        elif values is None:
            errors.add(f"recurrence_rule.{field}", *FieldError.required())
            valid = False
        elif len(values) != 1:
            errors.add(f"recurrence_rule.{field}", *FieldError.length(1, 1))
            valid = False
    if valid and body.by_month and body.by_month_day:
        last = calendar.monthrange(_SOME_LEAP_YEAR, body.by_month[0])[1]
        if not 1 <= body.by_month_day[0] <= last:
            _refuse(errors, "by_month_day", "There is no such day.")


def _refuse(errors: FormErrors, field: str, message: str) -> None:
    errors.add(f"recurrence_rule.{field}", FormCode.BASE_TYPE_CHOICES, message)


def occurrences(rule: RecurrenceRule, after: Timestamp) -> Iterator[Timestamp]:
    """The moments of a rule that are later than another, in order, until the calendar ends with the year 9999.

    The first costs about as much however long ago the rule started.
    """
    # rrule counts in whole seconds; every occurrence has the milliseconds of the start.
    milliseconds = rule.start % _SECOND
    first = (after - milliseconds) // _SECOND * _SECOND + _SECOND
    try:
        start = _EPOCH + (rule.start - milliseconds) * _MS
        floor = max(start, _EPOCH + first * _MS)
    except OverflowError:
        # Beyond the year 9999.
        return
    for moment in _recurrence(rule, start, floor).xafter(floor, inc=True):
        yield Timestamp((moment - _EPOCH) // _MS + milliseconds)


def next_occurrence(rule: RecurrenceRule, after: Timestamp) -> Timestamp | None:
    """The first moment of a rule that is later than another; None if the calendar has none."""
    return next(occurrences(rule, after), None)


def is_occurrence(rule: RecurrenceRule, moment: Timestamp) -> bool:
    """Whether a rule has an occurrence at a moment."""
    return next_occurrence(rule, Timestamp(moment - 1)) == moment


def _recurrence(rule: RecurrenceRule, start: datetime, floor: datetime) -> rrule:
    """A rule as dateutil has it, started anew as many whole intervals after its start as fit before `floor`.

    rrule walks from its start, hence the new one. Monthly and yearly rules begin on the first day of a month then, so
    they name the day of the original.
    """
    by_weekday: list[int] | list[weekday] | None = rule.by_weekday
    by_month, by_month_day = rule.by_month, rule.by_month_day
    match rule.frequency:
        case Frequency.DAILY | Frequency.WEEKLY:
            length = rule.interval * (_DAY if rule.frequency == Frequency.DAILY else _WEEK)
            begin = start + (floor - start) // length * length
        case Frequency.MONTHLY:
            first, last = 12 * start.year + start.month - 1, 12 * floor.year + floor.month - 1
            year, month = divmod(last - (last - first) % rule.interval, 12)
            begin = start.replace(year=year, month=month + 1, day=1)
            if rule.by_n_weekday:
                by_weekday = [weekday(each.day, each.n) for each in rule.by_n_weekday]
            else:
                by_month_day = [start.day]
        case _:
            year = floor.year - (floor.year - start.year) % rule.interval
            begin = start.replace(year=year, month=1, day=1)
            by_month, by_month_day = by_month or [start.month], by_month_day or [start.day]
    return rrule(
        _FREQUENCIES[rule.frequency],
        dtstart=max(start, begin),
        interval=rule.interval,
        wkst=MO,
        byweekday=by_weekday,
        bymonth=by_month,
        bymonthday=by_month_day,
    )
