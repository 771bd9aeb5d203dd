"""Every node knows who is online on the others."""

import asyncio

from moothall.objects.intents import Intent
from tests.many_processes.nodes import Node
from tests.support.harness import Caller, Guild
from tests.support.nats_servers import eventually

Pair = tuple[Node, Node]
INTENTS = int(Intent.GUILDS | Intent.GUILD_PRESENCES | Intent.GUILD_MEMBERS)


async def people(node: Node) -> tuple[Caller, Caller, Guild]:
    """Alice with a guild of hers, and a bot in it with the presences intent."""
    alice = await node.platform.person("alice")
    bot = await node.platform.bot(alice, flags=1 << 12 | 1 << 14)
    guild = await node.platform.guild(alice)
    await guild.join(bot)
    return alice, bot, guild


async def test_presence_changes_on_one_node_are_received_on_the_other(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, _ = await people(here)
    listener = await there.session(bot, intents=INTENTS)
    session = await here.session(alice, intents=1)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="online")
    session.peer.send({"op": 3, "d": {"since": None, "activities": [], "status": "dnd", "afk": False}})
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="dnd")
    session.peer.drop(1000)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="offline")


async def test_friends_on_different_nodes_receive_each_others_presence(nodes: Pair) -> None:
    here, there = nodes
    alice, bob = await here.platform.person("alice"), await here.platform.person("bob")
    listener = await there.session(bob, guilds=0)
    session = await here.session(alice, guilds=0)
    await alice.put(f"/users/@me/relationships/{bob.id}", {})
    await bob.put(f"/users/@me/relationships/{alice.id}", {})
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="online")
    session.peer.send({"op": 3, "d": {"since": None, "activities": [], "status": "dnd", "afk": False}})
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="dnd")
    session.peer.drop(1000)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="offline")


async def test_online_members_are_counted_and_listed_on_every_node(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, guild = await people(here)
    await here.session(alice, intents=1)
    await eventually(lambda: there.gateway.presences.online_count(guild.id) == 1)
    for node in nodes:
        counted = await node.as_seen(alice).get(f"/guilds/{guild.id}", with_counts=True)
        assert counted.json["approximate_presence_count"] == 1
        assert node.gateway.presences.is_connected(alice.id)
    listener = await there.session(bot, intents=INTENTS)
    _, created = next(dispatch for dispatch in listener.dispatches if dispatch[0] == "GUILD_CREATE")
    assert [p["user"]["id"] for p in created["presences"] if p["user"]["id"] != str(bot.id)] == [str(alice.id)]


async def test_a_user_on_two_nodes_has_the_highest_ranking_status_of_their_sessions(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, guild = await people(here)
    listener = await there.session(bot, intents=INTENTS)
    busy: dict[str, object] = {"since": None, "activities": [], "status": "idle", "afk": False}
    first = await here.session(alice, intents=1, presence=busy)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="idle")
    second = await there.session(alice, intents=1)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="online")
    listener.clear()
    second.peer.drop(1000)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="idle")
    assert there.gateway.presences.is_connected(alice.id)
    first.peer.drop(1000)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="offline")
    assert not there.gateway.presences.is_connected(alice.id)
    assert there.gateway.presences.online_count(guild.id) == 1


async def test_a_node_that_starts_later_knows_who_is_online(nodes: Pair) -> None:
    here, there = nodes
    alice, _, guild = await people(here)
    await here.session(alice, intents=1)
    settings = here.app.settings
    late = Node(str(settings.database_url), str(settings.nats_url), settings.data)
    await late.start()
    try:
        await eventually(lambda: late.gateway.presences.online_count(guild.id) == 1)
    finally:
        await late.stop()
    assert there.gateway.presences.online_count(guild.id) == 1


async def test_users_of_a_node_that_stops_are_offline(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, _ = await people(here)
    listener = await there.session(bot, intents=INTENTS)
    await here.session(alice, intents=1)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="online")
    await here.stop()
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="offline")


async def test_users_of_a_dead_node_are_offline_once_it_was_missing_twice(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, _ = await people(here)
    listener = await there.session(bot, intents=INTENTS)
    await here.session(alice, intents=1)
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="online")
    presences = there.gateway.cluster_presences
    assert presences is not None
    presences.remove_dead_nodes(())
    await asyncio.sleep(0.1)
    assert presences.is_connected(alice.id)
    presences.remove_dead_nodes(())
    await listener.receive("PRESENCE_UPDATE", user={"id": str(alice.id)}, status="offline")
    assert not presences.is_connected(alice.id)


async def test_a_guild_receives_no_presence_of_a_user_who_has_left_it(nodes: Pair) -> None:
    here, there = nodes
    alice, bot, guild = await people(here)
    bob = await here.platform.person("bob")
    await guild.join(bob)
    listener = await there.session(bot, intents=INTENTS)
    session = await here.session(bob, intents=1)
    await eventually(lambda: there.gateway.presences.online_count(guild.id) == 2)
    assert (await alice.delete(f"/guilds/{guild.id}/members/{bob.id}")).status == 204
    await listener.receive("GUILD_MEMBER_REMOVE")
    await session.receive("GUILD_DELETE")
    assert there.gateway.presences.online_count(guild.id) == 1
    listener.clear()
    session.peer.send({"op": 3, "d": {"since": None, "activities": [], "status": "dnd", "afk": False}})
    await eventually(lambda: str(there.gateway.presences.get(bob.id).status) == "dnd")
    assert (await alice.post(f"/channels/{guild.general}/messages", {"content": "?"})).status == 200
    await listener.until(lambda: True)
    assert "PRESENCE_UPDATE" not in listener.names
