"""Images of the standard stickers, each drawn at the first request."""

from collections.abc import Callable
from functools import cache
from io import BytesIO
from math import cos, pi, sin
from typing import Final

from PIL import Image, ImageDraw

_SIDE: Final = 320
_FINE: Final = 3
"""Stickers are drawn larger by this factor and then shrunk, to smooth edges."""
_YELLOW, _DARK, _RED, _GREEN = "#ffcc4d", "#664500", "#dd2e44", "#77b255"

Drawing = Callable[[ImageDraw.ImageDraw], None]


def _at(*numbers: float) -> list[float]:
    return [number * _FINE for number in numbers]


def _face(draw: ImageDraw.ImageDraw) -> None:
    draw.ellipse(_at(20, 20, 300, 300), fill=_YELLOW)


def _eye(draw: ImageDraw.ImageDraw, x: float) -> None:
    draw.ellipse(_at(x - 18, 100, x + 18, 154), fill=_DARK)


def _smile(draw: ImageDraw.ImageDraw) -> None:
    _face(draw)
    _eye(draw, 112)
    _eye(draw, 208)
    draw.arc(_at(80, 110, 240, 250), 20, 160, fill=_DARK, width=14 * _FINE)


def _wink(draw: ImageDraw.ImageDraw) -> None:
    _face(draw)
    _eye(draw, 112)
    draw.arc(_at(180, 108, 236, 160), 200, 340, fill=_DARK, width=12 * _FINE)
    draw.arc(_at(80, 110, 240, 250), 20, 160, fill=_DARK, width=14 * _FINE)


def _sad(draw: ImageDraw.ImageDraw) -> None:
    _face(draw)
    _eye(draw, 112)
    _eye(draw, 208)
    draw.arc(_at(90, 200, 230, 320), 205, 335, fill=_DARK, width=14 * _FINE)


def _heart(draw: ImageDraw.ImageDraw) -> None:
    points = []
    for step in range(120):
        t = step / 120 * 2 * pi
        x, y = 16 * sin(t) ** 3, 13 * cos(t) - 5 * cos(2 * t) - 2 * cos(3 * t) - cos(4 * t)
        points.append((_FINE * (160 + 8.4 * x), _FINE * (150 - 8.4 * y)))
    draw.polygon(points, fill=_RED)


def _star(draw: ImageDraw.ImageDraw) -> None:
    points = []
    for step in range(10):
        radius, angle = (145 if step % 2 == 0 else 62), step * pi / 5 - pi / 2
        points.append((_FINE * (160 + radius * cos(angle)), _FINE * (168 + radius * sin(angle))))
    draw.polygon(points, fill="#ffac33")


def _tick(draw: ImageDraw.ImageDraw) -> None:
    draw.rounded_rectangle(_at(20, 20, 300, 300), 48 * _FINE, fill=_GREEN)
    draw.line(_at(84, 166, 138, 222, 238, 100), fill="white", width=34 * _FINE, joint="curve")


_DRAWINGS: Final[dict[int, Drawing]] = {1: _smile, 2: _wink, 3: _sad, 4: _heart, 5: _star, 6: _tick}
"""The drawing function of each sticker id."""


@cache
def draw_sticker(number: int) -> bytes:
    """Draw a standard sticker, 320 pixels wide, as PNG. Raises KeyError for an unknown id."""
    image = Image.new("RGBA", (_SIDE * _FINE, _SIDE * _FINE), (0, 0, 0, 0))
    _DRAWINGS[number](ImageDraw.Draw(image))
    out = BytesIO()
    image.resize((_SIDE, _SIDE), Image.Resampling.LANCZOS).save(out, "PNG", optimize=True)
    return out.getvalue()
