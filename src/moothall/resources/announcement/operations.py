"""Operations: create announcements, and end them. Each is a row of the operators' log."""

from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean
from moothall.objects.wire import Timestamp
from moothall.resources.announcement import queries
from moothall.resources.announcement.queries import AnnouncementRow
from moothall.resources.operator_log.operations import record_act

MAX_PRESENT: Final = 5
"""Announcements that are shown at once."""
CONTENT_MAX: Final = 500
_HOUR_MS: Final = 3_600_000
_LISTED_MS: Final = 365 * 24 * _HOUR_MS
"""How long announcements that have ended are listed for operators."""


async def create_announcement(ctx: Context, content: str, *, urgent: bool, hours: int) -> AnnouncementRow:
    """Create an announcement, which clients show to all users for `hours`.

    Raises Refusal: 50035 for a content of spaces alone, and while `MAX_PRESENT` others are shown.
    """
    content = clean(content).strip()
    if not content:
        refuse_field("content", FormCode.BASE_TYPE_REQUIRED, "This field is required")
    if await queries.count_present(ctx.tx, ctx.now) >= MAX_PRESENT:
        refuse_field("content", FormCode.BASE_TYPE_MAX_LENGTH, f"{MAX_PRESENT} announcements are shown: end one first.")
    await queries.delete_ended_before(ctx.tx, Timestamp(ctx.now - _LISTED_MS))
    row = AnnouncementRow(
        id=ctx.ids.next(),
        content=content,
        urgent=urgent,
        created_at=Timestamp(ctx.now),
        created_by=ctx.actor.user_id or None,
        ends_at=Timestamp(ctx.now + hours * _HOUR_MS),
    )
    await queries.insert_announcement(ctx.tx, row)
    changes = {"content": (None, content), "urgent": (None, urgent), "ends_at": (None, row.ends_at.wire())}
    await record_act(ctx, "announcement.create", row.id, changes=changes)
    return row


async def end_announcement(ctx: Context, announcement_id: Snowflake) -> AnnouncementRow:
    """End an announcement; one that has ended stays as it is. Raises Refusal 404 for an unknown one."""
    row = await queries.select_announcement(ctx.tx, announcement_id)
    if row is None:
        raise Refusal(errors.NOT_FOUND)
    if row.ends_at <= ctx.now:
        return row
    now = Timestamp(ctx.now)
    await queries.end_announcement(ctx.tx, row.id, now)
    await record_act(ctx, "announcement.end", row.id, changes={"ends_at": (row.ends_at.wire(), now.wire())})
    return structs.replace(row, ends_at=now)
