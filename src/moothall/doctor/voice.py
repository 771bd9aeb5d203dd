"""Sound in voice channels: its UDP port, the address that clients send to, and the way of the voice gateway."""

import asyncio
import errno
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any, Final
from urllib.parse import urlsplit

import aiohttp

from moothall.app.voice_process import address_of, listening_host, udp_port
from moothall.doctor.finding import Finding, error, ok, reason, skipped, warning
from moothall.settings import Settings
from moothall.voice.datagrams import bind
from moothall.voice.opcodes import Opcode

_SECONDS: Final = 5.0
_HELLO_OF_EVENTS: Final = 10
_ANY: Final = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 what is connected to


async def check_voice(settings: Settings, *, running: bool) -> AsyncIterator[Finding]:
    """Whether sound can be received, reaches this machine, and whether libraries reach the voice gateway."""
    if not settings.carries_voice:
        why = "off by voice = false" if not settings.voice else "not carried with nats_url"
        yield skipped("voice", f"{why}: voice channels are without sound")
        return
    yield await _check_port(settings, running=running)
    address = await _check_address(settings)
    if address is not None:
        yield address
    if running and (settings.public_url is not None or settings.voice_endpoint is not None):
        yield await _check_gateway(settings)


async def _check_port(settings: Settings, *, running: bool) -> Finding:
    """Whether the UDP port is free, or is the one of our own voice process."""
    port = udp_port(settings)
    if port == 0:
        return warning(
            "voice port",
            "any free UDP port is taken, another one at each start: no firewall can let it through",
            "Set voice_port.",
        )
    try:
        for free in bind(listening_host(settings), port):
            free.close()
    except OSError as problem:
        code = problem.__cause__.errno if isinstance(problem.__cause__, OSError) else problem.errno
        if code != errno.EADDRINUSE:
            return error("voice port", f"{problem}", "Set voice_host to an address of this machine.")
        if running and await _greets(_local_url(settings)):
            return ok("voice port", f"our voice process receives at UDP port {port}")
        return error(
            "voice port",
            f"another program receives at UDP port {port}",
            "End that program, or choose another port with --voice-port.",
        )
    return ok("voice port", f"UDP port {port} is free; the first participant starts the voice process")


async def _check_address(settings: Settings) -> Finding | None:
    """Whether the address that clients are told is one of this machine; None where that is the operator's choice."""
    host = settings.public_host
    if settings.voice_address is not None or host is None:
        return None
    address = await address_of(host)
    if address is None:
        return error(
            "voice address",
            f"{host} has no address that clients could send sound to",
            "Correct public_url, or set voice_address.",
        )
    if _is_of_this_machine(address):
        return ok("voice address", f"clients send sound to {address}, an address of this machine")
    return warning(
        "voice address",
        f"clients are told to send sound to {address}, which is no address of this machine",
        f"If it is your router's or host's, let it forward UDP port {udp_port(settings)} and set voice_address = "
        f'"{address}"; else set voice_address to an address at which this machine is reached.',
    )


def _is_of_this_machine(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as trial:
        try:
            trial.bind((address, 0))
        except OSError:
            return False
    return True


async def _check_gateway(settings: Settings) -> Finding:
    """Whether WebSockets pass at the root, which libraries open for voice; the gateway of events has a path.

    It is opened as the gateway of events, which greets at any path, and without a voice process.
    """
    url = _public_url(settings)
    advice = "Let the proxy pass on WebSockets on every path; see docs/operations.md and docs/voice.md."
    try:
        async with asyncio.timeout(_SECONDS), aiohttp.ClientSession() as session, session.ws_connect(url) as websocket:
            frame = await websocket.receive_json()
    except (aiohttp.ClientError, OSError, TimeoutError, TypeError, ValueError) as problem:
        return error("voice gateway", f"{url}: {reason(problem)}", advice)
    if isinstance(frame, dict) and frame.get("op") == _HELLO_OF_EVENTS:
        return ok("voice gateway", f"{url} takes WebSockets")
    return error("voice gateway", f"{url} does not greet as a gateway", advice)


async def _greets(url: str) -> bool:
    """Whether a voice process greets a client of the voice gateway."""
    frame: Any = None
    with suppress(aiohttp.ClientError, OSError, TimeoutError, TypeError, ValueError):
        async with (
            asyncio.timeout(_SECONDS),
            aiohttp.ClientSession() as session,
            session.ws_connect(url) as websocket,
        ):
            frame = await websocket.receive_json()
    return isinstance(frame, dict) and frame.get("op") == Opcode.HELLO


def _local_url(settings: Settings) -> str:
    host = _ANY.get(settings.host, settings.host)
    return f"ws://[{host}]:{settings.port}/?v=8" if ":" in host else f"ws://{host}:{settings.port}/?v=8"


def _public_url(settings: Settings) -> str:
    """Where libraries open the voice gateway, but for the version."""
    if settings.voice_endpoint is not None:
        return f"wss://{settings.voice_endpoint}/?v=10&encoding=json"
    parts = urlsplit(settings.public_url or "")
    return f"{'wss' if parts.scheme == 'https' else 'ws'}://{parts.netloc}/?v=10&encoding=json"
