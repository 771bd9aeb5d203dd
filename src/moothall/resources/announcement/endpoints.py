"""Announcements over HTTP: as clients show them, and as operators make them."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.operators import may_act, may_read
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.announcement import operations, queries
from moothall.resources.announcement.operations import CONTENT_MAX

_READS, _ACTS = may_read(OperatorPermission.ANNOUNCEMENTS), may_act(OperatorPermission.ANNOUNCEMENTS)


class Announcement(Struct, frozen=True, kw_only=True):
    """A message of the operators to all users."""

    id: Snowflake
    content: str
    urgent: bool
    """Whether it is a warning."""
    created_at: Timestamp
    ends_at: Timestamp
    """Clients show it until then."""


class AdministeredAnnouncement(Announcement, frozen=True, kw_only=True):
    """An announcement as operators see it, also one that has ended."""

    created_by: UserId | None
    """Null if a command has made it."""


class CreateAnnouncement(Struct, frozen=True):
    """The body of Create Announcement."""

    content: Annotated[str, Meta(min_length=1, max_length=CONTENT_MAX)]
    hours: Annotated[int, Meta(ge=1, le=24 * 90)]
    """How long clients show it, in hours."""
    urgent: bool = False
    """Whether it is a warning."""


@get("/announcements", permission=PERSON)
async def list_announcements(ctx: Context) -> list[Announcement]:
    """List the announcements that have not ended, oldest first."""
    fields = Announcement.__struct_fields__
    rows = await queries.select_present(ctx.tx, ctx.now)
    return [Announcement(**{name: getattr(row, name) for name in fields}) for row in rows]


@get("/admin/v1/announcements", permission=_READS)
async def list_administered_announcements(
    ctx: Context, *, before: Snowflake | None = None, limit: Annotated[int, Meta(ge=1, le=100)] = 50
) -> list[AdministeredAnnouncement]:
    """List announcements, newest first, with those that ended within the last year."""
    return [_announcement(row) for row in await queries.select_newest(ctx.tx, before=before, maximum=limit)]


@post("/admin/v1/announcements", permission=_ACTS, audit_reason=True, status=201)
async def create_announcement(ctx: Context, body: CreateAnnouncement) -> AdministeredAnnouncement:
    """Create an announcement, which clients show to all users for `hours`."""
    return _announcement(await operations.create_announcement(ctx, body.content, urgent=body.urgent, hours=body.hours))


@delete("/admin/v1/announcements/{announcement_id}", permission=_ACTS, audit_reason=True, status=200)
async def end_announcement(ctx: Context, announcement_id: Snowflake) -> AdministeredAnnouncement:
    """End an announcement before its time."""
    return _announcement(await operations.end_announcement(ctx, announcement_id))


def _announcement(row: queries.AnnouncementRow) -> AdministeredAnnouncement:
    return AdministeredAnnouncement(**{name: getattr(row, name) for name in row.__struct_fields__})
