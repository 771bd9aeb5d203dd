"""What the check of words reports, and what it leaves alone."""

from pathlib import Path

import pytest

from tools.check_words import Words, check, main, name_parts, read_words

LIST = Words(
    {
        "parts": {"found": "errors", "most": "max"},
        "names": {"Known": "ResolvedIds"},
        "modules": {"orders": "hooks"},
        "prose": {"nobody": "no user", "nobody's": "no user's"},
        "exceptions": [
            {"name": "not_found", "reason": "status 404"},
            {"name": "found", "under": "tests/lost", "reason": "the office's own word"},
        ],
    }
)


def reported(root: Path, **files: str) -> list[str]:
    """Write files, named with `__` for a slash and without `.py`, and check the whole project."""
    for name, text in files.items():
        path = root / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return [str(finding) for finding in check(root, [root], LIST)]


@pytest.mark.parametrize(
    "line",
    [
        "found = 1",
        "found: int = 1",
        "found, rest = 1, 2",
        "box.found = 1",
        "def found(): ...",
        "async def found(): ...",
        "class Found: ...",
        "def read(found): ...",
        "def read(*, found=1): ...",
        "def read(*found): ...",
        "read = lambda found: 1",
        "for found in []: ...",
        "rows = [1 for found in []]",
        "with open('a') as found: ...",
        "import errors as found",
        "if (found := 1): ...",
        "try: ...\nexcept OSError as found: ...",
        "match box:\n    case [found]: ...",
        "match box:\n    case [*found]: ...",
        "match box:\n    case {**found}: ...",
        "match box:\n    case int() as found: ...",
    ],
)
def test_every_way_to_bind_a_name_is_seen(tmp_path: Path, line: str) -> None:
    reports = reported(tmp_path, src__app=line)

    assert len(reports) == 1
    assert reports[0].lower().endswith(": say errors")


def test_a_word_is_reported_as_a_whole_part_of_a_name_however_it_is_written(tmp_path: Path) -> None:
    reports = reported(
        tmp_path, src__app="_found_rows = 1\nMOST_FOUND = 2\nclass FoundRow: ...\nfoundation = 3\nalmost = 4\n"
    )

    assert reports == [
        "src/app.py:1: found in _found_rows: say errors",
        "src/app.py:2: found in MOST_FOUND: say errors",
        "src/app.py:2: most in MOST_FOUND: say max",
        "src/app.py:3: found in FoundRow: say errors",
    ]


def test_a_name_is_divided_at_underscores_and_capitals() -> None:
    assert name_parts("HTTPFoundRow") == name_parts("http_found_row") == name_parts("_HTTP_FOUND_ROW")
    assert name_parts("get2FoundRows") == ("get", "found", "rows")


def test_a_use_of_anothers_name_is_not_reported(tmp_path: Path) -> None:
    assert reported(tmp_path, src__app="from library import found\nlibrary.found(found=library.most)\n") == []


def test_a_whole_name_is_reported_as_it_is_written_only(tmp_path: Path) -> None:
    reports = reported(tmp_path, src__app="class Known: ...\nclass _Known: ...\nknown = 1\nclass KnownIds: ...\n")

    assert reports == ["src/app.py:1: Known: say ResolvedIds", "src/app.py:2: _Known: say ResolvedIds"]


def test_files_and_packages_are_names(tmp_path: Path) -> None:
    reports = reported(tmp_path, src__orders="", src__found__one="", src__found__two="")

    assert reports == ["src/found:1: found: say errors", "src/orders.py:1: orders: say hooks"]


def test_a_migration_keeps_the_name_that_databases_know_it_by(tmp_path: Path) -> None:
    (tmp_path / "versions").mkdir()
    (tmp_path / "versions" / "0001_found.py").write_text("")

    assert check(tmp_path, [tmp_path], LIST) == []


def test_an_exception_covers_its_own_parts_and_no_others(tmp_path: Path) -> None:
    reports = reported(tmp_path, src__app="not_found = NotFoundError = NOT_FOUND = 1\nfound_not_found = 2\n")

    assert reports == ["src/app.py:2: found in found_not_found: say errors"]


def test_an_exception_for_a_folder_covers_no_other(tmp_path: Path) -> None:
    reports = reported(tmp_path, tests__lost__office="found = 1\n", tests__office="found = 1\n")

    assert reports == ["tests/office.py:1: found: say errors"]


def test_an_exception_without_a_reason_is_an_error() -> None:
    table = {"parts": {}, "names": {}, "modules": {}, "prose": {}, "exceptions": [{"name": "not_found", "reason": ""}]}

    with pytest.raises(ValueError, match="not_found has no reason"):
        Words(table)


def test_docstrings_and_comments_are_prose(tmp_path: Path) -> None:
    source = '"""First.\n\nNobody\'s line."""\nvalue = 1  # for nobody\n"""Nobody reads attributes."""\n'

    assert reported(tmp_path, tests__app=source) == [
        "tests/app.py:3: nobody's: say no user's",
        "tests/app.py:4: nobody: say no user",
        "tests/app.py:5: nobody: say no user",
    ]


def test_sentences_in_strings_are_prose_in_the_program_but_data_in_tests(tmp_path: Path) -> None:
    source = 'log("nobody is here")\nlog(f"{1} nobody")\nlog("nobody")\n'

    assert reported(tmp_path, src__app=source, tests__app=source) == [
        "src/app.py:1: nobody: say no user",
        "src/app.py:2: nobody: say no user",
    ]


def test_a_word_of_names_is_good_english_in_prose(tmp_path: Path) -> None:
    assert reported(tmp_path, src__app='"""Errors found in most rows."""  # found\n') == []


def test_the_name_of_a_test_is_a_sentence(tmp_path: Path) -> None:
    source = "def test_a_row_is_found_by_nobody(): ...\n"

    assert reported(tmp_path, tests__test_app=source, src__app=source) == [
        "src/app.py:1: found in test_a_row_is_found_by_nobody: say errors",
        "tests/test_app.py:1: nobody in test_a_row_is_found_by_nobody: say no user",
    ]


def test_pages_are_prose_except_for_the_code_they_quote(tmp_path: Path) -> None:
    (tmp_path / "docs.md").write_text("# Nobody\n\nRun as `nobody`.\n\n```sh\nsu nobody\n```\n\nThen nobody.\n")
    (tmp_path / "page.html").write_text("<style>.nobody {}</style>\n<!-- nobody -->\n<p>Nobody</p>\n")

    assert reported(tmp_path) == [
        "docs.md:1: nobody: say no user",
        "docs.md:9: nobody: say no user",
        "page.html:3: nobody: say no user",
    ]


def test_findings_are_printed_with_exit_code_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported(tmp_path, src__app="found = 1\n")

    assert main(tmp_path, [], LIST) == 1
    assert capsys.readouterr().out == "src/app.py:1: found: say errors\n"


def test_a_clean_tree_prints_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported(tmp_path, src__app="row = 1\n")

    assert main(tmp_path, [], LIST) == 0
    assert capsys.readouterr().out == ""


def test_findings_are_counted_by_folder_and_by_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reported(tmp_path, src__app="found = 1\nfound = most = 2\n", tests__app="most = 1\n")

    assert main(tmp_path, ["--count"], LIST) == 1
    assert capsys.readouterr().out.split() == [
        *("folder:", "3", "src", "1", "tests", "word:", "2", "found", "2", "most", "4", "in", "all")
    ]


def test_the_check_can_be_limited_to_folders_and_refuses_unknown_ones(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reported(tmp_path, src__app="found = 1\n", tests__app="found = 1\n")

    assert main(tmp_path, ["tests"], LIST) == 1
    assert capsys.readouterr().out == "tests/app.py:1: found: say errors\n"
    assert main(tmp_path, ["nowhere"], LIST) == 2


def test_the_projects_own_list_can_be_read_and_covers_the_glossary() -> None:
    words = read_words(Path(__file__).parents[2] / "tools" / "words.toml")

    assert {"found", "given", "asked", "wanted", "told", "held", "gone", "most"} <= set(words.parts)
    assert list(words.in_name("not_found", "src/app.py")) == []
    assert [word for word, _ in words.in_name("Told", "src/app.py")] == ["told"]
    assert {"somebody", "nobody", "whoever"} <= set(words.prose)


def test_installed_packages_are_not_checked(tmp_path: Path) -> None:
    for folder in ("site", "node_modules", "src"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.py").write_text("found = 1\n")
    assert {finding.path for finding in check(tmp_path, [tmp_path], LIST)} == {"src/a.py"}
