"""Takes the tag of a guild off members who leave, and off all when it changes or the guild is deleted."""

from collections.abc import Sequence

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects.ids import GuildId, UserId
from moothall.resources.guild.membership.operations.leave import MEMBERS_REMOVED
from moothall.resources.guild.operations import GUILD_DELETED
from moothall.resources.guild.profile.operations import GUILD_TAG_CHANGED
from moothall.resources.primary_guild.jobs import CorrectTags, enqueue_correction
from moothall.resources.primary_guild.queries import wears_any


async def _correct(ctx: Context, guild_id: GuildId, user_ids: Sequence[UserId]) -> None:
    if await wears_any(ctx.tx, guild_id, user_ids):
        await enqueue(ctx, CorrectTags(guild_id=guild_id))


MEMBERS_REMOVED.register(_correct)
GUILD_TAG_CHANGED.register(enqueue_correction)
GUILD_DELETED.register(enqueue_correction)
