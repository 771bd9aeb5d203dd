"""The public documents: landing page, reference, OpenAPI document."""

from io import BytesIO
from typing import Any

import msgspec
import pytest
from PIL import Image

from moothall.api.endpoint import endpoints
from moothall.pages.documents import Documents
from moothall.resources import load_endpoints


@pytest.fixture(scope="module")
def documents() -> Documents:
    load_endpoints()
    return Documents(endpoints(), public_url="http://moot.example", gateway_url="ws://moot.example/gateway")


async def ask(
    documents: Documents, path: str, method: str = "GET", headers: tuple[tuple[bytes, bytes], ...] = ()
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    await documents({"type": "http", "method": method, "path": path, "headers": [*headers]}, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


async def test_the_landing_page_links_the_reference_and_the_document(documents: Documents) -> None:
    status, headers, body = await ask(documents, "/")
    assert (status, headers[b"content-type"]) == (200, b"text/html; charset=utf-8")
    for link in (b'href="/reference" hreflang="en"', b"/api/v10/openapi.json", b"http://moot.example"):
        assert link in body


async def test_the_landing_page_is_in_the_language_of_the_browser(documents: Documents) -> None:
    for accepted, words in ((b"de", "Willkommen"), (b"fr", "Welcome"), (b"de-AT", "Willkommen")):
        _, headers, body = await ask(documents, "/", headers=((b"accept-language", accepted),))
        assert b'href="/reference" hreflang="en"' in body  # it is in English for all
        assert headers[b"vary"] == b"accept-language"
        assert f"<title>{words} ·" in body.decode()


@pytest.mark.parametrize("name", ["icon.svg", "icon-192.png", "icon-512.png", "icon-maskable-512.png"])
async def test_the_icons_are_served_without_a_build_of_the_client(documents: Documents, name: str) -> None:
    status, headers, body = await ask(documents, f"/{name}")
    assert (status, headers[b"cache-control"]) == (200, b"public, max-age=86400")
    if name.endswith(".png"):
        picture = Image.open(BytesIO(body))
        assert picture.size == (int(name.removesuffix(".png").rpartition("-")[2]),) * 2
    else:
        assert body.startswith(b"<svg")


async def test_the_reference_shows_every_endpoint_without_external_resources(documents: Documents) -> None:
    status, _, body = await ask(documents, "/reference")
    assert status == 200
    for row in endpoints():
        assert f'id="{row.name}"'.encode() in body
    assert b"<script" not in body
    assert body.count(b"src=") == body.count(b'src="/icon.svg"') == 1
    assert b'href="http' not in body


@pytest.mark.parametrize("path", ["/api/v10/openapi.json", "/api/v9/openapi.json", "/api/openapi.json"])
async def test_the_document_is_public_json(documents: Documents, path: str) -> None:
    status, headers, body = await ask(documents, path)
    assert (status, headers[b"access-control-allow-origin"]) == (200, b"*")
    assert msgspec.json.decode(body)["openapi"].startswith("3.1")


@pytest.mark.parametrize("path", ["/nowhere", "/..", "/style.css/..", "/reference/x", "/etc/passwd"])
async def test_an_unknown_path_is_404_in_the_format_of_the_api(documents: Documents, path: str) -> None:
    status, _, body = await ask(documents, path)
    assert (status, msgspec.json.decode(body)) == (404, {"message": "404: Not Found", "code": 0})


async def test_pages_are_read_only_and_allow_no_scripts(documents: Documents) -> None:
    status, headers, _ = await ask(documents, "/", "POST")
    assert (status, headers[b"allow"]) == (405, b"GET, HEAD")
    status, headers, body = await ask(documents, "/style.css", "HEAD")
    assert (status, body) == (200, b"")
    assert headers[b"content-security-policy"].startswith(b"default-src 'none'")


async def test_the_style_sheet_of_the_operator_comes_last() -> None:
    themed = Documents(
        [], public_url="http://moot.example", gateway_url="ws://moot.example", theme=b":root{--brand:red}"
    )
    status, headers, body = await ask(themed, "/theme.css")
    assert (status, headers[b"content-type"], body) == (200, b"text/css; charset=utf-8", b":root{--brand:red}")
    assert (await ask(themed, "/style.css"))[2].endswith(body)
