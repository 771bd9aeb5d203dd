"""The images of widgets: drawn in a thread and cached."""

import hashlib
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final

from msgspec import Struct

from moothall.objects.widget import WidgetStyle
from moothall.runtime.cache import Cache
from moothall.runtime.work_pool import PayerPool

_MAX_CACHED: Final = 500

_Key = tuple[WidgetStyle, str, str | None, int]


class WidgetImage(Struct, frozen=True):
    """A PNG file and its entity tag."""

    data: bytes
    tag: bytes


class WidgetImageCache:
    """Draws widgets and caches the most recently used ones, by style, name, icon and online count."""

    def __init__(self) -> None:
        self._cache: Cache[_Key, WidgetImage] = Cache(_MAX_CACHED)

    async def get(
        self,
        style: WidgetStyle,
        *,
        name: str,
        icon_hash: str | None,
        online: int,
        icon: Callable[[], Awaitable[bytes | None]],
        pool: PayerPool,
    ) -> WidgetImage:
        """The image for a guild with this name, icon and online count, drawn in `pool`.

        `icon` is called to read the icon if needed. Raises what the pool raises.
        """
        key = (style, name, icon_hash, online)
        image = self._cache.use(key)
        if image is None:
            data = None if style is WidgetStyle.SHIELD else await icon()
            image = await pool.run(partial(_draw, style, name, online, data))
            self._cache.keep(key, image)
        return image


def _draw(style: WidgetStyle, name: str, online: int, icon: bytes | None) -> WidgetImage:
    from moothall.resources.guild.widget.images import draw  # noqa: PLC0415 only what draws images imports Pillow

    data = draw(style, name, online, icon)
    return WidgetImage(data, b'"%b"' % hashlib.sha256(data).hexdigest()[:32].encode())
