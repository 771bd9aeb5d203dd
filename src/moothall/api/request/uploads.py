"""File uploads: streamed into the blob store before the transaction, once the caller is known to be authorized.

An endpoint declares with `uploads=` which files it accepts. Its handler gets them as `ctx.files`; a file that a message
has is marked `taken` (by `resources.message.attachment`). Files that are not taken are deleted after the request. The
sweeper deletes those of a process that crashed: every key contains the day and the file's id.
"""

import itertools
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, NamedTuple

from msgspec import Struct

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.file_ids import FileIds
from moothall.api.request.form_fields import PAYLOAD_FIELD, json_of_fields
from moothall.api.request.multipart import PARSED_AT_ONCE, MalformedForm, PartEnd, PartEvent, PartHead, read_parts
from moothall.api.staged import StagedFile
from moothall.api.storage_quota import QuotaShare
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.runtime.budgets import Cost
from moothall.runtime.turns import yield_turn
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs, BlobWriter
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.files")

_HEAD_BYTES: Final = 512
_NUMBERED: Final = re.compile(r"files\[([0-9]{1,4})\]")
_UNNUMBERED: Final = -1
_OLD_FIELDS_MAX: Final = 32
_FORM_BYTES: Final = 2 * 1024 * 1024 + 65_536
"""The maximum number of bytes of a form without its files: fields, headers and boundaries."""


class Allowance(Struct, frozen=True):
    """How much a caller may upload: bytes of each file, and of all files of a request."""

    each: int
    total: int


class Uploads:
    """The files that an endpoint accepts. A subclass says who may upload how much, and validates the files."""

    maximum: int = limits.ATTACHMENTS_MAX
    """The maximum number of files of a request."""
    part: str | None = None
    """The name that the part with the file must have; None for `files[n]` or any other."""

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        """How much the caller may upload. Called when the first file begins, after the endpoint's access check.

        Raises Refusal for a caller who may not upload files.
        """
        raise NotImplementedError

    async def payer_id(self, ctx: Context) -> UserId | None:  # noqa: ARG002 subclasses have payers
        """The account whose quota the files are charged to; None for files that are only read, or bounded otherwise."""
        return None

    async def examine(self, file: StagedFile, blobs: Blobs, pool: PayerPool) -> None:
        """Validate a stored file, before the transaction. What takes long runs in `pool`.

        Raises Refusal for one that is not accepted, and what the pool raises.
        """


class NoFiles(Uploads):
    """What a row takes of files whose body may be a form, but has none."""

    maximum = 0

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:  # noqa: ARG002 no caller may upload
        """Allow nothing."""
        return Allowance(each=0, total=0)


class Form(Struct):
    """A form with its files stored."""

    fields: dict[str, bytes]
    files: list[StagedFile]

    def body(self, kind: object) -> bytes:
        """The JSON body of a form: its `payload_json`, else an object of its fields, typed as in the struct `kind`."""
        return json_of_fields(self.fields, kind)


class Admission(NamedTuple):
    """How much a caller may upload, and what the request takes of the quota of an account."""

    allowance: Allowance
    share: QuotaShare | None
    """None without a quota."""


class UploadStaging:
    """Stores the files of one request. `admit` is called when the first one begins."""

    def __init__(
        self,
        rules: Uploads,
        blobs: Blobs,
        ids: FileIds,
        admit: Callable[[], Awaitable[Admission]],
        pool: PayerPool,
        cost: Cost,
    ) -> None:
        self._pool = pool
        self._cost = cost
        self._rules = rules
        self._blobs = blobs
        self._ids = ids
        self._admit = admit
        self._admission: Admission | None = None
        self._received = 0
        self._stored = 0
        self._fields: dict[str, bytes] = {}
        self.files: list[StagedFile] = []

    async def read(self, chunks: AsyncIterator[bytes], content_type: str) -> Form:
        """Read a form and store its files.

        Raises Refusal: 413/40005 for a form or file that is too large, or more than its account may have stored, 50035
        for a malformed form and for parts that are repeated or lack a filename; and what `admit` and `Uploads.examine`
        raise.
        """
        parts = read_parts(self._counted(chunks), content_type, self._cost)
        try:
            async for event in parts:
                if not isinstance(event, PartHead):
                    raise MalformedForm("The parts of the form are out of order.")
                if event.filename is None or event.name == PAYLOAD_FIELD:
                    await self._read_field(event, parts)
                else:
                    await self._store(event, parts)
            self._number_files()
            for file in self.files:
                await self._rules.examine(file, self._blobs, self._pool)
        except BaseException as problem:
            self.release()
            await self.discard()
            if isinstance(problem, MalformedForm):
                refuse_field([], FormCode.MULTIPART_TYPE_PARSE, str(problem))
            raise
        return Form(self._fields, self.files)

    async def discard(self, *, taken: bool = True) -> None:
        """Delete the stored files; with `taken=False`, only those that no message has."""
        discarded = [file for file in self.files if taken or not file.taken]
        if discarded:
            try:
                await self._blobs.delete_all(file.key for file in discarded)
            except StorageError as problem:
                # The request does not fail for this.
                log.warning("files are left to the sweeper: %s", problem)
            self.files = [file for file in self.files if file not in discarded]

    def release(self) -> None:
        """Release what the files took of a quota: a transaction has counted them, or they are deleted."""
        if self._admission is not None and self._admission.share is not None:
            self._admission.share.release()

    async def _counted(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            # Parts of a large chunk, so that a file in it is not taken for what stands beside files.
            for start in range(0, len(chunk), PARSED_AT_ONCE):
                data = chunk[start : start + PARSED_AT_ONCE] if len(chunk) > PARSED_AT_ONCE else chunk
                self._received += len(data)
                yield data

    async def _read_field(self, head: PartHead, parts: AsyncIterator[PartEvent]) -> None:
        if head.name in self._fields:
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "The form has this part twice.")
        if _NUMBERED.fullmatch(head.name):
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "A file needs a filename.")
        if len(self._fields) > _OLD_FIELDS_MAX:
            raise MalformedForm("The form has too many parts.")
        chunks: list[bytes] = []
        async for event in parts:
            if isinstance(event, PartEnd):
                break
            if isinstance(event, bytes):
                self._cost.hold(len(event))
                chunks.append(event)
            self._check_form_size()
        self._fields[head.name] = b"".join(chunks)

    async def _store(self, head: PartHead, parts: AsyncIterator[PartEvent]) -> None:
        file = self._begin(head)
        if self._admission is None:
            self._admission = await self._admit()
        if len(self.files) >= self._rules.maximum:
            refuse_field(
                [head.name], FormCode.BASE_TYPE_MAX_LENGTH, f"Must be {self._rules.maximum} or fewer in length."
            )
        async with self._blobs.writing(file.key, self._cost.payer) as writer:
            await self._copy(file, parts, writer, self._admission)
        self.files.append(file)

    async def _copy(
        self, file: StagedFile, parts: AsyncIterator[PartEvent], writer: BlobWriter, admission: Admission
    ) -> None:
        allowance, share = admission
        async for event in parts:
            if isinstance(event, PartEnd):
                return
            if isinstance(event, bytes):
                file.size += len(event)
                self._stored += len(event)
                if file.size > allowance.each or self._stored > allowance.total:
                    raise Refusal(errors.REQUEST_TOO_LARGE)
                if share is not None:
                    share.take(len(event))
                if len(file.head) < _HEAD_BYTES:
                    file.head += event[: _HEAD_BYTES - len(file.head)]
                await writer.write(event)
                await yield_turn()
            self._check_form_size()

    def _begin(self, head: PartHead) -> StagedFile:
        match = _NUMBERED.fullmatch(head.name)
        index = _UNNUMBERED if match is None else int(match[1])
        if match is not None and any(file.index == index for file in self.files):
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "The form has this part twice.")
        return StagedFile(id=self._ids.next(), field=head.name, index=index, filename=head.filename or "")

    def _number_files(self) -> None:
        """Give the files whose parts have other names the numbers that no `files[n]` has, in their order."""
        numbers = {file.index for file in self.files}
        free = (number for number in itertools.count() if number not in numbers)
        for file in self.files:
            if file.index == _UNNUMBERED:
                file.index = next(free)

    def _check_form_size(self) -> None:
        if self._received - self._stored > _FORM_BYTES:
            raise Refusal(errors.REQUEST_TOO_LARGE)
