"""Gateway events of stage instances, sent to members who may view the channel."""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import ChannelId, GuildId
from moothall.objects.intents import Intent
from moothall.objects.stage_instance import StageInstance


class _StageEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    stage: StageInstance

    @property
    def guild_id(self) -> GuildId:
        """The stage's guild."""
        return self.stage.guild_id

    @property
    def channel_id(self) -> ChannelId:
        """The stage's channel."""
        return self.stage.channel_id

    def payload(self) -> object:
        """The stage instance."""
        return self.stage


class StageInstanceCreate(_StageEvent, frozen=True, kw_only=True):
    """STAGE_INSTANCE_CREATE: a stage was opened."""

    name: ClassVar[str] = "STAGE_INSTANCE_CREATE"


class StageInstanceUpdate(_StageEvent, frozen=True, kw_only=True):
    """STAGE_INSTANCE_UPDATE: the topic or the privacy level of a live stage changed."""

    name: ClassVar[str] = "STAGE_INSTANCE_UPDATE"


class StageInstanceDelete(_StageEvent, frozen=True, kw_only=True):
    """STAGE_INSTANCE_DELETE: a stage was closed."""

    name: ClassVar[str] = "STAGE_INSTANCE_DELETE"
