"""DTLS with browsers: the server's certificate, and handshakes that give the keys of SRTP (RFC 6347, 5764)."""

import datetime as dt
import hmac
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from OpenSSL import SSL, crypto

from moothall.voice.webrtc.description import Fingerprint
from moothall.voice.webrtc.srtp import PROFILES, SrtpKeys

_DTLS_1_2: Final = 0xFEFD
_MTU: Final = 1200
_RECORD_HEADER: Final = 13
_BUFFER: Final = 16 * 1024
_VALID: Final = dt.datetime(2020, 1, 1, tzinfo=dt.UTC), dt.datetime(2100, 1, 1, tzinfo=dt.UTC)
"""Whatever the clock says: peers know the certificate by its fingerprint alone."""
_KEY_TYPES: Final = frozenset({crypto.TYPE_RSA, crypto.TYPE_EC})
_MAX_KEY_BITS: Final = 4096
_DIGESTS: Final = {"sha-256": "sha256", "sha-384": "sha384", "sha-512": "sha512"}
_CIPHERS: Final = b"ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305"
_LABEL: Final = b"EXTRACTOR-dtls_srtp"
MAX_RETRANSMISSIONS: Final = 7
"""How often a flight is sent again, after 1, 2, 4 seconds and so on."""


class DtlsFailed(Exception):
    """A handshake failed, or the client has closed the association."""


class DtlsContext:
    """The certificate of this process, and what all handshakes have in common."""

    def __init__(self) -> None:
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "voice")])
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(_VALID[0])
            .not_valid_after(_VALID[1])
            .sign(key, hashes.SHA256())
        )
        self.fingerprint = Fingerprint("sha-256", certificate.fingerprint(hashes.SHA256()))
        context = self._context = SSL.Context(SSL.DTLS_SERVER_METHOD)
        context.set_min_proto_version(_DTLS_1_2)
        context.set_options(SSL.OP_NO_TICKET | SSL.OP_NO_QUERY_MTU | SSL.OP_NO_RENEGOTIATION)
        context.set_session_cache_mode(SSL.SESS_CACHE_OFF)
        context.set_cipher_list(_CIPHERS)
        context.set_tmp_ecdh(ec.SECP256R1())
        context.set_tlsext_use_srtp(b":".join(PROFILES))
        context.set_verify_depth(0)
        context.set_verify(SSL.VERIFY_PEER | SSL.VERIFY_FAIL_IF_NO_PEER_CERT, _is_expected)
        context.use_certificate(certificate)
        context.use_privatekey(key)

    def association(self, fingerprint: Fingerprint) -> "DtlsAssociation":
        """An association that waits for the client with the certificate of a fingerprint."""
        return DtlsAssociation(self._context, fingerprint)


class DtlsAssociation:
    """One handshake, and what comes after it. Datagrams go in by `receive`, out by what it returns."""

    def __init__(self, context: SSL.Context, fingerprint: Fingerprint) -> None:
        self.fingerprint = fingerprint
        self.keys: SrtpKeys | None = None
        """Those of SRTP, once the handshake is done."""
        self._retransmissions = 0
        self._connection = SSL.Connection(context, None)
        self._connection.set_app_data(fingerprint)
        self._connection.set_accept_state()
        self._connection.set_ciphertext_mtu(_MTU)

    def receive(self, data: bytes) -> list[bytes]:
        """Take a datagram; the datagrams to answer with. Raises DtlsFailed, of which the client is not told."""
        self._connection.bio_write(data)
        try:
            if self.keys is None:
                self._connection.do_handshake()
                self.keys = self._export_keys()
            else:
                self._connection.recv(_MTU)
        except SSL.WantReadError:
            pass
        except SSL.Error as error:
            raise DtlsFailed(repr(error)) from None
        return self._pending()

    def timeout(self) -> float | None:
        """Seconds until the last flight is to be sent again; None if it is not."""
        return None if self.keys is not None else self._connection.DTLSv1_get_timeout()

    def retransmit(self) -> list[bytes]:
        """The last flight again. Raises DtlsFailed once that has been often enough."""
        self._retransmissions += 1
        if self._retransmissions > MAX_RETRANSMISSIONS:
            raise DtlsFailed("the client does not answer")
        try:
            self._connection.DTLSv1_handle_timeout()
        except SSL.Error as error:
            raise DtlsFailed(repr(error)) from None
        return self._pending()

    def _export_keys(self) -> SrtpKeys:
        profile = PROFILES.get(self._connection.get_selected_srtp_profile())
        if profile is None:
            raise DtlsFailed("the client has no known profile of SRTP")
        material = self._connection.export_keying_material(_LABEL, 2 * (profile.key_bytes + profile.salt_bytes))
        return profile.split(material)

    def _pending(self) -> list[bytes]:
        """What the library wants to send: whole records, as many as one datagram takes."""
        data = b""
        while True:
            try:
                data += self._connection.bio_read(_BUFFER)
            except SSL.WantReadError:
                break
        datagrams: list[bytes] = []
        at = start = 0
        while at < len(data):
            size = _RECORD_HEADER + int.from_bytes(data[at + 11 : at + 13], "big")
            if at > start and at + size - start > _MTU:
                datagrams.append(data[start:at])
                start = at
            at += size
        if data:
            datagrams.append(data[start:])
        return datagrams


def _is_expected(connection: SSL.Connection, certificate: crypto.X509, _error: int, depth: int, _valid: int) -> bool:
    """Whether a client's certificate, which it has signed itself, is the one that it has announced."""
    # It may be any bytes: nothing is parsed before the digest is that which was announced.
    expected: Fingerprint = connection.get_app_data()
    digest = bytes.fromhex(certificate.digest(_DIGESTS[expected.algorithm]).decode("ascii").replace(":", ""))
    if depth or not hmac.compare_digest(digest, expected.digest):
        return False
    try:
        key = certificate.get_pubkey()
    except crypto.Error:
        return False
    return key.type() in _KEY_TYPES and key.bits() <= _MAX_KEY_BITS
