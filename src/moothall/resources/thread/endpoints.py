"""Threads over HTTP (api.md, Channels and threads of a guild)."""

from msgspec import Struct

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.permissions import Permissions
from moothall.resources.channel.objects import channel_objects
from moothall.resources.thread import queries
from moothall.storage.rows import ChannelRow, channel_from_row


class ActiveThreads(Struct, frozen=True, kw_only=True):
    """The answer of List Active Guild Threads; there is always no more than it tells."""

    threads: list[Channel]
    members: list[ThreadMember]
    """The caller's own, of those of the threads that they have joined."""
    has_more: bool = False


@get("/guilds/{guild_id}/threads/active", permission=MEMBER)
async def list_active_guild_threads(ctx: Context, guild_id: GuildId) -> ActiveThreads:
    """The threads of a guild that are not archived and that the caller can reach, newest first."""
    parents = {c.id: c for c in (await ctx.guild.channels(ctx.tx)).values() if ctx.member.may_view(c)}
    active = await queries.select_active(ctx.tx, parents)
    joined = await queries.select_own_memberships(ctx.tx, ctx.actor.user_id, [row.id for row in active])
    managed = {
        channel_id
        for channel_id in {row.parent_id for row in active if row.parent_id is not None}
        if ctx.member.permissions_in(parents[channel_id]) & Permissions.MANAGE_THREADS
    }
    reached = [row for row in active if row.id in joined or _is_open(row, managed)]
    return ActiveThreads(
        threads=await channel_objects(ctx.tx, map(channel_from_row, reached)),
        members=[joined[row.id] for row in reached if row.id in joined],
    )


def _is_open(row: ChannelRow, managed: set[ChannelId]) -> bool:
    return row.type != ChannelType.PRIVATE_THREAD or row.parent_id in managed
