"""Pictures decoded, made smaller and encoded, with bounded work. Run off the event loop.

Encoders are set to work fast: a picture of 4096 x 4096 pixels takes one core three seconds at most, a film of 32
million pixels in all its frames five.
"""

from collections.abc import Sequence
from io import BytesIO
from typing import Final

from PIL import Image, ImageOps, ImageSequence

from moothall.cdn.sizes import SIZE_MAX

MEDIA_TYPES: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
}
"""The formats that pictures are encoded in, by their endings, with their media types."""
MOVING: Final = frozenset({"gif", "webp"})
"""The formats that keep a moving picture moving."""
QUALITY: Final = 90
FRAME_PIXELS_MAX: Final = 32 * 1024 * 1024
"""Pixels of all frames together that are in memory at once, four bytes each, and are encoded."""

_PNG_LEVEL: Final = 3
"""A picture with noise takes a third of the time of zlib's usual level, and 5 percent more bytes."""
_WEBP_METHOD: Final = 2
"""Half the time of libwebp's usual method."""
_LOSSLESS_EFFORT: Final = 20
"""With method 0, a twentieth of the time of libwebp's usual effort, and 10 percent more bytes."""
_PROFILE_BYTES_MAX: Final = 16_384
"""A colour profile is copied into each form of a picture: a larger one is left out."""
_JPEG: Final = frozenset({"JPEG", "MPO"})
_PALETTE_FRAMES: Final = 16
_PALETTE_SIDE: Final = 64
_MILLISECONDS: Final = 100
"""How long a frame is shown that does not say so."""


def is_moving(image: Image.Image) -> bool:
    """Whether a picture has several frames. What cameras add to a JPEG (a preview, a second eye) is none."""
    return image.format not in _JPEG and bool(getattr(image, "is_animated", False))


def reduced(image: Image.Image, edge: int | None) -> Image.Image:
    """The picture as it is shown, upright, its longer side at most `edge` pixels, without what else the file says.

    A JPEG is decoded no larger than twice that.
    """
    profile = image.info.get("icc_profile")
    transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    mode = "RGBA" if transparent else "RGB"
    if edge is None or max(image.size) <= edge:
        shown = image.convert(mode)
    else:
        width, height = _within(image.size, edge)
        image.draft(None, (2 * width, 2 * height))
        source = image if image.mode == mode else image.convert(mode)
        shown = source.resize((width, height), Image.Resampling.LANCZOS, reducing_gap=3.0)
    if image.format in _JPEG:
        ImageOps.exif_transpose(shown, in_place=True)
    shown.info = {"icc_profile": profile} if profile is not None and len(profile) <= _PROFILE_BYTES_MAX else {}
    return shown


def _within(size: tuple[int, int], edge: int) -> tuple[int, int]:
    """Measures with the longer side `edge`."""
    longer = max(size)
    return max(1, round(size[0] * edge / longer)), max(1, round(size[1] * edge / longer))


def encoded(image: Image.Image, ending: str, *, quality: int = QUALITY, lossless: bool = False) -> bytes:
    """A still picture as a file."""
    out = BytesIO()
    profile = image.info.get("icc_profile")
    if ending in {"jpg", "jpeg"}:
        image.convert("RGB").save(out, "JPEG", quality=quality, icc_profile=profile)
    elif ending == "webp":
        image.save(out, "WEBP", icc_profile=profile, **_webp(quality, lossless=lossless))
    else:
        image.save(out, "PNG", compress_level=_PNG_LEVEL)
    return out.getvalue()


def encoded_film(
    image: Image.Image,
    ending: str,
    edge: int | None,
    *,
    decoded_max: int,
    frames_max: int,
    quality: int = QUALITY,
    lossless: bool = False,
) -> bytes:
    """A moving picture as a moving file, its longer side at most `edge` pixels, and smaller if memory asks for it.

    Raises ValueError if more than `decoded_max` pixels or `frames_max` frames would have to be decoded.
    """
    frames, durations, area = list[Image.Image](), list[int](), image.width * image.height
    # GIF alone does not say beforehand how many there are: its frames are counted as they come.
    count = 1 if image.format == "GIF" else getattr(image, "n_frames", 1)
    if count > frames_max or count * area > decoded_max:
        raise ValueError("the film is too long")
    for number, frame in enumerate(ImageSequence.Iterator(image), start=1):
        if number > frames_max or number * area > decoded_max:
            raise ValueError("the film is too long")
        frames.append(reduced(frame, edge))
        # WebP says it only once the frame has been decoded.
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


def edge_for(image: Image.Image, edge: int | None, frames: int, pixels_max: int = FRAME_PIXELS_MAX) -> int:
    """The longer side in which all frames together have at most `pixels_max` pixels, and that is at most `edge`."""
    longer = max(image.size)
    edge = min(edge or SIZE_MAX, longer, SIZE_MAX)
    area = image.width * image.height * frames
    return min(edge, max(1, int(longer * (pixels_max / area) ** 0.5)))


def _webp(quality: int, *, lossless: bool) -> dict[str, int | bool]:
    if lossless:
        return {"lossless": True, "quality": _LOSSLESS_EFFORT, "method": 0}
    return {"quality": quality, "method": _WEBP_METHOD}


def _for_gif(frames: Sequence[Image.Image]) -> tuple[list[Image.Image], dict[str, int | bool]]:
    """Frames in at most 256 colours, and the options that they are saved with.

    Opaque ones get one palette, of the colours of some of them: a palette for each takes a second for a million pixels.
    """
    if any(frame.mode == "RGBA" for frame in frames):
        # The library finds their colours in another, fast way; each is drawn on nothing, not on the one before.
        return [frame.convert("RGBA") for frame in frames], {"disposal": 2}
    chosen = frames[:: -(-len(frames) // _PALETTE_FRAMES)]
    sample = Image.new("RGB", (_PALETTE_SIDE, _PALETTE_SIDE * len(chosen)))
    for number, frame in enumerate(chosen):
        part = frame.resize((_PALETTE_SIDE, _PALETTE_SIDE), Image.Resampling.NEAREST)
        sample.paste(part, (0, _PALETTE_SIDE * number))
    palette = sample.quantize(256, method=Image.Quantize.MEDIANCUT)
    return [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames], {}
