"""Operations: delete a guild so that it can be restored, and restore it."""

from typing import Final

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild.events import GuildDelete
from moothall.resources.guild_deletion import queries
from moothall.resources.guild_deletion.operations.restoring import (
    DeleteGuildForGood,
    HideMembers,
    RestoreGuild,
    show_guild,
)
from moothall.resources.guild_deletion.queries import DeletedGuildRow
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.queries import select_user

_DAY_MS: Final = 86_400_000


async def delete_guild(ctx: Context, *, days: int) -> None:
    """Take the guild entered out of everyone's reach, and delete it for good in `days`, until when it can be restored.

    Its members, invites, webhooks and commands are gone with it, its sessions receive GUILD_DELETE. With 0 days it is
    deleted for good at once, by a job.
    """
    guild_id, name = ctx.guild.id, ctx.guild.row.name
    deletes_at = Timestamp(ctx.now + days * _DAY_MS)
    await queries.hide_guild(
        ctx.tx, guild_id, deleted_at=ctx.now, deletes_at=deletes_at, deleted_by=ctx.actor.user_id or None
    )
    if await queries.hide_some_members(ctx.tx, guild_id):
        await enqueue(ctx, HideMembers(guild_id=guild_id))
    await enqueue(ctx, DeleteGuildForGood(guild_id=guild_id, deletes_at=deletes_at), at=deletes_at)
    ctx.emit(GuildDelete(guild_id=guild_id))
    await record_act(ctx, "guild.delete", guild_id, changes={"name": (name, None), "days": (None, days)})


async def restore_guild(ctx: Context, guild_id: GuildId, *, owner_id: UserId | None = None) -> DeletedGuildRow:
    """Bring a deleted guild back as it was, with `owner_id` for another owner; its members' sessions then receive it.

    One of many members comes back by a job, soon after. Accounts that were deleted meanwhile are no members of it.
    Raises Refusal: 404/10004 for no deleted guild, 50035 for an owner who was no member, or whose account is closed.
    """
    row = await queries.select_deleted(ctx.tx, guild_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    owner = await _check_owner(ctx, guild_id, owner_id or row.owner_id)
    if row.restoring:
        return row
    if await queries.show_some_members(ctx.tx, guild_id):
        await queries.set_restoring(ctx.tx, guild_id)
        await enqueue(ctx, RestoreGuild(guild_id=guild_id, owner_id=owner))
    else:
        await show_guild(ctx, row, owner)
    changes: dict[str, tuple[str | None, str | None]] = {"name": (None, row.name)}
    if owner != row.owner_id:
        changes["owner_id"] = (str(int(row.owner_id)), str(int(owner)))
    await record_act(ctx, "guild.restore", guild_id, changes=changes)
    return row


async def _check_owner(ctx: Context, guild_id: GuildId, user_id: UserId) -> UserId:
    user = await select_user(ctx.tx, user_id)
    closed = user is None or user.bot or user.deleted or user.disabled or user.suspended
    if closed or not await queries.was_member(ctx.tx, guild_id, user_id):
        refuse_field("owner_id", FormCode.BASE_TYPE_CHOICES, "Name a member with an open account, who is no bot.")
    return user_id
