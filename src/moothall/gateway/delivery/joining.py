"""A session that is joining a guild: what its GUILD_CREATE has, and which of the events meanwhile follow it."""

from collections import deque
from typing import Final

from msgspec import Struct

from moothall.bus import Envelope
from moothall.gateway.audience.event_payloads import MemberData, read_member, read_user_id
from moothall.gateway.audience.guild_view import GuildView, MemberView, PendingEvent
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.objects.ids import ChannelId, UserId


class Joining(Struct, eq=False):
    """A session that is about to receive a guild's events, which are kept for it meanwhile."""

    session: Session
    view: GuildView
    member: MemberView
    visible: frozenset[ChannelId]
    """The channels that are sent to it with the guild."""
    managed: frozenset[ChannelId]
    """Those in which it manages threads, and so is sent private ones."""
    pending: deque[PendingEvent]
    selective: bool
    """Whether it receives only what it subscribes to."""
    member_version: int = 0
    """The number of the last join or leave that the session's GUILD_CREATE has; 0 without one."""
    presences: set[UserId] = set()
    """The users whose presence was sent to the session after GUILD_CREATE."""

    def set_snapshot(self, snapshot: GuildSnapshot) -> None:
        """Note how recent GUILD_CREATE is about members, and what it has of the session's own one.

        A member who has other sessions here is kept up to date by the view.
        """
        self.member_version = snapshot.member_version
        own = snapshot.member(self.session.user_id)
        if own is not None and not self._is_shared:
            MemberData.of(own).apply(self.member)
            self.member.version = snapshot.member_version

    @property
    def _is_shared(self) -> bool:
        return self.view.members.get(self.session.user_id) is self.member

    def drop_events_before_membership(self) -> None:
        """Drop the events from before the session's user joined the guild."""
        for index, (envelope, _) in enumerate(self.pending):
            if envelope.name in _COUNTED and self._is_own(envelope):
                for _ in range(index if envelope.name == "GUILD_MEMBER_ADD" else 0):
                    self.pending.popleft()
                break

    def has_in_snapshot(self, event: PendingEvent) -> bool:
        """Whether GUILD_CREATE has what an event says of a member.

        One that lists the session's own user may not count them yet.
        """
        envelope = event.envelope
        if envelope.name == "GUILD_MEMBER_ADD" and not (envelope.member_version and self.member_version):
            return self._is_own(envelope)
        return envelope.name in _MEMBER_EVENTS and event.version is not None and event.version < self.member_version

    def note_presence(self, envelope: Envelope) -> None:
        """Note that an event was sent after GUILD_CREATE, if it is a presence."""
        if envelope.name == "PRESENCE_UPDATE":
            self.presences.update(envelope.user_ids)

    def has_presence(self, user_id: UserId) -> bool:
        """Whether the presence of a user was sent after GUILD_CREATE."""
        return user_id in self.presences

    def apply_to_member(self, envelope: Envelope) -> bool:
        """Apply an event to the session's own member; False if they leave the guild by it."""
        if envelope.name in _MEMBER_EVENTS and self._is_own(envelope):
            if envelope.name == "GUILD_MEMBER_REMOVE":
                return False
            if not self._is_shared:
                read_member(envelope.data).apply(self.member)
        return True

    def _is_own(self, envelope: Envelope) -> bool:
        return read_user_id(envelope.data) == self.session.user_id


_MEMBER_EVENTS: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"})
_COUNTED: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE"})
