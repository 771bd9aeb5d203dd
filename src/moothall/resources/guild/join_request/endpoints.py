"""Join requests over HTTP (public description: guild join requests)."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch
from moothall.objects import limits
from moothall.objects.ids import GuildId, JoinRequestId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.screening import JoinRequest, JoinRequestList
from moothall.resources.guild.join_request import operations
from moothall.resources.guild.join_request.events import REVIEW_EVENTS, WITHDRAW_EVENTS
from moothall.resources.guild.membership.operations import ADMIT_EVENTS, LEAVE_EVENTS


class ReviewJoinRequest(Struct, frozen=True, kw_only=True):
    """The decision on a join request; the reason is used for rejections only."""

    action: Literal["APPROVED", "REJECTED"]
    """What the moderator decides."""
    rejection_reason: Annotated[str, Meta(max_length=limits.REJECTION_REASON_MAX)] | None = None


@get("/guilds/{guild_id}/requests", permission=Permissions.KICK_MEMBERS)
async def get_guild_join_requests(
    ctx: Context,
    guild_id: GuildId,
    *,
    status: Literal["SUBMITTED", "REJECTED", "APPROVED"] | None = None,
    limit: Annotated[int, Meta(ge=1, le=limits.JOIN_REQUEST_LIST_MAX)] = limits.JOIN_REQUEST_LIST_MAX,
    before: Snowflake | None = None,
    after: Snowflake | None = None,
) -> JoinRequestList:
    """List the join requests of a guild, newest first, or with `after` oldest first."""
    return await operations.list_join_requests(ctx, status, before=before, after=after, maximum=limit)


@patch(
    "/guilds/{guild_id}/requests/{request_id}",
    permission=Permissions.KICK_MEMBERS,
    audit_reason=True,
    fires=(*REVIEW_EVENTS, *ADMIT_EVENTS, *LEAVE_EVENTS),
)
async def action_guild_join_request(
    ctx: Context, guild_id: GuildId, request_id: JoinRequestId, body: ReviewJoinRequest
) -> JoinRequest:
    """Approve a join request, which admits the member, or reject it, which removes them."""
    return await operations.review_join_request(ctx, request_id, body.action, body.rejection_reason)


@get("/guilds/{guild_id}/requests/@me", permission=MEMBER)
async def get_current_user_join_request(ctx: Context, guild_id: GuildId) -> JoinRequest:
    """Get the caller's newest join request; 404 without one."""
    return await operations.get_own_join_request(ctx)


@delete("/guilds/{guild_id}/requests/@me", permission=MEMBER, fires=WITHDRAW_EVENTS)
async def delete_guild_join_request(ctx: Context, guild_id: GuildId) -> None:
    """Withdraw the caller's submitted join request; 404 without one."""
    await operations.withdraw_join_request(ctx)
