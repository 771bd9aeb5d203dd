"""Three processes behind Caddy, with its file and the settings of compose.cluster.yaml; skipped without Caddy."""

import asyncio
import json
import os
import re
import shutil
import socket
import ssl
import subprocess
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.support.nats_servers import eventually
from tests.support.serving import RunningServer

CADDYFILE: Final = Path(__file__).parents[2] / "deploy" / "Caddyfile"


class Cluster(NamedTuple):
    """The address of the proxy, what trusts its certificate, and the processes by their number."""

    url: str
    trust: ssl.SSLContext
    processes: dict[int, RunningServer]

    def request(self, method: str, path: str, body: Any = None, token: str = "") -> tuple[int, Any]:
        """A request below /api/v10: its status and answer."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": token} if token else {})
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}/api/v10{path}", data, headers, method=method)  # noqa: S310 its own
        try:
            with urllib.request.urlopen(request, timeout=30, context=self.trust) as response:  # noqa: S310 its own URL
                return response.status, json.loads(response.read() or b"null")
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, None

    def is_reached(self) -> bool:
        """Whether the proxy leads to a process."""
        try:
            return self.request("GET", "/gateway")[0] == 200
        except OSError:
            return False


@pytest.fixture
async def cluster(shared_database: str, nats_url: str, tmp_path: Path) -> AsyncIterator[Cluster]:
    """The cluster, with a certificate of the proxy's own authority."""
    command = shutil.which("caddy")
    if command is None:
        pytest.skip("Caddy is not installed")
    domain = f"localhost:{_free_port()}"
    ports = {number: _free_port() for number in (1, 2, 3)}
    with ExitStack() as stack:
        processes = {
            number: stack.enter_context(_process(tmp_path / "data", number, port, domain, shared_database, nats_url))
            for number, port in ports.items()
        }
        stack.enter_context(_caddy(command, tmp_path, domain, ports))
        authority = tmp_path / "caddy" / "pki" / "authorities" / "local" / "root.crt"
        await eventually(authority.exists)
        proxied = Cluster(f"https://{domain}", ssl.create_default_context(cafile=authority), processes)
        await eventually(proxied.is_reached)
        yield proxied


def _process(data: Path, number: int, port: int, domain: str, database_url: str, nats_url: str) -> RunningServer:
    settings = {
        "MOOTHALL_DATABASE_URL": database_url,
        "MOOTHALL_NATS_URL": nats_url,
        "MOOTHALL_PUBLIC_URL": f"https://{domain}",
        "MOOTHALL_GATEWAY_URL": f"wss://{domain}/resume/{number}/gateway",
        "MOOTHALL_TRUSTED_PROXIES": "127.0.0.1/32",
    }
    within = ["env", *(f"{name}={value}" for name, value in settings.items())]
    return RunningServer(data, "--no-demo", "--port", str(port), within=within)


@contextmanager
def _caddy(command: str, folder: Path, domain: str, ports: dict[int, int]) -> Iterator[None]:
    """Caddy with the cluster's file, in which only the names of containers are replaced."""
    text = re.sub(r"moothall-(\d):3333", lambda name: f"127.0.0.1:{ports[int(name[1])]}", CADDYFILE.read_text())
    options = f"admin off\nskip_install_trust\nauto_https disable_redirects\nstorage file_system {folder / 'caddy'}"
    config = folder / "Caddyfile"
    config.write_text(f"{{\n{options}\n}}\n{text}")
    with (folder / "caddy.log").open("wb") as log:
        process = subprocess.Popen(
            [command, "run", "--adapter", "caddyfile", "--config", config],
            env=os.environ | {"DOMAIN": domain, "HOME": str(folder)},
            stdout=log,
            stderr=log,
        )
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _free_port() -> int:
    """A port that is free now: the processes' addresses name the proxy's before it runs."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


async def _receive(connection: ClientConnection, name: str) -> Any:
    """The data of the next dispatch of this name, with its sequence number."""
    async with asyncio.timeout(30):
        while (payload := json.loads(await connection.recv()))["t"] != name:
            assert payload["op"] in {0, 10, 11}, payload
    return payload


async def test_people_talk_through_the_proxy_resume_where_their_session_is_and_go_on_without_a_process(
    cluster: Cluster,
) -> None:
    def request(method: str, path: str, body: Any = None) -> Any:
        return asyncio.to_thread(cluster.request, method, path, body, token)

    token = ""
    status, account = await request("POST", "/auth/register", {"username": "ada", "password": "a long pass phrase"})
    assert status == 201, account
    token = account["token"]
    _, guild = await request("POST", "/guilds", {"name": "Cluster"})
    _, channels = await request("GET", f"/guilds/{guild['id']}/channels")
    messages = next(f"/channels/{channel['id']}/messages" for channel in channels if channel["type"] == 0)
    _, gateway = await request("GET", "/gateway")
    numbers = {number: f"{cluster.url}/resume/{number}/".replace("https", "wss") for number in cluster.processes}
    properties = {"os": "linux", "browser": "test", "device": "test"}
    async with connect(gateway["url"], ssl=cluster.trust) as connection:
        identify = {"token": token, "properties": properties, "intents": (1 << 9) | (1 << 15) | 1}
        await connection.send(json.dumps({"op": 2, "d": identify}))
        ready = await _receive(connection, "READY")
        last: dict[str, Any] = {}
        for number in range(6):  # the proxy spreads them over all processes
            assert (await request("POST", messages, {"content": f"message {number}"}))[0] == 200
            last = await _receive(connection, "MESSAGE_CREATE")
            assert last["d"]["content"] == f"message {number}"
        await connection.close(4000)  # by 1000 the session would end
    resume_url = ready["d"]["resume_gateway_url"]
    own = next(number for number, prefix in numbers.items() if resume_url.startswith(prefix))

    await request("POST", messages, {"content": "missed"})
    async with connect(resume_url, ssl=cluster.trust) as connection:
        resume = {"token": token, "session_id": ready["d"]["session_id"], "seq": last["s"]}
        await connection.send(json.dumps({"op": 6, "d": resume}))
        # RESUMED is before the message where that reaches the session's process later than the client.
        resumed = {(payload := json.loads(await connection.recv()))["t"]: payload["d"] for _ in range(3)}
        assert resumed["MESSAGE_CREATE"]["content"] == "missed"
        assert "RESUMED" in resumed

        for other in cluster.processes.keys() - {own}:
            await asyncio.to_thread(cluster.processes[other].stop)
        for _ in range(6):
            assert (await request("GET", messages))[0] == 200
        assert (await request("POST", messages, {"content": "one is left"}))[0] == 200
        assert (await _receive(connection, "MESSAGE_CREATE"))["d"]["content"] == "one is left"
