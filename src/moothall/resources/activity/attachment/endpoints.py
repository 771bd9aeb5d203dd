"""Images of Activities over HTTP (resources: application)."""

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.endpoint import Json, post
from moothall.objects.ids import ApplicationId
from moothall.objects.message import Attachment
from moothall.objects.scopes import GRANTABLE_SCOPES
from moothall.resources.activity.access import ActivityUser
from moothall.resources.activity.attachment.operations import store_attachment
from moothall.resources.activity.attachment.uploads import ActivityUploads


class ApplicationAttachment(Struct, frozen=True):
    """The attachment of an Activity."""

    attachment: Attachment


@post(
    "/applications/{application_id}/attachment",
    permission=ActivityUser(),
    scope="|".join(sorted(GRANTABLE_SCOPES)),
    uploads=ActivityUploads(),
)
async def upload_application_attachment(ctx: Context, application_id: ApplicationId) -> Json[ApplicationAttachment]:
    """Upload an image for an application with an Activity, as the part `file` of a form. It is kept for a day."""
    return Json(b'{"attachment":' + await store_attachment(ctx, application_id) + b"}")
