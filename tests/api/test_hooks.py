"""Hooks: what rooms above an operation take part in."""

from typing import ClassVar

import pytest

from moothall.api.events import Event
from moothall.api.hooks import Hook, declared_events


class Deleted(Event, frozen=True, kw_only=True):
    """An event of a handler."""

    name: ClassVar[str] = "DELETED"


class Closed(Event, frozen=True, kw_only=True):
    """An event of a handler of another hook."""

    name: ClassVar[str] = "CLOSED"


async def test_handlers_run_by_order_and_then_by_registration() -> None:
    hook, calls = Hook[[str], None]("deleting"), list[str]()

    def handler(name: str, order: int) -> None:
        async def run(subject: str) -> None:
            calls.append(f"{name} {subject}")

        hook.register(run, order=order)

    handler("third", 20)
    handler("first", 10)
    handler("second", 10)
    await hook("channel")
    assert calls == ["first channel", "second channel", "third channel"]


async def test_the_first_result_ends_the_search_for_one() -> None:
    hook, calls = Hook[[int], str | None]("answering"), list[str]()

    async def none(_number: int) -> str | None:
        calls.append("none")
        return None

    async def answer(number: int) -> str | None:
        calls.append("answer")
        return f"number {number}"

    async def unreached(_number: int) -> str | None:
        calls.append("unreached")
        return "late"

    assert await hook.first(1) is None
    for each in (none, answer, unreached):
        hook.register(each)
    assert await hook.first(7) == "number 7"
    assert calls == ["none", "answer"]


def test_a_row_declares_the_events_of_hooks_within_hooks() -> None:
    inner, outer = Hook[[], None]("inner"), Hook[[], None]("outer")

    async def handler() -> None: ...

    outer.register(handler, fires=(Deleted, inner))
    inner.register(handler, fires=(Closed,))
    assert declared_events((outer,)) == {Deleted, Closed}


def test_a_handler_that_comes_after_a_row_was_read_is_refused() -> None:
    hook = Hook[[], None]("deleting")

    async def handler() -> None: ...

    assert hook.fires == frozenset()
    with pytest.raises(RuntimeError, match="deleting"):
        hook.register(handler, fires=(Deleted,))


async def test_what_a_handler_raises_ends_the_operation() -> None:
    hook, calls = Hook[[], None]("deleting"), list[str]()

    async def refuse() -> None:
        raise LookupError("refused")

    async def after() -> None:
        calls.append("after")

    hook.register(refuse)
    hook.register(after)
    with pytest.raises(LookupError):
        await hook()
    assert calls == []
