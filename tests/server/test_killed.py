"""What is left when a server under load is killed, again and again."""

import asyncio
import random
import signal
from pathlib import Path

from tests.server.load import Acknowledged, Load
from tests.support.forking import ForkedServer
from tests.support.killed_servers import check

ROUNDS = 5


async def test_a_server_killed_while_writing_keeps_all_it_acknowledged_and_nothing_half_done(
    database_url: str, tmp_path: Path
) -> None:
    chance = random.Random(7)
    acknowledged = Acknowledged()
    load = Load("", acknowledged)
    arguments = ("--no-demo", "--no-rate-limits", "--database-url", database_url)
    for round_number in range(ROUNDS):
        before = len(acknowledged.messages)
        with ForkedServer(tmp_path / "data", *arguments) as server:
            async with Load(server.url, acknowledged) as load:
                await load.register(f"writer{round_number}")
                await load.create_guild()
                writing = asyncio.create_task(load.write())
                await load.acknowledged_more_than(before + 20)
                await asyncio.sleep(chance.uniform(0.0, 0.4))
                assert server.stop(signal.SIGKILL) == -signal.SIGKILL
                await writing
                assert load.odd == []
        await check(database_url, acknowledged)
    assert acknowledged.roles
    # The last writer, still logged in, sees the newest of what was said.
    said = sorted(id for id, (channel_id, _) in acknowledged.messages.items() if channel_id == load.channel_id)
    with ForkedServer(tmp_path / "data", *arguments) as server:
        path = f"/channels/{load.channel_id}/messages?limit=100"
        page = server.request("GET", path, token=load.token).json
        shown = {int(message["id"]): (load.channel_id, message["content"]) for message in page}
        known = set(shown) & set(said)
        assert {id: shown[id] for id in known} == {id: acknowledged.messages[id] for id in known}
        assert {id for id in said if id >= min(shown)} <= set(shown)
        assert server.request("POST", path.partition("?")[0], {"content": "on"}, token=load.token).status == 200
