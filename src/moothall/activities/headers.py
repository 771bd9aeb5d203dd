"""Which headers cross the proxy of Activities, in both directions."""

from collections.abc import Iterable
from typing import Final

from moothall.activities.origin import ActivityOrigins
from moothall.objects.ids import ApplicationId
from moothall.objects.proxy_ticket import without_ticket
from moothall.objects.url_mapping import MappedPath
from moothall.runtime.asgi import Scope

Headers = list[tuple[bytes, bytes]]

PASSED: Final = b"x-activity-proxy"
"""Marks requests of a proxy of Activities, so that a mapping back to one does not go round in circles."""

_HOP_BY_HOP: Final = frozenset(
    {
        b"connection", b"keep-alive", b"proxy-authenticate", b"proxy-authorization", b"proxy-connection", b"te",
        b"trailer", b"transfer-encoding", b"upgrade",
    }
)  # fmt: skip
_NOT_SENT: Final = _HOP_BY_HOP | {
    b"host", b"content-length", b"expect", b"cookie", b"forwarded", b"via", b"x-real-ip", b"cf-connecting-ip",
    b"true-client-ip", b"x-client-ip", PASSED, b"x-discord-proxy-payload", b"x-signature-ed25519",
    b"x-signature-timestamp",
}  # fmt: skip
"""Not sent to targets: what concerns one connection, what tells the address of the user, and what the proxy signs."""
_NOT_SENT_PREFIXES: Final = (b"sec-websocket-", b"x-forwarded-")
_NOT_RETURNED: Final = _HOP_BY_HOP | {
    b"alt-svc", b"content-security-policy", b"content-security-policy-report-only", b"public-key-pins", b"set-cookie",
    b"strict-transport-security", b"x-frame-options", b"nel", b"report-to", b"location",
}  # fmt: skip
"""Not returned from targets: what concerns one connection, and what the platform decides for its own host."""
_PLATFORM_COOKIES: Final = "moothall_"
"""How the names of the platform's own cookies begin, behind `__Host-` and `__Secure-`."""
_SECURITY_PREFIXES: Final = ("__host-", "__secure-")


def request_headers(scope: Scope, *, authorization: bool, signed: Iterable[tuple[bytes, bytes]] = ()) -> Headers:
    """The headers to send to a target, with those of a ticket; the Authorization header only with `authorization`."""
    received: Headers = scope["headers"]
    left_out = _NOT_SENT | _named_by_connection(received)
    if not authorization:
        left_out |= {b"authorization"}
    headers = [
        (name, value)
        for name, value in received
        if name not in left_out and not name.startswith(_NOT_SENT_PREFIXES) and name != b"referer"
    ]
    for name, value in received:
        if name == b"referer" and name not in left_out:
            headers.append((name, without_ticket(value.decode("latin-1")).encode("latin-1")))
        elif name == b"cookie":
            cookies = _own_cookies(value.decode("latin-1"))
            if cookies:
                headers.append((b"cookie", "; ".join(cookies).encode("latin-1")))
    headers.append((PASSED, b"1"))
    headers.extend(signed)
    return headers


def response_headers(
    received: Headers, target: MappedPath, origins: ActivityOrigins, application_id: ApplicationId
) -> Headers:
    """The headers to return to a browser, with the content security policy of the application.

    The names of `received` are in lower case.
    """
    left_out = _NOT_RETURNED | _named_by_connection(received)
    headers = [(name, value) for name, value in received if name not in left_out]
    for name, value in received:
        if name == b"location":
            location = _own_location(value.decode("latin-1"), target, origins.of(application_id))
            headers.append((name, location.encode("latin-1", "replace")))
        elif name == b"set-cookie" and (cookie := _host_only_cookie(value.decode("latin-1"))) is not None:
            headers.append((name, cookie.encode("latin-1")))
    headers.append((b"content-security-policy", origins.policy(application_id)))
    return headers


def is_passed(scope: Scope) -> bool:
    """Whether a request has gone through a proxy of Activities before."""
    return any(name == PASSED for name, _ in scope["headers"])


def header(scope: Scope, expected: bytes) -> str | None:
    """A header of a request, the last of its name; None without it."""
    value = None
    for name, each in scope["headers"]:
        if name == expected:
            value = each
    return None if value is None else value.decode("latin-1")


def _named_by_connection(headers: Headers) -> frozenset[bytes]:
    """The headers that Connection says concern one connection only."""
    named = (each.strip().lower() for name, value in headers if name == b"connection" for each in value.split(b","))
    return frozenset(named)


def _own_cookies(value: str) -> list[str]:
    """The pairs of a Cookie header, without the cookies of the platform."""
    pairs = [pair.strip() for pair in value.split(";")]
    return [pair for pair in pairs if pair and not _is_of_platform(pair.partition("=")[0])]


def _host_only_cookie(value: str) -> str | None:
    """A Set-Cookie header without its domain, so that no other host receives the cookie; None for one of ours."""
    pair, *attributes = value.split(";")
    if _is_of_platform(pair.partition("=")[0]):
        return None
    kept = [each for each in attributes if each.partition("=")[0].strip().lower() != "domain"]
    return ";".join([pair, *kept])


def _is_of_platform(name: str) -> bool:
    name = name.strip().lower()
    for prefix in _SECURITY_PREFIXES:
        name = name.removeprefix(prefix)
    return name.startswith(_PLATFORM_COOKIES)


def _own_location(value: str, target: MappedPath, origin: str) -> str:
    """A Location header: one that names the target's host leads to the Activity's origin instead."""
    for scheme in ("https://", "http://", "//"):
        prefix = f"{scheme}{target.authority}"
        if value == prefix or value.startswith((f"{prefix}/", f"{prefix}?")):
            return origin + (value[len(prefix) :] or "/")
    return value
