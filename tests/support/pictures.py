"""Encoded images."""

from io import BytesIO
from pathlib import Path

from PIL import Image


def picture(kind: str, *, frames: int = 1, size: tuple[int, int] = (5, 3)) -> bytes:
    out = BytesIO()
    first, *rest = [Image.new("RGB", size, (index * 90, 10, 20)) for index in range(frames)]
    if rest:
        first.save(out, kind, save_all=True, append_images=rest)
    else:
        first.save(out, kind)
    return out.getvalue()


PNG = (Path(__file__).parents[1] / "clients" / "icon.png").read_bytes()
