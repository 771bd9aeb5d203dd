"""Findings about the port, the public URL and the proxy; and the command, on an installation as a whole."""

import json
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from moothall.app.services import server_key
from moothall.doctor import network
from moothall.doctor.diagnosis import diagnose
from moothall.doctor.finding import Finding, Level
from moothall.objects.clock import CLOCK
from moothall.runtime.secrets import ServerKey
from moothall.server.health import Arrival, key_proof
from moothall.settings import Settings
from tests.cli.running import run
from tests.doctor.fronting import Front, bad_gateway, listening, redirect, stranger, welcome
from tests.server.visiting import visited
from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer

ARRIVAL = Arrival("0.1.0", 0, "192.0.2.4", trusted=True, forwarded=True, addressed=True, client="203.0.113.7")
CHAT = Settings(public_url="https://chat.example.org")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server that trusts a proxy on this machine."""
    with ForkedServer(
        tmp_path_factory.mktemp("doctor") / "data", "--no-demo", "--trusted-proxy", "127.0.0.1"
    ) as running:
        yield running


def settings_of(server: RunningServer, **changes: Any) -> Settings:
    """The settings of the running server."""
    port = int(server.url.rpartition(":")[2])
    return Settings(data=server.data, port=port, trusted_proxies=("127.0.0.1",), **changes)


async def collected(findings: AsyncIterator[Finding]) -> list[Finding]:
    return [finding async for finding in findings]


async def public(server: RunningServer, url: str) -> list[Finding]:
    """What is found about a public URL."""
    settings = settings_of(server, public_url=url)
    return await collected(network.check_public_url(settings, server_key(settings), running=True))


async def test_an_installation_behind_a_proper_proxy_has_no_errors(server: RunningServer) -> None:
    async with listening(Front(server.url)) as url:
        findings = await diagnose(settings_of(server, public_url=url))

    assert [finding for finding in findings if finding.level is Level.ERROR] == []
    by_check = {finding.check: finding for finding in findings}
    assert by_check["port"].message.startswith("our server listens")
    assert by_check["public url"].message == f"{url} leads to our server"
    assert by_check["proxy headers"].message == "the proxy at 127.0.0.1 tells clients apart"
    assert by_check["gateway"].level is Level.OK


async def test_a_proxy_that_tells_no_addresses_or_passes_no_websockets_is_told(server: RunningServer) -> None:
    async with listening(Front(server.url, tells_addresses=False, passes_sockets=False)) as url:
        leads, headers, gateway = await public(server, url)

    assert leads.level is Level.OK
    assert (headers.check, headers.level) == ("proxy headers", Level.ERROR)
    assert "X-Forwarded-For" in headers.advice
    assert (gateway.check, gateway.level) == ("gateway", Level.ERROR)
    assert "Upgrade" in gateway.advice


@pytest.mark.parametrize(
    ("handler", "message"),
    [
        (bad_gateway, "the proxy answers 502 and does not reach the server"),
        (redirect, "redirects to https://elsewhere.example/healthz"),
        (welcome, "something else answers, with status 200"),
        (stranger, "leads to a Moothall that does not know this server key"),
    ],
)
async def test_a_public_url_that_leads_elsewhere_is_told(server: RunningServer, handler: Any, message: str) -> None:
    async with listening(handler) as url:
        (finding,) = await public(server, url)

    assert finding.level is Level.ERROR
    assert message in finding.message
    assert finding.advice


@pytest.mark.parametrize("url", ["https://127.0.0.1:1", "http://127.0.0.1:1", "https://no-such-host.invalid"])
async def test_a_public_url_that_does_not_answer_is_an_error(server: RunningServer, url: str) -> None:
    (finding,) = await public(server, url)

    assert finding.level is Level.ERROR
    assert finding.advice


async def test_a_proxy_without_tls_at_an_https_url_is_an_error(server: RunningServer) -> None:
    async with listening(welcome) as url:
        (finding,) = await public(server, url.replace("http:", "https:"))

    assert finding.level is Level.ERROR


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"forwarded": False}, "does not tell the addresses of clients"),
        ({"trusted": False}, "is not trusted"),
        ({"addressed": False}, "sends no X-Forwarded-For with an address"),
    ],
)
def test_what_a_proxy_does_wrong_is_an_error(change: dict[str, bool], message: str) -> None:
    assert network.check_arrival(CHAT, ARRIVAL).level is Level.OK

    finding = network.check_arrival(CHAT, structs.replace(ARRIVAL, **change))

    assert finding.level is Level.ERROR
    assert message in finding.message


def test_a_proxy_that_is_not_trusted_comes_with_the_setting_for_it() -> None:
    settings = structs.replace(CHAT, trusted_proxies=("10.0.0.0/8",))

    finding = network.check_arrival(settings, structs.replace(ARRIVAL, trusted=False))

    assert finding.advice == 'Set: trusted_proxies = ["10.0.0.0/8", "192.0.2.4"]'


def test_trusting_every_address_is_an_error() -> None:
    levels = [finding.level for finding in network.check_trust(Settings(trusted_proxies=("0.0.0.0/0", "10.0.0.0/8")))]

    assert levels == [Level.ERROR]


@pytest.mark.parametrize(
    ("ends", "levels"),
    [("", []), ("Jan  1 00:00:00 2020 GMT", [Level.WARNING]), ("Jan  1 00:00:00 2999 GMT", [])],
)
def test_a_certificate_that_ends_soon_is_a_warning(ends: str, levels: list[Level]) -> None:
    assert [finding.level for finding in network.check_certificate(ends)] == levels


@pytest.mark.parametrize(
    ("settings", "level"),
    [
        (Settings(), Level.SKIPPED),
        (Settings(host="0.0.0.0"), Level.WARNING),
        (Settings(trusted_proxies=("127.0.0.1",)), Level.WARNING),
    ],
)
async def test_a_missing_public_url_matters_to_others_than_this_machine(settings: Settings, level: Level) -> None:
    (finding,) = await collected(network.check_public_url(settings, None, running=False))

    assert finding.level is level


async def test_a_public_url_without_tls_is_a_warning() -> None:
    first, second = await collected(
        network.check_public_url(Settings(public_url="http://chat.example.org"), None, running=False)
    )

    assert (first.level, second.level) == (Level.WARNING, Level.SKIPPED)


async def port_finding(settings: Settings, key: ServerKey | None = None) -> Finding:
    """What is found about the port alone."""
    _, findings = await network.check_port(settings, key)
    return findings[0]


async def test_a_port_is_free_or_of_our_server_or_of_another_program(server: RunningServer, tmp_path: Path) -> None:
    settings = settings_of(server)
    assert (await port_finding(settings, server_key(settings))).level is Level.OK
    for key, message in ((ServerKey(bytes(32)), "another server key"), (None, "perhaps this one")):
        finding = await port_finding(settings, key)
        assert finding.level is Level.ERROR
        assert message in finding.message
    async with listening(welcome) as url:
        finding = await port_finding(Settings(data=tmp_path, port=int(url.rpartition(":")[2])))
        assert finding.level is Level.ERROR
        assert finding.message.startswith("another program listens")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    assert "is free" in (await port_finding(Settings(port=port))).message
    assert (await port_finding(Settings(port=0))).level is Level.OK
    assert (await port_finding(Settings(host="192.0.2.1"))).level is Level.ERROR


async def test_a_port_that_this_user_may_not_take_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_host: str, _port: int) -> None:
        raise OSError("cannot listen") from PermissionError(13, "Permission denied")

    monkeypatch.setattr(network, "bind", refuse)

    assert "CAP_NET_BIND_SERVICE" in (await port_finding(Settings(port=80))).advice


async def test_a_server_that_was_not_restarted_after_an_upgrade_is_a_warning(
    server: RunningServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network, "__version__", "99.0.0")
    settings = settings_of(server)

    _, findings = await network.check_port(settings, server_key(settings))

    assert (findings[1].level, findings[1].advice) == (Level.WARNING, "Restart the server.")


async def test_only_a_proof_of_the_server_key_is_told_how_a_request_arrived(tmp_path: Path) -> None:
    async with visited(tmp_path, trusted_proxies=("127.0.0.1",)) as server:
        key = server_key(server.app.settings)
        now = CLOCK.now_ms()
        proof = key_proof(key, now)
        answer = await server.get(
            "/healthz", client="127.0.0.1", headers={"authorization": proof, "x-forwarded-for": "203.0.113.7"}
        )
        arrival = answer.json["arrival"]
        assert (arrival["peer"], arrival["client"], arrival["trusted"]) == ("127.0.0.1", "203.0.113.7", True)
        for refused in (
            "",
            "Moothall-Key",
            proof[:-1],
            proof.replace("Moothall-Key", "Bearer"),
            proof.replace(" ", " 1"),
            key_proof(key, now - 120_000),
            key_proof(key, now + 120_000),
            key_proof(ServerKey(bytes(32)), now),
            "Moothall-Key \xe9.\xe9",
        ):
            answer = await server.get("/healthz", headers={"authorization": refused})
            assert (answer.status, answer.json) == (200, {"status": "ok"})


def test_the_command_prints_lines_and_json_and_exits_with_1_for_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    fine = run("doctor", "--data", str(tmp_path / "data"), "--port", "0")
    assert fine.exit_code == 0, fine.output
    assert f"data folder: {tmp_path / 'data'} is made at the first start" in fine.stdout
    assert not (tmp_path / "data").exists()
    broken = run("doctor", "--data", str(tmp_path / "file"), "--port", "0", "--json")
    assert broken.exit_code == 1
    report = json.loads(broken.stdout)
    assert not report["ok"]
    (error,) = [finding for finding in report["findings"] if finding["level"] == "error"]
    assert (error["check"], error["advice"] != "") == ("data folder", True)
