"""What emojis announce."""

from typing import ClassVar

from moothall.kernel.events import Event
from moothall.objects.emoji import Emoji
from moothall.objects.ids import GuildId
from moothall.objects.intents import Intent


class GuildEmojisUpdate(Event, frozen=True, kw_only=True):
    """GUILD_EMOJIS_UPDATE: the emojis that a guild has now, all of them."""

    name: ClassVar[str] = "GUILD_EMOJIS_UPDATE"
    intent: ClassVar[int] = Intent.GUILD_EXPRESSIONS
    stales_guild: ClassVar[bool] = True
    guild_id: GuildId
    emojis: list[Emoji]
