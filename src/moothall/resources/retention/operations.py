"""Operations: set rules of retention, and delete what is over its time."""

from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.channel_access import private_thread_user_ids
from moothall.objects import errors
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId, snowflake_at
from moothall.objects.wire import Timestamp
from moothall.resources.channel.thread_activity.operations import uncount_messages_in_threads
from moothall.resources.channel.thread_activity.queries import select_private_members
from moothall.resources.guild_administration.queries import select_guild
from moothall.resources.message.events import MessageDeleteBulk, Route, route_in_guild
from moothall.resources.message.operations.copies import renew_copies
from moothall.resources.message.queries import deletion
from moothall.resources.operator_log.operations import record_act
from moothall.resources.retention import queries
from moothall.resources.retention.queries import ChannelAge, RuleRow

_DAY_MS: Final = 86_400_000
_PASS_MS: Final = 3_600_000
"""Between two passes of a rule over its channels."""
_CHANNELS: Final = 50
_MESSAGES: Final = 100
_MEGABYTE: Final = 1_000_000
MAX_RULES: Final = 1000


async def set_rule(
    ctx: Context,
    scope: str,
    target_id: Snowflake,
    *,
    message_days: int | None,
    large_file_mb: int | None,
    large_file_days: int | None,
) -> None:
    """Set the rule of the instance (`target_id` 0), a guild or a channel; without any days there is none afterwards.

    A job deletes what is over its time, soon after and then every hour. Raises Refusal: 404 for an unknown guild or
    channel, 50035 for a size without days, or days without a size, and for more rules than `MAX_RULES`.
    """
    if (large_file_mb is None) != (large_file_days is None):
        refuse_field("large_file_days", FormCode.BASE_TYPE_REQUIRED, "Name both the size and the days of large files.")
    if scope == "guild" and await select_guild(ctx.tx, GuildId(target_id)) is None:
        raise Refusal(errors.UNKNOWN_GUILD)
    if scope == "channel" and not await queries.is_channel(ctx.tx, target_id):
        raise Refusal(errors.UNKNOWN_CHANNEL)
    before = await queries.select_rule(ctx.tx, scope, target_id)
    row = RuleRow(
        scope, target_id, message_days, large_file_mb, large_file_days, Timestamp(ctx.now), ctx.actor.user_id or None
    )
    old, new = _shown(before), _shown(row)
    if old == new:
        return
    if before is None and len(await queries.select_rules(ctx.tx)) >= MAX_RULES:
        refuse_field("target_id", FormCode.BASE_TYPE_MAX_LENGTH, f"There are {MAX_RULES} rules.")
    if message_days is None and large_file_days is None:
        await queries.delete_rule(ctx.tx, scope, target_id)
    else:
        await queries.upsert_rule(ctx.tx, row)
        await enqueue(ctx, ApplyRetention(scope=scope, target_id=target_id, changed_at=row.changed_at))
    changes = {"scope": (scope, scope), **{name: (old[name], new[name]) for name in new if old[name] != new[name]}}
    await record_act(ctx, "retention.change", target_id or None, changes=changes)


def _shown(row: RuleRow | None) -> dict[str, int | None]:
    names = ("message_days", "large_file_mb", "large_file_days")
    return {name: None if row is None else getattr(row, name) for name in names}


@job
class ApplyRetention(Job, frozen=True, kw_only=True):
    """Deletes the messages in the channels of a rule that are over their time, some at a time, again and again.

    It deletes the rule of a guild or channel that is gone, at most an hour later.
    """

    kind: ClassVar[str] = "apply_retention"
    scope: str
    target_id: Snowflake
    changed_at: Timestamp
    """Another moment in the rule means that it was changed, and has another job."""
    after: int = 0
    deletes: bool = False
    """Whether this pass has deleted anything."""

    async def step(self, ctx: Context) -> Job | None:
        """Look at the next channels, and delete messages of one of them."""
        rule = await queries.select_rule(ctx.tx, self.scope, self.target_id)
        if rule is None or rule.changed_at != self.changed_at:
            return None
        if await _is_deleted(ctx, self.scope, self.target_id):
            await queries.delete_rule(ctx.tx, self.scope, self.target_id)
            return None
        page = await queries.select_channel_ages(
            ctx.tx, self.scope, self.target_id, after=self.after, maximum=_CHANNELS
        )
        rules = {(each.scope, int(each.target_id)) for each in await queries.select_rules(ctx.tx)}
        governed = [channel for channel in page if _scope_of(channel, rules) == (self.scope, int(self.target_id))]
        if await _delete_some(ctx, rule, governed):
            return structs.replace(self, deletes=True)
        if len(page) == _CHANNELS:
            return structs.replace(self, after=int(page[-1].id))
        if self.deletes:
            await queries.upsert_erased_at(ctx.tx, 0)
        again = structs.replace(self, after=0, deletes=False)
        await enqueue(ctx, again, at=Timestamp(ctx.now + _PASS_MS))
        return None


async def _is_deleted(ctx: Context, scope: str, target_id: Snowflake) -> bool:
    """Whether the guild or channel of a rule is deleted for good."""
    if scope == "guild":
        return await select_guild(ctx.tx, GuildId(target_id)) is None
    return scope == "channel" and not await queries.is_channel(ctx.tx, target_id)


def _scope_of(channel: ChannelAge, rules: set[tuple[str, int]]) -> tuple[str, int] | None:
    """The rule that counts for a channel."""
    scopes = (
        ("channel", int(channel.id)),
        ("channel", int(channel.parent_id or 0)),
        ("guild", int(channel.guild_id or 0)),
        ("instance", 0),
    )
    return next((scope for scope in scopes if scope in rules), None)


async def _delete_some(ctx: Context, rule: RuleRow, channels: Sequence[ChannelAge]) -> bool:
    """Delete at most `_MESSAGES` messages of one of the channels that are over their time; False if there are none."""
    if rule.message_days is not None:
        before = snowflake_at(ctx.now - rule.message_days * _DAY_MS)
        for channel in channels:
            if channel.first_message_id is not None and channel.first_message_id < before:
                message_ids = await queries.select_old_messages(ctx.tx, channel.id, before, _MESSAGES)
                await delete_messages(ctx, channel, message_ids)
                return True
    if rule.large_file_mb is not None and rule.large_file_days is not None and channels:
        rows = await queries.select_messages_with_large_files(
            ctx.tx,
            [channel.id for channel in channels],
            size=rule.large_file_mb * _MEGABYTE,
            before=snowflake_at(ctx.now - rule.large_file_days * _DAY_MS),
            maximum=_MESSAGES,
        )
        for channel in channels:
            if rows and channel.id == rows[0][0]:
                await delete_messages(ctx, channel, [message_id for each, message_id in rows if each == channel.id])
                return True
    return False


async def delete_messages(ctx: Context, channel: ChannelAge, message_ids: Sequence[MessageId]) -> None:
    """Delete messages of a channel, and announce it to those who see it. There is no audit log entry: a rule did it."""
    targets = await deletion.lock_targets(ctx.tx, channel.id, list(message_ids))
    if not targets:
        return
    await deletion.delete_messages(ctx.tx, channel.id, targets)
    if channel.type in THREADS:
        await uncount_messages_in_threads(ctx, ((channel.id, row.id, row.type) for row in targets))
    await renew_copies(ctx, channel.id, [(row.id, row.flags) for row in targets])
    route = await _route_of(ctx, channel)
    ctx.emit(MessageDeleteBulk(route=route, message_ids=tuple(row.id for row in targets)))


async def _route_of(ctx: Context, channel: ChannelAge) -> Route:
    if channel.guild_id is None:
        user_ids = await queries.select_recipients(ctx.tx, channel.id)
        return Route(id=channel.id, guild_id=None, audience_channel_id=channel.id, user_ids=tuple(user_ids))
    members: dict[int, list[UserId]] = {}
    if channel.type == ChannelType.PRIVATE_THREAD:
        members = await select_private_members(ctx.tx, [channel.id])
    return route_in_guild(
        channel.guild_id,
        channel.id,
        channel.type,
        ChannelId(channel.parent_id) if channel.type in THREADS and channel.parent_id is not None else None,
        private_thread_user_ids(members.get(channel.id, ())) if channel.type == ChannelType.PRIVATE_THREAD else (),
    )
