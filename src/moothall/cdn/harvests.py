"""Archives of users' data at `/harvests/{id}.zip`, for requests with a signed URL that has not expired."""

import re
from contextlib import aclosing
from typing import Final

from moothall.cdn.images import ALWAYS, respond
from moothall.objects.ids import Snowflake
from moothall.resources.harvest.links import PREFIX, ArchiveLinks
from moothall.resources.harvest.operations.removal import blob_key
from moothall.resources.harvest.queries import select_files
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError

_PATH: Final = re.compile(re.escape(PREFIX) + r"([0-9]{1,19})\.zip")


class HarvestFiles:
    """The ASGI application of archives. It streams their files one after another."""

    PREFIX: Final = PREFIX

    def __init__(self, database: Database, blobs: Blobs, links: ArchiveLinks) -> None:
        self._database = database
        self._blobs = blobs
        self._links = links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        if scope["method"] not in {"GET", "HEAD"}:
            await respond(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        match = _PATH.fullmatch(scope["path"])
        harvest_id = Snowflake(0 if match is None else int(match[1]))
        if match is None or not self._links.is_authentic(harvest_id, scope["query_string"].decode("latin-1")):
            await respond(send, scope, 404, b"", [])
            return
        try:
            async with self._database.read() as reader:
                files = await select_files(reader, harvest_id)
        except StorageError:
            await respond(send, scope, 503, b"", [])
            return
        if not files or files[-1].name:
            await respond(send, scope, 404, b"", [])
            return
        headers = [
            (b"content-type", b"application/zip"),
            (b"content-disposition", b'attachment; filename="package.zip"'),
            (b"cache-control", b"private, no-store"),
            (b"content-length", b"%d" % sum(file.length for file in files)),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": [*headers, *ALWAYS]})
        for number, file in enumerate(files if scope["method"] == "GET" else ()):
            async with aclosing(self._blobs.stream(blob_key(harvest_id, number), 0, file.length)) as portions:
                async for portion in portions:
                    await send({"type": "http.response.body", "body": portion, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
