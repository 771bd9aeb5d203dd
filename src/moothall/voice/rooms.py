"""The rooms: who is in which voice channel, and who hears whom."""

import hmac
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from moothall.voice.dave.group import RoomEncryption
from moothall.voice.dave.messages import ExternalSender
from moothall.voice.link import Connected, Departure, Everyone, Participant
from moothall.voice.opcodes import CloseCode, Opcode
from moothall.voice.session import Address, Connection, VoiceSession

_SSRCS: Final = 1 << 32

PRIORITY: Final = 4
"""The bit of Speaking that lowers the others' volume."""
_SPEAKING_BITS: Final = 7


class Room:
    """The sessions in one voice channel, by user."""

    __slots__ = ("channel_id", "encryption", "members")

    def __init__(self, channel_id: int, sender: ExternalSender) -> None:
        self.channel_id = channel_id
        self.members: dict[int, VoiceSession] = {}
        self.encryption = RoomEncryption(channel_id, sender)

    def others(self, session: VoiceSession) -> Iterator[VoiceSession]:
        """The other sessions."""
        return (each for each in self.members.values() if each is not session)

    def send_to_others(self, session: VoiceSession, op: int, data: object) -> None:
        """Send a message to all other sessions."""
        for each in self.others(session):
            each.send(op, data)

    def renew_receivers(self) -> None:
        """Decide anew who receives whose packets: called whenever that may have changed, not for each packet."""
        hearing = [each for each in self.members.values() if each.participant.may_hear and each.address is not None]
        for session in self.members.values():
            if session.participant.may_speak:
                session.receivers = tuple(each for each in hearing if each is not session)
            else:
                session.receivers = ()

    def announce_speaking(self, session: VoiceSession, speaking: int) -> None:
        """Tell the others whether a session speaks, as far as it may."""
        allowed = _SPEAKING_BITS if session.participant.may_speak_with_priority else _SPEAKING_BITS & ~PRIORITY
        session.speaking = speaking & allowed if session.participant.may_speak else 0
        self.send_to_others(session, Opcode.SPEAKING, speaking_payload(session))


def speaking_payload(session: VoiceSession) -> dict[str, object]:
    """The data of Speaking as other clients receive it."""
    return {"speaking": session.speaking, "ssrc": session.ssrc, "user_id": str(session.participant.user_id)}


class Rooms:
    """All participants and sessions. `report` is called when a session begins or ends."""

    def __init__(self, report: Callable[[Connected], None]) -> None:
        self._report = report
        self.participants: dict[tuple[int, int], Participant] = {}
        self.sessions: dict[tuple[int, int], VoiceSession] = {}
        self.by_ssrc: dict[int, VoiceSession] = {}
        self.by_address: dict[Address, VoiceSession] = {}
        self.rooms: dict[int, Room] = {}
        self._detached: set[VoiceSession] = set()
        self._sender = ExternalSender()

    # What the server tells

    def replace_all(self, everyone: Everyone) -> None:
        """Take over who is in voice; the sessions of others end."""
        current = {(each.guild_id, each.user_id): each for each in everyone.participants}
        for guild_id, user_id in list(self.participants):
            if (guild_id, user_id) not in current:
                self.remove(Departure(guild_id, user_id))
        for each in current.values():
            self.update(each)

    def update(self, participant: Participant) -> None:
        """Take over what is known of a participant. Their session ends if it was of another channel or session."""
        key = participant.guild_id, participant.user_id
        self.participants[key] = participant
        session = self.sessions.get(key)
        if session is None:
            return
        if session.participant.token != participant.token:
            self.end(session, CloseCode.DISCONNECTED, "Disconnected.")
            return
        session.participant = participant
        room = self.rooms[participant.channel_id]
        room.renew_receivers()
        if session.speaking and not participant.may_speak:
            room.announce_speaking(session, 0)

    def remove(self, departure: Departure) -> None:
        """End the session of someone who has left voice in a guild."""
        key = departure.guild_id, departure.user_id
        self.participants.pop(key, None)
        session = self.sessions.get(key)
        if session is not None:
            self.end(session, CloseCode.DISCONNECTED, "Disconnected.")

    # Sessions

    def authenticate(self, guild_id: int, user_id: int, session_id: str, token: str) -> Participant | None:
        """The participant of these ids, if the token is theirs."""
        participant = self.participants.get((guild_id, user_id))
        if participant is None:
            return None
        matches = hmac.compare_digest(participant.token.encode(), token.encode())
        return participant if matches and participant.session_id == session_id else None

    def find(self, guild_id: int, session_id: str, token: str) -> VoiceSession | None:
        """The session to resume: of this guild, gateway session and token."""
        for (guild, _), session in self.sessions.items():
            known = session.participant
            if guild == guild_id and known.session_id == session_id:
                return session if hmac.compare_digest(known.token.encode(), token.encode()) else None
        return None

    def open(self, participant: Participant, connection: Connection, dave_version: int) -> VoiceSession:
        """Begin the session of a participant; an earlier one of theirs ends."""
        key = participant.guild_id, participant.user_id
        earlier = self.sessions.get(key)
        if earlier is not None:
            self.end(earlier, CloseCode.SESSION_INVALID, "Another connection has identified.")
        session = VoiceSession(participant, self._new_ssrc(), connection, dave_version)
        self.sessions[key] = session
        self.by_ssrc[session.ssrc] = session
        room = self.rooms.get(participant.channel_id)
        if room is None:
            room = self.rooms[participant.channel_id] = Room(participant.channel_id, self._sender)
        room.members[participant.user_id] = session
        self._report(Connected(*key, connected=True))
        return session

    def room_of(self, session: VoiceSession) -> Room:
        """The room that a session is in."""
        return self.rooms[session.participant.channel_id]

    def bind(self, session: VoiceSession, address: Address) -> None:
        """Let a session send from an address and receive there."""
        if session.address is not None:
            self.by_address.pop(session.address, None)
        earlier = self.by_address.get(address)
        if earlier is not None and earlier is not session:
            earlier.address = None
            self.room_of(earlier).renew_receivers()
        session.address = address
        self.by_address[address] = session
        self.room_of(session).renew_receivers()

    def detach(self, session: VoiceSession, expires_at: float) -> None:
        """Let a session wait for its client, whose connection is lost, until a time."""
        session.connection = None
        session.expires_at = expires_at
        self._detached.add(session)

    def attached(self, session: VoiceSession) -> None:
        """A session has a connection again."""
        self._detached.discard(session)

    def end_expired(self, now: float) -> None:
        """End the sessions whose clients have not returned."""
        for session in [each for each in self._detached if each.expires_at <= now]:
            self.end(session, CloseCode.SESSION_TIMEOUT, "Session timed out.")

    def end(self, session: VoiceSession, code: CloseCode, reason: str) -> None:
        """End a session and close its connection; the others in the room hear of it. Does nothing the second time."""
        if self.sessions.get(session.key) is not session:
            return
        del self.sessions[session.key]
        self._detached.discard(session)
        self.by_ssrc.pop(session.ssrc, None)
        if session.address is not None and self.by_address.get(session.address) is session:
            del self.by_address[session.address]
        session.address = None
        session.receivers = ()
        room = self.room_of(session)
        del room.members[session.participant.user_id]
        if room.members:
            room.renew_receivers()
            for each in room.members.values():
                each.send(Opcode.CLIENT_DISCONNECT, {"user_id": str(session.participant.user_id)})
            room.encryption.leave(session.user_id)
        else:
            room.encryption.close()
            del self.rooms[room.channel_id]
        connection, session.connection = session.connection, None
        if connection is not None:
            connection.close(code, reason)
        self._report(Connected(*session.key, connected=False))

    def end_all(self, sessions: Iterable[VoiceSession], code: CloseCode, reason: str) -> None:
        """End several sessions."""
        for session in list(sessions):
            self.end(session, code, reason)

    def _new_ssrc(self) -> int:
        while True:
            ssrc = secrets.randbelow(_SSRCS)
            if ssrc and ssrc not in self.by_ssrc:
                return ssrc
