"""The client of a login, by the headers of its request, and the identity provider that it came by."""

import base64
import binascii
import re
from typing import Final

import msgspec
from msgspec import Struct

from moothall.api.context import Context
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean_name

_MAX_LENGTH: Final = 64
_MAX_PROPERTIES: Final = 4096
_SYSTEMS: Final = (
    ("Windows", re.compile(r"Windows")),
    ("iOS", re.compile(r"iPhone|iPad|iPod")),
    ("Android", re.compile(r"Android")),
    ("Mac OS X", re.compile(r"Macintosh|Mac OS X|Darwin")),
    ("Chrome OS", re.compile(r"CrOS")),
    ("Linux", re.compile(r"Linux|X11")),
)
_BROWSERS: Final = (
    ("Edge", re.compile(r"Edg(?:e|A|iOS)?/")),
    ("Opera", re.compile(r"OPR/")),
    ("Firefox", re.compile(r"(?:Firefox|FxiOS)/")),
    ("Chrome", re.compile(r"(?:Chrome|CriOS|Chromium)/")),
    ("Safari", re.compile(r"Safari/")),
)
_PRODUCT: Final = re.compile(r"[^\s/;()]+")


class LoginClient(Struct, frozen=True, kw_only=True):
    """A client; None for unknown fields."""

    os: str | None = None
    platform: str | None = None
    """The browser, or the name of another program."""
    network: str | None = None
    """Its IPv4 address or IPv6 network."""
    provider_id: Snowflake | None = None
    """The identity provider that the user has logged in with."""
    provider_session: str | None = None
    """What the provider calls that login."""
    provider_groups: tuple[str, ...] = ()
    """The groups of the user there that give something here."""


UNKNOWN_CLIENT: Final = LoginClient()


class _Properties(Struct):
    """The X-Super-Properties header of the public clients."""

    os: str = ""
    browser: str = ""


def client_of(ctx: Context) -> LoginClient:
    """The client of a request. Only the network is reliable; the rest is what the client claims."""
    properties = _properties(ctx.header("x-super-properties"))
    agent = ctx.header("user-agent") or ""
    return LoginClient(
        os=_clean(properties.os or _first(_SYSTEMS, agent)),
        platform=_clean(properties.browser or _first(_BROWSERS, agent) or _product(agent)),
        network=ctx.ip or None,
    )


def _properties(header: str | None) -> _Properties:
    if not header or len(header) > _MAX_PROPERTIES:
        return _Properties()
    try:
        return msgspec.json.decode(base64.b64decode(header), type=_Properties)
    except (binascii.Error, msgspec.DecodeError, ValueError):
        return _Properties()


def _first(patterns: tuple[tuple[str, re.Pattern[str]], ...], agent: str) -> str:
    return next((name for name, pattern in patterns if pattern.search(agent)), "")


def _product(agent: str) -> str:
    match = _PRODUCT.match(agent)
    return match[0] if match else ""


def _clean(text: str) -> str | None:
    return clean_name(text)[:_MAX_LENGTH] or None
