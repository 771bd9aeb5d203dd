"""Suites that need a program beside Python: left out where it is missing, unless the environment requires them."""

import os
from typing import Final, NoReturn

import pytest

REQUIRED: Final = frozenset(os.environ.get("MOOTHALL_TEST_REQUIRE", "").split(","))
"""Suites whose tests fail instead of being left out: `postgresql`, `nats`, `chromium`, `clients`, `web-client`.

CI names all.
"""


def leave_out(suite: str, reason: str) -> NoReturn:
    """Skip the running test for what is missing on this machine; fail it if its suite is required."""
    if suite in REQUIRED:
        pytest.fail(f"{suite} is required here: {reason}")
    pytest.skip(reason)
