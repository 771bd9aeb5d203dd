"""Which custom emojis somebody may use where."""

from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import Refusal
from moothall.objects.ids import EmojiId
from moothall.objects.permissions import Permissions
from moothall.resources.emoji import queries


async def find_usable(ctx: Context, emoji_id: EmojiId) -> PartialEmoji | None:
    """A custom emoji as it is now, if the caller may use it in the place entered.

    That is one of their guilds', available and open to their roles, or one of the calling bot's own application. None
    for any other. Raises Refusal: 403/50013 for another guild's without USE_EXTERNAL_EMOJIS.
    """
    guild_id = await queries.select_guild_of(ctx.tx, emoji_id)
    if guild_id is None:
        return await _of_application(ctx, emoji_id)
    state, authority = await ctx.services.states.authority(
        ctx.tx, guild_id, ctx.actor.user_id, ctx.now, writes=ctx.writes
    )
    if state is None or authority is None:
        return None
    found = next((emoji for emoji in state.emojis if emoji.id == emoji_id), None)
    if found is None or not found.available or (found.roles and set(found.roles).isdisjoint(authority.role_ids)):
        return None
    if (not ctx.in_guild or guild_id != ctx.guild.id) and not ctx.has(Permissions.USE_EXTERNAL_EMOJIS):
        raise Refusal(errors.MISSING_PERMISSIONS)
    return PartialEmoji(id=found.id, name=found.name, animated=found.animated)


async def _of_application(ctx: Context, emoji_id: EmojiId) -> PartialEmoji | None:
    application_id = ctx.actor.application_id if ctx.actor.bot else None
    if application_id is None:
        return None
    row = await queries.select_application_emoji(ctx.tx, application_id, emoji_id)
    return None if row is None else PartialEmoji(id=row.id, name=row.name, animated=row.animated)
