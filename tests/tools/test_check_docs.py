"""What the documentation check finds."""

from pathlib import Path

import pytest

from moothall.kernel.endpoint import endpoints
from moothall.resources import load_endpoints
from moothall.settings import TABLE
from tests.conformance.spec_rows import SPEC_ROWS
from tools.check_docs import anchors, check, endpoints_list, main, settings_table, spec_table
from tools.differences import DIFFERS


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project with a Makefile and an empty docs folder."""
    (tmp_path / "Makefile").write_text(".PHONY: run\nrun: ## Serve\n\techo\n")
    (tmp_path / "docs").mkdir()
    return tmp_path


def test_a_link_to_a_file_or_heading_that_is_not_there_is_found(root: Path) -> None:
    (root / "docs" / "operations.md").write_text("# Backup and `restore`\n\n## Backup\n\n## Backup\n")
    (root / "README.md").write_text(
        "[a](docs/operations.md) [b](docs/operations.md#backup-and-restore) [c](docs/operations.md#backup-1)\n"
        "[d](https://example.org/none) [e](docs/none.md) [f](docs/operations.md#none) `[g](none.md)`\n"
    )

    assert check(root) == [
        "README.md: docs/none.md: no such file",
        "README.md: docs/operations.md#none: no such heading",
    ]


def test_a_command_flag_or_target_that_is_not_there_is_found(root: Path) -> None:
    (root / "README.md").write_text(
        "Type `make run` or `make sing`.\n\n```sh\nmoothall serve --port 80 --no-rate-limits\n"
        ".venv/bin/moothall serve --tune\n.venv/bin/moothall dance\n```\nWe make money; moothall is prose here.\n"
    )

    assert check(root) == [
        "README.md: moothall serve --tune: no such flag",
        "README.md: moothall dance: no such command",
        "README.md: make sing: no such target",
    ]


def test_the_settings_of_a_page_are_written_once_and_then_checked(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = root / "docs" / "operations.md"
    page.write_text("before\n<!-- settings -->\nold\n<!-- /settings -->\nafter\n")

    assert main(root, []) == 1
    assert "run: make docs" in capsys.readouterr().out
    assert main(root, ["--write"]) == 0
    assert page.read_text() == f"before\n<!-- settings -->\n{settings_table()}<!-- /settings -->\nafter\n"
    assert main(root, []) == 0


def test_the_table_has_a_row_for_every_setting() -> None:
    rows = settings_table().splitlines()[2:]

    assert [row.split("`")[1] for row in rows] == list(TABLE)


def test_a_heading_inside_a_code_block_is_no_anchor() -> None:
    assert anchors("# One\n```sh\n# two\n```\n") == {"one"}


def test_every_row_of_the_api_stands_in_the_list_of_endpoints() -> None:
    listed = endpoints_list()

    load_endpoints()
    for row in endpoints():
        if row.handler.__module__.startswith("moothall."):
            assert f"| `{row.method} {row.path}` |" in listed


def test_the_documentation_tells_of_what_is_there() -> None:
    assert check(Path(__file__).parents[2]) == []


def test_the_table_of_the_spec_has_each_of_its_rows_and_every_known_difference() -> None:
    lines = spec_table().splitlines()[2:]
    assert [line.split("`")[1] for line in lines] == list(SPEC_ROWS)
    for key, told in DIFFERS.items():
        assert any(line.startswith(f"| `{key}` |") and told in line for line in lines)
    page = Path(__file__).parents[2] / "docs" / "compatibility.md"
    assert spec_table() in page.read_text(encoding="utf-8")
