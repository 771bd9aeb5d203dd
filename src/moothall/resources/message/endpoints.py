"""Messages over HTTP (resources: message)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, post
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.resources.channel.events import DirectChannelCreate, DirectChannelUpdate
from moothall.resources.channel.thread_activity.events import ADD_MEMBER_EVENTS, UNARCHIVE_EVENTS
from moothall.resources.message import operations
from moothall.resources.message.attachment.pending_upload.operations import create_uploads
from moothall.resources.message.attachment.pending_upload.requests import CloudAttachments, CreateAttachments
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageDeleteBulk, MessageUpdate
from moothall.resources.message.page_cache import PageCache
from moothall.resources.message.people import user_cache
from moothall.resources.message.queries import select_page
from moothall.resources.message.reading import draft_own_message
from moothall.resources.message.rendering import encode_rows, message_bytes, viewer_in
from moothall.resources.message.requests import BulkDeleteMessages, CreateMessage, EditMessage
from moothall.resources.message.rules import require_entry, require_history
from moothall.resources.message.submitted_content import CONTENT_SUBMITTED
from moothall.resources.message.uploads import EDITED_MESSAGE, NEW_MESSAGE, upload_allowance

PageSize = Annotated[int, Meta(ge=1, le=limits.MESSAGE_LIST_MAX)]


@post(
    "/channels/{channel_id}/messages",
    permission=Permissions.SEND_MESSAGES,
    fires=(
        MessageCreate,
        DirectChannelCreate,
        DirectChannelUpdate,
        CONTENT_SUBMITTED,
        *UNARCHIVE_EVENTS,
        *ADD_MEMBER_EVENTS,
    ),
    uploads=NEW_MESSAGE,
    forms=True,
)
async def create_message(ctx: Context, channel_id: ChannelId, body: CreateMessage) -> Json[Message]:
    """Send a message to a text-like channel, thread or direct message."""
    return Json(await operations.create_message(ctx, await draft_own_message(ctx, body)))


@get("/channels/{channel_id}/messages", permission=MEMBER)
async def get_channel_messages(
    ctx: Context,
    channel_id: ChannelId,
    *,
    around: MessageId | None = None,
    before: MessageId | None = None,
    after: MessageId | None = None,
    limit: PageSize = limits.MESSAGE_LIST_DEFAULT,
) -> Json[list[Message]]:
    """List messages of a channel, newest first; none without READ_MESSAGE_HISTORY."""
    require_entry(ctx)
    if not ctx.has(Permissions.READ_MESSAGE_HISTORY):
        return Json(b"[]")
    if around is None and before is None and after is None and viewer_in(ctx).reads_all:
        pages = ctx.services.resources[PageCache]
        if pages.enabled:
            return await pages.newest(ctx, channel_id, limit)
    rows = await select_page(ctx.tx, channel_id, around=around, before=before, after=after, maximum=limit)
    encoded = await encode_rows(ctx.tx, channel_id, rows, viewer_in(ctx), user_cache(ctx))
    return Json(b"[%b]" % b",".join(encoded))


@get("/channels/{channel_id}/messages/{message_id}", permission=MEMBER)
async def get_channel_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> Json[Message]:
    """Fetch one message."""
    require_history(ctx)
    messages = await message_bytes(ctx.tx, channel_id, [message_id], viewer_in(ctx))
    if message_id not in messages:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return Json(messages[message_id])


@patch(
    "/channels/{channel_id}/messages/{message_id}",
    permission=MEMBER,
    fires=(MessageUpdate, CONTENT_SUBMITTED),
    uploads=EDITED_MESSAGE,
    forms=True,
)
async def edit_message(ctx: Context, channel_id: ChannelId, message_id: MessageId, body: EditMessage) -> Json[Message]:
    """Edit one's own message, or with MANAGE_MESSAGES suppress the embeds of another's."""
    require_entry(ctx)
    return Json(await operations.edit_message(ctx, message_id, body))


@delete("/channels/{channel_id}/messages/{message_id}", permission=MEMBER, audit_reason=True, fires=(MessageDelete,))
async def delete_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Delete one's own message, or with MANAGE_MESSAGES another author's."""
    require_entry(ctx)
    await operations.delete_message(ctx, message_id)


@post("/channels/{channel_id}/attachments", permission=Permissions.SEND_MESSAGES | Permissions.ATTACH_FILES)
async def create_attachments(ctx: Context, channel_id: ChannelId, body: CreateAttachments) -> CloudAttachments:
    """Create URLs that files are put to, before a message in the channel has them.

    A file is put to its URL once, within an hour and without a token. The message, or the interaction, names it by
    `uploaded_filename`. One that is not used is deleted after a day.
    """
    return CloudAttachments(await create_uploads(ctx, body.files, await upload_allowance(ctx)))


@post(
    "/channels/{channel_id}/messages/bulk-delete",
    permission=Permissions.MANAGE_MESSAGES,
    audit_reason=True,
    fires=(MessageDeleteBulk,),
)
async def bulk_delete_messages(ctx: Context, channel_id: ChannelId, body: BulkDeleteMessages) -> None:
    """Delete 2 to 100 messages of a guild channel at once, none older than 14 days."""
    require_entry(ctx)
    message_ids = body.messages
    if not limits.BULK_DELETE_MIN <= len(message_ids) <= limits.BULK_DELETE_MAX:
        raise Refusal(errors.BULK_DELETE_COUNT)
    for index, message_id in enumerate(message_ids):
        if message_id in message_ids[:index]:
            refuse_field(
                f"messages.{index}",
                FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE,
                "The set already contains this value",
            )
    await operations.bulk_delete_messages(ctx, message_ids)
