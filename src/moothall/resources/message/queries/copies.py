"""The SQL of the copies of published messages."""

from moothall.objects.ids import ChannelId, MessageId, Snowflake, WebhookId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, select
from moothall.storage.tables import crossposts

_copies_here = (crossposts.c.channel_id == bindparam("channel_id")) & (
    crossposts.c.message_id == bindparam("message_id")
)
_select_copy = Query(
    lambda: (
        select(crossposts.c.webhook_id, crossposts.c.copy_channel_id, crossposts.c.copy_id)
        .where(_copies_here, crossposts.c.webhook_id > bindparam("after"))
        .order_by(crossposts.c.webhook_id)
        .limit(1)
    )
)
_delete_copy = Query(lambda: delete(crossposts).where(_copies_here, crossposts.c.webhook_id == bindparam("webhook_id")))


async def select_copy(
    reader: Reader, channel_id: ChannelId, message_id: MessageId, after: WebhookId
) -> tuple[WebhookId, ChannelId, MessageId] | None:
    """The next copy of a message in the order of webhooks: (webhook, channel, message) ids; None after the last."""
    row = await reader.one(_select_copy, channel_id=channel_id, message_id=message_id, after=after)
    if row is None:
        return None
    return WebhookId(Snowflake(row[0])), ChannelId(Snowflake(row[1])), MessageId(Snowflake(row[2]))


async def delete_copy(tx: Transaction, channel_id: ChannelId, message_id: MessageId, webhook_id: WebhookId) -> None:
    """Delete the record of a webhook's copy of a message."""
    await tx.execute(_delete_copy, channel_id=channel_id, message_id=message_id, webhook_id=webhook_id)
