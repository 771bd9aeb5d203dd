"""Clients that write, race and listen while faults happen, and note what they know in a History."""

import asyncio
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import aiohttp

from tests.chaos.history import Call, Epoch, History, Outcome
from tests.server.load import PASSWORD

_TIMEOUT = aiohttp.ClientTimeout(total=20)
_PAUSE = 0.05
_HEARTBEAT = 2.0
_DISPATCH, _RECONNECT, _INVALID_SESSION, _HEARTBEAT_ACK = 0, 7, 9, 11
_FINAL_CODES = frozenset({4004, 4007, 4009})
"""Close codes after which a session cannot be resumed."""
_INTENTS = 1 | 2 | 512
"""GUILDS, GUILD_MEMBERS, GUILD_MESSAGES."""

NodeUrls = Callable[[], Sequence[str]]


class Client:
    """A person, who sends each request to one of the nodes by chance."""

    def __init__(self, name: str, history: History, urls: NodeUrls, chance: random.Random) -> None:
        self.name = name
        self.history = history
        self.urls = urls
        self.chance = chance
        self.token = ""
        self.user_id = ""
        self.session = aiohttp.ClientSession(timeout=_TIMEOUT)
        # Else it sends a DELETE again whose connection ends: a second one is refused where the first one was not.
        self.session._retry_connection = False

    async def register(self) -> None:
        """Make the account, while no fault happens."""
        made = await self.ask("POST", "/auth/register", {"username": self.name, "password": PASSWORD})
        self.token = made["token"]
        self.user_id = (await self.ask("GET", "/users/@me"))["id"]

    async def ask(self, method: str, path: str, body: Any = None, *, node: int | None = None) -> Any:
        """Send a request that must succeed."""
        status, content = await self._send(method, path, body, self._any_node() if node is None else node)
        assert status < 300, (method, path, status, content)
        return content

    async def ask_patiently(self, method: str, path: str, *, node: int, seconds: float = 60) -> Any:
        """Send a request that changes nothing until it succeeds."""
        end = time.monotonic() + seconds
        while True:
            try:
                return await self.ask(method, path, node=node)
            except (AssertionError, aiohttp.ClientError, TimeoutError):
                if time.monotonic() > end:
                    raise
                await asyncio.sleep(0.2)

    async def call(self, call: Call, method: str, path: str, body: Any = None) -> Call:
        """Send a request that changes something, once, and note what is known of it."""
        call.node = self._any_node()
        try:
            call.status, call.answer = await self._send(method, path, body, call.node)
        except (aiohttp.ClientError, TimeoutError, OSError):
            call.outcome = Outcome.UNKNOWN
            await asyncio.sleep(_PAUSE)
        else:
            if call.status < 300:
                call.outcome = Outcome.DONE
            elif call.status < 500:
                call.outcome = Outcome.REFUSED
            else:
                call.outcome = Outcome.UNKNOWN
                await asyncio.sleep(_PAUSE)
        call.ended = time.monotonic()
        return call

    def _any_node(self) -> int:
        return self.chance.randrange(len(self.urls()))

    async def _send(self, method: str, path: str, body: Any, node: int) -> tuple[int, Any]:
        url = self.urls()[node]
        headers = {"Authorization": self.token} if self.token else {}
        async with self.session.request(method, f"{url}/api/v10{path}", json=body, headers=headers) as answer:
            content = await answer.read()
            is_json = answer.content_type == "application/json" and content
            return answer.status, json.loads(content) if is_json else None

    async def close(self) -> None:
        """Close the connections."""
        await self.session.close()


async def write_messages(client: Client, channel_ids: Sequence[str], stop: asyncio.Event) -> None:
    """Create messages with unique content, edit some and delete some; one request at a time."""
    number = 0
    while not stop.is_set():
        number += 1
        channel_id = client.chance.choice(channel_ids)
        marker = f"{client.name}-{number}"
        path = f"/channels/{channel_id}/messages"
        body = {"content": marker, "nonce": marker[:25], "enforce_nonce": True}
        made = await client.call(
            client.history.begin("create", marker, client.name, content=marker), "POST", path, body
        )
        if made.outcome is not Outcome.DONE:
            continue
        path += f"/{made.answer['id']}"
        lot = client.chance.random()
        if lot < 0.2:
            content = f"{marker} edited"
            edit = client.history.begin("edit", marker, client.name, content=content)
            await client.call(edit, "PATCH", path, {"content": content})
        elif lot < 0.3:
            await client.call(client.history.begin("delete", marker, client.name), "DELETE", path)


async def change_roles(client: Client, guild_id: str, stop: asyncio.Event) -> None:
    """Create roles with unique names, and delete half of them."""
    number = 0
    while not stop.is_set():
        number += 1
        name = f"{client.name}-role-{number}"
        path = f"/guilds/{guild_id}/roles"
        made = await client.call(client.history.begin("role", name, client.name), "POST", path, {"name": name})
        if made.outcome is Outcome.DONE and (number > 100 or client.chance.random() < 0.5):
            call = client.history.begin("role delete", name, client.name)
            await client.call(call, "DELETE", f"{path}/{made.answer['id']}")
        await asyncio.sleep(_PAUSE)


async def race_for_invites(
    owner: Client, racers: Sequence[Client], channel_id: str, guild_id: str, stop: asyncio.Event
) -> None:
    """Let several users accept an invite that may be used once, at the same time, and leave again."""
    while not stop.is_set():
        invite = owner.history.begin("invite", "", owner.name)
        settings = {"max_uses": 1, "unique": True}
        await owner.call(invite, "POST", f"/channels/{channel_id}/invites", settings)
        if invite.outcome is not Outcome.DONE:
            continue
        code = invite.answer["code"]
        calls = [racer.history.begin("accept", code, racer.name) for racer in racers]
        path = f"/invites/{code}"
        await asyncio.gather(*(racer.call(call, "POST", path, {}) for racer, call in zip(racers, calls, strict=True)))
        for racer in racers:
            while not stop.is_set():
                left = racer.history.begin("leave", guild_id, racer.name)
                await racer.call(left, "DELETE", f"/users/@me/guilds/{guild_id}")
                if left.outcome is not Outcome.UNKNOWN:
                    break


class Listener:
    """A client that is connected all the time, resumes where it may, and identifies anew where it must."""

    def __init__(self, client: Client, node: int, guild_id: str) -> None:
        self.client = client
        self.node = node
        self.guild_id = guild_id
        self.epoch: Epoch | None = None
        self._session_id = ""
        self.received = asyncio.Event()
        """Set at each event."""

    async def listen(self, stop: asyncio.Event) -> None:
        """Receive events until told to stop."""
        while not stop.is_set():
            with suppress(aiohttp.ClientError, TimeoutError, OSError, ValueError):
                await self._connect(stop)
            await asyncio.sleep(_PAUSE)

    @property
    def is_joined(self) -> bool:
        """Whether the session has its guild."""
        return self.epoch is not None and self.epoch.joined_seq > 0

    def _end_epoch(self) -> None:
        if self.epoch is not None:
            self.epoch.ended = time.monotonic()
            self.epoch = None

    async def _connect(self, stop: asyncio.Event) -> None:
        url = self.client.urls()[self.node].replace("http", "ws", 1) + "/gateway?v=10&encoding=json"
        async with self.client.session.ws_connect(url, max_msg_size=0, timeout=aiohttp.ClientWSTimeout(2, 2)) as socket:
            hello = await socket.receive_json(timeout=10)
            assert hello["op"] == 10
            epoch = self.epoch
            if epoch is not None and epoch.events:
                epoch.resumes += 1
                data = {"token": self.client.token, "session_id": self._session_id, "seq": epoch.events[-1][0]}
                await socket.send_json({"op": 6, "d": data})
            else:
                self._end_epoch()
                properties = {"os": "linux", "browser": "tests", "device": "tests"}
                data = {"token": self.client.token, "properties": properties, "intents": _INTENTS}
                await socket.send_json({"op": 2, "d": data})
            await self._receive(socket, stop)

    async def _receive(self, socket: aiohttp.ClientWebSocketResponse, stop: asyncio.Event) -> None:
        """Receive until the connection ends; a silent one is given up like a client does that misses its ACK."""
        beat = time.monotonic()
        acknowledged = True
        while not stop.is_set():
            if time.monotonic() - beat > _HEARTBEAT:
                if not acknowledged:
                    return
                acknowledged, beat = False, time.monotonic()
                seq = self.epoch.events[-1][0] if self.epoch and self.epoch.events else None
                await socket.send_json({"op": 1, "d": seq})
            try:
                message = await socket.receive(timeout=0.5)
            except TimeoutError:
                continue
            if message.type is not aiohttp.WSMsgType.TEXT:
                if socket.close_code in _FINAL_CODES:
                    self._end_epoch()
                return
            event = json.loads(message.data)
            acknowledged = acknowledged or event["op"] == _HEARTBEAT_ACK
            if not self._handle(event):
                return

    def _handle(self, event: dict[str, Any]) -> bool:
        """Handle a frame; whether the connection goes on."""
        if event["op"] == _DISPATCH:
            self._note(event)
        elif event["op"] == _INVALID_SESSION and not event["d"]:
            self._end_epoch()
        return event["op"] not in {_INVALID_SESSION, _RECONNECT}

    def _note(self, event: dict[str, Any]) -> None:
        name, data, seq = event["t"], event["d"], event["s"]
        if name == "READY":
            self.epoch = Epoch(self.client.name, self.node, time.monotonic())
            self.client.history.epochs.append(self.epoch)
            self._session_id = data["session_id"]
        epoch = self.epoch
        if epoch is None:
            raise AssertionError(f"{name} before READY")
        epoch.events.append((seq, name, data))
        epoch.received.append(time.monotonic())
        if name == "GUILD_CREATE" and data["id"] == self.guild_id:
            epoch.joined_seq, epoch.joined = seq, time.monotonic()
        self.received.set()
