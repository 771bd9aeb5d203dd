"""Draw the icons of the web app from icon.svg: `draw_icons.py`. Needs Chromium, and is run when the SVG changes.

Writes PNG files beside it: with its round corners, for the home screens of iOS (which round the corners themselves),
and maskable, whose motif stays inside the circle that every system shows.
"""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

from playwright.sync_api import sync_playwright

FOLDER: Final = Path(__file__).parent.parent / "src" / "moothall" / "pages" / "icons"


class Icon(NamedTuple):
    """A picture to draw. `full` fills the corners, `scale` is the size of the motif."""

    name: str
    size: int
    full: bool = False
    scale: float = 1.0


ICONS: Final = (
    Icon("icon-192.png", 192),
    Icon("icon-512.png", 512),
    Icon("icon-maskable-512.png", 512, full=True, scale=0.8),
    Icon("apple-touch-icon.png", 180, full=True, scale=0.9),
)
_BACKGROUND: Final = "#ae4011"
"""The colour of the SVG's own ground."""


def page_of(svg: str, icon: Icon) -> str:
    """The HTML of a picture that fills the window."""
    ground = _BACKGROUND if icon.full else "transparent"
    edge = icon.size * icon.scale
    return (
        f"<style>body {{ margin: 0; display: grid; place-items: center; height: 100vh; background: {ground} }}"
        f" svg {{ width: {edge}px; height: {edge}px }}</style>{svg}"
    )


def main() -> None:
    """Draw every icon."""
    svg = (FOLDER / "icon.svg").read_text()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for icon in ICONS:
            page = browser.new_page(viewport={"width": icon.size, "height": icon.size})
            page.set_content(page_of(svg, icon))
            page.screenshot(path=FOLDER / icon.name, omit_background=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
