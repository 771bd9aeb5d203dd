"""How large an uploaded picture is, found out without decoding it. Run off the event loop."""

from typing import IO, Final, cast

from msgspec import Struct
from PIL import Image

from moothall.storage.blobs import Blobs

_MAX_READ: Final = 4 * 1024 * 1024
"""Bytes of a file that are looked through for its measures."""
_READ: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "image/tiff"}
)
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF")
_ORIENTATION: Final = 274
_ON_ITS_SIDE: Final = frozenset({5, 6, 7, 8})


class Measures(Struct, frozen=True):
    """Width and height in pixels, as the picture is shown, and whether it moves."""

    width: int
    height: int
    animated: bool


def is_measured(content_type: str) -> bool:
    """Whether pictures of a type can be measured."""
    return content_type in _READ


def measure(blobs: Blobs, key: str) -> Measures | None:
    """The measures of a stored picture; None if it is none."""
    file = blobs.reader(key, maximum=_MAX_READ)
    try:
        with Image.open(cast("IO[bytes]", file), formats=_FORMATS) as image:
            width, height = image.size
            if image.format == "JPEG" and image.getexif().get(_ORIENTATION) in _ON_ITS_SIDE:
                width, height = height, width
            return Measures(width, height, _moves(image))
    except Exception:  # noqa: BLE001  # whatever a decoder makes of bytes that somebody has chosen
        return None


def _moves(image: Image.Image) -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # noqa: BLE001  # its first frame is sound
        return False
