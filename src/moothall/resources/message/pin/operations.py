"""Pin operations."""

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId, Snowflake
from moothall.objects.message_types import WRITTEN, MessageType
from moothall.objects.wire import Timestamp
from moothall.resources.channel.events import ChannelPinsUpdate
from moothall.resources.channel.thread_activity.rules import require_active
from moothall.resources.message.operations import announce_message, lock_message, send_system_message
from moothall.resources.message.pin import queries
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.references import message_reference
from moothall.resources.message.rules import require_entry


async def pin_message(ctx: Context, message_id: MessageId) -> None:
    """Pin a message of the channel entered, and post a system message; pinning it again changes nothing.

    Raises Refusal: 10008, 50021 for a system message, 30003 at 250 pins.
    """
    require_entry(ctx)
    require_active(ctx)
    access = ctx.channel
    row = await lock_message(ctx, access.id, message_id)
    if row.type not in WRITTEN:
        raise Refusal(errors.SYSTEM_MESSAGE)
    if row.pinned:
        return
    count, newest = await queries.select_pin_state(ctx.tx, access.id)
    if count >= limits.PINS_PER_CHANNEL:
        raise Refusal(errors.TOO_MANY_PINS)
    # No two pins of a channel have the same time, so that a page can start after another.
    now = ctx.now if newest is None or newest < ctx.now else Timestamp(newest + 1)
    await queries.insert_pin(ctx.tx, access.id, message_id, now)
    await _announce(ctx, structs.replace(row, pinned=True), now, AuditLogEvent.MESSAGE_PIN)
    await send_system_message(
        ctx, access, ctx.actor.user_id, MessageType.CHANNEL_PINNED_MESSAGE, reference=message_reference(access, row)
    )


async def unpin_message(ctx: Context, message_id: MessageId) -> None:
    """Unpin a message of the channel entered; a message that is not pinned emits nothing. Raises Refusal: 10008."""
    require_entry(ctx)
    require_active(ctx)
    row = await lock_message(ctx, ctx.channel.id, message_id)
    if not row.pinned:
        return
    newest = await queries.delete_pin(ctx.tx, ctx.channel.id, message_id)
    await _announce(ctx, structs.replace(row, pinned=False), newest, AuditLogEvent.MESSAGE_UNPIN)


async def _announce(ctx: Context, row: MessageRow, newest: Timestamp | None, action: AuditLogEvent) -> None:
    access = ctx.channel
    await announce_message(ctx, access, row)
    ctx.emit(
        ChannelPinsUpdate(
            guild_id=UNSET if access.guild is None else access.guild.id,
            channel_id=access.id,
            last_pin_timestamp=newest,
            audience_channel_id=access.audience_channel_id,
            recipients=access.event_user_ids,
        )
    )
    if ctx.in_guild:
        await ctx.audit(
            action,
            target=row.author_id,
            options=AuditLogOptions(channel_id=Snowflake(access.id), message_id=Snowflake(row.id)),
        )
