"""Images by hash at the CDN paths, like `/icons/{guild}/{hash}.png?size=128` (public reference: image formatting).

An image is named by the hash of its content, so responses never change and clients may cache them forever. Nothing that
a browser could execute is served. The avatar that a webhook gave to a single message is a picture of another server: it
is named by the hash of its URL and may change, so that clients keep it for a day.
"""

import hashlib
import re
from functools import partial
from typing import Final, Protocol
from urllib.parse import parse_qs

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.request.images import blob_key
from moothall.cdn.formats import MEDIA_TYPES
from moothall.cdn.sizes import read_size
from moothall.objects.errors import Refusal
from moothall.objects.guild_profile import Badge
from moothall.objects.ids import Snowflake, WebhookId
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import SERVER, Payer, WorkRefused
from moothall.runtime.cache import Cache
from moothall.runtime.work_pool import WorkPool
from moothall.storage.blobs import Blobs
from moothall.storage.database import StorageError

Key = tuple[str, str, int | None]
"""A key of the cache: name, file extension and size."""

_IMAGE: Final = re.compile(
    r"/(?:icons|splashes|discovery-splashes|banners|avatars|role-icons|app-icons|channel-icons|team-icons|guild-events)/[0-9]{1,20}/"
    r"(?P<name>(?:a_)?[0-9a-f]{32})\.(?P<ending>[a-z]{3,4})"
    r"|/(?:attachments-quick-links|instance-icons)/(?P<name3>(?:a_)?[0-9a-f]{32})(?:\.(?P<ending3>[a-z]{3,4}))?"
    r"|/guilds/[0-9]{1,20}/users/[0-9]{1,20}/(?:avatars|banners)/(?P<name2>(?:a_)?[0-9a-f]{32})\.(?P<ending2>[a-z]{3,4})"
)
_AVATAR: Final = re.compile(r"/avatars/(?P<id>[0-9]{1,19})/(?P<name>[0-9a-f]{32})\.[a-z]{3,4}")
_NO_ENDING: Final = "png"
"""The format of images whose paths have no extension."""
_DEFAULT: Final = re.compile(r"/embed/avatars/(?P<index>[0-5])\.png")

_BADGE: Final = re.compile(
    r"/(?:guild-tag-badges|clan-badges)/[0-9]{1,20}/(?P<name>[0-9a-f]{32})\.(?P<ending>[a-z]{3,4})"
)

_STEPS: Final = 2
_TAGGED_BYTES: Final = 65_536
_Served = tuple[bytes, str, bytes, tuple[bytes, bytes]]
"""A body with its media type, its entity tag, and how long clients keep it."""
_MAX_CACHED: Final = 64 * 1024 * 1024
_THREADS: Final = 2
_WAITING_MAX: Final = 2000
_WAITING_EACH: Final = 500

ALWAYS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"content-security-policy", b"default-src 'none'; sandbox"),
    (b"access-control-allow-origin", b"*"),
    (b"cross-origin-resource-policy", b"cross-origin"),
)
FOREVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")
FOR_A_DAY: Final = (b"cache-control", b"public, max-age=86400")


class MessageAvatars(Protocol):
    """Finds the avatars of single messages of webhooks."""

    async def own_path(self, webhook_id: WebhookId, name: str) -> str | None:
        """Return the path of the image of this server that an image hash stands for; None for any other."""

    async def get_image(
        self, webhook_id: WebhookId, name: str, ending: str, size: int | None, client: Payer
    ) -> bytes | None:
        """Return the picture of another server that an image hash stands for, in a format and size, or None."""


class ImageFiles:
    """The ASGI application of images. The most recently used renderings are cached in memory, up to 64 MiB."""

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
        "/attachments-quick-links/",
        "/instance-icons/",
        "/guilds/",
        "/guild-tag-badges/",
        "/clan-badges/",
        "/embed/avatars/",
    )

    def __init__(self, blobs: Blobs, limits: AddressLimits, avatars: MessageAvatars | None = None) -> None:
        self._blobs = blobs
        self._avatars = avatars
        self._limits = limits
        self._cache: Cache[Key, bytes] = Cache(_MAX_CACHED, weigh=len)
        self.pool = WorkPool(
            "images", limits.scaling, threads=_THREADS, waiting_max=_WAITING_MAX, waiting_each=_WAITING_EACH
        )
        """Where images are made, for the clients who ask for them."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        if scope["method"] not in {"GET", "HEAD"}:
            await respond(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        try:
            image = await self._find(scope["path"], scope["query_string"], self._limits.client(scope))
        except (Refusal, WorkRefused) as refusal:
            await send_refusal(scope, send, refusal)
            return
        except StorageError:
            await respond(send, scope, 503, b"", [])
            return
        if image is None:
            await respond(send, scope, 404, b"", [])
            return
        body, kind, tag, kept = image
        headers = [(b"etag", tag), kept]
        if any(name == b"if-none-match" and tag in value for name, value in scope["headers"]):
            await respond(send, scope, 304, b"", headers)
            return
        await respond(send, scope, 200, body, [(b"content-type", kind.encode()), *headers])

    async def _find(self, path: str, query: bytes, client: Payer) -> _Served | None:
        default = _DEFAULT.fullmatch(path)
        if default is not None:
            index = int(default["index"])
            return await self._default(index), "image/png", b'"default-2-%d"' % index, FOREVER
        badge = _BADGE.fullmatch(path)
        if badge is not None:
            return await self._badge(badge["name"], badge["ending"], requested_size(query), client)
        match = _IMAGE.fullmatch(path)
        if match is None:
            return None
        name = match["name"] or match["name2"] or match["name3"]
        ending = match["ending"] or match["ending2"] or match["ending3"] or _NO_ENDING
        if ending not in MEDIA_TYPES:
            return None
        size = requested_size(query)
        image = await self.get_image(name, ending, size, client)
        if image is not None:
            return image, MEDIA_TYPES[ending], f'"{name}-{ending}-{size or 0}"'.encode(), FOREVER
        image = await self._avatar(path, ending, size, client)
        if image is None:
            return None
        # The beginning alone: a picture may have 16 MB, which would hold up the event loop.
        tag = f'"{hashlib.sha256(image[:_TAGGED_BYTES]).hexdigest()[:32]}-{len(image)}"'
        return image, MEDIA_TYPES[ending], tag.encode(), FOR_A_DAY

    async def _default(self, index: int) -> bytes:
        key = ("default", str(index), None)
        body = self._cache.use(key)
        if body is None:
            # There are six for all clients: none of them pays for them.
            body = self._keep(key, await self.pool.run(SERVER, partial(_default_avatar, index)))
        return body

    async def _badge(self, name: str, ending: str, size: int | None, client: Payer) -> _Served | None:
        """The badge of a guild's tag, which is drawn from its name; None for a name that is none."""
        badge = Badge.of_hash(name)
        if badge is None or ending not in MEDIA_TYPES:
            return None
        key = (f"badge-{name}", ending, size)
        body = self._cache.use(key)
        if body is None:
            try:
                body = self._keep(key, await self.pool.run(client, partial(_draw_badge, badge, ending, size)))
            except ValueError:
                return None
        return body, MEDIA_TYPES[ending], f'"badge-{name}-{ending}-{size or 0}"'.encode(), FOREVER

    async def _avatar(
        self, path: str, ending: str, size: int | None, client: Payer, *, steps: int = _STEPS
    ) -> bytes | None:
        """Return the avatar of a webhook's message; None if there is none. Raises Refusal and Overloaded.

        Its URL may be that of an image of this server, which is read without a request; of another such avatar at most
        `steps` times.
        """
        match = _AVATAR.fullmatch(path)
        if match is None or self._avatars is None or int(match["id"]) >> 63:
            return None
        webhook_id, name = WebhookId(Snowflake(int(match["id"]))), match["name"]
        own = await self._avatars.own_path(webhook_id, name)
        if own is not None and (default := _DEFAULT.fullmatch(own)) is not None:
            body = await self._default(int(default["index"]))
            try:
                return await self.pool.run(client, partial(_render, body, ending, size, still=False))
            except ValueError:
                return None
        if own is not None and (image := _IMAGE.fullmatch(own)) is not None:
            own_name = image["name"] or image["name2"] or image["name3"]
            data = await self.get_image(own_name, ending, size, client)
            if data is None and steps:
                data = await self._avatar(own, ending, size, client, steps=steps - 1)
            return data
        return await self._avatars.get_image(webhook_id, name, ending, size, client)

    async def get_image(
        self, name: str, ending: str, size: int | None, client: Payer, *, still: bool = False
    ) -> bytes | None:
        """Return an image in a format and size, with `still` its first frame; None if it does not exist in that format.

        Raises Refusal: 429 if the client has caused too much work; Overloaded if too many requests wait.
        """
        ending = "jpeg" if ending == "jpg" else ending
        key = (f"{name}!" if still else name, ending, size)
        cached = self._cache.use(key)
        if cached is not None:
            return cached
        # Files are read only in a slot, so that waiting requests have none in memory.
        async with self.pool.slot(client) as slot:
            cached = self._cache.use(key)
            if cached is not None:
                return cached
            data = await self._blobs.get(blob_key(name))
            if data is None:
                return None
            try:
                return self._keep(key, await slot.run(partial(_render, data, ending, size, still=still)))
            except ValueError:
                return None

    def _keep(self, key: Key, image: bytes) -> bytes:
        """Cache an image, and return it."""
        self._cache.keep(key, image)
        return image


def requested_size(query: bytes) -> int | None:
    """The `size` of a query string, rounded up to an offered size; None without a valid one."""
    return read_size(parse_qs(query.decode("latin-1")).get("size", [""])[-1])


async def respond(send: Send, scope: Scope, status: int, body: bytes, headers: list[tuple[bytes, bytes]]) -> None:
    """Send a response with headers that keep browsers from executing it."""
    if status != 304:
        headers = [*headers, (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": [*headers, *ALWAYS]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})


def _default_avatar(index: int) -> bytes:
    from moothall.cdn.rendering import default_avatar  # noqa: PLC0415 see moothall.cdn.formats

    return default_avatar(index)


def _draw_badge(badge: Badge, ending: str, size: int | None) -> bytes:
    from moothall.cdn.badges import draw_badge  # noqa: PLC0415 see moothall.cdn.formats
    from moothall.cdn.rendering import render  # noqa: PLC0415 the same

    return render(draw_badge(badge), ending, size)


def _render(data: bytes, ending: str, size: int | None, *, still: bool) -> bytes:
    from moothall.cdn.rendering import render  # noqa: PLC0415 see moothall.cdn.formats

    return render(data, ending, size, still=still)
