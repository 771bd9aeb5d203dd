"""Renditions of uploaded images: few of each, none larger than requested, none that takes long to make."""

from fractions import Fraction
from io import BytesIO
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from PIL import Image, ImageChops

from moothall.cdn.image_encoding import encode_animation
from moothall.cdn.renditions import Rendition, SourceImage, make_rendition, rendition_parameters, select_rendition
from moothall.cdn.sizes import SIZES, STEPS

MEASURES = st.integers(1, 4096)
WORDS = st.one_of(st.integers(-5, 99_999).map(str), st.sampled_from(["", "x", "1e3", "\u0661", "lossless", " 5"]))


def of(width: int, height: int, content_type: str = "image/png", *, animated: bool = False) -> SourceImage:
    return SourceImage(content_type, width, height, animated, 1000)


@example(width=371, height=1, width_max=240, height_max=1)
@given(width=MEASURES, height=MEASURES, width_max=MEASURES, height_max=MEASURES)
def test_a_rendition_is_within_the_requested_size_and_at_least_three_quarters_of_it(
    width: int, height: int, width_max: int, height_max: int
) -> None:
    rendition = select_rendition(of(width, height), {"width": str(width_max), "height": str(height_max)})
    factor = min(Fraction(width_max, width), Fraction(height_max, height))
    if rendition is None:
        # The original is served: it fits, or is smaller than every step.
        assert factor >= 1 or max(width, height) <= STEPS[0]
        return
    assert rendition.edge in STEPS
    exact = max(width, height) * factor
    assert rendition.edge <= max(exact, Fraction(STEPS[0]))
    assert rendition.edge > 0.75 * int(exact) - 1


@given(
    parameters=st.fixed_dictionaries(
        {},
        optional={
            "width": WORDS,
            "height": WORDS,
            "size": WORDS,
            "quality": WORDS,
            "format": st.sampled_from(["png", "PNG", "jpg", "jpeg", "webp", "gif", "avif", "", "x"]),
        },
    ),
    kind=st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    animated=st.booleans(),
)
def test_an_image_has_few_renditions_for_all_queries(parameters: dict[str, str], kind: str, *, animated: bool) -> None:
    rendition = select_rendition(of(4000, 3000, kind, animated=animated), parameters)
    if rendition is None:
        return
    assert rendition.edge is None or rendition.edge in STEPS
    encodings = {("png", 0, False), ("gif", 0, False), ("webp", 0, True)}
    encodings |= {(lossy, quality, False) for lossy in ("jpeg", "webp") for quality in (30, 60, 90)}
    assert (rendition.format, rendition.quality, rendition.lossless) in encodings


def test_a_size_is_one_of_the_public_ones_and_rounded_up() -> None:
    edges = {
        rendition.edge for size in range(1, 4097) if (rendition := select_rendition(of(4097, 10), {"size": str(size)}))
    }
    assert edges == set(SIZES)
    assert select_rendition(of(4000, 3000), {"size": "4000"}) is None
    assert select_rendition(of(4000, 3000), {"size": "3000"}) == Rendition(3072, "png")


@pytest.mark.parametrize(
    ("picture", "query"),
    [
        (of(400, 300), "width=400&height=300"),
        (of(400, 300), "width=0&height=-1&size=x"),
        (of(400, 300), "format=png&quality=50"),
        (of(400, 300), "format=gif"),
        (of(400, 300), ""),
        (of(400, 300), "ex=1&is=2&hm=3"),
        (of(400, 300, "image/svg+xml"), "width=20"),
        (of(400, 300, "text/plain; charset=utf-8"), "width=20"),
        (of(0, 0), "width=20"),
        (of(9000, 9000), "width=20"),
        (SourceImage("image/png", 400, 300, animated=False, size=30 << 20), "width=20"),
    ],
)
def test_an_image_that_fits_or_cannot_be_converted_is_served_unchanged(picture: SourceImage, query: str) -> None:
    assert select_rendition(picture, rendition_parameters(query)) is None


def file(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def film(kind: str, frames: list[Image.Image]) -> bytes:
    return file(frames[0], kind, save_all=True, append_images=frames[1:], duration=[70] * len(frames), loop=3)


def opened(data: bytes) -> Image.Image:
    return Image.open(BytesIO(data))


def test_too_many_pixels_are_refused_by_the_header_alone() -> None:
    header = file(Image.new("1", (9000, 9000)), "PNG")[:60]
    with pytest.raises(ValueError, match="too large"):
        make_rendition(header, Rendition(16, "png"))


def test_a_large_jpeg_is_not_decoded_whole_for_a_small_rendition(monkeypatch: pytest.MonkeyPatch) -> None:
    data = file(Image.radial_gradient("L").resize((2048, 1024)).convert("RGB"), "JPEG")
    decoded: list[tuple[int, int]] = []
    resize = Image.Image.resize

    def resizing(image: Image.Image, *arguments: Any, **named: Any) -> Image.Image:
        decoded.append(image.size)
        return resize(image, *arguments, **named)

    monkeypatch.setattr(Image.Image, "resize", resizing)
    assert opened(make_rendition(data, Rendition(128, "jpeg", 90))).size == (128, 64)
    assert decoded == [(256, 128)]


@pytest.mark.parametrize(("kind", "tag"), [("JPEG", 6), ("JPEG", 8)])
def test_a_photo_is_rotated_by_its_exif_orientation(kind: str, tag: int) -> None:
    exif = Image.Exif()
    exif[274] = tag
    data = file(Image.new("RGB", (400, 200), "red"), kind, exif=exif)
    shown = opened(make_rendition(data, Rendition(100, "jpeg", 90)))
    assert (shown.size, 274 in shown.getexif()) == ((50, 100), False)


def test_a_rendition_keeps_the_colour_profile_and_no_other_metadata() -> None:
    profile = bytes(500)
    for kind, ending in (("JPEG", "jpeg"), ("PNG", "png"), ("WEBP", "webp")):
        options = {"comment": b"secret"} if kind == "JPEG" else {}
        data = file(Image.new("RGB", (400, 200), "red"), kind, icc_profile=profile, **options)
        shown = make_rendition(data, Rendition(100, ending, 90))
        assert opened(shown).info.get("icc_profile") == profile
        assert b"secret" not in shown
        large = file(Image.new("RGB", (400, 200), "red"), kind, icc_profile=bytes(50_000))
        assert len(make_rendition(large, Rendition(100, ending, 90))) < 5_000


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "CMYK"])
@pytest.mark.parametrize("edge", [None, 32])
def test_images_of_every_mode_are_scaled(mode: str, edge: int | None) -> None:
    data = file(Image.new(mode, (80, 40), 1 if mode in {"1", "P"} else None), "JPEG" if mode == "CMYK" else "PNG")
    shown = opened(make_rendition(data, Rendition(edge, "webp", 90)))
    assert shown.size == ((80, 40) if edge is None else (32, 16))


def colours(frames: int) -> list[Image.Image]:
    ramp = Image.linear_gradient("L").resize((100, 50))
    return [Image.merge("RGB", (ramp.rotate(30 * n), ImageChops.invert(ramp), ramp)) for n in range(frames)]


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
@pytest.mark.parametrize("ending", ["gif", "webp"])
def test_animations_keep_frames_durations_and_colours(kind: str, ending: str) -> None:
    frames = colours(5)
    shown = opened(make_rendition(film(kind, frames), Rendition(50, ending, 90)))
    assert (shown.size, getattr(shown, "n_frames", 1), shown.info["loop"]) == ((50, 25), 5, 3)
    for number, frame in enumerate(frames):
        shown.seek(number)
        shown.load()
        assert shown.info["duration"] == 70
        difference = ImageChops.difference(shown.convert("RGB"), frame.resize((50, 25)))
        assert max(band[1] for band in difference.getextrema()) < 70  # type: ignore[index] # of a picture in colours


def test_a_frame_of_a_transparent_animation_replaces_the_one_before() -> None:
    frames = []
    for x in (0, 60):
        frame = Image.new("RGBA", (100, 50), (0, 0, 0, 0))
        frame.paste((255, 0, 0, 255), (x, 0, x + 40, 50))
        frames.append(frame)
    shown = opened(make_rendition(film("PNG", frames), Rendition(50, "gif")))
    shown.seek(1)
    second = shown.convert("RGBA")
    assert second.getpixel((5, 10))[3] == 0  # type: ignore[index]
    assert second.getpixel((40, 10)) == (255, 0, 0, 255)


@pytest.mark.parametrize("kind", ["GIF", "WEBP"])
def test_a_long_animation_is_refused_before_it_is_decoded_completely(kind: str) -> None:
    data = film(kind, colours(6))
    for decoded_max, frames_max in ((100 * 50 * 5, 99), (1 << 30, 5)):
        with opened(data) as image, pytest.raises(ValueError, match="too long"):
            encode_animation(image, "gif", None, decoded_max=decoded_max, frames_max=frames_max)
    with opened(data) as image:
        assert encode_animation(image, "gif", None, decoded_max=100 * 50 * 6, frames_max=6)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_broken_image_is_refused(kind: str) -> None:
    data = film(kind, colours(3)) if kind in {"GIF", "WEBP"} else file(colours(1)[0], kind)
    ending = "gif" if kind == "GIF" else "webp"
    for end in (0, 10, 40, len(data) // 3):
        with pytest.raises(ValueError, match=r"."):
            make_rendition(data[:end], Rendition(50, ending, 90))
    for start in range(20, len(data) - 40, max(1, len(data) // 40)):
        try:
            make_rendition(data[:start] + bytes(20) + data[start + 20 :], Rendition(50, ending, 90))
        except ValueError:
            continue
