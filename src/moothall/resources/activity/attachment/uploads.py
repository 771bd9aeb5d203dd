"""Which images Activities may upload."""

from typing import Final

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.api.staged import StagedFile
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.resources.message.attachment.uploads import ExaminedFile, FileUploads
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs

_FIELD: Final = "file"
_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif"})


class ActivityUploads(FileUploads):
    """One PNG, JPEG or GIF image, in the part `file`."""

    maximum = 1
    part = _FIELD

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:  # noqa: ARG002 every caller has the same allowance
        """Allow one file; the row's access check came before."""
        return Allowance(each=limits.ACTIVITY_ATTACHMENT_MAX, total=limits.ACTIVITY_ATTACHMENT_MAX)

    async def examine(self, file: StagedFile, blobs: Blobs, pool: PayerPool) -> None:
        """Set the `info` of the image. Raises Refusal: 50035 for another part, 400/50046 for another kind of file."""
        if file.field != _FIELD:
            refuse_field([file.field], FormCode.MULTIPART_TYPE_PARSE, 'The file must be named "file".')
        await super().examine(file, blobs, pool)
        info: ExaminedFile = file.info
        if info.content_type not in _TYPES or info.dimensions is None:
            raise Refusal(errors.INVALID_ASSET)
