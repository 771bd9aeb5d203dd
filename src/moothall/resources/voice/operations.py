"""Coming into voice channels, moving between them, leaving them (resources: voice; events: gateway, opcode 4)."""

from collections.abc import Collection, Iterable, Sequence

from msgspec import structs

from moothall.kernel.authenticate import ANONYMOUS, Actor, TokenKind
from moothall.kernel.context import Context, Services
from moothall.kernel.guild_state import VOICE_TYPES, GuildState
from moothall.kernel.unit_of_work import run
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.resources.member.activity import touch_seen
from moothall.resources.member.queries import get_member, member_object, select_memberships
from moothall.resources.user.queries import get_users
from moothall.resources.voice import queries
from moothall.resources.voice.events import VoiceStateUpdate
from moothall.resources.voice.queries import VoiceStateRow, voice_state_object
from moothall.storage.rows import member_from_row

_VIEW = int(Permissions.VIEW_CHANNEL)
_ENTER = int(Permissions.VIEW_CHANNEL | Permissions.CONNECT)


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
    """Put the actor into a voice channel of the guild entered, move them, or take them out (None).

    Raises Refusal: 404/10003 for what is no voice channel of the guild, 403/50001 for one that they
    may not see, 403/50013 for one that they may not enter or that is full. What is as it was before
    tells nobody.
    """
    before = await queries.get_voice_state(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if channel_id is None:
        if before is not None:
            await _leave(ctx, before)
        return
    channel = await voice_channel(ctx, channel_id)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    bits = ctx.member.permissions_in(channel)
    staying = before is not None and before.channel_id == channel_id
    if not staying:
        await _check_entry(ctx, channel, bits)
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
    )
    if after == before:
        return
    await queries.write_voice_state(ctx.tx, after)
    await announce_change(ctx, before, after, await _member(ctx, after.user_id))
    touch_seen(ctx, after.guild_id, after.user_id)


async def move(ctx: Context, state: VoiceStateRow, channel: Channel, member: Member, bits: int) -> None:
    """Move someone to another voice channel of the guild; `bits` are their own permissions there."""
    after = structs.replace(
        state,
        channel_id=channel.id,
        suppress=_suppressed(ctx.guild, channel, bits),
        request_to_speak_timestamp=None,
        self_stream=False,
    )
    await queries.write_voice_state(ctx.tx, after)
    await announce_change(ctx, state, after, member)


async def disconnect(ctx: Context, state: VoiceStateRow, member: Member) -> None:
    """End someone's connection to voice."""
    await queries.delete_voice_state(ctx.tx, state.guild_id, state.user_id)
    await announce_change(ctx, state, None, member)


async def empty_channel(ctx: Context, guild_id: GuildId, channel_id: ChannelId) -> None:
    """End every connection to a voice channel, before it is deleted. Rows that call this declare VoiceStateUpdate."""
    rows = await queries.select_states_in_channel(ctx.tx, channel_id)
    if rows:
        await queries.delete_voice_states(ctx.tx, guild_id, [row.user_id for row in rows])
        await _announce_departures(ctx, rows)


async def announce_change(
    ctx: Context, before: VoiceStateRow | None, after: VoiceStateRow | None, member: Member
) -> None:
    """Tell those who may see it of a connection begun, changed or ended."""
    current = after or before
    if current is None:
        return
    if before is not None and (after is None or await _hides(ctx, before, after)):
        # A move into a channel that not everybody sees who saw the old one looks to them like leaving.
        left = voice_state_object(before, member, deaf=member.deaf, mute=member.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=before.guild_id, channel_id=before.channel_id, state=left))
    if after is not None:
        state = voice_state_object(after, member, deaf=member.deaf, mute=member.mute)
        ctx.emit(VoiceStateUpdate(guild_id=after.guild_id, channel_id=after.channel_id, state=state))


async def voice_channel(ctx: Context, channel_id: ChannelId) -> Channel | None:
    """A voice or stage channel of the guild entered; None for anything else."""
    channel = await ctx.guild.channel(ctx.tx, channel_id)
    return channel if channel is not None and channel.type in VOICE_TYPES else None


async def has_room(ctx: Context, channel: Channel) -> bool:
    """Whether one more person may come into a voice channel."""
    limit = channel.user_limit if isinstance(channel.user_limit, int) else 0
    return not limit or await queries.count_in_channel(ctx.tx, channel.id) < limit


async def handle_voice_update(
    services: Services,
    *,
    user_id: int,
    session_id: str,
    guild_id: int,
    channel_id: int | None,
    self_mute: bool,
    self_deaf: bool,
    self_video: bool,
    node: str = "",
) -> bool:
    """Carry out a gateway session's opcode 4; False if it was refused, which changes nothing and tells nobody.

    `node` names the gateway node that holds the session, for `clear_voice`.
    """
    guild = GuildId(Snowflake(guild_id))

    async def work(ctx: Context) -> None:
        await ctx.enter_guild(guild)
        await update_voice_state(
            ctx,
            session_id=session_id,
            channel_id=None if channel_id is None else ChannelId(Snowflake(channel_id)),
            self_mute=self_mute,
            self_deaf=self_deaf,
            self_video=self_video,
            node=node,
        )

    try:
        await run(services, _actor(user_id), work, fires=(VoiceStateUpdate,), lock=guild)
    except Refusal:
        return False
    return True


async def leave_voice(services: Services, user_id: int, session_id: str) -> list[tuple[GuildId, UserId]]:
    """End what voice connections a gateway session held, when it is over: where. Nothing the second time."""
    user = UserId(Snowflake(user_id))
    async with services.database.read() as reader:
        held = await queries.select_states_of_session(reader, user, session_id)
    for guild_id in sorted({row.guild_id for row in held}):

        async def work(ctx: Context, guild_id: GuildId = guild_id) -> None:
            row = await queries.get_voice_state(ctx.tx, guild_id, user)
            # Another session may have taken over meanwhile.
            if row is not None and row.session_id == session_id:
                await queries.delete_voice_state(ctx.tx, guild_id, user)
                await _announce_departures(ctx, [row])

        await run(services, _actor(user_id), work, fires=(VoiceStateUpdate,), lock=guild_id)
    return _pairs(held)


async def clear_voice(services: Services, node: str = "") -> list[tuple[GuildId, UserId]]:
    """End every voice connection of a gateway node, at its start, as sessions do not outlive it: where and whose."""

    async def work(ctx: Context) -> list[tuple[GuildId, UserId]]:
        rows = await queries.select_states_of_node(ctx.tx, node)
        if rows:
            await queries.delete_states_of_node(ctx.tx, node)
            await _announce_departures(ctx, rows)
        return _pairs(rows)

    return await run(services, ANONYMOUS, work, fires=(VoiceStateUpdate,))


async def clear_voice_of_others(services: Services, alive: Collection[str]) -> list[tuple[GuildId, UserId]]:
    """End the voice connections of gateway nodes that are not among those that live: where and whose."""
    ended = []
    async with services.database.read() as reader:
        holding = await queries.select_nodes(reader)
    for node in holding:
        if node not in alive:
            ended.extend(await clear_voice(services, node))
    return ended


async def _check_entry(ctx: Context, channel: Channel, bits: int) -> None:
    if not bits & _VIEW:
        raise Refusal(errors.MISSING_ACCESS)
    if bits & _ENTER != _ENTER:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if not bits & Permissions.MOVE_MEMBERS and not await has_room(ctx, channel):
        raise Refusal(errors.MISSING_PERMISSIONS)


def _suppressed(guild: GuildState, channel: Channel, bits: int) -> bool:
    """Whether someone may not speak when they come in: in the audience of a stage, away, or without SPEAK."""
    return (
        channel.type == ChannelType.GUILD_STAGE_VOICE
        or channel.id == guild.row.afk_channel_id
        or not bits & Permissions.SPEAK
    )


async def _leave(ctx: Context, state: VoiceStateRow) -> None:
    await disconnect(ctx, state, await _member(ctx, state.user_id))


async def _member(ctx: Context, user_id: UserId) -> Member:
    row = await get_member(ctx.tx, ctx.guild.id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return await member_object(ctx.tx, row)


async def _hides(ctx: Context, before: VoiceStateRow, after: VoiceStateRow) -> bool:
    if before.channel_id == after.channel_id:
        return False
    old = await ctx.guild.channel(ctx.tx, before.channel_id)
    new = await ctx.guild.channel(ctx.tx, after.channel_id)
    return old is None or new is None or _viewing(ctx.guild, old) != _viewing(ctx.guild, new)


def _viewing(guild: GuildState, channel: Channel) -> dict[int, tuple[int, int]]:
    """The part of a channel's overwrites that says who may see it."""
    found = {key: (allow & _VIEW, deny & _VIEW) for key, (allow, deny) in guild.overwrites(channel).items()}
    return {key: bits for key, bits in found.items() if any(bits)}


async def _announce_departures(ctx: Context, rows: Sequence[VoiceStateRow]) -> None:
    members = await select_memberships(ctx.tx, _pairs(rows))
    users = await get_users(ctx.tx, {row.user_id for row in rows})
    for row in rows:
        found, user = members.get((row.guild_id, row.user_id)), users.get(row.user_id)
        if found is None or user is None:
            continue
        left = voice_state_object(row, member_from_row(found, user), deaf=found.deaf, mute=found.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=row.guild_id, channel_id=row.channel_id, state=left))


def _pairs(rows: Iterable[VoiceStateRow]) -> list[tuple[GuildId, UserId]]:
    return [(row.guild_id, row.user_id) for row in rows]


def _actor(user_id: int) -> Actor:
    return Actor(kind=TokenKind.SESSION, user_id=UserId(Snowflake(user_id)))
