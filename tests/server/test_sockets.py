"""What a real socket hears: shapes of refusals, connections kept alive, and clients who mean harm."""

import asyncio
import time
from pathlib import Path

import pytest

from moothall.server.http_protocol import HEAD_BYTES
from tests.server.sockets import Wire
from tests.support.serving import RunningServer

API = "/api/v10"


async def test_a_connection_is_kept_alive_and_answers_what_was_sent_ahead_in_order(server: RunningServer) -> None:
    async with await Wire.to(server.url) as wire:
        for _ in range(50):
            assert (await wire.ask("GET", f"{API}/gateway")).status == 200
        wire.send("GET", f"{API}/gateway")
        wire.send("GET", f"{API}/users/@me")
        wire.send("GET", f"{API}/gateway")
        assert [(await wire.hear()).status for _ in range(3)] == [200, 401, 200]


async def test_head_is_get_without_the_body(server: RunningServer) -> None:
    async with await Wire.to(server.url) as wire:
        shown, head = await wire.ask("GET", f"{API}/gateway"), await wire.ask("HEAD", f"{API}/gateway")
        assert (head.status, head.headers["content-length"]) == (200, str(len(shown.body)))
        # Had a body followed, it would be taken for the next answer.
        assert (await wire.ask("GET", f"{API}/gateway")).json == shown.json
        refused = await wire.ask("HEAD", f"{API}/users/@me")
        assert refused.status == 401
        assert (await wire.ask("GET", f"{API}/gateway")).status == 200


async def test_options_tells_browsers_what_is_allowed(server: RunningServer) -> None:
    async with await Wire.to(server.url) as wire:
        answer = await wire.ask("OPTIONS", f"{API}/users/@me", origin="https://example.com")
        assert (answer.status, answer.body) == (204, b"")
        assert answer.headers["allow"] == "GET, HEAD, OPTIONS, PATCH"
        assert answer.headers["access-control-allow-origin"] in {"*", "https://example.com"}
        assert "Authorization" in answer.headers["access-control-allow-headers"]


@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        ("GET", "/nothing", {}, 404, 0),
        ("GET", "/guilds/%2e%2e/x/y/z", {}, 404, 0),
        ("DELETE", "/gateway", {}, 405, 0),
        ("BREW", "/gateway", {}, None, None),
        ("GET", "/users/@me", {}, 401, 0),
        ("GET", "/users/@me", {"authorization": "Bot \xe9"}, 401, 0),
        ("POST", "/auth/register", {"content_length": str(2**40)}, 413, 40005),
    ],
)
async def test_every_refusal_is_in_the_shape_of_the_api(
    server: RunningServer, method: str, path: str, headers: dict[str, str], status: int | None, code: int | None
) -> None:
    async with await Wire.to(server.url) as wire:
        answer = await wire.ask(method, API + path, None, **headers)
        if status is None:
            # No method of HTTP: whatever it is, it is no request.
            assert (answer.status, answer.json["code"]) == (400, 0)
            return
        assert (answer.status, answer.json["code"]) == (status, code)
        assert set(answer.json) == {"code", "message"}
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-request-id"]
        if status == 405:
            assert answer.headers["allow"] == "GET, HEAD, OPTIONS"


async def test_a_body_that_is_no_json_is_refused_and_the_connection_goes_on(server: RunningServer, token: str) -> None:
    async with await Wire.to(server.url) as wire:
        for body in (b"{", b"\xff\xfe", b'{"name": 1', b"[" * 100_000, b"NaN", b"\x00"):
            answer = await wire.ask("POST", f"{API}/guilds", body, authorization=token, content_type="application/json")
            assert (answer.status, answer.json["code"]) in {(400, 50109), (400, 50035)}
        assert (await wire.ask("GET", f"{API}/users/@me", authorization=token)).status == 200


async def test_a_request_cut_short_is_never_run(server: RunningServer, token: str) -> None:
    guild = server.request("POST", "/guilds", {"name": "Cut"}, token=token).json["id"]
    channels = server.request("GET", f"/guilds/{guild}/channels", token=token).json
    room = next(channel["id"] for channel in channels if channel["type"] == 0)
    # Without a body this row makes an invite: half a request must not be taken for that.
    for sent in (b"", b'{"max_age"'):
        async with await Wire.to(server.url) as wire:
            head = f"POST {API}/channels/{room}/invites HTTP/1.1\r\nhost: x\r\nauthorization: {token}\r\n"
            wire.writer.write(f"{head}content-length: 200\r\n\r\n".encode() + sent)
            await wire.writer.drain()
            await asyncio.sleep(0.1)
    await asyncio.sleep(0.2)
    assert server.request("GET", f"/guilds/{guild}/invites", token=token).json == []
    assert "Traceback" not in server.printed


async def test_headers_without_end_are_refused_and_cost_no_memory(server: RunningServer) -> None:
    before = memory_of(server)
    async with await Wire.to(server.url) as wire:
        wire.writer.write(b"GET /api/v10/gateway HTTP/1.1\r\nhost: x\r\n")
        try:
            for number in range(3_000):
                wire.writer.write(b"x-%d: %s\r\n" % (number, b"y" * 16_000))
                await wire.writer.drain()
        except ConnectionError:
            pass
        heard = await wire.ended()
    assert heard.startswith(b"HTTP/1.1 431 ")
    assert memory_of(server) - before < 16 * 1024 * 1024
    async with await Wire.to(server.url) as wire:
        answer = await wire.ask("GET", f"{API}/gateway", x_long="y" * (HEAD_BYTES // 2))
        assert answer.status == 200


async def test_a_head_too_large_by_a_little_hears_why(server: RunningServer) -> None:
    async with await Wire.to(server.url) as wire:
        wire.writer.write(b"GET /api/v10/gateway HTTP/1.1\r\nhost: x\r\nx-long: " + b"y" * HEAD_BYTES)
        answer = await wire.hear()
        assert (answer.status, answer.json["code"]) == (431, 0)
        assert await wire.ended() == b""


UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "websocket",
    "sec_websocket_version": "13",
    "sec_websocket_key": "MDEyMzQ1Njc4OWFiY2RlZg==",
}


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        (f"{API}/gateway", {"x_long": "y" * 70_000}, 431),
        (f"{API}/gateway", {f"x_{number}": "y" * 1_000 for number in range(70)}, 431),
        (f"{API}/gateway?x={'y' * 70_000}", {}, 414),
        ("/gateway", {**UPGRADE, "x_long": "y" * 70_000}, 431),
        ("/gateway", {**UPGRADE, "x_long": "y" * 8_200}, 431),
        ("/gateway", {**UPGRADE, **{f"x_{number}": "y" for number in range(130)}}, 431),
        (f"/gateway?x={'y' * 8_200}", UPGRADE, 414),
    ],
)
async def test_a_request_or_handshake_with_too_much_before_its_body_is_refused_in_the_shape_of_the_api(
    server: RunningServer, path: str, headers: dict[str, str], status: int
) -> None:
    async with await Wire.to(server.url) as wire:
        answer = await wire.ask("GET", path, None, **headers)
        assert (answer.status, answer.json["code"]) == (status, 0)
        assert set(answer.json) == {"code", "message"}
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["x-request-id"]


async def test_a_handshake_just_within_its_bounds_is_carried_out(server: RunningServer) -> None:
    largest = {"x_long": "y" * (8_192 - len("x-long: \r\n"))}
    many = {f"x_{number}": "y" for number in range(128 - len(UPGRADE) - 1)}
    line = f"/gateway?x={'y' * (8_192 - len('GET /gateway?x= HTTP/1.1') - 2)}"
    for path, headers in (("/gateway", largest), ("/gateway", many), (line, {})):
        async with await Wire.to(server.url) as wire:
            assert (await wire.ask("GET", path, None, **UPGRADE, **headers)).status == 101


async def test_many_idle_connections_delay_no_request(server: RunningServer) -> None:
    slow = [await Wire.to(server.url) for _ in range(300)]
    for wire in slow:
        wire.writer.write(b"GET /api/v10/gateway HTTP/1.1\r\nx-slow: ")
    began = time.monotonic()
    async with await Wire.to(server.url) as quick:
        for _ in range(100):
            for wire in slow[::30]:
                wire.writer.write(b"y")
            assert (await quick.ask("GET", f"{API}/gateway")).status == 200
    assert time.monotonic() - began < 30
    for wire in slow:
        wire.writer.close()


async def test_what_is_no_http_is_told_so_and_shown_the_door(server: RunningServer) -> None:
    for noise in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"hello\r\n\r\n", b"\x00" * 1000):
        async with await Wire.to(server.url) as wire:
            wire.writer.write(noise)
            answer = await wire.ended()
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert answer.endswith(b'{"message":"400: Bad Request","code":0}')
    async with await Wire.to(server.url) as wire:
        assert (await wire.ask("GET", f"{API}/gateway")).status == 200


def memory_of(server: RunningServer) -> int:
    """Resident bytes of the server's process."""
    pages = int(Path(f"/proc/{server.process.pid}/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096
