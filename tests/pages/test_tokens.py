"""The design tokens: every colour of a text can be read on every surface, in every theme."""

import re
from importlib import resources
from itertools import product
from pathlib import Path
from typing import Final

import pytest

CSS: Final = resources.files("moothall.pages").joinpath("tokens.css").read_text()
SURFACES: Final = ("surface-0", "surface-1", "surface-2", "surface-3")
TEXTS: Final = ("text", "text-soft", "link", "danger", "success", "warning")
FILLED: Final = (("on-accent", "accent"), ("on-accent", "accent-hover"), ("on-danger", "danger"))
"""Text on buttons."""


def declarations(selector: str) -> dict[str, str]:
    """The tokens that the rule of a selector sets."""
    match = re.search(rf"^ *{re.escape(selector)} {{(.*?)}}", CSS, re.DOTALL | re.MULTILINE)
    assert match is not None, selector
    return dict(re.findall(r"--([a-z0-9-]+): (.*?);", match[1]))


LIGHT: Final = declarations(":root")
THEMES: Final = {
    "light": LIGHT,
    "dark": LIGHT | declarations(':root[data-theme="dark"]'),
    "contrast": LIGHT | declarations(':root[data-theme="contrast"]'),
}


def luminance(color: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize(("theme", "least"), [("light", 4.5), ("dark", 4.5), ("contrast", 7.0)])
def test_text_can_be_read_on_every_surface(theme: str, least: float) -> None:
    tokens = THEMES[theme]
    pairs = [*product(TEXTS, SURFACES), *FILLED, ("text", "accent-soft"), ("text", "mention")]
    faint = {(text, ground): contrast(tokens[text], tokens[ground]) for text, ground in pairs}
    assert {pair: round(ratio, 2) for pair, ratio in faint.items() if ratio < least} == {}


def test_the_theme_of_the_device_is_the_one_that_can_be_chosen() -> None:
    assert declarations(':root:not([data-theme="light"])') == declarations(':root[data-theme="dark"]')


def test_the_frame_of_an_installed_app_has_the_colour_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "web" / "index.html").read_text()
    for theme, tokens in THEMES.items():
        if theme != "contrast":
            assert f'content="{tokens["surface-1"]}" media="(prefers-color-scheme: {theme})"' in page
