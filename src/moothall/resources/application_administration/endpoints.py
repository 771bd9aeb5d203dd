"""Applications over HTTP, as operators find and change them."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch
from moothall.api.operators import may_act, may_read
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, TeamId, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.application.operations import DELETE_APPLICATION_EVENTS
from moothall.resources.application_administration import operations
from moothall.resources.application_administration.queries import (
    ApplicationSummaryRow,
    select_matching,
    select_summary,
)
from moothall.resources.user.events import SessionsClose

_READS, _ACTS = may_read(OperatorPermission.APPLICATIONS), may_act(OperatorPermission.APPLICATIONS)


class AdministeredApplication(Struct, frozen=True):
    """An application, as operators see it: none of its secrets."""

    id: ApplicationId
    name: str
    owner_id: UserId
    owner_name: str | None
    team_id: TeamId | None
    disabled: bool
    """Whether an operator has disabled it."""
    created_at: Timestamp
    guild_count: int
    """In so many guilds its bot is a member."""


class ModifyAdministeredApplication(Struct, frozen=True):
    """What operators change of an application."""

    disabled: bool


@get("/admin/v1/applications", permission=_READS)
async def list_administered_applications(
    ctx: Context,
    *,
    search: Annotated[str, Meta(max_length=100)] = "",
    owner_id: UserId | None = None,
    before: ApplicationId | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[AdministeredApplication]:
    """List applications, newest first: those with `search` in their names, or all of an owner."""
    rows = await select_matching(ctx.tx, search=search, owner_id=owner_id, before=before, maximum=limit)
    return [_application(row) for row in rows]


@get("/admin/v1/applications/{application_id}", permission=_READS)
async def get_administered_application(ctx: Context, application_id: ApplicationId) -> AdministeredApplication:
    """Return an application."""
    return await _find(ctx, application_id)


@patch(
    "/admin/v1/applications/{application_id}",
    permission=_ACTS,
    audit_reason=True,
    fires=(SessionsClose,),
)
async def modify_administered_application(
    ctx: Context, application_id: ApplicationId, body: ModifyAdministeredApplication
) -> AdministeredApplication:
    """Disable an application, or enable it again.

    While it is disabled its tokens and those of its users and webhooks are refused, and no one can use or authorize it.
    """
    await operations.set_disabled(ctx, application_id, disabled=body.disabled)
    return await _find(ctx, application_id)


@delete(
    "/admin/v1/applications/{application_id}",
    permission=_READS,
    audit_reason=True,
    fires=DELETE_APPLICATION_EVENTS,
    writes=False,
)
async def delete_administered_application(ctx: Context, application_id: ApplicationId) -> None:
    """Delete an application with its bot, which leaves every guild. The bot's messages stay."""
    await operations.delete_application(ctx, application_id)


async def _find(ctx: Context, application_id: ApplicationId) -> AdministeredApplication:
    row = await select_summary(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return _application(row)


def _application(row: ApplicationSummaryRow) -> AdministeredApplication:
    return AdministeredApplication(**{name: getattr(row, name) for name in row.__struct_fields__})
