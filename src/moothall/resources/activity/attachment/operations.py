"""Storing an image that an Activity uploads, and deleting it after a day."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.api.storage_quota import require_within_quota
from moothall.objects import limits
from moothall.objects.errors import FormErrors, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, ChannelId, MessageId
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.attachment.queries import NewAttachment, drop_files, insert_attachments
from moothall.resources.message.attachment.reading import UploadedFiles, read_attachments

_MS = 1000


@job
class DeleteActivityAttachment(Job, frozen=True, kw_only=True):
    """Delete an image that an Activity uploaded, a day later."""

    kind: ClassVar[str] = "delete activity attachment"
    application_id: ApplicationId
    attachment_id: MessageId

    async def step(self, ctx: Context) -> Job | None:
        """Delete the image."""
        await drop_files(ctx.tx, ChannelId(self.application_id), [self.attachment_id])
        return None


async def store_attachment(ctx: Context, application_id: ApplicationId) -> bytes:
    """Store the image of the request for a day; return the attachment object as JSON, with a placeholder for its URL.

    It is stored as a file of a message of its own, in a room of the application. Raises Refusal: 50035 without a file,
    413/40005 for more than the user may store.
    """
    room_id = ChannelId(application_id)
    listed = read_attachments(None, UploadedFiles.of(ctx, room_id), FormErrors())
    if not listed:
        refuse_field("file", FormCode.BASE_TYPE_REQUIRED, "This field is required")
    attachment = listed[0]
    body = ctx.services.links.insert_placeholders(encode(attachment), (attachment.url,))
    message_id = MessageId(attachment.id)
    new = NewAttachment(attachment.id, attachment.content_type or "", attachment.size, body)
    stored = await insert_attachments(ctx.tx, room_id, message_id, [new], ctx.actor.user_id)
    require_within_quota(ctx.services.limits, stored)
    for staged in ctx.files:
        staged.taken = staged.taken or staged.id == attachment.id
    ends_at = Timestamp(ctx.now + limits.ACTIVITY_ATTACHMENT_SECONDS * _MS)
    await enqueue(ctx, DeleteActivityAttachment(application_id=application_id, attachment_id=message_id), at=ends_at)
    return body
