"""A member who leaves, or is removed, withdraws their join request."""

from collections.abc import Sequence

from moothall.api.context import Context
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.join_request.events import WITHDRAW_EVENTS
from moothall.resources.guild.join_request.operations import withdraw_of_users
from moothall.resources.guild.membership.operations.leave import MEMBERS_REMOVED


async def _withdraw(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    await withdraw_of_users(ctx, guild_id, user_ids)


MEMBERS_REMOVED.register(_withdraw, fires=WITHDRAW_EVENTS)
