"""Creating quick links, and deleting them after 30 days or with their application."""

from typing import ClassVar

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, QuickLinkId
from moothall.objects.wire import Timestamp
from moothall.resources.activity.quick_link import queries
from moothall.resources.activity.quick_link.queries import QuickLinkRow

_MS = 1000


@job
class DeleteQuickLink(Job, frozen=True, kw_only=True):
    """Delete a quick link, 30 days after its creation."""

    kind: ClassVar[str] = "delete quick link"
    link_id: QuickLinkId

    async def step(self, ctx: Context) -> Job | None:
        """Delete the link."""
        await queries.delete_quick_link(ctx.tx, self.link_id)
        return None


async def create_quick_link(
    ctx: Context, application_id: ApplicationId, *, title: str, description: str, image: str, custom_id: str | None
) -> QuickLinkRow:
    """Create a quick link; `image` is the hash of a stored image.

    Raises Refusal: 400/30016 for an application with too many.
    """
    if await queries.count_quick_links(ctx.tx, application_id) >= limits.ACTIVITY_QUICK_LINKS_MAX:
        raise Refusal(errors.TOO_MANY_INVITES)
    row = QuickLinkRow(QuickLinkId(ctx.ids.next()), application_id, title, description, image, custom_id)
    await queries.insert_quick_link(ctx.tx, row)
    ends_at = Timestamp(ctx.now + limits.ACTIVITY_QUICK_LINK_SECONDS * _MS)
    await enqueue(ctx, DeleteQuickLink(link_id=row.id), at=ends_at)
    return row


async def delete_quick_links(ctx: Context, application_id: ApplicationId) -> None:
    """Delete all quick links of an application that is being deleted."""
    await queries.delete_quick_links(ctx.tx, application_id)
