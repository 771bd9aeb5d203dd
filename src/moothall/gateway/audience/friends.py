"""Which users with sessions on this node have which friends, whose presences they receive without a common guild."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from moothall.bus import Envelope
from moothall.objects.ids import UserId
from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import decoder

RELATIONSHIP_EVENTS: Final = frozenset({"RELATIONSHIP_ADD", "RELATIONSHIP_REMOVE"})


class _RelationshipPayload(Struct):
    id: UserId
    type: int


_read_payload = decoder(_RelationshipPayload).decode


class Friends:
    """The friends of the users on this node.

    `start` comes before the friends are read, so that a friendship that begins or ends meanwhile is not missed.
    """

    def __init__(self) -> None:
        self._friends: dict[UserId, set[UserId]] = {}
        self._ended: dict[UserId, set[UserId]] = {}
        """Friendships that ended while the friends of a user were read."""
        self._observers: dict[UserId, set[UserId]] = {}

    def start(self, user_id: UserId) -> None:
        """Follow the friendships of a user who connects."""
        self._friends.setdefault(user_id, set())
        self._ended[user_id] = set()

    def add_all(self, user_id: UserId, friend_ids: Iterable[UserId]) -> None:
        """Add the friends of a user as they were read."""
        ended = self._ended.pop(user_id, set())
        for friend_id in friend_ids:
            if friend_id not in ended:
                self._add(user_id, friend_id)

    def forget(self, user_id: UserId) -> None:
        """Forget the friends of a user whose last session ended."""
        self._ended.pop(user_id, None)
        for friend_id in self._friends.pop(user_id, set()):
            self._remove_observer(user_id, friend_id)

    def apply(self, envelope: Envelope) -> list[tuple[UserId, UserId]]:
        """Apply one of `RELATIONSHIP_EVENTS`; return the friendships that began, as user and friend."""
        payload = _read_payload(bytes(envelope.data))
        begins = envelope.name == "RELATIONSHIP_ADD" and payload.type == RelationshipType.FRIEND
        began: list[tuple[UserId, UserId]] = []
        for user_id in envelope.user_ids:
            if user_id not in self._friends:
                continue
            if begins:
                self._add(user_id, payload.id)
                self._ended.get(user_id, set()).discard(payload.id)
                began.append((user_id, payload.id))
            else:
                self._friends[user_id].discard(payload.id)
                self._remove_observer(user_id, payload.id)
                if user_id in self._ended:
                    self._ended[user_id].add(payload.id)
        return began

    def observers_of(self, user_id: UserId) -> list[UserId]:
        """The users on this node who are friends of a user."""
        return sorted(self._observers.get(user_id, ()))

    def _add(self, user_id: UserId, friend_id: UserId) -> None:
        if user_id in self._friends:
            self._friends[user_id].add(friend_id)
            self._observers.setdefault(friend_id, set()).add(user_id)

    def _remove_observer(self, user_id: UserId, friend_id: UserId) -> None:
        observers = self._observers.get(friend_id)
        if observers is not None:
            observers.discard(user_id)
            if not observers:
                del self._observers[friend_id]
