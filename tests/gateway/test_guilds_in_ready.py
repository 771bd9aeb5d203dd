"""Guilds in READY, for clients of people, which state capabilities."""

import asyncio
import copy
import json
from typing import Any

import pytest
from sqlalchemy import insert

from moothall.bus.local import LocalBus
from moothall.gateway.node import GatewayNode
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import voice_states
from tests.gateway.peer import ALICE, GUILD, Peer, World, create_node, event, message, run_pending
from tests.support.gateway_nodes import ACTIVE, node_over
from tests.support.harness import VOICE, Platform
from tests.support.relationships import befriend

LAZY, DEDUPE, PRIORITIZED, CLIENT_STATE_V2 = 1 << 0, 1 << 4, 1 << 5, 1 << 10
HIDE = int(Permissions.VIEW_CHANNEL)
ONLY_AT_JOINING = {"unavailable", "soundboard_sounds"}
"""What GUILD_CREATE has and a guild of READY has not."""

_write_voice = Query(insert(voice_states))


def whole(ready: dict[str, Any], supplement: dict[str, Any], number: int) -> dict[str, Any]:
    """A guild of READY as GUILD_CREATE has it, put together as client libraries do it."""
    ready, supplement = copy.deepcopy((ready, supplement))
    guild: dict[str, Any] = ready["guilds"][number]
    if "properties" in guild:
        assert guild.pop("data_mode") == "full"
        guild |= guild.pop("properties")
    if supplement:
        guild |= supplement["guilds"][number]
    users = {user["id"]: user for user in [ready["user"], *ready["users"]]}
    if "merged_members" in ready:
        merged = ready["merged_members"][number] + supplement.get("merged_members", [[]] * (number + 1))[number]
        guild["members"] = [{"user": users[member.pop("user_id")], **member} for member in merged]
    presences = supplement.get("merged_presences") or ready.get("merged_presences")
    if presences is not None:
        guild["presences"] = [{"user": {"id": each.pop("user_id")}, **each} for each in presences["guilds"][number]]
    guild["members"] = sorted(guild["members"], key=lambda member: int(member["user"]["id"]))
    return guild


async def received(peer: Peer, name: str) -> Any:
    """The data of the next dispatch of a name."""
    while True:
        payload = await peer.receive()
        if payload["t"] == name:
            return payload["d"]


@pytest.mark.parametrize("form", [LAZY, CLIENT_STATE_V2])
@pytest.mark.parametrize("merging", [0, PRIORITIZED, DEDUPE, DEDUPE | PRIORITIZED])
async def test_a_guild_of_ready_says_what_guild_create_says(platform: Platform, merging: int, form: int) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await platform.guild(alice)
    guild = await platform.guild(alice)
    await guild.join(bob)
    crew = await guild.role(name="crew")
    hidden = await guild.channel(name="hidden", overwrites=[(guild.id, 0, 0, HIDE), (crew, 0, HIDE, 0)])
    lounge = await guild.channel(name="lounge", type=VOICE)
    values: dict[str, Any] = {"parent_id": guild.general, "owner_id": alice.id, "thread_metadata": ACTIVE}
    for name in ("joined", "other"):
        thread = await guild.channel(type=11, name=name, **values)
        if name == "joined":
            assert (await bob.put(f"/channels/{thread}/thread-members/@me")).status == 204
    async with platform.database.transaction() as tx:
        await tx.execute(_write_voice, guild_id=guild.id, user_id=alice.id, channel_id=lounge, session_id="s")
    node = node_over(platform)
    other = Peer(node)
    await other.identify(alice.token)
    for _ in range(2):
        await received(other, "GUILD_CREATE")
    plain, peer = Peer(node), Peer(node)
    await plain.identify(bob.token)
    created = await received(plain, "GUILD_CREATE")
    ready = await peer.identify(bob.token, capabilities=form | merging)
    supplement = await received(peer, "READY_SUPPLEMENTAL") if merging == DEDUPE | PRIORITIZED else {}
    assert ["properties" in guild for guild in ready["guilds"]] == [form == CLIENT_STATE_V2]
    in_ready = {k: v for k, v in whole(ready, supplement, 0).items() if k not in ONLY_AT_JOINING}
    assert in_ready == {k: v for k, v in created.items() if k not in ONLY_AT_JOINING}
    assert created["hub_type"] is None
    assert str(hidden) not in {channel["id"] for channel in created["channels"]}
    assert created["voice_states"]
    assert ["member" in thread for thread in created["threads"]] == [False, True]
    assert [presence["user"]["id"] for presence in created["presences"]] == [str(alice.id), str(bob.id)]
    # The lists of all guilds have one order.
    ready = await (peer := Peer(node)).identify(alice.token, capabilities=form | merging)
    supplement = await received(peer, "READY_SUPPLEMENTAL") if supplement else {}
    assert [whole(ready, supplement, number)["member_count"] for number in range(2)] == [1, 2]
    assert [len(whole(ready, supplement, number)["members"]) for number in range(2)] == [1, 2]
    assert "GUILD_CREATE" not in await peer.names()


async def test_where_a_supplement_follows_ready_has_the_own_member_and_all_users(platform: Platform) -> None:
    alice, bob, carol = [await platform.person(name) for name in ("alice", "bob", "carol")]
    guild = await platform.guild(alice)
    await guild.join(bob)
    await befriend(bob, carol)
    node = node_over(platform)
    peer = Peer(node)
    ready = await peer.identify(bob.token, capabilities=CLIENT_STATE_V2 | DEDUPE | PRIORITIZED)
    assert [[member["user_id"] for member in members] for members in ready["merged_members"]] == [[str(bob.id)]]
    assert [user["username"] for user in ready["users"]] == ["alice", "bob", "carol"]
    assert not {"members", "presences", "voice_states", "activity_instances"} & ready["guilds"][0].keys()
    (relationship,) = ready["relationships"]
    assert (relationship["user_id"], "user" in relationship) == (str(carol.id), False)
    supplement = await received(peer, "READY_SUPPLEMENTAL")
    assert [[member["user_id"] for member in members] for members in supplement["merged_members"]] == [[str(alice.id)]]
    assert supplement["guilds"] == [{"id": str(guild.id), "voice_states": [], "activity_instances": []}]


async def test_a_guild_joined_later_has_its_fields_where_the_client_reads_them(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    guild = await platform.guild(alice)
    node = node_over(platform)
    plain, modern = Peer(node), Peer(node)
    await plain.identify(bob.token)
    await modern.identify(bob.token, capabilities=CLIENT_STATE_V2)
    invite = (await alice.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert (await bob.post(f"/invites/{invite}", {})).status == 200
    created, nested = await received(plain, "GUILD_CREATE"), await received(modern, "GUILD_CREATE")
    assert (nested.pop("data_mode"), created.pop("soundboard_sounds")) == ("full", [])
    assert nested | nested.pop("properties") == created
    assert not {"unavailable", "properties"} & created.keys()


async def reading_guilds(world: World) -> tuple[Peer, GatewayNode, LocalBus]:
    """A session of Alice of which the guild for READY is being read, after its roles and her member."""
    world.embedded = False
    node, bus = create_node(world)
    peer = Peer(node)
    assert (await peer.receive())["op"] == 10
    world.pause = asyncio.Event()
    peer.send({"op": 2, "d": {"token": "alice", "properties": {}, "capabilities": CLIENT_STATE_V2}})
    for _ in range(2):
        await run_pending()
        world.pause.set()
        world.pause.clear()
    await run_pending()
    assert world.loads == 3
    return peer, node, bus


async def test_events_while_the_guilds_of_ready_are_read_follow_it() -> None:
    world = World()
    peer, _, bus = await reading_guilds(world)
    bus.publish([message("one"), message("two")])
    await run_pending()
    assert world.pause is not None
    world.pause.set()
    payloads = await peer.receive_all()
    assert [payload["t"] for payload in payloads][:3] == ["READY", "MESSAGE_CREATE", "MESSAGE_CREATE"]
    assert [payload["s"] for payload in payloads] == list(range(1, len(payloads) + 1))
    assert [payload["d"]["content"] for payload in payloads[1:3]] == ["one", "two"]
    assert [guild["id"] for guild in payloads[0]["d"]["guilds"]] == [str(GUILD)]


async def test_a_guild_left_while_ready_is_read_is_deleted_after_it() -> None:
    world = World()
    peer, node, bus = await reading_guilds(world)
    del world.members[ALICE]
    bus.publish([event("GUILD_MEMBER_REMOVE", {"guild_id": str(GUILD), "user": {"id": str(ALICE)}})])
    await run_pending()
    assert world.pause is not None
    world.pause.set()
    assert await peer.names() == ["READY", "GUILD_DELETE"]
    bus.publish([message("unheard")])
    assert await peer.names() == []
    assert not node.hub.views, "nothing is kept for the session"


async def test_a_session_that_fails_to_start_keeps_no_events() -> None:
    world = World()
    peer, node, _ = await reading_guilds(world)
    peer.task.cancel()
    await run_pending()
    assert not node.hub.views
    assert not node.hub.sessions


@pytest.mark.parametrize("capabilities", [0, CLIENT_STATE_V2])
async def test_a_guild_joined_while_a_session_starts_is_created_after_ready(
    platform: Platform, capabilities: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    guild = await platform.guild(alice)
    invite = (await alice.post(f"/channels/{guild.general}/invites", {})).json["code"]
    node = node_over(platform)
    read_user = node._source.current_user

    async def join_and_read_user(user_id: Any) -> bytes:
        assert (await bob.post(f"/invites/{invite}", {})).status == 200
        await node.hub.join(node.hub.sessions_by_user[user_id][0], guild.id, joined=True)
        return await read_user(user_id)

    monkeypatch.setattr(node._source, "current_user", join_and_read_user)
    peer = Peer(node)
    ready = await peer.identify(bob.token, capabilities=capabilities)
    assert peer.seq == 1
    assert [each["id"] for each in ready["guilds"]] == ([] if capabilities else [str(guild.id)])
    assert (await received(peer, "GUILD_CREATE"))["id"] == str(guild.id)
    assert "GUILD_CREATE" not in await peer.names()
    assert (await alice.post(f"/channels/{guild.general}/messages", {"content": "welcome"})).status == 200
    assert (await received(peer, "MESSAGE_CREATE"))["content"] == "welcome"


async def test_the_trace_of_ready_and_of_resumed_is_json_in_texts(platform: Platform) -> None:
    alice = await platform.person("alice")
    bot = await platform.bot(alice)
    node = node_over(platform)
    for token, fields in ((alice.token, {}), (bot.token, {"intents": 0})):
        peer = Peer(node)
        ready = await peer.identify(token, **fields)
        seq = peer.seq
        await peer.disconnect()
        again = Peer(node)
        assert (await again.receive())["op"] == 10
        again.send({"op": 6, "d": {"token": token, "session_id": ready["session_id"], "seq": seq}})
        for data in (ready, await received(again, "RESUMED")):
            (text,) = data["_trace"]
            server, calls = json.loads(text)
            assert (server, calls["micros"] > 0) == ("moothall", True)
