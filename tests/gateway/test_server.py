"""The gateway behind the real server, with a real WebSocket client."""

import asyncio
import contextlib
import gc
import json
import zlib
from typing import Any
from urllib.parse import urlsplit

import pytest
import zstandard
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from moothall.gateway.settings import GatewaySettings
from moothall.server.http_protocol import BoundedHttp
from moothall.server.websocket_protocol import GatewayWebSocket
from tests.gateway.peer import message
from tests.support.served_gateways import serving


def masked(data: bytes) -> bytes:
    """A text message of a client in one frame, with a mask of zeros."""
    return bytes((0x81, 0x80 | len(data))) + bytes(4) + data


async def identify(client: ClientConnection) -> None:
    """Identify as alice."""
    await client.send(json.dumps({"op": 2, "d": {"token": "alice", "properties": {}}}))


async def test_an_open_connection_keeps_nothing_of_its_handshake() -> None:
    gc.collect()
    gc.disable()
    try:
        async with serving() as (node, _, url), connect(url, additional_headers={"X-Long": "x" * 4000}) as client:
            await identify(client)
            while json.loads(await client.recv())["t"] != "READY":
                pass
            (connection,) = node.connections
            protocol = connection.send_queue.socket
            assert isinstance(protocol, GatewayWebSocket)
            assert not dict(protocol.scope)
            assert not hasattr(protocol, "request")
            assert not hasattr(protocol, "response")
            assert not [each for each in gc.get_objects() if isinstance(each, BoundedHttp)]
    finally:
        gc.enable()


async def test_messages_that_arrive_at_once_are_handled_in_their_order() -> None:
    async with serving() as (_, _, url):
        address = urlsplit(url)
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        head = (
            f"GET {address.path}?{address.query} HTTP/1.1\r\nHost: {address.netloc}\r\nConnection: Upgrade\r\n"
            "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        writer.write(head.encode())
        await reader.readuntil(b"\r\n\r\n")
        messages = [{"op": 1, "d": None}] * 20 + [{"op": 2, "d": {"token": "alice", "properties": {}}}]
        writer.write(b"".join(masked(json.dumps(each).encode()) for each in messages))
        received = b""
        while b'"t":"READY"' not in received:
            received += await reader.read(65_536)
        assert received[: received.index(b'"t":"READY"')].count(b'"op":11') == 20
        writer.close()


async def test_without_a_public_url_clients_resume_at_the_host_of_their_request() -> None:
    async def resume_url(host: str, **settings: Any) -> str:
        async with serving(**settings) as (_, _, url), connect(url, additional_headers={"Host": host}) as client:
            await identify(client)
            while (heard := json.loads(await client.recv()))["t"] != "READY":
                pass
            return str(heard["d"]["resume_gateway_url"])

    assert await resume_url("moot.lan:3333", public_url_is_guessed=True) == "ws://moot.lan:3333/gateway"
    assert await resume_url("moot.lan", public_url="ws://moot.example/gateway") == "ws://moot.example/gateway"
    assert (
        await resume_url("moot.lan", public_url_is_guessed=True, resume_url="ws://node-1/gateway")
        == "ws://node-1/gateway"
    )


@pytest.mark.parametrize(
    ("host", "forwarded", "url"),
    [
        ("10.0.0.7:3333", None, "ws://10.0.0.7:3333/gateway"),
        ("[fe80::1]:80", "http", "ws://[fe80::1]:80/gateway"),
        ("chat.example.org", "https", "wss://chat.example.org/gateway"),
        (None, None, "ws://guess/gateway"),
        ("", None, "ws://guess/gateway"),
        ("evil.example/path?", None, "ws://guess/gateway"),
        ("user@evil.example", None, "ws://guess/gateway"),
        ('"', "https", "ws://guess/gateway"),
    ],
)
def test_only_a_valid_host_is_repeated_in_the_url(host: str | None, forwarded: str | None, url: str) -> None:
    guessed = GatewaySettings(public_url="ws://guess/gateway", public_url_is_guessed=True)
    assert guessed.url_for(host, forwarded) == url
    assert GatewaySettings(public_url="ws://set/gateway").url_for(host, forwarded) == "ws://set/gateway"


async def test_every_transport_carries_the_same_dispatches() -> None:
    async with serving() as (_, bus, url):
        for transport, inflate in (
            ("", None),
            ("&compress=zlib-stream", zlib.decompressobj().decompress),
            ("&compress=zstd-stream", zstandard.ZstdDecompressor().decompressobj().decompress),
        ):
            async with connect(url + transport) as client:
                await identify(client)
                names: list[str | None] = []
                while "MESSAGE_CREATE" not in names:
                    if "GUILD_CREATE" in names:
                        bus.publish([message("hello " * 100)])
                    got = await client.recv()
                    names.append(json.loads(got if inflate is None else inflate(got))["t"])  # type: ignore[arg-type]
                assert names[:3] == [None, "READY", "GUILD_CREATE"]


async def test_close_codes_reach_the_client() -> None:
    async with serving() as (_, _, url):
        for said, code in (("{", 4002), ('{"op":77}', 4001), ('{"op":3,"d":{}}', 4003), ("x" * 5_000, 4002)):
            async with connect(url) as client:
                await client.send(said)
                with contextlib.suppress(ConnectionClosed):
                    async for _ in client:
                        pass
                assert client.close_code == code


async def test_a_client_that_stops_reading_is_disconnected_and_no_other() -> None:
    async with (
        serving(queue_bytes=200_000) as (node, bus, url),
        connect(url, max_queue=1) as slow,
        connect(url) as quick,
    ):
        for client in (slow, quick):
            await identify(client)
            while json.loads(await client.recv())["t"] != "GUILD_CREATE":
                pass
        for _ in range(400):
            bus.publish([message("x" * 50_000)])
            while json.loads(await quick.recv())["t"] != "MESSAGE_CREATE":
                pass
        assert node.ends.dropped == 1
        assert len(node.connections) == 1
        with contextlib.suppress(ConnectionClosed):
            async for _ in slow:
                pass
        assert slow.close_code == 1006


async def test_a_server_that_stops_asks_its_clients_to_reconnect() -> None:
    async with serving() as (node, _, url), connect(url) as client:
        await identify(client)
        await client.recv()
        await client.recv()
        await node.close()
        last: Any = None
        with contextlib.suppress(ConnectionClosed):
            async for got in client:
                last = json.loads(got)
        assert last["op"] == 7
        assert client.close_code == 4000
