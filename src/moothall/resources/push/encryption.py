"""The keys, encryption and signature of Web Push (RFC 8291, RFC 8292)."""

import base64
import binascii
import os
from typing import Final
from urllib.parse import urlsplit

from moothall.objects.wire import Timestamp

_SECRET_BYTES: Final = 32
_AUTH_BYTES: Final = 16
_VALID_SECONDS: Final = 12 * 3600


def encode_key(data: bytes) -> str:
    """Bytes as base64url without padding, as Web Push writes keys."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decode_key(text: str) -> bytes:
    """The bytes of a key. Raises ValueError."""
    try:
        return base64.b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4), altchars=b"-_", validate=True)
    except binascii.Error as problem:
        raise ValueError("Expected base64url") from problem


def new_private_key() -> str:
    """Make a private key for the setting `push_private_key`."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 see VapidKey

    number = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encode_key(number.to_bytes(_SECRET_BYTES))


def check_subscriber_keys(p256dh: str, auth: str) -> None:
    """Raise ValueError unless these are the keys of a browser: a point of the curve, and 16 bytes."""
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415 see VapidKey

    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_key(p256dh))
    if len(decode_key(auth)) != _AUTH_BYTES:
        raise ValueError("Expected 16 bytes")


class VapidKey:
    """The server's key. `contact` is where push services may write to: a mailto: or https: URL."""

    def __init__(self, private_key: str, contact: str) -> None:
        # Long to import, and few servers push: those that do import them when they start.
        import http_ece  # noqa: F401, PLC0415
        import jwt  # noqa: F401, PLC0415
        from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat  # noqa: PLC0415

        self._key = ec.derive_private_key(int.from_bytes(decode_key(private_key)), ec.SECP256R1())
        self._contact = contact
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.public_key = encode_key(point)
        """As browsers take it."""

    def authorization(self, endpoint: str, now: Timestamp) -> str:
        """The Authorization header of a request to a push service."""
        import jwt  # noqa: PLC0415 see __init__

        parts = urlsplit(endpoint)
        claims = {
            "aud": f"{parts.scheme}://{parts.netloc}",
            "exp": now // 1000 + _VALID_SECONDS,
            "sub": self._contact,
        }
        return f"vapid t={jwt.encode(claims, self._key, algorithm='ES256')}, k={self.public_key}"


def encrypt(payload: bytes, p256dh: str, auth: str) -> bytes:
    """Encrypt a payload for a browser, so that its push service cannot read it. Takes about a millisecond."""
    import http_ece  # noqa: PLC0415 see VapidKey
    from cryptography.hazmat.primitives.asymmetric import ec  # noqa: PLC0415

    sealed: bytes = http_ece.encrypt(
        payload,
        salt=os.urandom(16),
        private_key=ec.generate_private_key(ec.SECP256R1()),
        dh=decode_key(p256dh),
        auth_secret=decode_key(auth),
        version="aes128gcm",
    )
    return sealed
