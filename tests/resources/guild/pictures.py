"""Images for requests."""

import base64
from io import BytesIO

from PIL import Image


def picture(kind: str = "PNG", *, size: tuple[int, int] = (16, 16), frames: int = 1) -> str:
    """An image as a data URI; animated if it has several frames."""
    images = [Image.new("RGB", size, (shade * 40, 0, 0)) for shade in range(frames)]
    file = BytesIO()
    images[0].save(file, kind, save_all=frames > 1, append_images=images[1:])
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"
