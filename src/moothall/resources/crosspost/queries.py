"""The SQL of followers and publications."""

from moothall.objects.ids import ChannelId, MessageId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.resources.channel.queries import lock_channel
from moothall.resources.webhook.queries import WebhookRow
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import TimestampColumn, bindparam, delete, insert, select
from moothall.storage.tables import crossposts, publications, webhooks

_here = publications.c.channel_id == bindparam("channel_id")

_delete_publications = Query(
    lambda: delete(publications).where(
        _here, publications.c.published_at <= bindparam("until", type_=TimestampColumn())
    )
)
_select_publications = Query(
    lambda: (
        select(publications.c.published_at)
        .where(_here)
        .order_by(publications.c.published_at.desc())
        .limit(bindparam("maximum"))
    )
)
_insert_publication = Query(lambda: insert(publications))
_insert_copy = Query(lambda: insert(crossposts))
_select_next_follower = Query(
    lambda: (
        select(webhooks)
        .where(webhooks.c.source_channel_id == bindparam("channel_id"), webhooks.c.id > bindparam("after"))
        .order_by(webhooks.c.id)
        .limit(1)
    ),
    into=WebhookRow,
)
_select_follower_webhook = Query(
    lambda: (
        select(webhooks)
        .where(
            webhooks.c.source_channel_id == bindparam("source_id"),
            webhooks.c.channel_id == bindparam("channel_id"),
        )
        .order_by(webhooks.c.id)
        .limit(1)
    ),
    into=WebhookRow,
)


async def select_recent_publications(
    tx: Transaction, channel_id: ChannelId, since: Timestamp, maximum: int
) -> list[Timestamp]:
    """Select the times of a channel's publications since a time, newest first, and delete earlier ones.

    Locks the channel, so that two concurrent requests cannot both count nine.
    """
    await lock_channel(tx, channel_id)
    await tx.execute(_delete_publications, channel_id=channel_id, until=since)
    return [Timestamp(row[0]) for row in await tx.all(_select_publications, channel_id=channel_id, maximum=maximum)]


async def insert_publication(tx: Transaction, channel_id: ChannelId, message_id: MessageId, now: Timestamp) -> None:
    """Insert the time of a publication."""
    await tx.execute(_insert_publication, channel_id=channel_id, message_id=message_id, published_at=now)


async def insert_copy(
    tx: Transaction,
    channel_id: ChannelId,
    message_id: MessageId,
    *,
    webhook_id: WebhookId,
    copy_channel_id: ChannelId,
    copy_id: MessageId,
) -> None:
    """Insert the reference from a published message to its copy."""
    await tx.execute(
        _insert_copy,
        channel_id=channel_id,
        message_id=message_id,
        webhook_id=webhook_id,
        copy_channel_id=copy_channel_id,
        copy_id=copy_id,
    )


async def select_next_follower(reader: Reader, channel_id: ChannelId, after: WebhookId) -> WebhookRow | None:
    """Select the follower webhook of a channel with the lowest id above `after`."""
    return await reader.one(_select_next_follower, channel_id=channel_id, after=after)


async def select_follower_webhook(reader: Reader, source_id: ChannelId, channel_id: ChannelId) -> WebhookRow | None:
    """Select the webhook by which a channel follows another; None if it does not."""
    return await reader.one(_select_follower_webhook, source_id=source_id, channel_id=channel_id)
