"""Access to the endpoints that modify and delete channels."""

from moothall.api.access import PathValues, RequiredPermissions, enter
from moothall.api.context import Context
from moothall.objects.permissions import Permissions


class ManagesChannel(RequiredPermissions):
    """Members with MANAGE_CHANNELS in a guild channel.

    Threads and direct messages pass; their operations check them.
    """

    def __init__(self) -> None:
        super().__init__(Permissions.MANAGE_CHANNELS)

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the channel and check the permission. Raises Refusal: 403/50013."""
        await enter(ctx, path)
        if ctx.in_guild and not ctx.channel.is_thread:
            ctx.require(Permissions.MANAGE_CHANNELS)
