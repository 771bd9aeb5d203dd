"""Operations: join, move between and leave voice channels."""

from collections.abc import Sequence

from msgspec import structs

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE, ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.resources.member.activity import touch_seen
from moothall.resources.member.queries import get_member, member_object, select_memberships
from moothall.resources.user.queries import get_users
from moothall.resources.voice import queries
from moothall.resources.voice.events import VoiceStateUpdate
from moothall.resources.voice.operations.start_times import announce_ends, start_in
from moothall.resources.voice.queries import VoiceStateRow, voice_state_object
from moothall.storage.rows import member_from_row

_VIEW = int(Permissions.VIEW_CHANNEL)


_JOIN = int(Permissions.VIEW_CHANNEL | Permissions.CONNECT)


async def update_voice_state(
    ctx: Context,
    *,
    session_id: str,
    channel_id: ChannelId | None,
    self_mute: bool = False,
    self_deaf: bool = False,
    self_video: bool = False,
    node: str = "",
) -> None:
    """Connect the caller to a voice channel of the current guild, move them, or disconnect them (None).

    A state that is the same as before emits no event. Raises Refusal: 404/10003 for an id that is no voice channel of
    the guild, 403/50001 for a channel that the caller may not view, 403/50013 for one that they may not connect to or
    that is full.
    """
    before = await queries.get_voice_state(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if channel_id is None:
        if before is not None:
            await _leave_voice(ctx, before)
        return
    channel = await find_voice_channel(ctx, channel_id)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    bits = ctx.member.permissions_in(channel)
    staying = before is not None and before.channel_id == channel_id
    if not staying:
        await _require_may_join(ctx, channel, bits)
    after = VoiceStateRow(
        guild_id=ctx.guild.id,
        user_id=ctx.actor.user_id,
        channel_id=channel_id,
        session_id=session_id,
        self_deaf=self_deaf,
        self_mute=self_mute,
        self_stream=before.self_stream if before is not None and staying else False,
        self_video=self_video,
        suppress=before.suppress if before is not None and staying else _suppressed(ctx.guild, channel, bits),
        request_to_speak_timestamp=before.request_to_speak_timestamp if before is not None and staying else None,
        node=node,
        started_at=before.started_at if before is not None and staying else None,
        connected_at=ctx.now if before is None else before.connected_at,
    )
    if after == before:
        return
    if not staying:
        after = structs.replace(after, started_at=await start_in(ctx, ctx.guild.id, channel_id))
    await queries.upsert_voice_state(ctx.tx, after)
    await announce_voice_state(ctx, before, after, await _member(ctx, after.user_id))
    if before is not None and not staying:
        await announce_ends(ctx, [(before.guild_id, before.channel_id)])
    touch_seen(ctx, after.guild_id, after.user_id)


async def move_member(ctx: Context, state: VoiceStateRow, channel: Channel, member: Member, bits: int) -> None:
    """Move a member to another voice channel of the guild; `bits` are the member's permissions there."""
    moves = channel.id != state.channel_id
    after = structs.replace(
        state,
        channel_id=channel.id,
        suppress=_suppressed(ctx.guild, channel, bits),
        request_to_speak_timestamp=None,
        self_stream=False,
        started_at=await start_in(ctx, state.guild_id, channel.id) if moves else state.started_at,
    )
    await queries.upsert_voice_state(ctx.tx, after)
    await announce_voice_state(ctx, state, after, member)
    if moves:
        await announce_ends(ctx, [(state.guild_id, state.channel_id)])


async def disconnect_member(ctx: Context, state: VoiceStateRow, member: Member) -> None:
    """Disconnect a member from voice."""
    await queries.delete_voice_state(ctx.tx, state.guild_id, state.user_id)
    await announce_voice_state(ctx, state, None, member)
    await announce_ends(ctx, [(state.guild_id, state.channel_id)])


async def disconnect_channel(ctx: Context, guild_id: GuildId, channel_id: ChannelId) -> None:
    """Disconnect all members of a voice channel before it is deleted. The row must declare VOICE_EVENTS."""
    rows = await queries.select_states_in_channel(ctx.tx, channel_id)
    if rows:
        await queries.delete_voice_states(ctx.tx, guild_id, [row.user_id for row in rows])
        await announce_departures(ctx, rows)


async def announce_voice_state(
    ctx: Context, before: VoiceStateRow | None, after: VoiceStateRow | None, member: Member
) -> None:
    """Emit VOICE_STATE_UPDATE for a voice state that was created, changed or deleted."""
    current = after or before
    if current is None:
        return
    if before is not None and (after is None or await _hides_move(ctx, before, after)):
        # Members who may view the old channel but not the new one must see the user leave.
        left = voice_state_object(before, member, deaf=member.deaf, mute=member.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=before.guild_id, channel_id=before.channel_id, state=left))
    if after is not None:
        state = voice_state_object(after, member, deaf=member.deaf, mute=member.mute)
        ctx.emit(VoiceStateUpdate(guild_id=after.guild_id, channel_id=after.channel_id, state=state))


async def find_voice_channel(ctx: Context, channel_id: ChannelId) -> Channel | None:
    """Return a voice or stage channel of the current guild; None for any other id."""
    channel = await ctx.guild.channel(ctx.tx, channel_id)
    return channel if channel is not None and channel.type in VOICE else None


async def has_capacity(ctx: Context, channel: Channel) -> bool:
    """Whether a voice channel is below its user limit."""
    limit = channel.user_limit if isinstance(channel.user_limit, int) else 0
    return not limit or await queries.count_in_channel(ctx.tx, channel.id) < limit


async def _require_may_join(ctx: Context, channel: Channel, bits: int) -> None:
    if not bits & _VIEW:
        raise Refusal(errors.MISSING_ACCESS)
    if bits & _JOIN != _JOIN:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if not bits & Permissions.MOVE_MEMBERS and not await has_capacity(ctx, channel):
        raise Refusal(errors.MISSING_PERMISSIONS)


def _suppressed(guild: GuildState, channel: Channel, bits: int) -> bool:
    """Whether a member who joins is suppressed: on a stage, in the AFK channel, or without SPEAK."""
    return (
        channel.type == ChannelType.GUILD_STAGE_VOICE
        or channel.id == guild.row.afk_channel_id
        or not bits & Permissions.SPEAK
    )


async def _leave_voice(ctx: Context, state: VoiceStateRow) -> None:
    await disconnect_member(ctx, state, await _member(ctx, state.user_id))


async def _member(ctx: Context, user_id: UserId) -> Member:
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return await member_object(ctx.tx, row)


async def _hides_move(ctx: Context, before: VoiceStateRow, after: VoiceStateRow) -> bool:
    """Whether the viewers of the old and the new channel may differ."""
    if before.channel_id == after.channel_id:
        return False
    old = await ctx.guild.channel(ctx.tx, before.channel_id)
    new = await ctx.guild.channel(ctx.tx, after.channel_id)
    return old is None or new is None or _view_overwrites(ctx.guild, old) != _view_overwrites(ctx.guild, new)


def _view_overwrites(guild: GuildState, channel: Channel) -> dict[int, tuple[int, int]]:
    """Return the bits of VIEW_CHANNEL in a channel's overwrites, by target."""
    overwrites = {key: (allow & _VIEW, deny & _VIEW) for key, (allow, deny) in guild.overwrites(channel).items()}
    return {key: bits for key, bits in overwrites.items() if any(bits)}


async def announce_departures(ctx: Context, rows: Sequence[VoiceStateRow]) -> None:
    """Emit a VOICE_STATE_UPDATE without a channel for each deleted voice state, and which channels are empty now."""
    members = await select_memberships(ctx.tx, [(row.guild_id, row.user_id) for row in rows])
    users = await get_users(ctx.tx, {row.user_id for row in rows})
    for row in rows:
        member, user = members.get((row.guild_id, row.user_id)), users.get(row.user_id)
        if member is None or user is None:
            continue
        left = voice_state_object(row, member_from_row(member, user), deaf=member.deaf, mute=member.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=row.guild_id, channel_id=row.channel_id, state=left))
    await announce_ends(ctx, [(row.guild_id, row.channel_id) for row in rows])
