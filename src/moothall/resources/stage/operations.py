"""Opening a stage, changing what it is about, closing it (resources: stage instance)."""

from typing import Final

from msgspec import structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.events import Event
from moothall.kernel.guild_state import GuildState
from moothall.kernel.place import ChannelPlace
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.channel import Channel
from moothall.objects.errors import Refusal
from moothall.objects.ids import ScheduledEventId, Snowflake, StageInstanceId, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.stage_instance import StagePrivacyLevel
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.stage import queries
from moothall.resources.stage.events import StageInstanceCreate, StageInstanceDelete, StageInstanceUpdate
from moothall.resources.stage.queries import StageRow, stage_object

OPENING: Final[tuple[type[Event], ...]] = (StageInstanceCreate, MessageCreate)
"""What a row declares to fire if it may open a stage."""
CLOSING: Final[tuple[type[Event], ...]] = (StageInstanceDelete, MessageCreate)
"""What a row declares to fire if it may close a stage."""

MODERATOR: Final = int(Permissions.MANAGE_CHANNELS | Permissions.MUTE_MEMBERS | Permissions.MOVE_MEMBERS)
"""What makes someone a moderator of a stage channel, there."""

_AUDITED: Final = ("topic", "privacy_level")


async def open_stage(
    ctx: Context,
    guild: GuildState,
    channel: Channel,
    opener_id: UserId,
    *,
    topic: str,
    privacy_level: int = StagePrivacyLevel.GUILD_ONLY,
    event_id: ScheduledEventId | None = None,
    pings: bool = False,
) -> StageRow:
    """Make a stage channel live, and say so in its chat; `pings` tells everyone.

    Raises Refusal: 400/150006 for a stage that is live already. Whoever calls this has asked whether it may be done,
    looks after the stage's end and declares `OPENING`.
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
    await _say(ctx, guild, channel, opener_id, MessageType.STAGE_START, topic, everyone=pings)
    await _record(ctx, AuditLogEvent.STAGE_INSTANCE_CREATE, None, row)
    return row


async def change_stage(ctx: Context, row: StageRow, channel: Channel, **values: object) -> StageRow:
    """Change the topic or the privacy level of a live stage; what changes nothing tells nobody."""
    after = structs.replace(row, **values)
    if after == row:
        return row
    await queries.update_stage(ctx.tx, row, **values)
    ctx.emit(StageInstanceUpdate(stage=stage_object(after)))
    if after.topic != row.topic:
        await _say(ctx, ctx.guild, channel, ctx.actor.user_id, MessageType.STAGE_TOPIC, after.topic)
    await _record(ctx, AuditLogEvent.STAGE_INSTANCE_UPDATE, row, after)
    return after


async def close_stage(ctx: Context, guild: GuildState, row: StageRow, *, quietly: bool = False) -> bool:
    """End a live stage, and say so in its chat unless it is done `quietly`; False if it was over already.

    Recorded if somebody did it. Whoever calls this declares `CLOSING`.
    """
    if not await queries.delete_stage(ctx.tx, row):
        return False
    channel = await guild.channel(ctx.tx, row.channel_id)
    if channel is not None and not quietly:
        closer_id = ctx.actor.user_id if ctx.actor.signed_in else row.opened_by
        await _say(ctx, guild, channel, closer_id, MessageType.STAGE_END, row.topic)
    ctx.emit(StageInstanceDelete(stage=stage_object(row)))
    if not quietly:
        await _record(ctx, AuditLogEvent.STAGE_INSTANCE_DELETE, row, None)
    return True


async def _say(
    ctx: Context,
    guild: GuildState,
    channel: Channel,
    author_id: UserId,
    kind: MessageType,
    topic: str,
    *,
    everyone: bool = False,
) -> None:
    place = ChannelPlace(channel=channel, permissions=0, guild=guild)
    await send_system_message(ctx, place, author_id, kind, content=topic, everyone=everyone)


async def _record(ctx: Context, action: AuditLogEvent, before: StageRow | None, after: StageRow | None) -> None:
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
