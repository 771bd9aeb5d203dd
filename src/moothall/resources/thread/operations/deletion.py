"""Operation: delete a thread."""

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId
from moothall.objects.message_types import MessagePart
from moothall.objects.permissions import Permissions
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import delete_channel
from moothall.resources.channel.thread_activity.events import thread_delete_event
from moothall.resources.message.queries import select_message
from moothall.resources.thread import queries
from moothall.resources.thread.operations.audit import audit_thread
from moothall.resources.thread.operations.starting import set_has_thread


async def delete_thread(ctx: Context) -> Channel:
    """Delete the current thread, which requires MANAGE_THREADS; return the object as it was.

    The caller enqueues the removal of its messages. The message that it was started from stays, and another thread can
    be started from it. The row must declare `ThreadDelete` and `MessageUpdate`.
    """
    ctx.require(Permissions.MANAGE_THREADS)
    access = ctx.channel
    row = await select_channel(ctx.tx, access.id)
    if row is None or access.parent is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    channel = await channel_object(ctx.tx, access.channel)
    await delete_channel(ctx.tx, row.id)
    await queries.replace_tags(ctx.tx, row.id, ())
    await audit_thread(ctx, AuditLogEvent.THREAD_DELETE, row.id, channel, None)
    ctx.emit(thread_delete_event(row, ctx.guild.id, access.event_user_ids))
    starter = await select_message(ctx.tx, access.parent.id, MessageId(row.id))
    if starter is not None and starter.parts & MessagePart.THREAD:
        parent = structs.replace(access, channel=access.parent, parent=None, recipients=())
        await set_has_thread(ctx, parent, starter, has_thread=False)
    return channel
