"""A client of the voice gateway that this suite has written itself: it says and hears exactly what a test wants."""

import asyncio
import contextlib
import json
import socket
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, Final, Self

import aiohttp

from moothall.voice.encryption import AES_GCM, Cipher, cipher

SOON: Final = 10.0


class Gateway:
    """A session of the gateway of events that joins voice channels."""

    def __init__(self, socket_: aiohttp.ClientWebSocketResponse, token: str) -> None:
        self.socket = socket_
        self.token = token
        self.events: list[tuple[str, Any]] = []
        self.session_id = ""
        self.user_id = ""
        self._changed = asyncio.Event()
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    @asynccontextmanager
    async def online(cls, http: aiohttp.ClientSession, url: str, token: str) -> AsyncIterator[Self]:
        """Identify, and be ready for the length of the block."""
        async with http.ws_connect(f"{url.replace('http', 'ws', 1)}/gateway?v=10&encoding=json") as socket_:
            gateway = cls(socket_, token)
            properties = {"os": "linux", "browser": "suite", "device": "suite"}
            identify = {"token": token, "intents": (1 << 0) | (1 << 1) | (1 << 7), "properties": properties}
            await socket_.send_json({"op": 2, "d": identify})
            ready = await gateway.event("READY")
            gateway.session_id, gateway.user_id = ready["session_id"], ready["user"]["id"]
            await gateway.event("GUILD_CREATE")
            yield gateway
            gateway._reader.cancel()

    async def join(self, guild_id: str, channel_id: str | None, **flags: bool) -> None:
        """Send opcode 4."""
        body = {"guild_id": guild_id, "channel_id": channel_id, "self_mute": False, "self_deaf": False, **flags}
        await self.socket.send_json({"op": 4, "d": body})

    async def event(self, name: str, *, skip: int = 0) -> Any:
        """The first event of a name, after some of that name."""
        async with asyncio.timeout(SOON):
            while len(matching := [data for event, data in self.events if event == name]) <= skip:
                self._changed.clear()
                await self._changed.wait()
        return matching[skip]

    def count(self, name: str) -> int:
        """How many events of a name have come."""
        return sum(event == name for event, _ in self.events)

    async def _read(self) -> None:
        async for message in self.socket:
            payload = json.loads(message.data)
            if payload["op"] == 0:
                self.events.append((payload["t"], payload["d"]))
                self._changed.set()


class Voice:
    """A connection to the voice gateway, and a socket for datagrams."""

    def __init__(self, socket_: aiohttp.ClientWebSocketResponse, version: int) -> None:
        self.socket = socket_
        self.version = version
        self.seq_ack = -1
        self.messages: list[dict[str, Any]] = []
        self.binary: list[tuple[int, bytes]] = []
        """Opcode and data of binary messages."""
        self.numbers: list[int] = []
        self.reports: list[bytes] = []
        """Packets of RTCP."""
        self.ready: dict[str, Any] = {}
        self.description: dict[str, Any] = {}
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setblocking(False)
        self.cipher: Cipher | None = None
        self.nonce = 0
        self.on_binary: Callable[[int, bytes], Awaitable[None]] | None = None
        self.on_text: Callable[[int, Any], Awaitable[None]] | None = None
        self._changed = asyncio.Event()
        self._reader = asyncio.ensure_future(self._read())

    @classmethod
    @asynccontextmanager
    async def connected(cls, http: aiohttp.ClientSession, url: str, *, version: int = 8) -> AsyncIterator[Self]:
        """Be connected for the length of the block, without identifying."""
        async with http.ws_connect(f"{url.replace('http', 'ws', 1)}/?v={version}") as socket_:
            voice = cls(socket_, version)
            try:
                await voice.message(8)
                yield voice
            finally:
                voice._reader.cancel()
                voice.udp.close()

    async def identify(self, gateway: Gateway, server: dict[str, Any], **changes: Any) -> None:
        """Send Identify."""
        body = {
            "server_id": server["guild_id"],
            "user_id": gateway.user_id,
            "session_id": gateway.session_id,
            "token": server["token"],
            "max_dave_protocol_version": 0,
            **changes,
        }
        await self.send(0, body)

    async def begin(self, gateway: Gateway, server: dict[str, Any], *, mode: str = AES_GCM, **changes: Any) -> None:
        """Identify, find the own address and choose a mode."""
        await self.identify(gateway, server, **changes)
        self.ready = await self.message(2)
        await self.select(mode)

    async def select(self, mode: str = AES_GCM) -> None:
        """Find the own address and choose a mode."""
        self.udp.connect((self.ready["ip"], self.ready["port"]))
        self.udp.send(struct.pack(">HHI", 1, 70, self.ready["ssrc"]) + bytes(66))
        answer = await self.datagram()
        assert answer is not None
        assert len(answer) == 74
        assert answer[:8] == struct.pack(">HHI", 2, 70, self.ready["ssrc"])
        host, port = answer[8:72].rstrip(b"\0").decode(), int.from_bytes(answer[72:], "big")
        data = {"address": host, "port": port, "mode": mode}
        await self.send(1, {"protocol": "udp", "data": data})
        self.description = await self.message(4)
        self.cipher = cipher(mode, bytes(self.description["secret_key"]))

    async def send(self, op: int, data: Any) -> None:
        """Send a message."""
        await self.socket.send_json({"op": op, "d": data})

    async def message(self, op: int, *, skip: int = 0) -> Any:
        """The data of the first message of an opcode, after some of that opcode."""
        await self._until(lambda: len(self.all(op)) > skip)
        return self.all(op)[skip]

    def all(self, op: int) -> list[Any]:
        """The data of all messages of an opcode."""
        return [each["d"] for each in self.messages if each["op"] == op]

    async def closed(self) -> int:
        """Wait for the close; its code."""
        async with asyncio.timeout(SOON):
            await self._reader
        return self.socket.close_code or 0

    # Packets

    def packet(self, body: bytes, *, sequence: int = 1, ssrc: int | None = None, nonce: int | None = None) -> bytes:
        """An encrypted RTP packet of Opus."""
        assert self.cipher is not None
        self.nonce = self.nonce + 1 if nonce is None else nonce
        header = struct.pack(">BBHII", 0x80, 0x78, sequence, 960 * sequence, ssrc or self.ready["ssrc"])
        number = self.nonce.to_bytes(4, "big")
        return header + self.cipher.encrypt(number, body, header) + number

    def say(self, body: bytes, **options: Any) -> bytes:
        """Send an RTP packet; it."""
        packet = self.packet(body, **options)
        self.udp.send(packet)
        return packet

    async def datagram(self, *, seconds: float = SOON) -> bytes | None:
        """The next datagram; None if there is none in time."""
        try:
            async with asyncio.timeout(seconds):
                return await asyncio.get_running_loop().sock_recv(self.udp, 2048)
        except TimeoutError:
            return None

    async def hear(self, *, seconds: float = SOON) -> tuple[int, bytes] | None:
        """The source and the body of the next packet, decrypted; None if there is none in time."""
        while True:
            data = await self.datagram(seconds=seconds)
            if data is None:
                return None
            if data[1] not in range(192, 224):
                break
            self.reports.append(data)
        assert self.cipher is not None
        size = 12 + (4 if data[0] & 0x10 else 0)
        body = self.cipher.decrypt(data[-4:], data[size:-4], data[:size])
        assert body is not None, "a packet that is not encrypted for this client"
        return int.from_bytes(data[8:12], "big"), body

    async def _until(self, condition: Any) -> None:
        async with asyncio.timeout(SOON):
            while not condition():
                assert not self._reader.done(), f"closed with {self.socket.close_code}"
                self._changed.clear()
                await self._changed.wait()

    async def _read(self) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            async for message in self.socket:
                if message.type is aiohttp.WSMsgType.TEXT:
                    payload = json.loads(message.data)
                    self.messages.append(payload)
                    if "seq" in payload:
                        self.seq_ack = payload["seq"]
                        self.numbers.append(payload["seq"])
                    if self.on_text is not None:
                        await self.on_text(payload["op"], payload["d"])
                else:
                    self.seq_ack = int.from_bytes(message.data[:2], "big")
                    self.numbers.append(self.seq_ack)
                    self.binary.append((message.data[2], message.data[3:]))
                    if self.on_binary is not None:
                        await self.on_binary(message.data[2], message.data[3:])
                self._changed.set()
        self._changed.set()
