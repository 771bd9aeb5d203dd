"""`moothall proxy`: programs that know the public names alone reach a Moothall, and no other machine."""

import asyncio
import json
import ssl
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from cryptography import x509

from moothall.test_server.certificates import DOMAINS, make_certificates
from moothall.test_server.tls_proxy import is_served, path_at_server, run_through, running_proxy
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer, moothall

BOT = Path(__file__).with_name("proxied_bot.py")
NO_SERVER = "http://127.0.0.1:1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server with the demo."""
    with ForkedServer(tmp_path_factory.mktemp("proxied") / "data") as running:
        yield running


@pytest.fixture(scope="module")
def demo(server: RunningServer) -> Any:
    """The ids and tokens of the demo."""
    return json.loads(server.command("demo", "--json").stdout)


def through_proxy(server: RunningServer, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a program through the proxy, without a way to other hosts."""
    return moothall("proxy", "--server", server.url, "--no-others", "--", *command, patience=100)


def test_a_bot_that_knows_the_public_names_alone_is_led_to_the_server(server: RunningServer, demo: Any) -> None:
    done = through_proxy(server, sys.executable, str(BOT), demo["bot"]["token"], demo["guild"]["channels"]["general"])

    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report.pop("authority").endswith("authorities.pem")
    assert int(report.pop("limit")) > 0
    assert report == {
        "posted": "through the proxy",
        "unknown": 10003,
        "deleted": 204,
        "gateway": "wss://discord.com/gateway",
        "events": [10, "READY"],
        "resume_at": "wss://gateway.discord.gg/gateway",
        "closed": 4002,
        "picture": [200, "89504e47"],
    }


def test_discord_py_logs_in_and_resumes_with_nothing_but_a_proxy(server: RunningServer, demo: Any) -> None:
    script = str(BOT.with_name("proxied_discordpy.py"))

    done = through_proxy(server, "env", f"TOKEN={demo['bot']['token']}", sys.executable, script)

    assert done.returncode == 0, done.stderr
    ready, resumed = done.stdout.splitlines()
    assert ready.startswith("ready Herald")
    assert resumed == "resumed"


def test_the_exit_code_is_the_commands_and_the_authority_ends_with_it() -> None:
    code = "import os; print(os.path.exists(os.environ['SSL_CERT_FILE']), os.environ['SSL_CERT_FILE']); exit(7)"

    done = moothall("proxy", "--server", NO_SERVER, "--", sys.executable, "-c", code)

    assert done.returncode == 7
    there, path = done.stdout.split()
    assert there == "True"
    assert not Path(path).parent.exists()


async def test_a_command_that_a_signal_ends_or_that_is_not_there_is_told() -> None:
    killed = (sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    assert await run_through(killed, NO_SERVER) == 137
    result = await asyncio.to_thread(moothall, "proxy", "--", "/no/such/program")
    assert result.returncode == 1
    assert "No such file" in result.stderr


def test_the_authority_vouches_for_the_public_names_alone_and_leaves_no_key(tmp_path: Path) -> None:
    certificates = make_certificates(tmp_path)

    authority = x509.load_pem_x509_certificate(certificates.authority.read_bytes())
    constraints = authority.extensions.get_extension_for_class(x509.NameConstraints)
    assert constraints.critical
    assert constraints.value.permitted_subtrees == [x509.DNSName(each) for each in DOMAINS]
    assert certificates.bundle.read_bytes().endswith(certificates.authority.read_bytes())
    assert {path.name for path in tmp_path.iterdir()} == {"authority.pem", "authorities.pem"}
    assert not any(b"PRIVATE KEY" in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("host", "served"),
    [
        ("discord.com", True),
        ("Canary.Discord.com.", True),
        ("gateway-us-east1-b.discord.gg", True),
        ("media.discordapp.net", True),
        ("notdiscord.com", False),
        ("discord.com.example.org", False),
        ("localhost", False),
    ],
)
def test_public_names_are_served_and_no_others(host: str, served: bool) -> None:
    assert is_served(host) is served


@pytest.mark.parametrize(
    ("host", "path", "expected"),
    [
        ("discord.com", "/api/v10/gateway?a=%2F", "/api/v10/gateway?a=%2F"),
        ("gateway.discord.gg", "/?v=10&encoding=etf", "/gateway?v=10&encoding=etf"),
        ("gateway.discord.gg:443", "/", "/gateway"),
        ("discord.gg", "/hall", "/invite/hall"),
        ("cdn.discordapp.com", "/avatars/1/2.png?size=64", "/avatars/1/2.png?size=64"),
    ],
)
def test_paths_are_those_of_the_server(host: str, path: str, expected: str) -> None:
    assert path_at_server(host, path) == expected


@asynccontextmanager
async def far_server() -> AsyncIterator[int]:
    """Another host's server, which repeats what it is sent; its port."""

    async def repeat(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data.upper())
        writer.close()

    listener = await asyncio.start_server(repeat, "127.0.0.1", 0)
    async with listener:
        yield listener.sockets[0].getsockname()[1]


async def ask(proxy: str, request: str, then: bytes = b"") -> bytes:
    """Everything that the proxy answers to a request and what is sent after it."""
    reader, writer = await asyncio.open_connection("127.0.0.1", int(proxy.rpartition(":")[2]))
    writer.write(f"{request} HTTP/1.1\r\n\r\n".encode())
    if then:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(then)
        writer.write_eof()
    answer = await reader.read()
    writer.close()
    return answer


async def test_other_hosts_are_reached_unread_or_refused() -> None:
    async with far_server() as port:
        async with running_proxy(NO_SERVER) as variables:
            assert await ask(variables["HTTPS_PROXY"], f"CONNECT 127.0.0.1:{port}", b"hello") == b"HELLO"
            assert (await ask(variables["HTTPS_PROXY"], "CONNECT 127.0.0.1:1")).startswith(b"HTTP/1.1 502 ")
            assert (await ask(variables["HTTPS_PROXY"], "GET http://discord.com/")).startswith(b"HTTP/1.1 405 ")
        async with running_proxy(NO_SERVER, others=False) as variables:
            assert (await ask(variables["HTTPS_PROXY"], f"CONNECT 127.0.0.1:{port}")).startswith(b"HTTP/1.1 403 ")


async def test_without_a_server_the_public_names_lead_nowhere() -> None:
    async with running_proxy(NO_SERVER) as variables:
        context = ssl.create_default_context(cafile=variables["SSL_CERT_FILE"])
        async with (
            aiohttp.ClientSession() as session,
            session.get("https://discord.com/api", proxy=variables["HTTPS_PROXY"], ssl=context) as response,
        ):
            assert response.status == 502
            assert "moothall proxy: " in await response.text()


async def test_without_a_command_the_variables_are_printed_until_it_is_stopped() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "moothall", "proxy", "--json", "--server", NO_SERVER, stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    variables = json.loads(await process.stdout.readline())
    assert Path(variables["NODE_EXTRA_CA_CERTS"]).exists()
    process.terminate()
    assert await process.wait() == 0
    assert not Path(variables["NODE_EXTRA_CA_CERTS"]).exists()
