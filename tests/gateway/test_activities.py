"""Activities on a whole platform: participants who lose their connection, and both events of an instance."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.gateway.peer import Peer, run_pending
from tests.many_processes.nodes import Listener, Node
from tests.resources.activity.activities import launch
from tests.support.activity_scenes import activities, create_scene, users
from tests.support.activity_users import install_to_user
from tests.support.harness import Caller, Guild

BOTH = ["EMBEDDED_ACTIVITY_UPDATE", "EMBEDDED_ACTIVITY_UPDATE_V2"]
INTERVAL = 41.25
"""Seconds between heartbeats."""


@pytest.fixture
async def node(database_url: str, tmp_path: Path) -> AsyncIterator[Node]:
    """A platform in one process."""
    made = Node(database_url, None, tmp_path)
    await made.start()
    yield made
    await made.stop()


class Scene:
    """Alice and Bob in an Activity."""

    def __init__(self, node: Node, alice: Caller, bob: Caller, guild: Guild, bot: Caller) -> None:
        self.node, self.alice, self.bob, self.guild, self.bot = node, alice, bob, guild, bot
        self.hers: Listener
        self.his: Listener

    async def start(self) -> None:
        """Let both join."""
        self.hers, self.his = await self.node.session(self.alice), await self.node.session(self.bob)
        await self.join(self.alice, self.hers)
        await self.join(self.bob, self.his)
        await self.his.until(lambda: users(self.his) == [str(self.alice.id), str(self.bob.id)])
        await self.hers.until(lambda: bool(activities(self.hers, self.bob)))

    async def join(self, who: Caller, listener: Listener) -> None:
        """Launch the Activity."""
        reply = await launch(self.node.as_seen(who), self.bot, self.guild.general, listener.session_id)
        assert reply.status == 204

    async def sweep(self, seconds: float) -> None:
        """Do what the gateway does so many seconds from now."""
        await self.node.gateway.sweep(asyncio.get_running_loop().time() + seconds)

    async def participants(self) -> list[str]:
        """Those who take part, as the bot reads them."""
        instance = next(d for n, d in reversed(self.hers.dispatches) if n == BOTH[1])
        path = f"/applications/{self.bot.id}/activity-instances/{instance['composite_instance_id']}"
        listed: list[str] = (await self.node.as_seen(self.bot).get(path)).json["users"]
        return listed

    async def resume(self) -> Listener:
        """Resume Bob's session; its events since."""
        peer = Peer(self.node.gateway)
        await peer.receive()
        seq, session_id = self.his.peer.seq, self.his.session_id
        peer.send({"op": 6, "d": {"token": self.bob.token, "session_id": session_id, "seq": seq}})
        resumed = Listener(peer, self.his.ready)
        await resumed.receive("RESUMED")
        return resumed


@pytest.fixture
async def scene(node: Node) -> Scene:
    made = Scene(node, *await create_scene(node))
    await made.start()
    return made


async def test_who_loses_the_connection_leaves_within_a_heartbeat_interval_and_hears_of_it_later(scene: Scene) -> None:
    hers, alice, bob = scene.hers, str(scene.alice.id), str(scene.bob.id)
    await scene.his.peer.disconnect()
    await scene.sweep(INTERVAL - 5.5)
    assert await scene.participants() == [alice, bob]
    await scene.sweep(INTERVAL - 4.9)  # the last round before the interval is over
    await hers.until(lambda: users(hers) == [alice] and activities(hers, scene.bob) == [])
    assert await scene.participants() == [alice]
    resumed = await scene.resume()
    assert [name for name in resumed.names if name.startswith("EMBEDDED")] == BOTH
    assert users(resumed) == [alice]
    await scene.join(scene.bob, scene.his)
    await resumed.until(lambda: users(resumed) == [alice, bob])


async def test_who_resumes_within_the_interval_stays(scene: Scene) -> None:
    await scene.his.peer.disconnect()
    await scene.sweep(INTERVAL - 5.5)
    resumed = await scene.resume()
    await scene.sweep(INTERVAL)
    assert await scene.participants() == [str(scene.alice.id), str(scene.bob.id)]
    assert not [name for name in resumed.names if name.startswith("EMBEDDED")]


async def test_who_is_silent_leaves_when_the_connection_is_closed_for_it(scene: Scene) -> None:
    hers, his, alice = scene.hers, scene.his, str(scene.alice.id)
    await scene.sweep(INTERVAL * 1.3)
    hers.peer.send({"op": 1, "d": None})
    await run_pending()
    assert await scene.participants() == [alice, str(scene.bob.id)]
    await scene.sweep(INTERVAL * 1.6)
    assert await his.peer.close_code() == 4009
    await hers.until(lambda: users(hers) == [alice])
    assert scene.his.session_id in scene.node.gateway.hub.sessions
    resumed = await scene.resume()
    await resumed.until(lambda: users(resumed) == [alice])


async def test_a_channel_that_is_revealed_comes_with_both_events_of_its_instance(scene: Scene) -> None:
    overwrite = f"/channels/{scene.guild.general}/permissions/{scene.bob.id}"
    alice = scene.node.as_seen(scene.alice)
    assert (await alice.put(overwrite, {"type": 1, "deny": str(int(Permissions.VIEW_CHANNEL))})).status == 204
    await scene.his.receive("CHANNEL_DELETE")
    await scene.hers.until(lambda: users(scene.hers) == [str(scene.alice.id)])
    scene.his.clear()
    assert (await alice.delete(overwrite)).status == 204
    await scene.his.until(lambda: users(scene.his) == [str(scene.alice.id)])
    assert [name for name in scene.his.names if name.startswith("EMBEDDED")] == BOTH
    assert updated(scene.his)["users"] == [str(scene.alice.id)]


async def test_a_new_session_receives_both_events_of_an_instance_in_its_direct_messages(node: Node) -> None:
    alice, bob, _, bot = await create_scene(node)
    await install_to_user(node.platform, alice, bot)
    dm = (await node.as_seen(alice).post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    hers = await node.session(alice)
    assert (await launch(node.as_seen(alice), bot, dm, hers.session_id)).status == 204
    his = await node.session(bob)
    await his.until(lambda: users(his) == [str(alice.id)])
    assert [name for name in his.names if name.startswith("EMBEDDED")] == BOTH
    assert (updated(his)["channel_id"], updated(his)["users"]) == (dm, [str(alice.id)])
    assert "guild_id" not in updated(his)


def updated(listener: Listener) -> dict[str, Any]:
    """The last EMBEDDED_ACTIVITY_UPDATE."""
    data: dict[str, Any] = next(d for n, d in reversed(listener.dispatches) if n == BOTH[0])
    return data
