"""Events that recur: the rules that may be set, the moments they name, and what follows an occurrence."""

import sys
from datetime import UTC, date, datetime, timedelta
from itertools import count, islice
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moothall.objects import limits
from moothall.objects.ids import GuildId, ScheduledEventId, Snowflake
from moothall.objects.scheduled_event import (
    EntityType,
    EventException,
    EventStatus,
    Frequency,
    NWeekday,
    RecurrenceRule,
    occurrence_id,
)
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.scheduled_event.queries import EventRow
from moothall.resources.scheduled_event.recurrence import is_occurrence, next_occurrence, occurrences
from moothall.resources.scheduled_event.times import move_to_next_occurrence
from tests.resources.scheduled_event.planning import Clock, external, later, moment, path_of, plan, within
from tests.support.harness import VOICE, Guild, Platform

START = "2027-03-01T18:00:00+00:00"
"""A Monday."""
WEEKDAYS = [0, 1, 2, 3, 4]


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


def rule(**fields: Any) -> dict[str, Any]:
    return {"start": START, "interval": 1, **fields}


GOOD = [
    rule(frequency=3),
    *(
        rule(frequency=3, by_weekday=days)
        for days in ([0, 1, 2, 3, 4], [1, 2, 3, 4, 5], [6, 0, 1, 2, 3], [4, 5], [5, 6], [6, 0])
    ),
    rule(frequency=2),
    rule(frequency=2, by_weekday=[2]),
    rule(frequency=2, by_weekday=[2], interval=2),
    rule(frequency=1),
    rule(frequency=1, by_n_weekday=[{"n": 4, "day": 2}]),
    rule(frequency=0),
    rule(frequency=0, by_month=[7], by_month_day=[24]),
    rule(frequency=0, by_month=[2], by_month_day=[29], end=None, count=None, by_year_day=None),
]


@pytest.mark.parametrize("rule_body", GOOD, ids=str)
async def test_a_documented_rule_is_kept_and_given_back(guild: Guild, rule_body: dict[str, Any]) -> None:
    event = await plan(guild.owner, guild, external(recurrence_rule=rule_body))
    empty = dict.fromkeys(("end", "by_weekday", "by_n_weekday", "by_month", "by_month_day", "by_year_day", "count"))
    kept = event["recurrence_rule"]
    assert datetime.fromisoformat(kept["start"]) == datetime.fromisoformat(START)
    assert kept | {"start": START} == {**empty, **rule_body}
    assert (await guild.owner.patch(path_of(event), {"recurrence_rule": None})).json["recurrence_rule"] is None


BAD: list[tuple[dict[str, Any], str]] = [
    (rule(frequency=4), "frequency"),
    ({"frequency": 3}, "start"),
    (rule(frequency=3, interval=2), "interval"),
    (rule(frequency=2, interval=3), "interval"),
    (rule(frequency=1, interval=2), "interval"),
    (rule(frequency=3, by_weekday=[0, 2]), "by_weekday"),
    (rule(frequency=3, by_weekday=[]), "by_weekday"),
    (rule(frequency=3, by_weekday=[7]), "by_weekday.0"),
    (rule(frequency=2, by_weekday=[0, 1]), "by_weekday"),
    (rule(frequency=3, by_weekday=[4, 4]), "by_weekday"),
    (rule(frequency=1, by_weekday=[0]), "by_weekday"),
    (rule(frequency=2, by_n_weekday=[{"n": 1, "day": 0}]), "by_n_weekday"),
    (rule(frequency=1, by_n_weekday=[{"n": 1, "day": 0}, {"n": 2, "day": 0}]), "by_n_weekday"),
    (rule(frequency=1, by_n_weekday=[{"n": 6, "day": 0}]), "by_n_weekday.0.n"),
    (rule(frequency=0, by_month=[7]), "by_month_day"),
    (rule(frequency=0, by_month_day=[7]), "by_month"),
    (rule(frequency=0, by_month=[7, 8], by_month_day=[1]), "by_month"),
    (rule(frequency=0, by_month=[2], by_month_day=[30]), "by_month_day"),
    (rule(frequency=1, by_month=[7], by_month_day=[1]), "by_month"),
    (rule(frequency=3, count=3), "count"),
    (rule(frequency=3, end=START), "end"),
    (rule(frequency=3, by_year_day=[1]), "by_year_day"),
]


@pytest.mark.parametrize(("rule_body", "field"), BAD, ids=str)
async def test_any_other_rule_is_refused_at_its_field(guild: Guild, rule_body: dict[str, Any], field: str) -> None:
    reply = await guild.owner.post(f"/guilds/{guild.id}/scheduled-events", external(recurrence_rule=rule_body))
    assert reply.code == 50035
    assert reply.errors_at(f"recurrence_rule.{field}"), reply.body
    event = await plan(guild.owner, guild, external())
    assert (await guild.owner.patch(path_of(event), {"recurrence_rule": rule_body})).errors_at(
        f"recurrence_rule.{field}"
    )


def at(text: str) -> Timestamp:
    return Timestamp.from_wire(text)


def first_days(made: RecurrenceRule, count: int) -> list[str]:
    days: list[str] = []
    after = Timestamp(made.start - 1)
    while len(days) < count:
        occurrence = next_occurrence(made, after)
        assert occurrence is not None
        days.append(occurrence.wire()[:10])
        after = occurrence
    return days


def test_rules_name_the_moments_that_calendars_do() -> None:
    start = at(START)
    assert first_days(RecurrenceRule(start=start, frequency=3, by_weekday=[4, 5]), 3) == [
        "2027-03-05", "2027-03-06", "2027-03-12",
    ]  # fmt: skip
    assert first_days(RecurrenceRule(start=start, frequency=2, interval=2, by_weekday=[2]), 3) == [
        "2027-03-03", "2027-03-17", "2027-03-31",
    ]  # fmt: skip
    fifth = RecurrenceRule(start=start, frequency=1, by_n_weekday=[NWeekday(n=5, day=0)])
    assert first_days(fifth, 3) == ["2027-03-29", "2027-05-31", "2027-08-30"]
    leap = RecurrenceRule(start=start, frequency=0, by_month=[2], by_month_day=[29])
    assert first_days(leap, 2) == ["2028-02-29", "2032-02-29"]
    last = RecurrenceRule(start=at("2027-01-31T12:00:00Z"), frequency=1)
    assert first_days(last, 3) == ["2027-01-31", "2027-03-31", "2027-05-31"]
    assert next_occurrence(leap, at("9997-01-01T00:00:00Z")) is None


_rules = st.one_of(
    st.builds(lambda days: {"frequency": 3, "by_weekday": days}, st.sampled_from([None, WEEKDAYS, [4, 5], [6, 0]])),
    st.builds(
        lambda day, interval: {"frequency": 2, "by_weekday": [day], "interval": interval},
        st.integers(0, 6),
        st.sampled_from([1, 2]),
    ),
    st.builds(
        lambda n, d: {"frequency": 1, "by_n_weekday": [NWeekday(n=n, day=d)]}, st.integers(1, 5), st.integers(0, 6)
    ),
    st.just({"frequency": 1}),
    st.just({"frequency": 0}),
)


@given(fields=_rules, start=st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)), days=st.integers(-50, 4000))  # noqa: DTZ001 naive as the strategy asks
def test_the_next_moment_is_later_belongs_to_the_rule_and_none_lies_between(
    fields: dict[str, Any], start: datetime, days: int
) -> None:
    made = RecurrenceRule(start=at(start.replace(tzinfo=UTC, microsecond=0).isoformat()), **fields)
    after = Timestamp(made.start + days * 86_400_000)
    occurrence = next_occurrence(made, after)
    assert occurrence is not None
    assert occurrence > after
    assert occurrence >= made.start
    assert is_occurrence(made, occurrence)
    assert (occurrence - made.start) % 86_400_000 == 0
    # Day by day, nothing was passed over.
    day = max(made.start, after + 86_400_000 - (after - made.start) % 86_400_000)
    while day < occurrence:
        assert not is_occurrence(made, Timestamp(day))
        day += 86_400_000


def has_occurrence_on(day: date, made: RecurrenceRule, start: date) -> bool:
    """Whether a rule that starts on a day has an occurrence on another, as one would tell it from a wall calendar."""
    match made.frequency:
        case Frequency.DAILY:
            return made.by_weekday is None or day.weekday() in made.by_weekday
        case Frequency.WEEKLY:
            weekdays = made.by_weekday or [start.weekday()]
            monday, first_monday = (each - timedelta(days=each.weekday()) for each in (day, start))
            return day.weekday() in weekdays and (monday - first_monday).days // 7 % made.interval == 0
        case Frequency.MONTHLY if made.by_n_weekday:
            return any(day.weekday() == each.day and (day.day + 6) // 7 == each.n for each in made.by_n_weekday)
        case Frequency.MONTHLY:
            return day.day == start.day
        case _:
            months, days = made.by_month or [start.month], made.by_month_day or [start.day]
            return day.month in months and day.day in days


_all_rules = st.one_of(
    _rules,
    st.builds(lambda days: {"frequency": 3, "by_weekday": days}, st.sampled_from([[1, 2, 3, 4, 5], [6, 0, 1, 2, 3]])),
    st.just({"frequency": 2, "interval": 2}),
    st.dates(date(2024, 1, 1), date(2024, 12, 31)).map(
        lambda day: {"frequency": 0, "by_month": [day.month], "by_month_day": [day.day]}
    ),
)


@given(
    fields=_all_rules,
    start=st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1)),  # noqa: DTZ001 naive as the strategy asks
    years=st.integers(-1, 300),
    offset=st.integers(-1, 86_400_001),
)
@example(fields={"frequency": 1}, start=datetime(2026, 1, 31), years=1, offset=0)  # noqa: DTZ001
@example(fields={"frequency": 0}, start=datetime(2096, 2, 29), years=1, offset=0)  # noqa: DTZ001
def test_occurrences_are_the_days_of_the_calendar_at_the_time_of_the_start(
    fields: dict[str, Any], start: datetime, years: int, offset: int
) -> None:
    start = start.replace(tzinfo=UTC, microsecond=start.microsecond // 1000 * 1000)
    made = RecurrenceRule(start=at(start.isoformat()), **fields)
    after = Timestamp(made.start + years * 365 * 86_400_000 + offset)
    days = (start.date() + timedelta(days=number) for number in count(max(0, years * 365 - 1)))
    moments = (
        at(datetime.combine(day, start.timetz()).isoformat())
        for day in days
        if has_occurrence_on(day, made, start.date())
    )
    expected = list(islice((moment for moment in moments if moment > after), 3))

    assert list(islice(occurrences(made, after), 3)) == expected
    assert next_occurrence(made, after) == expected[0]


def test_the_last_occurrence_is_in_the_year_9999() -> None:
    for frequency in Frequency:
        # The last day of 9999 is a Friday as well.
        made = RecurrenceRule(start=at("2027-12-31T23:59:59.500Z"), frequency=frequency)
        *_, last = occurrences(made, at("9999-01-01T00:00:00Z"))
        assert last.wire() == "9999-12-31T23:59:59.500000+00:00"
        assert next_occurrence(made, last) is None
        assert next_occurrence(made, Timestamp(last + 10**15)) is None


def test_a_rule_of_a_thousand_years_ago_is_not_walked_through() -> None:
    made = RecurrenceRule(start=at("1027-03-01T18:00:00Z"), frequency=3, by_weekday=WEEKDAYS)
    calls, profile = 0, sys.getprofile()

    def count_calls(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count_calls)
    try:
        assert is_occurrence(made, at("2027-03-01T18:00:00Z"))
    finally:
        sys.setprofile(profile)
    assert calls < 1000


def test_a_hundred_cancelled_occurrences_are_passed_over_at_once() -> None:
    start, event_id = at(START), ScheduledEventId(Snowflake(1))
    made = RecurrenceRule(start=start, frequency=3)
    cancelled = [
        EventException(
            event_id=event_id,
            event_exception_id=occurrence_id(moment),
            scheduled_start_time=None,
            scheduled_end_time=None,
            is_canceled=True,
        )
        for moment in islice(occurrences(made, start), limits.EVENT_EXCEPTIONS_MAX)
    ]
    row = EventRow(
        guild_id=GuildId(Snowflake(1)),
        id=event_id,
        channel_id=None,
        creator_id=None,
        name="Picnic",
        description=None,
        image=None,
        scheduled_start_time=start,
        scheduled_end_time=Timestamp(start + 1),
        privacy_level=2,
        status=EventStatus.ACTIVE,
        entity_type=EntityType.EXTERNAL,
        entity_id=None,
        location="the park",
        recurrence_rule=to_plain(made),
        exceptions=[to_plain(each) for each in cancelled],
        user_count=0,
        tending=None,
    )

    moved = move_to_next_occurrence(row, start)

    assert moved is not None
    assert moved.scheduled_start_time == start + 101 * 86_400_000
    assert (moved.status, moved.exceptions) == (EventStatus.SCHEDULED, [])


def daily(hours: float = 1) -> dict[str, Any]:
    start = moment(hours=hours)
    return external(
        scheduled_start_time=start,
        scheduled_end_time=moment(hours=hours + 1),
        recurrence_rule={"start": start, "frequency": 3, "interval": 1},
    )


def same(one: str, other: str) -> bool:
    return datetime.fromisoformat(one) == datetime.fromisoformat(other)


async def test_what_recurs_goes_on_to_its_next_occurrence_with_those_who_come(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(platform, monkeypatch.setattr)
    event = await plan(guild.owner, guild, daily())
    await guild.owner.put(f"{path_of(event)}/users/@me")
    platform.heard.clear()
    await clock.pass_by(minutes=61)
    await clock.pass_by(minutes=61)
    now = (await guild.owner.get(path_of(event), with_user_count=True)).json
    assert (now["status"], now["user_count"]) == (1, 1)
    assert same(now["scheduled_start_time"], later(event["scheduled_start_time"], days=1))
    assert same(now["scheduled_end_time"], later(event["scheduled_end_time"], days=1))
    assert [e["status"] for e in platform.heard_data("GUILD_SCHEDULED_EVENT_UPDATE")] == [2, 1]
    await guild.owner.patch(path_of(event), {"status": 4})
    assert (await guild.owner.get(path_of(event))).json["status"] == 4


async def test_an_occurrence_that_is_not_started_is_passed_over(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(platform, monkeypatch.setattr)
    start = moment(hours=1)
    lounge = await guild.channel(type=VOICE)
    event = await plan(
        guild.owner,
        guild,
        within(lounge, scheduled_start_time=start, recurrence_rule={"start": start, "frequency": 3}),
    )
    await clock.pass_by(days=5, hours=5.5)
    now = (await guild.owner.get(path_of(event))).json
    assert now["status"] == 1
    assert same(now["scheduled_start_time"], later(event["scheduled_start_time"], days=6))


async def test_occurrences_after_the_last_possible_id_have_no_exceptions(platform: Platform, guild: Guild) -> None:
    start, last = "2084-09-06T15:47:35.551000+00:00", "2084-09-06T15:47:35.552000+00:00"
    for occurrence, status in ((start, 200), (last, 400), ("9999-12-31T23:59:59+00:00", 400)):
        fields = {"scheduled_start_time": occurrence, "scheduled_end_time": "9999-12-31T23:59:59.900+00:00"}
        event = await plan(guild.owner, guild, external(**fields, recurrence_rule=rule(frequency=3, start=occurrence)))
        platform.heard.clear()
        body = {"original_scheduled_start_time": occurrence, "is_canceled": True}
        reply = await guild.owner.post(f"{path_of(event)}/exceptions", body)
        assert reply.status == status, reply.body
        if status == 400:
            assert reply.errors_at("original_scheduled_start_time") == ["BASE_TYPE_CHOICES"]
            assert platform.heard == []
        else:
            exception = f"{path_of(event)}/exceptions/{reply.json['event_exception_id']}"
            assert (await guild.owner.patch(exception, {"is_canceled": False})).status == 200


async def test_an_occurrence_takes_place_at_another_time_or_not_at_all(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(platform, monkeypatch.setattr)
    event = await plan(guild.owner, guild, daily())
    path, start = path_of(event), event["scheduled_start_time"]
    skipped = await guild.owner.post(
        f"{path}/exceptions",
        {"original_scheduled_start_time": later(start, days=1), "is_canceled": True},
        reason="holiday",
    )
    assert skipped.json == {
        "event_id": event["id"],
        "event_exception_id": skipped.json["event_exception_id"],
        "scheduled_start_time": None,
        "scheduled_end_time": None,
        "is_canceled": True,
    }
    assert (await guild.audit_log())[-1] == (200, int(event["id"]), "holiday")
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE") == [skipped.json]
    moved = {
        "original_scheduled_start_time": start,
        "scheduled_start_time": later(start, hours=3),
        "scheduled_end_time": later(start, hours=4),
    }
    assert (await guild.owner.post(f"{path}/exceptions", moved)).status == 200
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_UPDATE") == []
    listed = (await guild.owner.get(path)).json["guild_scheduled_event_exceptions"]
    assert [e["is_canceled"] for e in listed] == [False, True]
    await clock.pass_by(hours=2)
    assert (await guild.owner.get(path)).json["status"] == 1
    await clock.pass_by(hours=2.5)
    assert (await guild.owner.get(path)).json["status"] == 2
    await clock.pass_by(hours=1)
    now = (await guild.owner.get(path)).json
    assert now["status"] == 1
    assert same(now["scheduled_start_time"], later(start, days=2))
    assert now["guild_scheduled_event_exceptions"] == []


async def test_an_exception_is_changed_and_taken_back(platform: Platform, guild: Guild) -> None:
    event = await plan(guild.owner, guild, daily())
    path, start = path_of(event), event["scheduled_start_time"]
    original = later(start, days=3)
    body = {"original_scheduled_start_time": original, "is_canceled": True}
    made = (await guild.owner.post(f"{path}/exceptions", body)).json
    where = f"{path}/exceptions/{made['event_exception_id']}"
    platform.heard.clear()
    changed = await guild.owner.patch(where, {"scheduled_start_time": later(original, hours=-1)}, reason="early")
    assert same(changed.json["scheduled_start_time"], later(original, hours=-1))
    assert not changed.json["is_canceled"], "what a change leaves out gets its default"
    assert (await guild.owner.patch(where, {"scheduled_end_time": later(original, hours=-2)})).errors_at(
        "scheduled_end_time"
    )
    assert (await guild.owner.patch(where, {"scheduled_start_time": moment(hours=-1)})).errors_at(
        "scheduled_start_time"
    )
    cancelled = await guild.owner.patch(where, {"is_canceled": True, "scheduled_start_time": None})
    assert cancelled.json == made
    assert (await guild.owner.patch(where, {"is_canceled": True})).json == made, "nothing changes, nothing is announced"
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE") == [changed.json, made]
    assert (await guild.owner.delete(where, reason="as ever")).status == 204
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE") == [made]
    assert (await guild.owner.delete(where)).code == 10070
    assert (await guild.owner.patch(where, {})).code == 10070
    entries = (await guild.owner.get(f"/guilds/{guild.id}/audit-logs")).json
    assert [event["id"] for event in entries["guild_scheduled_events"]] == [event["id"]]
    logged = [entry for entry in entries["audit_log_entries"] if entry["action_type"] >= 200]
    assert [(entry["action_type"], entry.get("reason")) for entry in logged] == [
        (202, "as ever"),
        (201, None),
        (201, "early"),
        (200, None),
    ]
    assert {entry["target_id"] for entry in logged} == {event["id"]}
    assert {entry["options"]["event_exception_id"] for entry in logged} == {made["event_exception_id"]}
    assert logged[-1]["changes"] == [{"key": "is_canceled", "new_value": True}]
    stranger = await guild.member_with(0)
    assert (await stranger.post(f"{path}/exceptions", body)).code == 50013


async def test_only_an_upcoming_occurrence_has_an_exception_and_a_second_replaces_it(guild: Guild) -> None:
    event = await plan(guild.owner, guild, daily())
    single = await plan(guild.owner, guild, external())
    start = event["scheduled_start_time"]
    good = {"original_scheduled_start_time": later(start, days=1), "is_canceled": True}
    field = "original_scheduled_start_time"
    assert (await guild.owner.post(f"{path_of(single)}/exceptions", good)).errors_at(field)
    path = f"{path_of(event)}/exceptions"
    for original in (later(start, days=-1), later(start, hours=1)):
        assert (await guild.owner.post(path, {**good, field: original})).errors_at(field)
    assert (await guild.owner.post(path, {})).errors_at(field) == ["BASE_TYPE_REQUIRED"]
    assert (await guild.owner.post(path, {field: good[field], "is_canceled": None})).code == 180005
    first = await guild.owner.post(path, good)
    moved = later(start, days=1, hours=2)
    second = await guild.owner.post(path, {field: good[field], "scheduled_start_time": moved})
    assert second.json["event_exception_id"] == first.json["event_exception_id"]
    assert (await guild.owner.get(path_of(event))).json["guild_scheduled_event_exceptions"] == [second.json]
    assert not second.json["is_canceled"]
    await guild.owner.patch(path_of(event), {"status": 4})
    assert (await guild.owner.post(path, {**good, field: later(start, days=2)})).code == 180000


async def test_an_event_has_a_limited_number_of_exceptions(guild: Guild) -> None:
    event = await plan(guild.owner, guild, daily())
    path, start = f"{path_of(event)}/exceptions", event["scheduled_start_time"]
    for days in range(limits.EVENT_EXCEPTIONS_MAX):
        body = {"original_scheduled_start_time": later(start, days=days), "is_canceled": True}
        assert (await guild.owner.post(path, body)).status == 200
    body = {"original_scheduled_start_time": later(start, days=500), "is_canceled": True}
    assert (await guild.owner.post(path, body)).errors_at("original_scheduled_start_time") == ["BASE_TYPE_MAX_LENGTH"]
    replaced = {"original_scheduled_start_time": start, "is_canceled": False}
    assert (await guild.owner.post(path, replaced)).status == 200


async def test_another_rule_drops_exceptions_of_occurrences_that_it_lacks(platform: Platform, guild: Guild) -> None:
    event = await plan(guild.owner, guild, daily())
    path, start = path_of(event), event["scheduled_start_time"]
    for days in (1, 7):
        body = {"original_scheduled_start_time": later(start, days=days), "is_canceled": True}
        assert (await guild.owner.post(f"{path}/exceptions", body)).status == 200
    weekly = {"start": start, "frequency": 2, "interval": 1}
    kept = (await guild.owner.patch(path, {"recurrence_rule": weekly})).json["guild_scheduled_event_exceptions"]
    assert len(kept) == 1
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE") == []
    none = await guild.owner.patch(path, {"recurrence_rule": None})
    assert none.json["guild_scheduled_event_exceptions"] == []
    ids = {"guild_id": event["guild_id"], "event_id": event["id"]}
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE") == [ids]
