"""Gateway event of webhooks (api.md, Events)."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent


class WebhooksUpdate(Event, frozen=True, kw_only=True):
    """WEBHOOKS_UPDATE: a webhook of a channel was created, updated or deleted."""

    name: ClassVar[str] = "WEBHOOKS_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_WEBHOOKS
    guild_id: GuildId
    channel_id: ChannelId
