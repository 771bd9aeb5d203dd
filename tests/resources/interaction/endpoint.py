"""An application that hears of interactions by signed HTTP requests, and does with each what a test says."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
from aiohttp import web
from msgspec import structs
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey
from sqlalchemy import bindparam, update

from moothall.objects.ids import ApplicationId, Snowflake
from moothall.storage.database import Query
from moothall.storage.schema import applications
from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage

_set_url = Query(
    update(applications)
    .where(applications.c.id == bindparam("application_id"))
    .values(interactions_endpoint_url=bindparam("url"))
)
Handler = Callable[[dict[str, Any]], Awaitable[web.StreamResponse]]


class HttpApp:
    """What was told to it, verified; `handle` answers."""

    def __init__(self, verify_key: str) -> None:
        self.key = VerifyKey(bytes.fromhex(verify_key))
        self.told: list[dict[str, Any]] = []
        self.requests = 0
        self.refused = 0
        self.lose = 0
        """Of so many requests the connection is closed without an answer."""
        self.url = ""
        self.handle: Handler = accept

    async def serve(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        self.requests += 1
        if self.lose and request.transport is not None:
            self.lose -= 1
            request.transport.close()
        try:
            signature = bytes.fromhex(request.headers["X-Signature-Ed25519"])
            self.key.verify(request.headers["X-Signature-Timestamp"].encode() + body, signature)
        except BadSignatureError:
            self.refused += 1
            return web.Response(status=401)
        interaction = msgspec.json.decode(body)
        self.told.append(interaction)
        return await self.handle(interaction)


async def accept(_interaction: dict[str, Any]) -> web.StreamResponse:
    """It will answer by the API."""
    return web.Response(status=202)


def answering(kind: int, data: Any = None) -> Handler:
    """Answer in the response."""

    async def handle(_interaction: dict[str, Any]) -> web.StreamResponse:
        return web.json_response({"type": kind} | ({} if data is None else {"data": data}))

    return handle


@asynccontextmanager
async def http_stage(
    platform: Platform, *, seconds: float = 3.0, private: bool = True
) -> AsyncIterator[tuple[Stage, HttpApp]]:
    """A stage whose application listens at an address of this machine."""
    services = platform.services
    services.limits = structs.replace(services.limits, allow_private_addresses=private)
    stage = await set_stage(platform, seconds=seconds)
    verify_key = (await stage.app.owner.get(f"/applications/{stage.app.id}")).json["verify_key"]
    listening = HttpApp(verify_key)
    app = web.Application()
    app.router.add_post("/interactions", listening.serve)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    listening.url = f"http://127.0.0.1:{port}/interactions"
    await point(stage, listening.url)
    try:
        yield stage, listening
    finally:
        await stage.deliveries.close()
        await runner.cleanup()


async def point(stage: Stage, url: str | None) -> None:
    """Let an application's interactions go to a URL, without asking whether it verifies them."""
    async with stage.platform.database.transaction() as tx:
        await tx.execute(_set_url, application_id=ApplicationId(Snowflake(int(stage.app.id))), url=url)


async def until(condition: Callable[[], bool], seconds: float = 5.0) -> None:
    """Wait until a condition holds."""
    async with asyncio.timeout(seconds):
        while not condition():  # noqa: ASYNC110 nothing tells of it
            await asyncio.sleep(0.005)
