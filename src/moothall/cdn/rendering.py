"""Images scaled and converted, and the avatars of those who have none. Run off the event loop."""

from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw

from moothall.cdn.pictures import FRAME_PIXELS_MAX, MOVING, edge_for, encoded, encoded_film, is_moving, reduced
from moothall.cdn.sizes import SIZE_MAX
from moothall.objects.limits import IMAGE_MOVING_PIXELS_MAX

_DEFAULT_COLOURS: Final = ("#5865f2", "#757e8a", "#3ba55c", "#faa61a", "#ed4245", "#eb459f")
DEFAULT_AVATARS: Final = len(_DEFAULT_COLOURS)


def render(
    data: bytes, ending: str, size: int | None, *, still: bool = False, pixels_max: int = FRAME_PIXELS_MAX
) -> bytes:
    """An image in another format, and no larger than `size` pixels on its longer side, at most 4096.

    A moving image stays moving as gif and webp unless `still`, and shows its first frame otherwise; its frames have
    at most `pixels_max` pixels together. Raises ValueError for a still image asked for as gif, and for one of which
    frames after the first are broken.
    """
    with Image.open(BytesIO(data)) as image:
        moving = is_moving(image)
        if ending == "gif" and not moving:
            raise ValueError("a still image is not served as gif")
        if ending not in MOVING or not moving or still:
            return encoded(reduced(image, size or SIZE_MAX), ending)
        try:
            count = getattr(image, "n_frames", 1)
            edge = edge_for(image, size, count, pixels_max)
            return encoded_film(image, ending, edge, decoded_max=IMAGE_MOVING_PIXELS_MAX, frames_max=count)
        except (OSError, SyntaxError, EOFError) as problem:
            raise ValueError("a frame is broken") from problem


def default_avatar(index: int) -> bytes:
    """The picture of someone without an avatar, 256 pixels wide, as PNG."""
    image = Image.new("RGB", (256, 256), _DEFAULT_COLOURS[index % DEFAULT_AVATARS])
    draw = ImageDraw.Draw(image)
    draw.ellipse((88, 56, 168, 136), fill="white")
    draw.pieslice((48, 148, 208, 308), 180, 360, fill="white")
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
