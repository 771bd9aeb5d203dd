"""Gateway sessions on a running server."""

import aiohttp


async def identified(session: aiohttp.ClientSession, url: str, token: str) -> aiohttp.ClientWebSocketResponse:
    """A gateway connection that is ready."""
    socket = await session.ws_connect(f"{url.replace('http', 'ws', 1)}/gateway?v=10&encoding=json")
    assert (await socket.receive_json())["op"] == 10
    properties = {"os": "linux", "browser": "test", "device": "test"}
    await socket.send_json({"op": 2, "d": {"token": token, "intents": 0, "properties": properties}})
    ready = await socket.receive_json()
    assert ready["t"] == "READY"
    return socket
