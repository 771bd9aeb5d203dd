"""Findings about sound: its UDP port, the address that clients send to, and the way of the voice gateway."""

import socket
from collections.abc import Iterator

import pytest
from aiohttp import web

from moothall.doctor import voice
from moothall.doctor.finding import Finding, Level
from moothall.settings import Settings
from tests.doctor.fronting import Front, listening
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

ELSEWHERE = "192.0.2.1"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server whose voice process has not been started."""
    with ForkedServer(tmp_path_factory.mktemp("doctor") / "data", "--no-demo") as running:
        yield running


@pytest.fixture
def taken() -> Iterator[int]:
    """A UDP port of this machine that a program receives at."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as program:
        program.bind(("127.0.0.1", 0))
        yield program.getsockname()[1]


async def findings(settings: Settings, *, running: bool = False) -> dict[str, Finding]:
    """What is found, by check."""
    return {each.check: each async for each in voice.check_voice(settings, running=running)}


async def greet(request: web.Request) -> web.StreamResponse:
    """Greet as a voice process does."""
    client = web.WebSocketResponse()
    await client.prepare(request)
    await client.send_json({"op": 8, "d": {"v": 8, "heartbeat_interval": 13_750}})
    await client.receive()
    return client


@pytest.mark.parametrize("settings", [Settings(voice=False), Settings(nats_url="nats://127.0.0.1:4222")])
async def test_nothing_is_checked_where_sound_is_not_carried(settings: Settings) -> None:
    assert [each.level for each in (await findings(settings)).values()] == [Level.SKIPPED]


async def test_a_free_port_is_fine_and_one_that_another_program_has_is_an_error(taken: int) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unused:
        unused.bind(("127.0.0.1", 0))
        free = unused.getsockname()[1]

    assert (await findings(Settings(voice_port=free)))["voice port"].level is Level.OK
    finding = (await findings(Settings(voice_port=taken)))["voice port"]
    assert (finding.level, finding.message) == (Level.ERROR, f"another program receives at UDP port {taken}")


async def test_a_port_that_our_voice_process_has_is_fine(taken: int) -> None:
    async with listening(greet) as url:
        settings = Settings(port=int(url.rpartition(":")[2]), voice_port=taken)
        assert (await findings(settings, running=True))["voice port"].level is Level.OK


async def test_an_address_that_sound_does_not_come_from_is_a_warning_unless_it_was_chosen(taken: int) -> None:
    behind_cdn = Settings(public_url=f"https://{ELSEWHERE}", voice_port=taken)

    finding = (await findings(behind_cdn))["voice address"]

    assert finding.level is Level.WARNING
    assert f'voice_address = "{ELSEWHERE}"' in finding.advice
    chosen = Settings(public_url=f"https://{ELSEWHERE}", voice_port=taken, voice_address=ELSEWHERE)
    assert "voice address" not in await findings(chosen)
    own = Settings(public_url="https://127.0.0.1", voice_port=taken)
    assert (await findings(own))["voice address"].level is Level.OK
    nowhere = Settings(public_url="https://no-such-host.invalid", voice_port=taken)
    assert (await findings(nowhere))["voice address"].level is Level.ERROR


async def test_a_proxy_that_passes_websockets_on_for_the_gateway_alone_is_an_error(server: RunningServer) -> None:
    port = int(server.url.rpartition(":")[2])
    direct = Settings(data=server.data, port=port, public_url=server.url)
    assert (await findings(direct, running=True))["voice gateway"].level is Level.OK

    async with listening(Front(server.url, socket_paths=("/gateway",))) as url:
        behind = Settings(data=server.data, port=port, public_url=url)
        finding = (await findings(behind, running=True))["voice gateway"]

    assert finding.level is Level.ERROR
    assert "every path" in finding.advice
