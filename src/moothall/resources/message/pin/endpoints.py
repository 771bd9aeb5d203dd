"""Pins over HTTP, at the current paths and at the deprecated ones (resources: message, pins)."""

from typing import Annotated

from msgspec import Meta

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, put
from moothall.objects import limits
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import Message, PinList
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.events import ChannelPinsUpdate, DirectChannelCreate
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.pin import operations
from moothall.resources.message.pin.queries import select_pins
from moothall.resources.message.rendering import encode_rows, viewer_in
from moothall.resources.message.rules import require_entry

PageSize = Annotated[int, Meta(ge=1, le=limits.PIN_LIST_MAX)]

_END_OF_TIME = Timestamp((1 << 63) - 1)
_PIN_FIRES = (ChannelPinsUpdate, MessageUpdate, MessageCreate, DirectChannelCreate)
_UNPIN_FIRES = (ChannelPinsUpdate, MessageUpdate)


@get("/channels/{channel_id}/messages/pins", permission=MEMBER)
async def get_channel_pins(
    ctx: Context, channel_id: ChannelId, *, before: Timestamp | None = None, limit: PageSize = limits.PIN_LIST_MAX
) -> Json[PinList]:
    """List a channel's pins, newest first; none without READ_MESSAGE_HISTORY."""
    pinned, has_more = await _pins(ctx, before, limit)
    items = b",".join(b'{"pinned_at":%b,"message":%b}' % (encode(at), message) for at, message in pinned)
    return Json(b'{"items":[%b],"has_more":%b}' % (items, b"true" if has_more else b"false"))


@get("/channels/{channel_id}/pins", permission=MEMBER)
async def get_pinned_messages(ctx: Context, channel_id: ChannelId) -> Json[list[Message]]:
    """List the messages of a channel's 50 newest pins; none without READ_MESSAGE_HISTORY."""
    pinned, _ = await _pins(ctx, None, limits.PIN_LIST_MAX)
    return Json(b"[%b]" % b",".join(message for _, message in pinned))


@put(
    "/channels/{channel_id}/messages/pins/{message_id}",
    permission=Permissions.PIN_MESSAGES,
    audit_reason=True,
    fires=_PIN_FIRES,
)
async def pin_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Pin a message."""
    await operations.pin_message(ctx, message_id)


@put(
    "/channels/{channel_id}/pins/{message_id}",
    permission=Permissions.PIN_MESSAGES,
    audit_reason=True,
    fires=_PIN_FIRES,
)
async def pin_message_deprecated(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Pin a message, at the deprecated path."""
    await operations.pin_message(ctx, message_id)


@delete(
    "/channels/{channel_id}/messages/pins/{message_id}",
    permission=Permissions.PIN_MESSAGES,
    audit_reason=True,
    fires=_UNPIN_FIRES,
)
async def unpin_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Unpin a message."""
    await operations.unpin_message(ctx, message_id)


@delete(
    "/channels/{channel_id}/pins/{message_id}",
    permission=Permissions.PIN_MESSAGES,
    audit_reason=True,
    fires=_UNPIN_FIRES,
)
async def unpin_message_deprecated(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Unpin a message, at the deprecated path."""
    await operations.unpin_message(ctx, message_id)


async def _pins(ctx: Context, before: Timestamp | None, maximum: int) -> tuple[list[tuple[Timestamp, bytes]], bool]:
    require_entry(ctx)
    if not ctx.has(Permissions.READ_MESSAGE_HISTORY):
        return [], False
    pins = await select_pins(ctx.tx, ctx.channel.id, before=before or _END_OF_TIME, maximum=maximum + 1)
    page = pins[:maximum]
    encoded = await encode_rows(ctx.tx, ctx.channel.id, [row for _, row in page], viewer_in(ctx))
    return [(at, message) for (at, _), message in zip(page, encoded, strict=True)], len(pins) > maximum
