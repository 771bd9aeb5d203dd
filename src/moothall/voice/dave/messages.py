"""The messages of MLS that the server reads and makes: key packages, proposals, commits and welcomes (RFC 9420)."""

import hashlib
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from moothall.voice.dave.encoding import MlsError, Reader, vector

_VERSION: Final = b"\0\1"
_SUITE: Final = 2
"""DHKEMP256_AES128GCM_SHA256_P256."""
_PUBLIC_MESSAGE: Final = b"\0\1"
_KEY_PACKAGE: Final = b"\0\5"
_BASIC_CREDENTIAL: Final = 1
_FROM_KEY_PACKAGE, _FROM_UPDATE, _FROM_COMMIT = 1, 2, 3
_MEMBER, _EXTERNAL = 1, 2
_PROPOSAL, _COMMIT = 2, 3
_ADD, _REMOVE = b"\0\1", b"\0\3"
_REFERENCE: Final = 2
_FOREVER: Final = (1 << 64) - 1
_SIGNING: Final = ec.ECDSA(SHA256())

APPEND, REVOKE = b"\0", b"\1"
"""The first byte of what is sent of proposals."""


class KeyPackage(NamedTuple):
    """What a client joins a group by."""

    raw: bytes
    reference: bytes
    """By which a welcome names it."""
    user_id: int


class Proposal(NamedTuple):
    """A proposal that the server has made: to add a user, or to remove one from a leaf."""

    message: bytes
    reference: bytes
    user_id: int
    key_package: KeyPackage | None
    """None to remove the user."""
    leaf: int = -1
    """The leaf to be removed."""


class Commit(NamedTuple):
    """What a commit says in the open."""

    message: bytes
    group_id: bytes
    epoch: int
    leaf: int
    """That of the sender."""
    references: tuple[bytes, ...]
    """The proposals that it carries out, in this order."""


class _LeafNode(NamedTuple):
    signature_key: bytes
    identity: bytes
    lifetime: tuple[int, int] | None
    """None but for one of a key package."""


class ExternalSender:
    """The key by which the server signs its proposals."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        public = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.package = vector(public) + _BASIC_CREDENTIAL.to_bytes(2, "big") + vector(b"moothall")
        """Its credential and public key, as clients receive them."""

    def propose_add(self, group_id: bytes, epoch: int, key_package: KeyPackage) -> Proposal:
        """A proposal to add a user."""
        message, reference = self._sign(group_id, epoch, _ADD + key_package.raw)
        return Proposal(message, reference, key_package.user_id, key_package)

    def propose_removal(self, group_id: bytes, epoch: int, leaf: int, user_id: int) -> Proposal:
        """A proposal to remove the user of a leaf."""
        message, reference = self._sign(group_id, epoch, _REMOVE + leaf.to_bytes(4, "big"))
        return Proposal(message, reference, user_id, None, leaf)

    def _sign(self, group_id: bytes, epoch: int, proposal: bytes) -> tuple[bytes, bytes]:
        """A message with a proposal, and its reference."""
        sender = bytes((_EXTERNAL,)) + bytes(4)
        content = vector(group_id) + epoch.to_bytes(8, "big") + sender + vector(b"") + bytes((_PROPOSAL,)) + proposal
        signature = self._key.sign(_labelled("FramedContentTBS", _VERSION + _PUBLIC_MESSAGE + content), _SIGNING)
        authenticated = _PUBLIC_MESSAGE + content + vector(signature)
        return _VERSION + authenticated, _reference("Proposal", authenticated)


def read_key_package(data: bytes) -> KeyPackage:
    """Read a key package, and check its form, its lifetime and its signature. Raises MlsError.

    The protocol says that it is inside a message of MLS, while clients send it as it is: both are taken.
    """
    reader = Reader(data.removeprefix(_VERSION + _KEY_PACKAGE))
    start = reader.position
    if reader.take(2) != _VERSION or reader.integer(2) != _SUITE:
        raise MlsError("the key package is of another cipher suite")
    reader.vector()
    leaf = _read_leaf_node(reader)
    reader.vector()
    signed = reader.since(start)
    _verify(leaf.signature_key, "KeyPackageTBS", signed, reader.vector())
    raw = reader.since(start)
    if not reader.is_at_end or leaf.lifetime != (0, _FOREVER) or len(leaf.identity) != 8:
        raise MlsError("the key package is not of the form that is agreed on")
    return KeyPackage(raw, _reference("KeyPackage", raw), int.from_bytes(leaf.identity, "big"))


def read_commit(data: bytes) -> tuple[Commit, bytes]:
    """Read the message with a commit by a member; what follows it, which is a welcome or empty. Raises MlsError."""
    reader = Reader(data)
    if reader.take(4) != _VERSION + _PUBLIC_MESSAGE:
        raise MlsError("this is no public message")
    group_id, epoch = reader.vector(), reader.integer(8)
    if reader.integer(1) != _MEMBER:
        raise MlsError("the sender is no member")
    leaf = reader.integer(4)
    reader.vector()
    if reader.integer(1) != _COMMIT:
        raise MlsError("this is no commit")
    references = []
    proposals = Reader(reader.vector())
    while not proposals.is_at_end:
        if proposals.integer(1) != _REFERENCE:
            raise MlsError("a commit may have no proposals of its own")
        references.append(proposals.vector())
    if reader.integer(1):
        _read_leaf_node(reader)
        reader.vector()
    for _ in ("signature", "confirmation tag", "membership tag"):
        reader.vector()
    message = reader.since(0)
    return Commit(message, group_id, epoch, leaf, tuple(references)), reader.rest()


def split_welcome(data: bytes) -> dict[bytes, bytes]:
    """The welcomes for each new member, by the references of their key packages. Raises MlsError."""
    reader = Reader(data)
    suite = reader.take(2)
    secrets = Reader(reader.vector())
    start = reader.position
    reader.vector()
    group_info = reader.since(start)
    if not reader.is_at_end:
        raise MlsError("something follows the welcome")
    welcomes = {}
    while not secrets.is_at_end:
        start = secrets.position
        reference = secrets.vector()
        secrets.vector()
        secrets.vector()
        welcomes[reference] = suite + vector(secrets.since(start)) + group_info
    return welcomes


def _read_leaf_node(reader: Reader) -> _LeafNode:
    reader.vector()
    signature_key = reader.vector()
    if reader.integer(2) != _BASIC_CREDENTIAL:
        raise MlsError("the credential is not a basic one")
    identity = reader.vector()
    for _ in ("versions", "cipher suites", "extensions", "proposals", "credentials"):
        reader.vector()
    source = reader.integer(1)
    lifetime = None
    if source == _FROM_KEY_PACKAGE:
        lifetime = reader.integer(8), reader.integer(8)
    elif source == _FROM_COMMIT:
        reader.vector()
    elif source != _FROM_UPDATE:
        raise MlsError("a leaf node is of an unknown source")
    reader.vector()
    reader.vector()
    return _LeafNode(signature_key, identity, lifetime)


def _labelled(label: str, content: bytes) -> bytes:
    return vector(f"MLS 1.0 {label}".encode()) + vector(content)


def _reference(kind: str, value: bytes) -> bytes:
    return hashlib.sha256(vector(f"MLS 1.0 {kind} Reference".encode()) + vector(value)).digest()


def _verify(public_key: bytes, label: str, content: bytes, signature: bytes) -> None:
    try:
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), public_key)
        key.verify(signature, _labelled(label, content), _SIGNING)
    except (InvalidSignature, ValueError):
        raise MlsError("a signature is wrong") from None
