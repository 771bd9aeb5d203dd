"""Connections are accepted as they come, however many clients connect."""

import asyncio
import socket

import uvloop

from moothall.app.server import bind, several_acceptors


def test_a_turn_of_the_event_loop_accepts_several_connections() -> None:
    async def turns_until_accepted(count: int) -> int:
        loop = asyncio.get_running_loop()
        accepted: list[asyncio.BaseTransport] = []

        class Accepting(asyncio.Protocol):
            def connection_made(self, transport: asyncio.BaseTransport) -> None:
                accepted.append(transport)

        sockets = several_acceptors(bind("127.0.0.1", 0)) or []
        servers = [await loop.create_server(Accepting, sock=each, backlog=2048) for each in sockets]
        # The kernel completes the handshakes, so that all of them wait to be accepted.
        clients = [socket.create_connection(sockets[0].getsockname()) for _ in range(count)]
        turns = 0
        while len(accepted) < count:
            turns += 1
            await asyncio.sleep(0)
        for transport in accepted:
            transport.close()
        for server in servers:
            server.close()
            await server.wait_closed()
        for each in (*clients, *sockets):
            each.close()
        return turns

    assert uvloop.run(turns_until_accepted(160)) < 40
