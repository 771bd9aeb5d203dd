"""Removing members from a guild: leaving, kicking, and the end of temporary memberships."""

from collections.abc import Mapping, Sequence
from typing import Final

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.api.hooks import Fires, Hook
from moothall.api.unit_of_work import run
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, UserId
from moothall.objects.user import User
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.user.queries import get_user
from moothall.resources.voice.events import VOICE_EVENTS, VoiceStateUpdate
from moothall.resources.voice.operations.start_times import announce_ends
from moothall.resources.voice.queries import (
    delete_voice_state,
    delete_voice_states,
    get_voice_state,
    select_voice_states,
    voice_state_object,
)
from moothall.storage.rows import MemberRow, member_from_row

BOT_REMOVED: Final = Hook[[Context, GuildId, UserId], None]("bot removed")
"""Called with the guild's and the bot's id after a bot was removed from a guild."""
MEMBERS_REMOVED: Final = Hook[[Context, GuildId, Sequence[UserId]], None]("members removed")
"""Called with the guild's and the users' ids after members were removed from a guild."""
LEAVE_EVENTS: Final[Fires] = (GuildMemberRemove, *VOICE_EVENTS, BOT_REMOVED, MEMBERS_REMOVED)
"""The events of `remove_member` and `remove_members`, which every row that calls them declares."""


async def remove_member(ctx: Context, guild_id: GuildId, user: User, row: MemberRow | None = None) -> bool:
    """Remove a user from a guild, its voice channels and its threads, and emit GUILD_MEMBER_REMOVE.

    A bot's integration and managed role are removed with it. Returns False, without any change or event, if the user
    is not a member. The caller checks permissions, writes the audit entry and declares `LEAVE_EVENTS`, and passes the
    `row` if it has read it in this transaction.
    """
    if row is None:
        row = await queries.get_member(ctx.tx, guild_id, user.id)
    if row is None or not await queries.delete_member(ctx.tx, row, ctx.now):
        return False
    voice = await get_voice_state(ctx.tx, guild_id, user.id)
    if voice is not None:
        await delete_voice_state(ctx.tx, guild_id, user.id)
        member = member_from_row(row, user)
        left = voice_state_object(voice, member, deaf=row.deaf, mute=row.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=guild_id, channel_id=voice.channel_id, state=left))
        await announce_ends(ctx, [(guild_id, voice.channel_id)])
    ctx.emit(GuildMemberRemove(guild_id=guild_id, user=user))
    await MEMBERS_REMOVED(ctx, guild_id, [user.id])
    if user.bot is True:
        await BOT_REMOVED(ctx, guild_id, user.id)
    return True


async def remove_members(
    ctx: Context, guild_id: GuildId, rows: Sequence[MemberRow], users: Mapping[UserId, User]
) -> None:
    """Remove several members from a guild, as `remove_member` does, with a fixed number of statements.

    `rows` were read in this transaction, `users` contains at least their users.
    """
    if not rows:
        return
    removed = {row.user_id: row for row in rows}
    connected = await select_voice_states(ctx.tx, guild_id, list(removed))
    await queries.delete_members(ctx.tx, guild_id, removed.values(), ctx.now)
    if connected:
        await delete_voice_states(ctx.tx, guild_id, [voice.user_id for voice in connected])
    for voice in connected:
        row = removed[voice.user_id]
        member = member_from_row(row, users[row.user_id])
        left = voice_state_object(voice, member, deaf=row.deaf, mute=row.mute, left=True)
        ctx.emit(VoiceStateUpdate(guild_id=guild_id, channel_id=voice.channel_id, state=left))
    await announce_ends(ctx, [(guild_id, voice.channel_id) for voice in connected])
    for user_id in removed:
        ctx.emit(GuildMemberRemove(guild_id=guild_id, user=users[user_id]))
    await MEMBERS_REMOVED(ctx, guild_id, list(removed))
    for bot in [user_id for user_id in removed if users[user_id].bot is True]:
        await BOT_REMOVED(ctx, guild_id, bot)


async def kick_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Kick a member who ranks below the actor.

    Raises Refusal: 404/10007 for a user who is not a member, 403/50013 for a member of the same or a higher rank.
    """
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    user = None if row is None else await get_user(ctx.tx, user_id)
    if row is None or user is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if not ctx.member.outranks(user_id, row.roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    await remove_member(ctx, guild_id, user, row)
    await ctx.audit(AuditLogEvent.MEMBER_KICK, target=user_id)


async def leave_if_temporary(services: Services, user_id: UserId) -> None:
    """Remove a user without sessions from every guild in which their membership is temporary.

    Each guild has a transaction of its own.
    """
    async with services.database.read() as reader:
        guild_ids = await queries.select_temporary_guild_ids(reader, user_id)
    for guild_id in guild_ids:

        async def work(ctx: Context, guild_id: GuildId = guild_id) -> None:
            row = await queries.get_member(ctx.tx, guild_id, user_id)
            user = await get_user(ctx.tx, user_id)
            if row is not None and user is not None and row.temporary and not services.presences.is_connected(user_id):
                await remove_member(ctx, guild_id, user)

        await run(services, ANONYMOUS, work, fires=LEAVE_EVENTS, lock=guild_id)
