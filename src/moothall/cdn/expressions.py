"""Emojis, stickers and sounds at their CDN paths (public reference: image formatting).

They are addressed by id, so a database query finds the file, and a deleted one is not served. Emojis are converted to
the requested format, at most 128 pixels wide; stickers and sounds are served as they were uploaded.
"""

import re
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import parse_qs

from msgspec import Struct

from moothall.api.address_limits import AddressLimits, send_refusal
from moothall.api.request.images import blob_key, lottie_key, sound_key
from moothall.cdn.formats import MEDIA_TYPES
from moothall.cdn.images import FOREVER, ImageFiles, requested_size, respond
from moothall.objects.errors import Refusal
from moothall.objects.ids import EmojiId, Snowflake, SoundId, StickerId
from moothall.objects.sticker import StickerFormat
from moothall.resources.emoji.queries import select_image
from moothall.resources.soundboard.defaults import DEFAULT_SOUNDS
from moothall.resources.soundboard.queries import select_file
from moothall.resources.sticker.packs import STANDARD_STICKERS
from moothall.resources.sticker.queries import select_sticker
from moothall.runtime.asgi import Receive, Scope, Send
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.runtime.lifecycle import Lazy
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, StorageError

_PATH: Final = re.compile(
    r"/(?P<kind>emojis|stickers|soundboard-sounds)/(?P<id>[0-9]{1,19})(?:\.(?P<ending>[a-z0-9]{3,4}))?"
)
_RANGE: Final = re.compile(rb"\s*bytes=(\d{1,9})-(\d{0,9})\s*")
_EMOJI_SIDE: Final = 128
_SOUND_TYPES: Final = {"mp3": "audio/mpeg", "ogg": "audio/ogg"}
_SOUNDS: Final = Path(__file__).parent / "sounds"
_DEFAULT_SOUNDS: Final = {
    sound.sound_id: Lazy((_SOUNDS / f"{int(sound.sound_id)}.ogg").read_bytes) for sound in DEFAULT_SOUNDS
}
_CONVERTED: Final = "webp"
_ORIGINAL_TYPES: Final = {
    StickerFormat.PNG: ("png", "image/png"),
    StickerFormat.APNG: ("png", "image/png"),
    StickerFormat.GIF: ("gif", "image/gif"),
    StickerFormat.LOTTIE: ("json", "application/json"),
}


class _File(Struct, frozen=True):
    """A file to serve: its bytes, media type and entity tag."""

    body: bytes
    type: str
    tag: str


class ExpressionFiles:
    """The ASGI application of emojis, stickers and sounds."""

    PREFIXES: Final = ("/emojis/", "/stickers/", "/soundboard-sounds/")

    def __init__(self, database: Database, blobs: Blobs, images: ImageFiles, limits: AddressLimits) -> None:
        self._database = database
        self._blobs = blobs
        self._images = images
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        del receive
        if scope["method"] not in {"GET", "HEAD"}:
            await respond(send, scope, 405, b"", [(b"allow", b"GET, HEAD")])
            return
        try:
            file = await self._find(scope["path"], scope["query_string"], self._limits.client(scope))
        except (Refusal, WorkRefused) as refusal:
            await send_refusal(scope, send, refusal)
            return
        except StorageError:
            await respond(send, scope, 503, b"", [])
            return
        if file is None:
            await respond(send, scope, 404, b"", [])
            return
        tag = f'"{file.tag}"'.encode()
        headers = [(b"etag", tag), FOREVER, (b"accept-ranges", b"bytes")]
        request_headers = dict(scope["headers"])
        if tag in request_headers.get(b"if-none-match", b""):
            await respond(send, scope, 304, b"", headers)
            return
        headers.append((b"content-type", file.type.encode()))
        span = (
            _range(request_headers.get(b"range"), len(file.body))
            if request_headers.get(b"if-range", tag) == tag
            else None
        )
        if span is None:
            await respond(send, scope, 200, file.body, headers)
            return
        first, last = span
        headers.append((b"content-range", b"bytes %d-%d/%d" % (first, last, len(file.body))))
        await respond(send, scope, 206, file.body[first : last + 1], headers)

    async def _find(self, path: str, query: bytes, client: Payer) -> _File | None:
        match = _PATH.fullmatch(path)
        if match is None or int(match["id"]) >> 63:
            return None
        number, ending = Snowflake(int(match["id"])), match["ending"] or ""
        if match["kind"] == "emojis":
            return await self._emoji(EmojiId(number), ending, query, client)
        if match["kind"] == "stickers":
            return await self._sticker(StickerId(number), ending, client)
        return await self._sound(SoundId(number), ending)

    async def _emoji(self, emoji_id: EmojiId, ending: str, query: bytes, client: Payer) -> _File | None:
        if ending not in MEDIA_TYPES:
            return None
        async with self._database.read() as reader:
            name = await select_image(reader, emoji_id)
        if name is None:
            return None
        size = min(requested_size(query) or _EMOJI_SIDE, _EMOJI_SIDE)
        animated = parse_qs(query.decode("latin-1")).get("animated", [""])[-1] == "true"
        still = ending == "webp" and not animated
        body = await self._images.get_image(name, ending, size, client, still=still)
        if body is None:
            return None
        return _File(body, MEDIA_TYPES[ending], f"{name}-{ending}-{size}{'-still' if still else ''}")

    async def _sticker(self, sticker_id: StickerId, ending: str, client: Payer) -> _File | None:
        if sticker_id in STANDARD_STICKERS:
            if ending != "png":
                return None
            drawn = await self._images.pool.run(client, partial(_draw_sticker, int(sticker_id)))
            return _File(drawn, "image/png", f"standard-{sticker_id}")
        async with self._database.read() as reader:
            row = await select_sticker(reader, sticker_id)
        if row is None or row.file is None:
            return None
        original, kind = _ORIGINAL_TYPES[StickerFormat(row.format_type)]
        if ending == original:
            key = lottie_key(row.file) if row.format_type == StickerFormat.LOTTIE else blob_key(row.file)
            data = await self._blobs.get(key)
            return None if data is None else _File(data, kind, f"{row.file}-{original}")
        if ending == _CONVERTED and row.format_type != StickerFormat.LOTTIE:
            body = await self._images.get_image(row.file, ending, None, client)
            return None if body is None else _File(body, MEDIA_TYPES[ending], f"{row.file}-{ending}")
        return None

    async def _sound(self, sound_id: SoundId, ending: str) -> _File | None:
        if sound_id in _DEFAULT_SOUNDS:
            return _File(await _DEFAULT_SOUNDS[sound_id].get(), "audio/ogg", f"default-{sound_id}")
        async with self._database.read() as reader:
            file = await select_file(reader, sound_id)
        if file is None or ending not in {"", file.format}:
            return None
        data = await self._blobs.get(sound_key(file.file))
        return None if data is None else _File(data, _SOUND_TYPES[file.format], file.file)


def _range(header: bytes | None, size: int) -> tuple[int, int] | None:
    """Parse a Range header into first and last byte; None without one, and for an unsatisfiable or malformed one."""
    match = None if header is None else _RANGE.fullmatch(header)
    if match is None:
        return None
    first, last = int(match[1]), min(int(match[2] or size), size - 1)
    return (first, last) if first <= last else None


def _draw_sticker(number: int) -> bytes:
    from moothall.cdn.standard_stickers import draw_sticker  # noqa: PLC0415 see moothall.cdn.formats

    return draw_sticker(number)
