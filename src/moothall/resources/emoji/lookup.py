"""Finds custom emojis that a caller may use."""

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import Refusal
from moothall.objects.ids import EmojiId
from moothall.objects.permissions import Permissions
from moothall.resources.emoji import queries


async def find_usable_emoji(ctx: Context, emoji_id: EmojiId) -> PartialEmoji | None:
    """A custom emoji that the caller may use in the channel or guild of the request; None for any other.

    It is available, belongs to a guild of the caller and allows one of their roles, or it belongs to the calling bot's
    application. Raises Refusal: 403/50013 for an emoji of another guild without USE_EXTERNAL_EMOJIS.
    """
    guild_id = await queries.select_guild_id(ctx.tx, emoji_id)
    if guild_id is None:
        return await _find_application_emoji(ctx, emoji_id)
    state, authority = await ctx.services.states.authority(
        ctx.tx, guild_id, ctx.actor.user_id, ctx.now, writes=ctx.writes
    )
    if state is None or authority is None:
        return None
    emoji = next((emoji for emoji in state.emojis if emoji.id == emoji_id), None)
    if emoji is None or not emoji.available or (emoji.roles and set(emoji.roles).isdisjoint(authority.role_ids)):
        return None
    if (not ctx.in_guild or guild_id != ctx.guild.id) and not ctx.has(Permissions.USE_EXTERNAL_EMOJIS):
        raise Refusal(errors.MISSING_PERMISSIONS)
    return PartialEmoji(id=emoji.id, name=emoji.name, animated=emoji.animated)


async def _find_application_emoji(ctx: Context, emoji_id: EmojiId) -> PartialEmoji | None:
    application_id = ctx.actor.application_id if ctx.actor.bot else None
    if application_id is None:
        return None
    row = await queries.select_application_emoji(ctx.tx, application_id, emoji_id)
    return None if row is None else PartialEmoji(id=row.id, name=row.name, animated=row.animated)
