"""Renditions of uploaded images: scaled and converted as the query of a URL requests.

An image has few renditions: the longer side is one of `STEPS`, the quality one of `_QUALITIES`. None is larger than the
image, nor than the width and height of the query; an image that fits already is served as it was uploaded. Uploaded
images are not decoded before, so one that would take too much memory or time has no renditions.
"""

from io import BytesIO
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct

from moothall.cdn.formats import ANIMATED_FORMATS, FRAME_PIXELS_MAX, MEDIA_TYPES, QUALITY
from moothall.cdn.sizes import SIZE_MAX, read_pixels, read_size, step_within

_PIL_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP")
_OWN_FORMATS: Final = {"image/png": "png", "image/jpeg": "jpeg", "image/gif": "gif", "image/webp": "webp"}
"""Types that can be scaled, with their default format."""
_PARAMETERS: Final = frozenset({"width", "height", "size", "format", "quality"})
_QUERY_MAX: Final = 2048
_BYTES_MAX: Final = 25 * 1024 * 1024
_PIXELS_MAX: Final = 4096 * 4096
_FRAMES_MAX: Final = 1000
_QUALITIES: Final = (30, 60, QUALITY)
_LOSSY: Final = frozenset({"jpeg", "webp"})


class SourceImage(Struct, frozen=True):
    """An uploaded image as stored: width and height in pixels as displayed, size in bytes."""

    content_type: str
    width: int
    height: int
    animated: bool
    size: int


class Rendition(Struct, frozen=True):
    """The longer side of a rendition in pixels, None for the original size, and its encoding."""

    edge: int | None
    format: str
    quality: int = 0
    """0 for formats without quality."""
    lossless: bool = False

    @property
    def name(self) -> str:
        """The unique name among renditions of the same image."""
        return f"{self.edge or 0}-{self.format}-{'l' if self.lossless else self.quality}"


def rendition_parameters(query: str) -> dict[str, str]:
    """The parameters of a query that request a rendition; empty if there are none."""
    if not any(name in query for name in _PARAMETERS):
        return {}
    return {key: values[-1] for key, values in parse_qs(query[:_QUERY_MAX]).items() if key in _PARAMETERS}


def select_rendition(image: SourceImage, parameters: dict[str, str]) -> Rendition | None:
    """Select the rendition for the parameters of a query; None if the original is served.

    The original is also served if it is no image, or has too many bytes or pixels to be decoded.
    """
    own = _OWN_FORMATS.get(image.content_type)
    if own is None or image.size > _BYTES_MAX or not 0 < image.width * image.height <= _PIXELS_MAX:
        return None
    kind = parameters.get("format", "").lower()
    kind = "jpeg" if kind == "jpg" else kind if kind in MEDIA_TYPES else own
    if kind == "gif" and not image.animated:
        return None
    edge = _edge_within(image, parameters)
    quality = parameters.get("quality", "").lower()
    has_quality = kind in _LOSSY and quality.isascii() and quality.isdigit() and len(quality) < 4
    if edge is None and kind == own and not has_quality:
        return None
    if kind == "webp" and quality == "lossless":
        return Rendition(edge, kind, lossless=True)
    if kind not in _LOSSY:
        return Rendition(edge, kind)
    number = int(quality) if has_quality else QUALITY
    return Rendition(edge, kind, next((step for step in _QUALITIES if step >= number), QUALITY))


def make_rendition(data: bytes, rendition: Rendition) -> bytes:
    """Make a rendition of an image. Raises ValueError if it cannot be made."""
    from PIL import Image  # noqa: PLC0415 see moothall.cdn.formats

    from moothall.cdn.image_encoding import encode_animation, encode_image, is_animated, shrink  # noqa: PLC0415

    try:
        with Image.open(BytesIO(data), formats=_PIL_FORMATS) as image:
            if image.width * image.height > _PIXELS_MAX:
                raise ValueError("the image is too large")
            quality, lossless = rendition.quality, rendition.lossless
            if rendition.format in ANIMATED_FORMATS and is_animated(image):
                return encode_animation(
                    image,
                    rendition.format,
                    rendition.edge,
                    decoded_max=FRAME_PIXELS_MAX,
                    frames_max=_FRAMES_MAX,
                    quality=quality,
                    lossless=lossless,
                )
            if rendition.format == "gif":
                raise ValueError("an image without animation is not made a gif")
            return encode_image(shrink(image, rendition.edge), rendition.format, quality=quality, lossless=lossless)
    except ValueError:
        raise
    except Exception as problem:  # decoders raise anything for malicious files
        raise ValueError("the image cannot be read") from problem


def make_rendition_or(default: bytes, data: bytes, rendition: Rendition) -> bytes:
    """Make a rendition of an image; `default` if it cannot be made."""
    try:
        return make_rendition(data, rendition)
    except ValueError:
        return default


def _edge_within(image: SourceImage, parameters: dict[str, str]) -> int | None:
    """The longer side of the largest rendition within the requested width and height; None if the image fits."""
    size = read_size(parameters.get("size", ""))
    width = read_pixels(parameters.get("width", "")) or size or SIZE_MAX
    height = read_pixels(parameters.get("height", "")) or size or SIZE_MAX
    if image.width <= width and image.height <= height:
        return None
    longer = max(image.width, image.height)
    edge = step_within(min(longer * width // image.width, longer * height // image.height))
    return edge if edge < longer else None
