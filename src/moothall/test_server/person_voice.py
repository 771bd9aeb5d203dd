"""The voice of people in tests: clients of the voice gateway that say frames of Opus, and count those they hear."""

import asyncio
import json
import struct
from collections import Counter
from contextlib import suppress
from typing import Any, Final

import aiohttp
from msgspec import Struct

from moothall.objects.clock import CLOCK
from moothall.voice import packets
from moothall.voice.encryption import AES_GCM, NONCE_BYTES, Cipher, cipher
from moothall.voice.opcodes import Opcode

_READY_SECONDS: Final = 10.0
_FRAME_MS: Final = 20
_TICKS: Final = 48
"""Of RTP timestamps in a millisecond."""
_SILENCE: Final = b"\xf8\xff\xfe"
_TRAILING: Final = 5
"""Frames of silence after the last one."""


class VoiceServer(Struct, forbid_unknown_fields=True):
    """Where a person connects: what VOICE_SERVER_UPDATE and READY have told."""

    person: str
    guild_id: str
    session_id: str
    token: str


class NotConnected(Exception):
    """A person has no connection to voice, or gets none."""


class PersonVoice(asyncio.DatagramProtocol):
    """The connection of one person."""

    def __init__(self, http: aiohttp.ClientSession, url: str) -> None:
        self._http = http
        self._url = url
        self.heard: Counter[str] = Counter()
        """Frames by the id of the user who said them; silence does not count."""
        self.connected: set[str] = set()
        """The ids of the users in the channel to whom sound is sent, if they may hear."""
        self.guild_id = 0
        self._frames: Counter[int] = Counter()
        self._users: dict[int, str] = {}
        self._cipher: Cipher | None = None
        self._nonce = 0
        self._sequence = 0
        self._ssrc = 0
        self._transport: asyncio.DatagramTransport | None = None
        self._socket: aiohttp.ClientWebSocketResponse | None = None
        self._address: asyncio.Future[tuple[str, int]] = asyncio.get_running_loop().create_future()
        self._ready = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def connect(self, user_id: str, server: VoiceServer) -> None:
        """Connect, and wait until sound passes. Raises NotConnected."""
        self.guild_id = int(server.guild_id)
        try:
            async with asyncio.timeout(_READY_SECONDS):
                self._socket = await self._http.ws_connect(f"{self._url.replace('http', 'ws', 1)}/?v=8")
                ids = {"server_id": server.guild_id, "user_id": user_id, "session_id": server.session_id}
                await self._send(Opcode.IDENTIFY, {**ids, "token": server.token})
                self._tasks.append(asyncio.create_task(self._read(self._socket)))
                await self._ready.wait()
        except (TimeoutError, aiohttp.ClientError):
            await self.close()
            raise NotConnected("the voice gateway lets the person not in") from None

    async def close(self) -> None:
        """Disconnect."""
        for task in self._tasks:
            task.cancel()
        if self._transport is not None:
            self._transport.close()
        if self._socket is not None:
            await self._socket.close()

    async def say(self, frames: list[bytes]) -> None:
        """Say frames of 20 ms, each at its time, and then silence."""
        await self._send(Opcode.SPEAKING, {"speaking": 1, "delay": 0, "ssrc": self._ssrc})
        loop = asyncio.get_running_loop()
        start = loop.time()
        for number, frame in enumerate([*frames, *[_SILENCE] * _TRAILING]):
            await asyncio.sleep(start + number * _FRAME_MS / 1000 - loop.time())
            self._send_frame(frame)
        await self._send(Opcode.SPEAKING, {"speaking": 0, "delay": 0, "ssrc": self._ssrc})

    def _send_frame(self, frame: bytes) -> None:
        if self._cipher is None or self._transport is None:
            raise NotConnected("the person has lost the connection to voice")
        self._sequence += 1
        self._nonce += 1
        timestamp = self._sequence * _FRAME_MS * _TICKS & 0xFFFFFFFF
        header = struct.pack(
            ">BBHII", packets.VERSION_BITS, packets.OPUS, self._sequence & 0xFFFF, timestamp, self._ssrc
        )
        nonce = self._nonce.to_bytes(NONCE_BYTES, "big")
        self._transport.sendto(header + self._cipher.encrypt(nonce, frame, header) + nonce)

    # The voice gateway

    async def _send(self, op: int, data: object) -> None:
        if self._socket is None or self._socket.closed:
            raise NotConnected("the person has lost the connection to voice")
        await self._socket.send_str(json.dumps({"op": op, "d": data}))

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for message in socket:
            if message.type is aiohttp.WSMsgType.TEXT:
                payload = json.loads(message.data)
                await self._handle(payload["op"], payload["d"])

    async def _handle(self, op: int, data: Any) -> None:
        if op == Opcode.HELLO:
            self._tasks.append(asyncio.create_task(self._beat(data["heartbeat_interval"] / 1000)))
        elif op == Opcode.READY:
            self._ssrc = data["ssrc"]
            loop = asyncio.get_running_loop()
            transport, _ = await loop.create_datagram_endpoint(lambda: self, remote_addr=(data["ip"], data["port"]))
            self._transport = transport
            request = struct.pack(">HHI", 1, packets.DISCOVERY_BYTES - 4, self._ssrc)
            transport.sendto(request + bytes(packets.DISCOVERY_BYTES - len(request)))
            host, port = await self._address
            protocol = {"protocol": "udp", "data": {"address": host, "port": port, "mode": AES_GCM}}
            await self._send(Opcode.SELECT_PROTOCOL, protocol)
        elif op == Opcode.SESSION_DESCRIPTION:
            self._cipher = cipher(data["mode"], bytes(data["secret_key"]))
            self._ready.set()
        elif op == Opcode.CLIENTS_CONNECT:
            self.connected.update(data["user_ids"])
        elif op == Opcode.CLIENT_DISCONNECT:
            self.connected.discard(data["user_id"])
        elif op == Opcode.SPEAKING:
            self._users[data["ssrc"]] = data["user_id"]
            self.heard[data["user_id"]] += self._frames.pop(data["ssrc"], 0)

    async def _beat(self, interval: float) -> None:
        with suppress(NotConnected):
            while True:
                await self._send(Opcode.HEARTBEAT, {"t": int(CLOCK.monotonic() * 1000), "seq_ack": -1})
                await asyncio.sleep(interval * 0.9)

    # Datagrams

    def datagram_received(self, data: bytes, addr: object) -> None:
        """Take an answer of address discovery, or a packet of sound."""
        del addr
        if len(data) == packets.DISCOVERY_BYTES and data[0] == 0:
            if not self._address.done():
                host = data[8:72].split(b"\0", 1)[0].decode("ascii")
                self._address.set_result((host, int.from_bytes(data[72:74], "big")))
            return
        size = 0 if packets.is_rtcp(data) else packets.rtp_header_size(data)
        if not size or self._cipher is None:
            return
        header = data[:size]
        body = self._cipher.decrypt(data[-NONCE_BYTES:], data[size:-NONCE_BYTES], header)
        frame = None if body is None else packets.rtp_payload(header, body)
        if frame is None or frame == _SILENCE:
            return
        ssrc = packets.rtp_ssrc(data)
        if ssrc in self._users:
            self.heard[self._users[ssrc]] += 1
        else:
            self._frames[ssrc] += 1


class PersonVoices:
    """The connections of all people, by their names."""

    def __init__(self) -> None:
        self._voices: dict[str, PersonVoice] = {}
        self._http: aiohttp.ClientSession | None = None

    async def connect(self, url: str, user_id: str, server: VoiceServer) -> None:
        """Connect a person, whose earlier connection ends. Raises NotConnected."""
        await self.disconnect(server.person)
        if self._http is None:
            self._http = aiohttp.ClientSession()
        voice = PersonVoice(self._http, url)
        await voice.connect(user_id, server)
        self._voices[server.person] = voice

    def of(self, person: str) -> PersonVoice:
        """The connection of a person. Raises NotConnected."""
        if person not in self._voices:
            raise NotConnected(f"{person} is in no voice channel")
        return self._voices[person]

    async def disconnect(self, person: str) -> None:
        """End a person's connection, if there is one."""
        voice = self._voices.pop(person, None)
        if voice is not None:
            await voice.close()

    async def close(self) -> None:
        """End all connections."""
        for person in list(self._voices):
            await self.disconnect(person)
        if self._http is not None:
            await self._http.close()
            self._http = None
