"""The rooms: who is in which voice channel, and who hears whom."""

import hmac
import secrets
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from moothall.voice.dave.group import RoomEncryption
from moothall.voice.dave.messages import ExternalSender
from moothall.voice.link import Connected, Departure, Everyone, Participant
from moothall.voice.opcodes import CloseCode, Opcode
from moothall.voice.session import Address, Connection, Sender, VoiceSession
from moothall.voice.video.media_stream import TYPES, MediaStream, set_leads
from moothall.voice.webrtc.description import Offer
from moothall.voice.webrtc.transport import BrowserTransport

_SSRCS: Final = 1 << 32
_OWN_SSRC: Final = 1
"""That of the server's reports."""
MAX_STREAMS: Final = 8
"""Streams that a client may have beside its microphone: two layers of a camera and of a screen, and its sound."""

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
        """Decide anew who receives whose packets: called whenever that may have changed, not for each packet.

        All who speak share the same receivers and are among them, apart from those whom someone does not want to hear.
        """
        hearing = [each for each in self.members.values() if each.participant.may_hear and each.address is not None]
        others = tuple(each for each in hearing if each.browser is None)
        browsers = tuple(each for each in hearing if each.browser is not None)
        unwanted: set[int] = set()
        for each in hearing:
            unwanted |= each.unwanted
        for session in self.members.values():
            if not session.participant.may_speak:
                session.receivers = session.browsers = ()
            elif session.ssrc in unwanted:
                session.receivers = tuple(each for each in others if session.ssrc not in each.unwanted)
                session.browsers = tuple(each for each in browsers if session.ssrc not in each.unwanted)
            else:
                session.receivers, session.browsers = others, browsers

    def announce_speaking(self, session: VoiceSession, speaking: int) -> None:
        """Tell the others whether a session speaks, as far as it may."""
        allowed = _SPEAKING_BITS if session.participant.may_speak_with_priority else _SPEAKING_BITS & ~PRIORITY
        session.speaking = speaking & allowed if session.participant.may_speak else 0
        self.send_to_others(session, Opcode.SPEAKING, speaking_payload(session))


def speaking_payload(session: VoiceSession) -> dict[str, object]:
    """The data of Speaking as other clients receive it."""
    return {"speaking": session.speaking, "ssrc": session.ssrc, "user_id": str(session.participant.user_id)}


def video_payload(session: VoiceSession) -> dict[str, object]:
    """The data of Video as other clients receive it: which sources of a session they may receive."""
    active = session.active_streams()
    camera = next((each.lead for each in active if each.kind == "video"), None)
    return {
        "user_id": str(session.participant.user_id),
        "audio_ssrc": session.ssrc,
        "video_ssrc": 0 if camera is None else camera.ssrc,
        **({} if camera is None else {"rtx_ssrc": camera.rtx_ssrc}),
        "streams": [each.describe(active=True) for each in active],
    }


class Rooms:
    """All participants and sessions. `report` is called when a session begins or ends."""

    def __init__(self, report: Callable[[Connected], None]) -> None:
        self._report = report
        self.participants: dict[tuple[int, int], Participant] = {}
        self.sessions: dict[tuple[int, int], VoiceSession] = {}
        self.by_ssrc: dict[int, VoiceSession] = {}
        self.by_stream: dict[int, VoiceSession] = {}
        """Who sends a stream beside the microphone, by its SSRCs."""
        self.by_address: dict[Address, VoiceSession] = {}
        self.by_ufrag: dict[str, VoiceSession] = {}
        """Browsers, by the user names of the server's side of ICE."""
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

    def add_streams(self, session: VoiceSession, requested: Iterable[tuple[str, str, int]]) -> None:
        """Give SSRCs to the streams that a client may send later: kind, RID and quality of each."""
        streams: dict[str, MediaStream] = {}
        for kind, rid, quality in requested:
            if kind not in TYPES or rid in streams or len(streams) == MAX_STREAMS:
                continue
            ssrcs = [self._new_ssrc(), self._new_ssrc()]
            self.by_stream |= dict.fromkeys(ssrcs, session)
            streams[rid] = MediaStream(kind, rid, max(1, min(quality, 100)), *ssrcs)
        set_leads(list(streams.values()))
        session.streams = tuple(streams.values())

    def is_open(self, session: VoiceSession) -> bool:
        """Whether a session has not ended."""
        return self.sessions.get(session.key) is session

    def room_of(self, session: VoiceSession) -> Room:
        """The room that a session is in."""
        return self.rooms[session.participant.channel_id]

    def is_taken(self, address: Address, session: VoiceSession, now: float) -> bool:
        """Whether another client uses an address, which a session must not take from it."""
        other = self.by_address.get(address)
        return other is not None and other is not session and other.is_heard(now)

    def bind(self, session: VoiceSession, address: Address) -> None:
        """Let a session send from an address and receive there."""
        if session.address is not None:
            self.by_address.pop(session.address, None)
        self._release(address, session)
        session.address = address
        self.by_address[address] = session
        self.room_of(session).renew_receivers()

    def _release(self, address: Address, session: VoiceSession) -> None:
        """Take an address from the session that has it, if that is another one."""
        earlier = self.by_address.get(address)
        if earlier is None or earlier is session:
            return
        if earlier.browser is not None:
            earlier.browser.remove_path(address)
        if earlier.address == address:
            earlier.address = None
            self.room_of(earlier).renew_receivers()

    # Browsers

    def set_browser(self, session: VoiceSession, browser: BrowserTransport | None) -> None:
        """Let a session have a transport, or none; it receives nothing until the transport is ready."""
        earlier = session.browser
        if earlier is not None:
            for address in earlier.paths:
                self.by_address.pop(address, None)
            for own in earlier.credentials:
                self.by_ufrag.pop(own.ufrag, None)
            earlier.close()
        elif session.address is not None:
            self.by_address.pop(session.address, None)
        session.address = None
        session.browser = browser
        if earlier is not None and earlier.video is not None:
            earlier.video.close()
            self._renew_streams(session)
        if browser is not None:
            session.cipher, session.mode = None, ""
            self.by_ufrag[browser.credentials[0].ufrag] = session
        self.room_of(session).renew_receivers()

    @staticmethod
    def _renew_streams(session: VoiceSession) -> None:
        """Forget what has come of a session's streams: another peer connection numbers its packets anew."""
        renewed = [MediaStream(old.kind, old.rid, old.quality, old.ssrc, old.rtx_ssrc) for old in session.streams]
        set_leads(renewed)
        session.streams, session.announced_wants = tuple(renewed), {}

    def restart_browser(self, session: VoiceSession, browser: BrowserTransport, offer: Offer) -> None:
        """Give a browser new credentials, and go on with its keys."""
        oldest = browser.credentials[-1].ufrag if len(browser.credentials) > 1 else ""
        browser.restart(offer)
        self.by_ufrag.pop(oldest, None)
        self.by_ufrag[browser.credentials[0].ufrag] = session

    def add_path(
        self, session: VoiceSession, browser: BrowserTransport, address: Address, source: Sender, now: float
    ) -> bool:
        """Note from where an authentic check of a browser came; False for an address that another client uses."""
        if self.is_taken(address, session, now):
            return False
        self._release(address, session)
        self.by_address[address] = session
        removed = browser.add_path(address, source, now)
        if removed is not None:
            del self.by_address[removed]
        return True

    def lose_path(self, address: Address) -> None:
        """Forget an address of a browser, whose connection has ended."""
        session = self.by_address.get(address)
        if session is not None and session.browser is not None:
            del self.by_address[address]
            session.browser.remove_path(address)
            if session.address == address:
                self.use_path(session, None)

    def use_path(self, session: VoiceSession, address: Address | None) -> None:
        """Let a browser receive at one of its addresses, or not at all."""
        if session.address != address and session.browser is not None:
            session.address = address
            session.socket = None if address is None else session.browser.paths[address]
            self.room_of(session).renew_receivers()

    # The course of a session

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
        if not self.is_open(session):
            return
        del self.sessions[session.key]
        self._detached.discard(session)
        self.by_ssrc.pop(session.ssrc, None)
        for stream in session.streams:
            del self.by_stream[stream.ssrc], self.by_stream[stream.rtx_ssrc]
        room = self.room_of(session)
        self.set_browser(session, None)
        session.receivers = session.browsers = ()
        del room.members[session.participant.user_id]
        if room.members:
            room.renew_receivers()
            for each in room.members.values():
                each.send(Opcode.CLIENT_DISCONNECT, {"user_id": str(session.participant.user_id)})
                if each.browser is not None:
                    each.browser.forget(session.ssrc)
                    for stream in session.streams:
                        each.browser.forget_stream(stream)
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
            if ssrc > _OWN_SSRC and ssrc not in self.by_ssrc and ssrc not in self.by_stream:
                return ssrc
