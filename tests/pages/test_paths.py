"""Which application serves a path."""

from pathlib import Path
from typing import Any

import pytest

from moothall.pages.paths import opens_client

DOCUMENT = (b"sec-fetch-dest", b"document")


def scope(path: str, *headers: tuple[bytes, bytes], method: str = "GET", query: bytes = b"") -> dict[str, Any]:
    """The scope of a request."""
    return {"method": method, "path": path, "query_string": query, "headers": list(headers)}


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A folder with a build of the client."""
    (tmp_path / "index.html").write_text("<!doctype html>")
    return tmp_path


@pytest.mark.parametrize("path", ["/invite/abc", "/template/abc"])
def test_browsers_open_links_to_join_in_the_client(build: Path, path: str) -> None:
    assert opens_client(scope(path, DOCUMENT), build)
    assert opens_client(scope(path, DOCUMENT, method="HEAD"), build)


def test_programs_that_preview_links_get_the_page_without_scripts(build: Path) -> None:
    assert not opens_client(scope("/invite/abc"), build)
    assert not opens_client(scope("/invite/abc", (b"sec-fetch-dest", b"iframe")), build)


def test_the_page_without_scripts_stays_open_to_browsers(build: Path, tmp_path: Path) -> None:
    assert not opens_client(scope("/invite/abc", DOCUMENT, query=b"scripts=no"), build)
    assert not opens_client(scope("/invite/abc", DOCUMENT, method="POST"), build)
    assert not opens_client(scope("/login", DOCUMENT), build)
    assert not opens_client(scope("/invite/abc", DOCUMENT), tmp_path / "nothing")
