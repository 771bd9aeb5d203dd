"""Finds stickers that a caller may send."""

from collections.abc import Iterable

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, StickerId
from moothall.objects.permissions import Permissions
from moothall.objects.sticker import Sticker, StickerItem
from moothall.resources.sticker.packs import STANDARD_STICKERS
from moothall.resources.sticker.queries import select_guild_ids


async def find_sendable_stickers(
    ctx: Context, access: ChannelAccess, sticker_ids: Iterable[StickerId]
) -> list[StickerItem]:
    """The sticker items of a message, each id once: standard stickers and those of the caller's guilds.

    Raises Refusal: 400/50081 for a sticker that is unknown, unavailable or of a guild that the caller is not in;
    403/50600 for a sticker of another guild without USE_EXTERNAL_STICKERS.
    """
    unique_ids = list(dict.fromkeys(sticker_ids))
    guild_stickers: dict[StickerId, Sticker] = {}
    external: set[StickerId] = set()
    if any(sticker_id not in STANDARD_STICKERS for sticker_id in unique_ids):
        own_guild_id = None if access.guild is None else access.guild.id
        for guild_id in set((await select_guild_ids(ctx.tx, unique_ids)).values()):
            stickers = await _guild_stickers(ctx, guild_id)
            guild_stickers.update(stickers)
            if guild_id != own_guild_id:
                external.update(stickers)
    items = []
    for sticker_id in unique_ids:
        sticker = STANDARD_STICKERS.get(sticker_id) or guild_stickers.get(sticker_id)
        if sticker is None or not sticker.available:
            raise Refusal(errors.INVALID_STICKER)
        if sticker_id in external and not access.permissions & Permissions.USE_EXTERNAL_STICKERS:
            raise Refusal(errors.NO_PERMISSION_FOR_STICKER)
        items.append(StickerItem(id=sticker.id, name=sticker.name, format_type=sticker.format_type))
    return items


async def _guild_stickers(ctx: Context, guild_id: GuildId) -> dict[StickerId, Sticker]:
    """The stickers of a guild by id; empty if the caller is not a member."""
    state, authority = await ctx.services.states.authority(
        ctx.tx, guild_id, ctx.actor.user_id, ctx.now, writes=ctx.writes
    )
    return {} if state is None or authority is None else {sticker.id: sticker for sticker in state.stickers}
