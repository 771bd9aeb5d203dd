"""Gateway events of Activity instances: to clients, and to the node that holds a participant's session."""

from typing import ClassVar

from msgspec import UNSET

from moothall.api.events import Event
from moothall.bus import Audience, Envelope
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.ids import ActivityInstanceId, ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.presence import Activity


class InstanceEvent(Event, frozen=True, kw_only=True):
    """An instance started, its participants changed, or it ended and has none."""

    instance: EmbeddedActivityInstance
    audience_channel_id: ChannelId
    """The channel whose viewers receive the event: the parent of a thread, else the channel."""
    recipients: tuple[UserId, ...] = ()
    """Users in a direct message or private thread: `ChannelAccess.event_user_ids`."""

    def only_in_guild(self) -> GuildId | None:
        """The guild of the channel; None for a direct message."""
        return self.instance.location.guild_id or None

    def envelope(self) -> Envelope:
        """The envelope with the intent for guilds or for direct messages."""
        envelope = Event.envelope(self)
        location = self.instance.location
        envelope.channel_id = self.audience_channel_id
        envelope.user_ids = list(self.recipients)
        if location.guild_id is UNSET:
            envelope.audience, envelope.intent = Audience.USERS, Intent.DIRECT_MESSAGES
            return envelope
        envelope.audience, envelope.intent = Audience.CHANNEL, Intent.GUILD_EMBEDDED_ACTIVITIES
        envelope.guild_id = location.guild_id
        if self.audience_channel_id != location.channel_id:
            envelope.thread_id = location.channel_id
        return envelope


class EmbeddedActivityUpdate(InstanceEvent, frozen=True, kw_only=True):
    """EMBEDDED_ACTIVITY_UPDATE, for clients that know no other event of instances."""

    name: ClassVar[str] = "EMBEDDED_ACTIVITY_UPDATE"

    def payload(self) -> object:
        """The application, the channel and the participants."""
        return self.instance.update()


class EmbeddedActivityUpdateV2(InstanceEvent, frozen=True, kw_only=True):
    """EMBEDDED_ACTIVITY_UPDATE_V2."""

    name: ClassVar[str] = "EMBEDDED_ACTIVITY_UPDATE_V2"

    def payload(self) -> object:
        """The instance."""
        return self.instance


class ActivitySessionUpdate(Event, frozen=True, kw_only=True):
    """Tells the gateway node of a session that it takes part in an instance, or no longer does."""

    name: ClassVar[str] = "ACTIVITY_SESSION"
    audience: ClassVar[Audience] = Audience.NODE
    user_id: UserId
    session_id: str
    instance_id: ActivityInstanceId
    node: str
    """The node that held the session when it joined."""
    guild_id: GuildId | None
    """None for a direct message."""
    activity: Activity | None
    """What the presence of the user shows; None once the session has left."""

    def payload(self) -> object:
        """The fields, which only nodes read."""
        return {
            "user_id": int(self.user_id),
            "session_id": self.session_id,
            "instance_id": int(self.instance_id),
            "node": self.node,
            "in_guild": None if self.guild_id is None else int(self.guild_id),
            "activity": self.activity,
        }

    def envelope(self) -> Envelope:
        """The envelope, which names no guild: every node reads the message."""
        envelope = Event.envelope(self)
        envelope.guild_id = None
        return envelope
