"""The codes of invites."""

import secrets
import string
from typing import Final

_LETTERS: Final = string.ascii_letters + string.digits
_CODE_LENGTH: Final = 10
"""Almost 60 random bits, so that codes cannot be guessed."""


def random_code() -> str:
    """A random invite code."""
    return "".join(secrets.choice(_LETTERS) for _ in range(_CODE_LENGTH))
