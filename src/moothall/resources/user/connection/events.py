"""Gateway events of connections."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import UserId


class UserConnectionsUpdate(Event, frozen=True, kw_only=True):
    """USER_CONNECTIONS_UPDATE: the user's connections changed. Sent to the user's own sessions."""

    name: ClassVar[str] = "USER_CONNECTIONS_UPDATE"
    audience: ClassVar[Audience] = Audience.USERS
    user_id: UserId

    def payload(self) -> object:
        """The user's id; clients fetch the connections again."""
        return {"user_id": str(int(self.user_id))}

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """The user whose sessions receive the event."""
        return (self.user_id,)
