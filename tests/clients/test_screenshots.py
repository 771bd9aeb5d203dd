"""The pictures of docs/screenshots: made from the client as it is, where MOOTHALL_TEST_SCREENSHOTS is set.

They are not made by a plain run, whose working tree would change with every hour that they show.
"""

import asyncio
import os
from collections.abc import AsyncIterator
from io import BytesIO
from pathlib import Path
from typing import Final

import pytest
from PIL import Image, ImageDraw
from playwright.async_api import Browser, Page, expect

from tests.clients.client_pages import PASSWORD, ClientPage
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


async def still(page: Page) -> Image.Image:
    """A picture of a page, once nothing on it moves."""
    await page.mouse.move(0, 0)
    await page.wait_for_function("() => document.getAnimations().every((each) => each.playState !== 'running')")
    with Image.open(BytesIO(await page.screenshot())) as image:
        return image.convert("RGB")


def keep(image: Image.Image, name: str) -> None:
    """Write a picture with a palette of 256 colours, and check that it is small."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    image.quantize(256, dither=Image.Dither.NONE).save(FOLDER / f"{name}.png", optimize=True)
    assert (FOLDER / f"{name}.png").stat().st_size <= BYTES_MAX


async def shoot(client: ClientPage, name: str) -> None:
    """Write a picture of a screen."""
    keep(await still(client.page), name)


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
    await ada.page.emulate_media(color_scheme="light")
    await shoot_tools(ada)
    await ada.page.emulate_media(color_scheme="dark")
    await ada.page.goto(f"{server.url}/app/settings/appearance")
    await expect(ada.page.get_by_role("radiogroup", name="Theme")).to_be_visible()
    await shoot(ada, "settings-dark")
    assert (ada.errors, ben.errors) == ([], [])


async def shoot_tools(ada: ClientPage) -> None:
    """Pictures of what opens over and beside a channel, and of its settings."""
    page = ada.page
    await page.get_by_role("button", name="Inbox").click()
    await page.get_by_role("tab", name="Saved").click()
    await expect(page.get_by_role("heading", name="Nothing saved")).to_be_visible()
    await shoot(ada, "inbox")
    await page.get_by_role("complementary", name="Inbox").get_by_role("button", name="Close").click()
    await page.keyboard.press("Control+Shift+P")
    await expect(page.get_by_role("option", name="Log out You")).to_be_attached()
    await shoot(ada, "commands")
    await page.keyboard.press("Escape")
    await page.get_by_role("link", name="general", exact=True).hover()
    await page.get_by_role("button", name="Settings of general", exact=True).click()
    await expect(page.get_by_role("heading", level=1, name="Overview")).to_be_visible()
    await shoot(ada, "channel-settings")


NEWCOMER_SECONDS_MAX: Final = 60.0
_FRAME: Final = (320, 200)


def film_strip(frames: list[tuple[float, Image.Image]]) -> Image.Image:
    """Pictures beside each other, each with the seconds below it."""
    width, height = _FRAME
    strip = Image.new("RGB", (width * len(frames), height + 24), "white")
    for index, (at, image) in enumerate(frames):
        strip.paste(image.resize(_FRAME), (index * width, 0))
        ImageDraw.Draw(strip).text((index * width + 8, height + 6), f"{at:.1f} s", fill="black")
    return strip


async def test_a_newcomer_reads_the_first_answer_within_a_minute(browser: Browser, server: Server) -> None:
    """From the start page to a message that a friend has answered, as a film strip with the seconds."""
    context = await browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US", color_scheme="light")
    nora = ClientPage(await context.new_page(), server.url)
    page = nora.page
    frames: list[tuple[float, Image.Image]] = []
    loop = asyncio.get_running_loop()
    pictures = 0.0
    begin = loop.time()

    async def frame() -> None:
        """Take a picture; the time that this needs does not count."""
        nonlocal pictures
        before = loop.time()
        frames.append((before - begin - pictures, await still(page)))
        pictures += loop.time() - before

    await page.goto(server.url)
    await frame()
    await page.get_by_role("link", name="Make an account").click()
    await page.get_by_label("Username").fill("nora")
    await page.get_by_label("Password").fill(PASSWORD)
    await frame()
    await page.get_by_role("button", name="Register").click()
    await page.wait_for_url("**/channels/@me")
    await expect(page.get_by_role("heading", name="No friend is online right now")).to_be_visible()
    await frame()
    await nora.create_guild("Sunday rowers")
    await frame()
    await nora.say("Who rows on Sunday?")
    code = await nora.invite_link()
    before = loop.time()
    friend = await ClientPage.open(browser, server.url)
    await friend.register("finn")
    await friend.join(code)
    # A friend takes the time that a friend takes.
    pictures += loop.time() - before
    await friend.say("I do! At nine?")
    await expect(nora.message("At nine?")).to_be_visible()
    await frame()
    seconds = frames[-1][0]
    keep(film_strip(frames), "newcomer")
    assert seconds <= NEWCOMER_SECONDS_MAX
    assert (nora.errors, friend.errors) == ([], [])
