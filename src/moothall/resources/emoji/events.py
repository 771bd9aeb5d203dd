"""Gateway events of emojis."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.authority.guild_changes import GuildPart
from moothall.objects.emoji import Emoji
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent


class GuildEmojisUpdate(Event, frozen=True, kw_only=True):
    """GUILD_EMOJIS_UPDATE: all emojis of a guild after a change."""

    name: ClassVar[str] = "GUILD_EMOJIS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    changes_guild: ClassVar[tuple[GuildPart, ...]] = (GuildPart.EMOJIS,)
    guild_id: GuildId
    emojis: list[Emoji]
