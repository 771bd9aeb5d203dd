"""Opening, changing and closing live stages (resources: stage instance)."""

from typing import ClassVar, Final

from msgspec import structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.api.hooks import Fires, Hook
from moothall.api.jobs import Job, enqueue, job
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.guild_state import GuildState
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId, Snowflake, StageInstanceId, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.stage_instance import StagePrivacyLevel
from moothall.objects.wire import Timestamp
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.stage_instance import queries
from moothall.resources.stage_instance.events import StageInstanceCreate, StageInstanceDelete, StageInstanceUpdate
from moothall.resources.stage_instance.queries import StageRow, count_speakers, select_stage, stage_object

OPEN_STAGE_EVENTS: Final[Fires] = (StageInstanceCreate, MessageCreate)
"""For `fires` of rows that may open a stage."""
CLOSE_STAGE_EVENTS: Final[Fires] = (StageInstanceDelete, MessageCreate)
"""For `fires` of rows that may close a stage."""

STAGE_OPENING: Final = Hook[[Context, ScheduledEventId, ChannelId], None]("stage opening")
"""Refuses a stage for a scheduled event that cannot start on it."""
STAGE_OPENED: Final = Hook[[Context, ScheduledEventId, Snowflake], None]("stage opened")
"""Starts the scheduled event that a stage has been opened for."""
STAGE_CLOSED: Final = Hook[[Context, GuildState, StageRow], None]("stage closed")
"""Called after a stage has been closed."""
CREATE_STAGE_INSTANCE_EVENTS: Final[Fires] = (*OPEN_STAGE_EVENTS, STAGE_OPENING, STAGE_OPENED)
"""For `fires` of rows that may open a stage for an event."""
DELETE_STAGE_INSTANCE_EVENTS: Final[Fires] = (*CLOSE_STAGE_EVENTS, STAGE_CLOSED)
"""For `fires` of rows that may end a stage and the event that it was opened for."""

STAGE_MODERATOR: Final = int(Permissions.MANAGE_CHANNELS | Permissions.MUTE_MEMBERS | Permissions.MOVE_MEMBERS)
"""The permissions of a stage moderator, in the stage channel."""

_AUDITED: Final = ("topic", "privacy_level")
_MS: Final = 1000


@job
class CloseSilentStage(Job, frozen=True, kw_only=True):
    """Closes a stage that has had no speaker for `STAGE_SILENCE` seconds (stage instance, auto closing)."""

    kind: ClassVar[str] = "watch_stage"
    guild_id: GuildId
    channel_id: ChannelId
    stage_id: StageInstanceId
    quiet_since: Timestamp | None = None
    """Since when the stage has had no speaker; None while it has speakers."""

    async def step(self, ctx: Context) -> Job | None:
        """End the stage once it has had no speaker for `STAGE_SILENCE` seconds."""
        stage = await select_stage(ctx.tx, self.guild_id, self.channel_id)
        guild = await ctx.services.states.state(ctx.tx, self.guild_id, writes=True)
        if stage is None or guild is None or stage.id != self.stage_id:
            return None
        quiet_since = self.quiet_since
        if await count_speakers(ctx.tx, self.channel_id):
            quiet_since = None
        elif quiet_since is None:
            quiet_since = ctx.now
        elif ctx.now - quiet_since >= limits.STAGE_SILENCE * _MS:
            await end_stage(ctx, guild, stage)
            return None
        next_check = structs.replace(self, quiet_since=quiet_since)
        await enqueue(ctx, next_check, at=Timestamp(ctx.now + limits.STAGE_LOOK * _MS))
        return None


async def open_stage(
    ctx: Context,
    guild: GuildState,
    channel: Channel,
    opener_id: UserId,
    *,
    topic: str,
    privacy_level: int = StagePrivacyLevel.GUILD_ONLY,
    event_id: ScheduledEventId | None = None,
    mention_everyone: bool = False,
) -> StageRow:
    """Open the stage of a stage channel and send a system message; `mention_everyone` lets it mention @everyone.

    Raises Refusal: 400/150006 if the stage is live. The caller checks permissions and enqueues `CloseSilentStage`; rows
    that call this declare `OPEN_STAGE_EVENTS`.
    """
    row = StageRow(
        guild_id=guild.id,
        channel_id=channel.id,
        id=StageInstanceId(ctx.ids.next()),
        topic=topic,
        privacy_level=privacy_level,
        discoverable_disabled=True,
        guild_scheduled_event_id=event_id,
        opened_by=opener_id,
    )
    if not await queries.insert_stage(ctx.tx, row):
        raise Refusal(errors.STAGE_ALREADY_OPEN)
    ctx.emit(StageInstanceCreate(stage=stage_object(row)))
    await _send_stage_message(ctx, guild, channel, opener_id, MessageType.STAGE_START, topic, everyone=mention_everyone)
    await _audit(ctx, AuditLogEvent.STAGE_INSTANCE_CREATE, None, row)
    return row


async def update_stage(ctx: Context, row: StageRow, channel: Channel, **values: object) -> StageRow:
    """Change the topic or the privacy level of a live stage. Values that change nothing emit nothing."""
    after = structs.replace(row, **values)
    if after == row:
        return row
    await queries.update_stage(ctx.tx, row, **values)
    ctx.emit(StageInstanceUpdate(stage=stage_object(after)))
    if after.topic != row.topic:
        await _send_stage_message(ctx, ctx.guild, channel, ctx.actor.user_id, MessageType.STAGE_TOPIC, after.topic)
    await _audit(ctx, AuditLogEvent.STAGE_INSTANCE_UPDATE, row, after)
    return after


async def close_stage(ctx: Context, guild: GuildState, row: StageRow, *, silent: bool = False) -> bool:
    """Close a live stage; False if it was closed already.

    Sends a system message and records an audit log entry for a signed-in actor, neither with `silent`. Rows that call
    this declare `CLOSE_STAGE_EVENTS`.
    """
    if not await queries.delete_stage(ctx.tx, row):
        return False
    channel = await guild.channel(ctx.tx, row.channel_id)
    if channel is not None and not silent:
        closer_id = ctx.actor.user_id if ctx.actor.signed_in else row.opened_by
        await _send_stage_message(ctx, guild, channel, closer_id, MessageType.STAGE_END, row.topic)
    ctx.emit(StageInstanceDelete(stage=stage_object(row)))
    if not silent:
        await _audit(ctx, AuditLogEvent.STAGE_INSTANCE_DELETE, row, None)
    return True


async def _send_stage_message(
    ctx: Context,
    guild: GuildState,
    channel: Channel,
    author_id: UserId,
    kind: MessageType,
    topic: str,
    *,
    everyone: bool = False,
) -> None:
    access = ChannelAccess(channel=channel, permissions=0, guild=guild)
    await send_system_message(ctx, access, author_id, kind, content=topic, everyone=everyone)


async def _audit(ctx: Context, action: AuditLogEvent, before: StageRow | None, after: StageRow | None) -> None:
    row = after or before
    if row is None or not ctx.actor.signed_in:
        return
    await ctx.audit(
        action,
        target=row.id,
        changes=differences(before, after, _AUDITED),
        options=AuditLogOptions(channel_id=Snowflake(row.channel_id)),
        guild_id=row.guild_id,
    )


async def open_watched_stage(
    ctx: Context,
    guild: GuildState,
    channel_id: ChannelId,
    opener_id: UserId,
    *,
    topic: str,
    privacy_level: int = StagePrivacyLevel.GUILD_ONLY,
    event_id: ScheduledEventId | None = None,
    mention_everyone: bool = False,
) -> StageRow:
    """Open a stage, optionally for a scheduled event, and enqueue the job that closes it once it has no speakers.

    Raises Refusal: 404/10003, 400/150006. Rows that call this declare `OPEN_STAGE_EVENTS`.
    """
    channel = await guild.channel(ctx.tx, channel_id)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    stage = await open_stage(
        ctx,
        guild,
        channel,
        opener_id,
        topic=topic[: limits.STAGE_TOPIC_MAX],
        privacy_level=privacy_level,
        event_id=event_id,
        mention_everyone=mention_everyone,
    )
    close_job = CloseSilentStage(guild_id=guild.id, channel_id=channel_id, stage_id=stage.id)
    await enqueue(ctx, close_job, at=Timestamp(ctx.now + limits.STAGE_LOOK * _MS))
    return stage


async def end_stage(ctx: Context, guild: GuildState, stage: StageRow) -> bool:
    """Close a stage, and end the scheduled event that it was opened for; False if it was closed already.

    Rows that call this declare `DELETE_STAGE_INSTANCE_EVENTS`.
    """
    if not await close_stage(ctx, guild, stage):
        return False
    await STAGE_CLOSED(ctx, guild, stage)
    return True


async def create_stage_instance(
    ctx: Context,
    channel_id: ChannelId,
    *,
    topic: str,
    privacy_level: int | None,
    event_id: ScheduledEventId | None,
    mention_everyone: bool,
) -> StageRow:
    """Open the stage of a stage channel as its moderator, and start the scheduled event that it is for.

    `mention_everyone` is ignored without the permission MENTION_EVERYONE. Raises Refusal: 404/10003, 403/50001,
    400/50024 for another type of channel, 403/50013, 400/150006; what `STAGE_OPENING` raises.
    """
    access = await ctx.enter_channel(channel_id)
    if not ctx.in_guild or access.channel.type != ChannelType.GUILD_STAGE_VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    ctx.require(STAGE_MODERATOR)
    if event_id is not None:
        await STAGE_OPENING(ctx, event_id, channel_id)
    stage = await open_watched_stage(
        ctx,
        ctx.guild,
        channel_id,
        ctx.actor.user_id,
        topic=topic,
        privacy_level=privacy_level or StagePrivacyLevel.GUILD_ONLY,
        event_id=event_id,
        mention_everyone=mention_everyone and ctx.has(Permissions.MENTION_EVERYONE),
    )
    if event_id is not None:
        await STAGE_OPENED(ctx, event_id, Snowflake(stage.id))
    return stage


async def get_stage(ctx: Context) -> StageRow:
    """The live stage of the channel of the request. Raises Refusal: 404/10067."""
    stage = await select_stage(ctx.tx, ctx.guild.id, ctx.channel.id) if ctx.in_guild else None
    if stage is None:
        raise Refusal(errors.UNKNOWN_STAGE_INSTANCE)
    return stage


async def modify_stage_instance(ctx: Context, *, topic: str | None, privacy_level: int | None) -> StageRow:
    """Change the live stage of the channel of the request. Raises Refusal: 404/10067."""
    stage = await get_stage(ctx)
    values: dict[str, object] = {}
    if topic is not None:
        values["topic"] = topic
    if privacy_level is not None:
        values["privacy_level"] = privacy_level
    return await update_stage(ctx, stage, ctx.channel.channel, **values)


async def delete_stage_instance(ctx: Context) -> None:
    """Close the live stage of the channel of the request. Raises Refusal: 404/10067."""
    stage = await get_stage(ctx)
    if not await end_stage(ctx, ctx.guild, stage):
        raise Refusal(errors.UNKNOWN_STAGE_INSTANCE)
