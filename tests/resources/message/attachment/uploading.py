"""Requests with files."""

import json
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

from PIL import Image

from tests.harness import Caller, Guild, Platform, Reply
from tests.kernel.forms import TYPE, form, part


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


SOUND = b"OggS" + bytes(60)


def names(message: Any) -> Sequence[str]:
    """The names of a message's attachments."""
    return [attachment["filename"] for attachment in message["attachments"]]
