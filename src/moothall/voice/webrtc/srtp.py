"""SRTP with browsers (RFC 3711, 7714): the profiles, and the two directions of one association."""

from contextlib import suppress
from typing import Final, NamedTuple

import pylibsrtp

WINDOW: Final = 1024
"""How many packets below the highest one may arrive late."""


class SrtpKeys(NamedTuple):
    """The keys and salts of both directions, for the session objects of the library."""

    profile: int
    client: bytes
    server: bytes


class _Profile(NamedTuple):
    number: int
    key_bytes: int
    salt_bytes: int

    def split(self, material: bytes) -> SrtpKeys:
        """The keys of both sides from exported keying material (RFC 5764, 4.2)."""
        key, salt = self.key_bytes, self.salt_bytes
        salts = material[2 * key :]
        return SrtpKeys(self.number, material[:key] + salts[:salt], material[key : 2 * key] + salts[salt:])


PROFILES: Final[dict[bytes, _Profile]] = {
    b"SRTP_AEAD_AES_128_GCM": _Profile(pylibsrtp.Policy.SRTP_PROFILE_AEAD_AES_128_GCM, 16, 12),
    b"SRTP_AES128_CM_SHA1_80": _Profile(pylibsrtp.Policy.SRTP_PROFILE_AES128_CM_SHA1_80, 16, 14),
}
"""By the names of OpenSSL, the preferred one first."""


class SrtpSession:
    """Encrypts what goes to one client, and decrypts what comes from it. Each packet number is used once."""

    __slots__ = ("_inbound", "_outbound")

    def __init__(self, keys: SrtpKeys) -> None:
        self._inbound = _session(keys.profile, keys.client, pylibsrtp.Policy.SSRC_ANY_INBOUND)
        self._outbound = _session(keys.profile, keys.server, pylibsrtp.Policy.SSRC_ANY_OUTBOUND)

    def decrypt(self, packet: bytes) -> bytes | None:
        """A packet of RTP, decrypted; None for one that is not authentic, or not new."""
        try:
            return self._inbound.unprotect(packet)
        except (pylibsrtp.Error, ValueError):
            return None

    def decrypt_rtcp(self, packet: bytes) -> bytes | None:
        """A packet of RTCP, decrypted; None for one that is not authentic, or not new."""
        try:
            return self._inbound.unprotect_rtcp(packet)
        except (pylibsrtp.Error, ValueError):
            return None

    def encrypt(self, packet: bytes) -> bytes | None:
        """A packet of RTP, encrypted; None for a number that was used before, and one that is too long."""
        try:
            return self._outbound.protect(packet)
        except (pylibsrtp.Error, ValueError):
            return None

    def encrypt_rtcp(self, packet: bytes) -> bytes | None:
        """A packet of RTCP, encrypted; None where that cannot be."""
        try:
            return self._outbound.protect_rtcp(packet)
        except (pylibsrtp.Error, ValueError):
            return None

    def forget(self, ssrc: int) -> None:
        """Free what is kept of a source that sends no more."""
        with suppress(pylibsrtp.Error):  # of one that has sent nothing
            self._outbound.remove_stream(ssrc)


def _session(profile: int, key: bytes, kind: int) -> pylibsrtp.Session:
    policy = pylibsrtp.Policy(key=key, ssrc_type=kind, srtp_profile=profile)
    policy.window_size = WINDOW
    return pylibsrtp.Session(policy)
