"""The target users of invites over HTTP (resources: invite)."""

from moothall.api.context import Context
from moothall.api.endpoint import Response, get, put
from moothall.objects.errors import refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.invite import TargetUsersJob
from moothall.objects.permissions import Permissions
from moothall.resources.invite.access import InviterOr
from moothall.resources.invite.target_users import operations
from moothall.resources.invite.target_users.files import FIELD, TargetUsersUploads, uploaded_user_ids, write_user_ids

_SEES = InviterOr("MANAGE_GUILD|VIEW_AUDIT_LOG", Permissions.MANAGE_GUILD, Permissions.VIEW_AUDIT_LOG)


@get("/invites/{code}/target-users", permission=_SEES)
async def get_invite_target_users(ctx: Context, code: str) -> Response:
    """Get the users who may accept an invite, as a CSV file; for its inviter too."""
    return Response(write_user_ids(await operations.get_target_users(ctx, code)), "text/csv")


@put(
    "/invites/{code}/target-users",
    permission=InviterOr("MANAGE_GUILD", Permissions.MANAGE_GUILD),
    audit_reason=True,
    uploads=TargetUsersUploads(),
)
async def update_invite_target_users(ctx: Context, code: str) -> None:
    """Replace the users who may accept an invite by those of a CSV file, `target_users_file`; for its inviter too."""
    user_ids = uploaded_user_ids(ctx)
    if user_ids is None:
        refuse_field(FIELD, *FieldError.required())
    await operations.update_target_users(ctx, code, user_ids)


@get("/invites/{code}/target-users/job-status", permission=_SEES)
async def get_invite_target_users_job_status(ctx: Context, code: str) -> TargetUsersJob:
    """Get how far the processing of an invite's target users is; for its inviter too."""
    return await operations.get_target_users_job(ctx, code)
