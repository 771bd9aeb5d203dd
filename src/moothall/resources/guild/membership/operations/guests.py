"""Guests: members by a guest invite, who see one voice channel and are removed when they leave it.

A guest who is given a role, or who accepts an ordinary invite, becomes a full member.
"""

from collections.abc import Collection
from typing import Final

from msgspec import structs

from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.api.hooks import Fires
from moothall.api.unit_of_work import run
from moothall.authority.guild_state import GuildState
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.member import MemberFlags
from moothall.resources.guild.membership.operations.join import requires_screening
from moothall.resources.guild.membership.operations.leave import remove_members
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberRemove, GuildMemberUpdate
from moothall.resources.user.queries import get_users
from moothall.resources.voice.events import VOICE_EVENTS
from moothall.resources.voice.queries import select_voice_states
from moothall.storage.rows import MemberRow, UserRow

_GUEST_REMOVAL_EVENTS: Final[Fires] = (GuildMemberRemove, *VOICE_EVENTS)


def as_full_member(row: MemberRow) -> MemberRow:
    """A member's row without what makes them a guest; the row itself if they are none."""
    if row.guest_channel_id is None:
        return row
    return structs.replace(row, guest_channel_id=None, flags=row.flags & ~MemberFlags.IS_GUEST, temporary=False)


async def make_full_member(ctx: Context, state: GuildState, row: MemberRow, user: UserRow) -> None:
    """Make a guest a full member, pending where the guild screens, and emit GUILD_MEMBER_UPDATE.

    Does nothing if the member is not a guest. Rows that call this declare GuildMemberUpdate.
    """
    if row.guest_channel_id is None:
        return
    after = structs.replace(as_full_member(row), pending=requires_screening(state, user))
    await queries.update_member(
        ctx.tx,
        row.guild_id,
        row.user_id,
        guest_channel_id=None,
        flags=after.flags,
        temporary=False,
        pending=after.pending,
    )
    ctx.emit(GuildMemberUpdate(guild_id=row.guild_id, member=await queries.member_object(ctx.tx, after)))


async def remove_guests_of_channel(ctx: Context, guild_id: GuildId, channel_id: ChannelId) -> None:
    """Remove the guests of a voice channel from the guild, before the channel is deleted.

    Rows that call this declare GuildMemberRemove and VOICE_EVENTS.
    """
    await _remove(ctx, guild_id, await queries.select_guests(ctx.tx, guild_id, channel_id))


async def remove_departed_guests(services: Services, departures: Collection[tuple[GuildId, UserId]]) -> None:
    """Remove those who are guests among users who left voice, given as (guild, user); full members stay.

    Each guest is removed in a transaction of their own.
    """
    if not departures:
        return
    async with services.database.read() as reader:
        rows = await queries.select_memberships(reader, departures)
    for guild_id, user_id in departures:
        row = rows.get((guild_id, user_id))
        if row is None or row.guest_channel_id is None:
            continue

        async def work(ctx: Context, guild_id: GuildId = guild_id, user_id: UserId = user_id) -> None:
            row = await queries.get_member(ctx.tx, guild_id, user_id)
            # Since the read above, the guest may have become a full member or rejoined voice.
            if row is None or row.guest_channel_id is None:
                return
            if not await select_voice_states(ctx.tx, guild_id, [user_id]):
                await _remove(ctx, guild_id, [row])

        await run(services, ANONYMOUS, work, fires=_GUEST_REMOVAL_EVENTS, lock=guild_id)


async def _remove(ctx: Context, guild_id: GuildId, rows: list[MemberRow]) -> None:
    await remove_members(ctx, guild_id, rows, await get_users(ctx.tx, [row.user_id for row in rows]))
