"""Select Protocol: how a client sends and receives sound, by datagrams of its own (`udp`) or WebRTC (`webrtc`)."""

import ipaddress
from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.voice.browsers import Browsers
from moothall.voice.encryption import MODES, cipher, new_key
from moothall.voice.opcodes import CloseCode, CloseConnection
from moothall.voice.packets import ReplayWindow
from moothall.voice.rooms import Rooms
from moothall.voice.session import Address, VoiceSession
from moothall.voice.webrtc.description import Codec, DescriptionError, answer, read_offer

UDP: Final = "udp"
WEBRTC: Final = "webrtc"


class ProtocolData(Struct):
    """Where the client receives, and how its packets are encrypted."""

    address: str
    port: int
    mode: str


class SelectProtocol(Struct):
    """Opcode 1. `data` is a `ProtocolData`, or a description in SDP, which `sdp` may have as well."""

    protocol: str
    data: Any = None
    sdp: str | None = None
    codecs: list[Codec] = []


def select_udp(session: VoiceSession, body: SelectProtocol, rooms: Rooms, now: float) -> dict[str, object]:
    """Let a session send encrypted datagrams; its fields of Session Description. Raises CloseConnection."""
    if body.protocol != UDP:
        raise CloseConnection(CloseCode.UNKNOWN_PROTOCOL, "Unknown protocol.")
    try:
        data = msgspec.convert(body.data, ProtocolData, strict=False)
    except msgspec.ValidationError:
        raise CloseConnection(CloseCode.DECODE_ERROR, "Failed to decode payload.") from None
    if data.mode not in MODES:
        raise CloseConnection(CloseCode.UNKNOWN_ENCRYPTION_MODE, "Unknown encryption mode.")
    address = _discovered(session, data)
    if address is None:
        raise CloseConnection(CloseCode.BAD_REQUEST, "Select the address that was discovered.")
    if rooms.is_taken(address, session, now):
        raise CloseConnection(CloseCode.BAD_REQUEST, "Another client uses this address.")
    key = new_key()
    if session.browser is not None:
        rooms.set_browser(session, None)
    session.mode, session.cipher = data.mode, cipher(data.mode, key)
    session.sent = 0
    session.window = ReplayWindow()
    rooms.bind(session, address)
    return {"mode": session.mode, "secret_key": list(key)}


async def select_webrtc(
    session: VoiceSession,
    body: SelectProtocol,
    rooms: Rooms,
    browsers: Browsers,
    address: tuple[str, int],
    *,
    tcp: bool,
) -> dict[str, object]:
    """Let a session use WebRTC; its fields of Session Description. Raises CloseConnection.

    `address` is where the client sends datagrams, and where it connects with `tcp`. Nothing is changed where the
    session has ended meanwhile.
    """
    description = body.data if isinstance(body.data, str) else body.sdp
    try:
        offer = read_offer(description or "", body.codecs)
    except DescriptionError as error:
        raise CloseConnection(CloseCode.BAD_REQUEST, f"Bad request: {error}.") from None
    if not address[0]:
        raise CloseConnection(CloseCode.SERVER_CRASHED, "The address of the server is not known.")
    context = await browsers.context()
    if not rooms.is_open(session):
        return {}
    browser = browsers.select(session, offer, context)
    return {"sdp": answer(*address, browser.credentials[0], context.fingerprint, tcp=tcp)}


def _discovered(session: VoiceSession, data: ProtocolData) -> Address | None:
    """The address from which the client asked for its address, if it is the one that it selects."""
    try:
        selected = ipaddress.ip_address(data.address)
    except ValueError:
        return None
    for address in session.discovered:
        if address[1] == data.port and ipaddress.ip_address(address[0]) == selected:
            return address
    return None
