"""Gateway events of saved messages."""

from typing import ClassVar

from msgspec import Raw

from moothall.api.events import UserEvent
from moothall.objects.ids import ChannelId, MessageId


class SavedMessageCreate(UserEvent, frozen=True, kw_only=True):
    """SAVED_MESSAGE_CREATE: the user saved a message, or changed when it is due."""

    name: ClassVar[str] = "SAVED_MESSAGE_CREATE"
    saved: bytes
    """The saved message as JSON."""

    def payload(self) -> object:
        """Return the saved message."""
        return Raw(self.saved)


class SavedMessageDelete(UserEvent, frozen=True, kw_only=True):
    """SAVED_MESSAGE_DELETE: the user no longer saves a message."""

    name: ClassVar[str] = "SAVED_MESSAGE_DELETE"
    channel_id: ChannelId
    message_id: MessageId

    def payload(self) -> object:
        """Return the ids of the channel and the message."""
        return {"channel_id": self.channel_id.wire(), "message_id": self.message_id.wire()}
