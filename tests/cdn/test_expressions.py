"""Emojis, stickers and sounds at their CDN paths, by id."""

import json
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from moothall.api.address_limits import AddressLimits
from moothall.cdn.expressions import ExpressionFiles
from moothall.cdn.images import ImageFiles
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, opus, uri
from tests.resources.sticker.sticker_files import film, lottie, sticker_form, still
from tests.support.harness import Caller, Guild, Platform

Answer = tuple[int, dict[bytes, bytes], bytes]


class Cdn:
    """The expression files of a platform."""

    def __init__(self, platform: Platform) -> None:
        blobs = platform.services.blobs
        limits = AddressLimits(None)
        self._files = ExpressionFiles(platform.database, blobs, ImageFiles(blobs, limits), limits)

    async def ask(self, path: str, *headers: tuple[bytes, bytes], method: str = "GET") -> Answer:
        sent: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": b""}

        async def send(event: Any) -> None:
            sent.append(event)

        path, _, query = path.partition("?")
        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": [*headers]}
        await self._files(scope, receive, send)
        return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


@pytest.fixture
def cdn(platform: Platform) -> Cdn:
    return Cdn(platform)


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def emoji_of(guild: Guild, image: str) -> str:
    body = {"name": "moot", "image": image}
    return str((await guild.owner.post(f"/guilds/{guild.id}/emojis", body)).json["id"])


async def test_an_emoji_is_served_in_every_format_and_at_most_128_pixels_wide(cdn: Cdn, guild: Guild) -> None:
    emoji = await emoji_of(guild, picture("PNG", size=(512, 256)))
    for ending, kind in (("png", "PNG"), ("webp", "WEBP"), ("jpg", "JPEG"), ("jpeg", "JPEG")):
        status, headers, body = await cdn.ask(f"/emojis/{emoji}.{ending}")
        assert (status, headers[b"x-content-type-options"]) == (200, b"nosniff")
        image = Image.open(BytesIO(body))
        assert (image.format, image.size) == (kind, (128, 64))
    assert Image.open(BytesIO((await cdn.ask(f"/emojis/{emoji}.png?size=32"))[2])).size == (32, 16)
    assert Image.open(BytesIO((await cdn.ask(f"/emojis/{emoji}.png?size=4096"))[2])).size == (128, 64)
    for wrong in (f"/emojis/{emoji}.gif", f"/emojis/{emoji}.svg", f"/emojis/{emoji}", "/emojis/1.png", "/emojis/x.png"):
        assert (await cdn.ask(wrong))[0] == 404


async def test_an_animated_emoji_is_animated_as_gif_and_as_webp_on_request(cdn: Cdn, guild: Guild) -> None:
    emoji = await emoji_of(guild, picture("GIF", frames=3))
    frames = {}
    for path in ("gif", "webp", "webp?animated=true", "png"):
        frames[path] = getattr(Image.open(BytesIO((await cdn.ask(f"/emojis/{emoji}.{path}"))[2])), "n_frames", 1)
    assert frames == {"gif": 3, "webp": 1, "webp?animated=true": 3, "png": 1}


async def test_an_avif_emoji_is_converted(cdn: Cdn, guild: Guild) -> None:
    emoji = await emoji_of(guild, picture("AVIF"))
    assert Image.open(BytesIO((await cdn.ask(f"/emojis/{emoji}.webp"))[2])).format == "WEBP"


async def test_application_emojis_are_served(platform: Platform, cdn: Cdn, owner: Caller) -> None:
    bot = await platform.bot(owner)
    body = {"name": "moot", "image": picture()}
    emoji = (await bot.post(f"/applications/{bot.application_id}/emojis", body)).json["id"]
    assert (await cdn.ask(f"/emojis/{emoji}.png"))[0] == 200


async def test_a_deleted_emoji_is_404_and_a_cached_one_304(cdn: Cdn, guild: Guild) -> None:
    emoji = await emoji_of(guild, picture())
    status, headers, body = await cdn.ask(f"/emojis/{emoji}.png")
    assert headers[b"cache-control"].endswith(b"immutable")
    known = await cdn.ask(f"/emojis/{emoji}.png", (b"if-none-match", headers[b"etag"]))
    assert (known[0], known[2]) == (304, b"")
    assert (await cdn.ask(f"/emojis/{emoji}.png", method="HEAD"))[2] == b""
    assert (await cdn.ask(f"/emojis/{emoji}.png", method="POST"))[0] == 405
    assert (await guild.owner.delete(f"/guilds/{guild.id}/emojis/{emoji}")).status == 204
    assert (await cdn.ask(f"/emojis/{emoji}.png"))[0] == 404
    assert (status, bool(body)) == (200, True)


@pytest.mark.parametrize(
    ("file", "ending", "kind"),
    [
        (still(), "png", b"image/png"),
        (film(5), "png", b"image/png"),
        (film(5, "GIF"), "gif", b"image/gif"),
        (lottie(), "json", b"application/json"),
    ],
)
async def test_a_sticker_is_served_as_uploaded(cdn: Cdn, guild: Guild, file: bytes, ending: str, kind: bytes) -> None:
    await guild.set(features=["VERIFIED"])
    made = await guild.owner.post(f"/guilds/{guild.id}/stickers", **sticker_form(file))
    sticker = made.json["id"]
    status, headers, body = await cdn.ask(f"/stickers/{sticker}.{ending}?size=16")
    assert (status, headers[b"content-type"], body) == (200, kind, file)
    assert headers[b"content-security-policy"] == b"default-src 'none'; sandbox"
    for other in {"png", "gif", "json", "svg"} - {ending}:
        assert (await cdn.ask(f"/stickers/{sticker}.{other}"))[0] == 404
    assert (await cdn.ask(f"/stickers/{sticker}.webp"))[0] == (404 if ending == "json" else 200)
    if ending == "json":
        assert json.loads(body)["layers"]


async def test_standard_stickers_and_default_sounds_are_served(cdn: Cdn, owner: Caller) -> None:
    (pack,) = (await owner.get("/sticker-packs")).json["sticker_packs"]
    assert len(pack["stickers"]) == 6
    for sticker in pack["stickers"]:
        status, headers, body = await cdn.ask(f"/stickers/{sticker['id']}.png")
        assert (status, headers[b"content-type"]) == (200, b"image/png")
        assert Image.open(BytesIO(body)).size == (320, 320)
    sounds = (await owner.get("/soundboard-default-sounds")).json
    assert len(sounds) == 6
    for sound in sounds:
        status, headers, body = await cdn.ask(f"/soundboard-sounds/{sound['sound_id']}")
        assert (status, headers[b"content-type"], body[:4]) == (200, b"audio/ogg", b"OggS")


@pytest.mark.parametrize(("data", "kind", "ending"), [(mp3(1), b"audio/mpeg", "mp3"), (opus(1), b"audio/ogg", "ogg")])
async def test_a_sound_is_served_whole_or_in_ranges(
    cdn: Cdn, guild: Guild, data: bytes, kind: bytes, ending: str
) -> None:
    body = {"name": "gong", "sound": uri(data)}
    sound = (await guild.owner.post(f"/guilds/{guild.id}/soundboard-sounds", body)).json["sound_id"]
    path = f"/soundboard-sounds/{sound}"
    status, headers, whole = await cdn.ask(path)
    assert (status, headers[b"content-type"], whole) == (200, kind, data)
    assert (await cdn.ask(f"{path}.{ending}"))[2] == data
    status, headers, part = await cdn.ask(path, (b"range", b"bytes=10-19"))
    assert (status, headers[b"content-range"], part) == (206, b"bytes 10-19/%d" % len(data), data[10:20])
    assert (await cdn.ask(path, (b"range", b"bytes=10-")))[2] == data[10:]
    for odd in (b"bytes=9999999-", b"bytes=5-4", b"lines=1-2"):
        assert (await cdn.ask(path, (b"range", odd)))[2] == data
    assert (await cdn.ask(path, (b"range", b"bytes=0-1"), (b"if-range", b'"other"')))[0] == 200
    for wrong in (f"{path}.wav", "/soundboard-sounds/99", "/soundboard-sounds/9999999999999999999"):
        assert (await cdn.ask(wrong))[0] == 404
