"""Images and videos of other servers: only signed URLs, only what is one, and only from public addresses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image

from moothall.api.address_limits import AddressLimits
from moothall.api.file_links import FileLinks
from moothall.cdn import external
from moothall.cdn.external import ExternalMedia
from moothall.runtime.outgoing import Outgoing
from moothall.storage.disk_cache import DiskCache
from tests.resources.link_preview.sites import Site, picture, running_site

BASE = "https://moot.example"
LINKS = FileLinks([b"k" * 32], BASE)
Get = Callable[..., Awaitable["Answer"]]


class Answer:
    """A response over ASGI."""

    def __init__(self, sent: list[Any]) -> None:
        self.status = sent[0]["status"]
        self.headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        self.body = b"".join(message["body"] for message in sent[1:])


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with running_site() as running:
        yield running


@asynccontextmanager
async def proxy(
    folder: Path, *, allow_private: bool = True, cache_bytes: int = 1 << 20, links: FileLinks = LINKS
) -> AsyncIterator[Get]:
    media = ExternalMedia(
        links, Outgoing(allow_private=allow_private), DiskCache(folder, cache_bytes), AddressLimits(None)
    )

    async def get(path: str, query: str = "", method: str = "GET", **headers: str) -> Answer:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        async def receive() -> Any:
            await asyncio.Event().wait()

        scope = {
            "type": "http", "method": method, "path": path.removeprefix(BASE), "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("203.0.113.9", 1),
        }  # fmt: skip
        await media(scope, receive, send)
        return Answer(sent)

    yield get
    await media.close()


@pytest.fixture
async def get(tmp_path: Path) -> AsyncIterator[Get]:
    async with proxy(tmp_path) as running:
        yield running


def proxied(url: str, *, video: bool = False, links: FileLinks = LINKS) -> str:
    """The proxied URL of a URL, as responses have it."""
    stored = links.proxy(url, video=video)
    return links.sign(b'"url":"%b"' % (stored or "").encode()).decode().removeprefix('"url":"').removesuffix('"')


@pytest.mark.parametrize(("kind", "content_type"), [("PNG", "png"), ("JPEG", "jpeg"), ("GIF", "gif"), ("WEBP", "webp")])
async def test_an_image_is_passed_on_with_its_real_type(get: Get, site: Site, kind: str, content_type: str) -> None:
    data = picture(kind)
    answer = await get(proxied(site.page("/p", data, content_type="text/html")))
    assert (answer.status, answer.body) == (200, data)
    assert answer.headers["content-type"] == f"image/{content_type}"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    (headers,) = site.headers
    assert not {"cookie", "referer", "x-forwarded-for", "authorization"} & set(headers)


async def test_an_image_is_requested_once(get: Get, site: Site) -> None:
    url = proxied(site.page("/p", picture()))
    answers = await asyncio.gather(*(get(url) for _ in range(5)))
    assert {answer.status for answer in (*answers, await get(url))} == {200}
    assert site.requested == ["/p"]
    assert (await get(url, method="HEAD")).body == b""


async def test_an_image_is_scaled_as_the_query_says(get: Get, site: Site) -> None:
    url = proxied(site.page("/p", picture(width=600, height=400)))
    answer = await get(url, "width=300&height=300&format=webp")
    with Image.open(BytesIO(answer.body)) as image:
        assert (image.format, image.size, answer.headers["content-type"]) == ("WEBP", (300, 200), "image/webp")
    assert site.requested == ["/p"]


@pytest.mark.parametrize(
    "body",
    [
        b"<script>alert(1)</script>", b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>", b"",
        b"GIF89a<script>", b"%PDF-1.7", b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
    ],
)  # fmt: skip
async def test_what_is_no_image_is_not_passed_on(get: Get, site: Site, body: bytes) -> None:
    answer = await get(proxied(site.page("/p", body, content_type="image/png")))
    assert (answer.status, answer.headers["content-type"]) == (404, "text/plain; charset=utf-8")
    # Nor is it requested again at once.
    assert (await get(proxied(site.url + "/p"))).status == 404
    assert site.requested == ["/p"]


@pytest.mark.parametrize(
    "path", ["", "x", "{mac}/image/aHR0cDovL3guZXhhbXBsZS8", "{mac}/video/{url}", "{url}/image/{url}"]
)
async def test_only_urls_that_this_server_signed_are_requested(get: Get, site: Site, path: str) -> None:
    signed = proxied(site.page("/p", picture()))
    _, _, _, _, mac, _, url = signed.split("/")
    assert (await get("/external/" + path.format(mac=mac, url=url))).status == 404
    flipped = mac[:-2] + ("A" if mac[-2] != "A" else "B") + mac[-1]
    assert (await get(signed.replace(mac, flipped))).status == 404
    assert site.requested == []


async def test_urls_signed_with_a_retired_key_stay_valid(tmp_path: Path, site: Site) -> None:
    url = proxied(site.page("/p", picture()))
    async with proxy(tmp_path, links=FileLinks([b"n" * 32, b"k" * 32], BASE)) as get:
        assert (await get(url)).status == 200
    async with proxy(tmp_path, links=FileLinks([b"n" * 32], BASE)) as get:
        assert (await get(url)).status == 404
    async with proxy(tmp_path, links=FileLinks([b"k" * 32], BASE, proxies=False)) as get:
        assert (await get(url)).status == 404


async def test_private_addresses_are_refused_also_by_redirect(tmp_path: Path, site: Site) -> None:
    async with proxy(tmp_path, allow_private=False) as get:
        for url in (site.page("/p", picture()), "http://localhost/p", "http://169.254.169.254/", "http://[::1]/"):
            assert (await get(proxied(url))).status == 404
    assert site.requested == []


async def test_redirects_are_followed(get: Get, site: Site) -> None:
    site.page("/p", picture())
    assert (await get(proxied(site.redirect("/r", "/p")))).status == 200
    assert (await get(proxied(site.redirect("/bad", "file:///etc/passwd")))).status == 404


async def test_an_image_that_is_too_large_is_refused(get: Get, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_IMAGE_BYTES_MAX", 50)
    assert (await get(proxied(site.page("/p", picture())))).status == 404


async def test_the_cache_is_bounded(tmp_path: Path, site: Site) -> None:
    async with proxy(tmp_path, cache_bytes=3 * 4096) as get:
        for number in range(6):
            assert (await get(proxied(site.page(f"/{number}", picture())))).status == 200
    assert len(list(tmp_path.iterdir())) == 3


def video(request: web.Request) -> web.Response:
    """Ten bytes, or the range of them that is requested."""
    data = b"0123456789"
    requested = request.headers.get("range")
    if requested is None:
        return web.Response(body=data, headers={"content-type": "video/mp4", "accept-ranges": "bytes"})
    first, last = (int(text) for text in requested.removeprefix("bytes=").split("-"))
    headers = {"content-type": "video/mp4", "content-range": f"bytes {first}-{last}/{len(data)}"}
    return web.Response(status=206, body=data[first : last + 1], headers=headers)


async def test_a_video_is_passed_on_whole_or_in_ranges(get: Get, site: Site) -> None:
    url = proxied(site.serve("/v", video), video=True)
    answer = await get(url)
    assert (answer.status, answer.body, answer.headers["content-type"]) == (200, b"0123456789", "video/mp4")
    answer = await get(url, range="bytes=2-4")
    assert (answer.status, answer.body, answer.headers["content-range"]) == (206, b"234", "bytes 2-4/10")
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert (await get(url, range="lines=1")).status == 200


@pytest.mark.parametrize("content_type", ["text/html", "image/svg+xml", "application/octet-stream", "video/x-flv"])
async def test_what_is_no_video_is_not_passed_on(get: Get, site: Site, content_type: str) -> None:
    answer = await get(proxied(site.page("/v", b"x", content_type=content_type), video=True))
    assert (answer.status, answer.body) == (404, b"This image cannot be shown.")


async def test_a_video_that_is_too_large_is_refused(get: Get, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external, "_VIDEO_BYTES_MAX", 9)
    assert (await get(proxied(site.serve("/v", video), video=True))).status == 404


async def test_other_methods_are_refused(get: Get, site: Site) -> None:
    assert (await get(proxied(site.page("/p", picture())), method="POST")).status == 405
