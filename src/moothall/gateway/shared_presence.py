"""Who is here when several processes serve: each tells the others of its own users, and all know the same.

What a node knows follows from what the bus carried, in one order for all. So every node works out by
itself whose presence changed, and tells its own sessions; no PRESENCE_UPDATE travels between nodes.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final

from msgspec import Raw, Struct

from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.hub import Hub
from moothall.gateway.presence import OFFLINE, Presences, Shown, merge_sessions, merge_shown, presence_update
from moothall.gateway.session import Session
from moothall.gateway.state_events import read_user_id
from moothall.objects.presence import Presence
from moothall.objects.wire import decoder, encode

_FACTS: Final = "NODE_PRESENCES"
_ASK: Final = "NODE_ASKS"
_LEFT: Final = "NODE_LEFT"
_MAX_FACTS: Final = 200


class Fact(Struct, array_like=True, frozen=True):
    """A user on one node: whether they have a session there, as what they appear, and in which guilds."""

    user_id: int
    here: bool
    shown: Shown = OFFLINE
    guild_ids: tuple[int, ...] = ()
    replace: bool = True
    """Whether these are all guilds, not only further ones."""


class _Facts(Struct):
    node: str
    facts: list[Fact]
    first: bool = False
    """Whether a list of all users of the node begins with this message; `last`: whether it ends with it."""
    last: bool = False


class _Node(Struct):
    node: str


class _Known(Struct):
    shown: Shown
    guilds: set[int]


class SharedPresences(Presences):
    """The presences of everyone with a session on any node. `node` is the name of this one."""

    def __init__(self, hub: Hub, bus: Bus, node: str) -> None:
        super().__init__(hub, bus.publish)
        self._node = node
        self._own: dict[int, _Known] = {}
        """What was told of the users here."""
        self._known: dict[int, dict[str, _Known]] = {}
        """What was heard of each user from each node, this one included."""
        self._of_node: dict[str, set[int]] = {}
        self._online: dict[int, set[int]] = {}
        """Who is visibly online, by guild."""
        self._listing: dict[str, set[int]] = {}
        self._suspects: frozenset[str] = frozenset()
        bus.subscribe(self._hear)

    # What happens on this node

    def update(self, user_id: int, guild_ids: Iterable[int] = ()) -> None:
        """Tell all nodes if a user's sessions here changed what they appear as, or where."""
        del guild_ids  # every node knows which guilds it had been told of
        sessions = self._hub.by_user.get(user_id)
        if not sessions:
            if self._own.pop(user_id, None) is not None:
                self._tell([Fact(user_id, here=False)])
            return
        now = _Known(merge_sessions(sessions), set().union(*(session.guilds for session in sessions)))
        if now != self._own.get(user_id):
            self._own[user_id] = now
            self._tell([_fact(user_id, now)])

    def announce(self, session: Session, guild_id: int) -> None:
        """Tell all nodes that a session of a user began to hear a guild."""
        own = self._own.get(session.user_id)
        if own is not None and guild_id not in own.guilds:
            own.guilds.add(guild_id)
            self._tell([Fact(session.user_id, here=True, shown=own.shown, guild_ids=(guild_id,), replace=False)])

    def tell_all(self) -> None:
        """Tell all nodes of everyone here: to one that is new, and after something may have been lost."""
        facts = [_fact(user_id, known) for user_id, known in self._own.items()]
        starts = range(0, max(1, len(facts)), _MAX_FACTS)
        for start in starts:
            self._publish_node(
                _FACTS,
                _Facts(
                    self._node,
                    facts[start : start + _MAX_FACTS],
                    first=start == 0,
                    last=start + _MAX_FACTS >= len(facts),
                ),
            )

    def ask(self) -> None:
        """Ask all other nodes to tell of everyone there."""
        self._publish_node(_ASK, _Node(self._node))

    def leave(self) -> None:
        """Tell all nodes that nobody is here any more."""
        self._publish_node(_LEFT, _Node(self._node))

    def keep(self, alive: Collection[str]) -> None:
        """Forget nodes that are not alive: those missing here and already the last time, as a new one may be."""
        missing = frozenset(node for node in self._of_node if node not in alive and node != self._node)
        for node in missing & self._suspects:
            self._forget(node)
        self._suspects = missing

    # What others ask

    def online_count(self, guild_id: int) -> int:
        """Members of a guild with a live session anywhere that is not invisible."""
        return len(self._online.get(guild_id, ()))

    def presences(self, guild_id: int, user_ids: Iterable[int] | None = None, *, maximum: int = 1000) -> list[Presence]:
        """Presences of online members, of those named or of as many as `maximum`."""
        online = self._online.get(guild_id, set())
        wanted = online if user_ids is None else (user_id for user_id in user_ids if user_id in online)
        return [self.of(user_id).presence(user_id) for user_id, _ in zip(wanted, range(maximum), strict=False)]

    def is_connected(self, user_id: int) -> bool:
        """Whether a user has a live session on any node."""
        # What is known of this node from the bus may still be on its way.
        return user_id in self._hub.by_user or any(node != self._node for node in self._known.get(user_id, ()))

    # From the bus

    def _hear(self, envelopes: Sequence[Envelope]) -> None:
        updates: list[Envelope] = []
        for envelope in envelopes:
            if envelope.audience is Audience.NODE:
                updates.extend(self._control(envelope))
            elif envelope.name == "GUILD_MEMBER_REMOVE":
                self._leave_guild(read_user_id(envelope.data), envelope.guild_id)
            elif envelope.name == "GUILD_DELETE":
                for user_id in list(self._online.get(envelope.guild_id, ())):
                    self._leave_guild(user_id, envelope.guild_id)
        if updates:
            self._hub.hear(updates)

    def _control(self, envelope: Envelope) -> Iterator[Envelope]:
        if envelope.name == _FACTS:
            told: _Facts = decoder(_Facts).decode(envelope.data)
            yield from self._take(told)
        elif envelope.name in {_ASK, _LEFT}:
            node = decoder(_Node).decode(envelope.data).node
            if node == self._node:
                return
            if envelope.name == _ASK:
                self.tell_all()
            else:
                yield from self._without(node)

    def _take(self, told: _Facts) -> Iterator[Envelope]:
        node = told.node
        if told.first:
            self._listing[node] = set()
        listing = self._listing.get(node)
        for fact in told.facts:
            if listing is not None:
                listing.add(fact.user_id)
            yield from self._apply(node, fact)
        if told.last and listing is not None:
            del self._listing[node]
            for user_id in self._of_node.get(node, set()) - listing:
                yield from self._apply(node, Fact(user_id, here=False))

    def _apply(self, node: str, fact: Fact) -> Iterator[Envelope]:
        user_id = fact.user_id
        of_user = self._known.setdefault(user_id, {})
        known = of_user.get(node)
        before = self.of(user_id)
        if fact.here and known is not None and not fact.replace and known.shown == fact.shown:
            # One of the many guilds of someone who has just connected: nothing else is looked at.
            known.guilds.update(fact.guild_ids)
            added = set(fact.guild_ids) if before is not OFFLINE else set()
            yield from self._moved(user_id, before, set(), added - self._seen_in(user_id, added))
            return
        guilds_before = self._guilds(user_id) if before is not OFFLINE else set()
        if not fact.here:
            of_user.pop(node, None)
            self._of_node.get(node, set()).discard(user_id)
        else:
            self._of_node.setdefault(node, set()).add(user_id)
            kept = known.guilds if known is not None and not fact.replace else set()
            of_user[node] = _Known(fact.shown, kept.union(fact.guild_ids))
        after = merge_shown([each.shown for each in of_user.values()])
        if not of_user:
            del self._known[user_id]
        guilds = self._guilds(user_id) if after is not OFFLINE else set()
        if after is OFFLINE:
            self._shown.pop(user_id, None)
        else:
            self._shown[user_id] = after
        yield from self._moved(user_id, after, guilds_before - guilds, guilds - guilds_before)
        if after != before:
            yield from self._updates(user_id, after, guilds & guilds_before)

    def _moved(self, user_id: int, shown: Shown, gone: set[int], come: set[int]) -> Iterator[Envelope]:
        for guild_id in gone:
            self._not_in(user_id, guild_id)
        for guild_id in come:
            self._online.setdefault(guild_id, set()).add(user_id)
        yield from self._updates(user_id, shown, gone | come if shown is OFFLINE else come)

    def _updates(self, user_id: int, shown: Shown, guild_ids: Iterable[int]) -> Iterator[Envelope]:
        """What to tell the guilds that anybody on this node hears."""
        views = self._hub.views
        return (presence_update(user_id, guild_id, shown) for guild_id in sorted(guild_ids) if guild_id in views)

    def _not_in(self, user_id: int, guild_id: int) -> None:
        online = self._online.get(guild_id)
        if online is not None:
            online.discard(user_id)
            if not online:
                del self._online[guild_id]

    def _seen_in(self, user_id: int, guild_ids: set[int]) -> set[int]:
        return {guild_id for guild_id in guild_ids if user_id in self._online.get(guild_id, ())}

    def _guilds(self, user_id: int) -> set[int]:
        return set[int]().union(*(known.guilds for known in self._known.get(user_id, {}).values()))

    def _leave_guild(self, user_id: int, guild_id: int) -> None:
        """Somebody is no member any more: nobody in the guild is to hear of their presence."""
        self._not_in(user_id, guild_id)
        own = self._own.get(user_id)
        for known in (*self._known.get(user_id, {}).values(), *(() if own is None else (own,))):
            known.guilds.discard(guild_id)

    def _without(self, node: str) -> Iterator[Envelope]:
        self._listing.pop(node, None)
        for user_id in list(self._of_node.pop(node, ())):
            yield from self._apply(node, Fact(user_id, here=False))

    def _forget(self, node: str) -> None:
        self._hub.hear(list(self._without(node)))

    # To the bus

    def _tell(self, facts: list[Fact]) -> None:
        self._publish_node(_FACTS, _Facts(self._node, facts))

    def _publish_node(self, name: str, data: Struct) -> None:
        self._publish([Envelope(name=name, data=Raw(encode(data)), audience=Audience.NODE)])


def _fact(user_id: int, known: _Known) -> Fact:
    return Fact(user_id, here=True, shown=known.shown, guild_ids=tuple(sorted(known.guilds)))
