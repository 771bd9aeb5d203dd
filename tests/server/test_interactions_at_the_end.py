"""A platform that stops while interactions wait for their answers leaves nothing running."""

import asyncio
from pathlib import Path

from aiohttp import web

from moothall.app.application import App
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.settings import Settings
from tests.resources.interaction.http_app import HttpApp, set_endpoint_url, wait_until
from tests.resources.interaction.scenario import create_scenario
from tests.support.harness import Platform


async def test_stopping_the_platform_does_not_wait_for_endpoints(tmp_path: Path) -> None:
    before = asyncio.all_tasks()
    app = App(Settings(data=tmp_path, demo=False, rate_limits=False, allow_private_addresses=True))
    await app.start()
    platform = Platform(app.database)
    platform.pipeline, platform.ids = app.pipeline, app.services.ids
    platform.services = app.services
    app.bus.subscribe(platform.heard.extend)
    scenario = await create_scenario(platform)
    for _ in range(5):
        assert (await scenario.post_command(await scenario.create_command())).status == 204
    assert len(app.services.resources[ResponseTimers]) == 5
    verify_key = (await scenario.app.owner.get(f"/applications/{scenario.app.id}")).json["verify_key"]
    http_app, site = HttpApp(verify_key), web.Application()

    async def forever(_interaction: object) -> web.StreamResponse:
        await asyncio.sleep(60)
        return web.Response()

    http_app.handle = forever
    site.router.add_post("/", http_app.serve)
    runner = web.AppRunner(site, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    await set_endpoint_url(scenario, f"http://127.0.0.1:{runner.addresses[0][1]}/")
    assert (await scenario.post_command(await scenario.create_command())).status == 204
    await wait_until(lambda: bool(http_app.received))
    await asyncio.wait_for(app.stop(), 10)
    assert len(app.services.resources[ResponseTimers]) == 0
    await runner.cleanup()
    # The application's own side of the connection sleeps on.
    await wait_until(lambda: all("web_protocol" in repr(task) for task in asyncio.all_tasks() - before))
