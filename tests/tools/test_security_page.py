"""docs/security.md names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "security.md").read_text()


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`([a-z0-9_/]*test_[a-z0-9_]+\.py)`", PAGE))
    assert len(named) > 30
    paths = {path.removeprefix("tests/") for path in named}
    assert sorted(path for path in paths if not (ROOT / "tests" / path).is_file()) == []


def test_every_requirement_has_an_answer() -> None:
    rows = [line.split(" | ", 1) for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(rows) > 60
    assert [row for row in rows if len(row) != 2 or len(row[1].strip(" |")) < 5] == []
