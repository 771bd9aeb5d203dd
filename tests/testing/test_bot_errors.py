"""Errors of bots: a test fails at once, with the bot's traceback and no frame of the plugin."""

import asyncio
from collections.abc import Callable
from types import FunctionType

import pytest

from moothall_testing.bot_errors import BotErrors, BotFailed, caught_error, notice_in_loop
from tests.testing.bot_projects import project, run

__all__ = ["project"]
pytest_plugins = ["pytester"]

_START = """
    import pytest, time
    from concurrent.futures import ThreadPoolExecutor

    def start(moothall, how):
        action = moothall.start_bot("failing:bot") if how == "thread" else moothall.start_program("failing.py")
        return action.wait()

    both = pytest.mark.parametrize("how", ["thread", "process"])
"""


@pytest.fixture
def failing(project: pytest.Pytester, failing_bot: str) -> pytest.Pytester:
    """A project whose bot fails."""
    project.makepyfile(failing=failing_bot)
    return project


def test_an_error_ends_what_waits_for_the_bot_and_stands_first(failing: pytest.Pytester) -> None:
    result = run(
        failing,
        _START
        + """
    @both
    def test_wait(moothall, alice, how):
        start(moothall, how)
        started = time.monotonic()
        try:
            alice.says("!fail").awaits_reply(within=60).wait()
        finally:
            assert time.monotonic() - started < 10

    def test_end(moothall, alice):
        start(moothall, "process")
        alice.says("!end").awaits_reply(within=60).wait()

    @both
    def test_button(moothall, alice, how):
        start(moothall, how)
        message = alice.says("!choose").awaits_reply().wait()
        alice.clicks(message, "Break").awaits_reply(within=60).wait()
    """,
        failed=5,
    )
    printed = result.stdout.str()

    result.stdout.fnmatch_lines(
        ["*_ test_wait?thread? _*", "*async def fail*", ">*raise ValueError*no luck*", "E*ValueError: no luck", "*"]
    )
    result.stdout.fnmatch_lines(["*> *says(*!fail*", "E*BotFailed: the bot bot failed: *ValueError: no luck"])
    result.stdout.fnmatch_lines(["*_ test_wait?process? _*", "E*BotFailed: Traceback*", "E*ValueError: no luck"])
    result.stdout.fnmatch_lines(["E*the process of the bot bot ended with status 3"])
    assert printed.count("KeyError: 'button'") >= 2
    assert "moothall_testing/" not in printed
    assert "concurrent/futures" not in printed


def test_an_error_that_no_step_waits_for_fails_its_test_as_well(failing: pytest.Pytester) -> None:
    result = run(
        failing,
        _START
        + """
    @both
    def test_task(moothall, alice, how):
        start(moothall, how)
        alice.says("!forget").awaits_silence(0.3).wait()

    async def test_awaited(moothall, alice):
        await moothall.start_bot("failing:bot")
        await alice.says("!forget").awaits_silence(0.3)

    def test_next(moothall, alice):
        alice.says("nothing").wait()

    def test_no_command(moothall, alice):
        start(moothall, "thread")
        alice.says("!unknown").awaits_silence(0.2).wait()
    """,
        failed=3,
        passed=2,
    )

    result.stdout.fnmatch_lines(["*RuntimeError: lost*"])


def test_errors_that_are_expected_must_come(failing: pytest.Pytester) -> None:
    result = run(
        failing,
        _START
        + """
    @both
    def test_expected(moothall, alice, how):
        start(moothall, how)
        errors = moothall.expects_error(ValueError, match="no l.ck")
        alice.says("!fail").wait()
        moothall.check_errors()
        assert "no luck" in errors[0].text

    def test_by_name(moothall, alice):
        start(moothall, "process")
        moothall.expects_error("CommandInvokeError")
        alice.says("!fail").wait()

    def test_another(moothall, alice):
        start(moothall, "thread")
        moothall.expects_error(ValueError, match="luck of another kind")
        alice.says("!fail").awaits_silence(0.3).wait()

    def test_missing(moothall, alice):
        start(moothall, "thread")
        moothall.expects_error(KeyError)
    """,
        passed=3,
        failed=2,
    )

    result.stdout.fnmatch_lines(["*a bot was expected to fail with KeyError, and did not*"])


def test_a_handled_error_is_none_and_its_chain_counts() -> None:
    errors = BotErrors()
    error = RuntimeError("outer")
    error.__cause__ = LookupError("inner")
    assert errors.add(caught_error("bot", error))
    assert not errors.add(caught_error("bot", error))

    with pytest.raises(BotFailed, match="outer") as failed:
        errors.raise_unexpected()
    assert isinstance(failed.value.__cause__, RuntimeError)
    errors.expect((LookupError,), None)
    errors.raise_unexpected()
    assert errors.missing() == []


class ComponentStateConflictError(Exception):
    """Has the name of what hikari raises without a connection."""


@pytest.mark.parametrize(
    ("module", "raised", "is_noticed"),
    [
        ("hikari.impl.shard", ConnectionResetError, False),
        ("discord.gateway", BrokenPipeError, False),
        ("hikari.impl.shard", ComponentStateConflictError, False),
        ("discord.gateway", ValueError, True),
        ("bot.tasks", ConnectionResetError, True),
        ("bot.tasks", ComponentStateConflictError, True),
    ],
)
async def test_a_lost_connection_in_a_task_of_the_library_is_no_error_of_the_bot(
    module: str, raised: type[Exception], *, is_noticed: bool
) -> None:
    def lose() -> None:
        raise raised

    in_module: Callable[[], None] = FunctionType(lose.__code__, {"__name__": module}, closure=lose.__closure__)
    errors: list[BaseException] = []
    loop = asyncio.get_running_loop()
    notice_in_loop(loop, errors.append)

    loop.call_soon(in_module)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    loop.set_exception_handler(None)

    assert bool(errors) == is_noticed
