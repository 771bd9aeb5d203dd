"""How each library for bots is pointed at a server: attributes of its modules, set for a while.

The bot's own code stays as it is.
"""

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple


class Patch(NamedTuple):
    """One attribute: `target` is `module:attribute`, with dots for attributes of attributes."""

    target: str
    value: Callable[[str], Any]
    """The value for a server's URL, which has no slash at its end."""


def _gateway_url(url: str) -> Any:
    yarl = importlib.import_module("yarl")
    return yarl.URL(url.replace("http", "ws", 1) + "/gateway")


def _plain_voice(url: str) -> Any:
    """Connects to the voice gateway of a server without TLS: the library asks for TLS, whatever the server."""
    connect = importlib.import_module("discord.http").HTTPClient.ws_connect
    plain = url.replace("http", "ws", 1)
    secure = plain.replace("ws", "wss", 1)

    @functools.wraps(connect)
    async def ws_connect(self: Any, target: str, **options: Any) -> Any:
        return await connect(self, target.replace(secure, plain, 1) if target.startswith(secure) else target, **options)

    return ws_connect


LIBRARIES: Final[dict[str, tuple[Patch, ...]]] = {
    "discord.py": (
        Patch("discord.http:Route.BASE", lambda url: f"{url}/api/v10"),
        Patch("discord.gateway:DiscordWebSocket.DEFAULT_GATEWAY", _gateway_url),
        Patch("discord.asset:Asset.BASE", lambda url: url),
        Patch("discord.http:HTTPClient.ws_connect", _plain_voice),
    ),
    "py-cord": (
        Patch("discord.http:Route.API_BASE_URL", lambda url: f"{url}/api/v{{API_VERSION}}"),
        Patch("discord.asset:Asset.BASE", lambda url: url),
    ),
    "disnake": (
        Patch("disnake.http:Route.BASE", lambda url: f"{url}/api/v10"),
        Patch("disnake.asset:Asset.BASE", lambda url: url),
    ),
    "nextcord": (
        Patch("nextcord.http:Route.BASE", lambda url: f"{url}/api/v10"),
        Patch("nextcord.asset:Asset.BASE", lambda url: url),
    ),
    "hikari": (
        Patch("hikari.urls:REST_API_URL", lambda url: f"{url}/api/v10"),
        Patch("hikari.urls:OAUTH2_API_URL", lambda url: f"{url}/api/v10/oauth2"),
        Patch("hikari.urls:CDN_URL", lambda url: url),
    ),
    "interactions.py": (Patch("interactions.api.http.route:Route.BASE", lambda url: f"{url}/api/v10"),),
}
"""The supported libraries, and what is set in each."""

_MODULES: Final = {
    "disnake": "disnake",
    "nextcord": "nextcord",
    "hikari": "hikari",
    "interactions": "interactions.py",
}


def library_of(module: str) -> str:
    """The library of a module's name, as of a client's class. Raises LookupError."""
    root = module.partition(".")[0]
    if root == "discord":
        # py-cord has the package's name, too.
        return "py-cord" if hasattr(importlib.import_module("discord.http").Route, "API_BASE_URL") else "discord.py"
    if root not in _MODULES:
        raise LookupError(f"{root} is none of the supported libraries: {', '.join(LIBRARIES)}")
    return _MODULES[root]


def library_of_client(client: object) -> str:
    """The library that a client's class comes from. Raises LookupError."""
    for kind in type(client).__mro__:
        if kind.__module__.partition(".")[0] in {*_MODULES, "discord"}:
            return library_of(kind.__module__)
    raise LookupError(f"{client!r} is no client of a supported library: {', '.join(LIBRARIES)}")


@contextmanager
def patched(library: str, url: str) -> Iterator[None]:
    """Point a library at the server of a URL while the block runs."""
    if library not in LIBRARIES:
        raise LookupError(f"{library} is none of the supported libraries: {', '.join(LIBRARIES)}")
    before = [(owner, name, getattr(owner, name)) for owner, name, _ in _targets(library, url)]
    try:
        for owner, name, value in _targets(library, url):
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in before:
            setattr(owner, name, value)


def _targets(library: str, url: str) -> Iterator[tuple[Any, str, Any]]:
    for patch in LIBRARIES[library]:
        module, _, path = patch.target.partition(":")
        owner: Any = sys.modules.get(module) or importlib.import_module(module)
        *owners, name = path.split(".")
        for each in owners:
            owner = getattr(owner, each)
        yield owner, name, patch.value(url)
