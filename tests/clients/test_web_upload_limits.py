"""The client for people on a server whose operator takes smaller files than the guild's level would allow."""

import pytest
from playwright.async_api import Browser, FilePayload, expect

from tests.clients.bots import Harbour
from tests.clients.client_pages import Account, ClientPage
from tests.clients.live import World

MIB = 1 << 20
FORUM = 15


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "max_upload_bytes": str(2 * MIB)}


def file(name: str, size: int) -> FilePayload:
    return FilePayload(name=name, mimeType="application/octet-stream", buffer=b"x" * size)


async def test_a_file_larger_than_the_server_takes_is_refused_before_it_is_sent(browser: Browser, world: World) -> None:
    async with Harbour.opened(world) as harbour:
        account = Account(str(harbour.owner.id), harbour.owner.token)
        path = f"/channels/{harbour.guild.id}/{harbour.channel.id}"
        owner = await ClientPage.open_as(browser, world.server.url, account, path)
        page = owner.page
        await expect(owner.box).to_be_visible()
        async with page.expect_file_chooser() as chooser:
            await page.get_by_role("button", name="Add", exact=True).click()
            await page.get_by_role("menuitem", name="Attach files").click()
        await (await chooser.value).set_files([file("large.bin", 2 * MIB), file("small.bin", MIB)])
        await expect(page.get_by_text("large.bin is too large: files may have up to 1.9 MB here.")).to_be_visible()
        await expect(page.get_by_role("button", name="Send", exact=True)).to_be_disabled()
        await page.get_by_role("button", name="Remove large.bin").click()
        await owner.say("with a file")
        await expect(owner.message("with a file").get_by_text("small.bin")).to_be_visible()


async def test_a_post_says_which_of_its_files_is_too_large(browser: Browser, world: World) -> None:
    owner = await world.resident()
    guild_id = await world.guild(owner)
    rules = str(await world.text_channel(owner, guild_id))
    community = {
        "features": ["COMMUNITY"],
        "verification_level": 1,
        "explicit_content_filter": 2,
        "rules_channel_id": rules,
        "public_updates_channel_id": rules,
    }
    await owner.patch(f"/guilds/{guild_id}", community)
    forum = await owner.post(f"/guilds/{guild_id}/channels", {"name": "ideas", "type": FORUM})
    path = f"/channels/{guild_id}/{forum['id']}"
    client = await ClientPage.open_as(browser, world.server.url, Account(str(owner.id), owner.token), path)
    page = client.page
    await page.get_by_role("button", name="New post").first.click()
    await page.get_by_label("Title").fill("A post")
    async with page.expect_file_chooser() as chooser:
        await page.get_by_role("button", name="Attach files").click()
    await (await chooser.value).set_files([file("large.bin", 2 * MIB)])
    await expect(page.get_by_role("alert")).to_have_text("large.bin is too large: files may have up to 1.9 MB here.")
    await expect(page.get_by_role("button", name="Post", exact=True)).to_be_disabled()
    await page.get_by_role("button", name="Remove large.bin").click()
    await expect(page.get_by_role("alert")).to_have_count(0)
