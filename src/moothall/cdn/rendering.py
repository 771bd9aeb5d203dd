"""Images scaled and converted, and the avatars of those who have none. Run off the event loop."""

from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw

FORMATS: Final = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "webp": "image/webp",
    "gif": "image/gif",
}
"""Endings that may be asked for, with their media types."""

_MOST_HELD: Final = 32 * 1024 * 1024
"""Pixels of a moving image that are held at once, four bytes each."""

_DEFAULT_COLOURS: Final = ("#5865f2", "#757e8a", "#3ba55c", "#faa61a", "#ed4245", "#eb459f")
DEFAULT_AVATARS: Final = len(_DEFAULT_COLOURS)


def render(data: bytes, ending: str, size: int | None, *, still: bool = False) -> bytes:
    """An image in another format, and no larger than `size` pixels on its longer side.

    A moving image stays moving as gif and webp unless `still`, and shows its first frame otherwise. Raises
    ValueError for a still image asked for as gif.
    """
    with Image.open(BytesIO(data)) as image:
        moving = getattr(image, "n_frames", 1) > 1
        if ending == "gif" and not moving:
            raise ValueError("a still image is not served as gif")
        if ending in {"gif", "webp"} and moving and not still:
            return _render_moving(image, ending, size)
        return _save(_fitted(image, size), ending)


def _fitted(image: Image.Image, size: int | None) -> Image.Image:
    shown = image.convert("RGBA" if _transparent(image) else "RGB")
    if size is not None and max(shown.size) > size:
        shown.thumbnail((size, size), Image.Resampling.LANCZOS)
    return shown


def _transparent(image: Image.Image) -> bool:
    return image.mode in {"RGBA", "LA", "PA"} or "transparency" in image.info


def _save(image: Image.Image, ending: str) -> bytes:
    out = BytesIO()
    if ending in {"jpg", "jpeg"}:
        image.convert("RGB").save(out, "JPEG", quality=90)
    elif ending == "webp":
        image.save(out, "WEBP", quality=90)
    else:
        image.save(out, "PNG")
    return out.getvalue()


def _render_moving(image: Image.Image, ending: str, size: int | None) -> bytes:
    frames, durations = [], []
    count = getattr(image, "n_frames", 1)
    if (held := image.width * image.height * count) > _MOST_HELD:
        # All frames are in memory at once: a long film of large pictures is shown smaller.
        size = min(size or max(image.size), int(max(image.size) * (_MOST_HELD / held) ** 0.5))
    for index in range(count):
        image.seek(index)
        durations.append(image.info.get("duration", 100))
        frames.append(_fitted(image, size))
    out = BytesIO()
    frames[0].save(
        out,
        ending.upper(),
        save_all=True,
        append_images=frames[1:],
        duration=durations,
        loop=image.info.get("loop", 0),
    )
    return out.getvalue()


def default_avatar(index: int) -> bytes:
    """The picture of someone without an avatar, 256 pixels wide, as PNG."""
    image = Image.new("RGB", (256, 256), _DEFAULT_COLOURS[index % DEFAULT_AVATARS])
    draw = ImageDraw.Draw(image)
    draw.ellipse((88, 56, 168, 136), fill="white")
    draw.pieslice((48, 148, 208, 308), 180, 360, fill="white")
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()
