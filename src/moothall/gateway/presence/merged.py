"""The presence of a user with several sessions."""

from collections.abc import Iterable, Sequence

from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.user_presence import CLIENTS, MAX_ACTIVITIES, OFFLINE, PLAIN, STATUS_RANK, UserPresence
from moothall.objects.presence import Activity, Status


def merge_sessions(sessions: Iterable[Session]) -> UserPresence:
    """The presence of a user with these sessions."""
    max_rank = 0
    status = Status.OFFLINE
    activities: list[Activity] = []
    clients: dict[str, Status] = {}
    for session in sessions:
        presence = session.presence
        rank = STATUS_RANK.get(presence.status, 0) if presence is not None else 0
        if presence is None or not rank:
            continue
        if rank > max_rank:
            max_rank, status = rank, presence.status
        activities += _shown_activities(session, presence.activities)
        client_status = clients.get(session.client)
        if client_status is None or rank > STATUS_RANK[client_status]:
            clients[session.client] = presence.status
    if not max_rank:
        return OFFLINE
    if not activities and len(clients) == 1:
        ((client, _),) = clients.items()
        return PLAIN[status, client]
    return UserPresence(
        status,
        tuple(activities[:MAX_ACTIVITIES]),
        tuple((client, str(clients[client])) for client in CLIENTS if client in clients),
    )


def _shown_activities(session: Session, stated: Sequence[Activity]) -> list[Activity]:
    """What a session states, and the Activity that it takes part in, unless it states one of that application."""
    embedded = session.embedded_activity
    if embedded is None or any(each.application_id == embedded.application_id for each in stated):
        return list(stated)
    return [*stated, embedded]
