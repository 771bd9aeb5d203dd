"""Files of stickers."""

import json
from io import BytesIO
from typing import Any

from PIL import Image

from tests.api.forms import TYPE, form, part


def still(side: int = 320, kind: str = "PNG") -> bytes:
    """A static image."""
    return film(1, kind, side=side)


def film(frames: int, kind: str = "PNG", *, ms: int = 100, side: int = 32) -> bytes:
    """An animation of `frames` frames: an APNG or a GIF."""
    images = [Image.new("RGB", (side, side), (shade * 7 % 256, shade // 4 % 256, 9)) for shade in range(frames)]
    file = BytesIO()
    options: dict[str, Any] = {"save_all": True, "append_images": images[1:], "duration": ms} if frames > 1 else {}
    images[0].save(file, kind, **options)
    return file.getvalue()


def lottie(**changes: Any) -> bytes:
    """A Lottie animation of three seconds."""
    animation = {"v": "5.5.2", "fr": 60, "ip": 0, "op": 180, "w": 320, "h": 320, "assets": [], "layers": [{"ty": 4}]}
    return json.dumps(animation | changes).encode()


def sticker_form(file: bytes | None, *, field: str = "file", **fields: str) -> dict[str, Any]:
    """The options of a request with a form."""
    texts = {"name": "Moot", "tags": "moot, hall", "description": "A hall", **fields}
    parts = [part(name, value.encode()) for name, value in texts.items()]
    if file is not None:
        parts.append(part(field, file, "sticker.png"))
    return {"raw": form(*parts), "content_type": TYPE}
