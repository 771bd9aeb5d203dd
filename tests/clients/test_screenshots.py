"""The pictures of docs/screenshots: made from the client as it is, where MOOTHALL_TEST_SCREENSHOTS is set.

They are not made by a plain run, whose working tree would change with every hour that they show.
"""

import os
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from PIL import Image
from playwright.async_api import Browser, expect

from tests.clients.client_pages import ClientPage
from tests.clients.live import Server
from tests.resources.link_preview.sites import Site, meta, running_site

FOLDER: Final = Path(__file__).parents[2] / "docs" / "screenshots"
BYTES_MAX: Final = 120_000

pytestmark = pytest.mark.skipif(
    not os.environ.get("MOOTHALL_TEST_SCREENSHOTS"), reason="MOOTHALL_TEST_SCREENSHOTS is not set"
)


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with running_site() as running:
        yield running


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


async def shoot(client: ClientPage, name: str) -> None:
    """Write a picture of a screen, with a palette of 256 colours, and check that it is small."""
    await client.page.mouse.move(0, 0)
    await client.page.wait_for_function("() => document.getAnimations().every((each) => each.playState !== 'running')")
    with Image.open(BytesIO(await client.page.screenshot())) as image:
        palette = image.convert("RGB").quantize(256, dither=Image.Dither.NONE)
    FOLDER.mkdir(parents=True, exist_ok=True)
    palette.save(FOLDER / f"{name}.png", optimize=True)
    assert (FOLDER / f"{name}.png").stat().st_size <= BYTES_MAX


def landscape() -> bytes:
    """A picture of hills."""
    image = Image.new("RGB", (640, 336))
    for y in range(336):
        for x in range(0, 640, 2):
            ridge = 150 + 40 * ((x % 320) - 160) ** 2 // 25_600
            colour = (236 - y // 4, 196 - y // 6, 150) if y < ridge else (70 + y // 8, 96 - y // 8, 70)
            image.paste(colour, (x, y, x + 2, y + 1))
    out = BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


async def test_the_main_screens_are_photographed(browser: Browser, server: Server, site: Site) -> None:
    ada = await ClientPage.open(browser, server.url, viewport={"width": 1440, "height": 900}, color_scheme="light")
    ben = await ClientPage.open(browser, server.url, viewport={"width": 390, "height": 844}, color_scheme="light")
    await ada.register("ada")
    await ada.create_guild("The Moot")
    await ben.register("ben")
    await ben.join(await ada.invite_link())
    site.page("/hills.png", landscape(), content_type="image/png")
    link = site.page(
        "/hall",
        meta(
            og__title="A hall with a view",
            og__description="Where the moot meets in summer, with room for everybody and their questions.",
            og__site_name="The Chronicle",
            og__type="article",
            og__image="/hills.png",
        ),
    )
    await ada.say("Welcome to **The Moot**! Say *hello* here, and ask for a channel if one is missing.")
    await ben.say("Hello! Where do we meet in June?")
    await expect(ada.message("in June")).to_have_count(1)
    await ada.say(f"In [the hall by the river]({link}), if the weather holds.")
    await expect(ada.page.locator("img.embed-image")).to_be_visible()
    await ada.page.wait_for_function("() => document.querySelector('img.embed-image').naturalWidth > 0")
    await ben.say("I will bring `tea`, and a list:\n- cups\n- a kettle\n- biscuits")
    await expect(ada.message("I will bring")).to_have_count(1)
    await expect(ben.page.locator("img.embed-image")).to_be_visible()
    # What is open is read.
    await expect(ada.page.locator(".rail-unread")).to_have_count(0)
    await shoot(ben, "phone")
    await shoot(ada, "channel")
    await ada.page.emulate_media(color_scheme="dark")
    await shoot(ada, "channel-dark")
    await ada.page.goto(f"{server.url}/app/settings/appearance")
    await expect(ada.page.get_by_role("radiogroup", name="Theme")).to_be_visible()
    await shoot(ada, "settings-dark")
    assert (ada.errors, ben.errors) == ([], [])
