"""The proxy's bounds in time and in number, made short: targets and browsers that never end what they began."""

import asyncio
from collections.abc import AsyncIterator
from functools import partial
from typing import Any, cast

import pytest
from aiohttp import web

from moothall.activities import proxy
from moothall.activities.origin import ActivityOrigins
from moothall.activities.proxy import ActivityProxy
from moothall.api.address_limits import AddressLimits
from moothall.objects.ids import ApplicationId, Snowflake
from tests.resources.activity.activities import make_launchable
from tests.support.harness import Platform

_SHORT = 0.1


class Request:
    """One request to an Activity's origin, of which the browser sends as much as it is told to."""

    def __init__(self, method: str = "GET", *, complete: bool = True) -> None:
        self.scope: dict[str, Any] = {
            "type": "http",
            "method": method,
            "path": "/",
            "query_string": b"",
            "headers": [(b"host", b"x"), (b"transfer-encoding", b"chunked")][: 2 if method == "POST" else 1],
            "client": ("127.0.0.1", 1),
        }
        self.sent: list[dict[str, Any]] = []
        self._complete = complete
        self._bodies = 0

    async def receive(self) -> dict[str, Any]:
        self._bodies += 1
        if self._bodies > 1:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b"part", "more_body": not self._complete}

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    @property
    def status(self) -> int:
        """The status of the response."""
        return int(self.sent[0]["status"])


class Stalling:
    """A target that answers once it may."""

    def __init__(self) -> None:
        self.may_answer = asyncio.Event()
        self.waiting = asyncio.Event()

    async def answer(self, request: web.Request) -> web.Response:
        self.waiting.set()
        await request.read()
        await self.may_answer.wait()
        return web.Response(text="late")


@pytest.fixture
async def target() -> AsyncIterator[Stalling]:
    stalling = Stalling()
    yield stalling
    stalling.may_answer.set()


@pytest.fixture
async def served(platform: Platform, target: Stalling) -> AsyncIterator[tuple[ActivityProxy, ApplicationId]]:
    """The proxy and an application whose paths lead to the target."""
    app = web.Application()
    app.router.add_route("*", "/", target.answer)
    runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    platform.allow_private_addresses()
    owner = await platform.person()
    bot = await platform.bot(owner)
    await make_launchable(owner, bot.id)
    url_map = [{"prefix": "/", "target": f"localhost:{runner.addresses[0][1]}"}]
    await owner.post(f"/applications/{bot.id}/proxy-config", {"url_map": url_map})
    origins = ActivityOrigins("http://activities.localhost", "http://localhost")
    made = ActivityProxy(platform.services, origins, AddressLimits(None))
    yield made, ApplicationId(bot.id)
    target.may_answer.set()
    await made.close()
    await runner.cleanup()


async def serve(served: tuple[ActivityProxy, ApplicationId], request: Request) -> Request:
    """Serve a request."""
    made, application_id = served
    async with asyncio.timeout(5):
        await made.serve(request.scope, request.receive, request.send, application_id)
    return request


async def test_a_target_that_never_answers_is_a_gateway_timeout(
    served: tuple[ActivityProxy, ApplicationId], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "RESPONSE_SECONDS", _SHORT)
    assert (await serve(served, Request())).status == 504


async def test_a_body_that_never_ends_is_given_up(
    served: tuple[ActivityProxy, ApplicationId], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "RESPONSE_SECONDS", _SHORT)
    assert (await serve(served, Request("POST", complete=False))).status == 504


class _Endless:
    """A response that never ends."""

    status = 200
    complete = False
    headers = ()

    async def read(self) -> bytes:
        return bytes(1_000)


async def test_a_response_that_never_ends_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "RESPONSE_BYTES", 10_000)
    sent: list[dict[str, Any]] = []
    response: Any = _Endless()

    async def send(message: Any) -> None:
        await asyncio.sleep(0)
        sent.append(message)

    async with asyncio.timeout(5):
        with pytest.raises(ConnectionError):
            await proxy._send_body(response, send)
    assert sum(len(message["body"]) for message in sent) == 10_000


async def test_a_response_that_lasts_too_long_is_cut_off(
    served: tuple[ActivityProxy, ApplicationId], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "LIFETIME_SECONDS", _SHORT)
    made, _ = served
    request, response = Request(), cast("Any", _Endless())
    response.read = partial(asyncio.sleep, 0.01, b"part")
    async with asyncio.timeout(5) as patience:
        with pytest.raises(TimeoutError):
            await made._respond(request.scope, cast("Any", asyncio.Event().wait), request.send, response, [])
    assert not patience.expired()
    assert request.sent[1]["body"] == b"part"


async def test_a_request_line_has_one_line(served: tuple[ActivityProxy, ApplicationId], target: Stalling) -> None:
    for query in (b"x=1 HTTP/1.1\r\nhost: other", b"x=1\nevil: 1", b"a b", b"\0"):
        request = Request()
        request.scope["query_string"] = query
        assert (await serve(served, request)).status == 502
    assert not target.waiting.is_set()


async def test_one_application_takes_no_more_than_its_share_of_requests(
    served: tuple[ActivityProxy, ApplicationId], target: Stalling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proxy, "IN_PROGRESS", 1)
    first = asyncio.ensure_future(serve(served, Request()))
    await target.waiting.wait()
    assert (await serve(served, Request())).status == 503
    made, application_id = served
    opening = Request()
    opening.scope["type"] = "websocket"
    opening.scope["headers"].append((b"origin", made.origins.of(application_id).encode()))
    async with asyncio.timeout(5):
        await made.serve_websocket(opening.scope, opening.receive, opening.send, application_id)
    assert opening.sent == [{"type": "websocket.close", "code": 1008}]
    other = Request()
    await made.serve(other.scope, other.receive, other.send, ApplicationId(Snowflake(application_id + 1)))
    assert other.status == 404
    target.may_answer.set()
    assert (await first).status == 200
    assert (await serve(served, Request())).status == 200
