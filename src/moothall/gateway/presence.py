"""Who is here: the presence of each user, made of those of their sessions."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Raw, Struct

from moothall.bus import Audience, Envelope
from moothall.gateway.commands import PresenceCommand
from moothall.gateway.hub import Hub
from moothall.gateway.session import Session
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.presence import Activity, ClientStatus, Presence, Status
from moothall.objects.user import UserReference
from moothall.objects.wire import encode

_MAX_ACTIVITIES: Final = 8
_RANK: Final = {Status.ONLINE: 3, Status.DND: 2, Status.IDLE: 1}
_KINDS: Final = ("desktop", "mobile", "web")


class SessionPresence(Struct, frozen=True):
    """What one session says of its user."""

    status: Status
    activities: tuple[Activity, ...] = ()

    @classmethod
    def of(cls, command: PresenceCommand | None, *, bot: bool) -> "SessionPresence":
        """From opcode 3, or from Identify."""
        if command is None:
            return _ONLINE
        listed = command.activities if command.activities is not None else [command.game] if command.game else []
        status = command.status or Status.ONLINE
        if not listed and status is Status.ONLINE:
            return _ONLINE
        return cls(status, tuple(activity.shown(bot=bot) for activity in listed))


_ONLINE = SessionPresence(Status.ONLINE)


class Shown(Struct, frozen=True):
    """A user's presence as others see it."""

    status: Status
    activities: tuple[Activity, ...] = ()
    clients: tuple[tuple[str, str], ...] = ()

    def presence(self, user_id: int, guild_id: int | None = None) -> Presence:
        """The object of the API."""
        found = Presence(
            user=UserReference(id=UserId(Snowflake(user_id))),
            status=self.status,
            activities=list(self.activities),
            client_status=ClientStatus(**dict(self.clients)),
        )
        if guild_id is None:
            return found
        return Presence(
            user=found.user,
            guild_id=GuildId(Snowflake(guild_id)),
            status=found.status,
            activities=found.activities,
            client_status=found.client_status,
        )


OFFLINE: Final = Shown(Status.OFFLINE)


class Presences:
    """The presences of everyone with a session on this node, and the announcing of what changes.

    A user is as present as their most present session; the invisible are shown offline, everywhere.
    """

    def __init__(self, hub: Hub, publish: Callable[[Sequence[Envelope]], None]) -> None:
        self._hub = hub
        self._publish = publish
        self._shown: dict[int, Shown] = {}

    def of(self, user_id: int) -> Shown:
        """A user as others see them."""
        return self._shown.get(user_id, OFFLINE)

    def update(self, user_id: int, guild_ids: Iterable[int] = ()) -> None:
        """Work a user's presence out anew and announce it if it changed, also to guilds just left by a session."""
        before = self.of(user_id)
        sessions = self._hub.by_user.get(user_id, ())
        after = merge_sessions(sessions)
        if after is OFFLINE:
            self._shown.pop(user_id, None)
        else:
            self._shown[user_id] = after
        if after == before:
            return
        heard = set(guild_ids).union(*(session.guilds for session in sessions))
        self._publish([presence_update(user_id, guild_id, after) for guild_id in sorted(heard)])

    def announce(self, session: Session, guild_id: int) -> None:
        """Tell a guild of a user whose first session began to hear it."""
        view = self._hub.views.get(guild_id)
        member = None if view is None else view.members.get(session.user_id)
        if member is not None and len(member.sessions) == 1 and session.user_id in self._shown:
            self._publish([presence_update(session.user_id, guild_id, self.of(session.user_id))])

    def listed(self, user_ids: Iterable[int]) -> list[Presence]:
        """The presences of those named who are online."""
        return [shown.presence(user_id) for user_id in user_ids if (shown := self._shown.get(user_id)) is not None]

    # What others ask: `PresenceBook` of the kernel

    def online_count(self, guild_id: int) -> int:
        """Members of a guild with a live session that is not invisible."""
        view = self._hub.views.get(guild_id)
        return 0 if view is None else sum(user_id in self._shown for user_id in view.members)

    def presences(self, guild_id: int, user_ids: Iterable[int] | None = None, *, maximum: int = 1000) -> list[Presence]:
        """Presences of online members, of those named or of as many as `maximum`."""
        view = self._hub.views.get(guild_id)
        if view is None:
            return []
        found: list[Presence] = []
        for user_id in view.members if user_ids is None else user_ids:
            if len(found) >= maximum:
                break
            shown = self._shown.get(user_id)
            if shown is not None and user_id in view.members:
                found.append(shown.presence(user_id))
        return found

    def is_connected(self, user_id: int) -> bool:
        """Whether a user has a live session."""
        return user_id in self._hub.by_user


def merge_sessions(sessions: Iterable[Session]) -> Shown:
    """How a user with these sessions appears."""
    best = 0
    status = Status.OFFLINE
    activities: list[Activity] = []
    clients: dict[str, Status] = {}
    for session in sessions:
        own = session.presence
        rank = _RANK.get(own.status, 0) if own is not None else 0
        if not rank:
            continue
        if rank > best:
            best, status = rank, own.status
        activities += own.activities
        known = clients.get(session.client)
        if known is None or rank > _RANK[known]:
            clients[session.client] = own.status
    if not best:
        return OFFLINE
    if not activities and len(clients) == 1:
        ((client, _),) = clients.items()
        return _PLAIN[status, client]
    return Shown(
        status,
        tuple(activities[:_MAX_ACTIVITIES]),
        tuple((kind, str(clients[kind])) for kind in _KINDS if kind in clients),
    )


def merge_shown(several: Sequence[Shown]) -> Shown:
    """How a user appears who appears as each of these somewhere."""
    visible = sorted((one for one in several if one.status in _RANK), key=lambda one: -_RANK[one.status])
    if len(visible) < 2:
        return visible[0] if visible else OFFLINE
    clients: dict[str, str] = {}
    for one in visible:
        clients = {**dict(one.clients), **clients}
    return Shown(
        visible[0].status,
        tuple(activity for one in visible for activity in one.activities)[:_MAX_ACTIVITIES],
        tuple((kind, clients[kind]) for kind in _KINDS if kind in clients),
    )


# Nearly everyone: one kind of client and nothing to tell.
_PLAIN: Final = {(status, kind): Shown(status, (), ((kind, str(status)),)) for status in _RANK for kind in _KINDS}


def presence_update(user_id: int, guild_id: int, shown: Shown) -> Envelope:
    """PRESENCE_UPDATE to one guild."""
    return Envelope(
        name="PRESENCE_UPDATE",
        data=Raw(encode(shown.presence(user_id, guild_id))),
        audience=Audience.GUILD,
        guild_id=guild_id,
        intent=Intent.GUILD_PRESENCES,
    )
