"""Members who leave are not members by a group any more."""

from collections.abc import Sequence

from moothall.api.context import Context
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.membership.operations.leave import MEMBERS_REMOVED
from moothall.resources.single_sign_on import queries


async def _forget_memberships(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    await queries.delete_memberships(ctx.tx, guild_id, user_ids)


MEMBERS_REMOVED.register(_forget_memberships)
