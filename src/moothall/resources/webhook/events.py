"""What webhooks announce (api.md, Events)."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent


class WebhooksUpdate(Event, frozen=True, kw_only=True):
    """WEBHOOKS_UPDATE: a channel's webhooks are not what they were. It does not say which."""

    name: ClassVar[str] = "WEBHOOKS_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_WEBHOOKS
    guild_id: GuildId
    channel_id: ChannelId


class ThreadUpdate(Event, frozen=True, kw_only=True):
    """THREAD_UPDATE: a webhook has written into an archived thread, which is thereby active again."""

    name: ClassVar[str] = "THREAD_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent, whose overwrites decide who hears."""
    thread: Channel

    @property
    def thread_id(self) -> ChannelId:
        """Which thread."""
        return self.thread.id

    def payload(self) -> object:
        """The thread itself."""
        return self.thread
