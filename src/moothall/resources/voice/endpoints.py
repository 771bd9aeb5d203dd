"""Voice over HTTP: regions and voice states (api.md, Other guild endpoints; resources: voice)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import MEMBER, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, put
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.voice import REGIONS, VoiceRegion, VoiceState, regions_of
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.voice.events import VoiceChannelStatusUpdate, VoiceStateUpdate
from moothall.resources.voice.operations import stage
from moothall.resources.voice.operations.status import set_voice_status
from moothall.resources.voice.queries import get_voice_state, voice_state_object


class ModifyVoiceState(Struct, frozen=True):
    """The body of Modify User Voice State; null is the same as absent."""

    channel_id: ChannelId | UnsetType | None = UNSET
    suppress: bool | UnsetType | None = UNSET


class ModifyCurrentVoiceState(ModifyVoiceState, frozen=True):
    """The body of Modify Current User Voice State; a null `request_to_speak_timestamp` withdraws the request."""

    request_to_speak_timestamp: Timestamp | UnsetType | None = UNSET


class SetVoiceStatus(Struct, frozen=True):
    """The body of Set Voice Channel Status; null removes it."""

    status: Annotated[str, Meta(max_length=limits.VOICE_STATUS_MAX)] | None = None


@get("/voice/regions", permission=SIGNED_IN)
async def list_voice_regions(_ctx: Context) -> list[VoiceRegion]:
    """List the voice regions."""
    return list(REGIONS)


@get("/guilds/{guild_id}/regions", permission=MEMBER)
async def get_guild_voice_regions(ctx: Context, guild_id: GuildId) -> list[VoiceRegion]:
    """List the voice regions of a guild, including VIP regions if it has the feature."""
    return list(regions_of(ctx.guild.row.features))


@get("/guilds/{guild_id}/voice-states/@me", permission=MEMBER)
async def get_current_user_voice_state(ctx: Context, guild_id: GuildId) -> VoiceState:
    """Get the caller's voice state; 404/10065 without one."""
    return await _voice_state(ctx, guild_id, ctx.actor.user_id)


@get("/guilds/{guild_id}/voice-states/{user_id}", permission=MEMBER)
async def get_user_voice_state(ctx: Context, guild_id: GuildId, user_id: UserId) -> VoiceState:
    """Get a user's voice state; 404/10065 without one, or in a channel that the caller may not view."""
    return await _voice_state(ctx, guild_id, user_id)


@patch("/guilds/{guild_id}/voice-states/@me", permission=MEMBER, fires=(VoiceStateUpdate,))
async def modify_current_user_voice_state(ctx: Context, guild_id: GuildId, body: ModifyCurrentVoiceState) -> None:
    """Speak on a stage, return to the audience, or request to speak."""
    await stage.modify_own_stage_state(
        ctx,
        guild_id,
        channel_id=body.channel_id,
        suppress=body.suppress,
        request_at=body.request_to_speak_timestamp,
    )


@patch("/guilds/{guild_id}/voice-states/{user_id}", permission=Permissions.MUTE_MEMBERS, fires=(VoiceStateUpdate,))
async def modify_user_voice_state(ctx: Context, guild_id: GuildId, user_id: UserId, body: ModifyVoiceState) -> None:
    """Invite a member to speak on a stage, or move them to the audience."""
    await stage.modify_stage_state(ctx, guild_id, user_id, channel_id=body.channel_id, suppress=body.suppress)


@put(
    "/channels/{channel_id}/voice-status",
    permission=Permissions.SET_VOICE_CHANNEL_STATUS,
    audit_reason=True,
    fires=(VoiceChannelStatusUpdate,),
)
async def update_voice_channel_status(ctx: Context, channel_id: ChannelId, body: SetVoiceStatus) -> None:
    """Set or remove the status of a voice channel; MANAGE_CHANNELS too unless the caller is connected to it."""
    await set_voice_status(ctx, body.status)


async def _voice_state(ctx: Context, guild_id: GuildId, user_id: UserId) -> VoiceState:
    row = await get_voice_state(ctx.tx, guild_id, user_id)
    member = await get_member(ctx.tx, guild_id, user_id)
    if row is None or member is None:
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    channel = await ctx.guild.channel(ctx.tx, row.channel_id)
    if user_id != ctx.actor.user_id and (channel is None or not ctx.member.may_view(channel)):
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    return voice_state_object(row, await member_object(ctx.tx, member), deaf=member.deaf, mute=member.mute)
