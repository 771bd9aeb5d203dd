"""The messages of a guild that a search may return: those that the caller can read."""

from typing import Final

from msgspec import Struct

from moothall.kernel.context import Context
from moothall.objects.channel import Channel
from moothall.objects.channel_types import FORUMS, THREADS, VOICE, ChannelType
from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.message.search.index_query import AllOf, AnyOf, Node
from moothall.resources.message.search.queries import select_private_threads
from moothall.storage.rows import ChannelRow

_READ: Final = Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY
_MAX_JOINED: Final = 1000
"""The number of private threads of a user, the newest, that are searched."""


class Scope(Struct, frozen=True):
    """The channels of a guild by whether a user may read their messages."""

    guild_id: int
    readable: frozenset[ChannelId]
    hidden: frozenset[ChannelId]
    managed: frozenset[ChannelId]
    """The readable channels whose private threads the user may read without being in them (MANAGE_THREADS)."""
    joined: frozenset[ChannelId]
    """Private threads that the user is in."""
    forums: frozenset[ChannelId]

    def nodes(self) -> tuple[list[Node], list[Node]]:
        """The nodes that every message must match, and those that none may match."""
        # The shorter list makes the shorter query: a guild has up to 500 channels.
        if len(self.hidden) < len(self.readable):
            every: list[Node] = [AnyOf((f"g{self.guild_id}",))]
            none: list[Node] = [AnyOf(_sorted("v", self.hidden))] if self.hidden else []
        else:
            every, none = [AnyOf(_sorted("v", self.readable))], []
        readable_private = (*_sorted("c", self.joined), *_sorted("v", self.managed))
        if self.managed != self.readable:
            none.append(AllOf((AnyOf(("x",)),), (AnyOf(readable_private),) if readable_private else ()))
        return every, none

    def may_read(self, row: ChannelRow) -> bool:
        """Whether the user may read a channel or thread now; the index may be a moment old."""
        if row.guild_id != self.guild_id:
            return False
        if row.type == ChannelType.PRIVATE_THREAD and row.id not in self.joined and row.parent_id not in self.managed:
            return False
        return (row.parent_id if row.type in THREADS else row.id) in self.readable


async def scope_of(ctx: Context, *, nsfw: bool) -> Scope:
    """The caller's scope in the guild entered, with age-restricted channels only if `nsfw`."""
    listed = await ctx.guild.channels(ctx.tx)
    readable = {channel.id for channel in listed.values() if _reads(ctx, channel) and (nsfw or not channel.nsfw)}
    managed = {
        channel_id
        for channel_id in readable
        if ctx.member.permissions_in(listed[channel_id], thread=True) & Permissions.MANAGE_THREADS
    }
    joined = (
        await select_private_threads(ctx.tx, ctx.guild.id, ctx.actor.user_id, _MAX_JOINED)
        if managed != readable
        else []
    )
    return Scope(
        guild_id=int(ctx.guild.id),
        readable=frozenset(readable),
        hidden=frozenset(listed.keys() - readable),
        managed=frozenset(managed),
        joined=frozenset(thread_id for thread_id, _ in joined),
        forums=frozenset(channel.id for channel in listed.values() if channel.type in FORUMS),
    )


def _reads(ctx: Context, channel: Channel) -> bool:
    bits = _READ | Permissions.CONNECT if channel.type in VOICE else _READ
    return ctx.member.permissions_in(channel) & bits == bits


def _sorted(letter: str, channel_ids: frozenset[ChannelId]) -> tuple[str, ...]:
    return tuple(f"{letter}{int(channel_id)}" for channel_id in sorted(channel_ids))
