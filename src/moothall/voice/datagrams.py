"""The datagrams: address discovery, and packets that are forwarded to everyone in the room who may hear them.

A packet counts only if it comes from the address that its session has selected, is encrypted with the session's key,
and is new. It is encrypted again for each receiver, whose key no one else has. No answer is larger than its question.
"""

import asyncio
import logging
import socket
from collections.abc import Iterable
from contextlib import suppress
from typing import Final

from moothall.voice import packets
from moothall.voice.encryption import NONCE_BYTES
from moothall.voice.opcodes import CloseCode
from moothall.voice.reports import report_header
from moothall.voice.rooms import Rooms
from moothall.voice.session import Address, VoiceSession

log = logging.getLogger("moothall.voice")

_AT_ONCE: Final = 64
"""Datagrams that are read before other tasks have a turn."""
_BUFFER_BYTES: Final = 1 << 20
_OWN_SSRC: Final = 1
"""The source of reports."""
_LAST_NONCE: Final = (1 << 32) - 1


def bind(host: str, port: int) -> list[socket.socket]:
    """Bind sockets at all addresses of a host (empty: of this machine), with one port; 0 is any free port.

    Raises OSError.
    """
    sockets: list[socket.socket] = []
    candidates = socket.getaddrinfo(host or None, port, type=socket.SOCK_DGRAM, flags=socket.AI_PASSIVE)
    for family, kind, protocol, _, address in sorted(candidates, key=lambda entry: entry[0] == socket.AF_INET6):
        try:
            bound = socket.socket(family, kind, protocol)
        except OSError:
            if not sockets:
                raise
            continue  # a machine without IPv6
        bound.settimeout(0.0)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            bound.setsockopt(socket.SOL_SOCKET, option, _BUFFER_BYTES)
        if family == socket.AF_INET6:
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        try:
            bound.bind((address[0], port, *address[2:]))
        except OSError as error:
            for unused in (*sockets, bound):
                unused.close()
            raise OSError(f"cannot receive voice at {address[0]} port {port}: {error.strerror}") from error
        port = bound.getsockname()[1]
        sockets.append(bound)
    return sockets


class Datagrams:
    """Receives at some sockets, and sends."""

    def __init__(self, rooms: Rooms, sockets: Iterable[socket.socket]) -> None:
        self._rooms = rooms
        self._sockets = list(sockets)
        self._loop = asyncio.get_running_loop()
        self.dropped = 0
        """Datagrams that belonged to no session, or were not authentic, new or allowed."""
        self.forwarded = 0
        """Datagrams that were sent on, for each receiver."""

    @property
    def port(self) -> int:
        """The port."""
        return int(self._sockets[0].getsockname()[1])

    def start(self) -> None:
        """Receive from now on."""
        for each in self._sockets:
            self._loop.add_reader(each.fileno(), self.read, each)

    def close(self) -> None:
        """Receive no longer."""
        for each in self._sockets:
            self._loop.remove_reader(each.fileno())
            each.close()

    def read(self, source: socket.socket) -> None:
        """Handle the datagrams that wait in a socket, up to a number that leaves time for other tasks."""
        receive, handle = source.recvfrom, self.handle
        for _ in range(_AT_ONCE):
            try:
                data, address = receive(packets.MAX_PACKET + 1)
            except (BlockingIOError, InterruptedError):
                return
            except OSError:
                continue  # an earlier datagram could not be delivered
            try:
                handle(source, data, address)
            except Exception:
                log.exception("a datagram could not be handled")

    def handle(self, source: socket.socket, data: bytes, address: Address) -> None:
        """Handle a datagram that arrived at one of the sockets."""
        session = self._rooms.by_address.get(address)
        if session is None or len(data) == packets.DISCOVERY_BYTES:
            ssrc = packets.read_discovery(data)
            if ssrc is not None:
                self._discover(source, ssrc, address)
                return
        now = self._loop.time()
        if session is None or session.socket is not source or not session.may_send(now):
            self.dropped += 1
        elif packets.is_keepalive(data):
            pass  # it has kept a mapping of the client's network alive on its way
        elif len(data) <= packets.MAX_PACKET and packets.is_rtcp(data):
            self._forward(session, data, packets.RTCP_HEADER, packets.rtcp_ssrc(data), now)
        elif len(data) <= packets.MAX_PACKET and (size := packets.rtp_header_size(data)):
            self._forward(session, data, size, packets.rtp_ssrc(data), now)
        else:
            self.dropped += 1

    def _discover(self, source: socket.socket, ssrc: int, address: Address) -> None:
        """Answer a request of address discovery of a session that has no address yet."""
        session = self._rooms.by_ssrc.get(ssrc)
        if session is None or not session.may_send(self._loop.time()):
            self.dropped += 1
            return
        session.socket = session.socket if session.address is not None else source
        if address not in session.discovered:
            session.discovered.append(address)
        _send(source, packets.discovery_answer(ssrc, address[0], address[1]), address)

    def _forward(self, session: VoiceSession, data: bytes, header_size: int, ssrc: int, now: float) -> None:
        """Decrypt a packet, and send it encrypted to all who receive the session's packets."""
        cipher = session.cipher
        nonce = data[-NONCE_BYTES:]
        number = int.from_bytes(nonce, "big")
        if ssrc != session.ssrc or cipher is None or not session.window.may_take(number):
            self.dropped += 1
            return
        header = data[:header_size]
        body = cipher.decrypt(nonce, data[header_size:-NONCE_BYTES], header)
        if body is None:
            self.dropped += 1
            return
        session.window.take(number)
        if header_size == packets.RTCP_HEADER:
            if data[1] != packets.SENDER_REPORT:
                return  # what a client has received of others, which are told by `report`
        else:
            sequence, timestamp = packets.rtp_position(data)
            session.reception.add(sequence, timestamp, now)
        self.forwarded += len(session.receivers)
        for receiver in session.receivers:
            self._send_encrypted(receiver, header, body)

    def report(self, session: VoiceSession) -> None:
        """Send a client a receiver report: what has arrived of its packets."""
        if session.reception.received:
            block = session.reception.report(session.ssrc)
            self._send_encrypted(session, report_header(_OWN_SSRC, blocks=1), block)
        else:
            self._send_encrypted(session, report_header(_OWN_SSRC, blocks=0), b"")

    def _send_encrypted(self, receiver: VoiceSession, header: bytes, body: bytes) -> None:
        if receiver.cipher is None or receiver.socket is None or receiver.address is None:
            return
        number = receiver.sent = receiver.sent + 1
        if number > _LAST_NONCE:
            # A nonce must not be used twice with one key: the client connects again, and gets another.
            self._loop.call_soon(self._rooms.end, receiver, CloseCode.SERVER_CRASHED, "The key is used up.")
            return
        nonce = number.to_bytes(NONCE_BYTES, "big")
        _send(receiver.socket, header + receiver.cipher.encrypt(nonce, body, header) + nonce, receiver.address)


def _send(source: socket.socket, data: bytes, address: Address) -> None:
    # Where the buffer is full, or no one listens: sound that is late is of no use.
    with suppress(OSError):
        source.sendto(data, address)
