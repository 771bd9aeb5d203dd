"""The files of the client's build, as browsers request them."""

import re
from pathlib import Path
from typing import Any

import pytest

from moothall.pages.client_files import INSERTED_STYLES, ClientFiles, content_security_policy


@pytest.fixture
def files(tmp_path: Path) -> ClientFiles:
    """A build of a page and two scripts."""
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text("<title>Page</title>")
    (tmp_path / "assets" / "index-1.js").write_text("1")
    (tmp_path / "service-worker.js").write_text("2")
    return ClientFiles(tmp_path, public_url="http://moot.example")


async def ask(
    files: ClientFiles, path: str, request_headers: tuple[tuple[bytes, bytes], ...] = ()
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": [*request_headers]}
    await files(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_the_service_worker_may_serve_links_to_channels_and_is_asked_for_each_time(files: ClientFiles) -> None:
    status, headers, body = await ask(files, "/app/service-worker.js")
    assert (status, body) == (200, b"2")
    assert (headers[b"service-worker-allowed"], headers[b"cache-control"]) == (b"/", b"no-cache")
    assert headers[b"content-security-policy"].startswith(b"default-src 'none'; script-src 'self';")


def test_no_inline_script_or_style_is_allowed_but_styles_by_their_hash() -> None:
    policy = content_security_policy("http://moot.example")
    assert "unsafe-" not in policy
    directives = dict(directive.split(" ", 1) for directive in policy.split("; "))
    assert directives["script-src"] == "'self'"
    self_source, *hashes = directives["style-src"].split()
    assert self_source == "'self'"
    assert len(hashes) == len(INSERTED_STYLES)
    assert all(re.fullmatch(r"'sha256-[\w+/]{43}='", source) for source in hashes)


async def test_no_other_script_may_serve_more_than_its_folder(files: ClientFiles) -> None:
    status, headers, _ = await ask(files, "/app/assets/index-1.js")
    assert (status, headers[b"cache-control"]) == (200, b"public, max-age=31536000, immutable")
    assert b"service-worker-allowed" not in headers


@pytest.mark.parametrize("path", ["/app/", "/app/settings", "/channels/1/2"])
async def test_every_screen_is_the_page(files: ClientFiles, path: str) -> None:
    assert (await ask(files, path))[2] == b"<title>Page</title>"


async def test_a_script_of_an_older_build_is_404(files: ClientFiles) -> None:
    assert (await ask(files, "/app/assets/index-0.js"))[0] == 404


async def test_without_a_build_the_page_says_so_and_tries_again(tmp_path: Path) -> None:
    status, _, body = await ask(ClientFiles(tmp_path / "none", public_url="http://moot.example"), "/app/")
    assert status == 503
    assert b'http-equiv="refresh"' in body


async def test_the_page_links_the_style_sheet_of_the_operator_after_its_own(tmp_path: Path) -> None:
    (tmp_path / "index.html").write_text("<head><link href=a.css></head>")
    (tmp_path / "index.html.gz").write_bytes(b"without it")
    plain = ClientFiles(tmp_path, public_url="http://moot.example")
    themed = ClientFiles(tmp_path, public_url="http://moot.example", themed=True)
    assert b"theme.css" not in (await ask(plain, "/app/"))[2]
    expected = b'<head><link href=a.css><link rel="stylesheet" href="/theme.css"></head>'
    assert (await ask(themed, "/app/", ((b"accept-encoding", b"gzip"),)))[2] == expected


async def test_fonts_come_from_this_server_and_are_kept(tmp_path: Path) -> None:
    (tmp_path / "fonts").mkdir()
    (tmp_path / "index.html").write_text("")
    (tmp_path / "fonts" / "onest-latin.woff2").write_bytes(b"font")
    client = ClientFiles(tmp_path, public_url="http://moot.example")
    status, headers, body = await ask(client, "/app/fonts/onest-latin.woff2")
    assert (status, body, headers[b"content-type"]) == (200, b"font", b"font/woff2")
    assert headers[b"cache-control"] == b"public, max-age=604800"
    assert b"font-src 'self'" in headers[b"content-security-policy"]
    assert (await ask(client, "/app/fonts/onest-greek.woff2"))[0] == 404
