"""Files put to the signed URLs of uploads, `/uploads/{id}/{filename}`: stored and examined as files of a form are.

The signature is all that a client needs, for as long as it is valid and until a file is stored. A file is stored under
an id of its own before the upload has it, so that the sweeper finds what a process that died has left.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from functools import partial
from typing import Final

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Services
from moothall.api.request.http_request import ClientDisconnected
from moothall.api.staged import StagedFile
from moothall.api.storage_quota import QuotaShare, open_quota_share
from moothall.api.unit_of_work import run
from moothall.cdn.images import ALWAYS, respond
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.message.attachment.pending_upload.links import PREFIX, UploadLinks
from moothall.resources.message.attachment.pending_upload.operations import store_upload
from moothall.resources.message.attachment.pending_upload.queries import ExpectedFile, select_expected_file
from moothall.resources.message.attachment.uploads import FileUploads
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.files")

_HEAD_BYTES: Final = 512
_METHODS: Final = b"PUT, OPTIONS"
_PREFLIGHT: Final = (
    (b"access-control-allow-methods", _METHODS),
    (b"access-control-allow-headers", b"*"),
    (b"access-control-max-age", b"86400"),
)


class UploadReceiver:
    """The ASGI application of uploads."""

    PREFIX: Final = PREFIX

    def __init__(self, services: Services, limits: AddressLimits) -> None:
        self._services = services
        self._limits = limits
        self._links = services.resources[UploadLinks]
        self._rules = FileUploads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: 200 once the file is durable."""
        if scope["method"] == "OPTIONS":
            await send({"type": "http.response.start", "status": 204, "headers": [*_PREFLIGHT, *ALWAYS]})
            await send({"type": "http.response.body", "body": b""})
            return
        if scope["method"] != "PUT":
            await respond(send, scope, 405, b"", [(b"allow", _METHODS)])
            return
        try:
            async with asyncio.timeout(limits.UPLOAD_SECONDS):
                await self._put(scope, receive)
        except (Refusal, WorkRefused) as refusal:
            await send_refusal(scope, send, refusal)
        except TimeoutError:
            await respond(send, scope, 408, b"", [(b"connection", b"close")])
        except StorageError as problem:
            log.warning("a file cannot be stored: %s", problem)
            await send_refusal(scope, send, Refusal(errors.UNAVAILABLE))
        except ClientDisconnected:
            return
        else:
            await respond(send, scope, 200, b"", [(b"cache-control", b"no-store")])

    async def _put(self, scope: Scope, receive: Receive) -> None:
        """Store the file of a request.

        Raises Refusal: 404 for a URL that is not valid, or no longer, and for an upload that has its file; 413/40005
        for more bytes than were announced, or than the user may have stored.
        """
        upload_id = self._links.find(scope["path"], scope["query_string"].decode("latin-1"))
        if upload_id is None:
            raise Refusal(errors.NOT_FOUND)
        async with self._services.database.read() as reader:
            expected = await select_expected_file(reader, upload_id)
            if expected is None:
                raise Refusal(errors.NOT_FOUND)
            share = await open_quota_share(self._services, reader, expected.user_id)
        if _content_length(scope) > expected.max_size:
            raise Refusal(errors.REQUEST_TOO_LARGE)
        payer = self._limits.client(scope)._replace(account=expected.user_id)
        try:
            file = await self._store(receive, expected, payer, share)
            await self._give(upload_id, file, payer, expected.user_id)
        finally:
            if share is not None:
                share.release()

    async def _give(self, upload_id: Snowflake, file: StagedFile, payer: Payer, user_id: UserId) -> None:
        """Examine a stored file and give it to its upload. Deletes it if that raises Refusal.

        Raises Refusal: 404 if the upload has another one, or is deleted, 413/40005 for more than the user may store.
        """
        services = self._services
        store = partial(store_upload, upload_id=upload_id, file=file, user_id=user_id)
        try:
            await self._rules.examine(file, services.blobs, services.pools.images.for_payer(payer))
            if not await run(services, ANONYMOUS, store, fires=()):
                raise Refusal(errors.NOT_FOUND)
        except (Refusal, WorkRefused):
            await services.blobs.delete(file.key)
            raise

    async def _store(
        self, receive: Receive, expected: ExpectedFile, payer: Payer, share: QuotaShare | None
    ) -> StagedFile:
        file = StagedFile(id=self._services.file_ids.next(), field="", index=0, filename=expected.filename)
        async with self._services.blobs.writing(file.key, payer) as writer:
            async for chunk in _chunks(receive):
                file.size += len(chunk)
                if file.size > expected.max_size:
                    raise Refusal(errors.REQUEST_TOO_LARGE)
                if share is not None:
                    share.take(len(chunk))
                if len(file.head) < _HEAD_BYTES:
                    file.head += chunk[: _HEAD_BYTES - len(file.head)]
                await writer.write(chunk)
        return file


async def _chunks(receive: Receive) -> AsyncIterator[bytes]:
    """Stream the body of a request. Raises ClientDisconnected."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnected
        if chunk := message.get("body", b""):
            yield chunk
        more = message.get("more_body", False)


def _content_length(scope: Scope) -> int:
    lengths = [value for name, value in scope["headers"] if name == b"content-length"]
    return int(lengths[-1]) if lengths and lengths[-1].isdigit() else 0
