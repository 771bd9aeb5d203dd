"""A bot that knows the platform by its public names alone; run through `moothall proxy`. Prints what it saw as JSON."""

import asyncio
import json
import os
import sys
from typing import Any

import aiohttp
import requests
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

API = "https://discord.com/api/v10"


def main(token: str, channel: str) -> None:
    """Post and read a message, connect to the gateway, and fetch a picture, each with a library of its own."""
    session = requests.Session()
    session.headers["Authorization"] = f"Bot {token}"
    posted = session.post(f"{API}/channels/{channel}/messages", json={"content": "through the proxy"}, timeout=30)
    report: dict[str, Any] = {
        "posted": posted.json()["content"],
        "limit": posted.headers["X-RateLimit-Limit"],
        "unknown": session.get(f"{API}/channels/1", timeout=30).json()["code"],
        "deleted": session.delete(f"{API}/channels/{channel}/messages/{posted.json()['id']}", timeout=30).status_code,
        "gateway": session.get(f"{API}/gateway", timeout=30).json()["url"],
        "events": [],
    }
    with connect("wss://gateway.discord.gg/?v=10&encoding=json", max_size=None) as socket:
        report["events"].append(json.loads(socket.recv())["op"])
        data = {"token": token, "intents": 1, "properties": {}}
        socket.send(json.dumps({"op": 2, "d": data}))
        ready = json.loads(socket.recv())
        report["events"].append(ready["t"])
        report["resume_at"] = ready["d"]["resume_gateway_url"]
        socket.send("nonsense")
        try:
            while True:
                socket.recv()
        except ConnectionClosed as closed:
            report["closed"] = None if closed.rcvd is None else closed.rcvd.code
    report["picture"] = asyncio.run(fetch("https://cdn.discordapp.com/embed/avatars/0.png"))
    report["authority"] = os.environ["SSL_CERT_FILE"]
    print(json.dumps(report))


async def fetch(url: str) -> list[Any]:
    """The status and the first bytes of what is at a URL."""
    async with aiohttp.ClientSession(trust_env=True) as session, session.get(url) as response:
        return [response.status, (await response.read())[:4].hex()]


if __name__ == "__main__":
    main(*sys.argv[1:])
