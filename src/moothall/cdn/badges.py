"""Draws the badges of guild tags. Blocking: run it off the event loop."""

from io import BytesIO
from math import cos, pi, sin
from typing import Final

from PIL import Image, ImageDraw

from moothall.objects.guild_profile import Badge, BadgeType

_EDGE: Final = 256
_SHARPER: Final = 2
"""Drawn this many times as large, so that the edges are smooth."""

_Point = tuple[float, float]
_SHIELD: Final[list[_Point]] = [(12, 8), (52, 8), (58, 14), (58, 36), (48, 50), (32, 60), (16, 50), (6, 36), (6, 14)]


def draw_badge(badge: Badge) -> bytes:
    """A badge, 256 pixels wide, as PNG: a shield in the primary colour, its sign in the secondary one."""
    edge = _EDGE * _SHARPER
    image = Image.new("RGBA", (edge, edge))
    pen = _Pen(ImageDraw.Draw(image), edge / 64)
    pen.polygon(_SHIELD, badge.primary)
    _SIGNS[BadgeType(badge.type)](pen, badge.secondary, badge.primary)
    out = BytesIO()
    image.resize((_EDGE, _EDGE), Image.Resampling.LANCZOS).save(out, "PNG")
    return out.getvalue()


class _Pen:
    """Draws in a square of 64 units."""

    def __init__(self, draw: ImageDraw.ImageDraw, unit: float) -> None:
        self._draw = draw
        self._unit = unit

    def polygon(self, points: list[_Point], colour: str) -> None:
        self._draw.polygon([(x * self._unit, y * self._unit) for x, y in points], fill=colour)

    def circle(self, x: float, y: float, radius: float, colour: str) -> None:
        box = [
            (x - radius) * self._unit,
            (y - radius) * self._unit,
            (x + radius) * self._unit,
            (y + radius) * self._unit,
        ]
        self._draw.ellipse(box, fill=colour)

    def box(self, left: float, top: float, right: float, bottom: float, colour: str) -> None:
        self._draw.rectangle([each * self._unit for each in (left, top, right, bottom)], fill=colour)


def _sword(pen: _Pen, colour: str, _back: str) -> None:
    pen.polygon([(32, 12), (36, 18), (36, 38), (28, 38), (28, 18)], colour)
    pen.box(22, 38, 42, 41, colour)
    pen.box(30, 41, 34, 50, colour)


def _water_drop(pen: _Pen, colour: str, _back: str) -> None:
    pen.polygon([(32, 13), (42, 32), (22, 32)], colour)
    pen.circle(32, 36, 11, colour)


def _skull(pen: _Pen, colour: str, back: str) -> None:
    pen.circle(32, 28, 13, colour)
    pen.box(26, 36, 38, 47, colour)
    pen.circle(27, 29, 3.5, back)
    pen.circle(37, 29, 3.5, back)
    for x in (29.3, 33.3):
        pen.box(x, 41, x + 1.4, 47, back)


def _toadstool(pen: _Pen, colour: str, back: str) -> None:
    pen.circle(32, 29, 15, colour)
    pen.box(14, 31, 50, 46, back)
    pen.polygon([(28, 31), (36, 31), (38, 48), (26, 48)], colour)
    for x, y, radius in ((25, 25, 2.5), (33, 20, 3), (40, 26, 2.5)):
        pen.circle(x, y, radius, back)


def _moon(pen: _Pen, colour: str, back: str) -> None:
    pen.circle(31, 31, 16, colour)
    pen.circle(38, 26, 13, back)


def _lightning(pen: _Pen, colour: str, _back: str) -> None:
    pen.polygon([(36, 11), (20, 34), (30, 34), (26, 52), (44, 27), (34, 27)], colour)


def _leaf(pen: _Pen, colour: str, back: str) -> None:
    curve = [(i / 20, sin(pi * i / 20) * 10) for i in range(21)]
    upper = [(20 + 24 * t - width * 0.7, 44 - 26 * t - width * 0.7) for t, width in curve]
    lower = [(20 + 24 * t + width * 0.7, 44 - 26 * t + width * 0.7) for t, width in reversed(curve)]
    pen.polygon([*upper, *lower], colour)
    pen.polygon([(17, 48), (40, 22), (41, 23), (19, 49)], back)


def _heart(pen: _Pen, colour: str, _back: str) -> None:
    pen.circle(25, 26, 8.5, colour)
    pen.circle(39, 26, 8.5, colour)
    pen.polygon([(17.7, 30.5), (32, 24), (46.3, 30.5), (32, 48)], colour)


def _fire(pen: _Pen, colour: str, back: str) -> None:
    pen.polygon([(30, 11), (40, 24), (43, 36), (21, 36), (22, 27), (27, 30)], colour)
    pen.circle(32, 38, 11, colour)
    pen.polygon([(32, 29), (37, 39), (27, 39)], back)
    pen.circle(32, 41, 5, back)


def _compass(pen: _Pen, colour: str, back: str) -> None:
    pen.circle(32, 31, 17, colour)
    pen.circle(32, 31, 13.5, back)
    needle = [(32 + 12 * cos(a), 31 + 12 * sin(a)) for a in (-pi / 4, 3 * pi / 4)]
    pen.polygon([needle[0], (35, 34), needle[1], (29, 28)], colour)
    pen.circle(32, 31, 1.8, back)


_SIGNS: Final = {
    BadgeType.SWORD: _sword,
    BadgeType.WATER_DROP: _water_drop,
    BadgeType.SKULL: _skull,
    BadgeType.TOADSTOOL: _toadstool,
    BadgeType.MOON: _moon,
    BadgeType.LIGHTNING: _lightning,
    BadgeType.LEAF: _leaf,
    BadgeType.HEART: _heart,
    BadgeType.FIRE: _fire,
    BadgeType.COMPASS: _compass,
}
