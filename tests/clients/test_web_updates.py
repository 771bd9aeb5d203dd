"""A new build of the client under a page that is open: the page goes on, and loads itself anew where it must."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

import moothall
from moothall.pages.client_files import FOLDER
from tests.clients.client_pages import open_new_guild, require_client
from tests.clients.live import Server
from tests.support.serving import RunningServer

PACKAGE = Path(moothall.__file__).parent
SCRIPT = "() => document.querySelector('script[type=module]').src"


class UpdatedServer(Server):
    """A server that runs from links to the package, with a copy of the client's build that can be replaced."""

    def __init__(self, folder: Path) -> None:
        package = folder / "source" / "moothall"
        pages = package / "pages"
        pages.mkdir(parents=True)
        for path in PACKAGE.iterdir():
            if path.name not in {"pages", "__pycache__"}:
                (package / path.name).symlink_to(path)
        for path in (PACKAGE / "pages").iterdir():
            if path.name not in {"client", "__pycache__"}:
                (pages / path.name).symlink_to(path)
        self.client = pages / "client"
        shutil.copytree(FOLDER, self.client)
        self.source = package.parent
        super().__init__(folder / "data")

    def _prepare(self, *arguments: str) -> RunningServer:
        # A fork would run the package that its tests run.
        within = ("env", f"PYTHONPATH={self.source}")
        return RunningServer(self.data, *arguments, "--no-rate-limits", within=within)

    def update_client(self) -> None:
        """Replace the build by one whose files have other names, as those of another version have."""
        assets = self.client / "assets"
        names = [path.name for path in assets.iterdir() if path.suffix in {".js", ".css"}]
        renamed = {name: re.sub(r"(\.\w+)$", r"_next\1", name) for name in names}
        pattern = re.compile("|".join(re.escape(name) for name in sorted(names, key=len, reverse=True)))
        for path in [*self.client.rglob("*.br"), *self.client.rglob("*.gz")]:
            path.unlink()
        for path in self.client.rglob("*"):
            if path.suffix in {".js", ".css", ".html"}:
                path.write_text(pattern.sub(lambda match: renamed[match[0]], path.read_text()))
        for name in names:
            (assets / name).rename(assets / renamed[name])


@pytest.fixture
def updated(tmp_path: Path) -> Iterator[UpdatedServer]:
    require_client()
    server = UpdatedServer(tmp_path)
    server.start()
    yield server
    server.stop()


@pytest.mark.parametrize("service_workers", ["allow", "block"])
async def test_an_open_page_survives_a_new_build(
    browser: Browser, updated: UpdatedServer, service_workers: str
) -> None:
    (client,) = await open_new_guild(browser, updated.url, "ada", service_workers=service_workers)
    page = client.page
    if service_workers == "allow":
        await page.wait_for_function("() => navigator.serviceWorker.controller !== null")
    before = await page.evaluate(SCRIPT)
    updated.stop()
    updated.update_client()
    updated.start()

    await client.say("after the update")
    await expect(client.message("after the update")).not_to_contain_text("Sending…")
    assert await page.evaluate(SCRIPT) == before
    await page.get_by_role("button", name="Settings", exact=True).click()
    await expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
    assert await page.evaluate(SCRIPT) == before.replace(".js", "_next.js")


async def test_a_screen_that_cannot_be_loaded_waits_for_the_server(browser: Browser, updated: UpdatedServer) -> None:
    (client,) = await open_new_guild(browser, updated.url, "ada")
    page = client.page
    updated.stop()
    await page.get_by_role("button", name="Settings", exact=True).click()
    await expect(page.get_by_text("This loads as soon as the server answers…")).to_be_visible()
    updated.start()
    await expect(page.get_by_role("heading", name="Account", exact=True)).to_be_visible()
