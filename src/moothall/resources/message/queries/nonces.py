"""The SQL of nonces."""

from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, upsert
from moothall.storage.sql import TimestampColumn, bindparam, delete, select
from moothall.storage.tables import message_nonces

_select_nonce = Query(
    lambda: select(message_nonces.c.message_id).where(
        message_nonces.c.channel_id == bindparam("channel_id"),
        message_nonces.c.author_id == bindparam("author_id"),
        message_nonces.c.nonce == bindparam("nonce"),
        message_nonces.c.created_at > bindparam("since", type_=TimestampColumn()),
    )
)
_upsert_nonce = Query(
    lambda: upsert(message_nonces, key=("channel_id", "author_id", "nonce"), update=("message_id", "created_at"))
)
_insert_nonce = Query(lambda: insert_ignore(message_nonces, key=("channel_id", "author_id", "nonce")))
_delete_nonces = Query(lambda: delete(message_nonces).where(message_nonces.c.created_at <= bindparam("until")))


async def select_nonce(
    reader: Reader, channel_id: ChannelId, author_id: UserId, nonce: str, since: Timestamp
) -> MessageId | None:
    """The message that an author sent with a nonce after a moment; None if there is none."""
    row = await reader.one(_select_nonce, channel_id=channel_id, author_id=author_id, nonce=nonce, since=since)
    return None if row is None else MessageId(Snowflake(row[0]))


async def insert_nonce(
    tx: Transaction, channel_id: ChannelId, author_id: UserId, nonce: str, message_id: MessageId, now: Timestamp
) -> bool:
    """Insert the nonce of a message; False if it exists. Of two transactions at once the second waits for the first."""
    return bool(
        await tx.execute(
            _insert_nonce,
            channel_id=channel_id,
            author_id=author_id,
            nonce=nonce,
            message_id=message_id,
            created_at=now,
        )
    )


async def upsert_nonce(
    tx: Transaction, channel_id: ChannelId, author_id: UserId, nonce: str, message_id: MessageId, now: Timestamp
) -> None:
    """Store the nonce of a message, in place of an earlier message with the same nonce."""
    await tx.execute(
        _upsert_nonce, channel_id=channel_id, author_id=author_id, nonce=nonce, message_id=message_id, created_at=now
    )


async def delete_nonces(tx: Transaction, until: Timestamp) -> None:
    """Delete the nonces of messages sent up to a moment."""
    await tx.execute(_delete_nonces, until=until)
