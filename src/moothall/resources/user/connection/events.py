"""What is told of connections."""

from typing import ClassVar

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import UserId


class UserConnectionsUpdate(Event, frozen=True, kw_only=True):
    """USER_CONNECTIONS_UPDATE, to the person's own sessions: their connections are not what they were."""

    name: ClassVar[str] = "USER_CONNECTIONS_UPDATE"
    audience: ClassVar[Audience] = Audience.USERS
    user_id: UserId

    def payload(self) -> object:
        """Nothing: clients ask again."""
        return {"user_id": str(int(self.user_id))}

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """Whose sessions hear it."""
        return (self.user_id,)
