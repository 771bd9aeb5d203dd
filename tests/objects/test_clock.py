"""The platform's clock, and the law that nothing else asks the system for the time."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from moothall.objects.clock import CLOCK, Clock
from moothall.objects.ids import SnowflakeFactory
from moothall.objects.wire import Timestamp

_ROOT = Path(__file__).parents[2]


def test_the_clock_shows_real_time_until_it_is_advanced() -> None:
    clock = Clock()

    assert abs(clock.now() - time.time()) < 1
    assert abs(clock.now_ms() / 1000 - time.time()) < 1
    assert clock.offset == 0


def test_advancing_moves_every_reading_by_the_same_time() -> None:
    clock = Clock()
    before = clock.now(), clock.now_ms(), clock.monotonic()

    clock.advance(3600)

    assert clock.now() - before[0] == pytest.approx(3600, abs=1)
    assert clock.now_ms() - before[1] == pytest.approx(3_600_000, abs=1000)
    assert clock.monotonic() - before[2] == pytest.approx(3600, abs=1)
    assert clock.offset == 3600


@pytest.mark.parametrize("seconds", [-1.0, float("nan")])
def test_the_clock_is_never_moved_back(seconds: float) -> None:
    clock = Clock()

    with pytest.raises(ValueError, match="back"):
        clock.advance(seconds)
    assert clock.offset == 0


def test_timestamps_and_ids_follow_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)
    before, ids = Timestamp.now(), SnowflakeFactory()
    first = ids.next()

    CLOCK.advance(86_400)

    assert Timestamp.now() - before >= 86_400_000
    assert ids.next().created_ms - first.created_ms >= 86_400_000


@pytest.mark.parametrize(
    "line",
    [
        "import time\n\nNOW = time.time()\n",
        "from time import monotonic\n\nNOW = monotonic()\n",
        "import datetime\n\nNOW = datetime.datetime.now(datetime.UTC)\n",
        "import time\n\nCLOCK = time.perf_counter\n",
    ],
)
def test_a_module_that_asks_the_system_for_the_time_fails_the_lint(line: str) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--select", "TID251", "--output-format", "concise"]

    refused = subprocess.run(
        [*command, "--stdin-filename", "src/moothall/api/any.py", "-"],
        input=line, cwd=_ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert refused.returncode == 1
    assert "moothall.objects.clock" in refused.stdout
