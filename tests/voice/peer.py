"""The browser's side of ICE, DTLS and SRTP, said message by message: it sends exactly what a test wants."""

import asyncio
import contextlib
import hmac
import secrets
import socket
import struct
import zlib
from typing import Any, Final

import pylibsrtp
from aiortc import RTCCertificate
from OpenSSL import SSL

from moothall.voice.video.codecs import VideoCodec
from moothall.voice.webrtc.description import Credentials, Fingerprint, Offer
from moothall.voice.webrtc.extensions import Extensions
from moothall.voice.webrtc.srtp import PROFILES, SrtpKeys

MAGIC: Final = b"\x21\x12\xa4\x42"
USE_CANDIDATE: Final = 0x0025
ICE_CONTROLLED: Final = 0x8029
ICE_CONTROLLING: Final = 0x802A
PAYLOAD_TYPE: Final = 111
SSRC: Final = 0xABCDEF
VIDEO: Final = (VideoCodec("VP8", 96, 97), VideoCodec("H264", 98, 99))
EXTENSIONS: Final = Extensions(transport_sequence=3, send_time=4, stream_id=10, repaired_stream_id=11)


def attribute(kind: int, value: bytes) -> bytes:
    """An attribute of STUN."""
    return struct.pack(">HH", kind, len(value)) + value + bytes(-len(value) % 4)


def binding_request(
    username: str, password: str, *, role: int = ICE_CONTROLLING, nominates: bool = True, fingerprint: bool = True
) -> bytes:
    """A binding request as a browser sends it."""
    attributes = attribute(0x0006, username.encode()) + attribute(0xC057, bytes(4)) + attribute(role, bytes(8))
    attributes += attribute(USE_CANDIDATE, b"") if nominates else b""
    attributes += attribute(0x0024, b"\x6e\x7f\x1e\xff")
    head = MAGIC + secrets.token_bytes(12) + attributes
    signed = struct.pack(">HH", 1, len(attributes) + 24) + head
    message = signed + attribute(0x0008, hmac.digest(password.encode(), signed, "sha1"))
    if fingerprint:
        message = message[:2] + struct.pack(">H", len(message) - 20 + 8) + message[4:]
        message += attribute(0x8028, struct.pack(">I", zlib.crc32(message) ^ 0x5354554E))
    return message


class Peer:
    """A browser's side. `fingerprint` is the one that it announces, by default that of its certificate."""

    def __init__(
        self,
        server: tuple[str, int],
        fingerprint: Fingerprint | None = None,
        video: tuple[VideoCodec, ...] = (),
    ) -> None:
        self.server = server
        self.certificate = RTCCertificate.generateCertificate()
        own = next(each for each in self.certificate.getFingerprints() if each.algorithm == "sha-256")
        self.ufrag = secrets.token_hex(4)
        announced = fingerprint or Fingerprint("sha-256", bytes.fromhex(own.value.replace(":", "")))
        self.offer = Offer(self.ufrag, announced, PAYLOAD_TYPE, video, EXTENSIONS if video else Extensions())
        self.credentials = Credentials("", "")
        """The server's."""
        self.session: Any = None
        """What the server knows of it, where a test has both."""
        self.socket = self.new_socket()
        self._ssl = SSL.Connection(self._context(), None)
        self._ssl.set_connect_state()
        self.sending: pylibsrtp.Session | None = None
        self.receiving: pylibsrtp.Session | None = None

    def _context(self) -> SSL.Context:
        context = SSL.Context(SSL.DTLS_METHOD)
        context.set_verify(SSL.VERIFY_PEER, lambda *_: True)
        context.use_certificate(self.certificate._cert)
        context.use_privatekey(self.certificate._key)
        context.set_tlsext_use_srtp(b":".join(PROFILES))
        return context

    def new_socket(self) -> socket.socket:
        """Another way to the server."""
        made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        made.setblocking(False)
        made.connect(self.server)
        return made

    def close(self) -> None:
        """Close the socket."""
        self.socket.close()

    async def receive(self, source: socket.socket | None = None, *, seconds: float = 5.0) -> bytes | None:
        """The next datagram; None if there is none in time."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().sock_recv(source or self.socket, 2048)
        except TimeoutError:
            return None

    def request(self, **options: Any) -> bytes:
        """A binding request with the right credentials."""
        return binding_request(f"{self.credentials.ufrag}:{self.ufrag}", self.credentials.password, **options)

    async def check(self, source: socket.socket | None = None, **options: Any) -> bytes | None:
        """Send a binding request; its answer, which other datagrams may precede."""
        (source or self.socket).send(self.request(**options))
        while (data := await self.receive(source, seconds=1.0)) is not None:
            if data[4:8] == MAGIC:
                return data
        return None

    def flight(self) -> bytes:
        """What the client's side of DTLS sends next."""
        with contextlib.suppress(SSL.Error):  # it waits, or has failed
            self._ssl.do_handshake()
        try:
            return self._ssl.bio_read(8192)
        except SSL.WantReadError:
            return b""

    def renew(self) -> None:
        """Begin anew, as another peer connection: with another certificate, and no keys."""
        again = Peer(self.server, video=self.offer.video)
        again.socket.close()
        self.certificate, self.ufrag, self.offer = again.certificate, again.ufrag, again.offer
        self._ssl, self.sending, self.receiving = again._ssl, None, None

    def answers(self) -> list[bytes]:
        """The datagrams that have come."""
        received: list[bytes] = []
        with contextlib.suppress(OSError):
            while True:
                received.append(self.socket.recv(2048))
        return received

    def feed(self, data: bytes) -> None:
        """Take a datagram of DTLS; once the handshake is done, there are keys."""
        if self.sending is not None or data[0] not in range(20, 64):
            return
        self._ssl.bio_write(data)
        try:
            self._ssl.do_handshake()
        except SSL.Error:
            return
        profile = PROFILES[self._ssl.get_selected_srtp_profile()]
        size = 2 * (profile.key_bytes + profile.salt_bytes)
        keys: SrtpKeys = profile.split(self._ssl.export_keying_material(b"EXTRACTOR-dtls_srtp", size))
        self.sending = self._session(keys.profile, keys.client, pylibsrtp.Policy.SSRC_ANY_OUTBOUND)
        self.receiving = self._session(keys.profile, keys.server, pylibsrtp.Policy.SSRC_ANY_INBOUND)

    async def handshake(self) -> bool:
        """Do the handshake; whether the server has finished it."""
        while self.sending is None:
            self.socket.send(self.flight())
            answer = await self.receive(seconds=1.0)
            if answer is None:
                return False
            self.feed(answer)
        return True

    @staticmethod
    def _session(profile: int, key: bytes, kind: int) -> pylibsrtp.Session:
        return pylibsrtp.Session(pylibsrtp.Policy(key=key, ssrc_type=kind, srtp_profile=profile))

    def packet(self, payload: bytes, sequence: int, *, ssrc: int = SSRC, payload_type: int = PAYLOAD_TYPE) -> bytes:
        """An encrypted packet, with an extension as browsers send it."""
        assert self.sending is not None
        header = struct.pack(">BBHII", 0x90, payload_type, sequence & 0xFFFF, 960 * sequence & 0xFFFFFFFF, ssrc)
        return self.sending.protect(header + b"\xbe\xde\0\1\x10\xaa\0\0" + payload)

    def extended(self, payload: bytes, extension: bytes, sequence: int, *, ssrc: int, payload_type: int) -> bytes:
        """An encrypted packet with a header extension, whose bytes are a multiple of four."""
        assert self.sending is not None
        header = struct.pack(">BBHII", 0x90, payload_type, sequence & 0xFFFF, 3000 * sequence & 0xFFFFFFFF, ssrc)
        head = struct.pack(">HH", 0xBEDE, len(extension) // 4)
        return self.sending.protect(header + head + extension + payload)

    async def hear(self, source: socket.socket | None = None, *, seconds: float = 5.0) -> tuple[int, int, bytes] | None:
        """SSRC, sequence number and payload of the next packet of sound; None if there is none in time."""
        assert self.receiving is not None
        while (data := await self.receive(source, seconds=seconds)) is not None:
            if data[0] >> 6 == 2 and data[1] not in range(192, 224):
                plain = self.receiving.unprotect(data)
                assert plain[0] == 0x80
                assert plain[1] & 0x7F == PAYLOAD_TYPE
                return int.from_bytes(plain[8:12], "big"), int.from_bytes(plain[2:4], "big"), plain[12:]
        return None
