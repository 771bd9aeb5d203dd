"""Gateway events of connections."""

from typing import ClassVar

from moothall.api.events import UserEvent


class UserConnectionsUpdate(UserEvent, frozen=True, kw_only=True):
    """USER_CONNECTIONS_UPDATE: the user's connections changed. Sent to the user's own sessions."""

    name: ClassVar[str] = "USER_CONNECTIONS_UPDATE"

    def payload(self) -> object:
        """The user's id; clients fetch the connections again."""
        return {"user_id": str(int(self.user_id))}
