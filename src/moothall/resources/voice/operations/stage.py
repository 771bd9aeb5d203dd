"""Operations on the voice states of stages: speaking and requesting to speak (resources: voice, caveats)."""

from typing import Any

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.voice.operations.voice_state import announce_voice_state, find_voice_channel
from moothall.resources.voice.queries import VoiceStateRow, get_voice_state, update_voice_state


async def modify_own_stage_state(
    ctx: Context,
    guild_id: GuildId,
    *,
    channel_id: ChannelId | UnsetType | None,
    suppress: bool | UnsetType | None,
    request_at: Timestamp | UnsetType | None,
) -> None:
    """Modify the caller's voice state on a stage. A `request_at` in the past is set to now.

    Raises Refusal: 404/10065 without a voice state, 400/50024 outside of a stage, 400/50035 for another `channel_id`,
    403/50013 for `suppress: false` without MUTE_MEMBERS, and for a request without REQUEST_TO_SPEAK.
    """
    row, channel = await _on_stage(ctx, guild_id, ctx.actor.user_id)
    bits = ctx.member.permissions_in(channel)
    if suppress is False and row.suppress and not bits & Permissions.MUTE_MEMBERS:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if isinstance(request_at, int) and not bits & Permissions.REQUEST_TO_SPEAK:
        raise Refusal(errors.MISSING_PERMISSIONS)
    _check_channel(channel_id, row)
    changes: dict[str, object] = {}
    if isinstance(suppress, bool):
        changes["suppress"] = suppress
        if suppress:
            changes["request_to_speak_timestamp"] = None
    if request_at is not UNSET:
        changes["request_to_speak_timestamp"] = None if request_at is None else Timestamp(max(request_at, ctx.now))
    await _change(ctx, row, changes)


async def modify_stage_state(
    ctx: Context,
    guild_id: GuildId,
    user_id: UserId,
    *,
    channel_id: ChannelId | UnsetType | None,
    suppress: bool | UnsetType | None,
) -> None:
    """Invite a member to speak, or move them to the audience. The endpoint requires MUTE_MEMBERS in the guild.

    Raises Refusal as `modify_own_stage_state`, and 403/50013 without MUTE_MEMBERS on the stage.
    """
    row, channel = await _on_stage(ctx, guild_id, user_id)
    if not ctx.member.permissions_in(channel) & Permissions.MUTE_MEMBERS:
        raise Refusal(errors.MISSING_PERMISSIONS)
    _check_channel(channel_id, row)
    if isinstance(suppress, bool) and suppress != row.suppress:
        await _change(ctx, row, {"suppress": suppress}, invited=not suppress)


async def _on_stage(ctx: Context, guild_id: GuildId, user_id: UserId) -> tuple[VoiceStateRow, Channel]:
    row = await get_voice_state(ctx.tx, guild_id, user_id)
    channel = None if row is None else await find_voice_channel(ctx, row.channel_id)
    if row is None or channel is None:
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    if channel.type != ChannelType.GUILD_STAGE_VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return row, channel


def _check_channel(channel_id: ChannelId | UnsetType | None, row: VoiceStateRow) -> None:
    if isinstance(channel_id, int) and channel_id != row.channel_id:
        refuse_field("channel_id", FormCode.BASE_TYPE_CHOICES, "The user is not in this channel.")


async def _change(ctx: Context, row: VoiceStateRow, changes: dict[str, Any], *, invited: bool = False) -> None:
    member_row = await get_member(ctx.tx, row.guild_id, row.user_id)
    if member_row is None:
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    member = await member_object(ctx.tx, member_row)
    if invited:
        # A bot speaks at once; a user gets an invitation, whose time is shown.
        bot = member.user is not UNSET and member.user.bot is True
        changes["request_to_speak_timestamp"] = None if bot else ctx.now
    elif changes.get("suppress"):
        changes["request_to_speak_timestamp"] = None
    after = structs.replace(row, **changes)
    if after == row:
        return
    await update_voice_state(ctx.tx, row.guild_id, row.user_id, **changes)
    await announce_voice_state(ctx, row, after, member)
