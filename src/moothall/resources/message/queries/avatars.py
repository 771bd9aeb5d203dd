"""The SQL of the avatars that webhooks give to single messages."""

from moothall.objects.ids import ChannelId, MessageId, WebhookId
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, insert, select
from moothall.storage.tables import message_avatars

_insert_avatar = Query(lambda: insert(message_avatars))
_select_url = Query(
    lambda: (
        select(message_avatars.c.url)
        .where(message_avatars.c.webhook_id == bindparam("webhook_id"), message_avatars.c.hash == bindparam("hash"))
        .limit(1)
    )
)
_select_url_of_message = Query(
    lambda: select(message_avatars.c.url).where(
        message_avatars.c.channel_id == bindparam("channel_id"), message_avatars.c.message_id == bindparam("message_id")
    )
)


async def insert_avatar(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, webhook_id: WebhookId, name: str, url: str
) -> None:
    """Insert the avatar of a message: its image hash and the URL of the picture."""
    await tx.execute(
        _insert_avatar, channel_id=channel_id, message_id=message_id, webhook_id=webhook_id, hash=name, url=url
    )


async def select_avatar_url(reader: Reader, webhook_id: WebhookId, name: str) -> str | None:
    """Select the URL of the picture with an image hash; None if no message of the webhook has it."""
    return await reader.scalar(_select_url, webhook_id=webhook_id, hash=name)  # type: ignore[no-any-return]


async def select_avatar_url_of_message(reader: Reader, channel_id: ChannelId, message_id: MessageId) -> str | None:
    """Select the URL of the avatar of a message; None if it has none of its own."""
    return await reader.scalar(  # type: ignore[no-any-return]
        _select_url_of_message, channel_id=channel_id, message_id=message_id
    )
