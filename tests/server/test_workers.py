"""Two workers and a process that writes: one port, one order of events, and nothing acknowledged lost by a crash."""

import asyncio
import json
import os
import re
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import aiohttp
import pytest

from moothall.settings import SettingsError, load
from tests.server.load import Acknowledged, Load
from tests.server.sockets import Wire
from tests.support.killed_servers import check
from tests.support.server_sessions import identified
from tests.support.serving import RunningServer

PATIENCE = 30.0
WRITER = "the process that writes"
ARGUMENTS = ("--no-demo", "--workers", "2")
ATTEMPTS = 64
"""Connections after which it is certain that both workers were reached: each is equally likely."""


def processes_of(server: RunningServer) -> dict[str, int]:
    """The processes that serve, by name, each as it was started last."""
    return {
        name: int(pid)
        for name, pid in re.findall(r"(the process that writes|worker \d) serves as process (\d+)", server.printed)
    }


async def until(true: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not true():  # noqa: ASYNC110 it happens in another process
            await asyncio.sleep(0.02)


def connections_by_process(server: RunningServer) -> dict[int, set[int]]:
    """The clients' ports of the connections that each worker has accepted, as Linux lists them."""
    own_port = int(server.url.rpartition(":")[2])
    by_inode: dict[str, int] = {}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if int(fields[1].rpartition(":")[2], 16) == own_port and fields[3] == "01":
                by_inode[f"socket:[{fields[9]}]"] = int(fields[2].rpartition(":")[2], 16)
    accepted: dict[int, set[int]] = {}
    for pid in processes_of(server).values():
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            try:
                target = str(descriptor.readlink())
            except FileNotFoundError:
                continue
            if target in by_inode:
                accepted.setdefault(pid, set()).add(by_inode[target])
    return accepted


@asynccontextmanager
async def wires_to_both(server: RunningServer) -> AsyncIterator[dict[int, Wire]]:
    """A connection to each of two workers, by process."""
    await until(lambda: len(processes_of(server)) == 3)
    async with AsyncExitStack() as stack:
        wires = [await stack.enter_async_context(await Wire.to(server.url)) for _ in range(ATTEMPTS)]
        # A connection that waits to be accepted belongs to no process yet.
        for wire in wires:
            assert (await wire.ask("GET", "/api/v10/nothing")).status == 404
        ports = {wire.writer.get_extra_info("sockname")[1]: wire for wire in wires}
        chosen = {pid: ports[min(own & ports.keys())] for pid, own in connections_by_process(server).items()}
        assert len(chosen) == 2
        yield chosen


class Session:
    """A gateway session that records the messages it hears of."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.contents: list[str] = []
        self.dispatches: list[dict[str, Any]] = []
        self._task = asyncio.create_task(self._listen())

    @classmethod
    async def of(cls, http: aiohttp.ClientSession, url: str, token: str) -> Self:
        """Identify with all events of guilds and messages, and wait for the guild."""
        socket = await http.ws_connect(f"{url.replace('http', 'ws', 1)}/gateway?v=10&encoding=json")
        assert (await socket.receive_json())["op"] == 10
        properties = {"os": "linux", "browser": "test", "device": "test"}
        await socket.send_json({"op": 2, "d": {"token": token, "intents": 0, "properties": properties}})
        session = cls(socket)
        await until(lambda: "GUILD_CREATE" in session.names)
        return session

    @property
    def names(self) -> list[str]:
        """The names of the dispatches."""
        return [message["t"] for message in self.dispatches]

    @property
    def local_port(self) -> int:
        """The port of this end of the connection."""
        port: int = self.socket.get_extra_info("sockname")[1]
        return port

    async def close(self) -> None:
        """Disconnect."""
        await self.socket.close()
        await self._task

    async def _listen(self) -> None:
        async for frame in self.socket:
            message = json.loads(frame.data)
            if message["op"] == 0:
                self.dispatches.append(message)
                if message["t"] == "MESSAGE_CREATE":
                    self.contents.append(message["d"]["content"])


@asynccontextmanager
async def sessions_at_both(load: Load, server: RunningServer) -> AsyncIterator[dict[int, list[Session]]]:
    """Gateway sessions of the person, at least one at each worker, by process."""
    sessions: list[Session] = []
    try:
        while True:
            sessions.append(await Session.of(load.session, server.url, load.token))
            accepted = connections_by_process(server)
            placed = {
                pid: [session for session in sessions if session.local_port in ports] for pid, ports in accepted.items()
            }
            placed = {pid: own for pid, own in placed.items() if own}
            if len(placed) == 2:
                break
            assert len(sessions) < ATTEMPTS
        yield placed
    finally:
        for session in sessions:
            await session.close()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the test reads connections as Linux lists them")
async def test_a_write_is_seen_at_every_worker_once_it_is_answered_and_heard_there_in_order(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", *ARGUMENTS, "--no-rate-limits") as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("person")
            await load.create_guild()
            path = f"/api/v10/channels/{load.channel_id}"
            async with wires_to_both(server) as wires, sessions_at_both(load, server) as sessions:
                first, second = wires.values()
                headers = {"authorization": load.token, "content_type": "application/json"}
                expected = []
                for number in range(30):
                    writing, reading = (first, second) if number % 2 else (second, first)
                    expected.append(f"message {number}")
                    body = json.dumps({"content": expected[-1]}).encode()
                    sent = await writing.ask("POST", f"{path}/messages", body, **headers)
                    assert sent.status == 200
                    page = await reading.ask("GET", f"{path}/messages?limit=3", authorization=load.token)
                    assert page.json[0]["content"] == expected[-1]
                    body = json.dumps({"topic": f"topic {number}"}).encode()
                    assert (await writing.ask("PATCH", path, body, **headers)).status == 200
                    shown = await reading.ask("GET", path, authorization=load.token)
                    assert shown.json["topic"] == f"topic {number}"
                # Logging out at one worker ends the login at the other.
                login = json.dumps({"login": "person", "password": "a long enough password"}).encode()
                other = (await first.ask("POST", "/api/v10/auth/login", login, **headers)).json["token"]
                assert (await second.ask("GET", "/api/v10/users/@me", authorization=other)).status == 200
                end = {"authorization": other, "content_type": "application/json"}
                assert (await first.ask("POST", "/api/v10/auth/logout", b"{}", **end)).status == 204
                assert (await second.ask("GET", "/api/v10/users/@me", authorization=other)).status == 401
                for listening in sessions.values():
                    for session in listening:
                        await until(lambda session=session: len(session.contents) >= len(expected))  # type: ignore[misc]
                        assert session.contents == expected
                        assert session.names.count("CHANNEL_UPDATE") == len(expected)
        assert server.stop() == 0
        assert "Traceback" not in server.printed


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="the test reads connections as Linux lists them")
async def test_a_client_resumes_its_session_at_whichever_worker_it_connects_to(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", *ARGUMENTS, "--no-rate-limits") as server:
        async with Load(server.url, Acknowledged()) as load:
            await load.register("person")
            await load.create_guild()
            session = await Session.of(load.session, server.url, load.token)
            ready = session.dispatches[0]["d"]
            seq = session.dispatches[-1]["s"]
            await session.socket.close(code=4000)
            message = await load.ask("POST", f"/channels/{load.channel_id}/messages", {"content": "missed"})
            served_by = set()
            for _ in range(6):
                socket = await load.session.ws_connect(f"{ready['resume_gateway_url']}?v=10&encoding=json")
                assert (await socket.receive_json())["op"] == 10
                resume = {"token": load.token, "session_id": ready["session_id"], "seq": seq}
                await socket.send_json({"op": 6, "d": resume})
                heard: list[dict[str, Any]] = []
                while not heard or heard[-1]["t"] != "RESUMED":
                    heard.append(await socket.receive_json())
                assert message["id"] in [each["d"].get("id") for each in heard]
                port = socket.get_extra_info("sockname")[1]
                served_by |= {pid for pid, ports in connections_by_process(server).items() if port in ports}
                await socket.close(code=4000)
            assert len(served_by) == 1


async def test_rate_limits_count_the_requests_of_all_workers(tmp_path: Path) -> None:
    config = tmp_path / "moothall.toml"
    config.write_text("rate_limit_loopback_factor = 1\n")
    with RunningServer(tmp_path / "data", *ARGUMENTS, "--config", str(config)) as server:
        async with wires_to_both(server) as wires:
            answers = []
            for number in range(14):
                wire = list(wires.values())[number % 2]
                answers.append(await wire.ask("GET", "/api/v10/gateway"))
            # Ten in two seconds, whichever worker answers; a window may end in between.
            remaining = [int(answer.headers["x-ratelimit-remaining"]) for answer in answers[:10]]
            assert [answer.status for answer in answers].count(429) == 4
            assert remaining == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0]


async def test_what_is_acknowledged_outlives_a_killed_worker_and_a_killed_writer(tmp_path: Path) -> None:
    acknowledged = Acknowledged()
    with RunningServer(tmp_path / "data", *ARGUMENTS, "--no-rate-limits") as server:
        await until(lambda: len(processes_of(server)) == 3)
        for round_number, victim in enumerate(("worker 1", WRITER)):
            before = len(acknowledged.messages)
            processes = processes_of(server)
            async with Load(server.url, acknowledged) as load:
                await load.register(f"person{round_number}")
                await load.create_guild()
                socket = await identified(load.session, server.url, load.token)
                writing = asyncio.create_task(load.write())
                await load.acknowledged_more_than(before + 20)
                os.kill(processes[victim], signal.SIGKILL)
                await until(lambda old=processes, name=victim: processes_of(server)[name] != old[name])  # type: ignore[misc]
                # Those at living workers go on; where the connection broke or the writer ended, they stop.
                async with Load(server.url, acknowledged) as again:
                    again.session.headers["Authorization"] = load.token
                    sent = await again.ask("POST", f"/channels/{load.channel_id}/messages", {"content": "on"})
                    acknowledged.messages[int(sent["id"])] = (load.channel_id, "on")
                    assert (await again.ask("GET", f"/channels/{load.channel_id}/messages"))[0]
                    fresh = await identified(again.session, server.url, load.token)
                    await fresh.close()
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                assert all(status == 503 for status, _ in load.odd)
                await socket.close()
        assert server.stop() == 0
        assert "Traceback" not in server.printed
    await check(f"sqlite:///{tmp_path / 'data' / 'moothall.sqlite3'}", acknowledged)


async def test_sessions_begin_anew_after_the_writer_was_killed_since_events_may_be_lost(tmp_path: Path) -> None:
    with RunningServer(tmp_path / "data", *ARGUMENTS, "--no-rate-limits") as server:
        await until(lambda: len(processes_of(server)) == 3)
        async with Load(server.url, Acknowledged()) as load:
            await load.register("person")
            socket = await identified(load.session, server.url, load.token)
            os.kill(processes_of(server)[WRITER], signal.SIGKILL)
            async with asyncio.timeout(PATIENCE):
                said = [json.loads(frame.data) async for frame in socket]
            assert said[-1] == {"op": 9, "d": False, "s": None, "t": None}
            assert (await identified(load.session, server.url, load.token)) is not None


def test_several_workers_need_an_sqlite_file() -> None:
    with pytest.raises(SettingsError, match="workers"):
        load({"workers": "2", "database_url": "postgresql://localhost/moothall"}, environ={})
