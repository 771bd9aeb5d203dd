"""The site of the documentation: complete, with nothing from elsewhere."""

import re
from pathlib import Path

import pytest

from moothall.objects import errors
from tools import build_docs
from tools.check_docs import pages
from tools.record_events import OF_GATEWAY


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A link that leads nowhere fails the build."""
    folder = tmp_path_factory.mktemp("documentation") / "site"
    build_docs.build(folder)
    return folder


def test_every_page_is_in_the_site(site: Path) -> None:
    for page in pages(build_docs.ROOT):
        if page.is_relative_to(build_docs.ROOT / "docs"):
            name = page.relative_to(build_docs.ROOT / "docs").with_suffix("")
            folder = name.parent if name.name in {"index", "README"} else name
            assert (site / folder / "index.html").is_file(), page


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    loaded = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*\b(?:src|href)=["']?(https?:)?//""")
    for page in site.rglob("*.html"):
        assert not loaded.search(page.read_text(encoding="utf-8")), page
    for style in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?https?:", style.read_text(encoding="utf-8")), style


def test_the_reference_has_every_event_error_and_command(site: Path) -> None:
    reference = {
        name: (site / "reference" / name / "index.html").read_text() for name in ("events", "errors", "commands")
    }

    assert all(f'id="{name.lower()}"' in reference["events"] for name in build_docs._recorded())
    assert all(f'id="{event.name.lower()}"' in reference["events"] for event in build_docs._events())
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, errors.ErrorKind)]
    assert all(f"<td>{kind.code}</td>" in reference["errors"] for kind in kinds)
    assert "moothall key rotate" in reference["commands"]


def test_every_event_has_an_example_from_a_test() -> None:
    examples = set(build_docs._recorded())
    names = {event.name for event in build_docs._events()} | build_docs.OF_GATEWAY.keys()
    assert build_docs.OF_GATEWAY.keys() == OF_GATEWAY

    assert examples - names == set(), "these events are gone: remove their examples"
    assert names - examples == set(), "run a test that emits them: pytest -p tools.record_events tests/..."


def test_search_finds_pages(site: Path) -> None:
    assert "advance" in (site / "search" / "search_index.json").read_text(encoding="utf-8")


def test_links_to_other_files_of_the_project_become_text() -> None:
    page = build_docs.ROOT / "docs" / "voice.md"
    text = build_docs._rewritten("[code](../src/moothall/__init__.py) [us](../CONTRIBUTING.md#x)", page, Path("a/b.md"))

    assert text == "code (`src/moothall/__init__.py`) [us](../project/contributing.md#x)"
