"""A session that is joining a guild: what its GUILD_CREATE has, and which of the events meanwhile follow it."""

from collections import deque
from typing import Final

from msgspec import Struct

from moothall.bus import Envelope
from moothall.gateway.audience.event_payloads import read_member, read_user_id
from moothall.gateway.audience.guild_view import GuildView, MemberView
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
    pending: deque[Envelope]
    selective: bool
    """Whether it receives only what it subscribes to."""
    state_version: int = 0
    """The number of the last event that the session's GUILD_CREATE has surely; 0 without one."""
    presences: set[UserId] = set()
    """The users whose presence was sent to the session after GUILD_CREATE."""

    def set_snapshot(self, snapshot: GuildSnapshot) -> None:
        """Note how recent GUILD_CREATE is.

        What it has of the session's own one is not taken from it: events change the member, as they change the view.
        """
        self.state_version = snapshot.state_version

    def drop_events_before_membership(self) -> None:
        """Drop the events from before the session's user joined the guild."""
        for index, envelope in enumerate(self.pending):
            if envelope.name in _COUNTED and self._is_own(envelope):
                for _ in range(index if envelope.name == "GUILD_MEMBER_ADD" else 0):
                    self.pending.popleft()
                break

    def has_in_snapshot(self, envelope: Envelope) -> bool:
        """Whether GUILD_CREATE has what an event says of a member or a thread.

        One that lists the session's own user may not count them yet.
        """
        if envelope.name == "GUILD_MEMBER_ADD" and not (envelope.state_version and self.state_version):
            return self._is_own(envelope)
        if not 0 < envelope.state_version <= self.state_version:
            return False
        return envelope.name in _MEMBER_EVENTS or (
            envelope.name in _THREAD_EVENTS and envelope.channel_id in self.visible
        )

    def note_presence(self, envelope: Envelope) -> None:
        """Note that an event was sent after GUILD_CREATE, if it is a presence."""
        if envelope.name == "PRESENCE_UPDATE":
            self.presences.update(envelope.user_ids)

    def has_presence(self, user_id: UserId) -> bool:
        """Whether the presence of a user was sent after GUILD_CREATE."""
        return user_id in self.presences

    def ends(self) -> bool:
        """Whether the session's user leaves the guild by an event that is to follow GUILD_CREATE."""
        return any(self.ends_by(envelope) and not self.has_in_snapshot(envelope) for envelope in self.pending)

    def ends_by(self, envelope: Envelope) -> bool:
        """Whether the session's user leaves the guild by an event."""
        return envelope.name == "GUILD_MEMBER_REMOVE" and self._is_own(envelope)

    def _is_own(self, envelope: Envelope) -> bool:
        return read_user_id(envelope.data) == self.session.user_id


def update_own_member(member: MemberView, envelope: Envelope) -> None:
    """Apply an event of a guild to the member of a session that is joining it, if it is newer than what is known.

    Raises LookupError for one who joins again as a guest.
    """
    if envelope.name not in _MEMBER_EVENTS or read_user_id(envelope.data) != member.user_id:
        return
    if not member.lacks(envelope):
        return
    if envelope.name == "GUILD_MEMBER_UPDATE":
        read_member(envelope.data).apply(member, envelope.state_version)
    elif envelope.name == "GUILD_MEMBER_ADD":
        read_member(envelope.data).rejoin(member, envelope.state_version)
    elif envelope.name == "GUILD_MEMBER_REMOVE":
        member.left = True
        member.state_version = envelope.state_version or member.state_version


_MEMBER_EVENTS: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_UPDATE", "GUILD_MEMBER_REMOVE"})
_COUNTED: Final = frozenset({"GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE"})
_THREAD_EVENTS: Final = frozenset({"THREAD_CREATE", "THREAD_UPDATE", "THREAD_DELETE", "THREAD_MEMBERS_UPDATE"})
