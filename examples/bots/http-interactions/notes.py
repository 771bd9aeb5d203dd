"""A bot without a gateway: interactions come as signed HTTP requests, and FastAPI answers them.

The application's public key is in PUBLIC_KEY. Run it with: uvicorn notes:app
"""

import os

from fastapi import FastAPI, HTTPException, Request
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

PING, COMMAND, COMPONENT = 1, 2, 3
PONG, MESSAGE, UPDATE = 1, 4, 7
EPHEMERAL = 1 << 6

app = FastAPI()
_key = VerifyKey(bytes.fromhex(os.environ["PUBLIC_KEY"]))
_notes: dict[str, list[str]] = {}


async def verified(request: Request) -> bytes:
    """The body of a request that the platform has signed. Raises HTTPException (401) for any other."""
    body = await request.body()
    signed = request.headers.get("x-signature-timestamp", "").encode() + body
    try:
        _key.verify(signed, bytes.fromhex(request.headers.get("x-signature-ed25519", "")))
    except (BadSignatureError, ValueError):
        raise HTTPException(401, "invalid request signature") from None
    return body


@app.get("/health")
async def health() -> dict[str, str]:
    """Whether the bot serves."""
    return {"status": "ok"}


@app.post("/interactions")
async def interact(request: Request) -> dict:
    """Answer an interaction."""
    await verified(request)
    interaction = await request.json()
    if interaction["type"] == PING:
        return {"type": PONG}
    user = (interaction.get("member") or interaction)["user"]["id"]
    if interaction["type"] == COMPONENT:
        _notes.pop(user, None)
        return {"type": UPDATE, "data": {"content": "No notes.", "components": []}}
    options = {option["name"]: option["value"] for option in interaction["data"].get("options", [])}
    if "text" in options:
        _notes.setdefault(user, []).append(options["text"])
    notes = _notes.get(user, [])
    button = {"type": 2, "style": 4, "label": "Forget", "custom_id": "forget"}
    return {
        "type": MESSAGE,
        "data": {
            "content": "\n".join(f"- {note}" for note in notes) or "No notes.",
            "flags": EPHEMERAL,
            "components": [{"type": 1, "components": [button]}] if notes else [],
        },
    }
