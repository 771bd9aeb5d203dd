"""Changes and events on one node reach the others."""

import asyncio
from typing import Any

from moothall.objects.permissions import Permissions
from tests.many_processes.nodes import Node
from tests.support.harness import VOICE

Pair = tuple[Node, Node]
SILENT = {"allow": "0", "deny": str(int(Permissions.SEND_MESSAGES)), "type": 0}


async def test_a_message_sent_on_one_node_is_received_on_the_other(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    bob = await here.platform.person("bob")
    guild = await here.platform.guild(alice)
    await guild.join(bob)
    listener = await there.session(bob, intents=(1 << 9) | (1 << 15) | 1)
    at_home = await here.session(alice, intents=(1 << 9) | 1)
    sent = await alice.post(f"/channels/{guild.general}/messages", {"content": "across"})
    assert sent.status == 200
    assert (await listener.receive("MESSAGE_CREATE"))["content"] == "across"
    assert (await at_home.receive("MESSAGE_CREATE"))["id"] == sent.json["id"]


async def test_a_change_on_one_node_applies_on_the_other_at_once(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    bob = await here.platform.person("bob")
    guild = await here.platform.guild(alice)
    await guild.join(bob)
    abroad = there.as_seen(bob)
    path = f"/channels/{guild.general}/messages"
    assert (await abroad.post(path, {"content": "I may"})).status == 200
    denied = await alice.put(f"/channels/{guild.general}/permissions/{guild.id}", SILENT)
    assert denied.status == 204
    # Immediately: permissions are read from the database, never cached.
    assert (await abroad.post(path, {"content": "I may not"})).status == 403
    renamed = await alice.patch(f"/guilds/{guild.id}", {"name": "Renamed"})
    assert renamed.status == 200
    assert (await abroad.get(f"/guilds/{guild.id}")).json["name"] == "Renamed"
    assert (await alice.put(f"/guilds/{guild.id}/bans/{bob.id}", {})).status == 204
    assert (await abroad.get(f"/guilds/{guild.id}")).status == 404


async def test_changes_of_one_guild_on_two_nodes_are_received_in_one_order_on_both(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    listeners = [await node.session(alice, intents=1) for node in nodes]
    callers = [alice, there.as_seen(alice)]

    async def rename(n: int) -> None:
        reply = await callers[n % 2].patch(f"/guilds/{guild.id}", {"name": f"name {n}"})
        assert reply.status == 200

    await asyncio.gather(*(rename(n) for n in range(40)))
    heard: list[list[Any]] = []
    for listener in listeners:
        await listener.until(lambda listener=listener: listener.names.count("GUILD_UPDATE") == 40)  # type: ignore[misc]
        heard.append([data["name"] for name, data in listener.dispatches if name == "GUILD_UPDATE"])
    assert heard[0] == heard[1]
    assert heard[0][-1] == (await alice.get(f"/guilds/{guild.id}")).json["name"]


async def test_an_effect_is_never_received_before_its_cause(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    listener = await there.session(alice, intents=(1 << 9) | 1)
    abroad = there.as_seen(alice)
    path = f"/channels/{guild.general}/messages"

    async def send_and_delete() -> None:
        sent = await alice.post(path, {"content": "soon gone"})
        assert (await abroad.delete(f"{path}/{sent.json['id']}")).status == 204

    await asyncio.gather(*(send_and_delete() for _ in range(20)))
    await listener.until(lambda: listener.names.count("MESSAGE_DELETE") == 20)
    seen: set[str] = set()
    for name, data in listener.dispatches:
        if name == "MESSAGE_CREATE":
            seen.add(data["id"])
        elif name == "MESSAGE_DELETE":
            assert data["id"] in seen
    assert len(seen) == 20


async def test_typing_is_received_on_the_other_node(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    listener = await there.session(alice, intents=(1 << 11) | 1)
    assert (await alice.post(f"/channels/{guild.general}/typing")).status == 204
    await listener.receive("TYPING_START", user_id=str(alice.id))


async def test_a_user_who_joins_on_one_node_receives_the_guild_on_the_other(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    bob = await here.platform.person("bob")
    guild = await here.platform.guild(alice)
    listener = await there.session(bob, guilds=0, intents=1)
    invite = await alice.post(f"/channels/{guild.general}/invites", {})
    assert (await bob.post(f"/invites/{invite.json['code']}")).status == 200
    assert (await listener.receive("GUILD_CREATE"))["id"] == str(guild.id)


async def test_a_token_revoked_on_one_node_ends_its_sessions_on_the_other(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    bot = await here.platform.bot(alice)
    guild = await here.platform.guild(alice)
    await guild.join(bot)
    listener = await there.session(bot, intents=1)
    reset = await alice.post(f"/applications/{bot.application_id}/bot/reset")
    assert reset.status == 200
    async with asyncio.timeout(10):
        await listener.peer.receive_until_closed()
    assert listener.peer.closed == 4004
    assert (await there.as_seen(bot).get("/users/@me")).status == 401


async def test_a_voice_state_on_one_node_is_received_on_the_other_and_ends_with_the_node(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    bob = await here.platform.person("bob")
    guild = await here.platform.guild(alice)
    await guild.join(bob)
    voice = await guild.channel(type=VOICE)
    listener = await there.session(bob, intents=(1 << 7) | 1)
    speaker = await here.session(alice, intents=(1 << 7) | 1)
    join = {"guild_id": str(guild.id), "channel_id": str(voice), "self_mute": False, "self_deaf": False}
    speaker.peer.send({"op": 4, "d": join})
    state = await listener.receive("VOICE_STATE_UPDATE", user_id=str(alice.id))
    assert (state["channel_id"], state["session_id"]) == (str(voice), speaker.session_id)
    await here.stop()
    await listener.receive("VOICE_STATE_UPDATE", user_id=str(alice.id), channel_id=None)


async def test_each_node_makes_ids_of_its_own_number(nodes: Pair) -> None:
    ids = [node.app.services.ids.next() for node in nodes]
    numbers = [(made >> 12) & 1023 for made in ids]
    assert sorted(numbers) == [0, 1]
