"""Files through discord.py: sent, read back, edited, shown in embeds and components, from webhooks."""

import io
from collections.abc import AsyncIterator

import aiohttp
import discord
import pytest
from PIL import Image

from tests.clients.bots import Harbour, soon
from tests.clients.live import World


@pytest.fixture
async def harbour(world: World) -> AsyncIterator[Harbour]:
    """A guild with a bot online in it."""
    async with Harbour.opened(world) as opened:
        yield opened


def png(width: int = 40, height: int = 20) -> bytes:
    """A picture."""
    out = io.BytesIO()
    Image.new("RGB", (width, height), (1, 2, 3)).save(out, "PNG")
    return out.getvalue()


def file(data: bytes, name: str, **options: object) -> discord.File:
    """A file for discord.py, which reads it once."""
    return discord.File(io.BytesIO(data), name, **options)  # type: ignore[arg-type]


async def test_files_are_sent_heard_of_and_read(harbour: Harbour) -> None:
    data = bytes(range(256)) * 12_000
    heard = soon(harbour.client, "message")
    sent = await harbour.channel.send(
        "two", files=[file(data, "big file.bin", description="bytes"), file(png(), "a.png", spoiler=True)]
    )
    assert [(a.filename, a.size) for a in sent.attachments] == [
        ("big_file.bin", len(data)),
        ("SPOILER_a.png", len(png())),
    ]
    big, picture = sent.attachments
    assert (big.description, big.content_type) == ("bytes", "application/octet-stream")
    assert (picture.width, picture.height, picture.content_type) == (40, 20, "image/png")
    assert picture.is_spoiler()
    assert picture.flags.spoiler
    assert await big.read() == data
    assert await picture.read(use_cached=True) == png()
    assert (await heard).attachments[0].url == big.url
    fetched = await harbour.channel.fetch_message(sent.id)
    assert [attachment.id for attachment in fetched.attachments] == [big.id, picture.id]
    resent = await harbour.channel.send(file=await big.to_file())
    assert await resent.attachments[0].read() == data


async def test_edits_keep_add_and_clear_files(harbour: Harbour) -> None:
    sent = await harbour.channel.send("x", files=[file(b"a", "a.txt"), file(b"b", "b.txt")])
    edited = await sent.edit(attachments=[sent.attachments[1], file(b"c", "c.txt")])
    assert [attachment.filename for attachment in edited.attachments] == ["b.txt", "c.txt"]
    assert edited.attachments[0].id == sent.attachments[1].id
    more = await edited.add_files(file(b"d", "d.txt"))
    assert [attachment.filename for attachment in more.attachments] == ["b.txt", "c.txt", "d.txt"]
    less = await more.remove_attachments(more.attachments[0])
    assert [attachment.filename for attachment in less.attachments] == ["c.txt", "d.txt"]
    none = await less.edit(attachments=[])
    assert none.attachments == []
    with pytest.raises(discord.NotFound):
        await sent.attachments[0].read()


async def test_embeds_show_files_by_name(harbour: Harbour) -> None:
    embed = (
        discord.Embed(title="t").set_image(url="attachment://a.png").set_footer(text="f", icon_url="attachment://a.png")
    )
    sent = await harbour.channel.send(embed=embed, file=file(png(), "a.png"))
    assert sent.attachments == []
    (shown,) = sent.embeds
    assert (shown.image.width, shown.image.height) == (40, 20)
    assert shown.image.url is not None
    assert shown.footer.icon_url == shown.image.url
    async with aiohttp.ClientSession() as session, session.get(shown.image.url) as answer:
        assert await answer.read() == png()
    edited = await sent.edit(embed=shown)
    assert edited.embeds[0].image.url == shown.image.url


async def test_components_show_files(harbour: Harbour) -> None:
    view = discord.ui.LayoutView()
    view.add_item(discord.ui.File("attachment://notes.txt"))
    view.add_item(discord.ui.MediaGallery(discord.MediaGalleryItem("attachment://a.png", description="d")))
    sent = await harbour.channel.send(view=view, files=[file(b"notes", "notes.txt"), file(png(), "a.png")])
    document, gallery = sent.components
    assert isinstance(document, discord.FileComponent)
    assert isinstance(gallery, discord.MediaGalleryComponent)
    assert (document.name, document.size) == ("notes.txt", 5)
    assert gallery.items[0].media.width == 40
    async with aiohttp.ClientSession() as session, session.get(document.media.url) as answer:
        assert await answer.read() == b"notes"
    again = await sent.edit(view=discord.ui.LayoutView.from_message(sent))
    assert isinstance(again.components[0], discord.FileComponent)
    assert again.components[0].media.url == document.media.url


async def test_webhooks_send_and_edit_files(harbour: Harbour) -> None:
    webhook = await harbour.channel.create_webhook(name="Hook")
    sent = await webhook.send("x", file=file(b"a", "a.txt"), wait=True)
    assert await sent.attachments[0].read() == b"a"
    edited = await sent.edit(attachments=[*sent.attachments, file(b"b", "b.txt")])
    assert [attachment.filename for attachment in edited.attachments] == ["a.txt", "b.txt"]


async def test_posts_of_forums_and_voice_messages_have_files(harbour: Harbour) -> None:
    await harbour.guild.edit(
        community=True, rules_channel=harbour.channel, public_updates_channel=harbour.channel,
        verification_level=discord.VerificationLevel.low,
        explicit_content_filter=discord.ContentFilter.all_members,
    )  # fmt: skip
    forum = await harbour.guild.create_forum("forum")
    _, first = await forum.create_thread(name="post", content="x", file=file(png(), "a.png"))
    assert await first.attachments[0].read() == png()


async def test_a_file_too_large_is_refused(harbour: Harbour) -> None:
    with pytest.raises(discord.HTTPException) as caught:
        await harbour.channel.send(file=file(bytes(harbour.guild.filesize_limit + 1), "a.bin"))
    assert (caught.value.status, caught.value.code) == (413, 40005)
