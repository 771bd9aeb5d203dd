"""The SQL of publishing."""

from sqlalchemy import bindparam, delete, insert, select

from moothall.objects.ids import ChannelId, MessageId, WebhookId
from moothall.objects.wire import Timestamp
from moothall.resources.webhook.queries import WebhookRow
from moothall.storage.columns import TimestampColumn
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.schema import channels, crossposts, publications, webhooks

_here = publications.c.channel_id == bindparam("channel_id")

_lock_channel = Query(select(channels.c.id).where(channels.c.id == bindparam("channel_id")).with_for_update())
_forget_publications = Query(
    delete(publications).where(_here, publications.c.published_at <= bindparam("until", type_=TimestampColumn()))
)
_select_publications = Query(
    select(publications.c.published_at)
    .where(_here)
    .order_by(publications.c.published_at.desc())
    .limit(bindparam("maximum"))
)
_insert_publication = Query(insert(publications))
_insert_copy = Query(insert(crossposts))
_select_follower = Query(
    select(webhooks)
    .where(webhooks.c.source_channel_id == bindparam("channel_id"), webhooks.c.id > bindparam("after"))
    .order_by(webhooks.c.id)
    .limit(1),
    into=WebhookRow,
)
_select_following = Query(
    select(webhooks)
    .where(
        webhooks.c.source_channel_id == bindparam("source_id"),
        webhooks.c.channel_id == bindparam("channel_id"),
    )
    .order_by(webhooks.c.id)
    .limit(1),
    into=WebhookRow,
)


async def select_recent_publications(
    tx: Transaction, channel_id: ChannelId, since: Timestamp, maximum: int
) -> list[Timestamp]:
    """When a channel last published since a moment, newest first; what was before is forgotten.

    Until the transaction is over nobody else publishes there: two at once would both count nine.
    """
    await tx.one(_lock_channel, channel_id=channel_id)
    await tx.execute(_forget_publications, channel_id=channel_id, until=since)
    return [Timestamp(row[0]) for row in await tx.all(_select_publications, channel_id=channel_id, maximum=maximum)]


async def insert_publication(tx: Transaction, channel_id: ChannelId, message_id: MessageId, now: Timestamp) -> None:
    """Remember when a message was published."""
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
    """Remember which copy of a message a webhook wrote."""
    await tx.execute(
        _insert_copy,
        channel_id=channel_id,
        message_id=message_id,
        webhook_id=webhook_id,
        copy_channel_id=copy_channel_id,
        copy_id=copy_id,
    )


async def select_follower(reader: Reader, channel_id: ChannelId, after: WebhookId) -> WebhookRow | None:
    """The next webhook, by id, that follows a channel."""
    return await reader.one(_select_follower, channel_id=channel_id, after=after)


async def select_following(reader: Reader, source_id: ChannelId, channel_id: ChannelId) -> WebhookRow | None:
    """The webhook by which one channel follows another already."""
    return await reader.one(_select_following, source_id=source_id, channel_id=channel_id)
