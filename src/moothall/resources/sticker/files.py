"""Uploads of sticker files: verified and stored before the request's transaction."""

from functools import partial

from msgspec import Struct

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.images import blob_key, lottie_key
from moothall.api.request.uploads import Allowance, Uploads
from moothall.api.staged import StagedFile
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.images import content_hash, image_hash
from moothall.objects.sticker import StickerFormat
from moothall.objects.sticker_files import inspect_sticker
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs

_FIELD = "file"


class StickerFile(Struct, frozen=True):
    """The format of a verified sticker file, and the hash under which it is stored."""

    format: StickerFormat
    hash: str


class StickerUploads(Uploads):
    """One file, of at most 512 KiB, in the part `file`."""

    maximum = 1
    part = _FIELD

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:  # noqa: ARG002 every caller has the same allowance
        """Allow one file; the row's permission was checked before."""
        return Allowance(each=limits.STICKER_FILE_MAX, total=limits.STICKER_FILE_MAX)

    async def examine(self, file: StagedFile, blobs: Blobs, pool: PayerPool) -> None:
        """Verify the file and store it under its hash; the upload itself is removed.

        Raises Refusal as `inspect_sticker`, and 50035 for a part of the form with another name.
        """
        if file.field != _FIELD:
            refuse_field([file.field], FormCode.MULTIPART_TYPE_PARSE, 'The file must be named "file".')
        data = await blobs.get(file.key)
        if not data:
            raise Refusal(errors.INVALID_ASSET)
        kind = await pool.run(partial(inspect_sticker, data), size=len(data))
        if kind is StickerFormat.LOTTIE:
            name = content_hash(data)
            await blobs.put(lottie_key(name), data, pool.payer)
        else:
            name = image_hash(data, animated=kind is not StickerFormat.PNG)
            await blobs.put(blob_key(name), data, pool.payer)
        file.info = StickerFile(kind, name)


def uploaded_file(ctx: Context) -> StickerFile:
    """The sticker file of a request. Raises Refusal: 50035 for a request without one."""
    sticker_file = next((file.info for file in ctx.files if isinstance(file.info, StickerFile)), None)
    if sticker_file is None:
        refuse_field(_FIELD, FormCode.BASE_TYPE_REQUIRED, "This field is required")
    return sticker_file
