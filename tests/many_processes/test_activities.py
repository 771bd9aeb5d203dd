"""Activities whose participants are connected to different processes."""

import asyncio

from moothall.objects.permissions import Permissions
from tests.many_processes.nodes import Listener, Node
from tests.resources.activity.activities import launch
from tests.support.activity_scenes import activities, create_scene, users
from tests.support.harness import Caller, Guild

Pair = tuple[Node, Node]


async def start(nodes: Pair) -> tuple[Caller, Caller, Guild, Caller, Listener, Listener]:
    """The same, with Alice's session on the first node and Bob's on the second one, both in the Activity."""
    here, there = nodes
    alice, bob, guild, bot = await create_scene(here)
    hers, his = await here.session(alice), await there.session(bob)
    # Each request goes to the process that does not hold the session.
    assert (await launch(there.as_seen(alice), bot, guild.general, hers.session_id)).status == 204
    await his.until(lambda: users(his) == [str(alice.id)])
    assert (await launch(here.as_seen(bob), bot, guild.general, his.session_id)).status == 204
    for listener in (hers, his):
        await listener.until(lambda listener=listener: users(listener) == [str(alice.id), str(bob.id)])  # type: ignore[misc]
    return alice, bob, guild, bot, hers, his


async def test_participants_of_all_processes_share_an_instance_and_leave_with_their_session(nodes: Pair) -> None:
    alice, bob, guild, bot, hers, his = await start(nodes)
    shown = await hers.receive("PRESENCE_UPDATE", user={"id": str(bob.id)}, status="online")
    del shown
    await hers.until(lambda: [each["name"] for each in activities(hers, bob)] == [bot.name])
    late = await nodes[0].session(bob)
    created = next(data for name, data in late.dispatches if name == "GUILD_CREATE")
    (instance,) = created["activity_instances"]
    assert [each["user_id"] for each in instance["participants"]] == [str(alice.id), str(bob.id)]
    his.peer.drop(1000)
    await hers.until(lambda: users(hers) == [str(alice.id)])
    await hers.until(lambda: activities(hers, bob) == [])
    hers.peer.drop(1000)
    await late.until(lambda: users(late) == [])
    again = await nodes[1].session(alice)
    created = next(data for name, data in again.dispatches if name == "GUILD_CREATE")
    assert created["activity_instances"] == []
    assert (await nodes[1].as_seen(bot).get(f"/applications/{bot.id}/activity-instances/i-1-pc-1")).status == 404
    assert guild.id


async def test_who_loses_the_connection_leaves_within_a_heartbeat_interval(nodes: Pair) -> None:
    alice, bob, _, _, hers, his = await start(nodes)
    await hers.until(lambda: bool(activities(hers, bob)))
    await his.peer.disconnect()
    await nodes[1].gateway.sweep(asyncio.get_running_loop().time() + 41)
    await hers.until(lambda: users(hers) == [str(alice.id)])
    await hers.until(lambda: activities(hers, bob) == [])
    assert his.session_id in nodes[1].gateway.hub.sessions


async def test_a_lost_permission_ends_the_participation_on_the_node_of_the_session(nodes: Pair) -> None:
    alice, bob, guild, _, hers, his = await start(nodes)
    deny = {"type": 1, "deny": str(int(Permissions.USE_EMBEDDED_ACTIVITIES))}
    assert (await alice.put(f"/channels/{guild.general}/permissions/{bob.id}", deny)).status == 204
    for listener in (hers, his):
        await listener.until(lambda listener=listener: users(listener) == [str(alice.id)])  # type: ignore[misc]


async def test_a_process_that_stops_takes_its_participants_with_it(nodes: Pair) -> None:
    alice, _, _, _, hers, _ = await start(nodes)
    await nodes[1].stop()
    await hers.until(lambda: users(hers) == [str(alice.id)])


async def test_a_session_that_a_stranger_names_does_not_take_part(nodes: Pair) -> None:
    here, there = nodes
    alice, bob, guild, bot = await create_scene(here)
    hers = await here.session(alice)
    assert (await launch(there.as_seen(bob), bot, guild.general, hers.session_id)).code == 10020
