"""Submitting, reviewing and withdrawing join requests."""

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, JoinRequestId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.screening import JoinRequest, JoinRequestList, JoinRequestStatus
from moothall.resources.guild.join_request import queries
from moothall.resources.guild.join_request.events import (
    GuildJoinRequestCreate,
    GuildJoinRequestDelete,
    GuildJoinRequestUpdate,
    OwnJoinRequestCreate,
    OwnJoinRequestDelete,
    OwnJoinRequestUpdate,
)
from moothall.resources.guild.join_request.queries import JoinRequestRow
from moothall.resources.guild.membership.operations import admit_member, kick_member
from moothall.resources.member.queries import get_member
from moothall.resources.user.queries import get_users

_NO_ID = 1 << 62
"""Above every id: the newest requests."""
Decision = Literal["APPROVED", "REJECTED"]


async def list_join_requests(
    ctx: Context, status: str | None, *, before: int | None, after: int | None, maximum: int
) -> JoinRequestList:
    """The join requests of the guild entered: the newest, the newest before an id, or the oldest after one."""
    rows = await queries.select_join_requests(
        ctx.tx, ctx.guild.id, status, before=_NO_ID if before is None else before, after=after, maximum=maximum
    )
    total = await queries.count_join_requests(ctx.tx, ctx.guild.id, status)
    return JoinRequestList(guild_join_requests=await _objects(ctx, rows), total=total)


async def get_own_join_request(ctx: Context) -> JoinRequest:
    """The caller's newest join request. Raises Refusal: 404 without one."""
    row = await queries.select_newest_of_user(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.NOT_FOUND)
    return _for_user(row)


async def submit_join_request(ctx: Context, responses: list[JsonObject]) -> JoinRequest:
    """Submit the caller's responses for review, replacing those that await it."""
    submitted = await queries.select_submitted(ctx.tx, ctx.guild.id, [ctx.actor.user_id])
    if submitted:
        row = structs.replace(submitted[0], form_responses=responses)
        if row != submitted[0]:
            await queries.update_join_request(ctx.tx, row)
            await _announce_updates(ctx, [row])
        return _for_user(row)
    row = JoinRequestRow(
        guild_id=ctx.guild.id,
        id=JoinRequestId(ctx.ids.next()),
        user_id=ctx.actor.user_id,
        status=JoinRequestStatus.SUBMITTED,
        created_at=ctx.now,
        reviewed_at=None,
        reviewer_id=None,
        rejection_reason=None,
        form_responses=responses,
    )
    await queries.insert_join_request(ctx.tx, row)
    (request,) = await _objects(ctx, [row])
    ctx.emit(GuildJoinRequestCreate(request=request))
    ctx.emit(OwnJoinRequestCreate(request=_for_user(row)))
    return _for_user(row)


async def review_join_request(
    ctx: Context, request_id: JoinRequestId, decision: Decision, rejection_reason: str | None
) -> JoinRequest:
    """Approve a submitted request, which admits the member, or reject it, which removes them.

    Raises Refusal: 404 for a request of another guild, 50035 for one that was reviewed, 403/50013 for rejecting a
    member who does not rank below the caller.
    """
    row = await queries.select_join_request(ctx.tx, ctx.guild.id, request_id)
    if row is None:
        raise Refusal(errors.NOT_FOUND)
    if row.status != JoinRequestStatus.SUBMITTED:
        refuse_field("action", FormCode.BASE_TYPE_CHOICES, "The join request was reviewed already.")
    row = structs.replace(
        row,
        status=decision,
        reviewed_at=ctx.now,
        reviewer_id=ctx.actor.user_id,
        rejection_reason=rejection_reason if decision == JoinRequestStatus.REJECTED else None,
    )
    await queries.update_join_request(ctx.tx, row)
    member = await get_member(ctx.tx, ctx.guild.id, row.user_id)
    if member is not None and member.pending:
        if decision == JoinRequestStatus.REJECTED:
            await kick_member(ctx, ctx.guild.id, row.user_id)
        else:
            await admit_member(ctx, ctx.guild, member)
            changes = [AuditLogChange(key="pending", old_value=True, new_value=False)]
            await ctx.audit(AuditLogEvent.MEMBER_UPDATE, target=row.user_id, changes=changes)
    await _announce_updates(ctx, [row])
    return (await _objects(ctx, [row]))[0]


async def approve_admitted(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    """Approve the submitted requests of members who were admitted without a review."""
    rows = [
        structs.replace(row, status=JoinRequestStatus.APPROVED, reviewed_at=ctx.now)
        for row in await queries.select_submitted(ctx.tx, guild_id, user_ids)
    ]
    for row in rows:
        await queries.update_join_request(ctx.tx, row)
    await _announce_updates(ctx, rows)


async def withdraw_join_request(ctx: Context) -> None:
    """Withdraw the caller's submitted request. Raises Refusal: 404 without one."""
    if not await withdraw_of_users(ctx, ctx.guild.id, [ctx.actor.user_id]):
        raise Refusal(errors.NOT_FOUND)


async def withdraw_of_users(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> bool:
    """Delete the submitted requests of users; whether there were any."""
    rows = await queries.select_submitted(ctx.tx, guild_id, user_ids)
    if rows:
        await queries.delete_submitted(ctx.tx, guild_id, [row.user_id for row in rows])
    for row in rows:
        ctx.emit(GuildJoinRequestDelete(request=_for_user(row)))
        ctx.emit(OwnJoinRequestDelete(request=_for_user(row)))
    return bool(rows)


async def _announce_updates(ctx: Context, rows: Sequence[JoinRequestRow]) -> None:
    for row, request in zip(rows, await _objects(ctx, rows), strict=True):
        ctx.emit(GuildJoinRequestUpdate(request=request))
        ctx.emit(OwnJoinRequestUpdate(request=_for_user(row)))


async def _objects(ctx: Context, rows: Sequence[JoinRequestRow]) -> list[JoinRequest]:
    """Join requests as moderators see them."""
    users = await get_users(ctx.tx, _users_of(rows))
    return [
        structs.replace(
            _for_user(row),
            user=users.get(row.user_id),
            form_responses=row.form_responses,
            actioned_by_user=None if row.reviewer_id is None else users.get(row.reviewer_id),
        )
        for row in rows
    ]


def _users_of(rows: Iterable[JoinRequestRow]) -> set[UserId]:
    return {each for row in rows for each in (row.user_id, row.reviewer_id) if each is not None}


def _for_user(row: JoinRequestRow) -> JoinRequest:
    """A join request as its user sees it."""
    return JoinRequest(
        id=row.id,
        join_request_id=row.id,
        guild_id=row.guild_id,
        user_id=row.user_id,
        created_at=row.created_at,
        reviewed_at=row.reviewed_at,
        application_status=JoinRequestStatus(row.status),
        rejection_reason=row.rejection_reason,
        form_responses=UNSET,
    )
