"""The SQL of saved messages."""

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, MessageId, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import saved_messages


class SavedRow(Struct):
    """A row of `saved_messages`."""

    user_id: UserId
    channel_id: ChannelId
    message_id: MessageId
    saved_at: Timestamp
    due_at: Timestamp | None


_of_user = saved_messages.c.user_id == bindparam("user_id")
_this = (
    _of_user
    & (saved_messages.c.channel_id == bindparam("channel_id"))
    & (saved_messages.c.message_id == bindparam("message_id"))
)

_select_saved = Query(
    lambda: (
        select(saved_messages)
        .where(_of_user)
        .order_by(saved_messages.c.saved_at.desc(), saved_messages.c.message_id.desc())
    ),
    into=SavedRow,
)
_select_one = Query(lambda: select(saved_messages).where(_this), into=SavedRow)
_count_saved = Query(lambda: select(func.count()).select_from(saved_messages).where(_of_user))
_count_undated = Query(
    lambda: select(func.count()).select_from(saved_messages).where(_of_user, saved_messages.c.due_at.is_(None))
)
_upsert = Query(
    lambda: upsert(saved_messages, key=("user_id", "channel_id", "message_id"), update=("saved_at", "due_at"))
)
_delete = Query(lambda: delete(saved_messages).where(_this))


async def select_saved(reader: Reader, user_id: UserId) -> list[SavedRow]:
    """Select the saved messages of a user, those saved last first."""
    return await reader.all_long(_select_saved, user_id=user_id)


async def get_saved(reader: Reader, user_id: UserId, channel_id: ChannelId, message_id: MessageId) -> SavedRow | None:
    """Select one saved message of a user; None if it is not saved."""
    return await reader.one(_select_one, user_id=user_id, channel_id=channel_id, message_id=message_id)


async def count_saved(reader: Reader, user_id: UserId) -> tuple[int, int]:
    """Count the saved messages of a user without a moment when they are due, and with one."""
    undated = int(await reader.scalar(_count_undated, user_id=user_id))
    return undated, int(await reader.scalar(_count_saved, user_id=user_id)) - undated


async def upsert_saved(tx: Transaction, row: SavedRow) -> None:
    """Store a saved message in place of an earlier row of it."""
    await tx.execute(_upsert, **structs.asdict(row))


async def delete_saved(tx: Transaction, user_id: UserId, channel_id: ChannelId, message_id: MessageId) -> bool:
    """Delete a saved message of a user; False if it is not saved."""
    return bool(await tx.execute(_delete, user_id=user_id, channel_id=channel_id, message_id=message_id))
