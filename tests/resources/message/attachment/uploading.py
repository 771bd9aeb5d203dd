"""Requests with files."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from PIL import Image
from sqlalchemy import select

from moothall.api.storage_quota import FILE_BYTES_MIN
from moothall.storage.database import Query
from moothall.storage.schema import attachments, channels, guild_storage, guilds, pending_uploads, storage_usage
from tests.api.forms import TYPE, form, part
from tests.support.harness import Caller, Guild, Platform, Reply


async def upload(
    caller: Caller,
    method: str,
    path: str,
    files: Mapping[str, tuple[str, bytes]],
    body: Any = None,
    **query: Any,
) -> Reply:
    """A form with files by the names of their parts, and with `body` as its payload, which comes last."""
    parts = [part(field, data, filename) for field, (filename, data) in files.items()]
    if body is not None:
        parts.append(part("payload_json", json.dumps(body).encode(), Content_Type="application/json"))
    return await caller.request(method, path, raw=form(*parts), content_type=TYPE, **query)


def listed(*files: tuple[str, bytes]) -> dict[str, tuple[str, bytes]]:
    """Files as `files[0]`, `files[1]`..."""
    return {f"files[{index}]": file for index, file in enumerate(files)}


async def send(caller: Caller, url: str, *files: tuple[str, bytes], body: Any = None) -> Any:
    """The message that a request with files makes."""
    reply = await upload(caller, "POST", url, listed(*files), body)
    assert reply.status == 200, reply
    return reply.json


async def guild_of(platform: Platform, **values: Any) -> tuple[Caller, Guild, str]:
    """An owner, a guild of theirs, and the URL of its messages."""
    owner = await platform.person()
    guild = await platform.guild(owner, **values)
    return owner, guild, f"/channels/{guild.general}/messages"


async def stored(platform: Platform) -> list[str]:
    """The keys of all blobs that were uploaded."""
    return sorted([key async for key in platform.services.blobs.keys("uploads")])


def picture(kind: str = "PNG", size: tuple[int, int] = (30, 20), frames: int = 1) -> bytes:
    """A picture of noise-free colours."""
    out = BytesIO()
    images = [Image.new("RGB", size, (index * 40, 90, 120)) for index in range(frames)]
    options: dict[str, Any] = {"save_all": True, "append_images": images[1:], "duration": 50} if frames > 1 else {}
    images[0].save(out, kind, **options)
    return out.getvalue()


_FILES = Query(lambda: select(attachments.c.payer_id, attachments.c.id, attachments.c.size))
_UPLOADS = Query(
    lambda: select(pending_uploads.c.user_id, pending_uploads.c.size).where(pending_uploads.c.file_id.is_not(None))
)
_FILES_OF_GUILDS = Query(
    lambda: select(attachments.c.guild_id, attachments.c.id, attachments.c.size).select_from(
        attachments.join(guilds, guilds.c.id == attachments.c.guild_id)
    )
)
_IN_ANOTHER_GUILD = Query(
    lambda: (
        select(attachments.c.id)
        .select_from(attachments.join(channels, channels.c.id == attachments.c.channel_id))
        .where(attachments.c.guild_id.is_distinct_from(channels.c.guild_id))
    )
)
_USAGE_OF_GUILDS = Query(
    lambda: (
        select(guild_storage.c.guild_id, guild_storage.c.bytes)
        .select_from(guild_storage.join(guilds, guilds.c.id == guild_storage.c.guild_id))
        .where(guild_storage.c.bytes != 0)
    )
)
_USAGE = Query(lambda: select(storage_usage.c.payer_id, storage_usage.c.bytes).where(storage_usage.c.bytes != 0))


async def usage(platform: Platform) -> dict[int, int]:
    """How many bytes each account has stored, without those that have none."""
    async with platform.database.read() as reader:
        return {row[0]: row[1] for row in await reader.all(_USAGE)}


async def assert_usage_is_exact(platform: Platform) -> None:
    """What is counted of each account and guild is what its files have: each once, and at least a block of the disk."""
    counted: Counter[int] = Counter()
    async with platform.database.read() as reader:
        files = {(payer_id, file_id): size for payer_id, file_id, size in await reader.all(_FILES) if payer_id}
        for (payer_id, _), size in files.items():
            counted[payer_id] += max(size, FILE_BYTES_MIN)
        for user_id, size in await reader.all(_UPLOADS):
            counted[user_id] += max(size, FILE_BYTES_MIN)
        of_guilds: Counter[int] = Counter()
        in_guilds = {(guild_id, file_id): size for guild_id, file_id, size in await reader.all(_FILES_OF_GUILDS)}
        for (guild_id, _), size in in_guilds.items():
            of_guilds[guild_id] += max(size, FILE_BYTES_MIN)
        counted_guilds = {row[0]: row[1] for row in await reader.all(_USAGE_OF_GUILDS)}
        assert await reader.all(_IN_ANOTHER_GUILD) == []
    assert await usage(platform) == dict(counted)
    assert counted_guilds == dict(of_guilds)


SOUND = b"OggS" + bytes(60)


def names(message: Any) -> Sequence[str]:
    """The names of a message's attachments."""
    return [attachment["filename"] for attachment in message["attachments"]]
