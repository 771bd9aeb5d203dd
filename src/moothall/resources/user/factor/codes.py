"""Codes of second factors: time-based one-time passwords (RFC 6238), and backup codes."""

import base64
import binascii
import hmac
import secrets
from typing import Final

import pyotp

STEP_SECONDS: Final = 30
STEPS_OFF: Final = 1
"""By how many steps the clock of a device may be off, either way."""
BACKUP_CODES: Final = 10
_BACKUP_LENGTH: Final = 8
_ALPHABET: Final = "abcdefghijkmnopqrstuvwxyz0123456789"
"""Without the letter l, which looks like the digit 1."""
_SECRET_BYTES_MIN: Final = 16
_SECRET_BYTES_MAX: Final = 64


def read_secret(text: str) -> str | None:
    """A TOTP secret in base32 without spaces and padding; None unless it has 16 to 64 bytes (RFC 4226, section 4)."""
    secret = text.replace(" ", "").replace("-", "").rstrip("=").upper()
    try:
        length = len(base64.b32decode(secret + "=" * (-len(secret) % 8)))
    except (binascii.Error, ValueError):
        return None
    return secret if _SECRET_BYTES_MIN <= length <= _SECRET_BYTES_MAX else None


def matching_step(secret: str, code: str, *, now: int, after: int) -> int | None:
    """The time step of a TOTP code, if it is one of those around `now` in milliseconds; None if the code is wrong.

    Steps up to `after` are refused: their codes may have been used.
    """
    totp = pyotp.TOTP(secret)
    current = now // 1000 // STEP_SECONDS
    written = code.replace(" ", "").encode("utf-8", "surrogatepass")
    matches = [
        step
        for step in range(current - STEPS_OFF, current + STEPS_OFF + 1)
        if hmac.compare_digest(totp.generate_otp(step).encode(), written)
    ]
    return next((step for step in matches if step > after), None)


def new_backup_codes() -> list[str]:
    """Make ten different codes of eight characters, 40 random bits each."""
    codes: set[str] = set()
    while len(codes) < BACKUP_CODES:
        codes.add("".join(secrets.choice(_ALPHABET) for _ in range(_BACKUP_LENGTH)))
    return sorted(codes)


def new_key() -> str:
    """Make the key of a mail, of eight characters."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_BACKUP_LENGTH))


def read_backup_code(text: str) -> str:
    """A backup code as it was made: in lower case, without the hyphen and spaces that it is written with."""
    return text.replace(" ", "").replace("-", "").lower()
