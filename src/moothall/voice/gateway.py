"""The voice gateway: one connection of a client, whose WebSocket the server carries over the local socket."""

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Final

import msgspec
from msgspec import Struct, json

from moothall.voice.datagrams import Datagrams
from moothall.voice.dave.encoding import MlsError
from moothall.voice.dave.group import DaveOpcode
from moothall.voice.encryption import MODES
from moothall.voice.link import BINARY, CLOSE, TEXT, Hello, framed, read_frame
from moothall.voice.opcodes import NUMBERED, CloseCode, CloseConnection, Opcode
from moothall.voice.protocols import WEBRTC, SelectProtocol, select_udp, select_webrtc
from moothall.voice.rooms import Rooms, speaking_payload, video_payload
from moothall.voice.session import VoiceSession
from moothall.voice.video_forwarding import Video
from moothall.voice.webrtc.description import Codec, DescriptionError, payload_type

log = logging.getLogger("moothall.voice")

HEARTBEAT_MS: Final = 13_750
SILENCE_SECONDS: Final = 1.5 * HEARTBEAT_MS / 1000 + 10
"""How long a client may send nothing."""
IDENTIFY_SECONDS: Final = 10.0
RESUME_SECONDS: Final = 60.0
"""How long a session waits for its client, whose packets are forwarded meanwhile."""
MESSAGES: Final = 240
"""Messages that a client may send in `MESSAGES_SECONDS`."""
MESSAGES_SECONDS: Final = 30.0
UNSENT_BYTES: Final = 1 << 20
"""Bytes that may wait for a client that does not read."""
MAX_WANTS: Final = 1000
"""Sources in one message of opcode 15."""
MAX_SSRC_DIGITS: Final = 10
MAX_RID: Final = 16
"""Characters of the name of a stream."""
CODEC: Final = "opus"
VIDEO_CODEC: Final = "H264"
_BACKEND: Final = {"voice": "1.0.0", "rtc_worker": "1.0.0"}


class StreamRequest(Struct):
    """A stream that a client may send later."""

    type: str
    rid: str
    quality: int = 100


_CAMERA: Final = StreamRequest("video", "100")


class Identify(Struct):
    """Opcode 0. A client with `video` that names no streams may send one of its camera."""

    server_id: int
    user_id: int
    session_id: str
    token: str
    max_dave_protocol_version: int = 0
    video: bool = False
    streams: list[StreamRequest] = []


class SessionUpdate(Struct):
    """Opcode 14."""

    codecs: list[Codec]


class Speaking(Struct):
    """Opcode 5. `ssrc` is the client's own, or 0."""

    speaking: int
    ssrc: int = 0
    delay: int = 0


class NumberedHeartbeat(Struct):
    """Opcode 3 from version 8 on."""

    t: int
    seq_ack: int = -1


class Resume(Struct):
    """Opcode 7."""

    server_id: int
    session_id: str
    token: str
    seq_ack: int = -1


class _Transition(Struct):
    """Opcodes 23 and 31."""

    transition_id: int


class _Message(Struct):
    op: int
    d: msgspec.Raw = msgspec.Raw(b"null")


_decode_message: Final = json.Decoder(_Message).decode
_BODIES: Final[dict[int, Any]] = {
    kind_op: json.Decoder(kind, strict=False).decode
    for kind_op, kind in (
        (Opcode.IDENTIFY, Identify),
        (Opcode.SELECT_PROTOCOL, SelectProtocol),
        (Opcode.SPEAKING, Speaking),
        (Opcode.RESUME, Resume),
        (Opcode.VIDEO, Video),
        (Opcode.MEDIA_SINK_WANTS, dict[str, float]),
        (Opcode.SESSION_UPDATE, SessionUpdate),
        (DaveOpcode.TRANSITION_READY, _Transition),
        (DaveOpcode.INVALID_COMMIT_WELCOME, _Transition),
    )
}
_decode_heartbeat: Final = json.Decoder(NumberedHeartbeat).decode


class ClientConnection:
    """Serves one client from its first message to its end."""

    def __init__(
        self,
        rooms: Rooms,
        hello: Hello,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        media_address: Callable[[str], tuple[str, int]],
        datagrams: Datagrams,
    ) -> None:
        """`media_address` returns where a client sends datagrams."""
        self.version = hello.version
        self._rooms = rooms
        self._hello = hello
        self._reader = reader
        self._writer = writer
        self._media_address = media_address
        self._datagrams = datagrams
        self._session: VoiceSession | None = None
        self._closed = False
        self._loop = asyncio.get_running_loop()
        self._window_end = 0.0
        self._messages = 0

    # Sending

    def send_text(self, message: bytes) -> None:
        """Send a JSON message."""
        self._write(bytes((TEXT,)) + message)

    def send_binary(self, message: bytes) -> None:
        """Send a binary message."""
        self._write(bytes((BINARY,)) + message)

    def close(self, code: CloseCode, reason: str) -> None:
        """Close the connection. Does nothing the second time."""
        if not self._closed:
            self._write(bytes((CLOSE,)) + code.to_bytes(2, "big") + reason.encode())
            self._closed = True
            self._writer.close()

    def _write(self, frame: bytes) -> None:
        if self._closed:
            return
        if self._writer.transport.get_write_buffer_size() > UNSENT_BYTES:
            self._closed = True
            self._writer.transport.abort()
            return
        self._writer.write(framed(frame))

    # Receiving

    async def run(self) -> None:
        """Serve the client until it is gone. Its session waits for it to return, unless it has closed it."""
        self.send_text(json.encode({"op": Opcode.HELLO, "d": {"v": self.version, "heartbeat_interval": HEARTBEAT_MS}}))
        ended_by_client = False
        try:
            while not self._closed:
                frame = await self._next_frame()
                if not frame or frame[0] == CLOSE:
                    code = int.from_bytes(frame[1:3], "big")
                    ended_by_client = code in {1000, 1001, 4014}
                    break
                self._count_message()
                pending = self._handle(frame)
                if pending is not None:
                    await pending
        except CloseConnection as closing:
            session = self._session
            if session is not None and closing.code is not CloseCode.ALREADY_AUTHENTICATED:
                self._rooms.end(session, closing.code, closing.reason)
            self.close(closing.code, closing.reason)
        except (asyncio.IncompleteReadError, OSError, ValueError):
            pass  # the server has lost the client
        finally:
            self._leave(ended_by_client=ended_by_client)

    def _leave(self, *, ended_by_client: bool) -> None:
        self._closed = True
        self._writer.close()
        session = self._session
        if session is None or session.connection is not self:
            return
        if ended_by_client:
            self._rooms.end(session, CloseCode.DISCONNECTED, "Disconnected.")
        else:
            self._rooms.detach(session, self._loop.time() + RESUME_SECONDS)

    async def _next_frame(self) -> bytes:
        silence = SILENCE_SECONDS if self._session is not None else IDENTIFY_SECONDS
        try:
            async with asyncio.timeout(silence):
                return await read_frame(self._reader)
        except TimeoutError:
            if self._session is None:
                raise CloseConnection(CloseCode.NOT_AUTHENTICATED, "Not authenticated.") from None
            raise CloseConnection(CloseCode.SESSION_TIMEOUT, "Session timed out.") from None

    def _count_message(self) -> None:
        now = self._loop.time()
        if now >= self._window_end:
            self._window_end, self._messages = now + MESSAGES_SECONDS, 0
        self._messages += 1
        if self._messages > MESSAGES:
            raise CloseConnection(CloseCode.RATE_LIMITED, "Rate limited.")

    def _handle(self, frame: bytes) -> Coroutine[None, None, None] | None:
        """Handle a message; what there is to wait for before the next one, if anything."""
        if frame[0] == BINARY:
            self._handle_binary(frame[1:])
            return None
        try:
            message = _decode_message(frame[1:])
            handler = _HANDLERS.get(message.op)
            if handler is None:
                raise CloseConnection(CloseCode.UNKNOWN_OPCODE, "Unknown opcode.")
            decode = _BODIES.get(message.op)
            body = message.d if decode is None else decode(message.d)
        except (msgspec.MsgspecError, UnicodeDecodeError):
            raise CloseConnection(CloseCode.DECODE_ERROR, "Failed to decode payload.") from None
        if self._session is None and message.op not in _BEFORE_IDENTIFYING:
            raise CloseConnection(CloseCode.NOT_AUTHENTICATED, "Not authenticated.")
        return handler(self, body)

    def _handle_binary(self, message: bytes) -> None:
        """Handle a message of the group key exchange: an opcode, and what it carries."""
        session = self._required()
        if not message or message[0] not in _BINARY_OPCODES:
            raise CloseConnection(CloseCode.UNKNOWN_OPCODE, "Unknown opcode.")
        try:
            self._rooms.room_of(session).encryption.handle_binary(session, message[0], message[1:])
        except MlsError as problem:
            log.debug("a message of MLS is refused: %s", problem)
            raise CloseConnection(CloseCode.BAD_REQUEST, "Bad request.") from None

    # Opcodes

    def _identify(self, body: Identify) -> None:
        if self._session is not None:
            raise CloseConnection(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated.")
        participant = self._rooms.authenticate(body.server_id, body.user_id, body.session_id, body.token)
        if participant is None:
            raise CloseConnection(CloseCode.AUTHENTICATION_FAILED, "Authentication failed.")
        session = self._session = self._rooms.open(participant, self, max(0, body.max_dave_protocol_version))
        requested = body.streams or [_CAMERA] if body.video else body.streams
        self._rooms.add_streams(session, [(each.type, each.rid[:MAX_RID], each.quality) for each in requested])
        host, port = self._media_address(self._hello.address)
        session.send(
            Opcode.READY,
            {
                "ssrc": session.ssrc,
                "ip": host,
                "port": port,
                "modes": list(MODES),
                "experiments": [],
                "streams": [each.describe(active=False) for each in session.streams],
            },
        )

    async def _select_protocol(self, body: SelectProtocol) -> None:
        session = self._required()
        if body.protocol == WEBRTC:
            address, browsers = self._media_address(self._hello.address), self._datagrams.browsers
            tcp = self._datagrams.has_streams
            description = await select_webrtc(session, body, self._rooms, browsers, address, tcp=tcp)
        else:
            description = select_udp(session, body, self._rooms, self._loop.time())
        if not self._rooms.is_open(session):
            return
        is_new, session.selected = not session.selected, True
        encryption = self._rooms.room_of(session).encryption
        dave_version = encryption.join(session) if is_new else encryption.version
        session.send(
            Opcode.SESSION_DESCRIPTION,
            {
                "audio_codec": CODEC,
                "video_codec": _video_codec(session),
                "media_session_id": f"{session.ssrc:08x}",
                **description,
                "dave_protocol_version": dave_version,
            },
        )
        if session.browser is None:
            # A first datagram: some clients wait with their threads for it, and could not change their socket before.
            self._datagrams.forwarding.report(session)
        if is_new:
            self._introduce(session)
        encryption.welcome(session)

    def _introduce(self, session: VoiceSession) -> None:
        """Tell a newcomer who is there, and the others of the newcomer."""
        room = self._rooms.room_of(session)
        others = [each for each in room.others(session) if each.selected]
        if others:
            session.send(Opcode.CLIENTS_CONNECT, {"user_ids": [str(each.participant.user_id) for each in others]})
        for each in others:
            _present(each, to=session)
            if each.speaking:
                session.send(Opcode.SPEAKING, speaking_payload(each))
        user_id = str(session.participant.user_id)
        for each in room.others(session):
            each.send(Opcode.CLIENTS_CONNECT, {"user_ids": [user_id]})
            _present(session, to=each)

    def _speaking(self, body: Speaking) -> None:
        session = self._required()
        if body.ssrc not in {0, session.ssrc}:
            raise CloseConnection(CloseCode.BAD_REQUEST, "This SSRC is another client's.")
        self._rooms.room_of(session).announce_speaking(session, body.speaking)

    def _heartbeat(self, body: msgspec.Raw) -> None:
        if self.version < NUMBERED:
            nonce = json.decode(body)
            if not isinstance(nonce, int):
                raise CloseConnection(CloseCode.DECODE_ERROR, "Failed to decode payload.")
            self.send_text(json.encode({"op": Opcode.HEARTBEAT_ACK, "d": nonce}))
            return
        try:
            beat = _decode_heartbeat(body)
        except msgspec.MsgspecError:
            raise CloseConnection(CloseCode.DECODE_ERROR, "Failed to decode payload.") from None
        if self._session is not None:
            self._session.acknowledge(beat.seq_ack)
        self.send_text(json.encode({"op": Opcode.HEARTBEAT_ACK, "d": {"t": beat.t}}))

    def _resume(self, body: Resume) -> None:
        if self._session is not None:
            raise CloseConnection(CloseCode.ALREADY_AUTHENTICATED, "Already authenticated.")
        session = self._rooms.find(body.server_id, body.session_id, body.token)
        if session is None:
            raise CloseConnection(CloseCode.SESSION_INVALID, "Session is no longer valid.")
        earlier, session.connection = session.connection, None
        if earlier is not None:
            earlier.close(CloseCode.SESSION_INVALID, "Another connection has resumed.")
        self._session = session
        if not session.resume(self, body.seq_ack if self.version >= NUMBERED else None):
            raise CloseConnection(CloseCode.SESSION_INVALID, "Session is no longer valid.")
        self._rooms.attached(session)

    def _take_ready(self, body: _Transition) -> None:
        session = self._required()
        self._rooms.room_of(session).encryption.handle_ready(session, body.transition_id)

    def _take_invalid(self, _body: _Transition) -> None:
        session = self._required()
        self._rooms.room_of(session).encryption.handle_invalid(session)

    def _take_video(self, body: Video) -> None:
        """Note which streams the client sends beside its microphone."""
        session = self._required()
        if session.streams:
            self._datagrams.video.set_streams(session, body)

    def _take_wants(self, body: dict[str, float]) -> None:
        """Note of which sources the client wants what quality; `any` is that of video that is not named."""
        session = self._required()
        if len(body) > MAX_WANTS:
            raise CloseConnection(CloseCode.BAD_REQUEST, "Too many sources.")
        session.wants = {int(ssrc): quality for ssrc, quality in body.items() if _is_ssrc(ssrc)}
        session.wants_any = body.get("any", 100.0)
        session.unwanted = frozenset(ssrc for ssrc, quality in session.wants.items() if not quality)
        room = self._rooms.room_of(session)
        room.renew_receivers()
        self._datagrams.video.choose(room)

    def _update_session(self, body: SessionUpdate) -> None:
        """Take over the payload type of Opus; that of clients other than browsers is always the same."""
        browser = self._required().browser
        if browser is not None:
            try:
                browser.payload_type = payload_type(body.codecs, [])
            except DescriptionError:
                raise CloseConnection(CloseCode.BAD_REQUEST, "Opus is required.") from None

    def _tell_version(self, _body: object) -> None:
        self.send_text(json.encode({"op": Opcode.VOICE_BACKEND_VERSION, "d": _BACKEND}))

    def _required(self) -> VoiceSession:
        if self._session is None:
            raise CloseConnection(CloseCode.NOT_AUTHENTICATED, "Not authenticated.")
        return self._session


def _present(session: VoiceSession, *, to: VoiceSession) -> None:
    """Tell a client of another one's flags and platform, of which none are known, and a browser of its source."""
    user_id = str(session.participant.user_id)
    to.send(Opcode.CLIENT_FLAGS, {"user_id": user_id, "flags": 0})
    to.send(Opcode.CLIENT_PLATFORM, {"user_id": user_id, "platform": None})
    if to.browser is not None:
        to.send(Opcode.VIDEO, video_payload(session))


def _video_codec(session: VoiceSession) -> str:
    """The codec that a client is to send video with: the one that it prefers of those that are forwarded."""
    codecs = () if session.browser is None else session.browser.offer.video
    return codecs[0].name if codecs else VIDEO_CODEC


def _is_ssrc(text: str) -> bool:
    return text.isdecimal() and len(text) <= MAX_SSRC_DIGITS


_BINARY_OPCODES: Final = frozenset({DaveOpcode.KEY_PACKAGE, DaveOpcode.COMMIT_WELCOME})
_BEFORE_IDENTIFYING: Final = frozenset({Opcode.IDENTIFY, Opcode.RESUME, Opcode.HEARTBEAT, Opcode.VOICE_BACKEND_VERSION})
_HANDLERS: Final[dict[int, Callable[[ClientConnection, Any], Coroutine[None, None, None] | None]]] = {
    Opcode.IDENTIFY: ClientConnection._identify,  # noqa: SLF001
    Opcode.SELECT_PROTOCOL: ClientConnection._select_protocol,  # noqa: SLF001
    Opcode.HEARTBEAT: ClientConnection._heartbeat,  # noqa: SLF001
    Opcode.SPEAKING: ClientConnection._speaking,  # noqa: SLF001
    Opcode.RESUME: ClientConnection._resume,  # noqa: SLF001
    Opcode.VIDEO: ClientConnection._take_video,  # noqa: SLF001
    Opcode.MEDIA_SINK_WANTS: ClientConnection._take_wants,  # noqa: SLF001
    Opcode.SESSION_UPDATE: ClientConnection._update_session,  # noqa: SLF001
    DaveOpcode.TRANSITION_READY: ClientConnection._take_ready,  # noqa: SLF001
    DaveOpcode.INVALID_COMMIT_WELCOME: ClientConnection._take_invalid,  # noqa: SLF001
    Opcode.VOICE_BACKEND_VERSION: ClientConnection._tell_version,  # noqa: SLF001
}
