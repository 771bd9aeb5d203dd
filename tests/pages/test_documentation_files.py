"""The site of the documentation, as the server serves it."""

from pathlib import Path
from typing import Any

import pytest

from moothall.objects.csp import hash_source
from moothall.pages.documentation_files import DocumentationFiles


@pytest.fixture
def files(tmp_path: Path) -> DocumentationFiles:
    """A site with a few files, beside which lies one that is no part of it."""
    site = tmp_path / "site"
    (site / "voice").mkdir(parents=True)
    (site / "index.html").write_text("<script>start()</script><script src=a.js></script>")
    (site / "voice" / "index.html").write_text("Voice")
    (site / "a.js").write_text("1")
    (site / "notes.secret").write_text("no kind that is served")
    (tmp_path / "beside.html").write_text("beside")
    (site / "link.html").symlink_to(tmp_path / "beside.html")
    return DocumentationFiles(site)


async def ask(files: DocumentationFiles, path: str, method: str = "GET") -> tuple[int, dict[bytes, bytes], bytes]:
    """The status, headers and body of an answer."""
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    await files({"type": "http", "method": method, "path": path, "query_string": b"", "headers": []}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_folders_have_pages_and_files_their_types(files: DocumentationFiles) -> None:
    status, headers, _ = await ask(files, "/docs")
    assert (status, headers[b"location"]) == (308, b"/docs/")
    assert (await ask(files, "/docs/voice/"))[2] == b"Voice"
    _, headers, body = await ask(files, "/docs/a.js")
    assert (body, headers[b"content-type"]) == (b"1", b"text/javascript; charset=utf-8")
    assert (await ask(files, "/docs/voice/", "HEAD"))[2] == b""


async def test_a_page_may_run_the_scripts_that_are_written_in_it_and_nothing_of_others(
    files: DocumentationFiles,
) -> None:
    policy = (await ask(files, "/docs/"))[1][b"content-security-policy"].decode()

    assert hash_source("start()") in policy
    assert "default-src 'none'" in policy
    assert "http" not in policy


@pytest.mark.parametrize(
    "path",
    ["nope/", "voice", "notes.secret", "link.html", "../beside.html", "/etc/hosts", "a\0.js", "../site/../beside.html"],
)
async def test_nothing_but_files_of_the_site_is_there(files: DocumentationFiles, path: str) -> None:
    assert (await ask(files, f"/docs/{path}"))[0] == 404


async def test_it_is_only_read(files: DocumentationFiles) -> None:
    assert (await ask(files, "/docs/", "POST"))[0] == 405


async def test_without_a_site_everything_is_404(tmp_path: Path) -> None:
    assert (await ask(DocumentationFiles(tmp_path / "none"), "/docs/"))[0] == 404
