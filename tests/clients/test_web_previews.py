"""Link previews in the client: shown from this server alone, hidden in spoilers, and nothing that a page says runs."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp import web
from playwright.async_api import Browser, Request, expect

from tests.clients.client_pages import ClientPage, open_new_guild
from tests.clients.live import Server
from tests.resources.link_preview.sites import Site, meta, picture, running_site

SHOTS = os.environ.get("MOOTHALL_TEST_SHOTS")
"""A folder for pictures of the screens, to look at."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with running_site() as running:
        yield running


async def open_guild(browser: Browser, server: Server, name: str) -> tuple[ClientPage, list[str]]:
    """A client in a new guild, and the URLs that it requests from then on."""
    (client,) = await open_new_guild(browser, server.url, name)
    requested: list[str] = []

    def note(request: Request) -> None:
        requested.append(request.url)

    client.page.on("request", note)
    return client, requested


async def shoot(client: ClientPage, name: str) -> None:
    """Take a picture of the screen, if a folder for them is set."""
    if SHOTS:
        await client.page.screenshot(path=Path(SHOTS) / f"{name}.png")


async def test_a_link_shows_its_page_and_its_picture_through_this_server_only(
    browser: Browser, server: Server, site: Site
) -> None:
    client, requested = await open_guild(browser, server, "previews1")
    site.page("/picture.png", picture(width=1200, height=630), content_type="image/png")
    link = site.page(
        "/article",
        meta(
            og__title="How the moot was called",
            og__description="Every hundred had its own hall, and everybody who came could speak.",
            og__site_name="The Chronicle",
            og__type="article",
            og__image="/picture.png",
        ),
    )
    await client.say(f"worth reading: {link}")
    embed = client.message("worth reading").locator(".embed")
    await expect(embed).to_contain_text("The Chronicle")
    await expect(embed.get_by_role("link", name="How the moot was called")).to_have_attribute("href", link)
    image = embed.locator("img.embed-image")
    await expect(image).to_be_visible()
    await client.page.wait_for_function("() => document.querySelector('img.embed-image').naturalWidth > 0")
    await expect(image).to_have_js_property("complete", value=True)
    assert "/external/" in (await image.get_attribute("src") or "")
    await shoot(client, "preview-article")
    # A reload shows it as well, and every request of the browser went to this server.
    await client.page.reload()
    await expect(client.page.locator(".embed")).to_contain_text("The Chronicle")
    assert [url for url in requested if not url.startswith((server.url, "blob:", "data:"))] == []
    assert client.errors == []


async def test_images_videos_and_spoilers(browser: Browser, server: Server, site: Site) -> None:
    client, _ = await open_guild(browser, server, "previews2")
    image = site.page("/photo.png", picture(width=800, height=500), content_type="image/png")
    player = site.page(
        "/watch",
        meta(og__title="A film", og__image="/photo.png", og__video="https://player.example/1",
             og__video__type="text/html"),
    )  # fmt: skip
    await client.say(f"a photo {image}")
    await expect(client.message("a photo").locator("a.embed-alone img")).to_be_visible()
    await client.say(f"a film {player}")
    play = client.message("a film").get_by_role("link", name="Play the video at its site")
    await expect(play).to_have_attribute("href", player)
    await client.say(f"a secret ||{site.page('/secret', meta(og__title='Who did it'))}||")
    secret = client.message("a secret")
    await expect(secret.locator(".embed-spoiler")).to_be_visible()
    await expect(secret.get_by_text("Who did it")).to_have_count(0)
    await shoot(client, "preview-media")
    await secret.locator(".embed-spoiler").click()
    await expect(secret.get_by_text("Who did it")).to_be_visible()
    assert client.errors == []


async def test_a_hostile_page_runs_no_script(browser: Browser, server: Server, site: Site) -> None:
    client, requested = await open_guild(browser, server, "previews3")
    script = "&lt;img src=x onerror=&quot;document.title=1&quot;&gt; @everyone [a](javascript:1) ||x||"
    site.serve("/evil.png", lambda _: web.Response(text="<script>document.title=1</script>", content_type="image/png"))
    link = site.page(
        "/evil",
        meta(og__title=script, og__description=script, og__site_name=script, og__image="/evil.png",
             og__video="javascript:document.title=1", og__url="javascript:document.title=1"),
    )  # fmt: skip
    await client.say(f"look {link}")
    embed = client.message("look").locator(".embed")
    await expect(embed).to_contain_text("<img src=x onerror=")
    assert await embed.locator("img, script, iframe, .spoiler, .mention").count() == 0
    links = await embed.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert set(links) == {link}
    assert (await client.page.title()).endswith(" · Moothall")
    assert [url for url in requested if not url.startswith((server.url, "blob:", "data:"))] == []
    assert client.errors == []


async def test_previews_have_no_accessibility_violation(browser: Browser, server: Server, site: Site) -> None:
    (client,) = await open_new_guild(browser, server.url, "previews4", color_scheme="dark")
    site.page("/p.png", picture(width=800, height=500), content_type="image/png")
    page = meta(og__title="A title", og__description="text", og__site_name="A site", og__image="/p.png")
    await client.say(f"{site.page('/a', page)} {site.url}/p.png")
    await expect(client.page.locator(".embed")).to_be_visible()
    await expect(client.page.locator("a.embed-alone")).to_be_visible()
    await shoot(client, "preview-dark")
    assert await client.violations() == []
