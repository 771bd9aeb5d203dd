"""An application with an interactions endpoint, whose responses the test sets."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey
from sqlalchemy import bindparam, update

from moothall.objects.ids import ApplicationId, Snowflake
from moothall.storage.database import Query
from moothall.storage.schema import applications
from tests.api.forms import TYPE, form
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.support.harness import Platform

_set_url = Query(
    update(applications)
    .where(applications.c.id == bindparam("application_id"))
    .values(interactions_endpoint_url=bindparam("url"))
)
Handler = Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]


class HttpApp:
    """The interactions that an endpoint received with a valid signature; `handle` responds to them."""

    def __init__(self, verify_key: str) -> None:
        self.key = VerifyKey(bytes.fromhex(verify_key))
        self.received: list[dict[str, Any]] = []
        self.requests = 0
        self.refused = 0
        self.connections_to_close = 0
        """How many requests get no response, because their connection is closed."""
        self.url = ""
        self.handle: Handler = accept

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.requests += 1
        if self.connections_to_close and request.transport is not None:
            self.connections_to_close -= 1
            request.transport.close()
        try:
            signature = bytes.fromhex(request.headers["X-Signature-Ed25519"])
            self.key.verify(request.headers["X-Signature-Timestamp"].encode() + body, signature)
        except BadSignatureError:
            self.refused += 1
            return web.Response(status=401)
        interaction = msgspec.json.decode(body)
        self.received.append(interaction)
        return await self.handle(interaction)


async def accept(_interaction: dict[str, Any]) -> web.StreamResponse:
    """Respond with 202: the application will respond through the API."""
    return web.Response(status=202)


def respond_with(kind: int, data: Any = None) -> Handler:
    """A handler that responds in the HTTP response."""

    async def handle(_interaction: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"type": kind} | ({} if data is None else {"data": data}))

    return handle


def respond_with_form(*parts: bytes) -> Handler:
    """A handler that responds with a form in the HTTP response."""

    async def handle(_interaction: dict[str, Any]) -> web.StreamResponse:
        return web.Response(body=form(*parts), headers={"content-type": TYPE})

    return handle


@asynccontextmanager
async def http_scenario(
    platform: Platform, *, seconds: float = 30.0, private: bool = True
) -> AsyncIterator[tuple[Scenario, HttpApp]]:
    """A scenario whose application has an interactions endpoint on the loopback address."""
    platform.allow_private_addresses(private)
    scenario = await create_scenario(platform, seconds=seconds)
    verify_key = (await scenario.app.owner.get(f"/applications/{scenario.app.id}")).json["verify_key"]
    http_app = HttpApp(verify_key)
    app = web.Application()
    app.router.add_post("/interactions", http_app.serve)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    http_app.url = f"http://127.0.0.1:{port}/interactions"
    await set_endpoint_url(scenario, http_app.url)
    try:
        yield scenario, http_app
    finally:
        await scenario.deliveries.close()
        await runner.cleanup()


async def set_endpoint_url(scenario: Scenario, url: str | None) -> None:
    """Set the interactions endpoint URL of an application without verifying it."""
    async with scenario.platform.database.transaction() as tx:
        await tx.execute(_set_url, application_id=ApplicationId(Snowflake(int(scenario.app.id))), url=url)


async def wait_until(condition: Callable[[], bool], seconds: float = 30.0) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 there is no event to wait for
            await asyncio.sleep(0.005)
