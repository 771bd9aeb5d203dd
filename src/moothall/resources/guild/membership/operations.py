"""How people come into a guild and leave it. What changes while they are there: `editing`."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import structs

from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context, Services
from moothall.kernel.guild_state import GuildState
from moothall.kernel.hooks import Fires, Hook
from moothall.kernel.unit_of_work import run
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.features import Feature
from moothall.objects.guild import SystemChannelFlags
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import MemberFlags
from moothall.objects.message_types import MessageType
from moothall.objects.text import search_key
from moothall.objects.user import User
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberAdd, GuildMemberRemove, GuildMemberUpdate, GuildOpen
from moothall.resources.message.events import MessageCreate
from moothall.resources.message.operations import send_system_message
from moothall.resources.user.queries import get_user
from moothall.resources.voice.events import VoiceStateUpdate
from moothall.resources.voice.queries import (
    delete_voice_state,
    delete_voice_states,
    get_voice_state,
    select_voice_states,
    voice_state_object,
)
from moothall.storage.rows import MemberRow, UserRow, member_from_row, user_from_row

BOT_REMOVED: Final = Hook[[Context, GuildId, UserId], None]("bot removed")
"""What else ends when a bot leaves a guild."""
LEAVING: Final[Fires] = (GuildMemberRemove, VoiceStateUpdate, BOT_REMOVED)
"""What a row declares to fire if it may take a member out."""
JOINING: Final[Fires] = (GuildMemberAdd, MessageCreate)
"""What a row declares to fire if it may let somebody in."""
ADMITTING: Final[Fires] = (GuildMemberUpdate, MessageCreate)
"""What a row declares to fire if it may end somebody's screening."""


async def join_guild(
    ctx: Context,
    state: GuildState,
    user: UserRow,
    *,
    temporary: bool = False,
    roles: Sequence[RoleId] = (),
    nick: str | None = None,
    flags: int = 0,
    mute: bool = False,
    deaf: bool = False,
    guest_of: ChannelId | None = None,
) -> MemberRow:
    """Let someone into a guild, announce it and greet them; a member stays as they are, and nobody is told.

    A `temporary` member who comes with no role leaves with their last session. So does a guest, who sees
    the voice channel `guest_of` only, whom nobody screens or greets. Where newcomers are
    screened, people begin as pending, and are greeted by `admit_member`. Whether the roles and
    the nickname may be given is the caller's to check, and so is every rule of the way in (invites,
    tokens). Raises Refusal: 403/40007 for those banned, 400/30019 for a full guild, 400/30001 for
    people in too many guilds.
    """
    found = await queries.get_member(ctx.tx, state.id, user.id)
    if found is not None:
        return found
    has_room = await queries.take_place(ctx.tx, state.id, state.row.max_members)
    if await queries.is_banned(ctx.tx, state.id, user.id):
        raise Refusal(errors.USER_BANNED)
    if not has_room:
        raise Refusal(errors.TOO_MANY_MEMBERS)
    maximum = limits.GUILDS_PER_PREMIUM_USER if user.premium_type else limits.GUILDS_PER_USER
    if not user.bot and await queries.count_guilds(ctx.tx, user.id) >= maximum:
        raise Refusal(errors.TOO_MANY_GUILDS)
    if await queries.was_member(ctx.tx, state.id, user.id):
        flags |= MemberFlags.DID_REJOIN
    if guest_of is not None:
        flags |= MemberFlags.IS_GUEST
    row = MemberRow(
        guild_id=state.id,
        user_id=user.id,
        nick=nick,
        nick_key=None if nick is None else search_key(nick),
        username_key=user.username_key,
        avatar=None,
        banner=None,
        bio=None,
        roles=[Snowflake(role) for role in roles],
        joined_at=ctx.now,
        premium_since=None,
        deaf=deaf,
        mute=mute,
        flags=flags,
        pending=guest_of is None and is_screened(state, user),
        communication_disabled_until=None,
        temporary=guest_of is not None or (temporary and not roles),
        guest_channel_id=guest_of,
    )
    if not await queries.insert_member(ctx.tx, row):
        # Two requests at once: the other one let them in, counted them and told everybody.
        await queries.change_count(ctx.tx, state.id, -1)
        return await queries.get_member(ctx.tx, state.id, user.id) or row
    ctx.emit(GuildOpen(user_id=user.id, guild_id=state.id))
    ctx.emit(GuildMemberAdd(guild_id=state.id, member=member_from_row(row, user_from_row(user))))
    if not row.pending and guest_of is None:
        await _greet(ctx, state, user.id)
    return row


def is_screened(state: GuildState, user: UserRow) -> bool:
    """Whether someone who comes into a guild has to pass its screening first."""
    gate = Feature.MEMBER_VERIFICATION_GATE_ENABLED in state.row.features
    return gate and not user.bot and user.id != state.owner_id


async def admit_member(ctx: Context, state: GuildState, row: MemberRow) -> None:
    """Let a pending member take part, announce it and greet them. Whoever calls this declares `ADMITTING`."""
    after = structs.replace(row, pending=False)
    await queries.change_member(ctx.tx, state.id, row.user_id, pending=False)
    ctx.emit(GuildMemberUpdate(guild_id=state.id, member=await queries.member_object(ctx.tx, after)))
    await _greet(ctx, state, row.user_id)


async def remove_member(ctx: Context, guild_id: GuildId, user: User) -> bool:
    """Take someone out of a guild, its voice channels and its threads, and announce it.

    With a bot go its integration and its managed role.
    False for an outsider: nothing changes and nobody is told. Whoever calls this has checked that it
    may be done, writes the audit entry, and declares `LEAVING`.
    """
    row = await queries.get_member(ctx.tx, guild_id, user.id)
    if row is None or not await queries.delete_member(ctx.tx, guild_id, user.id, ctx.now):
        return False
    voice = await get_voice_state(ctx.tx, guild_id, user.id)
    if voice is not None:
        await delete_voice_state(ctx.tx, guild_id, user.id)
        member = member_from_row(row, user)
        left = voice_state_object(voice, member, deaf=row.deaf, mute=row.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=guild_id, channel_id=voice.channel_id, state=left))
    ctx.emit(GuildMemberRemove(guild_id=guild_id, user=user))
    if user.bot is True:
        await BOT_REMOVED(ctx, guild_id, user.id)
    return True


async def leave_if_temporary(services: Services, user_id: int) -> None:
    """Take someone whose last session has ended out of the guilds that they were in for a visit only."""
    user_id = UserId(Snowflake(user_id))
    async with services.database.read() as reader:
        visited = await queries.select_visited(reader, user_id)
    for guild_id in visited:

        async def work(ctx: Context, guild_id: GuildId = guild_id) -> None:
            row = await queries.get_member(ctx.tx, guild_id, user_id)
            user = await get_user(ctx.tx, user_id)
            if row is not None and user is not None and row.temporary and not services.presences.is_connected(user_id):
                await remove_member(ctx, guild_id, user)

        await run(services, ANONYMOUS, work, fires=LEAVING, lock=guild_id)


async def _greet(ctx: Context, state: GuildState, user_id: UserId) -> None:
    """Post that somebody joined, where the guild wants to read it."""
    channel_id = state.row.system_channel_id
    if channel_id is None or state.row.system_channel_flags & SystemChannelFlags.SUPPRESS_JOIN_NOTIFICATIONS:
        return
    channel = await state.channel(ctx.tx, channel_id)
    if channel is not None:
        place = ChannelAccess(channel=channel, permissions=0, guild=state)
        await send_system_message(ctx, place, user_id, MessageType.USER_JOIN)


async def remove_members(
    ctx: Context, guild_id: GuildId, rows: Sequence[MemberRow], users: Mapping[UserId, User]
) -> None:
    """Take several members out of a guild, as `remove_member` does, with a fixed number of statements.

    `rows` were read in this transaction, `users` hold at least theirs.
    """
    if not rows:
        return
    gone = {row.user_id: row for row in rows}
    connected = await select_voice_states(ctx.tx, guild_id, list(gone))
    await queries.delete_members(ctx.tx, guild_id, list(gone), ctx.now)
    if connected:
        await delete_voice_states(ctx.tx, guild_id, [voice.user_id for voice in connected])
    for voice in connected:
        row = gone[voice.user_id]
        member = member_from_row(row, users[row.user_id])
        left = voice_state_object(voice, member, deaf=row.deaf, mute=row.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=guild_id, channel_id=voice.channel_id, state=left))
    for user_id in gone:
        ctx.emit(GuildMemberRemove(guild_id=guild_id, user=users[user_id]))
    for bot in [user_id for user_id in gone if users[user_id].bot is True]:
        await BOT_REMOVED(ctx, guild_id, bot)


async def kick_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Kick a member who stands below the actor.

    Raises Refusal: 404/10007 for an outsider, 403/50013 for those who do not stand below.
    """
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    user = None if row is None else await get_user(ctx.tx, user_id)
    if row is None or user is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if not ctx.member.outranks(user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    await remove_member(ctx, guild_id, user)
    await ctx.audit(AuditLogEvent.MEMBER_KICK, target=user_id)
