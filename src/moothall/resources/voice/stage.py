"""Speaking on a stage: who is in the audience, and who asks to speak (resources: voice, caveats of the two rows)."""

from typing import Any

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.voice.operations import announce_change, voice_channel
from moothall.resources.voice.queries import VoiceStateRow, change_voice_state, get_voice_state


async def change_own_part(
    ctx: Context,
    guild_id: GuildId,
    *,
    channel_id: ChannelId | UnsetType | None,
    suppress: bool | UnsetType | None,
    request_at: Timestamp | UnsetType | None,
) -> None:
    """Change the actor's own part on the stage that they are in.

    Raises Refusal: 404/10065 outside voice, 400/50024 outside a stage, 400/50035 for a `channel_id`
    that is not theirs, 403 for unsuppressing without MUTE_MEMBERS and asking without
    REQUEST_TO_SPEAK. A request dated in the past counts from now.
    """
    row, channel = await _on_stage(ctx, guild_id, ctx.actor.user_id)
    bits = ctx.member.permissions_in(channel)
    if suppress is False and row.suppress and not bits & Permissions.MUTE_MEMBERS:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if isinstance(request_at, int) and not bits & Permissions.REQUEST_TO_SPEAK:
        raise Refusal(errors.MISSING_PERMISSIONS)
    _check_place(channel_id, row)
    changes: dict[str, Any] = {}
    if isinstance(suppress, bool):
        changes["suppress"] = suppress
        if suppress:
            changes["request_to_speak_timestamp"] = None
    if request_at is not UNSET:
        changes["request_to_speak_timestamp"] = None if request_at is None else Timestamp(max(request_at, ctx.now))
    await _change(ctx, row, changes)


async def change_part(
    ctx: Context,
    guild_id: GuildId,
    user_id: UserId,
    *,
    channel_id: ChannelId | UnsetType | None,
    suppress: bool | UnsetType | None,
) -> None:
    """Invite someone to speak, or move them into the audience; the row asks for MUTE_MEMBERS in the guild.

    Raises Refusal as `change_own_part` does, and 403 without MUTE_MEMBERS on that stage.
    """
    row, channel = await _on_stage(ctx, guild_id, user_id)
    if not ctx.member.permissions_in(channel) & Permissions.MUTE_MEMBERS:
        raise Refusal(errors.MISSING_PERMISSIONS)
    _check_place(channel_id, row)
    if isinstance(suppress, bool) and suppress != row.suppress:
        await _change(ctx, row, {"suppress": suppress}, invited=not suppress)


async def _on_stage(ctx: Context, guild_id: GuildId, user_id: UserId) -> tuple[VoiceStateRow, Channel]:
    row = await get_voice_state(ctx.tx, guild_id, user_id)
    channel = None if row is None else await voice_channel(ctx, row.channel_id)
    if row is None or channel is None:
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    if channel.type != ChannelType.GUILD_STAGE_VOICE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return row, channel


def _check_place(channel_id: ChannelId | UnsetType | None, row: VoiceStateRow) -> None:
    if isinstance(channel_id, int) and channel_id != row.channel_id:
        refuse_field("channel_id", FormCode.BASE_TYPE_CHOICES, "The user is not in this channel.")


async def _change(ctx: Context, row: VoiceStateRow, changes: dict[str, Any], *, invited: bool = False) -> None:
    found = await get_member(ctx.tx, row.guild_id, row.user_id)
    if found is None:
        raise Refusal(errors.UNKNOWN_VOICE_STATE)
    member = await member_object(ctx.tx, found)
    if invited:
        # Bots speak at once; people are asked, and it shows when.
        bot = member.user is not UNSET and member.user.bot is True
        changes["request_to_speak_timestamp"] = None if bot else ctx.now
    elif changes.get("suppress"):
        changes["request_to_speak_timestamp"] = None
    after = structs.replace(row, **changes)
    if after == row:
        return
    await change_voice_state(ctx.tx, row.guild_id, row.user_id, **changes)
    await announce_change(ctx, row, after, member)
