"""Binding requests of STUN with short-term credentials, as ICE sends them, and their answers (RFC 8489, 8445)."""

import hmac
import ipaddress
import struct
import zlib
from typing import Final, NamedTuple

HEADER: Final = 20
_MAGIC: Final = 0x2112A442
_MAGIC_BYTES: Final = _MAGIC.to_bytes(4, "big")
_REQUEST: Final = 0x0001
_SUCCESS: Final = 0x0101
_ERROR: Final = 0x0111
_FINGERPRINT_XOR: Final = 0x5354554E
_INTEGRITY_BYTES: Final = 20
_ROLE_CONFLICT: Final = struct.pack(">BBBB", 0, 0, 4, 87) + b"Role Conflict"

_USERNAME: Final = 0x0006
_MESSAGE_INTEGRITY: Final = 0x0008
_ERROR_CODE: Final = 0x0009
_XOR_MAPPED_ADDRESS: Final = 0x0020
_PRIORITY: Final = 0x0024
_USE_CANDIDATE: Final = 0x0025
_FINGERPRINT: Final = 0x8028
_ICE_CONTROLLED: Final = 0x8029
_OPTIONAL: Final = 0x8000
"""Attributes from here on may be ignored by those who do not know them."""
_KNOWN: Final = frozenset({_USERNAME, _PRIORITY, _USE_CANDIDATE})


class BindingRequest(NamedTuple):
    """A request whose integrity is not yet verified."""

    data: bytes
    transaction: bytes
    username: str
    """The user name of the server's side, a colon, and that of the client's."""
    nominates: bool
    is_controlled: bool
    """Whether the client takes the role that only the server has."""
    integrity_at: int
    """Where the attribute of the integrity begins."""

    def is_authentic(self, password: str) -> bool:
        """Whether the request was made by who knows a password."""
        at = self.integrity_at
        expected = _integrity(self.data[:at], password)
        return hmac.compare_digest(expected, self.data[at + 4 : at + 4 + _INTEGRITY_BYTES])


def is_stun(data: bytes) -> bool:
    """Whether a datagram is a message of STUN."""
    return len(data) >= HEADER and data[0] < 4 and data[4:8] == _MAGIC_BYTES


def read_binding_request(data: bytes) -> BindingRequest | None:
    """Read a binding request of ICE; None for any other datagram, and one that lacks what ICE requires."""
    kind, size = struct.unpack_from(">HH", data)
    if kind != _REQUEST or size != len(data) - HEADER:
        return None
    attributes, integrity_at = _signed_attributes(data)
    if integrity_at is None or not _ends_with_fingerprint(data, integrity_at + 4 + _INTEGRITY_BYTES):
        return None
    username = attributes.get(_USERNAME, b"")
    has_unknown = any(each < _OPTIONAL and each not in _KNOWN for each in attributes)
    if has_unknown or _PRIORITY not in attributes or not username.isascii():
        return None
    return BindingRequest(
        data,
        data[8:HEADER],
        username.decode("ascii"),
        nominates=_USE_CANDIDATE in attributes,
        is_controlled=_ICE_CONTROLLED in attributes,
        integrity_at=integrity_at,
    )


def _signed_attributes(data: bytes) -> tuple[dict[int, bytes], int | None]:
    """The attributes before that of the integrity, and where that one begins; None if there is none, or none whole."""
    attributes: dict[int, bytes] = {}
    at = HEADER
    while at + 4 <= len(data):
        attribute, length = struct.unpack_from(">HH", data, at)
        value = data[at + 4 : at + 4 + length]
        if len(value) != length:
            break
        if attribute == _MESSAGE_INTEGRITY:
            return attributes, at if length == _INTEGRITY_BYTES else None
        attributes[attribute] = value
        at += 4 + (length + 3) // 4 * 4
    return attributes, None


def success(request: BindingRequest, host: str, port: int, password: str) -> bytes:
    """The answer to a request: from where it came."""
    address = ipaddress.ip_address(host.partition("%")[0])
    mask = _MAGIC_BYTES + request.transaction
    packed = bytes(each ^ other for each, other in zip(address.packed, mask, strict=False))
    family = 1 if address.version == 4 else 2
    value = struct.pack(">BBH", 0, family, port ^ _MAGIC >> 16) + packed
    return _finished(_SUCCESS, request, _attribute(_XOR_MAPPED_ADDRESS, value), password)


def role_conflict(request: BindingRequest, password: str) -> bytes:
    """The answer to a client that takes the server's role."""
    return _finished(_ERROR, request, _attribute(_ERROR_CODE, _ROLE_CONFLICT), password)


def _ends_with_fingerprint(data: bytes, at: int) -> bool:
    """Whether a message ends at a place with a fingerprint that is right, as every message of ICE does."""
    if len(data) != at + 8 or data[at : at + 4] != struct.pack(">HH", _FINGERPRINT, 4):
        return False
    return data[at + 4 :] == (zlib.crc32(data[:at]) ^ _FINGERPRINT_XOR).to_bytes(4, "big")


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack(">HH", kind, len(value)) + value + bytes(-len(value) % 4)


def _integrity(message: bytes, password: str) -> bytes:
    """The integrity of a message up to that attribute, whose length is counted in."""
    size = len(message) - HEADER + 4 + _INTEGRITY_BYTES
    return hmac.digest(password.encode(), message[:2] + size.to_bytes(2, "big") + message[4:], "sha1")


def _finished(kind: int, request: BindingRequest, attributes: bytes, password: str) -> bytes:
    message = struct.pack(">HH", kind, len(attributes)) + _MAGIC_BYTES + request.transaction + attributes
    message += _attribute(_MESSAGE_INTEGRITY, _integrity(message, password))
    size = len(message) - HEADER + 8
    message = message[:2] + size.to_bytes(2, "big") + message[4:]
    return message + _attribute(_FINGERPRINT, (zlib.crc32(message) ^ _FINGERPRINT_XOR).to_bytes(4, "big"))
