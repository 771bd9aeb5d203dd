"""The tickets of requests to Activities, and what the proxy tells targets because of them.

A page receives its ticket in its address. Its requests carry it in their own query, by the Referer header, or as a
cookie that the proxy sets. Only requests of pages of the Activity's origin are served by the cookie.
"""

import base64
import re
from functools import lru_cache
from typing import Final

import msgspec
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from msgspec import Struct

from moothall.activities.headers import header
from moothall.activities.origin import ActivityOrigins
from moothall.objects.clock import CLOCK
from moothall.objects.ids import ApplicationId
from moothall.objects.proxy_ticket import PARAMETER, ProxyTicket, read_ticket
from moothall.objects.wire import decoder
from moothall.runtime.asgi import Scope

_COOKIE: Final = "moothall_proxy_ticket"
_TEXT: Final = r"[A-Za-z0-9_.-]+"
_IN_QUERY: Final = re.compile(rf"(?:^|[?&]){PARAMETER}=({_TEXT})")
_SAME_ORIGIN: Final = "same-origin"
_KEPT: Final = 4_096


class VerifiedTicket(Struct, frozen=True):
    """A ticket whose signature has been verified."""

    text: str
    ticket: ProxyTicket
    headers: tuple[tuple[bytes, bytes], ...]
    """What targets receive: the payload, its signature, and the time when it was made."""


class Tickets:
    """Reads the tickets of requests, and verifies each once."""

    def __init__(self, origins: ActivityOrigins) -> None:
        self._origins = origins
        self._cookie = ("__Host-" if origins.secure else "") + _COOKIE
        self._in_cookies = re.compile(rf"(?:^|;\s*){self._cookie}=({_TEXT})")
        self._verify = lru_cache(maxsize=_KEPT)(_verify)

    def in_query(self, scope: Scope, application_id: ApplicationId, verify_key: str) -> VerifiedTicket | None:
        """The valid ticket in the query of a request; None without one."""
        query: bytes = scope.get("query_string", b"")
        if PARAMETER.encode() not in query:
            return None
        return self._valid(_IN_QUERY.search(query.decode("latin-1")), application_id, verify_key)

    def of_page(self, scope: Scope, application_id: ApplicationId, verify_key: str) -> VerifiedTicket | None:
        """The valid ticket of the page that a request comes from; None without one, and for pages of other origins."""
        referer, cookies = header(scope, b"referer") or "", header(scope, b"cookie") or ""
        if PARAMETER not in referer and self._cookie not in cookies:
            return None
        origin = self._origins.of(application_id)
        if referer.startswith(f"{origin}/"):
            ticket = self._valid(_IN_QUERY.search(referer), application_id, verify_key)
            if ticket is not None:
                return ticket
        elif header(scope, b"sec-fetch-site") != _SAME_ORIGIN and header(scope, b"origin") != origin:
            return None
        return self._valid(self._in_cookies.search(cookies), application_id, verify_key)

    def cookie(self, ticket: VerifiedTicket) -> tuple[bytes, bytes]:
        """The header that sets the cookie of a ticket. The cookie is of this origin inside the client only."""
        age = max(0, ticket.ticket.expires_at - int(CLOCK.now()))
        attributes = f"Path=/; Max-Age={age}; HttpOnly; Secure; SameSite=None; Partitioned"
        return b"set-cookie", f"{self._cookie}={ticket.text}; {attributes}".encode()

    def _valid(
        self, match: re.Match[str] | None, application_id: ApplicationId, verify_key: str
    ) -> VerifiedTicket | None:
        ticket = None if match is None else self._verify(match[1], verify_key)
        if ticket is None or ticket.ticket.application_id != application_id:
            return None
        return ticket if ticket.ticket.expires_at > CLOCK.now() else None


def _verify(text: str, verify_key: str) -> VerifiedTicket | None:
    signed = read_ticket(text)
    if signed is None:
        return None
    try:
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(verify_key)).verify(signed.signature, signed.payload)
        ticket: ProxyTicket = decoder(ProxyTicket).decode(signed.payload)
    except (InvalidSignature, ValueError, msgspec.DecodeError):
        return None
    headers = (
        (b"x-discord-proxy-payload", base64.b64encode(signed.payload)),
        (b"x-signature-ed25519", base64.b64encode(signed.signature)),
        (b"x-signature-timestamp", b"%d" % ticket.created_at),
    )
    return VerifiedTicket(text, ticket, headers)
