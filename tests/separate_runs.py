"""Runs of pytest that tests start in a process of their own."""

from typing import Final

PLUGINS: Final = (
    "-p", "moothall.testing.plugin", "-p", "no:cacheprovider", "-p", "no:schemathesis", "-p", "no:hypothesispytest",
)  # fmt: skip
"""The options for the plugin under test, without those of other tools, whose import takes two seconds each time."""
