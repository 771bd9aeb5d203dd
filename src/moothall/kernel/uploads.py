"""Files on their way in: streamed to the store of blobs before the transaction, by those who may do the thing.

A row says with `uploads=` what it takes. The handler finds the files in `ctx.files`; those that it gives to a
message are `taken`, which is for `resources.attachment` to say. What a request leaves untaken is removed after it,
and what a process that dies leaves behind is found by the sweeper, since every key names the day and the file's id.
"""

import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.kernel.context import Context
from moothall.kernel.file_ids import FileIds
from moothall.kernel.multipart import MalformedForm, PartEnd, PartEvent, PartHead, read_parts
from moothall.kernel.staged import StagedFile
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.storage.blobs import Blobs, BlobWriter
from moothall.storage.database import StorageError

log = logging.getLogger("moothall.files")

_HEAD_BYTES: Final = 512
_FILE_NAME: Final = re.compile(r"files\[([0-9]{1,4})\]|file([0-9]{0,4})")
_OLD_FIELDS_MAX: Final = 32
_FORM_BYTES: Final = 2 * 1024 * 1024 + 65_536
"""All of a form that is no file: its fields, and what holds the parts together."""
JSON_FIELD: Final = "payload_json"


class Allowance(Struct, frozen=True):
    """How much somebody may upload: bytes of each file, and of all."""

    each: int
    total: int


class Uploads:
    """What a row takes of files; a subclass says who may upload how much, and what else is asked of a file."""

    maximum: int = limits.ATTACHMENTS_MAX
    """Files of one request."""

    async def admit(self, ctx: Context, path: Mapping[str, Any]) -> Allowance:
        """How much the caller may upload; asked, after the row's own access, when the first file begins.

        Raises Refusal for somebody who may not.
        """
        raise NotImplementedError

    async def examine(self, file: StagedFile, blobs: Blobs) -> None:
        """Look into a file that is stored, before the transaction. Raises Refusal for one that is not taken."""


class Form(Struct):
    """A form that has been read."""

    fields: dict[str, bytes]
    files: list[StagedFile]

    def body(self, kind: Any) -> bytes:
        """The JSON of a form: its `payload_json`, or else its fields, read as the types of `kind` want them."""
        given = self.fields.get(JSON_FIELD)
        if given is not None:
            return given
        texts = _text_fields(kind)
        return msgspec.json.encode({name: _plain(value, text=name in texts) for name, value in self.fields.items()})


class Staging:
    """The files of one request. `admit` is asked when the first one begins."""

    def __init__(self, rules: Uploads, blobs: Blobs, ids: FileIds, admit: Callable[[], Awaitable[Allowance]]) -> None:
        self._rules = rules
        self._blobs = blobs
        self._ids = ids
        self._admit = admit
        self._allowance: Allowance | None = None
        self._received = 0
        self._stored = 0
        self._fields: dict[str, bytes] = {}
        self.files: list[StagedFile] = []

    async def read(self, chunks: AsyncIterator[bytes], content_type: str) -> Form:
        """Read a form and store its files.

        Raises Refusal: 413/40005 for what is too large, 50035 for what is no form, or is in it twice, under a
        name that says nothing or without one; whatever `admit` and `Uploads.examine` raise.
        """
        parts = read_parts(self._counted(chunks), content_type)
        try:
            async for event in parts:
                if not isinstance(event, PartHead):
                    raise MalformedForm("The parts of the form are in no order.")
                if event.filename is None or event.name == JSON_FIELD:
                    await self._read_field(event, parts)
                else:
                    await self._store(event, parts)
            for file in self.files:
                await self._rules.examine(file, self._blobs)
        except BaseException as problem:
            await self.discard()
            if isinstance(problem, MalformedForm):
                refuse_field([], FormCode.MULTIPART_TYPE_PARSE, str(problem))
            raise
        return Form(self._fields, self.files)

    async def discard(self, *, taken: bool = True) -> None:
        """Remove what has been stored, or only what nobody has taken."""
        gone = [file for file in self.files if taken or not file.taken]
        if gone:
            try:
                await self._blobs.delete_all(file.key for file in gone)
            except StorageError as problem:
                # The request is answered all the same.
                log.warning("files are left to the sweeper: %s", problem)
            self.files = [file for file in self.files if file not in gone]

    async def _counted(self, chunks: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for chunk in chunks:
            self._received += len(chunk)
            yield chunk

    async def _read_field(self, head: PartHead, parts: AsyncIterator[PartEvent]) -> None:
        if head.name in self._fields:
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "The form has this part twice.")
        if _FILE_NAME.fullmatch(head.name):
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "A file needs a filename.")
        if len(self._fields) > _OLD_FIELDS_MAX:
            raise MalformedForm("The form has too many parts.")
        pieces: list[bytes] = []
        async for event in parts:
            if isinstance(event, PartEnd):
                break
            if isinstance(event, bytes):
                pieces.append(event)
            self._check_form_size()
        self._fields[head.name] = b"".join(pieces)

    async def _store(self, head: PartHead, parts: AsyncIterator[PartEvent]) -> None:
        file = self._begin(head)
        if self._allowance is None:
            self._allowance = await self._admit()
        if len(self.files) >= self._rules.maximum:
            refuse_field(
                [head.name], FormCode.BASE_TYPE_MAX_LENGTH, f"Must be {self._rules.maximum} or fewer in length."
            )
        async with self._blobs.writing(file.key) as writer:
            await self._copy(file, parts, writer, self._allowance)
        self.files.append(file)

    async def _copy(
        self, file: StagedFile, parts: AsyncIterator[PartEvent], writer: BlobWriter, allowance: Allowance
    ) -> None:
        async for event in parts:
            if isinstance(event, PartEnd):
                return
            if isinstance(event, bytes):
                file.size += len(event)
                self._stored += len(event)
                if file.size > allowance.each or self._stored > allowance.total:
                    raise Refusal(errors.REQUEST_TOO_LARGE)
                if len(file.head) < _HEAD_BYTES:
                    file.head += event[: _HEAD_BYTES - len(file.head)]
                await writer.write(event)
            self._check_form_size()

    def _begin(self, head: PartHead) -> StagedFile:
        match = _FILE_NAME.fullmatch(head.name)
        if match is None:
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, 'Files must be named "files[n]".')
        index = int(match[1] or match[2] or 0)
        if any(file.index == index for file in self.files):
            refuse_field([head.name], FormCode.MULTIPART_TYPE_PARSE, "The form has this part twice.")
        return StagedFile(id=self._ids.next(), field=head.name, index=index, filename=head.filename or "")

    def _check_form_size(self) -> None:
        if self._received - self._stored > _FORM_BYTES:
            raise Refusal(errors.REQUEST_TOO_LARGE)


def _text_fields(kind: Any) -> frozenset[str]:
    """The fields of a body's type that take texts."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        return frozenset()
    found = msgspec.inspect.type_info(kind)
    fields = getattr(found, "fields", ())
    return frozenset(field.encode_name for field in fields if _takes_text(field.type))


def _takes_text(kind: msgspec.inspect.Type) -> bool:
    if isinstance(kind, msgspec.inspect.UnionType):
        return any(_takes_text(alternative) for alternative in kind.types)
    return isinstance(kind, msgspec.inspect.StrType)


def _plain(value: bytes, *, text: bool) -> object:
    words = value.decode("utf-8", "replace")
    if text:
        return words
    try:
        return msgspec.json.decode(words)
    except msgspec.DecodeError:
        return words
