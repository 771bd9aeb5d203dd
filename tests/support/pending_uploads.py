"""Uploads that are announced first and sent later."""

import asyncio
from collections.abc import Sequence
from typing import Any

from moothall.api.address_limits import AddressLimits
from moothall.cdn.uploads import UploadReceiver
from tests.support.harness import Caller, Platform


async def put(
    platform: Platform, url: str, data: bytes, *, method: str = "PUT", length: int | None = None, pieces: int = 2
) -> tuple[int, dict[str, str]]:
    """Put bytes to the URL of an upload; the status and the headers of the response."""
    path, _, query = url.removeprefix("http://localhost:3333").partition("?")
    sent: list[Any] = []
    step = max(1, len(data) // pieces)
    chunks = [data[at : at + step] for at in range(0, len(data), step)] or [b""]

    async def receive() -> Any:
        await asyncio.sleep(0)
        chunk = chunks.pop(0)
        return {"type": "http.request", "body": chunk, "more_body": bool(chunks)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", b"%d" % length)]
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": query.encode(),
        "headers": headers,
        "client": ("127.0.0.1", 1),
    }
    await UploadReceiver(platform.services, AddressLimits(None))(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def create(caller: Caller, channel: object, *files: tuple[str, bytes]) -> list[dict[str, Any]]:
    """The uploads of a request, whose files are not put yet."""
    body = {
        "files": [
            {"id": str(index), "filename": name, "file_size": len(data), "is_clip": False}
            for index, (name, data) in enumerate(files)
        ]
    }
    reply = await caller.post(f"/channels/{channel}/attachments", body)
    assert reply.status == 200, reply
    created: list[dict[str, Any]] = reply.json["attachments"]
    return created


async def uploaded(caller: Caller, channel: object, *files: tuple[str, bytes]) -> list[dict[str, Any]]:
    """The `attachments` of a message with files that are put already."""
    created = await create(caller, channel, *files)
    for one, (_, data) in zip(created, files, strict=True):
        assert (await put(caller.platform, one["upload_url"], data))[0] == 200
    return listing(created, [name for name, _ in files])


def listing(created: Sequence[dict[str, Any]], filenames: Sequence[str]) -> list[dict[str, Any]]:
    """What a message lists of uploads."""
    return [
        {"id": index, "filename": name, "uploaded_filename": one["upload_filename"]}
        for index, (one, name) in enumerate(zip(created, filenames, strict=True))
    ]
