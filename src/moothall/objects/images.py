"""Images in requests as data URIs, verified by decoding them; the declared type is not trusted (reference)."""

import binascii
import hashlib
import re
import struct
import zlib
from collections.abc import Mapping
from io import BytesIO
from typing import ClassVar, Final, NamedTuple, Self

from moothall.objects import limits
from moothall.objects.file_data import FileData
from moothall.objects.form_codes import FormCode
from moothall.objects.webp import read_webp_header

_DATA_URI: Final = re.compile(r"data:(image/(?:png|jpe?g|gif|webp|avif));base64,")
_FORMATS: Final = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}
_EMOJI_FORMATS: Final = {**_FORMATS, "AVIF": "avif"}


class PixelLimits(NamedTuple):
    """How many pixels an image may have. The defaults are those of icons, banners and the like."""

    still: int = limits.IMAGE_PIXELS_MAX
    moving: int = limits.IMAGE_MOVING_PIXELS_MAX
    """In all frames together."""
    photo: int = limits.PHOTO_PIXELS_MAX
    """For a JPEG."""

    def check(self, width: int, height: int, *, frames: int = 1, photo: bool = False) -> None:
        """Raise ValueError for more pixels."""
        if width * height > (self.photo if photo else self.still):
            raise ValueError("Image has too many pixels.")
        if frames > 1 and width * height * frames > self.moving:
            raise ValueError("Image has too many frames.")


EMOJI_PIXELS: Final = PixelLimits(limits.EMOJI_PIXELS_MAX, limits.EMOJI_MOVING_PIXELS_MAX, limits.EMOJI_PIXELS_MAX)
_ANY_PIXELS: Final = PixelLimits()


class ImageData(FileData["ImageInfo"]):
    """An image of a request. A wire scalar: `data:image/png;base64,...`, at most 10 MiB decoded.

    `declared` is the media type in the URI (`image/png`), which is not trusted. After the image has been verified with
    `inspect_image` and stored, `stored` holds the result.
    """

    __slots__ = ()

    FORM_CODE: ClassVar[str] = FormCode.IMAGE_INVALID
    FORMATS: ClassVar[Mapping[str, str]] = _FORMATS
    """The accepted formats by their Pillow names."""
    SIZE_MAX: ClassVar[int] = limits.IMAGE_SIZE_MAX
    """Maximum size of the decoded data URI in bytes."""
    PIXELS_MAX: ClassVar[PixelLimits] = PixelLimits()

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read an image from a request.

        Raises ValueError if it is not a base64 data URI of a png, jpeg, gif or webp, or too large.
        """
        head = _DATA_URI.match(value) if isinstance(value, str) else None
        if (
            not isinstance(value, str)
            or head is None
            or head[1].rpartition("/")[2] not in {"jpg", *cls.FORMATS.values()}
        ):
            *others, last = cls.FORMATS.values()
            raise ValueError(f"Invalid image data. Should be a data URI of a {', '.join(others)} or {last} in base64.")
        if len(value) > cls.wire_bytes_max():
            raise ValueError(cls._too_large())
        try:
            data = binascii.a2b_base64(value[head.end() :], strict_mode=True)
        except (binascii.Error, ValueError):
            raise ValueError("Invalid image data. The base64 is malformed.") from None
        if not data:
            raise ValueError("Invalid image data. It is empty.")
        if len(data) > cls.SIZE_MAX:
            raise ValueError(cls._too_large())
        return cls(head[1], data)

    @classmethod
    def wire_bytes_max(cls) -> int:
        """How long a data URI may be."""
        return cls.SIZE_MAX * 4 // 3 + 64

    @classmethod
    def _too_large(cls) -> str:
        size = f"{cls.SIZE_MAX >> 20} MiB" if cls.SIZE_MAX >> 20 else f"{cls.SIZE_MAX / 1024} kb"
        return f"File cannot be larger than {size}."

    def inspect(self) -> "ImageInfo":
        """Verify the image with `inspect_image`."""
        return inspect_image(self.data, self.FORMATS, self.PIXELS_MAX)


class EmojiImage(ImageData):
    """An image of an emoji: avif is accepted too, and at most 256 KiB."""

    __slots__ = ()

    FORMATS: ClassVar[Mapping[str, str]] = _EMOJI_FORMATS
    SIZE_MAX: ClassVar[int] = limits.EMOJI_FILE_MAX
    PIXELS_MAX: ClassVar[PixelLimits] = EMOJI_PIXELS


class ImageInfo(NamedTuple):
    """Verified information about an image: `png`, `jpeg`, `gif`, `webp` or `avif`, size in pixels, whether animated."""

    format: str
    width: int
    height: int
    animated: bool


class StoredImage(NamedTuple):
    """A verified image in the blob store."""

    hash: str
    info: ImageInfo


def inspect_image(data: bytes, formats: Mapping[str, str] = _FORMATS, pixels: PixelLimits = _ANY_PIXELS) -> ImageInfo:
    """Verify an image by decoding its first frame.

    Raises ValueError if it has another format, is broken, or exceeds the limits of its pixels, which its header tells
    before any are decoded. Takes up to tenths of a second: run it outside of the event loop.
    """
    from PIL import Image, UnidentifiedImageError  # noqa: PLC0415 only what decodes images imports it

    webp = read_webp_header(data)
    if webp is not None:
        # The decoder makes room for all pixels as soon as a file is opened.
        pixels.check(webp.width, webp.height)
    try:
        with Image.open(BytesIO(data), formats=tuple(formats)) as image:
            width, height = image.size
            photo = image.format == "JPEG"
            pixels.check(width, height, photo=photo)
            frames: int = getattr(image, "n_frames", 1)
            pixels.check(width, height, frames=frames, photo=photo)
            if photo:
                image.draft(
                    None, (max(width // 8, 1), max(height // 8, 1))
                )  # all of the file is read, and few pixels are made
            image.load()
            kind = formats[image.format or ""]
            return ImageInfo(kind, width, height, frames > 1)
    except UnidentifiedImageError:
        raise ValueError("Unsupported image type given.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError("Image has too many pixels.") from None
    # Pillow's plugins raise many different exceptions for broken files.
    except (OSError, SyntaxError, EOFError, LookupError, ArithmeticError, TypeError, struct.error, zlib.error):
        raise ValueError("Invalid image.") from None


def image_hash(data: bytes, *, animated: bool) -> str:
    """The hash that names an image: 32 hexadecimal digits, with the prefix `a_` if it is animated."""
    digest = content_hash(data)
    return f"a_{digest}" if animated else digest


def content_hash(data: bytes) -> str:
    """The hash of a content as 32 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()[:32]
