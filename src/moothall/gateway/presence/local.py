"""Presences of the users with sessions on this node, and PRESENCE_UPDATE."""

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from moothall.api.context import GatewaySession
from moothall.bus import Envelope
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.presence.merged import merge_sessions
from moothall.gateway.sessions.presence_events import friend_updates, presence_update
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.session_list import ListedSession, listed_session
from moothall.gateway.sessions.user_presence import OFFLINE, UserPresence
from moothall.gateway.snapshot.ready import sessions_replace
from moothall.objects.ids import GuildId, UserId
from moothall.objects.presence import Presence


class Presences:
    """The presence of every user with a session on this node; publishes PRESENCE_UPDATE when one changes.

    A user has the highest-ranking status of their sessions. An invisible user appears offline to every other
    user. In a guild a user appears offline too unless one of their sessions receives its events: a session that is
    still joining a guild may end before it has, which is not announced there. Implements `PresenceSource` of the
    API.
    """

    def __init__(self, hub: Hub, publish: Callable[[Sequence[Envelope]], None]) -> None:
        self._hub = hub
        self._publish = publish
        self._visible: dict[UserId, UserPresence] = {}

    def get(self, user_id: UserId) -> UserPresence:
        """A user's presence as their friends see it."""
        return self._visible.get(user_id, OFFLINE)

    def get_in_guild(self, guild_id: GuildId, user_id: UserId) -> UserPresence:
        """A user's presence as the other members of a guild see it."""
        view = self._hub.views.get(guild_id)
        return OFFLINE if view is None or user_id not in view.members else self.get(user_id)

    def update(self, user_id: UserId, guild_ids: Iterable[GuildId] = ()) -> None:
        """Recompute a user's presence; announce a change to their friends and guilds.

        `guild_ids` are those whose events a session of the user has received until now.
        """
        before = self.get(user_id)
        sessions = self._hub.sessions_by_user.get(user_id, ())
        after = merge_sessions(sessions)
        if after is OFFLINE:
            self._visible.pop(user_id, None)
        else:
            self._visible[user_id] = after
        present = set[GuildId]().union(*(session.guild_ids for session in sessions))
        left = set(guild_ids) - present if before is not OFFLINE else set()
        updates = [presence_update(user_id, guild_id, OFFLINE) for guild_id in sorted(left)]
        if after != before:
            updates += [presence_update(user_id, guild_id, after) for guild_id in sorted(present)]
            updates += friend_updates(user_id, after, self._hub.friends.observers_of(user_id))
        if updates:
            self._publish(updates)

    def announce(self, session: Session, guild_id: GuildId) -> None:
        """Announce a user to a guild if `session` is their first one to receive its events."""
        view = self._hub.views.get(guild_id)
        member = None if view is None else view.members.get(session.user_id)
        if member is not None and member.sessions[:1] == [session] and session.user_id in self._visible:
            self._publish([presence_update(session.user_id, guild_id, self.get(session.user_id))])

    def announce_sessions(self, user_id: UserId, *, except_session: Session | None = None) -> None:
        """Send SESSIONS_REPLACE to the sessions of a person on this node, but the one that has just received READY."""
        sessions = self._hub.sessions_by_user.get(user_id, ())
        audience = [session for session in sessions if session is not except_session and not session.bot]
        if audience:
            data = sessions_replace(self.sessions(user_id), self.overall(user_id))
            self._hub.dispatch(audience, "SESSIONS_REPLACE", data)

    def announce_to_friend(self, user_id: UserId, friend_id: UserId) -> None:
        """Send the presence of a new friend who is online to the sessions of a user."""
        presence = self.get(friend_id)
        if presence is not OFFLINE:
            self._hub.receive(friend_updates(friend_id, presence, [user_id]))

    def leave_guild(self, user_id: UserId) -> None:
        """Take note that a user has left a guild; their sessions receive its events no longer."""

    def online(self, user_ids: Iterable[UserId]) -> list[Presence]:
        """The presences of those of the users who are online."""
        return [
            presence.to_object(user_id) for user_id in user_ids if (presence := self._visible.get(user_id)) is not None
        ]

    def online_in_guild(self, guild_id: GuildId, user_ids: Iterable[UserId], own_id: UserId) -> list[Presence]:
        """The presences of those of the users who are online in a guild, and that of `own_id`, whose client asks."""
        presences = [
            (user_id, self.get(user_id) if user_id == own_id else self.get_in_guild(guild_id, user_id))
            for user_id in user_ids
        ]
        return [presence.to_object(user_id) for user_id, presence in presences if presence is not OFFLINE]

    def online_ids(self, guild_id: GuildId) -> list[UserId]:
        """The members of a guild who are online."""
        view = self._hub.views.get(guild_id)
        return [] if view is None else [user_id for user_id in view.members if user_id in self._visible]

    def online_count(self, guild_id: GuildId) -> int:
        """Members of a guild with a live session that is not invisible."""
        view = self._hub.views.get(guild_id)
        return 0 if view is None else sum(user_id in self._visible for user_id in view.members)

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Presences of at most `maximum` online members, of `user_ids` or of any."""
        view = self._hub.views.get(guild_id)
        if view is None:
            return []
        presences: list[Presence] = []
        for user_id in view.members if user_ids is None else user_ids:
            if len(presences) >= maximum:
                break
            presence = self._visible.get(user_id)
            if presence is not None and user_id in view.members:
                presences.append(presence.to_object(user_id))
        return presences

    def sessions(self, user_id: UserId) -> list[ListedSession]:
        """A user's sessions, the newest last."""
        return [listed_session(session) for session in self._hub.sessions_by_user.get(user_id, ())]

    def overall(self, user_id: UserId) -> UserPresence:
        """The presence of a user by their sessions as they are now."""
        return merge_sessions(self._hub.sessions_by_user.get(user_id, ()))

    def is_connected(self, user_id: UserId) -> bool:
        """Whether a user has a live session."""
        return user_id in self._hub.sessions_by_user

    def connected_among(self, user_ids: AbstractSet[UserId]) -> AbstractSet[UserId]:
        """Those of several users who have a live session."""
        return {user_id for user_id in self._hub.sessions_by_user if user_id in user_ids}

    def find_session(self, user_id: UserId, session_id: str | None) -> GatewaySession | None:
        """A live session of a user; with None the latest one. None if the user has no such session."""
        return self._find_here(user_id, session_id, "")

    def _find_here(self, user_id: UserId, session_id: str | None, node: str) -> GatewaySession | None:
        for session in reversed(self._hub.sessions_by_user.get(user_id, ())):
            if session_id is None or session.id == session_id:
                return GatewaySession(session.id, node, session.platform)
        return None
