"""The SQL of legal holds and of the copies that are kept under them."""

from typing import Any, Final

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import (
    ColumnElement,
    and_,
    bindparam,
    delete,
    exists,
    func,
    insert,
    or_,
    select,
)
from moothall.storage.tables import channels, dropped_files, legal_holds, retained_files, retained_messages

_AT_ONCE: Final = 200


class HoldRow(Struct, frozen=True):
    """A row of `legal_holds`."""

    id: Snowflake
    scope: str
    target_id: Snowflake
    name: str
    created_at: Timestamp
    created_by: UserId | None


class RetainedMessageRow(Struct, frozen=True):
    """A row of `retained_messages`."""

    id: int
    """Of the copy."""
    channel_id: ChannelId
    message_id: MessageId
    guild_id: GuildId | None
    author_id: UserId
    deleted: bool
    body: bytes
    retained_at: Timestamp


class RetainedFileRow(Struct, frozen=True):
    """A file of a held message: its columns of `retained_files`."""

    message_id: MessageId
    id: Snowflake
    content_type: str
    size: int
    body: bytes


_insert = Query(lambda: insert(legal_holds))
_select_all = Query(lambda: select(legal_holds).order_by(legal_holds.c.id), into=HoldRow)
_select = Query(lambda: select(legal_holds).where(legal_holds.c.id == bindparam("hold_id")), into=HoldRow)
_delete = Query(lambda: delete(legal_holds).where(legal_holds.c.id == bindparam("hold_id")))
_count = Query(lambda: select(func.count()).select_from(legal_holds))


def _retained_by(column: ColumnElement[Any]) -> Query[RetainedMessageRow]:
    return Query(
        lambda: (
            select(retained_messages)
            .where(column == bindparam("target_id"), retained_messages.c.id < bindparam("before"))
            .order_by(retained_messages.c.id.desc())
            .limit(bindparam("maximum"))
        ),
        into=RetainedMessageRow,
    )


_select_retained: Final = {
    "user": _retained_by(retained_messages.c.author_id),
    "guild": _retained_by(retained_messages.c.guild_id),
    "channel": _retained_by(retained_messages.c.channel_id),
}
_select_files = Query(
    lambda: (
        select(*(retained_files.c[name] for name in RetainedFileRow.__struct_fields__))
        .where(in_list(retained_files.c.message_id, "message_ids"), in_list(retained_files.c.channel_id, "channel_ids"))
        .order_by(retained_files.c.id)
    ),
    into=RetainedFileRow,
)
_is_retained = exists().where(
    or_(
        and_(legal_holds.c.scope == "user", legal_holds.c.target_id == retained_messages.c.author_id),
        and_(legal_holds.c.scope == "guild", legal_holds.c.target_id == retained_messages.c.guild_id),
        and_(legal_holds.c.scope == "channel", legal_holds.c.target_id == retained_messages.c.channel_id),
        and_(
            legal_holds.c.scope == "channel",
            legal_holds.c.target_id
            # Two levels below the row that it is about, which only one is found by itself.
            == select(channels.c.parent_id)
            .where(channels.c.id == retained_messages.c.channel_id)
            .correlate(retained_messages)
            .scalar_subquery(),
        ),
    )
)
_select_released = Query(
    lambda: (
        select(retained_messages.c.id, retained_messages.c.message_id, retained_messages.c.channel_id)
        .where(retained_messages.c.id > bindparam("after"), ~_is_retained)
        .order_by(retained_messages.c.id)
        .limit(_AT_ONCE)
    )
)
_delete_copies = Query(lambda: delete(retained_messages).where(in_list(retained_messages.c.id, "ids")))
_without_copy = and_(
    in_list(retained_files.c.message_id, "message_ids"),
    ~exists().where(retained_messages.c.message_id == retained_files.c.message_id),
)
_drop_files = Query(
    lambda: insert(dropped_files).from_select(
        ["message_id", "id"], select(retained_files.c.message_id, retained_files.c.id).where(_without_copy)
    )
)
_delete_files = Query(lambda: delete(retained_files).where(_without_copy))


async def insert_hold(tx: Transaction, row: HoldRow) -> None:
    """Store a hold."""
    await tx.execute(_insert, **structs.asdict(row))


async def select_holds(reader: Reader) -> list[HoldRow]:
    """Read all holds, oldest first."""
    return await reader.all(_select_all)


async def select_hold(reader: Reader, hold_id: Snowflake) -> HoldRow | None:
    """Read a hold; None for an unknown one."""
    return await reader.one(_select, hold_id=hold_id)


async def delete_hold(tx: Transaction, hold_id: Snowflake) -> None:
    """Delete a hold; its copies stay until `delete_released`."""
    await tx.execute(_delete, hold_id=hold_id)


async def count_holds(reader: Reader) -> int:
    """Count all holds."""
    return int(await reader.scalar(_count))


async def select_retained(reader: Reader, row: HoldRow, *, before: int, maximum: int) -> list[RetainedMessageRow]:
    """Read the copies under a hold, newest first, with smaller ids than `before`."""
    return await reader.all(_select_retained[row.scope], target_id=row.target_id, before=before, maximum=maximum)


async def select_retained_files(reader: Reader, rows: list[RetainedMessageRow]) -> list[RetainedFileRow]:
    """Read the files of held messages that the messages have no longer."""
    message_ids, channel_ids = [row.message_id for row in rows], [row.channel_id for row in rows]
    return await reader.all(_select_files, message_ids=message_ids, channel_ids=channel_ids)


async def delete_released(tx: Transaction, after: int) -> int | None:
    """Delete some copies that are under no hold any more, with their files; the last one's id, None without any."""
    rows = await tx.all(_select_released, after=after)
    if not rows:
        return None
    message_ids = [row[1] for row in rows]
    await tx.execute(_delete_copies, ids=[row[0] for row in rows])
    await tx.execute(_drop_files, message_ids=message_ids)
    await tx.execute(_delete_files, message_ids=message_ids)
    return int(rows[-1][0])
