"""Sending a packet to everyone who receives it: each one's copy is encrypted for them alone."""

import asyncio
from contextlib import suppress
from typing import Final

from moothall.voice import packets
from moothall.voice.encryption import NONCE_BYTES
from moothall.voice.opcodes import CloseCode
from moothall.voice.reports import report_header
from moothall.voice.rooms import Rooms
from moothall.voice.session import Address, Sender, VoiceSession

_OWN_SSRC: Final = 1
"""The source of reports."""
_LAST_NONCE: Final = (1 << 32) - 1


def send(source: Sender, data: bytes, address: Address) -> None:
    """Send a datagram, unless the buffer is full or no one listens: sound that is late is of no use."""
    with suppress(OSError):
        source.sendto(data, address)


class Forwarding:
    """Encrypts and sends. Packets come decrypted: a header, and the rest."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._loop = asyncio.get_running_loop()
        self.forwarded = 0
        """Packets that were sent on, for each receiver."""

    def forward(self, session: VoiceSession, header: bytes, body: bytes) -> None:
        """Send a packet of a session to all who receive its sound. Header extensions do not go to browsers."""
        for receiver in session.receivers:
            if receiver is not session:
                self.forwarded += 1
                self._send_encrypted(receiver, header, body)
        if not session.browsers:
            return
        payload = packets.rtp_payload(header, body)
        if payload is None:
            return
        sequence, timestamp = packets.rtp_position(header)
        flags = packets.VERSION_BITS | header[0] & packets.PADDING_BIT, header[1] & packets.MARKER_BIT
        for receiver in session.browsers:
            browser = receiver.browser
            if receiver is session or browser is None or receiver.socket is None or receiver.address is None:
                continue
            packet = browser.encrypted(session.ssrc, sequence, timestamp, flags, payload)
            if packet is not None:
                self.forwarded += 1
                send(receiver.socket, packet, receiver.address)

    def forward_sender_report(self, session: VoiceSession, header: bytes, body: bytes) -> None:
        """Send a sender report of a session to all who receive its sound."""
        for receiver in session.receivers:
            if receiver is not session:
                self._send_encrypted(receiver, header, body)
        size = packets.SENDER_REPORT_BYTES - packets.RTCP_HEADER
        if session.browsers and len(body) >= size:
            plain = packets.sender_report_header(session.ssrc) + body[:size]
            for receiver in session.browsers:
                if receiver is not session:
                    self.send_rtcp(receiver, plain)

    def report(self, session: VoiceSession) -> None:
        """Send a client a receiver report: what has arrived of its packets."""
        block = b""
        if session.reception.received:
            source = session.ssrc if session.browser is None else session.browser.source
            block = session.reception.report(source, self._loop.time())
        header = report_header(_OWN_SSRC, blocks=bool(block))
        if session.browser is None:
            self._send_encrypted(session, header, block)
        else:
            self.send_rtcp(session, header + block)

    def send_rtcp(self, receiver: VoiceSession, plain: bytes) -> None:
        """Send a browser a packet of RTCP."""
        browser = receiver.browser
        if browser is None or receiver.socket is None or receiver.address is None:
            return
        packet = browser.encrypted_rtcp(plain)
        if packet is not None:
            send(receiver.socket, packet, receiver.address)

    def _send_encrypted(self, receiver: VoiceSession, header: bytes, body: bytes) -> None:
        if receiver.cipher is None or receiver.socket is None or receiver.address is None:
            return
        number = receiver.sent = receiver.sent + 1
        if number > _LAST_NONCE:
            # A nonce must not be used twice with one key: the client connects again, and gets another.
            self._loop.call_soon(self._rooms.end, receiver, CloseCode.SERVER_CRASHED, "The key is used up.")
            return
        nonce = number.to_bytes(NONCE_BYTES, "big")
        send(receiver.socket, header + receiver.cipher.encrypt(nonce, body, header) + nonce, receiver.address)
