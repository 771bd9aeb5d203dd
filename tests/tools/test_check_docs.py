"""What the documentation check finds."""

import re
import subprocess
from pathlib import Path

import msgspec
import pytest

from moothall.api.endpoint import REGISTRY, endpoints
from moothall.resources import load_endpoints
from moothall.settings import TABLE
from tests.conformance.public_schema import SPEC
from tests.conformance.spec_rows import SPEC_ROWS
from tools.check_docs import (
    anchors,
    check,
    endpoints_list,
    main,
    public_operations,
    public_tables,
    recorded_libraries,
    settings_table,
    spec_table,
    unnamed,
)
from tools.differences import DIFFERS, NOT_SERVED


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


def test_a_file_that_is_not_there_is_found(root: Path) -> None:
    (root / "src" / "room").mkdir(parents=True)
    (root / "src" / "room" / "events.py").touch()
    (root / "README.md").write_text(
        "`events.py` `room/events.py` `src/room/events.py` `bot.py` `room/jobs.py` `vents.py`"
    )

    assert check(root) == ["README.md: room/jobs.py: no such file", "README.md: vents.py: no such file"]


def test_a_commit_that_is_not_there_is_found(root: Path) -> None:
    (root / "README.md").write_text("`0a1b2c3` `1234567` `defaced`\n")
    assert check(root) == []
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
    assert check(root) == ["README.md: 0a1b2c3: no such commit"]


@pytest.mark.parametrize(
    ("first", "problems"),
    [
        ("Status: accepted. Date: 2026-01-31.\n", []),
        ("Status: accepted, overturned in part. Date: 2026-01-31. See 2.\n", []),
        ("Status: accepted, overturned in part. Date: 2026-01-31.\n", ["it does not say what overturns it"]),
        ("Status: overturned. Date: 2026-01-31.\n", ["it does not say what overturns it"]),
        ("Status: accepted.\n", ["it begins with no status and date"]),
        ("## Context\n", ["it begins with no status and date"]),
    ],
)
def test_a_decision_says_its_status_its_date_and_what_overturns_it(root: Path, first: str, problems: list[str]) -> None:
    (root / "docs" / "decisions").mkdir()
    (root / "docs" / "decisions" / "0001-a.md").write_text(f"# A\n\n{first}\n## Context\n")
    assert check(root) == [f"docs/decisions/0001-a.md: {problem}" for problem in problems]


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
    for key, difference in DIFFERS.items():
        assert any(line.startswith(f"| `{key}` |") and difference in line for line in lines)
    page = Path(__file__).parents[2] / "docs" / "compatibility.md"
    assert spec_table() in page.read_text(encoding="utf-8")


@pytest.mark.skipif(not SPEC.exists(), reason="the public description is not beside this clone")
def test_the_list_of_public_operations_is_the_descriptions() -> None:
    paths = msgspec.json.decode(SPEC.read_bytes())["paths"]
    methods = {"get", "put", "post", "patch", "delete"}
    described = {(method.upper(), path) for path, item in paths.items() for method in item if method in methods}
    assert set(public_operations()) == described


def test_every_public_operation_is_listed_once_with_what_the_registry_says_of_it() -> None:
    load_endpoints()
    served = {(method, unnamed(path)) for method, path in REGISTRY}
    rows = [line.split(" | ") for line in public_tables().splitlines() if line.startswith("| `")]
    listed = {tuple(row[0].strip("| `").split()): row for row in rows}
    assert list(listed) == public_operations()
    assert len(listed) == len(rows)
    for (method, path), row in listed.items():
        assert row[1] == ("yes" if (method, unnamed(path)) in served else "no"), row
        assert row[1] == "yes" or len(row[3]) > len(" |"), row


def test_what_is_left_out_for_good_says_why() -> None:
    tables = public_tables()
    for reason in NOT_SERVED.values():
        assert f"| no |  | {reason} |" in tables


def test_the_table_follows_the_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(REGISTRY, ("GET", "/gateway"))
    monkeypatch.setitem(REGISTRY, ("POST", "/lobbies"), REGISTRY["GET", "/gateway/bot"])
    assert re.search(r"\| `GET /gateway` \| no \| [^|]* \| Not yet\. \|", public_tables())
    assert "| `POST /lobbies` | yes |  |  |" in public_tables()


def test_a_public_operation_names_the_libraries_that_were_recorded_with_it() -> None:
    versions, libraries = recorded_libraries()

    assert len(versions) >= 12
    assert len(libraries) > 150
    assert set(libraries["POST", "/channels/{}/messages"]) <= set(versions)
    assert "hikari" in libraries["POST", "/channels/{}/messages"]
    assert ("POST", "/lobbies") not in libraries
