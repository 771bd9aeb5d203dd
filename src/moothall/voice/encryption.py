"""Transport encryption of voice: the modes with `rtpsize`, by which each client has a key of its own.

The header of a packet is authenticated, the rest is encrypted, and the last four bytes are the nonce, which only grows.
"""

import secrets
from collections.abc import Callable
from typing import Final, NamedTuple

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

AES_GCM: Final = "aead_aes256_gcm_rtpsize"
XCHACHA20: Final = "aead_xchacha20_poly1305_rtpsize"
MODES: Final = (AES_GCM, XCHACHA20)
"""In the order in which clients should prefer them."""
KEY_BYTES: Final = 32
TAG_BYTES: Final = 16
NONCE_BYTES: Final = 4

Encrypt = Callable[[bytes, bytes, bytes], bytes]
"""Encrypts data with a nonce of four bytes and a header: (nonce, data, header)."""
Decrypt = Callable[[bytes, bytes, bytes], bytes | None]
"""The inverse; None for what was not encrypted with the key."""


class Cipher(NamedTuple):
    """The functions of one key."""

    encrypt: Encrypt
    decrypt: Decrypt


def new_key() -> bytes:
    """A random key."""
    return secrets.token_bytes(KEY_BYTES)


def cipher(mode: str, key: bytes) -> Cipher:
    """The cipher of a mode. Raises KeyError for an unknown one."""
    return _CIPHERS[mode](key)


def _aes_gcm(key: bytes) -> Cipher:
    aead = AESGCM(key)
    padding = bytes(8)

    def encrypt(nonce: bytes, data: bytes, header: bytes) -> bytes:
        return aead.encrypt(nonce + padding, data, header)

    def decrypt(nonce: bytes, data: bytes, header: bytes) -> bytes | None:
        try:
            return aead.decrypt(nonce + padding, data, header)
        except InvalidTag:
            return None

    return Cipher(encrypt, decrypt)


def _xchacha20(key: bytes) -> Cipher:
    # Few clients prefer it: libsodium is loaded with the first that does.
    from nacl import bindings, exceptions  # noqa: PLC0415

    seal = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt
    open_ = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt
    padding = bytes(20)

    def encrypt(nonce: bytes, data: bytes, header: bytes) -> bytes:
        sealed: bytes = seal(data, header, nonce + padding, key)
        return sealed

    def decrypt(nonce: bytes, data: bytes, header: bytes) -> bytes | None:
        try:
            opened: bytes = open_(data, header, nonce + padding, key)
        except exceptions.CryptoError:
            return None
        return opened

    return Cipher(encrypt, decrypt)


_CIPHERS: Final[dict[str, Callable[[bytes], Cipher]]] = {AES_GCM: _aes_gcm, XCHACHA20: _xchacha20}
