"""The back of the whiteboard: exchanges codes for tokens, and carries what people draw to the others of their instance.

It needs `CLIENT_ID`, `CLIENT_SECRET` and `BOT_TOKEN` of the application, and `MOOTHALL_URL`.
"""

import asyncio
import os
from collections import defaultdict
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
from aiohttp import web

MOOTHALL = os.environ.get("MOOTHALL_URL", "http://localhost:3333")
API = f"{MOOTHALL}/api/v10"
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
BOT_TOKEN = os.environ["BOT_TOKEN"]
FRONT = Path(__file__).with_name("dist")
MAX_MESSAGE = 4_096
CLOSE_SECONDS = 0.5

boards: defaultdict[str, set[web.WebSocketResponse]] = defaultdict(set)
session_key = web.AppKey("session", aiohttp.ClientSession)


async def config(_request: web.Request) -> web.Response:
    """What the front needs before it knows anybody."""
    return web.json_response({"client_id": CLIENT_ID})


async def token(request: web.Request) -> web.Response:
    """Exchange the code of the SDK's authorize command for an access token."""
    form = {
        "client_id": CLIENT_ID,
        "client_secret": CLIENT_SECRET,
        "grant_type": "authorization_code",
        "code": (await request.json())["code"],
    }
    async with request.app[session_key].post(f"{API}/oauth2/token", data=form) as response:
        body = await response.json()
    if response.status != web.HTTPOk.status_code:
        return web.json_response({"error": body}, status=response.status)
    return web.json_response({"access_token": body["access_token"], "api": API})


async def board(request: web.Request) -> web.StreamResponse:
    """Carry lines between the people of one running instance."""
    instance = request.query.get("instance", "")
    path = f"{API}/applications/{CLIENT_ID}/activity-instances/{instance}"
    async with request.app[session_key].get(path, headers={"authorization": f"Bot {BOT_TOKEN}"}) as response:
        if response.status != web.HTTPOk.status_code:
            raise web.HTTPForbidden(text="There is no such instance.")
    socket = web.WebSocketResponse(max_msg_size=MAX_MESSAGE, heartbeat=30, timeout=CLOSE_SECONDS)
    await socket.prepare(request)
    others = boards[instance]
    others.add(socket)
    try:
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                await asyncio.gather(
                    *(each.send_str(message.data) for each in others if each is not socket), return_exceptions=True
                )
    finally:
        others.discard(socket)
    return socket


async def front(_request: web.Request) -> web.FileResponse:
    """The page."""
    return web.FileResponse(FRONT / "index.html")


async def open_session(app: web.Application) -> AsyncIterator[None]:
    """Keep one HTTP client for as long as the server runs."""
    async with aiohttp.ClientSession() as session:
        app[session_key] = session
        yield


async def close_boards(_app: web.Application) -> None:
    """Close every WebSocket, for which the server would otherwise wait when it is stopped."""
    sockets = [socket for others in boards.values() for socket in others]
    await asyncio.gather(*(socket.close(code=aiohttp.WSCloseCode.GOING_AWAY) for socket in sockets))


def main() -> None:
    """Serve on `PORT`, 5173 without one."""
    app = web.Application()
    app.cleanup_ctx.append(open_session)
    app.on_shutdown.append(close_boards)
    app.router.add_get("/api/config", config)
    app.router.add_post("/api/token", token)
    app.router.add_get("/api/board", board)
    app.router.add_get("/", front)
    app.router.add_static("/assets", FRONT / "assets")
    web.run_app(app, host="127.0.0.1", port=int(os.environ.get("PORT", "5173")))


if __name__ == "__main__":
    main()
