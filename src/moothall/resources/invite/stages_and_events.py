"""The scheduled event and the stage instance in an invite object."""

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects.ids import ChannelId, ScheduledEventId
from moothall.objects.invite import Invite
from moothall.objects.permissions import Permissions, channel_permissions
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.stage_instance import InviteStageInstance, StagePrivacyLevel
from moothall.resources.member.queries import get_members, member_objects
from moothall.resources.scheduled_event.queries import EventRow, event_object, select_event
from moothall.resources.stage_instance.queries import count_speakers, select_speakers, select_stage
from moothall.resources.user.queries import get_users
from moothall.resources.voice.queries import count_in_channel


async def with_stages_and_events(
    ctx: Context, invite: Invite, guild: GuildState, event_id: ScheduledEventId | None
) -> Invite:
    """An invite with the requested event, if the caller may see it, and the public stage in the invite's channel."""
    channel_id = None if invite.channel is None else invite.channel.id
    return structs.replace(
        invite,
        guild_scheduled_event=UNSET if event_id is None else await _event(ctx, guild, channel_id, event_id),
        stage_instance=UNSET if channel_id is None else await _stage(ctx, guild, channel_id),
    )


async def _event(
    ctx: Context, guild: GuildState, invite_channel_id: ChannelId | None, event_id: ScheduledEventId
) -> ScheduledEvent | UnsetType:
    row = await select_event(ctx.tx, guild.id, event_id)
    if row is None or not row.is_live or not await _can_see_event(ctx, guild, invite_channel_id, row):
        return UNSET
    creators = {} if row.creator_id is None else await get_users(ctx.tx, [row.creator_id])
    creator = UNSET if row.creator_id is None else creators.get(row.creator_id, UNSET)
    return event_object(row, creator=creator, counts=True)


async def _can_see_event(ctx: Context, guild: GuildState, invite_channel_id: ChannelId | None, row: EventRow) -> bool:
    """Whether an event has no channel, that of the invite, or one that @everyone or the caller can view."""
    if row.channel_id is None or row.channel_id == invite_channel_id:
        return True
    channel = await guild.channel(ctx.tx, row.channel_id)
    if channel is None:
        return False
    bits = channel_permissions(
        guild.everyone.permissions,
        everyone_id=guild.id,
        role_ids=(),
        user_id=0,
        overwrites=guild.overwrites(channel),
    )
    if bits & Permissions.VIEW_CHANNEL:
        return True
    _, authority = await ctx.services.states.authority(ctx.tx, guild.id, ctx.actor.user_id, ctx.now, writes=ctx.writes)
    return authority is not None and authority.may_view(channel)


async def _stage(ctx: Context, guild: GuildState, channel_id: ChannelId) -> InviteStageInstance | UnsetType:
    stage = await select_stage(ctx.tx, guild.id, channel_id)
    if stage is None or stage.privacy_level != StagePrivacyLevel.PUBLIC:
        return UNSET
    speakers = await get_members(ctx.tx, guild.id, await select_speakers(ctx.tx, channel_id))
    return InviteStageInstance(
        members=await member_objects(ctx.tx, list(speakers.values())),
        participant_count=await count_in_channel(ctx.tx, channel_id),
        speaker_count=await count_speakers(ctx.tx, channel_id),
        topic=stage.topic,
    )
