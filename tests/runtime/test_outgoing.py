"""Requests that users can cause never reach the operator's own network, however the address is written."""

# ruff: noqa: RUF001 that characters look alike is the attack

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
from aiohttp.abc import AbstractResolver

from moothall.runtime import outgoing as outgoing_module
from moothall.runtime.name_lookups import AddressInfo, NameLookups
from moothall.runtime.outgoing import AddressRefused, Outgoing, OutgoingFailed
from tests.api.listener import Listener, isolate, listening

PUBLIC = "93.184.216.34"
LOOPBACK = "127.0.0.1"


@pytest.fixture
async def listener(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Listener]:
    isolate(monkeypatch)
    async with listening() as listener:
        yield listener


async def post(url: str, *, allow_private: bool = False) -> int:
    """The status of the answer."""
    outgoing = Outgoing(allow_private=allow_private)
    try:
        return (await outgoing.post(url, b"", {}, seconds=3, maximum=100)).status
    finally:
        await outgoing.close()


def answering(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Let a name server give one list of addresses after the other, and the last one from then on; the names asked."""
    names: list[str] = []

    def look_up_components(host: str, port: int, **_options: Any) -> list[Any]:
        names.append(host)
        return [
            (socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in answers[min(len(names), len(answers)) - 1]
        ]

    monkeypatch.setattr("moothall.runtime.name_lookups.socket.getaddrinfo", look_up_components)
    return names


SPELLINGS = [
    "127.0.0.1",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
    "127．0．0．1",
    "127｡0｡0｡1",
    "１２７.0.0.1",
    "𝟏𝟐𝟕.𝟎.𝟎.𝟏",
    "0.0.0.0",
    "⓪.⓪.⓪.⓪",
    "127.1",
    "127.0.0.1.",
    "2130706433",
    "0x7f000001",
    "0x7f.1",
    "0177.0.0.1",
    "localhost",
    "LOCALHOST.",
    "ⓛⓞⓒⓐⓛⓗⓞⓢⓣ",
    "a.localhost",
    "[::1]",
    "[::]",
    "[::1%25lo]",
    "[::127.0.0.1]",
    "[::ffff:127.0.0.1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[64:ff9b:1::7f00:1]",
    "[2002:7f00:1::]",
    "[2001:0:7f00:1::80ff:fffe]",
]


@pytest.mark.parametrize("host", SPELLINGS)
async def test_no_spelling_of_an_own_address_reaches_a_listener(listener: Listener, host: str) -> None:
    with pytest.raises(OutgoingFailed):
        await post(f"http://{host}:{listener.port}/")
    assert listener.connections == 0


async def test_the_listener_is_reached_where_the_operator_allows_it(listener: Listener) -> None:
    for host in ("127.0.0.1", "①②⑦.⓪.⓪.①", "localhost", "[::1]"):
        assert await post(f"http://{host}:{listener.port}/", allow_private=True) == 200
    assert listener.connections == 4


PRIVATE = [
    "0.0.0.0",
    "0.1.2.3",
    "10.1.2.3",
    "100.64.0.1",
    "100.100.100.200",
    "127.0.0.1",
    "127.255.255.254",
    "168.63.129.16",
    "169.254.169.254",
    "172.16.0.1",
    "192.0.0.8",
    "192.0.0.192",
    "192.0.2.1",
    "192.88.99.1",
    "192.168.0.1",
    "198.18.0.1",
    "198.51.100.1",
    "203.0.113.1",
    "224.0.0.1",
    "239.255.255.250",
    "240.0.0.1",
    "255.255.255.255",
    "::",
    "::1",
    "::127.0.0.1",
    "::8.8.8.8",
    "::ffff:10.0.0.1",
    "::ffff:8.8.8.8",
    "64:ff9b::a00:1",
    "64:ff9b::808:808",
    "64:ff9b:1::",
    "64:ff9b:1::808:808",
    "100::1",
    "2001::1",
    "2001:0:a00:1::",
    "2001:2::1",
    "2001:10::1",
    "2001:20::1",
    "2001:db8::1",
    "2002:a00:1::1",
    "2002:808:808::1",
    "3fff::1",
    "5f00::1",
    "fc00::1",
    "fd00:ec2::254",
    "fe80::1",
    "fe80::1%lo",
    "2606:4700::1111%lo",
    "fec0::1",
    "ff02::1",
]


@pytest.mark.parametrize("address", PRIVATE)
async def test_an_address_that_is_not_public_is_refused_wherever_it_comes_from(
    listener: Listener, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    host = f"[{address.replace('%', '%25')}]" if ":" in address else address
    with pytest.raises(AddressRefused):
        await post(f"http://{host}:{listener.port}/")
    answering(monkeypatch, [address])
    with pytest.raises(AddressRefused):
        await post(f"http://private.example:{listener.port}/")
    answering(monkeypatch, [PUBLIC, address])
    with pytest.raises(AddressRefused):
        await post(f"http://both.example:{listener.port}/")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with pytest.raises(OSError, match="not public"):
        outgoing_module.checked_socket((family, socket.SOCK_STREAM, 6, "", (address, listener.port)))


@pytest.mark.parametrize("address", ["8.8.8.8", PUBLIC, "192.0.1.1", "2606:4700:4700::1111", "2a00:1450::1"])
def test_a_public_address_is_not_refused(address: str) -> None:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    outgoing_module.checked_socket((family, socket.SOCK_STREAM, 6, "", (address, 443))).close()


@pytest.mark.parametrize("address", ["127.1", "2130706433", "0x7f.1", "①②⑦.⓪.⓪.①", "localhost", "", "93.184.216.34."])
def test_what_connect_would_look_up_once_more_gets_no_socket(address: str) -> None:
    with pytest.raises(OSError, match="not public"):
        outgoing_module.checked_socket((socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)))


@pytest.mark.parametrize(
    "answers",
    [([PUBLIC], [LOOPBACK]), ([LOOPBACK], [PUBLIC]), ([PUBLIC, LOOPBACK], [PUBLIC]), ([PUBLIC], ["::1", PUBLIC])],
)
async def test_rebinding_a_name_between_two_lookups_reaches_nothing(
    listener: Listener, monkeypatch: pytest.MonkeyPatch, answers: tuple[list[str], ...]
) -> None:
    names = answering(monkeypatch, *answers)
    outgoing = Outgoing(allow_private=False)
    for number in range(4):
        with pytest.raises(OutgoingFailed):
            await outgoing.post(f"http://rebound.example:{listener.port}/{number}", b"", {}, seconds=3, maximum=10)
        if outgoing._session is not None and isinstance(outgoing._session.connector, aiohttp.TCPConnector):
            outgoing._session.connector.clear_dns_cache()
    await outgoing.close()
    assert len(names) == 4
    assert listener.connections == 0


async def test_an_address_that_the_resolver_lets_through_is_judged_again_where_it_is_connected_to(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Rebound(AbstractResolver):
        """As if the name had been rebound after it was judged."""

        async def resolve(
            self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
        ) -> list[aiohttp.abc.ResolveResult]:
            del family
            return [
                {"hostname": host, "host": LOOPBACK, "port": port, "family": socket.AF_INET, "proto": 6, "flags": 0}
            ]

        async def close(self) -> None:
            pass

    async def rebound(_host: str, port: int, _lookups: NameLookups, **_options: Any) -> list[AddressInfo]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (LOOPBACK, port))]

    monkeypatch.setattr(outgoing_module, "_look_up", rebound)
    with pytest.raises(OSError, match="not public"):
        await outgoing_module.open_socket("rebound.example", listener.port, NameLookups(), allow_private=False)
    monkeypatch.setattr(outgoing_module, "_resolver", lambda **_options: Rebound())
    with pytest.raises(AddressRefused):
        await post(f"http://rebound.example:{listener.port}/")
    assert listener.connections == 0
    assert await post(f"http://rebound.example:{listener.port}/", allow_private=True) == 200


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1:{port}/",
        "file:///etc/passwd",
        "//127.0.0.1:{port}/",
        "127.0.0.1:{port}/",
        "ws://127.0.0.1:{port}/",
        "http:///",
        "http://user@127.0.0.1:{port}/",
        "http://user:password@127.0.0.1:{port}/",
        "http://:@127.0.0.1:{port}/",
        "http://@127.0.0.1:{port}/",
        "http://example.com\\@127.0.0.1:{port}/",
        "http://example.com@127.0.0.1:{port}/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1:x/",
        "http://[127.0.0.1]:{port}/",
    ],
)
async def test_a_url_of_another_scheme_or_with_a_user_is_refused_even_where_private_addresses_are_allowed(
    listener: Listener, url: str
) -> None:
    with pytest.raises(OutgoingFailed):
        await post(url.format(port=listener.port), allow_private=True)
    assert listener.connections == 0


@pytest.mark.parametrize("port", [0, 22, 25, 110, 143, 465, 587, 6000, 6667])
async def test_a_request_is_not_sent_to_the_port_of_another_protocol(port: int) -> None:
    with pytest.raises(outgoing_module.UrlRefused, match="port"):
        await post(f"http://127.0.0.1:{port}/", allow_private=True)


async def test_no_redirect_is_followed(listener: Listener) -> None:
    async def redirect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(
            b"HTTP/1.1 307 Temporary Redirect\r\nlocation: http://127.0.0.1:%d/\r\ncontent-length: 0\r\n\r\n"
            % listener.port
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(redirect, LOOPBACK, 0)
    port = server.sockets[0].getsockname()[1]
    assert await post(f"http://127.0.0.1:{port}/", allow_private=True) == 307
    server.close()
    assert listener.connections == 0


def test_the_event_loop_goes_on_while_the_http_client_is_imported() -> None:
    """In a process of its own, as this one has imported it."""
    program = """
import asyncio, sys, time
from moothall.runtime.outgoing import load_http_client
assert "aiohttp" not in sys.modules
sys.setswitchinterval(0.0005)

async def main():
    loads = [asyncio.create_task(load_http_client()) for _ in range(3)]
    turns = 0
    while not all(load.done() for load in loads):
        await asyncio.sleep(0.001)
        turns += 1
    import aiohttp
    print(turns)

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 10
