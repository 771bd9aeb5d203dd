"""`advance` moves the bots' own clock: timeouts of views, cooldowns, loops, sleeps, `time` and `datetime`."""

import datetime as dt
import threading
import time

import pytest

from moothall_testing.bot_clock import BotClock, BotLoop, forget_clock, use_clock
from tests.testing.bot_projects import project, run

__all__ = ["project"]
pytest_plugins = ["pytester"]


def test_what_is_due_in_the_bot_has_happened_when_the_clock_has_moved(
    project: pytest.Pytester, failing_bot: str
) -> None:
    project.makepyfile(late=failing_bot)
    run(
        project,
        """
        import pytest, time

        @pytest.fixture(params=["thread", "process"])
        def bot(moothall, request):
            moothall.advance(hours=1).wait()
            target = moothall.start_bot("late:bot") if request.param == "thread" else moothall.start_program("late.py")
            return target.wait()

        def test_views_end(bot, moothall, alice):
            message = alice.says("!choose").awaits_reply().wait()
            moothall.advance(seconds=170).wait()
            assert alice.messages().wait()[-1].content == "choose"
            moothall.advance(seconds=15).wait()
            assert alice.messages().wait()[-1].content == "too late"

        def test_loops_and_sleeps_and_cooldowns(bot, moothall, alice):
            alice.says("!start").assert_replied("started").wait()
            alice.says("!rest").assert_replied("rested").wait()
            alice.says("!remind 7000").awaits_silence(0.1).wait()
            began = time.monotonic()
            moothall.advance(hours=2).wait()
            assert time.monotonic() - began < 30
            assert alice.messages().wait()[-1].content == "now"
            alice.says("!count").assert_replied("13").wait()
            alice.says("!rest").assert_replied("rested").wait()
            transcript = moothall.transcript()
            assert "RESUME" not in transcript
            assert transcript.count("IDENTIFY") == 1

        def test_all_clocks_agree_and_the_tests_own_stays(bot, moothall, alice):
            before = time.time()
            moothall.advance(days=3).wait()
            shown = list(map(float, alice.says("!clocks").awaits_reply().wait().content.split()))
            assert len(shown) == 9
            assert all(before + 3600 + 3 * 86_400 - 2 < each < time.time() + 3600 + 3 * 86_400 + 2 for each in shown)
        """,
        passed=6,
    )


def test_timers_of_connections_keep_real_time() -> None:
    loop = BotLoop(BotClock())
    fired: list[str] = []
    set_timer = {"__name__": "aiohttp.helpers"}
    exec("def set_timer(loop, callback): loop.call_later(3600, callback)", set_timer)  # noqa: S102 a module of that name
    own, ended = threading.Event(), threading.Event()
    loop.call_later(3600, own.set)
    set_timer["set_timer"](loop, lambda: fired.append("connection"))  # type: ignore[operator]
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        assert 3590 < (loop.until_next_timer() or 0) <= 3600
        loop.move(3601)
        assert own.wait(5)
        assert fired == []
        assert loop.until_next_timer() is None
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
        ended.set()


def test_a_thread_has_its_clock_until_it_is_forgotten() -> None:
    clock, shown = BotClock(1_000_000.0), []

    def look() -> None:
        use_clock(clock)
        shown.append((time.time(), dt.datetime.now(dt.UTC).timestamp(), time.monotonic()))
        forget_clock(clock)
        shown.append((time.time(), dt.datetime.now(dt.UTC).timestamp(), time.monotonic()))

    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    ahead = [moved - real for moved, real in zip(*shown, strict=True)]
    assert all(999_990 < seconds < 1_000_001 for seconds in ahead)
    assert abs(time.time() - shown[1][0]) < 60
