"""Messages over HTTP (resources: message)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import Json, delete, get, patch, post
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import Message
from moothall.objects.permissions import Permissions
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.channel.thread_activity.events import ADD_MEMBER_EVENTS, UNARCHIVE_EVENTS
from moothall.resources.message import editing, operations
from moothall.resources.message.drafts import CreateMessage, EditMessage
from moothall.resources.message.events import MessageCreate, MessageDelete, MessageDeleteBulk, MessageUpdate
from moothall.resources.message.pages import encode_rows, message_bytes, viewer_in
from moothall.resources.message.people import KnownUsers
from moothall.resources.message.preparing import prepare_draft
from moothall.resources.message.queries import select_page
from moothall.resources.message.rules import require_entry, require_history
from moothall.resources.message.uploads import EDITED_MESSAGE, NEW_MESSAGE

PageSize = Annotated[int, Meta(ge=1, le=limits.MESSAGE_LIST_MAX)]


@post(
    "/channels/{channel_id}/messages",
    permission=Permissions.SEND_MESSAGES,
    fires=(MessageCreate, DirectChannelCreate, *UNARCHIVE_EVENTS, *ADD_MEMBER_EVENTS),
    uploads=NEW_MESSAGE,
)
async def create_message(ctx: Context, channel_id: ChannelId, body: CreateMessage) -> Json[Message]:
    """Post a message to a text-like channel, thread or direct message."""
    return Json(await operations.create_message(ctx, await prepare_draft(ctx, body)))


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
    rows = await select_page(ctx.tx, channel_id, around=around, before=before, after=after, maximum=limit)
    encoded = await encode_rows(ctx.tx, channel_id, rows, viewer_in(ctx), KnownUsers.of(ctx))
    return Json(b"[%b]" % b",".join(encoded))


@get("/channels/{channel_id}/messages/{message_id}", permission=MEMBER)
async def get_channel_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> Json[Message]:
    """Fetch one message."""
    require_history(ctx)
    found = await message_bytes(ctx.tx, channel_id, [message_id], viewer_in(ctx))
    if message_id not in found:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return Json(found[message_id])


@patch(
    "/channels/{channel_id}/messages/{message_id}",
    permission=MEMBER,
    fires=(MessageUpdate,),
    uploads=EDITED_MESSAGE,
)
async def edit_message(ctx: Context, channel_id: ChannelId, message_id: MessageId, body: EditMessage) -> Json[Message]:
    """Edit a message: its author anything, those with MANAGE_MESSAGES whether its embeds are shown."""
    require_entry(ctx)
    return Json(await editing.modify_message(ctx, message_id, body))


@delete("/channels/{channel_id}/messages/{message_id}", permission=MEMBER, audit_reason=True, fires=(MessageDelete,))
async def delete_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Delete one's own message, or with MANAGE_MESSAGES another's."""
    require_entry(ctx)
    await operations.delete_message(ctx, message_id)


class BulkDeleteMessages(Struct, frozen=True):
    """The body of Bulk Delete Messages."""

    messages: list[MessageId]


@post(
    "/channels/{channel_id}/messages/bulk-delete",
    permission=Permissions.MANAGE_MESSAGES,
    audit_reason=True,
    fires=(MessageDeleteBulk,),
)
async def bulk_delete_messages(ctx: Context, channel_id: ChannelId, body: BulkDeleteMessages) -> None:
    """Delete 2 to 100 messages of a guild's channel, none older than 14 days, at once."""
    require_entry(ctx)
    wanted = body.messages
    if not limits.BULK_DELETE_MIN <= len(wanted) <= limits.BULK_DELETE_MAX:
        raise Refusal(errors.BULK_DELETE_COUNT)
    for index, message_id in enumerate(wanted):
        if message_id in wanted[:index]:
            refuse_field(
                f"messages.{index}",
                FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE,
                "The set already contains this value",
            )
    await operations.bulk_delete_messages(ctx, wanted)
