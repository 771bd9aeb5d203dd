"""Proxy tickets, which say to the proxy of an Activity who uses it (Activities: multiplayer experience)."""

import base64
import binascii
import re
from typing import Final

from msgspec import Struct

from moothall.objects.ids import ApplicationId, UserId

PARAMETER: Final = "discord_proxy_ticket"
"""The query parameter that carries a ticket."""
TICKET_SECONDS: Final = 900
"""How long a ticket is valid."""

_TICKET: Final = re.compile(r"([A-Za-z0-9_-]{1,1024})\.([A-Za-z0-9_-]{86})")
_SIGNATURE_BYTES: Final = 64
_IN_QUERY: Final = re.compile(rf"(?:^|(?<=[?&])){PARAMETER}=[^&#]*&?")


class ProxyTicket(Struct, frozen=True):
    """What a ticket says. As JSON it is the payload that targets receive."""

    application_id: ApplicationId
    user_id: UserId
    is_developer: bool
    """Whether the user owns the application or has joined the team that does."""
    created_at: int
    """In Unix seconds."""
    expires_at: int
    """In Unix seconds."""


class SignedPayload(Struct, frozen=True):
    """The payload of a ticket as JSON, with its Ed25519 signature by the key of the application."""

    payload: bytes
    signature: bytes

    def text(self) -> str:
        """The ticket."""
        return f"{_encode(self.payload)}.{_encode(self.signature)}"


def read_ticket(text: str) -> SignedPayload | None:
    """Read a ticket, whose signature the caller checks; None for a text that is none."""
    match = _TICKET.fullmatch(text)
    if match is None:
        return None
    try:
        payload, signature = (base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)) for part in match.groups())
    except binascii.Error:
        return None
    return SignedPayload(payload, signature) if len(signature) == _SIGNATURE_BYTES else None


def without_ticket(text: str) -> str:
    """A query or a URL without its ticket."""
    return _IN_QUERY.sub("", text).rstrip("?&") if PARAMETER in text else text


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
