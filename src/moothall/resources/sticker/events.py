"""Gateway events of stickers."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent
from moothall.objects.sticker import Sticker


class GuildStickersUpdate(Event, frozen=True, kw_only=True):
    """GUILD_STICKERS_UPDATE: all stickers of a guild after a change."""

    name: ClassVar[str] = "GUILD_STICKERS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.STICKERS,)
    guild_id: GuildId
    stickers: list[Sticker]
