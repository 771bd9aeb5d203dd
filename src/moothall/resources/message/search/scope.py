"""The messages that a search may return: those that the caller can read."""

from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.objects.ids import ChannelId
from moothall.resources.channel.thread_activity.encoded import EncodedThread
from moothall.resources.channel.visible_channels import visible_channels
from moothall.resources.message.search.index_query import AllOf, AnyOf, Node
from moothall.resources.message.search.queries import select_private_threads

_MAX_JOINED: Final = 1000
"""The number of private threads of a user, the newest, that are searched."""

_MAX_NAMED: Final = 20
"""Channels that a query of the index names; of more, each result is compared with the list."""


class Scope(Struct, frozen=True):
    """The channels of a guild by whether a user may read their messages."""

    guild_id: int
    readable: frozenset[ChannelId]
    hidden: frozenset[ChannelId]
    managed: frozenset[ChannelId]
    """The channels whose private threads the user may read without being in them (MANAGE_THREADS)."""
    joined: frozenset[ChannelId]
    """Private threads that the user is in."""
    forums: frozenset[ChannelId]

    def nodes(self) -> tuple[list[Node], list[Node]]:
        """The nodes that every message must match, and those that none may match."""
        every: list[Node] = [AnyOf((f"g{self.guild_id}",))]
        none: list[Node] = []
        if self.hidden and self.channel_ids is None:
            if len(self.hidden) < len(self.readable):
                none.append(AnyOf(_sorted("v", self.hidden)))
            else:
                every = [AnyOf(_sorted("v", self.readable))]
        if not self.readable <= self.managed:
            readable_private = (*_sorted("c", self.joined), *_sorted("v", self.managed & self.readable))
            none.append(AllOf((AnyOf(("x",)),), (AnyOf(readable_private),) if readable_private else ()))
        return every, none

    @property
    def channel_ids(self) -> list[ChannelId] | None:
        """The channels that the messages must be in, or in a thread of; None if `nodes` says it."""
        return sorted(self.readable) if min(len(self.hidden), len(self.readable)) > _MAX_NAMED else None

    def may_read(self, thread: EncodedThread) -> bool:
        """Whether the user may read a thread now; the index may be a moment old."""
        if thread.guild_id != self.guild_id or thread.parent_id not in self.readable:
            return False
        return not thread.private or thread.id in self.joined or thread.parent_id in self.managed


def direct_scope(channel_id: ChannelId) -> Scope:
    """The scope of a recipient of a direct message or group. Its messages have the guild 0 in the index."""
    readable = frozenset((channel_id,))
    nothing = frozenset[ChannelId]()
    return Scope(guild_id=0, readable=readable, hidden=nothing, managed=readable, joined=nothing, forums=nothing)


async def scope_of(ctx: Context, *, nsfw: bool) -> Scope:
    """The caller's scope in the guild entered, with age-restricted channels only if `nsfw`."""
    visible = await visible_channels(ctx)
    readable = visible.readable if nsfw or not visible.nsfw else visible.readable - visible.nsfw
    joined = (
        []
        if readable <= visible.managed
        else await select_private_threads(ctx.tx, ctx.guild.id, ctx.actor.user_id, _MAX_JOINED)
    )
    return Scope(
        guild_id=int(ctx.guild.id),
        readable=readable,
        hidden=visible.every - readable,
        managed=visible.managed,
        joined=frozenset(thread_id for thread_id, _ in joined),
        forums=visible.forums,
    )


def _sorted(letter: str, channel_ids: frozenset[ChannelId]) -> tuple[str, ...]:
    return tuple(f"{letter}{int(channel_id)}" for channel_id in sorted(channel_ids))
