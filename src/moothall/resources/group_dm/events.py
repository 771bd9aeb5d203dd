"""What group direct messages announce, to those in them. Bots are never told."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.user import User


class _RecipientEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS
    channel_id: ChannelId
    user: User
    nick: str | UnsetType = UNSET
    user_ids: tuple[UserId, ...]

    def payload(self) -> object:
        """Who, and where."""
        told: dict[str, object] = {"channel_id": self.channel_id, "user": self.user}
        return told if self.nick is UNSET else {**told, "nick": self.nick}


class ChannelRecipientAdd(_RecipientEvent, frozen=True, kw_only=True):
    """CHANNEL_RECIPIENT_ADD: someone is in a group now; they themselves hear CHANNEL_CREATE."""

    name: ClassVar[str] = "CHANNEL_RECIPIENT_ADD"


class ChannelRecipientRemove(_RecipientEvent, frozen=True, kw_only=True):
    """CHANNEL_RECIPIENT_REMOVE: someone is no longer in a group; they themselves hear CHANNEL_DELETE."""

    name: ClassVar[str] = "CHANNEL_RECIPIENT_REMOVE"
