"""The bare server: uvicorn with the same loop, parsers and options, and nothing behind them.

`POST /answer?path=...&status=...` teaches it the bytes to answer a path with; every other request
is answered from what it learned, with `ms=` after so many milliseconds. With the URL of a PostgreSQL database,
`POST /statements?path=...` teaches it statements that asyncpg executes before each answer. `/gateway` accepts
WebSockets, and `POST /broadcast` sends its body to each of them.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

import asyncpg
import uvicorn

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

CONNECTIONS = 10
"""To PostgreSQL: as many as our server has by default."""

answers: dict[str, tuple[int, bytes]] = {}
statements: dict[str, list[tuple[str, list[int | str]]]] = {}
sockets: set[Send] = set()
pool: asyncpg.Pool | None = None
pool_making = asyncio.Lock()
"""Held by the first of the requests that come at once: each would make a pool."""


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Serve one connection."""
    if scope["type"] == "http":
        await _http(scope, receive, send)
    elif scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.accept"})
        sockets.add(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        sockets.discard(send)
    else:
        await receive()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


async def _http(scope: Scope, receive: Receive, send: Send) -> None:
    body = b""
    more = True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
    if scope["path"] == "/answer":
        query = parse_qs(scope["query_string"].decode())
        answers[query["path"][0]] = (int(query["status"][0]), body)
        status, body = 204, b""
    elif scope["path"] == "/statements":
        statements[parse_qs(scope["query_string"].decode())["path"][0]] = json.loads(body)
        status, body = 204, b""
    elif scope["path"] == "/broadcast":
        text = body.decode()
        message = {"type": "websocket.send", "text": text}
        for each in list(sockets):
            await each(message)
        status, body = 204, b""
    else:
        if of_path := statements.get(scope["path"]):
            await _execute(of_path)
        status, body = answers.get(scope["path"], (200, b"{}"))
    if delays := parse_qs(scope["query_string"].decode()).get("ms"):
        await asyncio.sleep(int(delays[0]) / 1000)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _execute(of_path: list[tuple[str, list[int | str]]]) -> None:
    global pool  # noqa: PLW0603 made within the server's event loop
    async with pool_making:
        if pool is None:
            pool = await asyncpg.create_pool(sys.argv[2], min_size=CONNECTIONS, max_size=CONNECTIONS)
    async with pool.acquire() as connection:
        for sql, arguments in of_path:
            await connection.fetch(sql, *arguments)


def main() -> None:
    """Serve on the port given, with the database at the URL if there is one."""
    config = uvicorn.Config(
        app,
        port=int(sys.argv[1]),
        loop="uvloop",
        http="httptools",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_ping_interval=None,
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
    )
    uvicorn.Server(config).run()


if __name__ == "__main__":
    main()
