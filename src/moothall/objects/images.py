"""Images in requests: data URIs, verified by decoding them, never by what they say of themselves (reference)."""

import binascii
import hashlib
import re
import struct
import zlib
from io import BytesIO
from typing import ClassVar, Final, NamedTuple, Self

from PIL import Image, UnidentifiedImageError

from moothall.objects import limits
from moothall.objects.form_codes import FormCode

_DATA_URI: Final = re.compile(r"data:(image/(?:png|jpe?g|gif|webp));base64,")
_TEXT_MAX: Final = limits.IMAGE_SIZE_MAX * 4 // 3 + 64
_FORMATS: Final = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "WEBP": "webp"}


class ImageData:
    """An image of a request. A wire scalar: `data:image/png;base64,...`, at most 10 MiB decoded.

    `declared` is the type that the sender says (`image/png`); only `inspect_image` tells the truth.
    Once the image has been verified and stored, `stored` says what it is.
    """

    __slots__ = ("data", "declared", "stored")

    FORM_CODE: ClassVar[str] = FormCode.IMAGE_INVALID

    def __init__(self, declared: str, data: bytes) -> None:
        self.declared = declared
        self.data = data
        self.stored: StoredImage | None = None

    @property
    def hash(self) -> str:
        """The name that the stored image goes by. RuntimeError before it is stored."""
        return self._stored().hash

    @property
    def info(self) -> "ImageInfo":
        """What the stored image really is. RuntimeError before it is stored."""
        return self._stored().info

    def _stored(self) -> "StoredImage":
        if self.stored is None:
            raise RuntimeError("the image has not been verified and stored")
        return self.stored

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ImageData) and (self.declared, self.data) == (other.declared, other.data)

    def __hash__(self) -> int:
        return hash((self.declared, self.data))

    def wire(self) -> str:
        """The form that requests carry."""
        return f"data:{self.declared};base64,{binascii.b2a_base64(self.data, newline=False).decode()}"

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read an image from a request.

        Raises ValueError if it is no base64 data URI of a png, jpeg, gif or webp, or too large.
        """
        if not isinstance(value, str) or not (head := _DATA_URI.match(value)):
            raise ValueError("Invalid image data. Should be a data URI of a png, jpeg, gif or webp in base64.")
        if len(value) > _TEXT_MAX:
            raise ValueError(f"File cannot be larger than {limits.IMAGE_SIZE_MAX >> 20} MiB.")
        try:
            data = binascii.a2b_base64(value[head.end() :], strict_mode=True)
        except (binascii.Error, ValueError):
            raise ValueError("Invalid image data. The base64 is malformed.") from None
        if not data:
            raise ValueError("Invalid image data. It is empty.")
        if len(data) > limits.IMAGE_SIZE_MAX:
            raise ValueError(f"File cannot be larger than {limits.IMAGE_SIZE_MAX >> 20} MiB.")
        return cls(head[1], data)


class ImageInfo(NamedTuple):
    """What an image really is: `png`, `jpeg`, `gif` or `webp`, its pixels, and whether it moves."""

    format: str
    width: int
    height: int
    animated: bool


class StoredImage(NamedTuple):
    """A verified image in the blob store."""

    hash: str
    info: ImageInfo


def inspect_image(data: bytes) -> ImageInfo:
    """Decode an image to learn what it is; its first frame is decoded whole.

    Raises ValueError if it is none of the four formats, is broken, or has more than 64 megapixels, 256
    in all its frames (checked before the pixels are decoded). Costs milliseconds to tenths of a second: run it off
    the event loop.
    """
    try:
        with Image.open(BytesIO(data), formats=tuple(_FORMATS)) as image:
            width, height = image.size
            if width * height > limits.IMAGE_PIXELS_MAX:
                raise ValueError("Image has too many pixels.")
            frames: int = getattr(image, "n_frames", 1)
            if width * height * frames > limits.IMAGE_MOVING_PIXELS_MAX:
                raise ValueError("Image has too many frames.")
            image.load()
            kind = _FORMATS[image.format or ""]
            return ImageInfo(kind, width, height, frames > 1)
    except UnidentifiedImageError:
        raise ValueError("Unsupported image type given.") from None
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise ValueError("Image has too many pixels.") from None
    # Broken files surface from Pillow's plugins as whatever their parsing ran into.
    except (OSError, SyntaxError, EOFError, LookupError, ArithmeticError, TypeError, struct.error, zlib.error):
        raise ValueError("Invalid image.") from None


def image_hash(data: bytes, *, animated: bool) -> str:
    """The name that an image goes by: 32 hexadecimal digits of its content, behind `a_` if it moves."""
    digest = hashlib.sha256(data).hexdigest()[:32]
    return f"a_{digest}" if animated else digest
