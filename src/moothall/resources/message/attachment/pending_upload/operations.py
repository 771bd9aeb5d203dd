"""Creating uploads, storing their files, using and deleting them."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.api.request.uploads import Allowance
from moothall.api.staged import StagedFile
from moothall.api.storage_quota import charged_bytes, open_quota_share, require_within_quota
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors, limits
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import AttachmentId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.images import Dimensions
from moothall.resources.message.attachment.pending_upload import queries
from moothall.resources.message.attachment.pending_upload.links import (
    UploadLinks,
    read_upload_filename,
    upload_filename,
)
from moothall.resources.message.attachment.pending_upload.queries import NewUpload, StoredUpload
from moothall.resources.message.attachment.pending_upload.requests import CloudAttachment, UploadInput
from moothall.resources.message.attachment.requests import AttachmentInput
from moothall.resources.message.attachment.uploads import ExaminedFile, allowance_in

_MS: Final = 1000
_TWICE: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value")


@job
class DropUnusedUploads(Job, frozen=True, kw_only=True):
    """Delete uploads that no message has used, a day after they were created."""

    kind: ClassVar[str] = "drop unused uploads"
    upload_ids: list[Snowflake]

    async def step(self, ctx: Context) -> Job | None:
        """Delete those that are left."""
        await queries.drop_uploads(ctx.tx, self.upload_ids)
        return None


async def create_uploads(ctx: Context, files: Sequence[UploadInput], allowance: Allowance) -> list[CloudAttachment]:
    """Create uploads of the caller in the channel entered.

    A user has at most `limits.PENDING_UPLOADS_MAX`: the oldest make room. Raises Refusal: 413/40005 for files that are
    too large, or more than the user may have stored.
    """
    each = min(allowance.each, ctx.services.limits.max_upload_bytes)
    if any(file.file_size > each for file in files) or sum(file.file_size for file in files) > allowance.total:
        raise Refusal(errors.REQUEST_TOO_LARGE)
    user_id, links = ctx.actor.user_id, ctx.services.resources[UploadLinks]
    created = [
        NewUpload(
            id=Snowflake(ctx.ids.next()),
            user_id=user_id,
            channel_id=ctx.channel.id,
            filename=file.filename,
            max_size=file.file_size,
            created_at=ctx.now,
        )
        for file in files
    ]
    kept = limits.PENDING_UPLOADS_MAX - len(created)
    await queries.drop_uploads(ctx.tx, await queries.select_surplus_uploads(ctx.tx, user_id, kept))
    share = await open_quota_share(ctx.services, ctx.tx, user_id)
    if share is not None:
        share.require(sum(charged_bytes(file.file_size) for file in files))
    await queries.insert_uploads(ctx.tx, created)
    unused = DropUnusedUploads(upload_ids=[upload.id for upload in created])
    await enqueue(ctx, unused, at=Timestamp(ctx.now + limits.UNUSED_UPLOAD_SECONDS * _MS))
    return [
        CloudAttachment(
            id=file.id,
            upload_url=links.url(upload.id, file.filename),
            upload_filename=upload_filename(upload.id, file.filename),
        )
        for file, upload in zip(files, created, strict=True)
    ]


async def store_upload(ctx: Context, upload_id: Snowflake, file: StagedFile, user_id: UserId) -> bool:
    """Give an upload of a user its examined file; False if it was deleted meanwhile, or another request gave it one.

    Raises Refusal: 413/40005 for more than the user may have stored.
    """
    examined: ExaminedFile = file.info
    dimensions = examined.dimensions
    stored = StoredUpload(
        id=upload_id,
        filename=file.filename,
        file_id=AttachmentId(file.id),
        size=file.size,
        content_type=examined.content_type,
        width=None if dimensions is None else dimensions.width,
        height=None if dimensions is None else dimensions.height,
        animated=dimensions is not None and dimensions.animated,
    )
    stored_bytes = await queries.update_stored(ctx.tx, upload_id, stored, user_id)
    if stored_bytes is None:
        return False
    require_within_quota(ctx.services.limits, stored_bytes)
    return True


async def delete_upload(ctx: Context, name: str) -> None:
    """Delete an upload of the caller by its `upload_filename`. Raises Refusal: 404 for any other."""
    upload_id = read_upload_filename(name)
    if upload_id is None or not await queries.is_upload_of(ctx.tx, upload_id, ctx.actor.user_id):
        raise Refusal(errors.NOT_FOUND)
    await queries.drop_uploads(ctx.tx, [upload_id])


def uses_uploads(inputs: object) -> bool:
    """Whether the `attachments` of a body name uploads."""
    return isinstance(inputs, list) and any(one.uploaded_filename for one in inputs)


async def use_uploads(
    ctx: Context,
    inputs: object,
    user_id: UserId | None,
    access: ChannelAccess,
    form_errors: FormErrors,
) -> None:
    """Add the uploads that the `attachments` of a body name to the files of the request, with the ids there as numbers.

    They are those of `user_id` in the channel; None can have no uploads. Each can be used once. Errors are added to
    `form_errors` below `attachments`. Raises Refusal: 400/50146 for an upload that is unknown, used or without its
    file, 413/40005 if all files of the request are too large together.
    """
    if not isinstance(inputs, list) or not uses_uploads(inputs):
        return
    named = _named_uploads(inputs)
    if user_id is None:
        raise Refusal(errors.UPLOAD_NOT_FOUND)
    rows = await queries.select_stored_uploads(ctx.tx, named.values(), user_id, access.id)
    numbers = {file.index for file in ctx.files}
    files = list(ctx.files)
    for index, upload_id in named.items():
        row = rows.pop(upload_id, None)
        if row is None:
            raise Refusal(errors.UPLOAD_NOT_FOUND)
        number = int(inputs[index].id)
        if number in numbers:
            form_errors.add(("attachments", index, "id"), *_TWICE)
        numbers.add(number)
        files.append(_staged(row, number))
    if sum(file.size for file in files) > allowance_in(access.guild).total:
        raise Refusal(errors.REQUEST_TOO_LARGE)
    # The files are dropped at once: the sweeper keeps what a message has by then.
    if await queries.drop_uploads(ctx.tx, list(named.values())) != len(named):
        raise Refusal(errors.UPLOAD_NOT_FOUND)
    ctx.files = files


def _named_uploads(inputs: Sequence[AttachmentInput]) -> Mapping[int, Snowflake]:
    """The uploads that a body names, by index. Raises Refusal: 400/50146 for what is no name of an upload."""
    named: dict[int, Snowflake] = {}
    for index, one in enumerate(inputs):
        if one.uploaded_filename:
            upload_id = read_upload_filename(one.uploaded_filename)
            if upload_id is None:
                raise Refusal(errors.UPLOAD_NOT_FOUND)
            named[index] = upload_id
    return named


def _staged(row: StoredUpload, number: int) -> StagedFile:
    dimensions = (
        None if row.width is None or row.height is None else Dimensions(row.width, row.height, bool(row.animated))
    )
    return StagedFile(
        id=Snowflake(row.file_id),
        field="uploaded_filename",
        index=number,
        filename=row.filename,
        size=row.size,
        info=ExaminedFile(row.content_type, dimensions),
    )
