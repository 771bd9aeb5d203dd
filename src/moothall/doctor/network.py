"""The network: the port, the public URL, and what a proxy in front does to requests."""

import asyncio
import errno
import ipaddress
from collections.abc import AsyncIterator, Iterator
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import aiohttp
import msgspec

from moothall import __version__
from moothall.app.server import bind
from moothall.doctor.finding import Finding, error, ok, reason, skipped, warning
from moothall.objects.clock import CLOCK
from moothall.runtime.secrets import ServerKey
from moothall.server.health import Arrival, Health, HealthPage, key_proof
from moothall.settings import Settings

CERTIFICATE_DAYS: Final = 14
"""Certificates that end sooner are worth a warning: Let's Encrypt's are renewed a month before."""
_SKEW_MS: Final = 2_000
_SECONDS: Final = 5.0
_PROXY_FAILURES: Final = {HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
_HELLO: Final = 10
_ANY: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 what is connected to where a server listens at all


class Answer(NamedTuple):
    """A response of /healthz."""

    status: int
    health: Health | None
    """None for a body that is none of Moothall."""
    location: str = ""
    certificate_ends: str = ""


class Unreachable(Exception):
    """No response. The message says why; `advice` says what to do."""

    def __init__(self, message: str, advice: str) -> None:
        super().__init__(message)
        self.advice = advice


async def ask_health(url: str, key: ServerKey | None) -> Answer:
    """Request /healthz of the server at `url`. Raises Unreachable."""
    headers = {} if key is None else {"Authorization": key_proof(key, CLOCK.now_ms())}
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    host = urlsplit(url).hostname
    try:
        async with (
            aiohttp.ClientSession(timeout=timeout, headers=headers) as session,
            session.get(url.rstrip("/") + HealthPage.PATH, allow_redirects=False) as response,
        ):
            ends = _certificate_end(response)
            body = await response.content.read(65_536)
            location = response.headers.get("Location", "")
            return Answer(response.status, _health(body), location, ends)
    except aiohttp.ClientConnectorCertificateError as problem:
        raise Unreachable(
            f"the certificate of {host} is not valid: {problem.certificate_error}",
            "Give the proxy a certificate for this name (Caddy and certbot get one by themselves).",
        ) from problem
    except aiohttp.ClientConnectorDNSError as problem:
        raise Unreachable(f"there is no host {host}", "Make a DNS record for it, or correct public_url.") from problem
    except aiohttp.ClientConnectorSSLError as problem:
        raise Unreachable(f"{host} does not speak TLS", "Let the proxy serve https there.") from problem
    except TimeoutError as problem:
        raise Unreachable(
            f"no answer within {_SECONDS:.0f} s",
            "Check firewalls and port forwarding. Routers often do not lead back from the inside: try from elsewhere.",
        ) from problem
    except (aiohttp.ClientError, OSError) as problem:
        raise Unreachable(reason(problem), "Check that the proxy runs and listens.") from problem


def _health(body: bytes) -> Health | None:
    try:
        return msgspec.json.decode(body, type=Health)
    except msgspec.DecodeError:
        return None


def _certificate_end(response: aiohttp.ClientResponse) -> str:
    transport: Any = None if response.connection is None else response.connection.transport
    certificate = None if transport is None else transport.get_extra_info("peercert")
    return "" if not certificate else str(certificate.get("notAfter", ""))


async def check_port(settings: Settings, key: ServerKey | None) -> tuple[bool, list[Finding]]:
    """Whether this installation's server runs, and what is to be said of its port."""
    if settings.port == 0:
        return False, [ok("port", "any free one is taken")]
    shown = f"{settings.host} port {settings.port}"
    try:
        for free in bind(settings.host, settings.port):
            free.close()
    except OSError as problem:
        code = problem.__cause__.errno if isinstance(problem.__cause__, OSError) else problem.errno
        if code == errno.EADDRINUSE:
            return await _check_listener(settings, key, shown)
        if code == errno.EACCES:
            advice = "Take a port from 1024 on, with a proxy in front; systemd can grant CAP_NET_BIND_SERVICE."
            return False, [error("port", f"this user may not listen at {shown}", advice)]
        return False, [error("port", f"{problem}", "Set host to an address of this machine, such as 127.0.0.1.")]
    return False, [ok("port", f"{shown} is free; the server does not run")]


async def _check_listener(settings: Settings, key: ServerKey | None, shown: str) -> tuple[bool, list[Finding]]:
    host = _ANY.get(settings.host, settings.host)
    url = f"http://[{host}]:{settings.port}" if ":" in host else f"http://{host}:{settings.port}"
    advice = "End that program, or choose another port with --port."
    try:
        answer = await ask_health(url, key)
    except Unreachable:
        answer = Answer(0, None)
    if answer.health is None:
        return False, [error("port", f"another program listens at {shown}", advice)]
    arrival = answer.health.arrival
    if not isinstance(arrival, Arrival):
        who = (
            "a Moothall of another server key"
            if key is not None
            else "a Moothall, perhaps this one: the key is missing"
        )
        return False, [error("port", f"{who} listens at {shown}", advice)]
    return True, [ok("port", f"our server listens at {shown}"), *_check_running(answer.health, arrival)]


def _check_running(health: Health, arrival: Arrival) -> Iterator[Finding]:
    if health.status != "ok":
        yield error("server", f"runs, but {health.status}", "See its log, and the findings about the database.")
    if arrival.version != __version__:
        yield warning("server", f"runs version {arrival.version}; installed is {__version__}", "Restart the server.")


def check_trust(settings: Settings) -> Iterator[Finding]:
    """Whether proxies are trusted that should not be."""
    for network in settings.networks:
        if network.prefixlen == 0:
            yield error(
                "proxy headers",
                f"trusted_proxies has {network}: any client can claim any address",
                "Name only the addresses that your proxies connect from.",
            )


async def check_public_url(settings: Settings, key: ServerKey | None, *, running: bool) -> AsyncIterator[Finding]:
    """Whether clients reach this server by its public URL, over HTTP and by WebSocket."""
    url = settings.public_url
    if url is None:
        for finding in _check_without_url(settings):
            yield finding
        return
    for finding in _check_tls(url):
        yield finding
    if not running or key is None:
        yield skipped("public url", f"{url}: the server does not run")
        return
    try:
        answer = await ask_health(url, key)
    except Unreachable as problem:
        yield error("public url", f"{url}: {problem}", problem.advice)
        return
    for finding in check_certificate(answer.certificate_ends):
        yield finding
    arrival = None if answer.health is None else answer.health.arrival
    if not isinstance(arrival, Arrival):
        yield _foreign(settings, url, answer)
        return
    yield ok("public url", f"{url} leads to our server")
    if abs(skew := arrival.now_ms - CLOCK.now_ms()) > _SKEW_MS:
        yield warning("clock", f"differs by {abs(skew) / 1000:.0f} s from the server's", "Enable NTP on both machines.")
    yield check_arrival(settings, arrival)
    yield await check_gateway(url)


def _check_without_url(settings: Settings) -> Iterator[Finding]:
    if settings.trusted_proxies:
        yield warning(
            "public url",
            "is not set, and a proxy stands in front: links would name the port of the server itself",
            'Set it: public_url = "https://chat.example.org"',
        )
    elif not _is_local(settings.host):
        yield warning(
            "public url",
            f"is not set, and the server listens at {settings.host}: links name localhost or that address",
            "Set public_url to the URL that clients use.",
        )
    else:
        yield skipped("public url", "not set: clients are on this machine")


def _check_tls(url: str) -> Iterator[Finding]:
    parts = urlsplit(url)
    if parts.scheme == "http" and not _is_local(parts.hostname or ""):
        yield warning(
            "public url",
            f"{url} is not encrypted: passwords, tokens and messages can be read on the way",
            "Put a proxy with TLS in front; see Reverse proxy and TLS in docs/operations.md.",
        )


def check_certificate(ends: str) -> Iterator[Finding]:
    """Whether a certificate ends soon; `ends` is its notAfter, empty without TLS."""
    if not ends:
        return
    days = (parsedate_to_datetime(ends.replace("GMT", "+0000")).timestamp() - CLOCK.now()) / 86_400
    if days < CERTIFICATE_DAYS:
        yield warning(
            "certificate", f"ends in {max(0, days):.0f} days", "Renew it, and see why it did not renew itself."
        )


def _foreign(settings: Settings, url: str, answer: Answer) -> Finding:
    """What an answer means that is not this server's."""
    if answer.status in _PROXY_FAILURES and answer.health is None:
        advice = f"Let the proxy pass requests on to {settings.host} port {settings.port}; see its log."
        return error("public url", f"{url}: the proxy answers {answer.status} and does not reach the server", advice)
    if answer.location:
        advice = f"Set public_url to {answer.location.removesuffix(HealthPage.PATH)}, or end the redirect."
        return error("public url", f"{url} redirects to {answer.location}", advice)
    if answer.health is not None:
        advice = "Give all processes the same server key and clock, or correct public_url."
        return error("public url", f"{url} leads to a Moothall that does not know this server key", advice)
    return error(
        "public url",
        f"{url}: something else answers, with status {answer.status}",
        "Correct public_url, or let the proxy pass on every path of that name.",
    )


def check_arrival(settings: Settings, arrival: Arrival) -> Finding:
    """Whether the server tells the clients behind the proxy apart."""
    check = "proxy headers"
    if not arrival.forwarded:
        parts = urlsplit(settings.public_url or "")
        if parts.scheme == "http" and parts.port == settings.port:
            return ok(check, "no proxy stands in front")
        return error(
            check,
            f"the proxy at {arrival.peer} does not tell the addresses of clients: all of them share one rate limit",
            "Let it send X-Forwarded-For; see Reverse proxy and TLS in docs/operations.md.",
        )
    if not arrival.trusted:
        listed = ", ".join(f'"{each}"' for each in (*settings.trusted_proxies, arrival.peer))
        return error(
            check,
            f"the proxy at {arrival.peer} is not trusted: all clients share one rate limit",
            f"Set: trusted_proxies = [{listed}]",
        )
    if not arrival.addressed:
        return error(
            check,
            f"the proxy at {arrival.peer} sends no X-Forwarded-For with an address",
            "Let it send X-Forwarded-For; see Reverse proxy and TLS in docs/operations.md.",
        )
    return ok(check, f"the proxy at {arrival.peer} tells clients apart")


async def check_gateway(url: str) -> Finding:
    """Whether WebSockets pass."""
    gateway = url.rstrip("/").replace("http", "ws", 1) + "/gateway"
    advice = "Let the proxy pass on WebSockets (the headers Upgrade and Connection); see docs/operations.md."
    try:
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession() as session,
            session.ws_connect(f"{gateway}?v=10&encoding=json") as socket,
        ):
            frame = await socket.receive_json()
    except (aiohttp.ClientError, OSError, TimeoutError, TypeError, ValueError) as problem:
        return error("gateway", f"{gateway}: {reason(problem)}", advice)
    if isinstance(frame, dict) and frame.get("op") == _HELLO:
        return ok("gateway", f"{gateway} takes WebSockets")
    return error("gateway", f"{gateway} does not greet as a gateway", advice)


def _is_local(host: str) -> bool:
    """Whether a host is this machine itself."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
