"""Renders images in other sizes and formats, and default avatars. Blocking: run it off the event loop."""

from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw

from moothall.cdn.formats import ANIMATED_FORMATS, FRAME_PIXELS_MAX
from moothall.cdn.image_encoding import (
    edge_within_pixels,
    encode_animation,
    encode_image,
    is_animated,
    shrink,
)
from moothall.cdn.sizes import SIZE_MAX
from moothall.objects.limits import IMAGE_MOVING_PIXELS_MAX

_DEFAULT_COLOURS: Final = ("#396ed6", "#885acb", "#01853b", "#9b6906", "#c74058", "#b9448e")
"""Hues of the pages' tokens, in which the client draws initials."""
DEFAULT_AVATARS: Final = len(_DEFAULT_COLOURS)


def render(
    data: bytes, ending: str, size: int | None, *, still: bool = False, pixels_max: int = FRAME_PIXELS_MAX
) -> bytes:
    """Convert an image to another format, with at most `size` (no more than 4096) pixels on its longer side.

    An animated image stays animated as gif and webp unless `still`, with at most `pixels_max` pixels in all frames;
    otherwise it becomes its first frame. Raises ValueError for a gif of an image without animation, and for broken
    frames after the first.
    """
    with Image.open(BytesIO(data)) as image:
        animated = is_animated(image)
        if ending == "gif" and not animated:
            raise ValueError("a still image is not served as gif")
        if ending not in ANIMATED_FORMATS or not animated or still:
            return encode_image(shrink(image, size or SIZE_MAX), ending)
        try:
            count = getattr(image, "n_frames", 1)
            edge = edge_within_pixels(image, size, count, pixels_max)
            return encode_animation(image, ending, edge, decoded_max=IMAGE_MOVING_PIXELS_MAX, frames_max=count)
        except (OSError, SyntaxError, EOFError) as problem:
            raise ValueError("a frame is broken") from problem


def default_avatar(index: int) -> bytes:
    """The default avatar with an index, 256 pixels wide, as PNG."""
    image = Image.new("RGB", (256, 256), _DEFAULT_COLOURS[index % DEFAULT_AVATARS])
    draw = ImageDraw.Draw(image)
    draw.ellipse((88, 56, 168, 136), fill="white")
    draw.pieslice((48, 148, 208, 308), 180, 360, fill="white")
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
