"""The SQL of pins."""

from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries import SHOWN_COLUMNS, ShownRow
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import channel_activity, messages, pins

_here = pins.c.channel_id == bindparam("channel_id")

_select_pin_state = Query(lambda: select(func.count(), func.max(pins.c.pinned_at)).where(_here))
_insert_pin = Query(lambda: insert(pins))
_delete_pin = Query(lambda: delete(pins).where(_here, pins.c.message_id == bindparam("message_id")))
_mark_pinned = Query(
    lambda: (
        update(messages)
        .where(messages.c.channel_id == bindparam("channel_id"), messages.c.id == bindparam("message_id"))
        .values(pinned=bindparam("new_pinned"))
    )
)
_move_activity = Query(lambda: upsert(channel_activity, key=("channel_id",), update=("last_pin_timestamp",)))
_select_pins = Query(
    lambda: (
        select(pins.c.pinned_at, *SHOWN_COLUMNS)
        .select_from(
            pins.join(messages, (messages.c.channel_id == pins.c.channel_id) & (messages.c.id == pins.c.message_id))
        )
        .where(_here, pins.c.pinned_at < bindparam("before"))
        .order_by(pins.c.pinned_at.desc())
        .limit(bindparam("maximum"))
    )
)


async def select_pin_state(reader: Reader, channel_id: ChannelId) -> tuple[int, Timestamp | None]:
    """The number of a channel's pins, and the time of the newest."""
    row = await reader.one(_select_pin_state, channel_id=channel_id)
    count, newest = row or (0, None)
    return count, None if newest is None else Timestamp(newest)


async def insert_pin(tx: Transaction, channel_id: ChannelId, message_id: MessageId, now: Timestamp) -> None:
    """Insert a pin, the newest of its channel."""
    await tx.execute(_insert_pin, channel_id=channel_id, message_id=message_id, pinned_at=now)
    await tx.execute(_mark_pinned, channel_id=channel_id, message_id=message_id, new_pinned=True)
    await tx.execute(_move_activity, channel_id=channel_id, last_pin_timestamp=now)


async def delete_pin(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> Timestamp | None:
    """Delete a pin; the time of the newest pin that is left."""
    await tx.execute(_delete_pin, channel_id=channel_id, message_id=message_id)
    await tx.execute(_mark_pinned, channel_id=channel_id, message_id=message_id, new_pinned=False)
    _, newest = await select_pin_state(tx, channel_id)
    await tx.execute(_move_activity, channel_id=channel_id, last_pin_timestamp=newest)
    return newest


async def select_pins(
    reader: Reader, channel_id: ChannelId, *, before: Timestamp, maximum: int
) -> list[tuple[Timestamp, ShownRow]]:
    """The newest pins before a time, with their messages."""
    rows = await reader.all(_select_pins, channel_id=channel_id, before=before, maximum=maximum)
    return [(Timestamp(row[0]), row[1:]) for row in rows]
