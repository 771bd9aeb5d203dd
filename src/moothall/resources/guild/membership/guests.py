"""Guests: people who came by a guest invite, see one voice channel only, and leave when they leave it.

Being given a role, or accepting a plain invite, makes a guest a member like others.
"""

from collections.abc import Collection
from typing import Final

from msgspec import structs

from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context, Services
from moothall.kernel.guild_state import GuildState
from moothall.kernel.hooks import Fires
from moothall.kernel.unit_of_work import run
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.member import MemberFlags
from moothall.resources.guild.membership.operations import is_screened, remove_members
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberRemove, GuildMemberUpdate
from moothall.resources.user.queries import get_users
from moothall.resources.voice.events import VoiceStateUpdate
from moothall.resources.voice.queries import select_voice_states
from moothall.storage.rows import MemberRow, UserRow

_SEEING_OUT: Final[Fires] = (GuildMemberRemove, VoiceStateUpdate)


def as_full_member(row: MemberRow) -> MemberRow:
    """The row of someone who is no guest any more; others' are as they were."""
    if row.guest_channel_id is None:
        return row
    return structs.replace(row, guest_channel_id=None, flags=row.flags & ~MemberFlags.IS_GUEST, temporary=False)


async def make_full_member(ctx: Context, state: GuildState, row: MemberRow, user: UserRow) -> None:
    """Let a guest stay, screened like others who come, and announce it; nothing for whoever is no guest.

    Rows that call this declare GuildMemberUpdate.
    """
    if row.guest_channel_id is None:
        return
    after = structs.replace(as_full_member(row), pending=is_screened(state, user))
    await queries.change_member(
        ctx.tx,
        row.guild_id,
        row.user_id,
        guest_channel_id=None,
        flags=after.flags,
        temporary=False,
        pending=after.pending,
    )
    ctx.emit(GuildMemberUpdate(guild_id=row.guild_id, member=await queries.member_object(ctx.tx, after)))


async def remove_guests_of(ctx: Context, guild_id: GuildId, channel_id: ChannelId) -> None:
    """Take the guests of a voice channel out of the guild, before it is deleted.

    Rows that call this declare GuildMemberRemove and VoiceStateUpdate.
    """
    await _remove(ctx, guild_id, await queries.select_guests(ctx.tx, guild_id, channel_id))


async def see_guests_out(services: Services, left: Collection[tuple[GuildId, UserId]]) -> None:
    """Take those out of a guild who were its guests and have left voice there; others stay."""
    if not left:
        return
    async with services.database.read() as reader:
        found = await queries.select_memberships(reader, left)
    for guild_id, user_id in left:
        row = found.get((guild_id, user_id))
        if row is None or row.guest_channel_id is None:
            continue

        async def work(ctx: Context, guild_id: GuildId = guild_id, user_id: UserId = user_id) -> None:
            row = await queries.get_member(ctx.tx, guild_id, user_id)
            # Meanwhile they may have been given a role, or have come back.
            if row is None or row.guest_channel_id is None:
                return
            if not await select_voice_states(ctx.tx, guild_id, [user_id]):
                await _remove(ctx, guild_id, [row])

        await run(services, ANONYMOUS, work, fires=_SEEING_OUT, lock=guild_id)


async def _remove(ctx: Context, guild_id: GuildId, rows: list[MemberRow]) -> None:
    await remove_members(ctx, guild_id, rows, await get_users(ctx.tx, [row.user_id for row in rows]))
