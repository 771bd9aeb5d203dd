"""The SQL of announcements."""

from msgspec import Struct, structs

from moothall.objects.ids import MAX_ID, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, func, insert, select, update
from moothall.storage.tables import announcements


class AnnouncementRow(Struct, frozen=True):
    """A row of `announcements`."""

    id: Snowflake
    content: str
    urgent: bool
    created_at: Timestamp
    created_by: UserId | None
    ends_at: Timestamp


_a = announcements.c
_insert = Query(lambda: insert(announcements))
_select_present = Query(
    lambda: select(announcements).where(_a.ends_at > bindparam("now")).order_by(_a.id), into=AnnouncementRow
)
_select_newest = Query(
    lambda: select(announcements).where(_a.id < bindparam("before")).order_by(_a.id.desc()).limit(bindparam("maximum")),
    into=AnnouncementRow,
)
_select_one = Query(lambda: select(announcements).where(_a.id == bindparam("announcement_id")), into=AnnouncementRow)
_count_present = Query(lambda: select(func.count()).select_from(announcements).where(_a.ends_at > bindparam("now")))
_end = Query(
    lambda: update(announcements).where(_a.id == bindparam("announcement_id")).values(ends_at=bindparam("moment"))
)
_delete_old = Query(lambda: delete(announcements).where(_a.ends_at < bindparam("moment")))


async def insert_announcement(tx: Transaction, row: AnnouncementRow) -> None:
    """Store an announcement."""
    await tx.execute(_insert, **structs.asdict(row))


async def select_present(reader: Reader, now: Timestamp) -> list[AnnouncementRow]:
    """Read the announcements that have not ended, oldest first."""
    return await reader.all(_select_present, now=now)


async def select_newest(reader: Reader, *, before: Snowflake | None, maximum: int) -> list[AnnouncementRow]:
    """Read announcements with smaller ids than `before`, newest first, those that have ended too."""
    return await reader.all(_select_newest, before=before or MAX_ID, maximum=maximum)


async def select_announcement(reader: Reader, announcement_id: Snowflake) -> AnnouncementRow | None:
    """Read an announcement; None for an unknown one."""
    return await reader.one(_select_one, announcement_id=announcement_id)


async def count_present(reader: Reader, now: Timestamp) -> int:
    """Count the announcements that have not ended."""
    return int(await reader.scalar(_count_present, now=now))


async def end_announcement(tx: Transaction, announcement_id: Snowflake, moment: Timestamp) -> None:
    """Store when an announcement ends."""
    await tx.execute(_end, announcement_id=announcement_id, moment=moment)


async def delete_ended_before(tx: Transaction, moment: Timestamp) -> None:
    """Delete the announcements that ended before a moment."""
    await tx.execute(_delete_old, moment=moment)
