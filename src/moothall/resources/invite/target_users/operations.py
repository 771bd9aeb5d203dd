"""Setting the target users of an invite, and checking who may use it."""

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.invite import TargetUsersJob, TargetUsersJobState
from moothall.objects.permissions import Permissions
from moothall.resources.invite.queries import InviteRow
from moothall.resources.invite.target_users import queries
from moothall.resources.invite.target_users.jobs import ProcessTargetUsers
from moothall.resources.invite.target_users.queries import TargetJobRow


async def set_target_users(ctx: Context, guild_id: GuildId, code: str, user_ids: list[Snowflake]) -> None:
    """Let only these users see and accept an invite; a job stores them, until which earlier ones may not use it."""
    row = TargetJobRow(
        guild_id=guild_id,
        code=code,
        version=Snowflake(ctx.ids.next()),
        status=TargetUsersJobState.PROCESSING,
        total_users=len(user_ids),
        processed_users=0,
        created_at=ctx.now,
        completed_at=None,
        waiting_ids=user_ids,
    )
    await queries.delete_targets(ctx.tx, guild_id, code)
    await queries.upsert_target_job(ctx.tx, row)
    await enqueue(ctx, ProcessTargetUsers(guild_id=guild_id, code=code, version=row.version))


async def update_target_users(ctx: Context, code: str, user_ids: list[Snowflake]) -> None:
    """Replace the target users of an invite to the guild entered."""
    before = await queries.select_target_job(ctx.tx, ctx.guild.id, code)
    await set_target_users(ctx, ctx.guild.id, code, user_ids)
    old = None if before is None else before.total_users
    changes = [AuditLogChange(key="target_users", old_value=old, new_value=len(user_ids))]
    await ctx.audit(AuditLogEvent.INVITE_UPDATE, changes=changes)


async def get_target_users(ctx: Context, code: str) -> list[Snowflake]:
    """The target users of an invite to the guild entered. Raises Refusal: 404/10129 without any."""
    row = await queries.select_target_job(ctx.tx, ctx.guild.id, code)
    if row is None:
        raise Refusal(errors.UNKNOWN_INVITE_TARGETS)
    stored = await queries.select_targets(ctx.tx, ctx.guild.id, code)
    return [*stored, *row.waiting_ids]


async def get_target_users_job(ctx: Context, code: str) -> TargetUsersJob:
    """How far the processing of an invite's target users is. Raises Refusal: 404/10124 without any."""
    row = await queries.select_target_job(ctx.tx, ctx.guild.id, code)
    if row is None:
        raise Refusal(errors.UNKNOWN_INVITE_TARGET_JOB)
    return TargetUsersJob(
        status=TargetUsersJobState(row.status),
        total_users=row.total_users,
        processed_users=row.processed_users,
        created_at=row.created_at,
        completed_at=row.completed_at,
    )


async def require_target(ctx: Context, invite: InviteRow | None, guild: GuildState, *, accepts: bool) -> None:
    """Refuse (404/10006) callers who are no target users of an invite that has some; a vanity code (None) has none.

    Its inviter and members with MANAGE_GUILD may see it, too, but not accept it.
    """
    if invite is None or await queries.select_target_job(ctx.tx, guild.id, invite.code) is None:
        return
    if not ctx.actor.signed_in:
        raise Refusal(errors.UNKNOWN_INVITE)
    user_id = ctx.actor.user_id
    if await queries.is_target(ctx.tx, guild.id, invite.code, user_id):
        return
    if not accepts and (user_id == invite.inviter_id or await _may_manage(ctx, guild)):
        return
    raise Refusal(errors.UNKNOWN_INVITE)


async def _may_manage(ctx: Context, guild: GuildState) -> bool:
    user_id, now = ctx.actor.user_id, ctx.now
    _, member = await ctx.services.states.authority(ctx.tx, guild.id, user_id, now, writes=ctx.writes)
    return member is not None and bool(member.permissions & Permissions.MANAGE_GUILD)
