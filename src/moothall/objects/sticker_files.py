"""Verification of sticker files: images by decoding every frame, Lottie by checking its JSON (resources: sticker)."""

from io import BytesIO
from typing import Final

import msgspec

from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.images import PixelLimits, inspect_image
from moothall.objects.json_object import JsonObject
from moothall.objects.sticker import StickerFormat

_FORMATS: Final = {"PNG": "png", "GIF": "gif"}
_PIXELS: Final = PixelLimits(limits.STICKER_SIDE_MAX**2, limits.STICKER_MOVING_PIXELS_MAX)
_SHORTEST_MS: Final = 20
_SHOWN_MS: Final = 100
"""The duration that browsers give to frames of a GIF that are shorter than `_SHORTEST_MS`."""
_LOTTIE_DEPTH: Final = 64
_LOTTIE_OBJECTS_MAX: Final = 50_000
"""Objects and lists of a Lottie. Real ones have some 25,000 at most; decoding them lets no other thread run."""
_HIGHEST: Final = 1_000_000


def inspect_sticker(data: bytes) -> StickerFormat:
    """Verify the file of a sticker and return its format. Takes up to a second: run it outside of the event loop.

    Raises Refusal: 400/50046 for a file that is not a PNG, APNG, GIF or Lottie of at most 320 x 320 pixels; 170001 to
    170007 for an invalid animation.
    """
    if data.lstrip()[:1] == b"{":
        _check_lottie(data)
        return StickerFormat.LOTTIE
    try:
        info = inspect_image(data, _FORMATS, _PIXELS)
    except ValueError:
        raise Refusal(errors.INVALID_ASSET) from None
    if max(info.width, info.height) > limits.STICKER_SIDE_MAX:
        raise Refusal(errors.INVALID_ASSET)
    if info.animated:
        _check_animation(data)
    if info.format == "gif":
        return StickerFormat.GIF
    return StickerFormat.APNG if info.animated else StickerFormat.PNG


def _check_animation(data: bytes) -> None:
    """Decode every frame. Raises Refusal for too many frames, or too long a duration."""
    from PIL import Image  # noqa: PLC0415 only what decodes images imports it

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
    # Any frame can be broken, in many ways.
    except Exception:  # noqa: BLE001 Pillow's plugins raise many different exceptions for broken files
        raise Refusal(errors.INVALID_ASSET) from None
    if total > limits.STICKER_MS_MAX:
        raise Refusal(errors.STICKER_TOO_LONG)


def _decode_lottie(data: bytes) -> object:
    if data.count(b"{") + data.count(b"[") > _LOTTIE_OBJECTS_MAX:
        raise Refusal(errors.INVALID_LOTTIE)
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise Refusal(errors.INVALID_LOTTIE) from None


def _check_lottie(data: bytes) -> None:
    animation = _decode_lottie(data)
    if not isinstance(animation, dict) or not isinstance(animation.get("layers"), list):
        raise Refusal(errors.INVALID_LOTTIE)
    width, height, rate, begin, end = (_number(animation.get(key)) for key in ("w", "h", "fr", "ip", "op"))
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
    assets = animation.get("assets")
    for asset in assets if isinstance(assets, list) else ():
        if isinstance(asset, dict) and asset.get("p"):
            raise Refusal(errors.RASTER_IN_LOTTIE)
    _refuse_expressions(animation)


def _refuse_expressions(animation: JsonObject) -> None:
    """Raise Refusal for a Lottie with expressions (string properties `x`), which players would execute."""
    level: list[JsonObject | list[object]] = [animation]
    for _ in range(_LOTTIE_DEPTH):
        following: list[JsonObject | list[object]] = []
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
    """A number; 0 for any other value, and for one beyond `_HIGHEST`."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > _HIGHEST:
        return 0.0
    return float(value)
