"""Which stickers somebody may send where."""

from collections.abc import Iterable

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, StickerId
from moothall.objects.permissions import Permissions
from moothall.objects.sticker import Sticker, StickerItem
from moothall.resources.sticker.packs import STANDARD_STICKERS
from moothall.resources.sticker.queries import select_guilds


async def find_sendable(ctx: Context, access: ChannelAccess, sticker_ids: Iterable[StickerId]) -> list[StickerItem]:
    """The stickers named, as a message of the caller's carries them, each once: everybody's, or of their guilds.

    Raises Refusal: 400/50081 for one that is not there, or unavailable, or of a guild that they are not in; 403/50600
    for one of another guild without USE_EXTERNAL_STICKERS.
    """
    wanted = list(dict.fromkeys(sticker_ids))
    known: dict[StickerId, Sticker] = {}
    foreign: set[StickerId] = set()
    if any(sticker_id not in STANDARD_STICKERS for sticker_id in wanted):
        here = None if access.guild is None else access.guild.id
        for guild_id in set((await select_guilds(ctx.tx, wanted)).values()):
            found = await _of_guild(ctx, guild_id)
            known.update(found)
            if guild_id != here:
                foreign.update(found)
    items = []
    for sticker_id in wanted:
        sticker = STANDARD_STICKERS.get(sticker_id) or known.get(sticker_id)
        if sticker is None or not sticker.available:
            raise Refusal(errors.INVALID_STICKER)
        if sticker_id in foreign and not access.permissions & Permissions.USE_EXTERNAL_STICKERS:
            raise Refusal(errors.NO_PERMISSION_FOR_STICKER)
        items.append(StickerItem(id=sticker.id, name=sticker.name, format_type=sticker.format_type))
    return items


async def _of_guild(ctx: Context, guild_id: GuildId) -> dict[StickerId, Sticker]:
    """The stickers of a guild that the caller is in; none of any other's."""
    state, authority = await ctx.services.states.authority(
        ctx.tx, guild_id, ctx.actor.user_id, ctx.now, writes=ctx.writes
    )
    return {} if state is None or authority is None else {sticker.id: sticker for sticker in state.stickers}
