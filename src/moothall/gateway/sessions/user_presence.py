"""Presence values: what one session states, and how a user with several sessions appears."""

from collections.abc import Sequence
from typing import Final

import msgspec
from msgspec import Struct

from moothall.gateway.protocol.activity_input import clean_activity, with_distinct_ids
from moothall.gateway.protocol.commands import UpdatePresenceCommand
from moothall.objects.ids import GuildId, UserId
from moothall.objects.presence import Activity, ClientStatus, Presence, Status
from moothall.objects.user import UserReference

MAX_ACTIVITIES: Final = 8
STATUS_RANK: Final = {Status.ONLINE: 3, Status.DND: 2, Status.IDLE: 1}
"""The visible statuses; of several sessions the highest rank wins."""
CLIENTS: Final = ("desktop", "mobile", "web")


class SessionPresence(Struct, frozen=True):
    """The presence that one session states."""

    status: Status
    activities: tuple[Activity, ...] = ()

    @classmethod
    def from_command(cls, command: UpdatePresenceCommand, *, bot: bool) -> "SessionPresence":
        """Clean opcode 3: what is not a status counts as online, what is not an activity is left out."""
        status = _STATUSES.get(command.status, Status.ONLINE) if isinstance(command.status, str) else Status.ONLINE
        items = command.activities if isinstance(command.activities, list) else [command.game]
        activities = [clean_activity(item, bot=bot) for item in items[:MAX_ACTIVITIES]]
        if not any(activities) and status is Status.ONLINE:
            return _ONLINE
        return cls(status, with_distinct_ids(filter(None, activities)))

    @classmethod
    def from_identify(cls, presence: object, *, bot: bool) -> "SessionPresence":
        """Clean `presence` of Identify; what is not an object counts as online."""
        if not isinstance(presence, dict):
            return _ONLINE
        return cls.from_command(msgspec.convert(presence, UpdatePresenceCommand), bot=bot)


_STATUSES: Final = {str(status): status for status in Status}
_ONLINE = SessionPresence(Status.ONLINE)


class UserPresence(Struct, frozen=True):
    """A user's presence as other users see it."""

    status: Status
    activities: tuple[Activity, ...] = ()
    clients: tuple[tuple[str, str], ...] = ()
    """(client, status) pairs of `client_status`."""

    def to_object(self, user_id: UserId, guild_id: GuildId | None = None) -> Presence:
        """The presence object of the API, with `guild_id` as PRESENCE_UPDATE has it or without."""
        user, activities = UserReference(id=user_id), list(self.activities)
        client_status = ClientStatus(**dict(self.clients))
        if guild_id is None:
            return Presence(user=user, status=self.status, activities=activities, client_status=client_status)
        return Presence(
            user=user, guild_id=guild_id, status=self.status, activities=activities, client_status=client_status
        )


OFFLINE: Final = UserPresence(Status.OFFLINE)

# Most users have one kind of client and no activity: these instances are shared.
PLAIN: Final = {
    (status, client): UserPresence(status, (), ((client, str(status)),)) for status in STATUS_RANK for client in CLIENTS
}


def merge_presences(presences: Sequence[UserPresence]) -> UserPresence:
    """Merge the presences that a user has on several nodes."""
    visible = sorted((each for each in presences if each.status in STATUS_RANK), key=lambda p: -STATUS_RANK[p.status])
    if len(visible) < 2:
        return visible[0] if visible else OFFLINE
    clients: dict[str, str] = {}
    for presence in visible:
        clients = {**dict(presence.clients), **clients}
    return UserPresence(
        visible[0].status,
        tuple(activity for presence in visible for activity in presence.activities)[:MAX_ACTIVITIES],
        tuple((client, clients[client]) for client in CLIENTS if client in clients),
    )
