"""The avatars that webhooks give to single messages: served like all avatars, and gone with their messages."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from sqlalchemy import func, select

from moothall.api.address_limits import AddressLimits
from moothall.api.request.images import blob_key
from moothall.cdn.external import ExternalMedia
from moothall.cdn.images import ImageFiles
from moothall.cdn.message_avatars import WebhookPictures
from moothall.runtime.outgoing import Outgoing
from moothall.storage.blobs import Blobs
from moothall.storage.database import Query
from moothall.storage.disk_cache import DiskCache
from moothall.storage.schema import message_avatars
from tests.resources.link_preview.sites import picture, running_site
from tests.support.harness import Guild, Platform

_count = Query(select(func.count()).select_from(message_avatars))


class Cdn:
    """The images of a platform."""

    def __init__(self, files: ImageFiles, blobs: Blobs) -> None:
        self.files = files
        self.blobs = blobs

    async def get(self, path: str, query: str = "", **headers: str) -> tuple[int, dict[bytes, bytes], bytes]:
        sent: list[Any] = []

        async def send(event: Any) -> None:
            sent.append(event)

        async def receive() -> Any:
            raise AssertionError

        listed = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "headers": listed}
        await self.files(scope, receive, send)
        return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]

    async def avatar(self, message: Any, ending: str = "png", query: str = "") -> tuple[int, dict[bytes, bytes], bytes]:
        author = message["author"]
        return await self.get(f"/avatars/{author['id']}/{author['avatar']}.{ending}", query)


@asynccontextmanager
async def images_of(platform: Platform, folder: Path, *, allow_private: bool = True) -> AsyncIterator[Cdn]:
    links, limits, blobs = platform.services.links, AddressLimits(None), Blobs.open(str(folder / "blobs"))
    external = ExternalMedia(links, Outgoing(allow_private=allow_private), DiskCache(folder / "cache", 1 << 20), limits)
    yield Cdn(ImageFiles(blobs, limits, WebhookPictures(platform.database, links, external)), blobs)
    await external.close()


async def webhook_in(guild: Guild) -> str:
    """The path of a new webhook of a guild."""
    made = (await guild.owner.post(f"/channels/{guild.general}/webhooks", {"name": "Bridge"})).json
    return f"/webhooks/{made['id']}/{made['token']}"


async def stored(platform: Platform) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(_count))


@pytest.mark.parametrize("ending", ["png", "webp", "jpg"])
async def test_the_picture_of_a_message_is_served_in_every_format_and_size(
    platform: Platform, tmp_path: Path, ending: str
) -> None:
    guild = await platform.guild(await platform.person())
    hook = await webhook_in(guild)
    async with running_site() as site, images_of(platform, tmp_path) as cdn:
        url = site.page("/ann.png", picture(width=600, height=600), content_type="image/png")
        message = (await platform.anonymous.post(hook, {"content": "x", "avatar_url": url}, wait=True)).json
        assert site.requested == []  # a message does not wait for another server
        status, headers, body = await cdn.avatar(message, ending, "size=64")
        assert (status, Image.open(BytesIO(body)).size) == (200, (64, 64))
        assert headers[b"cache-control"] == b"public, max-age=86400"
        assert (await cdn.avatar(message, ending))[0] == 200
        assert site.requested == ["/ann.png"]
        assert (await cdn.avatar(message, "gif"))[0] == 404
        same = f"/avatars/{message['author']['id']}/{message['author']['avatar']}.{ending}"
        assert (await cdn.get(same, "size=64", if_none_match=headers[b"etag"].decode()))[0] == 304
        other = {"id": str(int(message["author"]["id"]) + 1), "avatar": message["author"]["avatar"]}
        assert (await cdn.avatar({"author": other}, ending))[0] == 404


async def test_every_place_shows_the_same_hash_and_an_edit_keeps_it(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    hook = await webhook_in(guild)
    body = {"content": "bread", "avatar_url": "https://example.org/ann.png"}
    message = (await platform.anonymous.post(hook, body, wait=True)).json
    path = f"/channels/{guild.general}/messages"
    await platform.anonymous.patch(f"{hook}/messages/{message['id']}", {"content": "bread and salt"})
    await guild.owner.put(f"/channels/{guild.general}/messages/pins/{message['id']}")
    reply = {"content": "re", "message_reference": {"message_id": message["id"]}}
    answered = (await guild.owner.post(path, reply)).json
    listed = (await guild.owner.get(path)).json
    pinned = (await guild.owner.get(f"/channels/{guild.general}/messages/pins")).json["items"]
    shown = [
        platform.heard_data("MESSAGE_CREATE")[0],
        platform.heard_data("MESSAGE_UPDATE")[0],
        answered["referenced_message"],
        next(row for row in listed if row["id"] == message["id"]),
        pinned[0]["message"],
        (await platform.anonymous.get(f"{hook}/messages/{message['id']}")).json,
    ]
    assert [row["author"] for row in shown] == [message["author"]] * len(shown)


async def test_nothing_is_left_once_the_last_message_is_deleted(platform: Platform, tmp_path: Path) -> None:
    guild = await platform.guild(await platform.person())
    hook = await webhook_in(guild)
    async with running_site() as site, images_of(platform, tmp_path) as cdn:
        url = site.page("/ann.png", picture(), content_type="image/png")
        body = {"content": "x", "avatar_url": url}
        messages = [(await platform.anonymous.post(hook, body, wait=True)).json for _ in range(3)]
        assert await stored(platform) == 3
        await guild.owner.delete(f"/channels/{guild.general}/messages/{messages[0]['id']}")
        assert (await cdn.avatar(messages[0]))[0] == 200  # the others have the same picture
        ids = [row["id"] for row in messages[1:]]
        await guild.owner.post(f"/channels/{guild.general}/messages/bulk-delete", {"messages": ids})
        assert await stored(platform) == 0
        assert (await cdn.avatar(messages[0]))[0] == 404


async def test_a_deleted_channel_leaves_no_avatar(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    body = {"content": "x", "avatar_url": "https://example.org/ann.png"}
    await platform.anonymous.post(await webhook_in(guild), body)
    assert await stored(platform) == 1
    await guild.owner.delete(f"/channels/{guild.general}")
    await platform.run_due_jobs()
    assert await stored(platform) == 0


async def test_an_image_of_this_server_is_read_without_a_request(platform: Platform, tmp_path: Path) -> None:
    guild = await platform.guild(await platform.person())
    hook = await webhook_in(guild)
    own = platform.services.limits.public_url
    async with images_of(platform, tmp_path, allow_private=False) as cdn:
        await cdn.blobs.put(blob_key("0" * 32), picture(width=300, height=300))
        url = f"{own}/avatars/1/{'0' * 32}.webp?size=1024"
        first = (await platform.anonymous.post(hook, {"content": "x", "avatar_url": url}, wait=True)).json
        status, _, body = await cdn.avatar(first, "png", "size=32")
        assert (status, Image.open(BytesIO(body)).size) == (200, (32, 32))
        # A bridge that repeats the message of a webhook names the avatar of that message.
        again = f"{own}/avatars/{first['author']['id']}/{first['author']['avatar']}.png"
        second = (await platform.anonymous.post(hook, {"content": "x", "avatar_url": again}, wait=True)).json
        assert (await cdn.avatar(second))[0] == 200
        default = {"content": "x", "avatar_url": f"{own}/embed/avatars/3.png"}
        third = (await platform.anonymous.post(hook, default, wait=True)).json
        assert (await cdn.avatar(third, "webp", "size=16"))[0] == 200


async def test_a_private_address_is_not_requested(platform: Platform, tmp_path: Path) -> None:
    guild = await platform.guild(await platform.person())
    hook = await webhook_in(guild)
    async with running_site() as site, images_of(platform, tmp_path, allow_private=False) as cdn:
        body = {"content": "x", "avatar_url": site.page("/ann.png", picture(), content_type="image/png")}
        message = (await platform.anonymous.post(hook, body, wait=True)).json
        assert (await cdn.avatar(message))[0] == 404
        assert site.requested == []
