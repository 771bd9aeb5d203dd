"""A short run of each topology; `make chaos` lets faults happen for minutes."""

import math
import os
import shutil
from pathlib import Path

import pytest

from tests.chaos.run import run
from tests.chaos.services import postgres_programs
from tests.chaos.topologies import Durations
from tests.support.suites import leave_out


@pytest.mark.timeout(300)
@pytest.mark.parametrize("topology", ["single", "workers", "cluster"])
async def test_what_was_acknowledged_is_kept_and_heard_once_and_in_order_over_real_faults(
    topology: str, tmp_path: Path
) -> None:
    if topology == "cluster":
        _require_services()
    made, verdict = await run(
        topology, tmp_path, seconds=3, seed=os.getpid(), durations=Durations(stopped=1.5, outage=1), max_pause=math.inf
    )
    assert verdict.problems == [], made.history.faults
    assert made.history.faults
    assert verdict.counts["messages done"] > 0


def _require_services() -> None:
    if postgres_programs() is None or (os.geteuid() == 0 and not shutil.which("setpriv")):
        leave_out("postgresql", "PostgreSQL's programs are not installed")
    if shutil.which("nats-server") is None:
        leave_out("nats", "there is no nats-server to start and stop")
