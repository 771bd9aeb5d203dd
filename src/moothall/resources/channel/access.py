"""Who may change or delete a channel."""

from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Needs, enter
from moothall.kernel.context import Context
from moothall.objects.permissions import Permissions


class ManagesChannel(Needs):
    """Those with MANAGE_CHANNELS in the channel of a guild.

    A thread and a direct message have rules of their own, which the operation knows.
    """

    def __init__(self) -> None:
        super().__init__(Permissions.MANAGE_CHANNELS)

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Enter the channel. Raises Refusal: 403/50013."""
        await enter(ctx, path)
        if ctx.in_guild and not ctx.channel.is_thread:
            ctx.require(Permissions.MANAGE_CHANNELS)
