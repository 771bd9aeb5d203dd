"""Gateway events of recent mentions."""

from typing import ClassVar

from moothall.api.events import UserEvent
from moothall.objects.ids import MessageId


class RecentMentionDelete(UserEvent, frozen=True, kw_only=True):
    """RECENT_MENTION_DELETE: the user removed a message from the list of their mentions."""

    name: ClassVar[str] = "RECENT_MENTION_DELETE"
    message_id: MessageId

    def payload(self) -> object:
        """Return the id of the message."""
        return {"message_id": self.message_id.wire()}
