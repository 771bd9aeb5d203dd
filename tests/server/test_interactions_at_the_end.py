"""A platform that stops while interactions wait for their answers leaves nothing running."""

import asyncio
from pathlib import Path

from aiohttp import web

from moothall.app import App
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.settings import Settings
from tests.harness import Platform
from tests.resources.interaction.endpoint import HttpApp, point, until
from tests.resources.interaction.stage import set_stage


async def test_a_platform_that_stops_waits_for_no_application(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    app = App(Settings(data=tmp_path, demo=False, rate_limits=False, allow_private_addresses=True))
    await app.start()
    platform = Platform(app.database)
    platform.pipeline, platform.ids = app.pipeline, app.services.ids
    platform.services = app.services
    app.bus.subscribe(platform.heard.extend)
    stage = await set_stage(platform)
    for _ in range(5):
        assert (await stage.use(await stage.command())).status == 204
    assert len(ResponseTimers.of(app.services)) == 5
    verify_key = (await stage.app.owner.get(f"/applications/{stage.app.id}")).json["verify_key"]
    listening, site = HttpApp(verify_key), web.Application()

    async def forever(_told: object) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    listening.handle = forever
    site.router.add_post("/", listening.serve)
    runner = web.AppRunner(site, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await point(stage, f"http://127.0.0.1:{runner.addresses[0][1]}/")
    assert (await stage.use(await stage.command())).status == 204
    await until(lambda: bool(listening.told))
    await asyncio.wait_for(app.stop(), 10)
    assert len(ResponseTimers.of(app.services)) == 0
    await runner.cleanup()
    # The application's own side of the connection sleeps on.
    await until(lambda: all("web_protocol" in repr(task) for task in asyncio.all_tasks() - before))
