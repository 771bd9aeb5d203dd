"""What a network without an account can do with WebSockets: few frames, and a bounded number of handshakes."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from moothall.runtime.websocket_frames import IDLE_FRAMES_AT_FIRST, IDLE_FRAMES_PER_MINUTE
from moothall.server.websocket_limits import OPENED
from tests.abuse.raw_websocket import RawWebSocket, frame
from tests.abuse.target import Target
from tests.server.load import PASSWORD
from tests.support.serving import RunningServer

PING = frame(9)


@pytest.fixture(scope="module")
def limited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with its limits."""
    with RunningServer(
        Path(tmp_path_factory.mktemp("bounds")) / "data", "--no-demo", "--trusted-proxy", "127.0.0.1"
    ) as running:
        yield running


def seen_from(server: RunningServer, address: str, token: str = "") -> Target:
    """The server for a client that comes from an address, with a token."""
    return Target(
        url=server.url,
        address=address,
        token=token,
        bot_token="",
        username="",
        password="",
        user_id="",
        guild_id="",
        own_guild_id="",
        channel_id="",
        webhook_path="",
    )


async def open_sockets(target: Target, count: int) -> None:
    """Open and close WebSockets, one after another."""
    for _ in range(count):
        async with RawWebSocket(target) as socket:
            await socket.receive()


async def test_pings_before_identify_are_few(limited: RunningServer) -> None:
    async with RawWebSocket(seen_from(limited, "192.0.2.1")) as socket:
        socket.writer.write(PING * (IDLE_FRAMES_AT_FIRST + 1))
        assert await socket.close_code() == 4008


async def test_a_session_may_ping_and_is_disconnected_for_a_flood_and_can_be_resumed(limited: RunningServer) -> None:
    answer = limited.request("POST", "/auth/register", {"username": "pinging", "password": PASSWORD})
    target = seen_from(limited, "192.0.2.2", answer.json["token"])
    async with RawWebSocket(target) as socket:
        socket.identify(target.token)
        while b'"READY"' not in (payload := (await socket.receive())[1]):
            pass
        socket.writer.write(PING * IDLE_FRAMES_PER_MINUTE)
        pongs = 0
        while pongs < IDLE_FRAMES_PER_MINUTE:
            pongs += (await socket.receive())[0] == 10
        socket.writer.write(PING)
        assert await socket.close_code() == 4008
    session_id = payload.partition(b'"session_id":"')[2].partition(b'"')[0].decode()
    async with RawWebSocket(target) as socket:
        socket.send({"op": 6, "d": {"token": target.token, "session_id": session_id, "seq": 1}})
        while b'"RESUMED"' not in (await socket.receive())[1]:
            pass


async def test_a_network_opens_a_bounded_number_of_websockets_and_others_do_not_notice(
    limited: RunningServer,
) -> None:
    crowded, other = seen_from(limited, "192.0.2.3"), seen_from(limited, "198.51.100.1")
    with pytest.raises(ConnectionRefusedError, match="429"):
        await open_sockets(crowded, 10 * OPENED.requests)
    async with RawWebSocket(other) as socket:
        assert b'"op":10' in (await socket.receive())[1]
