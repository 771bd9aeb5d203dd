"""Attachments over HTTP: signatures, ranges, renditions and headers."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from msgspec import structs
from PIL import Image

from moothall.api.address_limits import AddressLimits
from moothall.api.staged import upload_key
from moothall.cdn.rendition_cache import RenditionCache
from moothall.objects.ids import Snowflake
from moothall.storage.disk_cache import DiskCache
from tests.resources.message.attachment.uploading import SOUND, guild_of, picture, send
from tests.support.fetched_files import Got, get
from tests.support.harness import Platform

HTML = b"<html><script>alert(1)</script>"


@pytest.fixture(autouse=True)
def scaled(platform: Platform, tmp_path: Path) -> Iterator[RenditionCache]:
    """The rendition cache of a platform."""
    cache = DiskCache(tmp_path / "scaled", 1 << 26)
    pictures = RenditionCache(platform.services.blobs, cache, AddressLimits(None))
    platform.services.resources.add(pictures)
    yield pictures
    pictures.close()


async def url_of(platform: Platform, filename: str, data: bytes) -> str:
    """The URL of a file in a new message."""
    owner, _, url = await guild_of(platform)
    (attachment,) = (await send(owner, url, (filename, data)))["attachments"]
    file_url: str = attachment["url"]
    return file_url


async def test_a_file_is_served_whole_with_its_tag(platform: Platform) -> None:
    data = bytes(range(256)) * 8192
    url = await url_of(platform, "a.bin", data)
    got = await get(platform, url)
    assert (got.status, got.body) == (200, data)
    assert got.headers["content-length"] == str(len(data))
    assert got.headers["accept-ranges"] == "bytes"
    assert got.headers["cache-control"].startswith("private")
    assert got.portions > 2
    head = await get(platform, url, "HEAD")
    assert (head.status, head.body, head.headers["content-length"]) == (200, b"", str(len(data)))
    known = await get(platform, url, if_none_match=got.headers["etag"])
    assert (known.status, known.body) == (304, b"")
    assert (await get(platform, url, "POST")).status == 405


@pytest.mark.parametrize(
    ("byte_range", "start", "end"),
    [
        ("bytes=0-0", 0, 1),
        ("bytes=2-5", 2, 6),
        ("bytes=7-", 7, 10),
        ("bytes=-3", 7, 10),
        ("bytes=-30", 0, 10),
        ("bytes=5-99", 5, 10),
        ("bytes=1-2, 5-6", 1, 3),
    ],
)
async def test_ranges_are_served(platform: Platform, byte_range: str, start: int, end: int) -> None:
    url = await url_of(platform, "a.bin", b"0123456789")
    got = await get(platform, url, range=byte_range)
    assert (got.status, got.body) == (206, b"0123456789"[start:end])
    assert got.headers["content-range"] == f"bytes {start}-{end - 1}/10"
    assert got.headers["content-length"] == str(end - start)
    other = await get(platform, url, range=byte_range, if_range='"other"')
    assert (other.status, other.body) == (200, b"0123456789")


@pytest.mark.parametrize(
    ("byte_range", "status"), [("bytes=10-", 416), ("bytes=5-2", 416), ("bytes=-0", 416), ("lines=1", 200)]
)
async def test_unsatisfiable_and_malformed_ranges(platform: Platform, byte_range: str, status: int) -> None:
    url = await url_of(platform, "a.bin", b"0123456789")
    got = await get(platform, url, range=byte_range)
    assert got.status == status
    if status == 416:
        assert got.headers["content-range"] == "bytes */10"


async def test_an_empty_file_is_served(platform: Platform) -> None:
    got = await get(platform, await url_of(platform, "a.txt", b""))
    assert (got.status, got.body, got.headers["content-length"]) == (200, b"", "0")


async def test_a_url_without_a_valid_signature_or_a_message_is_404(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    message = await send(owner, url, ("a.txt", b"a"))
    (attachment,) = message["attachments"]
    whole = attachment["url"]
    not_found = (404, b"This content is no longer available.")
    for wrong in (whole.partition("?")[0], whole.replace("hm=", "hm=0"), whole.replace("a.txt", "b.txt")):
        got = await get(platform, wrong)
        assert (got.status, got.body) == not_found
    assert (await get(platform, "/attachments/nothing")).status == 404
    assert (await get(platform, whole)).status == 200
    await owner.delete(f"{url}/{message['id']}")
    assert (await get(platform, whole)).status == 404


async def test_a_file_is_served_at_its_own_channel_id_and_name_and_at_no_other_that_is_signed(
    platform: Platform,
) -> None:
    links = platform.services.links
    path = links.find(await url_of(platform, "a.txt", b"a"))
    assert path is not None
    assert (await get(platform, links.url(path))).body == b"a"
    elsewhere = await url_of(platform, "b.txt", b"b")
    other = links.find(elsewhere)
    assert other is not None
    for wrong in (
        structs.replace(path, channel_id=other.channel_id),
        structs.replace(path, filename="b.txt"),
        structs.replace(path, id=other.id),
        structs.replace(other, filename="a.txt"),
    ):
        got = await get(platform, links.url(wrong))
        assert (got.status, got.body) == (404, b"This content is no longer available.")


async def test_a_file_missing_in_the_store_is_404(platform: Platform) -> None:
    url = await url_of(platform, "a.txt", b"a")
    await platform.services.blobs.delete(upload_key(Snowflake(int(url.split("/")[5]))))
    assert (await get(platform, url)).status == 404


@pytest.mark.parametrize(
    ("filename", "data", "kind", "shown"),
    [
        ("a.png", picture(), "image/png", "inline"),
        ("a.ogg", SOUND, "audio/ogg", "inline"),
        ("a.html", HTML, "application/octet-stream", "attachment"),
        ("a.svg", b"<svg onload='alert(1)'/>", "text/plain; charset=utf-8", "attachment"),
        ("a.png", HTML, "text/plain; charset=utf-8", "attachment"),
        ("a.js", b"alert(1)", "application/octet-stream", "attachment"),
        ("a.xml", b"<x/>", "application/octet-stream", "attachment"),
        ("a.pdf", b"%PDF-1.7", "application/pdf", "attachment"),
        ("a.exe", b"MZ\0\0", "application/octet-stream", "attachment"),
        ("a.png", b"\x89PNG\r\n\x1a\n" + HTML, "application/octet-stream", "attachment"),
    ],
)
async def test_a_file_that_a_browser_would_execute_is_a_download(
    platform: Platform, filename: str, data: bytes, kind: str, shown: str
) -> None:
    got = await get(platform, await url_of(platform, filename, data))
    assert got.body == data
    assert got.headers["content-type"] == kind
    assert got.headers["content-disposition"] == f'{shown}; filename="{filename}"'


def format_and_size(got: Got) -> tuple[str | None, tuple[int, int]]:
    """The format and size of an image."""
    with Image.open(BytesIO(got.body)) as image:
        return image.format, image.size


async def test_images_are_scaled_and_converted(platform: Platform) -> None:
    url = await url_of(platform, "a.png", picture(size=(400, 200)))
    assert format_and_size(await get(platform, url)) == ("PNG", (400, 200))
    assert format_and_size(await get(platform, url, more="width=100&height=100")) == ("PNG", (100, 50))
    assert format_and_size(await get(platform, url, more="width=100")) == ("PNG", (100, 50))
    assert format_and_size(await get(platform, url, more="size=64&format=webp&quality=lossless")) == ("WEBP", (64, 32))
    assert format_and_size(await get(platform, url, more="width=9999")) == ("PNG", (400, 200))
    jpeg = await get(platform, url, more="format=jpeg&quality=5")
    assert format_and_size(jpeg) == ("JPEG", (400, 200))
    assert jpeg.headers["content-type"] == "image/jpeg"
    assert (await get(platform, url, more="format=jpeg&quality=5", if_none_match=jpeg.headers["etag"])).status == 304
    odd = await get(platform, url, more="format=exe&width=x")
    assert format_and_size(odd) == ("PNG", (400, 200))


async def test_animations_stay_animated_and_other_files_are_unchanged(platform: Platform) -> None:
    film = await url_of(platform, "a.gif", picture("GIF", (100, 50), frames=3))
    small = await get(platform, film, more="width=20")
    with Image.open(BytesIO(small.body)) as image:
        assert (image.format, image.size, getattr(image, "n_frames", 1)) == ("GIF", (20, 10), 3)
    text = await get(platform, await url_of(platform, "a.txt", b"text"), more="width=20&format=webp")
    assert text.body == b"text"


async def test_an_image_too_large_to_decode_is_served_unchanged(platform: Platform) -> None:
    out = BytesIO()
    Image.new("1", (9000, 9000)).save(out, "PNG")
    got = await get(platform, await url_of(platform, "a.png", out.getvalue()), more="width=100")
    assert got.body == out.getvalue()
