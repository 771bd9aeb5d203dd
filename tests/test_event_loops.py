"""What `async def` tests and fixtures run on."""

import ast
import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import uvloop
from hypothesis import given
from hypothesis import strategies as st

_earlier_loops: list[asyncio.AbstractEventLoop] = []


@pytest.fixture
async def loop() -> AsyncIterator[asyncio.AbstractEventLoop]:
    """The loop that fixtures are made and finished on."""
    loop = asyncio.get_running_loop()
    yield loop
    assert asyncio.get_running_loop() is loop


async def test_a_test_shares_a_uvloop_with_its_fixtures(loop: asyncio.AbstractEventLoop) -> None:
    assert asyncio.get_running_loop() is loop
    assert isinstance(loop, uvloop.Loop)


# Those of one process compare their loops; four are at least two in one of two processes.
@pytest.mark.parametrize("number", range(4))
async def test_each_test_has_a_loop_of_its_own_and_leaves_it_closed(
    loop: asyncio.AbstractEventLoop, number: int
) -> None:
    assert len(_earlier_loops) <= number
    assert loop not in _earlier_loops
    assert all(earlier.is_closed() for earlier in _earlier_loops)
    _earlier_loops.append(loop)


@given(number=st.integers())
async def test_examples_of_hypothesis_run_on_a_uvloop_too(number: int) -> None:
    await asyncio.sleep(0)
    assert isinstance(asyncio.get_running_loop(), uvloop.Loop)
    assert isinstance(number, int)


def long_lived(source: str) -> Iterator[str]:
    """Names of the `async def` fixtures of a module that outlive a test, and with it the loop they were made on."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.AsyncFunctionDef):
            calls = [decorator for decorator in node.decorator_list if isinstance(decorator, ast.Call)]
            fixtures = [call for call in calls if ast.unparse(call.func) == "pytest.fixture"]
            options = {keyword.arg: ast.unparse(keyword.value) for call in fixtures for keyword in call.keywords}
            if options.get("scope", "'function'") != "'function'":
                yield node.name


def test_few_async_fixtures_live_longer_than_a_test() -> None:
    fixture = '@pytest.fixture(scope="{}")\nasync def database(): ...\n'
    assert list(long_lived(fixture.format("module"))) == ["database"]
    assert list(long_lived(fixture.format("function") + fixture.format("session").replace("async ", ""))) == []

    # Clients of others are installed in folders named `site`. Tests of a module share a browser, which starts slowly,
    # those of the layout the guild that they look at, and laws about thousands of refusals a platform; they then share
    # the loop as well.
    tests = Path(__file__).parent
    shared = {
        tests / "clients" / "conftest.py": ["running_browser"],
        tests / "clients" / "test_web_layout.py": ["community"],
        tests / "conformance" / "conftest.py": ["shared_platform"],
    }
    for file in (file for file in tests.rglob("*.py") if "site" not in file.parts):
        assert list(long_lived(file.read_text(encoding="utf-8"))) == shared.get(file, []), file
