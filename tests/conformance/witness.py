"""What every row was seen to do in this run, and the check at its end that each did all it declares.

A declaration that nothing executes rots. So at the end of a whole run each row must have succeeded once,
have fired each event that it declares, and, if it takes an audit reason, have written an entry.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

import pytest

from moothall.api.audit import AuditEntryCreate
from moothall.api.context import Context
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.api.events import Event
from moothall.api.pipeline import Pipeline
from moothall.bus import Audience, Envelope
from tests.conformance import event_schemas, public_schema
from tests.conformance.own_schema import check_described
from tools.record_events import FOR_PEOPLE

SUCCESS = "success"

SEEN: dict[str, set[str]] = {}
"""By row name: `SUCCESS`, and the names of the event classes it fired when it succeeded."""

_EMITTED: ContextVar[list[type[Event]]] = ContextVar("emitted")
_emit = Context.emit


def _heard_emit(self: Context, event: Event) -> None:
    _emit(self, event)
    # Classes, not dispatch names: one row may fire a name for guilds and for direct messages.
    emitted = _EMITTED.get(None)
    if emitted is not None:
        emitted.append(type(event))


Context.emit = _heard_emit  # type: ignore[method-assign]  # no other object knows what a request emits


@cache
def judge_envelopes() -> None:
    """From the first call on, check every dispatch that an operation emits for bots, as libraries read it."""
    pending: list[type[Event]] = [Event]
    while pending:
        kind = pending.pop()
        pending += kind.__subclasses__()
        if "envelope" in vars(kind):
            _judge(kind)


def _judge(kind: type[Event]) -> None:
    encode = kind.envelope

    def envelope(event: Event) -> Envelope:
        built = encode(event)
        if event.audience is not Audience.NODE and type(event).__name__ not in FOR_PEOPLE:
            event_schemas.check_dispatch(event.name, bytes(built.data))
        return built

    kind.envelope = envelope  # type: ignore[method-assign,assignment]


@contextmanager
def emissions() -> Iterator[list[type[Event]]]:
    """The events emitted by this task inside the block."""
    emitted: list[type[Event]] = []
    token = _EMITTED.set(emitted)
    try:
        yield emitted
    finally:
        _EMITTED.reset(token)


def witness(pipeline: Pipeline, method: str, path: str, status: int, body: bytes, emitted: list[type[Event]]) -> None:
    """Note one answer and what was emitted for it. Refusals undo what they emitted: they prove nothing."""
    match = pipeline._router.match(path)
    row = None if match is None else match[0].get(method)
    if row is None or REGISTRY.get((row.method, row.path)) is not row or status >= 400:
        return
    check_described(row, status, body)
    SEEN.setdefault(row.name, set()).update([SUCCESS, *(event.__name__ for event in emitted)])
    undeclared = {event for event in emitted if event is not AuditEntryCreate} - row.fires
    if undeclared_names := sorted(event.__name__ for event in undeclared if event.audience is not Audience.NODE):
        raise AssertionError(f"{row.name} fired what it does not declare: {', '.join(undeclared_names)}")


def unproved(row: Endpoint, seen: set[str]) -> list[str]:
    """What a row declares and was not seen to do."""
    if SUCCESS not in seen:
        return ["never succeeded"]
    missing = [f"never fired {event.__name__}" for event in row.fires if event.__name__ not in seen]
    if row.audit_reason and AuditEntryCreate.__name__ not in seen:
        missing.append("never wrote an audit entry")
    return sorted(missing)


class SuiteEnd:
    """The check at the end of a whole run; silent after a part of one. Workers of a split run report to its head."""

    def __init__(self) -> None:
        self._whole = True
        self._problems: list[str] = []

    def pytest_deselected(self) -> None:
        self._whole = False

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        report = getattr(node, "workeroutput", {}).get("witness")
        if report is None:
            self._whole = False
            return
        self._whole = self._whole and report["whole"]
        for name, seen in report["seen"].items():
            SEEN.setdefault(name, set()).update(seen)
        public_schema.USED.update((operation, where) for operation, where in report["used"])
        event_schemas.USED.update((name, where) for name, where in report["events_used"])
        event_schemas.SEEN.update(report["events_seen"])

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:
            output["witness"] = {
                "whole": self._whole,
                "seen": {name: sorted(seen) for name, seen in SEEN.items()},
                "used": sorted(public_schema.USED),
                "events_used": sorted(event_schemas.USED),
                "events_seen": sorted(event_schemas.SEEN),
            }
        elif self._whole and _is_whole(session, exitstatus):
            for row in sorted(REGISTRY.values(), key=lambda row: row.name):
                self._problems.extend(f"{row.name} {what}" for what in unproved(row, SEEN.get(row.name, set())))
            self._problems.extend(f"the exception {known} is not needed any more" for known in public_schema.stale())
            self._problems.extend(f"the exception {known} is not needed any more" for known in event_schemas.stale())
            self._problems.extend(f"{name} is a dispatch that no test has seen" for name in event_schemas.unseen())
            if self._problems:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if self._problems:
            terminalreporter.section("declared and not proved by any test", red=True)
            for problem in self._problems:
                terminalreporter.line(f"FAILED {problem}", red=True)


def _is_whole(session: pytest.Session, exitstatus: int) -> bool:
    """Whether everything was collected and run to the end."""
    config = session.config
    everything = config.args_source is pytest.Config.ArgsSource.TESTPATHS or config.args == ["tests"]
    narrowed = any(config.getoption(name, None) for name in ("keyword", "markexpr", "lf", "ignore", "ignore_glob"))
    finished = exitstatus in {pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED}
    stopped = session.shouldstop or session.shouldfail
    return everything and finished and not narrowed and not stopped and not config.getoption("collectonly")
