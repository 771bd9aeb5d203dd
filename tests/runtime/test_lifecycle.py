"""Threads for what a process does once."""

import ast
import asyncio
import threading
from pathlib import Path

import pytest

from moothall.runtime.lifecycle import Lazy, in_lifecycle_thread

_SOURCES = Path(__file__).parents[2] / "src" / "moothall"


async def test_a_lazy_value_is_made_once_in_a_thread_for_all_who_wait() -> None:
    makers: list[str] = []

    def make() -> object:
        makers.append(threading.current_thread().name)
        return object()

    value = Lazy(make)
    first, *others = await asyncio.gather(*(value.get() for _ in range(20)))
    assert all(other is first for other in others)
    assert await value.get() is first
    assert len(makers) == 1
    assert makers[0].startswith("lifecycle")


async def test_a_lazy_value_that_could_not_be_made_is_made_by_the_next_use() -> None:
    outcomes = [OSError("not yet"), None]

    def make() -> str:
        if (outcome := outcomes.pop(0)) is not None:
            raise outcome
        return "made"

    value = Lazy(make)
    with pytest.raises(OSError, match="not yet"):
        await value.get()
    assert await value.get() == "made"


async def test_who_stops_waiting_for_a_lazy_value_keeps_no_one_from_it() -> None:
    may_go = threading.Event()

    def make() -> str:
        may_go.wait(60)
        return "made"

    value = Lazy(make)
    impatient, patient = (asyncio.create_task(value.get()) for _ in range(2))
    await asyncio.sleep(0)
    impatient.cancel()
    may_go.set()
    assert await patient == "made"


async def test_work_raises_what_it_raises() -> None:
    with pytest.raises(ZeroDivisionError):
        await in_lifecycle_thread(lambda: 1 // 0)


def test_no_source_names_the_default_pool_of_the_event_loop() -> None:
    """`asyncio.to_thread` is refused by ruff (pyproject.toml), which cannot see the arguments of a call."""
    calls = 0
    for path in sorted(_SOURCES.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                assert node.func.attr != "set_default_executor", path
                if node.func.attr == "run_in_executor":
                    calls += 1
                    assert not (isinstance(node.args[0], ast.Constant) and node.args[0].value is None), path
    assert calls
