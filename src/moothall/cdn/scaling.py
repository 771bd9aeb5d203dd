"""UploadedFiles pictures in the measures that a URL's query asks for.

A picture has few forms: the longer side is one of `STEPS`, the quality one of `_QUALITIES`. None is larger than the
picture, nor than the width and height of the query; one that already fits is served as it was uploaded. UploadedFiles
pictures were never decoded before: what would take too much memory or time is not made at all.
"""

from io import BytesIO
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct
from PIL import Image

from moothall.cdn.pictures import (
    FRAME_PIXELS_MAX,
    MEDIA_TYPES,
    MOVING,
    QUALITY,
    encoded,
    encoded_film,
    is_moving,
    reduced,
)
from moothall.cdn.sizes import SIZE_MAX, read_pixels, read_size, step_within

_OPENED: Final = ("PNG", "JPEG", "GIF", "WEBP")
_OWN_FORMATS: Final = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
"""Types that can be scaled, with the format that they are served in unless asked otherwise."""
_PARAMETERS: Final = frozenset({"width", "height", "size", "format", "quality"})
_QUERY_MAX: Final = 2048
_BYTES_MAX: Final = 25 * 1024 * 1024
_PIXELS_MAX: Final = 4096 * 4096
_FRAMES_MAX: Final = 1000
_QUALITIES: Final = (30, 60, QUALITY)
_LOSSY: Final = frozenset({"jpeg", "webp"})


class Picture(Struct, frozen=True):
    """What is known of an uploaded picture before it is opened: pixels as it is shown, and its size in bytes."""

    content_type: str
    width: int
    height: int
    animated: bool
    size: int


class Rendition(Struct, frozen=True):
    """A form of a picture: its longer side in pixels, None for as large as it is, and how it is encoded."""

    edge: int | None
    format: str
    quality: int = 0
    """0 where the format has none."""
    lossless: bool = False

    @property
    def name(self) -> str:
        """What tells it from others of the same picture."""
        return f"{self.edge or 0}-{self.format}-{'l' if self.lossless else self.quality}"


def scaling_parameters(query: str) -> dict[str, str]:
    """The parameters of a query that ask for a form of a picture; empty if none does."""
    if not any(name in query for name in _PARAMETERS):
        return {}
    return {key: values[-1] for key, values in parse_qs(query[:_QUERY_MAX]).items() if key in _PARAMETERS}


def rendition_of(picture: Picture, parameters: dict[str, str]) -> Rendition | None:
    """The form of a picture that is asked for; None if it is served as it was uploaded.

    It is, too, where it cannot be had otherwise: if it is no picture, or has too many bytes or pixels to be decoded.
    """
    own = _OWN_FORMATS.get(picture.content_type)
    if own is None or picture.size > _BYTES_MAX or not 0 < picture.width * picture.height <= _PIXELS_MAX:
        return None
    kind = parameters.get("format", "").lower()
    kind = "jpeg" if kind == "jpg" else kind if kind in MEDIA_TYPES else own
    if kind == "gif" and not picture.animated:
        return None
    edge = _edge_within(picture, parameters)
    quality = parameters.get("quality", "").lower()
    asks_quality = kind in _LOSSY and quality.isascii() and quality.isdigit() and len(quality) < 4
    if edge is None and kind == own and not asks_quality:
        return None
    if kind == "webp" and quality == "lossless":
        return Rendition(edge, kind, lossless=True)
    if kind not in _LOSSY:
        return Rendition(edge, kind)
    number = int(quality) if asks_quality else QUALITY
    return Rendition(edge, kind, next((step for step in _QUALITIES if step >= number), QUALITY))


def scale(data: bytes, rendition: Rendition) -> bytes:
    """A form of a picture. Raises ValueError for what cannot be made."""
    try:
        with Image.open(BytesIO(data), formats=_OPENED) as image:
            if image.width * image.height > _PIXELS_MAX:
                raise ValueError("the picture is too large")
            quality, lossless = rendition.quality, rendition.lossless
            if rendition.format in MOVING and is_moving(image):
                return encoded_film(
                    image,
                    rendition.format,
                    rendition.edge,
                    decoded_max=FRAME_PIXELS_MAX,
                    frames_max=_FRAMES_MAX,
                    quality=quality,
                    lossless=lossless,
                )
            if rendition.format == "gif":
                raise ValueError("a still image is not made a gif")
            return encoded(reduced(image, rendition.edge), rendition.format, quality=quality, lossless=lossless)
    except ValueError:
        raise
    except Exception as problem:  # whatever a decoder makes of bytes that somebody has chosen
        raise ValueError("the picture cannot be read") from problem


def _edge_within(picture: Picture, parameters: dict[str, str]) -> int | None:
    """The longer side of the largest form that is within the measures asked for; None if the picture is."""
    size = read_size(parameters.get("size", ""))
    width = read_pixels(parameters.get("width", "")) or size or SIZE_MAX
    height = read_pixels(parameters.get("height", "")) or size or SIZE_MAX
    if picture.width <= width and picture.height <= height:
        return None
    longer = max(picture.width, picture.height)
    edge = step_within(min(longer * width // picture.width, longer * height // picture.height))
    return edge if edge < longer else None
