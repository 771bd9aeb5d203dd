"""The CDN paths as an ASGI application (public reference: image formatting).

`/icons/{guild}/{hash}.png?size=128` and its kin. A file is named by the hash of its content, so
that answers never change and may be kept forever; what a browser could run is never served.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qs

from moothall.cdn.pictures import MEDIA_TYPES
from moothall.cdn.rendering import default_avatar, render
from moothall.cdn.sizes import read_size
from moothall.kernel.address_limits import AddressLimits, Client, send_refusal
from moothall.kernel.fair_slots import FairSlots
from moothall.kernel.images import blob_key
from moothall.objects.errors import Refusal
from moothall.storage.blobs import Blobs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

Key = tuple[str, str, int | None]
"""What something made is kept under: a name, an ending and a size."""

_IMAGE: Final = re.compile(
    r"/(?:icons|splashes|discovery-splashes|banners|avatars|role-icons|app-icons|channel-icons|team-icons|guild-events)/[0-9]{1,20}/"
    r"(?P<name>(?:a_)?[0-9a-f]{32})\.(?P<ending>[a-z]{3,4})"
    r"|/guilds/[0-9]{1,20}/users/[0-9]{1,20}/(?:avatars|banners)/(?P<name2>(?:a_)?[0-9a-f]{32})\.(?P<ending2>[a-z]{3,4})"
)
_DEFAULT: Final = re.compile(r"/embed/avatars/(?P<index>[0-5])\.png")

_MAX_CACHED: Final = 64 * 1024 * 1024
_SLOTS: Final = 2
_WAITING_MAX: Final = 2000
_WAITING_EACH: Final = 500

ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)
FOREVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")


class Files:
    """Images by hash. Renderings are kept in memory, the last used ones, up to 64 MiB."""

    PREFIXES: Final = (
        "/icons/",
        "/splashes/",
        "/discovery-splashes/",
        "/banners/",
        "/avatars/",
        "/role-icons/",
        "/app-icons/",
        "/channel-icons/",
        "/team-icons/",
        "/guild-events/",
        "/guilds/",
        "/embed/avatars/",
    )

    def __init__(self, blobs: Blobs, limits: AddressLimits) -> None:
        self._blobs = blobs
        self._limits = limits
        self._cache: OrderedDict[Key, bytes] = OrderedDict()
        self._cached = 0
        self._slots = FairSlots(_SLOTS, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        if scope["method"] not in {"GET", "HEAD"}:
            await answer(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        try:
            found = await self._find(scope["path"], scope["query_string"], self._limits.client(scope))
        except Refusal as refusal:
            await send_refusal(scope, send, refusal)
            return
        if found is None:
            await answer(send, scope, 404, b"", [])
            return
        body, kind, tag = found
        headers = [(b"etag", tag), FOREVER]
        if any(name == b"if-none-match" and tag in value for name, value in scope["headers"]):
            await answer(send, scope, 304, b"", headers)
            return
        await answer(send, scope, 200, body, [(b"content-type", kind.encode()), *headers])

    async def _find(self, path: str, query: bytes, client: Client) -> tuple[bytes, str, bytes] | None:
        default = _DEFAULT.fullmatch(path)
        if default is not None:
            index = int(default["index"])
            key = ("default", str(index), None)
            body = self._kept(key) or await self._make(key, lambda: default_avatar(index))
            return body, "image/png", b'"default-%d"' % index
        match = _IMAGE.fullmatch(path)
        if match is None:
            return None
        name, ending = match["name"] or match["name2"], match["ending"] or match["ending2"]
        if ending not in MEDIA_TYPES:
            return None
        size = requested_size(query)
        found = await self.rendered(name, ending, size, client)
        return None if found is None else (found, MEDIA_TYPES[ending], f'"{name}-{ending}-{size or 0}"'.encode())

    async def rendered(
        self, name: str, ending: str, size: int | None, client: Client, *, still: bool = False
    ) -> bytes | None:
        """The image of a hash as asked for, `still` if it would move; None if there is none, or not so.

        Raises Refusal: 503 if too many wait for such.
        """
        ending = "jpeg" if ending == "jpg" else ending
        key = (f"{name}!" if still else name, ending, size)
        found = self._kept(key)
        if found is not None:
            return found
        # Whoever waits for their turn holds no file meanwhile.
        async with self._slots.turn(client.network):
            found = self._kept(key)
            if found is not None:
                return found
            data = await self._blobs.get(blob_key(name))
            if data is None:
                return None
            try:
                return await self._make(key, lambda: render(data, ending, size, still=still))
            except ValueError:
                return None

    def _kept(self, key: Key) -> bytes | None:
        found = self._cache.get(key)
        if found is not None:
            self._cache.move_to_end(key)
        return found

    async def _make(self, key: Key, make: Callable[[], bytes]) -> bytes:
        made = await asyncio.to_thread(make)
        self._cached += len(made) - len(self._cache.get(key, b""))
        self._cache[key] = made
        while self._cached > _MAX_CACHED and len(self._cache) > 1:
            self._cached -= len(self._cache.popitem(last=False)[1])
        return made


def requested_size(query: bytes) -> int | None:
    """The `size` of a query string, one of those that are offered; None for none."""
    return read_size(parse_qs(query.decode("latin-1")).get("size", [""])[-1])


async def answer(send: Send, scope: Scope, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Answer with what no browser runs."""
    if status != 304:
        headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *ALWAYS]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
