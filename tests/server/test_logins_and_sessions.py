"""A gateway session lives no longer than the login that started it, whichever connection it has."""

import json
from typing import Any

import aiohttp

from tests.server.load import PASSWORD
from tests.support.serving import RunningServer

AUTHENTICATION_FAILED = 4004


class Socket:
    """A connection to the gateway."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self.seq = 0

    async def send(self, op: int, **data: Any) -> None:
        """Send a payload."""
        await self._socket.send_str(json.dumps({"op": op, "d": data}))

    async def until(self, name: str | int) -> dict[str, Any]:
        """The next payload of a dispatch name or opcode."""
        while True:
            payload: dict[str, Any] = json.loads(await self._socket.receive_str(timeout=30))
            self.seq = payload["s"] or self.seq
            if name in (payload["t"], payload["op"]):
                return payload

    async def close_code(self) -> int | None:
        """Read until the server closes."""
        while (await self._socket.receive(timeout=30)).type is aiohttp.WSMsgType.TEXT:
            pass
        return self._socket.close_code

    async def drop(self) -> None:
        """Close with a code after which the session can be resumed."""
        await self._socket.close(code=4900)


class Gateway:
    """Opens connections to a server's gateway."""

    def __init__(self, server: RunningServer, http: aiohttp.ClientSession) -> None:
        self._url = f"{server.url}/gateway?v=10&encoding=json"
        self._http = http

    async def identify(self, token: str) -> tuple[Socket, str]:
        """A connection with a new session, and the id of that."""
        socket = Socket(await self._http.ws_connect(self._url))
        await socket.send(2, token=token, intents=0, properties={})
        return socket, (await socket.until("READY"))["d"]["session_id"]

    async def resume(self, token: str, session_id: str, seq: int) -> Socket:
        """A connection that has asked to resume a session."""
        socket = Socket(await self._http.ws_connect(self._url))
        await socket.send(6, token=token, session_id=session_id, seq=seq)
        return socket


def log_in(server: RunningServer, name: str) -> str:
    answer = server.request("POST", "/auth/login", {"login": name, "password": PASSWORD})
    return str(answer.json["token"])


async def test_a_login_does_not_take_over_the_session_of_another_and_leaves_it_as_it_is(
    server: RunningServer, http: aiohttp.ClientSession
) -> None:
    server.request("POST", "/auth/register", {"username": "twice", "password": PASSWORD})
    first, second = log_in(server, "twice"), log_in(server, "twice")
    gateway = Gateway(server, http)
    socket, session_id = await gateway.identify(first)
    await socket.drop()
    refused = await gateway.resume(second, session_id, socket.seq)
    assert (await refused.until(9))["d"] is False
    resumed = await gateway.resume(first, session_id, socket.seq)
    await resumed.until("RESUMED")

    # The end of the other login does not concern it, that of its own ends it and its connection.
    assert server.request("POST", "/auth/logout", {}, token=second).status == 204
    await resumed.send(1)
    await resumed.until(11)
    assert server.request("POST", "/auth/logout", {}, token=first).status == 204
    assert await resumed.close_code() == AUTHENTICATION_FAILED
    third = log_in(server, "twice")
    ended_session = await gateway.resume(third, session_id, resumed.seq)
    assert (await ended_session.until(9))["d"] is False


async def test_a_session_without_a_connection_ends_with_its_login(
    server: RunningServer, http: aiohttp.ClientSession
) -> None:
    server.request("POST", "/auth/register", {"username": "detached", "password": PASSWORD})
    first, second = log_in(server, "detached"), log_in(server, "detached")
    gateway = Gateway(server, http)
    socket, session_id = await gateway.identify(first)
    await socket.drop()
    assert server.request("POST", "/auth/logout", {}, token=first).status == 204
    for token in (first, second):
        again = await gateway.resume(token, session_id, socket.seq)
        if token == first:
            assert await again.close_code() == AUTHENTICATION_FAILED
        else:
            assert (await again.until(9))["d"] is False


async def test_a_new_token_of_a_bot_ends_its_sessions_resumed_or_not(
    server: RunningServer, http: aiohttp.ClientSession
) -> None:
    owner = server.request("POST", "/auth/register", {"username": "owner", "password": PASSWORD}).json["token"]
    application = server.request("POST", "/applications", {"name": "Bot"}, token=owner).json
    token = application["bot"]["token"]
    gateway = Gateway(server, http)
    socket, session_id = await gateway.identify(token)
    await socket.drop()
    resumed = await gateway.resume(token, session_id, socket.seq)
    await resumed.until("RESUMED")
    detached, detached_id = await gateway.identify(token)
    await detached.drop()
    path = f"/applications/{application['id']}/bot/reset"
    answer = server.request("POST", path, {}, token=owner)
    assert answer.status == 200
    assert await resumed.close_code() == AUTHENTICATION_FAILED
    for ended in (session_id, detached_id):
        again = await gateway.resume(answer.json["token"], ended, 1)
        assert (await again.until(9))["d"] is False
