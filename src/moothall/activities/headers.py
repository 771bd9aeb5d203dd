"""Which headers cross the proxy of Activities, in both directions."""

from collections.abc import Iterable, Mapping
from typing import Final

from moothall.activities.origin import ActivityOrigins, Scope
from moothall.objects.ids import ApplicationId
from moothall.objects.proxy_ticket import without_ticket
from moothall.objects.url_mapping import MappedPath

Headers = list[tuple[str, str]]

PASSED: Final = "x-activity-proxy"
"""Marks requests of a proxy of Activities, so that a mapping back to one does not go round in circles."""

_HOP_BY_HOP: Final = frozenset(
    {
        "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    }
)  # fmt: skip
_NOT_SENT: Final = _HOP_BY_HOP | {
    "host", "content-length", "expect", "cookie", "forwarded", "via", "x-real-ip", "cf-connecting-ip",
    "true-client-ip", "x-client-ip", PASSED, "x-discord-proxy-payload", "x-signature-ed25519", "x-signature-timestamp",
}  # fmt: skip
"""Not sent to targets: what concerns one connection, what tells the address of the user, and what the proxy signs."""
_WEBSOCKET: Final = "sec-websocket-"
_NOT_RETURNED: Final = _HOP_BY_HOP | {
    "alt-svc", "content-security-policy", "content-security-policy-report-only", "public-key-pins", "set-cookie",
    "strict-transport-security", "x-frame-options", "nel", "report-to", "location",
}  # fmt: skip
"""Not returned from targets: what concerns one connection, and what the platform decides for its own host."""
_PLATFORM_COOKIES: Final = "moothall_"
"""How the names of the platform's own cookies begin, behind `__Host-` and `__Secure-`."""
_SECURITY_PREFIXES: Final = ("__host-", "__secure-")


def request_headers(scope: Scope, *, authorization: bool, signed: Iterable[tuple[str, str]] = ()) -> Headers:
    """The headers to send to a target, with those of a ticket; the Authorization header only with `authorization`."""
    received = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
    left_out = _NOT_SENT | _named_by_connection(received) | (frozenset() if authorization else {"authorization"})
    headers = [
        (name, without_ticket(value) if name == "referer" else value)
        for name, value in received
        if name not in left_out and not name.startswith((_WEBSOCKET, "x-forwarded-"))
    ]
    cookies = [pair for name, value in received if name == "cookie" for pair in _own_cookies(value)]
    if cookies:
        headers.append(("cookie", "; ".join(cookies)))
    headers.append((PASSED, "1"))
    headers.extend(signed)
    return headers


def response_headers(
    received: Iterable[tuple[str, str]], target: MappedPath, origins: ActivityOrigins, application_id: ApplicationId
) -> list[tuple[bytes, bytes]]:
    """The headers to return to a browser, with the content security policy of the application."""
    listed = [(name.lower(), value) for name, value in received]
    left_out = _NOT_RETURNED | _named_by_connection(listed)
    headers = [(name, value) for name, value in listed if name not in left_out]
    for name, value in listed:
        if name == "location":
            headers.append((name, _own_location(value, target, origins.of(application_id))))
        elif name == "set-cookie" and (cookie := _host_only_cookie(value)) is not None:
            headers.append((name, cookie))
    headers.append(("content-security-policy", origins.policy(application_id)))
    return [(name.encode("latin-1"), value.encode("latin-1", "replace")) for name, value in headers]


def is_passed(scope: Scope) -> bool:
    """Whether a request has gone through a proxy of Activities before."""
    return any(name == PASSED.encode() for name, _ in scope["headers"])


def header(scope: Scope, expected: bytes) -> str | None:
    """A header of a request; None without it."""
    values: Mapping[bytes, bytes] = dict(scope["headers"])
    value = values.get(expected)
    return None if value is None else value.decode("latin-1")


def _named_by_connection(headers: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The headers that Connection says concern one connection only."""
    named = (each.strip().lower() for name, value in headers if name == "connection" for each in value.split(","))
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
