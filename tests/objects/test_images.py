"""Images in requests, verified by decoding."""

import base64
import struct
import zlib
from io import BytesIO
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageFile

from moothall.objects import limits
from moothall.objects.images import EmojiImage, ImageData, ImageInfo, PixelLimits, image_hash, inspect_image
from moothall.objects.webp import read_webp_header
from moothall.objects.wire import convert, encode
from tests.support.pictures import picture


def png_header(width: int, height: int) -> bytes:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0" * 100)) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("kind", ["png", "jpeg", "gif", "webp"])
def test_the_format_is_detected_from_the_content(kind: str) -> None:
    assert inspect_image(picture(kind)) == ImageInfo(kind, 5, 3, animated=False)


@pytest.mark.parametrize("kind", ["gif", "webp", "png"])
def test_an_image_of_several_frames_is_animated(kind: str) -> None:
    assert inspect_image(picture(kind, frames=3)).animated


@pytest.mark.parametrize("data", [b"", b"hello", b"<svg/>", picture("bmp"), picture("tiff")])
def test_any_other_format_is_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match="Unsupported image type"):
        inspect_image(data)


@pytest.mark.parametrize("kind", ["png", "jpeg", "webp"])
def test_a_truncated_image_is_refused(kind: str) -> None:
    whole = picture(kind, size=(60, 60))
    with pytest.raises(ValueError, match=r"image"):
        inspect_image(whole[: len(whole) // 2])


@pytest.mark.parametrize("side", [8193, 20_000, 60_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    with pytest.raises(ValueError, match="too many pixels"):
        inspect_image(png_header(side, side))


@pytest.mark.parametrize("kind", ["gif", "png", "webp"])
def test_the_pixels_of_all_frames_are_limited(kind: str) -> None:
    pixels = PixelLimits(moving=5 * 3 * 3)
    assert inspect_image(picture(kind, frames=3), pixels=pixels).animated
    with pytest.raises(ValueError, match="too many frames"):
        inspect_image(picture(kind, frames=4), pixels=pixels)


class Opened:
    """Counts the pixels that Pillow decodes, and the files that it opens."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pixels = self.files = 0
        load, opened = ImageFile.ImageFile.load, Image.open

        def counted_load(image: ImageFile.ImageFile) -> object:
            self.pixels += image.size[0] * image.size[1]
            return load(image)

        def counted_open(*values: Any, **options: Any) -> Image.Image:
            self.files += 1
            return opened(*values, **options)

        monkeypatch.setattr(ImageFile.ImageFile, "load", counted_load)
        monkeypatch.setattr(Image, "open", counted_open)


@pytest.mark.parametrize("lossless", [True, False])
def test_a_webp_of_a_few_bytes_and_too_many_pixels_is_never_opened(
    lossless: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = BytesIO()
    Image.new("L", (limits.EMOJI_PIXELS_MAX // 1024 + 1, 1024)).save(out, "webp", lossless=lossless, method=0)
    opened = Opened(monkeypatch)
    with pytest.raises(ValueError, match="too many pixels"):
        inspect_image(out.getvalue(), EmojiImage.FORMATS, EmojiImage.PIXELS_MAX)
    assert (opened.files, opened.pixels) == (0, 0)
    assert inspect_image(out.getvalue()).width == limits.EMOJI_PIXELS_MAX // 1024 + 1


@pytest.mark.parametrize("kind", ["png", "gif", "jpeg"])
def test_an_emoji_of_too_many_pixels_is_refused_before_any_is_decoded(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = picture(kind, size=(2049, 2048))
    opened = Opened(monkeypatch)
    with pytest.raises(ValueError, match="too many pixels"):
        inspect_image(data, EmojiImage.FORMATS, EmojiImage.PIXELS_MAX)
    assert opened.pixels == 0


def test_a_telephones_photo_is_accepted_and_verified_with_a_fraction_of_its_pixels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    data = picture("jpeg", size=(5712, 4284))
    opened = Opened(monkeypatch)
    assert inspect_image(data) == ImageInfo("jpeg", 5712, 4284, animated=False)
    assert opened.pixels <= 5712 * 4284 // 50
    with pytest.raises(ValueError, match="image"):
        inspect_image(data[: len(data) * 9 // 10])


@pytest.mark.parametrize("animated", [True, False])
def test_a_webp_header_tells_what_the_decoder_does(animated: bool) -> None:
    assert read_webp_header(picture("png")) is None
    for options in (
        {"lossless": True},
        {"lossless": False},
        {"lossless": True, "exif": b"Exif\0\0II*\0\x08\0\0\0\0\0"},
    ):
        out = BytesIO()
        frames = [Image.new("RGBA", (301, 7), (index * 200, 0, 0, 90)) for index in range(2 if animated else 1)]
        frames[0].save(out, "webp", save_all=animated, append_images=frames[1:], **options)
        assert read_webp_header(out.getvalue()) == (301, 7, animated)
        assert read_webp_header(out.getvalue()[:20]) is None


@settings(max_examples=60)
@given(
    kind=st.sampled_from(["png", "jpeg", "gif", "webp"]),
    where=st.floats(0, 1),
    noise=st.binary(min_size=1, max_size=12),
)
def test_a_damaged_image_is_refused_or_read_but_nothing_else(kind: str, where: float, noise: bytes) -> None:
    whole = picture(kind, size=(20, 20))
    at = int(where * len(whole))
    try:
        info = inspect_image(whole[:at] + noise + whole[at + len(noise) :])
    except ValueError:
        return
    assert info.format in {"png", "jpeg", "gif", "webp"}


class Upload(msgspec.Struct):
    """A request body with an image."""

    icon: ImageData | None


@given(data=st.binary(min_size=1, max_size=200), kind=st.sampled_from(["png", "jpeg", "gif", "webp"]))
def test_an_image_survives_the_wire(data: bytes, kind: str) -> None:
    image = ImageData(f"image/{kind}", data)
    assert convert(msgspec.json.decode(encode(Upload(image))), Upload).icon == image


@pytest.mark.parametrize(
    "value",
    [
        "",
        "hello",
        1,
        "data:image/png;base64,",
        "data:image/png;base64,####",
        "data:image/png;base64,QUJ",
        "data:image/svg+xml;base64,QUJD",
        "data:text/html;base64,QUJD",
        "https://example.com/a.png",
    ],
)
def test_invalid_data_uris_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="Invalid image data"):
        ImageData.from_wire(value)


def test_an_image_has_at_most_ten_mebibytes() -> None:
    def uri(size: int) -> str:
        return "data:image/png;base64," + base64.b64encode(bytes(size)).decode()

    assert len(ImageData.from_wire(uri(limits.IMAGE_SIZE_MAX)).data) == 10 << 20
    with pytest.raises(ValueError, match="larger than 10 MiB"):
        ImageData.from_wire(uri(limits.IMAGE_SIZE_MAX + 1))


def test_the_hash_depends_on_the_content_and_marks_animations() -> None:
    still, moving = image_hash(b"x", animated=False), image_hash(b"x", animated=True)
    assert moving == f"a_{still}"
    assert len(still) == 32
    assert still != image_hash(b"y", animated=False)
