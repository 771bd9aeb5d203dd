"""Gateway events of group direct messages, sent to their recipients, except bots."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.user import User


class _RecipientEvent(Event, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS
    channel_id: ChannelId
    user: User
    nick: str | UnsetType = UNSET
    user_ids: tuple[UserId, ...]

    def payload(self) -> object:
        """Return the channel and the user, with their nickname if they have one."""
        payload: dict[str, object] = {"channel_id": self.channel_id, "user": self.user}
        return payload if self.nick is UNSET else {**payload, "nick": self.nick}


class ChannelRecipientAdd(_RecipientEvent, frozen=True, kw_only=True):
    """CHANNEL_RECIPIENT_ADD: a user was added; the user receives CHANNEL_CREATE."""

    name: ClassVar[str] = "CHANNEL_RECIPIENT_ADD"


class ChannelRecipientRemove(_RecipientEvent, frozen=True, kw_only=True):
    """CHANNEL_RECIPIENT_REMOVE: a user was removed; the user receives CHANNEL_DELETE."""

    name: ClassVar[str] = "CHANNEL_RECIPIENT_REMOVE"
