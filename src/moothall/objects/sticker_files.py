"""Files of stickers, verified by decoding them, or for Lottie by reading all of it (resources: sticker)."""

from io import BytesIO
from typing import Any, Final

import msgspec
from PIL import Image

from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.images import inspect_image
from moothall.objects.sticker import StickerFormat

_FORMATS: Final = {"PNG": "png", "GIF": "gif"}
_SHORTEST_MS: Final = 20
_SHOWN_MS: Final = 100
"""How long browsers show the pictures of a GIF that are to be shown for less than `_SHORTEST_MS`."""
_LOTTIE_DEPTH: Final = 64
_HIGHEST: Final = 1_000_000


def inspect_sticker(data: bytes) -> StickerFormat:
    """Learn what the file of a sticker is. Costs up to a second: run it off the event loop.

    Raises Refusal: 400/50046 for what is no PNG, APNG, GIF or Lottie of at most 320 x 320 pixels; 170001 to 170007 for
    what is wrong with one that moves.
    """
    if data.lstrip()[:1] == b"{":
        _check_lottie(data)
        return StickerFormat.LOTTIE
    try:
        info = inspect_image(data, _FORMATS)
    except ValueError:
        raise Refusal(errors.INVALID_ASSET) from None
    if max(info.width, info.height) > limits.STICKER_SIDE_MAX:
        raise Refusal(errors.INVALID_ASSET)
    if info.animated:
        _check_film(data)
    if info.format == "gif":
        return StickerFormat.GIF
    return StickerFormat.APNG if info.animated else StickerFormat.PNG


def _check_film(data: bytes) -> None:
    """Raises Refusal for too many pictures, or too long a time."""
    total = 0.0
    try:
        with Image.open(BytesIO(data), formats=tuple(_FORMATS)) as image:
            count = getattr(image, "n_frames", 1)
            if count > limits.STICKER_FRAMES_MAX:
                raise Refusal(errors.STICKER_TOO_MANY_FRAMES)
            for index in range(count):
                image.seek(index)
                image.load()
                lasts = float(image.info.get("duration") or 0)
                total += _SHOWN_MS if image.format == "GIF" and lasts < _SHORTEST_MS else lasts
    except Refusal:
        raise
    # Later pictures can be broken as well as the first, in as many ways.
    except Exception:  # noqa: BLE001 Pillow's plugins raise whatever their parsing runs into
        raise Refusal(errors.INVALID_ASSET) from None
    if total > limits.STICKER_MS_MAX:
        raise Refusal(errors.STICKER_TOO_LONG)


def _check_lottie(data: bytes) -> None:
    try:
        film = msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(errors.INVALID_LOTTIE) from None
    if not isinstance(film, dict) or not isinstance(film.get("layers"), list):
        raise Refusal(errors.INVALID_LOTTIE)
    width, height, rate, begin, end = (_number(film.get(key)) for key in ("w", "h", "fr", "ip", "op"))
    if not rate > 0:
        raise Refusal(errors.STICKER_FRAMERATE)
    if rate > limits.STICKER_FRAMERATE_MAX:
        raise Refusal(errors.STICKER_FRAMERATE_TOO_HIGH)
    if not (0 < width <= limits.STICKER_SIDE_MAX and 0 < height <= limits.STICKER_SIDE_MAX):
        raise Refusal(errors.LOTTIE_TOO_LARGE)
    if not 0 < end - begin <= limits.STICKER_FRAMES_MAX:
        raise Refusal(errors.STICKER_TOO_MANY_FRAMES)
    if (end - begin) * 1000 / rate > limits.STICKER_MS_MAX:
        raise Refusal(errors.STICKER_TOO_LONG)
    assets = film.get("assets")
    for asset in assets if isinstance(assets, list) else ():
        if isinstance(asset, dict) and asset.get("p"):
            raise Refusal(errors.RASTER_IN_LOTTIE)
    _refuse_programs(film)


def _refuse_programs(film: Any) -> None:
    """Properties may hold programs (`x`), which players run: whoever looks at a sticker runs nothing."""
    level = [film]
    for _ in range(_LOTTIE_DEPTH):
        following: list[Any] = []
        for item in level:
            if isinstance(item, dict):
                if isinstance(item.get("x"), str):
                    raise Refusal(errors.INVALID_LOTTIE)
                following.extend(value for value in item.values() if isinstance(value, dict | list))
            else:
                following.extend(value for value in item if isinstance(value, dict | list))
        if not following:
            return
        level = following
    raise Refusal(errors.INVALID_LOTTIE)


def _number(value: object) -> float:
    """A number; one that is none, or beyond all that numbers stand for here, is 0."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _HIGHEST:
        return 0.0
    return float(value)
