"""Sessions as their own user's clients list them, on whichever process they are."""

from msgspec import Struct

from moothall.gateway.sessions.session import Session
from moothall.objects.presence import Activity, Status


class ListedSession(Struct, array_like=True, frozen=True):
    """A session of a user."""

    id: str
    platform: str
    client: str = "unknown"
    system: str = "unknown"
    status: Status = Status.ONLINE
    activities: tuple[Activity, ...] = ()


def listed_session(session: Session) -> ListedSession:
    """A session as its user's clients list it; what it states is left out for bots, which receive no such list."""
    presence = session.presence
    if session.bot or presence is None:
        return ListedSession(session.id, session.platform, session.client, session.system)
    return ListedSession(
        session.id, session.platform, session.client, session.system, presence.status, presence.activities
    )
