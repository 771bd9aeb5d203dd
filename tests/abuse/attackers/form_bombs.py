"""Send forms of thousands of parts, of data that looks like a boundary, and of huge fields."""

import aiohttp

from tests.abuse.flooding import flood, send
from tests.abuse.target import Target

_BOUNDARY = b"bomb0123456789"


def _part(name: bytes, data: bytes, *, filename: bytes = b"") -> bytes:
    file = b'; filename="' + filename + b'"' if filename else b""
    head = b'Content-Disposition: form-data; name="' + name + b'"' + file
    return b"--" + _BOUNDARY + b"\r\n" + head + b"\r\n\r\n" + data + b"\r\n"


async def attack(target: Target, seconds: float) -> None:
    """Send each form as a message."""
    end = b"--" + _BOUNDARY + b"--\r\n"
    forms = [
        b"".join(_part(b"f%d" % number, b"x") for number in range(20_000)) + end,
        _part(b"files[0]", b"\r" * 4_000_000, filename=b"a") + end,
        _part(b"files[0]", (b"\r\n--" + _BOUNDARY[:-1]) * 200_000, filename=b"a") + end,
        _part(b"payload_json", b"[" * 2_000_000) + end,
        _part(b"payload_json", b'{"embeds":[' + b"{}," * 30_000 + b"1]}") + end,
    ]
    headers = {"Content-Type": "multipart/form-data; boundary=" + _BOUNDARY.decode()}

    async def act(session: aiohttp.ClientSession, number: int) -> None:
        form = forms[number % len(forms)]
        if number % 2:
            await send(session, "POST", f"{target.url}{target.webhook_path}", data=form, headers=headers)
        else:
            url = f"{target.api}/channels/{target.channel_id}/messages"
            await send(session, "POST", url, token=target.token, data=form, headers=headers)

    await flood(target, seconds, act, lanes=8)
