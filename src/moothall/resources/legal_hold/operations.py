"""Operations: hold what users, guilds and channels write, and release it."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild_administration.queries import select_guild
from moothall.resources.legal_hold import queries
from moothall.resources.legal_hold.queries import HoldRow
from moothall.resources.operator_log.operations import record_act
from moothall.resources.retention.queries import is_channel, upsert_erased_at
from moothall.resources.user.queries import select_user

MAX_HOLDS: Final = 1000


async def create_hold(ctx: Context, scope: str, target_id: Snowflake, name: str) -> HoldRow:
    """Keep a copy of each message of a user, a guild or a channel that is edited or deleted from now on.

    Raises Refusal: 404 for an unknown target, 50035 for more holds than `MAX_HOLDS`.
    """
    if scope == "user" and await select_user(ctx.tx, UserId(target_id)) is None:
        raise Refusal(errors.UNKNOWN_USER)
    if scope == "guild" and await select_guild(ctx.tx, GuildId(target_id)) is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    if scope == "channel" and not await is_channel(ctx.tx, target_id):
        raise Refusal(errors.UNKNOWN_CHANNEL)
    if await queries.count_holds(ctx.tx) >= MAX_HOLDS:
        refuse_field("target_id", FormCode.BASE_TYPE_MAX_LENGTH, f"There are {MAX_HOLDS} holds.")
    row = HoldRow(ctx.ids.next(), scope, target_id, name, Timestamp(ctx.now), ctx.actor.user_id or None)
    await queries.insert_hold(ctx.tx, row)
    await record_act(ctx, "hold.create", target_id, changes={"scope": (None, scope), "name": (None, name)})
    return row


async def release_hold(ctx: Context, hold_id: Snowflake) -> None:
    """End a hold; a job deletes the copies that are under no other one.

    Raises Refusal 404 for an unknown hold.
    """
    row = await find_hold(ctx, hold_id)
    await queries.delete_hold(ctx.tx, hold_id)
    await enqueue(ctx, DeleteReleased())
    await record_act(ctx, "hold.release", row.target_id, changes={"scope": (row.scope, None), "name": (row.name, None)})


async def find_hold(ctx: Context, hold_id: Snowflake) -> HoldRow:
    """Read a hold. Raises Refusal 404 for an unknown one."""
    row = await queries.select_hold(ctx.tx, hold_id)
    if row is None:
        raise Refusal(errors.NOT_FOUND)
    return row


@job
class DeleteReleased(Job, frozen=True, kw_only=True):
    """Deletes the copies of messages that are under no hold any more, some at a time."""

    kind: ClassVar[str] = "delete_released"
    after: int = 0

    async def step(self, ctx: Context) -> Job | None:
        """Delete the next copies."""
        last = await queries.delete_released(ctx.tx, self.after)
        if last is None:
            await upsert_erased_at(ctx.tx, 0)
            return None
        return structs.replace(self, after=last)
