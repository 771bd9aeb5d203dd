"""Presences when several processes serve: every node publishes those of its own users, and all nodes merge them.

All nodes receive the same messages in the same order. So each of them finds out by itself whose presence changed and
notifies its own sessions; no PRESENCE_UPDATE is published on the bus.
"""

import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

import msgspec
from msgspec import Raw, Struct

from moothall.api.context import GatewaySession
from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.audience.event_payloads import read_user_id
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.presence.local import Presences
from moothall.gateway.presence.merged import merge_sessions
from moothall.gateway.sessions.presence_events import friend_updates, presence_update
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.session_list import ListedSession, listed_session
from moothall.gateway.sessions.user_presence import OFFLINE, UserPresence, merge_presences
from moothall.objects.ids import GuildId, UserId
from moothall.objects.presence import Presence

_log = logging.getLogger(__name__)

_PRESENCES: Final = "NODE_PRESENCES"
_REQUEST: Final = "NODE_ASKS"
_SHUTDOWN: Final = "NODE_LEFT"
_MAX_PRESENCES: Final = 200
"""Presences in one message."""


class NodePresence(Struct, array_like=True, frozen=True):
    """A user's presence on one node."""

    user_id: UserId
    connected: bool
    """Whether the user has a session on the node."""
    presence: UserPresence = OFFLINE
    guild_ids: tuple[GuildId, ...] = ()
    """Guilds whose events those sessions receive."""
    replace: bool = True
    """Whether `guild_ids` replaces the previous guilds instead of adding to them."""
    sessions: tuple[ListedSession, ...] = ()
    """The user's sessions, oldest first, unless guilds are added."""


class _PresencesMessage(Struct):
    """Data of NODE_PRESENCES: changes, or a part of the list of all users with sessions on the node."""

    node: str
    presences: list[NodePresence]
    first: bool = False
    """Whether this is the first message of such a list."""
    last: bool = False
    """Whether this is the last message of such a list."""


class _NodeMessage(Struct):
    """Data of NODE_ASKS, which requests the presences of every other node, and of NODE_LEFT."""

    node: str


class _UserOnNode(Struct):
    presence: UserPresence
    guild_ids: set[GuildId]
    sessions: tuple[ListedSession, ...]


class ClusterPresences(Presences):
    """The presence of every user with a session on any node. `node` is the name of this node."""

    def __init__(self, hub: Hub, bus: Bus, node: str) -> None:
        super().__init__(hub, bus.publish)
        self._node = node
        self._own: dict[UserId, _UserOnNode] = {}
        """What this node published of its own users."""
        self._by_user: dict[UserId, dict[str, _UserOnNode]] = {}
        """What was received of each user from each node, this one included."""
        self._users_by_node: dict[str, set[UserId]] = {}
        self._online: dict[GuildId, set[UserId]] = {}
        """Visibly online users by guild."""
        self._incomplete_lists: dict[str, set[UserId]] = {}
        """Users received so far of each node that is publishing a list of all."""
        self._missing_nodes: frozenset[str] = frozenset()
        self._left = False
        bus.subscribe(self._receive, on_reconnect=self.publish_all)

    # This node's users

    def update(self, user_id: UserId, guild_ids: Iterable[GuildId] = ()) -> None:
        """Publish a user's presence on this node if it changed."""
        del guild_ids  # every node knows the guilds published before
        sessions = self._hub.sessions_by_user.get(user_id)
        if not sessions:
            if self._own.pop(user_id, None) is not None:
                self._publish_presences([NodePresence(user_id, connected=False)])
            return
        current = _UserOnNode(
            merge_sessions(sessions),
            set().union(*(session.guild_ids for session in sessions)),
            tuple(listed_session(session) for session in sessions),
        )
        if current != self._own.get(user_id):
            self._own[user_id] = current
            self._publish_presences([_node_presence(user_id, current)])

    def announce(self, session: Session, guild_id: GuildId) -> None:
        """Publish that a user's session receives a guild's events."""
        own = self._own.get(session.user_id)
        if own is not None and guild_id not in own.guild_ids:
            own.guild_ids.add(guild_id)
            self._publish_presences(
                [
                    NodePresence(
                        session.user_id, connected=True, presence=own.presence, guild_ids=(guild_id,), replace=False
                    )
                ]
            )

    def leave_guild(self, user_id: UserId) -> None:
        """Publish a user's guilds once more after they left one: a message on its way may still have it."""
        if self._own.pop(user_id, None) is not None:
            self.update(user_id)

    def publish_all(self) -> None:
        """Publish the presences of all users on this node: for a new node, and after a possible loss."""
        presences = [_node_presence(user_id, user) for user_id, user in self._own.items()]
        for start in range(0, max(1, len(presences)), _MAX_PRESENCES):
            end = start + _MAX_PRESENCES
            message = _PresencesMessage(self._node, presences[start:end], first=start == 0, last=end >= len(presences))
            self._publish_message(_PRESENCES, message)

    def request(self) -> None:
        """Request the presences of every other node."""
        self._publish_message(_REQUEST, _NodeMessage(self._node))

    def leave(self) -> None:
        """Publish that this node shuts down: none of its users has a session here any more."""
        self._publish_message(_SHUTDOWN, _NodeMessage(self._node))
        self._left = True

    def announce_end(self, node: str) -> None:
        """Publish that another node has ended."""
        self._publish_message(_SHUTDOWN, _NodeMessage(node))

    def remove_dead_nodes(self, alive: Collection[str]) -> None:
        """Remove nodes that are missing from `alive` for the second time; a node just started may miss it once."""
        missing = frozenset(node for node in self._users_by_node if node not in alive and node != self._node)
        for node in missing & self._missing_nodes:
            self._hub.receive(list(self._remove_node(node)))
        self._missing_nodes = missing

    # Queries

    def get_in_guild(self, guild_id: GuildId, user_id: UserId) -> UserPresence:
        """A user's presence as the other members of a guild see it."""
        return self.get(user_id) if user_id in self._online.get(guild_id, ()) else OFFLINE

    def online_ids(self, guild_id: GuildId) -> list[UserId]:
        """The members of a guild who are online on any node."""
        return list(self._online.get(guild_id, ()))

    def online_count(self, guild_id: GuildId) -> int:
        """Members of a guild with a live session on any node that is not invisible."""
        return len(self._online.get(guild_id, ()))

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Presences of at most `maximum` online members, of `user_ids` or of any."""
        online = self._online.get(guild_id, set())
        selected = online if user_ids is None else (user_id for user_id in user_ids if user_id in online)
        return [self.get(user_id).to_object(user_id) for user_id, _ in zip(selected, range(maximum), strict=False)]

    def sessions(self, user_id: UserId) -> list[ListedSession]:
        """A user's sessions on all nodes, those of this one last."""
        elsewhere = [session for user in self._elsewhere(user_id) for session in user.sessions]
        return elsewhere + super().sessions(user_id)

    def overall(self, user_id: UserId) -> UserPresence:
        """The presence of a user by the sessions of this node as they are now, and what is known of others."""
        return merge_presences([super().overall(user_id), *(user.presence for user in self._elsewhere(user_id))])

    def _elsewhere(self, user_id: UserId) -> list[_UserOnNode]:
        return [user for node, user in self._by_user.get(user_id, {}).items() if node != self._node]

    def is_connected(self, user_id: UserId) -> bool:
        """Whether a user has a live session on any node."""
        # This node's own messages on the bus may be out of date, its sessions are not.
        return user_id in self._hub.sessions_by_user or any(
            node != self._node for node in self._by_user.get(user_id, ())
        )

    def connected_among(self, user_ids: AbstractSet[UserId]) -> AbstractSet[UserId]:
        """Those of several users who have a live session on any node."""
        connected = self._hub.sessions_by_user.keys() | self._by_user.keys()
        return {user_id for user_id in connected if user_id in user_ids and self.is_connected(user_id)}

    def find_session(self, user_id: UserId, session_id: str | None) -> GatewaySession | None:
        """A live session of a user on any node; with None the latest one of this node, else any."""
        here = self._find_here(user_id, session_id, self._node)
        if here is not None:
            return here
        for node, user in self._by_user.get(user_id, {}).items():
            for session in reversed(user.sessions if node != self._node else ()):
                if session_id is None or session.id == session_id:
                    return GatewaySession(session.id, node, session.platform)
        return None

    # Receiving

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        updates: list[Envelope] = []
        for envelope in envelopes:
            try:
                updates.extend(self._handle(envelope))
            except Exception:  # noqa: BLE001 - logged; one envelope's failure must not affect the others
                _log.exception("%s could not be applied to the presences", envelope.name)
        if updates:
            self._hub.receive(updates)

    def _handle(self, envelope: Envelope) -> Iterator[Envelope]:
        """Apply an envelope; the PRESENCE_UPDATE events that result."""
        if envelope.audience is Audience.NODE:
            yield from self._handle_message(envelope)
        elif envelope.guild_id is None:
            return
        elif envelope.name == "GUILD_MEMBER_REMOVE":
            self._remove_from_guild(read_user_id(envelope.data), envelope.guild_id)
        elif envelope.name == "GUILD_DELETE":
            for user_id in list(self._online.get(envelope.guild_id, ())):
                self._remove_from_guild(user_id, envelope.guild_id)

    def _handle_message(self, envelope: Envelope) -> Iterator[Envelope]:
        """Apply a message of a node; the PRESENCE_UPDATE events that result."""
        if envelope.name == _PRESENCES:
            yield from self._apply_message(_presences_decoder.decode(envelope.data))
        elif envelope.name in {_REQUEST, _SHUTDOWN}:
            node = _node_decoder.decode(envelope.data).node
            if node == self._node:
                return
            if envelope.name == _REQUEST:
                self.publish_all()
            else:
                yield from self._remove_node(node)

    def _apply_message(self, message: _PresencesMessage) -> Iterator[Envelope]:
        node = message.node
        if message.first:
            self._incomplete_lists[node] = set()
        listed = self._incomplete_lists.get(node)
        for presence in message.presences:
            if listed is not None:
                listed.add(presence.user_id)
            yield from self._apply(node, presence)
        if message.last and listed is not None:
            del self._incomplete_lists[node]
            for user_id in self._users_by_node.get(node, set()) - listed:
                yield from self._apply(node, NodePresence(user_id, connected=False))

    def _apply(self, node: str, update: NodePresence) -> Iterator[Envelope]:
        user_id = update.user_id
        by_node = self._by_user.setdefault(user_id, {})
        previous = by_node.get(node)
        before = self.get(user_id)
        if update.connected and previous is not None and not update.replace and previous.presence == update.presence:
            # One of the many guilds of a user who has just connected: only the guild is new.
            previous.guild_ids.update(update.guild_ids)
            added = set(update.guild_ids) if before is not OFFLINE else set()
            yield from self._change_guilds(user_id, before, set(), added - self._online_guilds(user_id, added))
            return
        guilds_before = self._guilds(user_id) if before is not OFFLINE else set()
        if not update.connected:
            by_node.pop(node, None)
            self._users_by_node.get(node, set()).discard(user_id)
        else:
            self._users_by_node.setdefault(node, set()).add(user_id)
            retained = previous.guild_ids if previous is not None and not update.replace else set()
            sessions = previous.sessions if previous is not None and not update.replace else update.sessions
            by_node[node] = _UserOnNode(update.presence, retained.union(update.guild_ids), sessions)
        listed = () if previous is None else previous.sessions
        if node != self._node and listed != (by_node[node].sessions if node in by_node else ()):
            self.announce_sessions(user_id)
        after = merge_presences([each.presence for each in by_node.values()])
        if not by_node:
            del self._by_user[user_id]
        guilds = self._guilds(user_id) if after is not OFFLINE else set()
        if after is OFFLINE:
            self._visible.pop(user_id, None)
        else:
            self._visible[user_id] = after
        yield from self._change_guilds(user_id, after, guilds_before - guilds, guilds - guilds_before)
        if after != before:
            yield from self._updates(user_id, after, guilds & guilds_before)
            yield from friend_updates(user_id, after, self._hub.friends.observers_of(user_id))

    def _change_guilds(
        self, user_id: UserId, presence: UserPresence, removed: set[GuildId], added: set[GuildId]
    ) -> Iterator[Envelope]:
        for guild_id in removed:
            self._remove_online(user_id, guild_id)
        for guild_id in added:
            self._online.setdefault(guild_id, set()).add(user_id)
        yield from self._updates(user_id, OFFLINE, removed)
        yield from self._updates(user_id, presence, added)

    def _updates(self, user_id: UserId, presence: UserPresence, guild_ids: Iterable[GuildId]) -> Iterator[Envelope]:
        """PRESENCE_UPDATE to those of the guilds that any session of this node has joined."""
        views = self._hub.views
        return (presence_update(user_id, guild_id, presence) for guild_id in sorted(guild_ids) if guild_id in views)

    def _remove_online(self, user_id: UserId, guild_id: GuildId) -> None:
        online = self._online.get(guild_id)
        if online is not None:
            online.discard(user_id)
            if not online:
                del self._online[guild_id]

    def _online_guilds(self, user_id: UserId, guild_ids: set[GuildId]) -> set[GuildId]:
        return {guild_id for guild_id in guild_ids if user_id in self._online.get(guild_id, ())}

    def _guilds(self, user_id: UserId) -> set[GuildId]:
        return set[GuildId]().union(*(user.guild_ids for user in self._by_user.get(user_id, {}).values()))

    def _remove_from_guild(self, user_id: UserId, guild_id: GuildId) -> None:
        """Remove a user who is no longer a member from a guild, without PRESENCE_UPDATE."""
        self._remove_online(user_id, guild_id)
        own = self._own.get(user_id)
        for user in (*self._by_user.get(user_id, {}).values(), *(() if own is None else (own,))):
            user.guild_ids.discard(guild_id)

    def _remove_node(self, node: str) -> Iterator[Envelope]:
        self._incomplete_lists.pop(node, None)
        for user_id in list(self._users_by_node.pop(node, ())):
            yield from self._apply(node, NodePresence(user_id, connected=False))

    # Publishing

    def _publish_presences(self, presences: list[NodePresence]) -> None:
        self._publish_message(_PRESENCES, _PresencesMessage(self._node, presences))

    def _publish_message(self, name: str, data: Struct) -> None:
        if self._left:
            # A session that is still joining a guild would bring its user back, whom no message takes away again.
            return
        self._publish([Envelope(name=name, data=Raw(_encoder.encode(data)), audience=Audience.NODE)])


def _node_presence(user_id: UserId, user: _UserOnNode) -> NodePresence:
    return NodePresence(
        user_id,
        connected=True,
        presence=user.presence,
        guild_ids=tuple(sorted(user.guild_ids)),
        sessions=user.sessions,
    )


def _from_number(id_type: type[Any], number: int) -> Any:
    return id_type(number)


# Between nodes an id is a JSON number, as in `bus/packing.py`.
_encoder = msgspec.json.Encoder(enc_hook=int)
_presences_decoder = msgspec.json.Decoder(_PresencesMessage, dec_hook=_from_number)
_node_decoder = msgspec.json.Decoder(_NodeMessage)
