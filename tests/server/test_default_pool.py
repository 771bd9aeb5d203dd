"""Nothing that a server does waits in the event loop's default pool of threads."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.server.visiting import visited
from tests.support.pictures import picture


class DefaultPool(ThreadPoolExecutor):
    """A pool that counts the work that is handed to it."""

    def __init__(self) -> None:
        super().__init__(1)
        self.works: list[str] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.works.append(repr(fn))
        return super().submit(fn, *args, **kwargs)


PAGES = ("/", "/reference", "/style.css", "/login", "/app/", "/api/v10/openapi.json", "/metrics", "/icon.svg")
RULE = {
    "name": "rule",
    "event_type": 1,
    "trigger_type": 1,
    "trigger_metadata": {"regex_patterns": ["(a|b)*c{1,200}"]},
    "actions": [{"type": 1, "metadata": {}}],
    "enabled": True,
}


async def test_a_server_uses_no_thread_of_the_default_pool(tmp_path: Path) -> None:
    pool = DefaultPool()
    asyncio.get_running_loop().set_default_executor(pool)
    async with visited(tmp_path, rate_limits=False) as server:
        for path in PAGES:
            host = {"host": "localhost"}
            answer = await server.get(path, client="127.0.0.1", server=("127.0.0.1", 3333), headers=host)
            assert answer.status in {200, 503}, path
        url = await server.send("picture.png", picture("PNG", size=(64, 64)))
        for _ in range(2):
            assert (await server.get(f"{url}&width=32&height=32")).status == 200
        sounds = await server.call("GET", "/soundboard-default-sounds")
        assert (await server.get(f"/soundboard-sounds/{sounds[0]['sound_id']}")).status == 200
        assert (await server.get("/api/v10/oauth2/keys")).json["keys"]
        await server.call("GET", "/users/@me/settings-proto/1")
        guild = await server.call("POST", "/guilds", {"name": "Rules"})
        await server.call("POST", f"/guilds/{guild['id']}/auto-moderation/rules", RULE)
        large = {"content": "x", "padding": "x" * 1_000_000}
        await server.call("POST", f"/channels/{server.channel}/messages", large)
    assert pool.works == []
