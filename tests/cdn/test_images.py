"""Images at the CDN paths: by hash, in the requested size and format."""

import asyncio
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from moothall.api.address_limits import AddressLimits
from moothall.api.request.images import blob_key
from moothall.cdn.images import ImageFiles
from moothall.cdn.rendering import render
from moothall.cdn.sizes import SIZES
from moothall.objects.guild_profile import Badge, BadgeType
from moothall.storage.blobs import Blobs

STILL, ANIMATED_FORMATS = "0123456789abcdef" * 2, "a_" + "fedcba9876543210" * 2


def picture(frames: int = 1, size: tuple[int, int] = (64, 32)) -> bytes:
    shots = [Image.new("RGB", size, (40 * n, 100, 50)) for n in range(frames)]
    out = BytesIO()
    if frames == 1:
        shots[0].save(out, "PNG")
    else:
        shots[0].save(out, "GIF", save_all=True, append_images=shots[1:])
    return out.getvalue()


@pytest.fixture
async def files(tmp_path: Any) -> ImageFiles:
    blobs = Blobs.open(str(tmp_path))
    await blobs.put(blob_key(STILL), picture())
    await blobs.put(blob_key(ANIMATED_FORMATS), picture(3))
    await blobs.put("images/secret.txt", b"never served")
    return ImageFiles(blobs, AddressLimits(None))


async def ask(
    files: ImageFiles, path: str, query: str = "", method: str = "GET", *headers: tuple[bytes, bytes]
) -> tuple[int, dict[bytes, bytes], bytes]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(event: Any) -> None:
        sent.append(event)

    scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": [*headers]}
    await files(scope, receive, send)
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.mark.parametrize("ending", ["png", "jpg", "jpeg", "webp"])
async def test_an_image_is_served_in_every_format_and_no_larger_than_requested(files: ImageFiles, ending: str) -> None:
    status, headers, body = await ask(files, f"/icons/1/{STILL}.{ending}", "size=16")
    assert status == 200
    assert headers[b"content-type"].startswith(b"image/")
    assert headers[b"cache-control"] == b"public, max-age=31536000, immutable"
    assert Image.open(BytesIO(body)).size == (16, 8)


async def test_an_image_of_a_quick_link_needs_no_extension(files: ImageFiles) -> None:
    for path in (f"/attachments-quick-links/{STILL}", f"/attachments-quick-links/{STILL}.png"):
        status, headers, _ = await ask(files, path)
        assert (status, headers[b"content-type"]) == (200, b"image/png")


async def test_an_animated_image_is_animated_as_gif_and_others_have_no_gif(files: ImageFiles) -> None:
    _, _, body = await ask(files, f"/avatars/1/{ANIMATED_FORMATS}.gif")
    assert getattr(Image.open(BytesIO(body)), "n_frames", 1) == 3
    assert (await ask(files, f"/avatars/1/{STILL}.gif"))[0] == 404


@pytest.mark.parametrize(
    "path",
    [
        "/icons/1/secret.txt",
        "/icons/1/../../images/secret.txt",
        f"/icons/1/..%2f{STILL}.png",
        f"/icons/x/{STILL}.png",
        f"/icons/1/{STILL}.svg",
        f"/icons/1/{STILL}",
        f"/icons/1/{STILL}.png/more",
        f"/icons/1/{'f' * 32}.png",
        "/embed/avatars/6.png",
        "/guilds/1/users/2/secrets/0.png",
    ],
)
async def test_an_unknown_image_or_format_is_404(files: ImageFiles, path: str) -> None:
    assert (await ask(files, path))[0] == 404


@pytest.mark.parametrize("size", ["8192", "-16", "0", "x", "16" * 40, "", "\u0661\u0666"])
async def test_a_size_that_is_no_number_or_larger_than_the_image_is_ignored(files: ImageFiles, size: str) -> None:
    status, _, body = await ask(files, f"/icons/1/{STILL}.png", f"size={size}")
    assert (status, Image.open(BytesIO(body)).size) == (200, (64, 32))


@pytest.mark.parametrize(("size", "width"), [(1, 16), (16, 16), (17, 20), (33, 40), (41, 44), (48, 48), (61, 64)])
async def test_a_size_that_is_not_offered_is_the_next_larger_one(files: ImageFiles, size: int, width: int) -> None:
    status, _, body = await ask(files, f"/icons/1/{STILL}.png", f"size={size}")
    assert (status, Image.open(BytesIO(body)).width) == (200, width)


async def test_an_image_requested_in_a_thousand_sizes_is_rendered_in_a_few(
    files: ImageFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    rendered: list[int | None] = []

    def counting(data: bytes, ending: str, size: int | None, *, still: bool = False) -> bytes:
        rendered.append(size)
        return render(data, ending, size, still=still)

    monkeypatch.setattr("moothall.cdn.rendering.render", counting)
    for size in range(1, 1001):
        await ask(files, f"/icons/1/{STILL}.png", f"size={size}")
    assert rendered == [size for size in SIZES if size <= 1024]


async def test_there_are_six_default_avatars(files: ImageFiles) -> None:
    shown = {(await ask(files, f"/embed/avatars/{index}.png"))[2] for index in range(6)}
    assert len(shown) == 6


async def test_a_badge_is_drawn_from_its_name_and_from_no_other(files: ImageFiles) -> None:
    names = [Badge(kind, "#32a070", "#ffffff").hash for kind in BadgeType]
    shown = set()
    for name in names:
        status, headers, body = await ask(files, f"/guild-tag-badges/1/{name}.png", "size=64")
        assert (status, headers[b"content-type"], Image.open(BytesIO(body)).size) == (200, b"image/png", (64, 64))
        shown.add(body)
    assert len(shown) == len(BadgeType)
    assert (await ask(files, f"/clan-badges/1/{names[0]}.png", "size=64"))[2] in shown
    other = "0a" + names[0][2:]
    for path in (f"{other}.png", f"{'0' * 32}.png", f"{names[0]}.gif", f"{names[0]}.svg"):
        assert (await ask(files, f"/guild-tag-badges/1/{path}"))[0] == 404


async def test_a_request_with_the_entity_tag_is_304(files: ImageFiles) -> None:
    _, headers, _ = await ask(files, f"/icons/1/{STILL}.png")
    again = await ask(files, f"/icons/1/{STILL}.png", "", "GET", (b"if-none-match", headers[b"etag"]))
    assert (again[0], again[2]) == (304, b"")


async def test_nothing_served_can_run_in_a_browser_and_head_has_no_body(files: ImageFiles) -> None:
    status, headers, body = await ask(files, f"/icons/1/{STILL}.png", "", "HEAD")
    assert (status, body) == (200, b"")
    assert int(headers[b"content-length"]) > 0
    assert headers[b"x-content-type-options"] == b"nosniff"
    assert b"sandbox" in headers[b"content-security-policy"]
    assert (await ask(files, f"/icons/1/{STILL}.png", "", "POST"))[0] == 405


async def test_concurrent_requests_share_one_rendering(files: ImageFiles) -> None:
    answers = await asyncio.gather(*(ask(files, f"/icons/1/{STILL}.webp", "size=32") for _ in range(30)))
    assert len({body for _, _, body in answers}) == 1
    assert {status for status, _, _ in answers} == {200}


def test_an_animation_with_large_frames_is_shrunk_to_bound_memory() -> None:
    shown = Image.open(BytesIO(render(picture(4), "gif", None, pixels_max=64 * 32)))
    assert (getattr(shown, "n_frames", 1), shown.size) == (4, (32, 16))
