"""Bots that several tests write into their projects."""

from pathlib import Path

import pytest


@pytest.fixture
def failing_bot() -> str:
    """The text of a bot that fails, and does what it does late."""
    return Path(__file__).with_name("failing_bot.py").read_text(encoding="utf-8")
