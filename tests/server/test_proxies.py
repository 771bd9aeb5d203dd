"""Behind a proxy on the same machine, clients are told apart, and none is taken for the machine itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from moothall.api.request.http_request import client_network
from moothall.runtime.asgi import Scope
from moothall.settings import Settings
from tests.server.sockets import Wire
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

GATEWAY = "/api/v10/gateway"
FACTOR = 20


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with ForkedServer(
        tmp_path_factory.mktemp("proxied") / "data", "--no-demo", "--trusted-proxy", "127.0.0.1"
    ) as server:
        yield server


async def limit(server: RunningServer, **headers: str) -> int:
    """How many requests one client may make in the row's time."""
    async with await Wire.to(server.url) as wire:
        return int((await wire.ask("GET", GATEWAY, None, **headers)).headers["x-ratelimit-limit"])


@pytest.mark.parametrize(
    "forwarded", ["203.0.113.9", "203.0.113.9:4711", "[2001:db8::1]:4711", "127.0.0.1", "127.0.0.1:80", "nonsense", ""]
)
async def test_no_client_behind_a_proxy_has_the_allowance_of_this_machine(
    proxied: RunningServer, forwarded: str
) -> None:
    assert await limit(proxied, x_forwarded_for=forwarded) * FACTOR == await limit(proxied)


async def test_clients_that_a_proxy_writes_with_ports_do_not_share_a_limit(proxied: RunningServer) -> None:
    async with await Wire.to(proxied.url) as wire:

        async def left(address: str) -> int:
            return int((await wire.ask("GET", GATEWAY, x_forwarded_for=address)).headers["x-ratelimit-remaining"])

        first = await left("203.0.113.20:1001")
        assert await left("203.0.113.20:1002") == first - 1
        assert await left("203.0.113.21:1001") == first
        assert await left('"[2001:db8:0:1::20]:1001"') == first
        assert await left("2001:db8:0:1::20") == first - 1


@pytest.mark.parametrize("forwarded", [b"203.0.113.9:4711", b"127.0.0.1", b"::ffff:127.0.0.1", b"nonsense", b""])
@pytest.mark.parametrize("trusted", [("127.0.0.1",), ()])
def test_no_gateway_connection_behind_a_proxy_is_counted_as_this_machine(
    tmp_path: Path, forwarded: bytes, trusted: tuple[str, ...]
) -> None:
    settings = Settings(data=tmp_path, demo=False, trusted_proxies=trusted)
    scope: Scope = {"type": "websocket", "client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", forwarded)]}
    assert client_network(scope, settings.trusts) != ""
    assert client_network({**scope, "headers": []}, settings.trusts) == ""
