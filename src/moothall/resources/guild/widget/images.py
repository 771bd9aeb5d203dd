"""The widget as an image: a shield and four banners. Blocking: draw them in a thread."""

from io import BytesIO
from typing import Final

from PIL import Image, ImageDraw, ImageFont

from moothall.objects.widget import WidgetStyle

_NAME: Final = "Moothall"
_DARK: Final = "#23272a"
_GREY: Final = "#36393f"
_ACCENT: Final = "#4752c4"
_GREEN: Final = "#43b581"
_WHITE: Final = "#ffffff"
_PALE: Final = "#b9bbbe"

SIZES: Final = {
    WidgetStyle.SHIELD: (120, 20),
    WidgetStyle.BANNER1: (320, 106),
    WidgetStyle.BANNER2: (320, 76),
    WidgetStyle.BANNER3: (320, 132),
    WidgetStyle.BANNER4: (320, 250),
}
"""Width and height in pixels."""

_Draw = ImageDraw.ImageDraw
_Font = ImageFont.FreeTypeFont | ImageFont.ImageFont


def draw(style: WidgetStyle, name: str, online: int, icon: bytes | None) -> bytes:
    """Draw a widget as PNG. An icon that cannot be decoded is left out."""
    image = Image.new("RGB", SIZES[style], _DARK)
    count = f"{online:,} online"
    if style is WidgetStyle.SHIELD:
        _draw_shield(image, count)
    else:
        _BANNERS[style](image, name, count, icon)
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def _draw_shield(image: Image.Image, count: str) -> None:
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 19, 19), fill=_ACCENT)
    draw.text((10, 10), _NAME[0], font=_font(13), fill=_WHITE, anchor="mm")
    font = _font(11)
    draw.text((70, 10), _truncate(draw, count, font, 96), font=font, fill=_WHITE, anchor="mm")


def _draw_banner1(image: Image.Image, name: str, count: str, icon: bytes | None) -> None:
    _draw_guild(image, (20, 16), 50, name, count, icon, max_width=230)
    _draw_footer(image, 82, "POWERED BY " + _NAME.upper())


def _draw_banner2(image: Image.Image, name: str, count: str, icon: bytes | None) -> None:
    _draw_guild(image, (13, 20), 36, name, count, icon, max_width=150)
    draw = ImageDraw.Draw(image)
    draw.polygon(((236, 0), (320, 0), (320, 76), (214, 76)), fill=_ACCENT)
    draw.text((272, 38), _NAME, font=_font(15), fill=_WHITE, anchor="mm")


def _draw_banner3(image: Image.Image, name: str, count: str, icon: bytes | None) -> None:
    _draw_guild(image, (20, 20), 50, name, count, icon, max_width=230)
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 90, 320, 132), fill=_ACCENT)
    draw.text((20, 111), _NAME, font=_font(16), fill=_WHITE, anchor="lm")
    draw.text((300, 111), "Chat Now", font=_font(13), fill=_WHITE, anchor="rm")


def _draw_banner4(image: Image.Image, name: str, count: str, icon: bytes | None) -> None:
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, 0, 320, 110), fill=_ACCENT)
    draw.text((160, 55), _NAME, font=_font(36), fill=_WHITE, anchor="mm")
    _draw_guild(image, (20, 126), 50, name, count, icon, max_width=230)
    draw.rounded_rectangle((20, 194, 300, 232), radius=4, fill=_GREEN)
    draw.text((160, 213), "JOIN MY SERVER", font=_font(14), fill=_WHITE, anchor="mm")


_BANNERS: Final = {
    WidgetStyle.BANNER1: _draw_banner1,
    WidgetStyle.BANNER2: _draw_banner2,
    WidgetStyle.BANNER3: _draw_banner3,
    WidgetStyle.BANNER4: _draw_banner4,
}


def _draw_footer(image: Image.Image, top: int, text: str) -> None:
    draw = ImageDraw.Draw(image)
    draw.rectangle((0, top, image.width, image.height), fill=_GREY)
    draw.text((image.width / 2, (top + image.height) / 2), text, font=_font(10), fill=_PALE, anchor="mm")


def _draw_guild(
    image: Image.Image, corner: tuple[int, int], side: int, name: str, count: str, icon: bytes | None, *, max_width: int
) -> None:
    """A guild's icon, or the first letter of its name, with its name and count beside it."""
    left, top = corner
    draw = ImageDraw.Draw(image)
    shown = None if icon is None else _read_icon(icon, side)
    if shown is None:
        draw.rounded_rectangle((left, top, left + side, top + side), radius=8, fill=_ACCENT)
        draw.text((left + side / 2, top + side / 2), name[:1], font=_font(side / 2), fill=_WHITE, anchor="mm")
    else:
        mask = Image.new("L", (side, side), 0)
        ImageDraw.Draw(mask).rounded_rectangle((0, 0, side - 1, side - 1), radius=8, fill=255)
        image.paste(shown, (left, top), mask)
    text = left + side + 13
    font = _font(14)
    middle = top + side / 2
    draw.text((text, middle - 9), _truncate(draw, name, font, max_width - 20), font=font, fill=_WHITE, anchor="lm")
    draw.ellipse((text, middle + 6, text + 7, middle + 13), fill=_GREEN)
    draw.text((text + 13, middle + 9), count, font=_font(11), fill=_PALE, anchor="lm")


def _read_icon(icon: bytes, side: int) -> Image.Image | None:
    try:
        with Image.open(BytesIO(icon)) as opened:
            shown = opened.convert("RGBA").resize((side, side), Image.Resampling.LANCZOS)
    except (OSError, ValueError, Image.DecompressionBombError):
        return None
    background = Image.new("RGBA", shown.size, _GREY)
    return Image.alpha_composite(background, shown).convert("RGB")


def _font(size: float) -> _Font:
    return ImageFont.load_default(size)


def _truncate(draw: _Draw, text: str, font: _Font, max_width: int) -> str:
    """The text, truncated to `max_width` pixels."""
    if draw.textlength(text, font=font) <= max_width:
        return text
    while text and draw.textlength(text + "…", font=font) > max_width:
        text = text[:-1]
    return text + "…"
