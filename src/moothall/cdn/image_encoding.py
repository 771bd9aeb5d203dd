"""Decodes, shrinks and encodes images, with bounded work. Blocking: run it off the event loop.

The encoders' options favour speed: an image of 4096 x 4096 pixels takes one core at most three seconds, an animation of
32 million pixels in all frames five.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps, ImageSequence

from moothall.cdn.formats import FRAME_PIXELS_MAX, QUALITY
from moothall.cdn.sizes import SIZE_MAX

_PNG_LEVEL: Final = 3
"""An image with noise takes a third of the time of zlib's usual level, and 5 percent more bytes."""
_WEBP_METHOD: Final = 2
"""Half the time of libwebp's usual method."""
_LOSSLESS_EFFORT: Final = 20
"""With method 0, a twentieth of the time of libwebp's usual effort, and 10 percent more bytes."""
_PROFILE_BYTES_MAX: Final = 16_384
"""A colour profile is copied into each rendition; a larger one is dropped."""
_JPEG: Final = frozenset({"JPEG", "MPO"})
_PALETTE_FRAMES: Final = 16
_PALETTE_SIDE: Final = 64
_MILLISECONDS: Final = 100
"""The duration of frames without one."""


def is_animated(image: Image.Image) -> bool:
    """Whether an image is animated. Additional images in a JPEG (a preview, a stereo pair) are no frames."""
    return image.format not in _JPEG and bool(getattr(image, "is_animated", False))


def shrink(image: Image.Image, edge: int | None) -> Image.Image:
    """Shrink an image to at most `edge` pixels on its longer side, upright and without metadata but its colour profile.

    A JPEG is decoded at no more than twice that size.
    """
    profile = image.info.get("icc_profile")
    transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    mode = "RGBA" if transparent else "RGB"
    if edge is None or max(image.size) <= edge:
        result = image.convert(mode)
    else:
        width, height = _within(image.size, edge)
        image.draft(None, (2 * width, 2 * height))
        source = image if image.mode == mode else image.convert(mode)
        result = source.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)
    if image.format in _JPEG:
        ImageOps.exif_transpose(result, in_place=True)
    result.info = {"icc_profile": profile} if profile is not None and len(profile) <= _PROFILE_BYTES_MAX else {}
    return result


def _within(size: tuple[int, int], edge: int) -> tuple[int, int]:
    """Scale a size to the longer side `edge`."""
    longer = max(size)
    return max(1, round(size[0] * edge / longer)), max(1, round(size[1] * edge / longer))


def encode_image(image: Image.Image, ending: str, *, quality: int = QUALITY, lossless: bool = False) -> bytes:
    """Encode an image with one frame."""
    out = BytesIO()
    profile = image.info.get("icc_profile")
    if ending in {"jpg", "jpeg"}:
        image.convert("RGB").save(out, "JPEG", quality=quality, icc_profile=profile)
    elif ending == "webp":
        image.save(out, "WEBP", icc_profile=profile, **_webp(quality, lossless=lossless))
    else:
        image.save(out, "PNG", compress_level=_PNG_LEVEL)
    return out.getvalue()


def encode_animation(
    image: Image.Image,
    ending: str,
    edge: int | None,
    *,
    decoded_max: int,
    frames_max: int,
    quality: int = QUALITY,
    lossless: bool = False,
) -> bytes:
    """Encode an animated image with all frames, its longer side at most `edge` pixels.

    Raises ValueError if more than `decoded_max` pixels or `frames_max` frames would have to be decoded.
    """
    frames, durations, area = list[Image.Image](), list[int](), image.width * image.height
    # The number of frames of a GIF is unknown before they are decoded, so they are counted meanwhile.
    count = 1 if image.format == "GIF" else getattr(image, "n_frames", 1)
    if count > frames_max or count * area > decoded_max:
        raise ValueError("the animation is too long")
    for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
        if number > frames_max or number * area > decoded_max:
            raise ValueError("the animation is too long")
        frames.append(shrink(frame, edge))
        # The duration of a WebP frame is known only once it is decoded.
        durations.append(int(frame.info.get("duration", _MILLISECONDS)))
    out = BytesIO()
    if ending == "webp":
        options = _webp(quality, lossless=lossless)
    else:
        frames, options = _for_gif(frames)
    frames[0].save(
        out,
        ending.upper(),
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=image.info.get("loop", 0),
        **options,
    )
    return out.getvalue()


def edge_within_pixels(image: Image.Image, edge: int | None, frames: int, pixels_max: int = FRAME_PIXELS_MAX) -> int:
    """The largest longer side up to `edge` with which all frames together have at most `pixels_max` pixels."""
    longer = max(image.size)
    edge = min(edge or SIZE_MAX, longer, SIZE_MAX)
    area = image.width * image.height * frames
    return min(edge, max(1, int(longer * (pixels_max / area) ** 0.5)))


def _webp(quality: int, *, lossless: bool) -> dict[str, int | bool]:
    if lossless:
        return {"lossless": True, "quality": _LOSSLESS_EFFORT, "method": 0}
    return {"quality": quality, "method": _WEBP_METHOD}


def _for_gif(frames: Sequence[Image.Image]) -> tuple[list[Image.Image], dict[str, int | bool]]:
    """Reduce frames to at most 256 colours; return them and the options to save them with.

    Opaque frames get one palette from a sample of them: a palette for each takes a second per million pixels.
    """
    if any(frame.mode == "RGBA" for frame in frames):
        # Pillow quantizes transparent frames fast; each replaces the one before.
        return [frame.convert("RGBA") for frame in frames], {"disposal": 2}
    chosen = frames[:: -(-len(frames) // _PALETTE_FRAMES)]
    sample = Image.new("RGB", (_PALETTE_SIDE, _PALETTE_SIDE * len(chosen)))
    for number, frame in enumerate(chosen):
        part = frame.resize((_PALETTE_SIDE, _PALETTE_SIDE), Image.Resampling.NEAREST)
        sample.paste(part, (0, _PALETTE_SIDE * number))
    palette = sample.quantize(256, method=Image.Quantize.MEDIANCUT)
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames], {}
