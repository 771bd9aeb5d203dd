"""The proxy of Activities on a running server: what crosses it, in which direction, and within which bounds."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from moothall.activities.headers import PASSED
from moothall.activities.proxy import REQUEST_BYTES
from tests.activities.target import FLOODS, Activity, Target
from tests.server.sockets import Wire
from tests.support.serving import RunningServer


@pytest.fixture
async def target() -> AsyncIterator[Target]:
    async with Target() as running:
        yield running


@pytest.fixture
async def activity(server: RunningServer, target: Target, request: pytest.FixtureRequest) -> AsyncIterator[Activity]:
    async with aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()) as session:
        made = Activity(server, session)
        await made.create(f"u{abs(hash(request.node.name)) % 10**12}")
        await made.map(root=f"localhost:{target.port}", api=f"localhost:{target.port}/backend")
        yield made


async def test_requests_go_to_the_target_of_the_longest_prefix_and_come_back(
    activity: Activity, target: Target
) -> None:
    for path, sent in (
        ("/", "/"),
        ("/a%20b?x=1&y=%2F", "/a%20b?x=1&y=%2F"),
        ("/api/token", "/backend/token"),
        ("/.proxy/api/token", "/backend/token"),
    ):
        async with activity.request("POST", path, data=b"body") as response:
            assert (response.status, await response.text()) == (200, sent)
    assert target.bodies == [b"body"] * 4
    assert target.requests[0].headers["host"] == f"localhost:{target.port}"


async def test_credentials_and_addresses_do_not_cross(activity: Activity, target: Target) -> None:
    headers = {
        "cookie": "moothall_session=secret; game=1; __Host-moothall_form=secret",
        "authorization": activity.token,
        "proxy-authorization": "Basic secret",
        "x-forwarded-for": "203.0.113.7",
        "forwarded": "for=203.0.113.7",
        "x-real-ip": "203.0.113.7",
        "connection": "keep-alive, x-mine",
        "x-mine": "hop",
        "x-kept": "yes",
    }
    for authorization in (activity.token, f"Bot {activity.bot_token}", activity.bot_token):
        async with activity.request("GET", "/", headers=headers | {"authorization": authorization}) as response:
            assert response.status == 200
    for request in target.requests:
        assert request.headers["cookie"] == "game=1"
        assert request.headers["x-kept"] == "yes"
        assert "secret" not in str(request.raw_headers)
        assert "203.0.113.7" not in str(request.raw_headers)
        for name in ("authorization", "proxy-authorization", "x-mine"):
            assert name not in request.headers
    async with activity.request("GET", "/", headers={"authorization": "Bearer of-the-activity"}):
        assert target.requests[-1].headers["authorization"] == "Bearer of-the-activity"


async def test_the_platform_decides_the_policies_and_cookies_of_its_host(activity: Activity) -> None:
    async with activity.request("GET", "/") as response:
        headers = response.headers
    (policy,) = headers.getall("content-security-policy")
    assert f"frame-ancestors 'self' {activity.server.url}" in policy
    assert f"connect-src 'self' {activity.origin}" in policy
    assert headers["etag"] == '"kept"'
    for name in ("x-frame-options", "strict-transport-security", "x-secret"):
        assert name not in headers
    assert headers.getall("set-cookie") == ["game=1; Path=/; HttpOnly"]


async def test_redirects_are_not_followed_and_stay_at_the_origin(activity: Activity, target: Target) -> None:
    own = f"http://localhost:{target.port}/next?x=1"
    async with activity.request("GET", "/redirect", params={"to": own}) as response:
        assert (response.status, response.headers["location"]) == (302, f"{activity.origin}/next?x=1")
    private = "http://169.254.169.254/latest/meta-data"
    async with activity.request("GET", "/redirect", params={"to": private}) as response:
        assert (response.status, response.headers["location"]) == (302, private)
    assert len(target.requests) == 2


async def test_bodies_are_streamed_in_both_directions(activity: Activity, target: Target) -> None:
    sent = asyncio.Event()

    async def upload() -> AsyncIterator[bytes]:
        yield b"first "
        await sent.wait()
        yield b"second"

    async def answer() -> str:
        async with activity.request("POST", "/", data=upload()) as response:
            return str(response.status)

    waiting = asyncio.ensure_future(answer())
    await asyncio.sleep(0.2)
    assert not waiting.done()
    sent.set()
    assert await waiting == "200"
    assert target.bodies == [b"first second"]
    async with activity.request("GET", "/endless") as response:
        assert (await response.content.readexactly(5)) == b"tick\n"
        assert not target.left.is_set()
    async with asyncio.timeout(10):
        await target.left.wait()


async def test_a_large_response_comes_whole(activity: Activity) -> None:
    async with activity.request("GET", "/huge", params={"chunks": "200"}) as response:
        assert len(await response.read()) == 200 * 65_536


async def test_oversized_bodies_are_refused(activity: Activity) -> None:
    async with Wire(*await asyncio.open_connection("127.0.0.1", int(activity.port))) as wire:
        head = f"POST / HTTP/1.1\r\nhost: {activity.host}\r\ncontent-length: {REQUEST_BYTES + 1}\r\n\r\n"
        wire.writer.write(head.encode())
        assert (await wire.hear()).status == 413

    async def upload() -> AsyncIterator[bytes]:
        for _ in range(REQUEST_BYTES // 65_536 + 2):
            yield bytes(65_536)

    try:
        async with activity.request("POST", "/", data=upload()) as response:
            assert response.status == 413
    except aiohttp.ClientError:
        pass  # the server answered before the whole body had come, and closed the connection


async def test_an_origin_without_an_activity_serves_nothing_of_the_platform(activity: Activity) -> None:
    for host in (
        f"123456789012345678.activities.localhost:{activity.port}",
        f"activities.localhost:{activity.port}",
        f"evil.activities.localhost:{activity.port}",
        f"{activity.id}.x.activities.localhost:{activity.port}",
    ):
        for path in ("/", "/api/v10/gateway", "/login", "/healthz", "/app"):
            async with activity.request("GET", path, headers={"host": host}) as response:
                assert response.status == 404, (host, path)
    async with activity.request("GET", "/api/v10/gateway") as response:
        assert await response.text() == "/backend/v10/gateway"
    await activity.api("POST", f"/applications/{activity.id}/set-embedded", {"embedded": False})
    async with activity.request("GET", "/") as response:
        assert response.status == 404


async def test_a_mapping_back_to_the_proxy_does_not_go_round_in_circles(activity: Activity, target: Target) -> None:
    async with activity.request("GET", "/", headers={PASSED.decode(): "1"}) as response:
        assert response.status == 508
    async with activity.request("GET", "/"):
        assert PASSED.decode() in target.requests[-1].headers
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await activity.websocket("/socket", headers={PASSED.decode(): "1"})


async def test_a_target_that_does_not_answer_is_a_bad_gateway(activity: Activity, target: Target) -> None:
    async with Target() as closed:
        pass
    await activity.map(root=f"localhost:{closed.port}")
    async with activity.request("GET", "/") as response:
        assert response.status == 502
        assert "localhost" not in await response.text()
    del target


async def test_the_relay_page_carries_messages_of_the_client_only(activity: Activity) -> None:
    async with activity.request("GET", "/.moothall/relay?instance_id=1") as response:
        page, policy = await response.text(), response.headers["content-security-policy"]
    assert f'const client = "{activity.server.url}";' in page
    assert f"frame-ancestors {activity.server.url};" in policy
    assert f"frame-src {activity.origin};" in policy
    for path in ("/.moothall/", "/.moothall/other"):
        async with activity.request("GET", path) as response:
            assert response.status == 404


async def test_websockets_carry_messages_both_ways(activity: Activity, target: Target) -> None:
    async with activity.websocket("/.proxy/socket?room=1", protocols=["chat"]) as socket:
        assert socket.protocol == "chat"
        await socket.send_str("hi")
        assert await socket.receive_str() == "echo hi"
        await socket.send_bytes(b"abc")
        assert await socket.receive_bytes() == b"cba"
        await socket.close(code=4001)
    async with asyncio.timeout(10):
        await target.closed.wait()
    assert target.closed_with == [4001]
    assert target.requests[-1].query_string == "room=1"


async def test_a_target_closes_a_websocket_with_its_code(activity: Activity) -> None:
    async with activity.websocket("/socket") as socket:
        await socket.send_str("close")
        await socket.receive()
        assert socket.close_code == 4321


async def test_websockets_are_bounded_and_of_one_origin(activity: Activity, target: Target) -> None:
    for origin in ("http://evil.example", activity.server.url, ""):
        with pytest.raises(aiohttp.WSServerHandshakeError):
            await activity.websocket("/socket", origin=origin)
    assert target.requests == []
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await activity.websocket("/nothing")
    async with activity.websocket("/socket") as socket:
        await socket.send_str("x" * 70_000)
        await socket.receive()
        assert socket.close_code == 1009
    async with activity.websocket("/socket") as socket:
        await socket.send_str("large")
        await socket.receive()
        assert socket.close_code == 1009


@pytest.mark.parametrize("flood", sorted(FLOODS))
async def test_a_target_that_sends_frames_without_messages_is_left(
    activity: Activity, target: Target, flood: str
) -> None:
    target.closed.clear()
    async with activity.websocket("/socket") as socket:
        await socket.send_str(flood)
        await socket.receive()
        assert socket.close_code == 1008
    async with asyncio.timeout(10):
        await target.closed.wait()


async def test_a_browser_that_sends_frames_without_messages_is_left(activity: Activity, target: Target) -> None:
    target.closed.clear()
    async with activity.websocket("/socket") as socket:
        for _ in range(500):
            await socket.ping()
        await socket.receive()
        assert socket.close_code == 1008
    async with asyncio.timeout(10):
        await target.closed.wait()


async def test_a_redirect_of_a_websocket_is_not_followed(activity: Activity, target: Target) -> None:
    with pytest.raises(aiohttp.WSServerHandshakeError):
        await activity.websocket(f"/redirect?to=http://localhost:{target.port}/socket")
    assert [each.path for each in target.requests] == ["/redirect"]


async def test_the_credentials_of_a_websocket_do_not_cross(activity: Activity, target: Target) -> None:
    headers = {"cookie": "moothall_session=secret; game=1", "authorization": activity.token}
    async with activity.websocket("/socket", headers=headers) as socket:
        await socket.send_str("hi")
        await socket.receive_str()
    sent = target.requests[-1].headers
    assert sent["cookie"] == "game=1"
    assert "authorization" not in sent


async def test_streams_and_websockets_do_not_keep_a_server_from_stopping(tmp_path: Path) -> None:
    config = tmp_path / "moothall.toml"
    config.write_text("shutdown_seconds = 100\n")
    arguments = ("--no-demo", "--no-rate-limits", "--allow-private-addresses", "--config", str(config))
    with RunningServer(tmp_path / "data", *arguments) as server:
        async with aiohttp.ClientSession() as session, Target() as target:
            activity = Activity(server, session)
            await activity.create("stopping")
            await activity.map(root=f"localhost:{target.port}")
            async with activity.websocket("/socket") as socket, activity.request("GET", "/events") as response:
                assert await response.content.readexactly(5) == b"tick\n"
                # It waits 30 seconds for the end, much less than `shutdown_seconds`.
                code = asyncio.ensure_future(asyncio.to_thread(server.stop))
                await socket.receive()
                assert socket.close_code == 1012
                await response.read()  # the stream ends as a whole response does
                assert await code == 0
            assert target.closed_with == [1012]
            async with asyncio.timeout(10):
                await target.left.wait()
        assert "Traceback" not in server.printed
