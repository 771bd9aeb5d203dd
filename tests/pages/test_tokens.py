"""The design tokens: every colour of a text can be read on every surface, in every theme."""

import colorsys
import re
from collections.abc import Iterable
from importlib import resources
from itertools import combinations, product
from pathlib import Path
from typing import Final

import pytest

CSS: Final = resources.files("moothall.pages").joinpath("tokens.css").read_text()
SURFACES: Final = ("surface-0", "surface-1", "surface-2", "surface-3")
TEXTS: Final = ("text", "text-soft", "link", "danger", "success", "warning")
FILLED: Final = (("on-danger", "danger"), ("on-badge", "badge"), ("mention-text", "mention-ground"))
"""Text on buttons, counts and mentions."""


def declarations(selector: str) -> dict[str, str]:
    """The tokens that the rule of a selector sets."""
    match = re.search(rf"^ *{re.escape(selector)} {{(.*?)}}", CSS, re.DOTALL | re.MULTILINE)
    assert match is not None, selector
    return dict(re.findall(r"--([a-z0-9-]+): (.*?);", match[1]))


LIGHT: Final = declarations(":root")
_DARK: Final = LIGHT | declarations(':root[data-theme="dark"]')
THEMES: Final = {
    "light": LIGHT,
    "dark": _DARK,
    "midnight": _DARK | declarations(':root[data-theme="midnight"]'),
    "paper": LIGHT | declarations(':root[data-theme="paper"]'),
    "contrast": LIGHT | declarations(':root[data-theme="contrast"]'),
}
LEAST: Final = {theme: 7.0 if theme == "contrast" else 4.5 for theme in THEMES}
HUES: Final = tuple(name.removeprefix("hue-") for name in LIGHT if name.startswith("hue-"))
_ACCENTS: Final = {hue: {"accent-hue": f"var(--hue-{hue})", "accent-bright": f"var(--bright-{hue})"} for hue in HUES}
"""What each accent that can be chosen changes."""
_KEYWORDS: Final = {"black": "#000000", "white": "#ffffff"}


def resolve(tokens: dict[str, str], value: str) -> str:
    """The colour of a token's value as `#rrggbb`: of `var()` and of `color-mix()` in sRGB with one share."""
    if variable := re.fullmatch(r"var\(--([a-z0-9-]+)\)", value):
        return resolve(tokens, tokens[variable[1]])
    if mix := re.fullmatch(r"color-mix\(in srgb, (.+?) (\d+)%, (.+)\)", value):
        share = int(mix[2]) / 100
        one, other = (resolve(tokens, each) for each in (mix[1], mix[3]))
        channels = [int(one[at : at + 2], 16) * share + int(other[at : at + 2], 16) * (1 - share) for at in (1, 3, 5)]
        return "#" + "".join(f"{round(each):02x}" for each in channels)
    color = _KEYWORDS.get(value, value)
    assert re.fullmatch(r"#[0-9a-f]{6}", color), value
    return color


def faint(tokens: dict[str, str], pairs: Iterable[tuple[str, str]], least: float) -> dict[tuple[str, str], float]:
    """The pairs of text and ground with less than the least contrast."""
    ratios = {
        (text, ground): contrast(resolve(tokens, tokens[text]), resolve(tokens, tokens[ground]))
        for text, ground in pairs
    }
    return {pair: round(ratio, 2) for pair, ratio in ratios.items() if ratio < least}


def luminance(color: str) -> float:
    """The relative luminance of `#rrggbb` (WCAG 2.2)."""
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours: 1 to 21."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", THEMES)
def test_text_can_be_read_on_every_surface(theme: str) -> None:
    pairs = [*product(TEXTS, SURFACES), *FILLED, ("text", "mention"), ("mention-text", "mention")]
    assert faint(THEMES[theme], pairs, LEAST[theme]) == {}


@pytest.mark.parametrize(("theme", "hue"), list(product(THEMES, HUES)))
def test_every_accent_can_be_read_in_every_theme(theme: str, hue: str) -> None:
    tokens = THEMES[theme] if theme == "contrast" else THEMES[theme] | _ACCENTS[hue]
    pairs = [("on-accent", "accent"), ("on-accent", "accent-hover"), ("text", "accent-soft")]
    assert faint(tokens, [*pairs, ("accent", "surface-2"), ("accent", "surface-3")], LEAST[theme]) == {}
    # A control is found at 3:1 (WCAG 2.2, 1.4.11).
    assert faint(tokens, product(["accent"], SURFACES), 3.0) == {}


@pytest.mark.parametrize("theme", THEMES)
def test_initials_can_be_read_on_every_hue(theme: str) -> None:
    assert len(HUES) == 10
    assert faint(THEMES[theme], [("on-hue", f"hue-{hue}") for hue in HUES], LEAST[theme]) == {}


@pytest.mark.parametrize("theme", ["light", "dark", "midnight", "paper"])
def test_rail_sidebar_and_conversation_lie_at_three_depths(theme: str) -> None:
    rail, sidebar, conversation = (luminance(THEMES[theme][f"surface-{depth}"]) for depth in range(3))
    assert rail < sidebar < conversation


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_what_means_something_else_has_another_hue(theme: str) -> None:
    tokens = THEMES[theme]
    colors = [resolve(tokens, tokens[name]) for name in ("accent", "link", "mention-text", "success", "warning")]
    hues = [colorsys.rgb_to_hls(*(int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)))[0] * 360 for color in colors]
    distances = [min(abs(one - other), 360 - abs(one - other)) for one, other in combinations(hues, 2)]
    assert min(distances) > 15, list(zip(colors, hues, strict=True))


def test_every_accent_and_hue_has_its_rule() -> None:
    for hue in HUES:
        assert declarations(f'[data-hue="{hue}"]') == {"hue": f"var(--hue-{hue})"}
        if LIGHT["accent-hue"] != f"var(--hue-{hue})":
            assert declarations(f':root[data-accent="{hue}"]') == _ACCENTS[hue]
    source = (Path(__file__).parents[2] / "web" / "src" / "ui" / "hues.ts").read_text()
    listed = re.search(r"HUES = \[(.*?)\]", source, re.DOTALL)
    assert listed is not None
    assert tuple(re.findall(r'"(\w+)"', listed[1])) == HUES


def test_the_theme_of_the_device_is_the_one_that_can_be_chosen() -> None:
    device = declarations(':root:not([data-theme="light"], [data-theme="paper"])')
    assert device == declarations(':root[data-theme="dark"]')


def test_the_frame_of_an_installed_app_has_the_colour_of_the_page() -> None:
    page = (Path(__file__).parents[2] / "web" / "index.html").read_text()
    for theme in ("light", "dark"):
        assert f'content="{THEMES[theme]["surface-1"]}" media="(prefers-color-scheme: {theme})"' in page


def test_operators_are_told_every_token() -> None:
    text = (Path(__file__).parents[2] / "docs" / "themes.md").read_text()
    table = text[text.index("| Tokens |") : text.index("A theme is")]
    documented = set(re.findall(r"--([a-z][a-z0-9-]*)", table)) - {"hue-", "bright-"}
    ranges = {"surface": range(4), "space": range(1, 7), "radius": range(1, 4)}
    documented |= {f"{name}-{number}" for name, numbers in ranges.items() for number in numbers}
    documented |= {"text-s", "text-m", "text-l"} | {f"{kind}-{hue}" for hue in HUES for kind in ("hue", "bright")}
    assert documented == set(LIGHT)
