"""Uploaded pictures in the measures that somebody asks for. Run off the event loop.

Nobody has decoded them before: what would take too much memory or time is not made at all.
"""

from io import BytesIO
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct
from PIL import Image, ImageSequence

MADE: Final = {"png": "image/png", "jpg": "image/jpeg", "jpeg": "image/jpeg", "webp": "image/webp", "gif": "image/gif"}
"""Formats that may be asked for, with their media types."""
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
TAKEN: Final = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
"""Types that can be scaled, with the format that they are served in unless asked otherwise."""
MOST_BYTES: Final = 25 * 1024 * 1024
_MOST_PIXELS: Final = 4096 * 4096
_MOST_MOVING: Final = 64 * 1024 * 1024
"""Pixels of all frames together; four bytes each are in memory at once, in the measures asked for."""
_MOST_FRAMES: Final = 1000
_EDGE_MAX: Final = 4096
_QUALITY: Final = 90


class Wanted(Struct, frozen=True):
    """What a query asks for: a picture within `width` and `height`, at most 4096, in one of `MADE`."""

    width: int
    height: int
    format: str
    quality: int = _QUALITY
    lossless: bool = False

    @property
    def name(self) -> str:
        """What tells it from others of the same picture."""
        return f"{self.width}x{self.height}-{'l' if self.lossless else self.quality}"


def wanted(query: str, content_type: str) -> Wanted | None:
    """What a query asks of a picture; None if it is to be served as it is, or cannot be had otherwise."""
    own = TAKEN.get(content_type)
    given = {key: values[-1] for key, values in parse_qs(query[:2048]).items()}
    if own is None or not given.keys() & {"width", "height", "size", "format", "quality"}:
        return None
    size = _edge(given.get("size"))
    width, height = _edge(given.get("width")) or size, _edge(given.get("height")) or size
    kind = given.get("format", "").lower()
    if kind not in MADE:
        kind = own
    if width is None and height is None and kind == own and "quality" not in given:
        return None
    quality = given.get("quality", "")
    number = int(quality) if quality.isascii() and quality.isdigit() and len(quality) < 4 else _QUALITY
    return Wanted(
        width or _EDGE_MAX, height or _EDGE_MAX, kind, max(1, min(number, 100)), lossless=quality.lower() == "lossless"
    )


def scale(data: bytes, want: Wanted) -> bytes:
    """A picture as asked for, never larger than it is. Raises ValueError for what cannot be made."""
    try:
        with Image.open(BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise ValueError("the picture is too large")
            moving = getattr(image, "is_animated", False)
            if want.format == "gif" and not moving:
                raise ValueError("a still image is not made a gif")
            if moving and want.format in {"gif", "webp"}:
                return _scale_moving(image, want)
            return _save(_fitted(image, want), want)
    except ValueError:
        raise
    except Exception as problem:  # whatever a decoder makes of bytes that somebody has chosen
        raise ValueError("the picture cannot be read") from problem


def _edge(text: str | None) -> int | None:
    if text is None or not text.isascii() or not text.isdigit() or len(text) > 5:
        return None
    return max(1, min(int(text), _EDGE_MAX))


def _fitted(image: Image.Image, want: Wanted) -> Image.Image:
    transparent = image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info
    shown = image.convert("RGBA" if transparent else "RGB")
    if shown.width > want.width or shown.height > want.height:
        shown.thumbnail((want.width, want.height), Image.Resampling.LANCZOS)
    return shown


def _save(image: Image.Image, want: Wanted) -> bytes:
    out = BytesIO()
    if want.format in {"jpg", "jpeg"}:
        image.convert("RGB").save(out, "JPEG", quality=want.quality)
    elif want.format == "webp":
        image.save(out, "WEBP", quality=want.quality, lossless=want.lossless)
    else:
        image.save(out, "PNG")
    return out.getvalue()


def _scale_moving(image: Image.Image, want: Wanted) -> bytes:
    frames, durations, pixels = list[Image.Image](), list[int](), 0
    for frame in ImageSequence.Iterator(image):
        pixels += frame.width * frame.height
        if pixels > _MOST_MOVING or len(frames) == _MOST_FRAMES:
            raise ValueError("the film is too long")
        durations.append(int(frame.info.get("duration", 100)))
        frames.append(_fitted(frame, want))
    out = BytesIO()
    frames[0].save(
        out,
        want.format.upper(),
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=image.info.get("loop", 0),
    )
    return out.getvalue()
