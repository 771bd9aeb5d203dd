"""Intents, message content, presences, Request Guild Members."""

from typing import Any

import pytest

from moothall.bus import Audience
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.intents import ALL, EVENTS, Intent
from tests.gateway.peer import ALICE, BOB, BOT, CAPTAIN, GUILD, TOWN, Peer, World, create_node, event, message


async def bot_with(intents: int, world: World | None = None, **settings: Any) -> tuple[Any, Peer]:
    """A bus, and a bot with some intents."""
    node, bus = create_node(world or World(), **settings)
    peer = Peer(node)
    await peer.identify("bot", intents=intents)
    await peer.receive_all()
    return bus, peer


@pytest.mark.parametrize("intent", sorted(EVENTS))
async def test_an_intent_brings_its_events_and_only_its(intent: int) -> None:
    bus, peer = await bot_with(intent)
    for other in EVENTS:
        bus.publish([event(f"EVENT_{other.bit_length()}", intent=other)])
    bus.publish([event("ALWAYS"), event("EITHER", intent=intent | 1 << 40)])
    assert await peer.names() == [f"EVENT_{intent.bit_length()}", "ALWAYS", "EITHER"]


async def test_without_the_guilds_intent_there_is_no_guild_create_but_messages_arrive() -> None:
    node, bus = create_node(World())
    peer = Peer(node)
    ready = await peer.identify("bot", intents=Intent.GUILD_MESSAGES)
    assert ready["guilds"] == []
    bus.publish([message("hello")])
    assert await peer.names() == ["MESSAGE_CREATE"]


async def test_content_is_for_those_with_the_intent_and_those_exempt() -> None:
    bus, without = await bot_with(Intent.GUILD_MESSAGES)
    bus.publish([message("secret")])
    assert await without.dispatches() == [("MESSAGE_CREATE", {"content": ""})]
    exempt = message("for you")
    exempt.exempt = [BOT]
    bus.publish([exempt])
    assert await without.dispatches() == [("MESSAGE_CREATE", {"content": "for you"})]
    bus, having = await bot_with(Intent.GUILD_MESSAGES | Intent.MESSAGE_CONTENT)
    bus.publish([message("secret")])
    assert await having.dispatches() == [("MESSAGE_CREATE", {"content": "secret"})]


async def test_ones_own_member_update_is_received_without_the_intent() -> None:
    bus, peer = await bot_with(Intent.GUILDS)
    for user_id in (BOT, ALICE):
        bus.publish(
            [event("GUILD_MEMBER_UPDATE", {"user": {"id": str(user_id)}, "roles": []}, intent=Intent.GUILD_MEMBERS)]
        )
    assert [d["user"]["id"] for _, d in await peer.dispatches()] == [str(BOT)]


async def test_thread_members_updates_of_other_users_need_the_members_intent() -> None:
    def update(user_id: int) -> Any:
        return event(
            "THREAD_MEMBERS_UPDATE",
            {"added_members": [{"user_id": str(user_id)}], "removed_member_ids": []},
            audience=Audience.CHANNEL,
            channel_id=TOWN,
            thread_id=99,
            intent=Intent.GUILDS | Intent.GUILD_MEMBERS,
        )

    bus, few = await bot_with(Intent.GUILDS)
    bus.publish([update(BOT), update(ALICE)])
    assert len(await few.names()) == 1
    bus, many = await bot_with(Intent.GUILDS | Intent.GUILD_MEMBERS)
    bus.publish([update(BOT), update(ALICE)])
    assert len(await many.names()) == 2


async def test_a_user_has_the_highest_ranking_status_of_their_sessions() -> None:
    node, _ = create_node(World())
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()
    phone, desk = Peer(node), Peer(node)
    await phone.identify(
        "alice", properties={"os": "Android"}, presence={"status": "idle", "activities": [], "since": 0, "afk": True}
    )
    ((_, first),) = await bob.dispatches()
    assert (first["user"], first["status"], first["client_status"]) == ({"id": str(ALICE)}, "idle", {"mobile": "idle"})
    await desk.identify("alice", properties={"os": "linux", "browser": "moot"})
    ((_, second),) = await bob.dispatches()
    assert (second["status"], second["client_status"]) == ("online", {"desktop": "online", "mobile": "idle"})
    assert node.presences.online_count(GUILD) == 2
    desk.send({"op": 3, "d": {"status": "invisible", "activities": [], "since": None, "afk": False}})
    phone.send({"op": 3, "d": {"status": "invisible", "activities": [], "since": None, "afk": False}})
    assert [d["status"] for _, d in await bob.dispatches()] == ["idle", "offline"]
    assert node.presences.online_count(GUILD) == 1
    assert node.presences.is_connected(ALICE)
    await desk.disconnect(1000)
    await phone.disconnect(1000)
    assert await bob.names() == []
    assert not node.presences.is_connected(ALICE)


async def test_a_user_who_disconnects_is_offline_in_their_guilds() -> None:
    node, _ = create_node(World())
    bob, alice = Peer(node), Peer(node)
    await bob.identify("bob")
    await alice.identify(
        "alice", presence={"status": "dnd", "activities": [{"name": "chess", "type": 0}], "since": None, "afk": False}
    )
    heard = [d for name, d in await bob.dispatches() if name == "PRESENCE_UPDATE" and d["user"]["id"] == str(ALICE)]
    assert (heard[-1]["status"], heard[-1]["activities"][0]["name"]) == ("dnd", "chess")
    assert [p.user.id for p in node.presences.presences(GUILD)] == [BOB, ALICE]
    await alice.disconnect(1001)
    ((_, offline),) = await bob.dispatches()
    assert (offline["status"], offline["activities"], offline["client_status"]) == ("offline", [], {})


async def test_presences_need_their_intent() -> None:
    node, _ = create_node(World())
    peer, alice = Peer(node), Peer(node)
    await peer.identify("bot", intents=ALL & ~Intent.GUILD_PRESENCES)
    await peer.receive_all()
    await alice.identify("alice")
    assert await peer.names() == []


def ask(**fields: Any) -> dict[str, Any]:
    return {"op": 8, "d": {"guild_id": str(GUILD)} | fields}


async def test_members_by_id_come_with_those_not_found_and_the_nonce() -> None:
    _, peer = await bot_with(Intent.GUILDS)
    peer.send(ask(user_ids=[str(ALICE), "999"], nonce="n" * 32))
    ((name, chunk),) = await peer.dispatches()
    assert name == "GUILD_MEMBERS_CHUNK"
    assert [m["user"]["id"] for m in chunk["members"]] == [str(ALICE)]
    assert (chunk["chunk_index"], chunk["chunk_count"], chunk["not_found"]) == (0, 1, ["999"])
    assert (chunk["guild_id"], chunk["nonce"]) == (str(GUILD), "n" * 32)
    assert "presences" not in chunk
    peer.send(ask(user_ids=str(BOB), nonce="n" * 33))
    ((_, chunk),) = await peer.dispatches()
    assert [m["roles"] for m in chunk["members"]] == [[str(CAPTAIN)]]
    assert "nonce" not in chunk
    assert "not_found" not in chunk


async def test_members_by_name_are_limited() -> None:
    _, peer = await bot_with(Intent.GUILDS)
    peer.send(ask(query="USER10", limit=2))
    ((_, chunk),) = await peer.dispatches()
    assert [m["user"]["username"] for m in chunk["members"]] == ["user101", "user102"]


async def test_the_whole_list_comes_in_chunks_of_a_thousand_with_the_members_intent() -> None:
    world = World()
    world.members |= {UserId(Snowflake(number)): () for number in range(1000, 3500)}
    _, peer = await bot_with(Intent.GUILDS | Intent.GUILD_MEMBERS, world)
    peer.send(ask(query="", limit=0, presences=True))
    chunks = [await peer.receive() for _ in range(3)]
    assert [(c["d"]["chunk_index"], c["d"]["chunk_count"]) for c in chunks] == [(0, 3), (1, 3), (2, 3)]
    assert [len(c["d"]["members"]) for c in chunks] == [1_000, 1_000, 503]
    assert sorted(int(m["user"]["id"]) for c in chunks for m in c["d"]["members"]) == sorted(world.members)
    assert "presences" not in chunks[0]["d"]
    _, without = await bot_with(Intent.GUILDS, world)
    without.send(ask(query="", limit=0))
    assert await without.names() == []


async def test_the_whole_list_twice_within_half_a_minute_is_rate_limited() -> None:
    _, peer = await bot_with(Intent.GUILDS | Intent.GUILD_MEMBERS)
    peer.send(ask(query="", limit=0, nonce="first"))
    assert await peer.names() == ["GUILD_MEMBERS_CHUNK"]
    peer.send(ask(query="", limit=0, nonce="second"))
    ((name, limited),) = await peer.dispatches()
    assert name == "RATE_LIMITED"
    assert (limited["opcode"], limited["meta"]) == (8, {"guild_id": str(GUILD), "nonce": "second"})
    assert 0 < limited["retry_after"] <= 30
    peer.send(ask(query="user", limit=1))
    assert await peer.names() == ["GUILD_MEMBERS_CHUNK"]


async def test_without_rate_limits_the_whole_list_comes_each_time() -> None:
    node, _ = create_node(World(), member_list_seconds=0)
    peer = Peer(node)
    await peer.identify("bot", intents=Intent.GUILDS | Intent.GUILD_MEMBERS)
    await peer.receive_all()
    for _ in range(2):
        peer.send(ask(query="", limit=0))
        assert await peer.names() == ["GUILD_MEMBERS_CHUNK"]


async def test_presences_of_members_come_with_their_intent() -> None:
    node, _ = create_node(World())
    alice, peer = Peer(node), Peer(node)
    await alice.identify("alice")
    await peer.identify("bot", intents=ALL)
    await peer.receive_all()
    peer.send(ask(query="", limit=0, presences=True))
    ((_, chunk),) = await peer.dispatches()
    assert sorted(p["user"]["id"] for p in chunk["presences"]) == [str(ALICE), str(BOT)]


@pytest.mark.parametrize("fields", [{}, {"query": None}, {"user_ids": [1, "x"]}, {"guild_id": ["1", "2"], "query": ""}])
async def test_a_request_for_nothing_or_for_two_guilds_is_4002(fields: dict[str, Any]) -> None:
    _, peer = await bot_with(Intent.GUILDS)
    peer.send(ask(**fields))
    assert await peer.close_code() == 4002


async def test_members_of_a_guild_that_the_session_has_not_joined_are_not_sent() -> None:
    _, peer = await bot_with(Intent.GUILDS | Intent.GUILD_MEMBERS)
    peer.send({"op": 8, "d": {"guild_id": "5", "query": "", "limit": 0}})
    assert await peer.names() == []
