"""Quick links over HTTP (resources: application, activity link)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import PUBLIC
from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId
from moothall.objects.images import ImageData
from moothall.objects.scopes import GRANTABLE_SCOPES
from moothall.resources.activity.access import ActivityUser
from moothall.resources.activity.quick_link import operations
from moothall.resources.activity.quick_link.objects import ActivityLink, activity_link, read_link_id
from moothall.resources.activity.quick_link.queries import select_quick_link


class CreateQuickLink(Struct, frozen=True, kw_only=True):
    """What a link shows, and what the Activity learns from it."""

    title: Annotated[str, Meta(min_length=1, max_length=32)]
    description: Annotated[str, Meta(min_length=1, max_length=64)]
    image: ImageData
    custom_id: Annotated[str, Meta(min_length=1, max_length=256)] | None = None


@post(
    "/applications/{application_id}/quick-links",
    permission=ActivityUser(),
    scope="|".join(sorted(GRANTABLE_SCOPES)),
)
async def create_application_quick_link(
    ctx: Context, application_id: ApplicationId, body: CreateQuickLink
) -> ActivityLink:
    """Create a link into the Activity of an application, which lasts for 30 days."""
    row = await operations.create_quick_link(
        ctx,
        application_id,
        title=body.title,
        description=body.description,
        image=body.image.hash,
        custom_id=body.custom_id,
    )
    return activity_link(row)


@get("/applications/{application_id}/quick-links/{link_id}", permission=PUBLIC)
async def get_application_quick_link(ctx: Context, application_id: ApplicationId, link_id: str) -> ActivityLink:
    """Get a link into the Activity of an application."""
    number = read_link_id(link_id)
    row = None if number is None else await select_quick_link(ctx.tx, application_id, number)
    if row is None:
        raise Refusal(errors.NOT_FOUND)
    return activity_link(row)
