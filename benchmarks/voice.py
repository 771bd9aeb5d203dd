"""Packets of voice that one core forwards, against a loop that does nothing but receive, encrypt and send.

Both run in this process, one after the other, on the same packets of Opus over the same sockets: a sender's packet is
encrypted for each of the others in its room.
"""

import asyncio
import secrets
import socket
import statistics
import struct
import time
from collections.abc import Callable
from typing import Final

from moothall.voice.datagrams import Datagrams, bind
from moothall.voice.encryption import AES_GCM, Cipher, cipher, new_key
from moothall.voice.link import Participant
from moothall.voice.opcodes import CloseCode
from moothall.voice.rooms import Rooms
from moothall.voice.session import VoiceSession
from moothall.voice.webrtc.description import Offer
from moothall.voice.webrtc.dtls import DtlsContext
from moothall.voice.webrtc.srtp import PROFILES, SrtpSession
from moothall.voice.webrtc.transport import BrowserTransport

ROOMS: Final = {
    "a room of 25": (25, False),
    "a stage of 200 listeners": (201, False),
    "a stage of 200 browsers": (201, True),
}
"""How many are in them, and whether those who listen are browsers."""
BODY: Final = bytes(range(80))
"""A frame of 20 ms at 32 kbit/s."""
_AT_ONCE: Final = 32
"""Packets that wait in the socket before the loop reads them."""
_ROUNDS: Final = 5
_PER_SPEAKER: Final = 50
"""Packets a second of one who speaks."""


class _NoConnection:
    """A connection that takes everything."""

    version = 8

    def send_text(self, message: bytes) -> None:
        """Do nothing."""

    def send_binary(self, message: bytes) -> None:
        """Do nothing."""

    def close(self, code: CloseCode, reason: str) -> None:
        """Do nothing."""


class _Packets:
    """Encrypted packets of one speaker, each with a nonce of its own."""

    def __init__(self, ssrc: int, sealing: Cipher, target: tuple[str, int]) -> None:
        self._ssrc = ssrc
        self._sealing = sealing
        self._number = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.connect(target)

    def send(self, count: int) -> None:
        """Send the next packets."""
        for _ in range(count):
            self._number += 1
            number = self._number.to_bytes(4, "big")
            header = struct.pack(">BBHII", 0x80, 0x78, self._number & 0xFFFF, 960 * self._number, self._ssrc)
            self.socket.send(header + self._sealing.encrypt(number, BODY, header) + number)


def _ears(count: int) -> list[socket.socket]:
    """Sockets that no one reads: the kernel drops what is too much for them."""
    ears = []
    for _ in range(count):
        ear = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        ear.bind(("127.0.0.1", 0))
        ear.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        ears.append(ear)
    return ears


def _rate(packets: _Packets, read: Callable[[], None], seconds: float) -> float:
    """Packets that were read in a second of CPU time."""
    taken, count = 0.0, 0
    while taken < seconds:
        packets.send(_AT_ONCE)
        start = time.thread_time()
        read()
        taken += time.thread_time() - start
        count += _AT_ONCE
    return count / taken


async def _ours(size: int, seconds: float, *, browsers: bool = False) -> float:
    rooms = Rooms(lambda _message: None)
    sockets = bind("127.0.0.1", 0)
    handling = Datagrams(rooms, sockets)
    ears = _ears(size - 1)
    sessions: list[VoiceSession] = []
    for number in range(size):
        session = rooms.open(Participant(1, 2, number, str(number), str(number)), _NoConnection(), 1)
        session.cipher, session.socket = cipher(AES_GCM, new_key()), sockets[0]
        sessions.append(session)
    sealing = sessions[0].cipher
    if sealing is None:
        raise RuntimeError("the speaker has no key")
    packets = _Packets(sessions[0].ssrc, sealing, sockets[0].getsockname())
    for session, address in zip(sessions, [packets.socket, *ears], strict=True):
        rooms.bind(session, address.getsockname())
    speaker = sessions[0]
    if browsers:
        context = await handling.browsers.context()
        for session, ear in zip(sessions[1:], ears, strict=True):
            _make_browser(rooms, session, ear.getsockname(), sockets[0], context)

    def read() -> None:
        speaker._packets = 0  # noqa: SLF001 the limit of packets is not what is measured
        handling.read(sockets[0])

    before = handling.forwarding.forwarded
    rate = _rate(packets, read, seconds)
    if handling.forwarding.forwarded == before:
        raise RuntimeError("nothing was forwarded")
    for each in (*sockets, *ears, packets.socket):
        each.close()
    return rate


def _make_browser(
    rooms: Rooms, session: VoiceSession, address: tuple[str, int], source: socket.socket, context: DtlsContext
) -> None:
    """Let a session be one of a browser that has done its handshake."""
    fingerprint = context.fingerprint
    browser = BrowserTransport(Offer("abcd", fingerprint, 111), context.association(fingerprint))
    rooms.set_browser(session, browser)
    rooms.add_path(session, browser, address, source, 0.0)
    browser.selected = address
    browser.srtp = SrtpSession(PROFILES[b"SRTP_AEAD_AES_128_GCM"].split(secrets.token_bytes(56)))
    rooms.use_path(session, address)


def _bare(size: int, seconds: float) -> float:
    source = bind("127.0.0.1", 0)[0]
    ears = _ears(size - 1)
    sealings = [cipher(AES_GCM, new_key()) for _ in ears]
    addresses = [each.getsockname() for each in ears]
    packets = _Packets(7, cipher(AES_GCM, new_key()), source.getsockname())

    def read() -> None:
        while True:
            try:
                data, _ = source.recvfrom(2048)
            except BlockingIOError:
                return
            header, body, nonce = data[:12], data[12:-20], data[-4:]
            for sealing, address in zip(sealings, addresses, strict=True):
                source.sendto(header + sealing.encrypt(nonce, body, header) + nonce, address)

    rate = _rate(packets, read, seconds)
    for each in (source, *ears, packets.socket):
        each.close()
    return rate


def rows(seconds: float) -> list[tuple[str, float | None, str, str]]:
    """The rows of the table."""
    made: list[tuple[str, float | None, str, str]] = []
    for name, (size, browsers) in ROOMS.items():
        ours, bare = [], []
        for _ in range(_ROUNDS):
            ours.append(asyncio.run(_ours(size, seconds / _ROUNDS, browsers=browsers)))
            bare.append(_bare(size, seconds / _ROUNDS))
        rate, ratio = statistics.median(ours), statistics.median(a / b for a, b in zip(ours, bare, strict=True))
        sent = rate * (size - 1)
        shown = f"{sent:,.0f} packets/s sent; {_PER_SPEAKER / rate:.1%} of a core for each who speaks"
        made.append((f"voice: {name}", ratio, shown, "to a loop that receives, encrypts and sends"))
    return made
