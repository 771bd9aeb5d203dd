"""The dimensions of uploaded images, read without decoding them, in threads."""

from typing import IO, TYPE_CHECKING, Final, cast

from msgspec import Struct

from moothall.objects.webp import HEADER_BYTES, read_webp_header
from moothall.storage.blobs import Blobs

if TYPE_CHECKING:
    from PIL import Image

_MAX_READ: Final = 4 * 1024 * 1024
"""Bytes of a file that are read at most."""
_MEASURED: Final = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif", "image/tiff"}
)
_FORMATS: Final = ("PNG", "JPEG", "GIF", "WEBP", "BMP", "AVIF", "TIFF")
_ORIENTATION: Final = 274
_ROTATED: Final = frozenset({5, 6, 7, 8})


class Dimensions(Struct, frozen=True):
    """Width and height in pixels, after the rotation of EXIF, and whether the image is animated."""

    width: int
    height: int
    animated: bool


def is_measured(content_type: str) -> bool:
    """Whether the dimensions of a content type can be read."""
    return content_type in _MEASURED


def measure(blobs: Blobs, key: str) -> Dimensions | None:
    """The dimensions of a stored image; None if it is no image."""
    from PIL import Image  # noqa: PLC0415 only what decodes images imports it

    file = blobs.reader(key, maximum=_MAX_READ)
    try:
        webp = read_webp_header(file.read(HEADER_BYTES))
        if webp is not None:
            # The decoder of this format reads the whole file, and makes room for all of its pixels.
            return Dimensions(webp.width, webp.height, webp.animated)
        file.seek(0)
        with Image.open(cast("IO[bytes]", file), formats=_FORMATS) as image:
            width, height = image.size
            if image.format == "JPEG" and image.getexif().get(_ORIENTATION) in _ROTATED:
                width, height = height, width
            return Dimensions(width, height, _is_animated(image))
    except Exception:  # noqa: BLE001  # decoders raise many kinds of errors for hostile files
        return None


def _is_animated(image: "Image.Image") -> bool:
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:  # noqa: BLE001  # the first frame is valid
        return False
