"""Large guilds for clients with passive updates: they receive what they have subscribed to, and PASSIVE_UPDATE."""

from typing import Any

import pytest

from moothall.bus import Audience
from moothall.gateway.node import GatewayNode
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ChannelId, GuildId, Snowflake
from tests.gateway.peer import ALICE, BOB, CAPTAIN, CRYPT, GUILD, TOWN, Peer, World, create_node, event, run_pending
from tests.support.gateway_nodes import node_over
from tests.support.harness import Platform

V1, V2 = 1 << 11, 1 << 14
THREAD = ChannelId(Snowflake(TOWN + 100))


class LargeWorld(World):
    """A guild above every `large_threshold`."""

    async def member_count(self, guild_id: GuildId) -> int:
        return 1000 + await super().member_count(guild_id)


async def connected(node: Any, token: str, capabilities: int, **fields: Any) -> Peer:
    peer = Peer(node)
    await peer.identify(token, capabilities=capabilities, **fields)
    await peer.receive_all()
    return peer


def message(message_id: int, channel_id: int = TOWN, *, author: int = BOB, **fields: Any) -> Any:
    data = {"id": str(message_id), "channel_id": str(channel_id), "author": {"id": str(author)}, **fields}
    return event(
        "MESSAGE_CREATE", data, audience=Audience.CHANNEL, channel_id=TOWN if channel_id == THREAD else channel_id
    )


def in_town(name: str, data: Any, **routing: Any) -> Any:
    return event(name, data, audience=Audience.CHANNEL, channel_id=TOWN, **routing)


def voice(user_id: int, channel_id: int | None, *, audience_id: int = TOWN) -> Any:
    data = {
        "guild_id": str(GUILD),
        "user_id": str(user_id),
        "channel_id": None if channel_id is None else str(channel_id),
        "member": {"user": {"id": str(user_id)}, "roles": []},
    }
    return event("VOICE_STATE_UPDATE", data, audience=Audience.CHANNEL, channel_id=audience_id)


def member(user_id: int) -> Any:
    return event("GUILD_MEMBER_UPDATE", {"user": {"id": str(user_id)}, "roles": [], "guild_id": str(GUILD)})


async def heard(peer: Peer) -> list[tuple[str, Any]]:
    """The dispatches of events that a subscription decides on."""
    state = {"SESSIONS_REPLACE", "GUILD_MEMBER_LIST_UPDATE"}
    return [(name, data) for name, data in await peer.dispatches() if name not in state]


async def names(peer: Peer) -> list[str]:
    return [name for name, _ in await heard(peer)]


def subscribe(peer: Peer, opcode: int = 37, **fields: Any) -> None:
    if opcode == 14:
        peer.send({"op": 14, "d": {"guild_id": str(GUILD), **fields}})
    else:
        peer.send({"op": 37, "d": {"subscriptions": {str(GUILD): fields}}})


async def passive_update(peer: Peer) -> Any:
    while True:
        payload = await peer.receive()
        if payload["t"] in {"PASSIVE_UPDATE_V1", "PASSIVE_UPDATE_V2"}:
            return payload["d"]


async def elapse(node: GatewayNode) -> None:
    """Let the time pass for which changes are collected."""
    await run_pending()
    await node.subscriptions.passive_updates.dispatch(node.hub.views[GUILD])


async def test_messages_of_a_large_guild_arrive_as_one_update_until_the_client_subscribes() -> None:
    node, bus = create_node(LargeWorld())
    passive, plain = await connected(node, "alice", V2), await connected(node, "alice", 0)
    bus.publish([message(5), message(6), in_town("MESSAGE_DELETE", {"id": "5"})])
    bus.publish([message(7, CRYPT), event("GUILD_UPDATE", {"id": str(GUILD), "owner_id": "1"})])
    assert await names(plain) == ["MESSAGE_CREATE", "MESSAGE_CREATE", "MESSAGE_DELETE", "GUILD_UPDATE"]
    assert await names(passive) == ["GUILD_UPDATE"]
    await elapse(node)
    assert await passive_update(passive) == {
        "guild_id": str(GUILD),
        "updated_channels": [{"id": str(TOWN), "last_message_id": "6"}],
        "updated_voice_states": [],
        "removed_voice_states": [],
        "updated_members": [],
    }
    bus.publish([message(8)])
    subscribe(passive, typing=True)
    assert [data["updated_channels"][0]["last_message_id"] for _, data in await heard(passive)] == ["8"]
    bus.publish([message(9)])
    assert await names(passive) == ["MESSAGE_CREATE"]
    subscribe(passive, typing=False)
    await passive.receive_all()
    bus.publish([message(10)])
    await elapse(node)
    assert (await passive_update(passive))["updated_channels"] == [{"id": str(TOWN), "last_message_id": "10"}]
    assert "PASSIVE_UPDATE_V2" not in await names(plain)


async def test_what_a_user_writes_and_what_mentions_them_arrives_without_a_subscription() -> None:
    world = LargeWorld()
    world.members[ALICE] = (CAPTAIN,)
    node, bus = create_node(world)
    passive = await connected(node, "alice", V2)
    user = {"id": str(ALICE)}
    arriving = [
        message(1, author=ALICE),
        message(2, mentions=[user]),
        message(3, mention_roles=[str(CAPTAIN)]),
        message(4, mention_everyone=True),
    ]
    bus.publish([*arriving, message(5, mentions=[{"id": str(BOB)}]), message(6, mention_roles=[str(GUILD + 99)])])
    assert [data["id"] for name, data in await heard(passive) if name == "MESSAGE_CREATE"] == ["1", "2", "3", "4"]


async def test_only_its_members_learn_of_messages_in_a_private_thread() -> None:
    node, bus = create_node(LargeWorld())
    alice, bob = await connected(node, "alice", V2), await connected(node, "bob", V2)
    data = {"id": "7", "channel_id": str(THREAD), "author": {"id": "1"}}
    bus.publish([message(5, author=1), in_town("MESSAGE_CREATE", data, thread_id=THREAD, user_ids=[BOB])])
    await bob.receive_all()
    await elapse(node)
    town = {"id": str(TOWN), "last_message_id": "5"}
    assert (await passive_update(alice))["updated_channels"] == [town]
    assert (await passive_update(bob))["updated_channels"] == [town, {"id": str(THREAD), "last_message_id": "7"}]


async def test_a_guild_of_few_members_is_sent_whole() -> None:
    node, bus = create_node(World())
    passive = await connected(node, "alice", V1 | V2)
    bus.publish([message(5), voice(BOB, TOWN)])
    assert await names(passive) == ["MESSAGE_CREATE", "VOICE_STATE_UPDATE"]


async def test_voice_states_are_updated_and_removed_as_the_channels_are_visible() -> None:
    node, bus = create_node(LargeWorld())
    passive = await connected(node, "alice", V2)
    bus.publish([voice(BOB, TOWN), voice(BOB, TOWN), voice(103, CRYPT, audience_id=CRYPT), voice(ALICE, TOWN)])
    assert [data["user_id"] for _, data in await heard(passive)] == [str(ALICE)], "the user's own"
    await elapse(node)
    update = await passive_update(passive)
    assert [state["user_id"] for state in update["updated_voice_states"]] == [str(BOB), str(ALICE)]
    assert all("member" not in state for state in update["updated_voice_states"])
    assert [each["user"]["id"] for each in update["updated_members"]] == [str(BOB), str(ALICE)]
    assert update["removed_voice_states"] == ["103"]
    bus.publish([voice(BOB, None)])
    await elapse(node)
    update = await passive_update(passive)
    assert (update["updated_voice_states"], update["removed_voice_states"]) == ([], [str(BOB)])


@pytest.mark.parametrize("opcode", [14, 37])
async def test_each_part_of_a_subscription_brings_its_events(opcode: int) -> None:
    node, bus = create_node(LargeWorld())
    peer = await connected(node, "alice", V2)
    typing = in_town("TYPING_START", {"user_id": str(BOB)})
    thread = in_town("THREAD_UPDATE", {"id": "1"})
    presence = event("PRESENCE_UPDATE", {"user": {"id": str(BOB)}, "status": "online"}, user_ids=[BOB])
    published = [message(1), typing, thread, presence, member(BOB), member(ALICE)]
    always = ["GUILD_MEMBER_UPDATE"]
    bus.publish(published)
    assert await names(peer) == always
    expected: dict[str, list[str]] = {
        "typing": ["MESSAGE_CREATE", "TYPING_START", *always],
        "threads": ["MESSAGE_CREATE", "THREAD_UPDATE", *always],
        "activities": ["MESSAGE_CREATE", "PRESENCE_UPDATE", *always],
        "member_updates": ["MESSAGE_CREATE", "GUILD_MEMBER_UPDATE", *always],
    }
    for field, received in expected.items():
        subscribe(peer, opcode, **{field: True})
        subscribed = await names(peer)
        assert ("THREAD_LIST_SYNC" in subscribed) is (field == "threads")
        bus.publish(published)
        assert await names(peer) == received
        subscribe(peer, opcode, **{field: False})
        await peer.receive_all()
    subscribe(peer, opcode, members=[str(BOB)])
    await peer.receive_all()
    bus.publish([*published, member(103)])
    assert await names(peer) == ["MESSAGE_CREATE", "PRESENCE_UPDATE", "GUILD_MEMBER_UPDATE", *always]
    subscribe(peer, opcode, channels={str(TOWN): [[0, 99]]}, members=[])
    await peer.receive_all()
    bus.publish(published)
    assert await names(peer) == ["MESSAGE_CREATE", *always]


async def test_following_the_members_of_a_thread_brings_who_joins_and_leaves_it() -> None:
    node, bus = create_node(LargeWorld())
    peer = await connected(node, "alice", V2)
    update = {"id": str(THREAD), "member_count": 1, "added_members": [{"user_id": str(BOB)}]}
    joined = in_town("THREAD_MEMBERS_UPDATE", update)
    bus.publish([joined])
    assert await names(peer) == []
    subscribe(peer, thread_member_lists=[str(THREAD)])
    bus.publish([joined, in_town("THREAD_MEMBERS_UPDATE", update | {"id": "1"}), message(1)])
    assert await names(peer) == ["THREAD_MEMBERS_UPDATE", "MESSAGE_CREATE"]
    subscribe(peer, typing=False)
    bus.publish([joined])
    assert await names(peer) == ["THREAD_MEMBERS_UPDATE"], "what is left out stays"
    subscribe(peer, thread_member_lists=[])
    bus.publish([joined])
    assert await names(peer) == []


async def test_subscribing_to_a_member_sends_their_presence() -> None:
    node, _ = create_node(LargeWorld())
    bob = await connected(node, "bob", 0)
    alice = await connected(node, "alice", V2)
    subscribe(alice, members=[str(BOB)])
    ((name, data),) = [each for each in await heard(alice) if each[0] == "PRESENCE_UPDATE"]
    assert (name, data["user"]["id"], data["guild_id"], data["status"]) == (
        "PRESENCE_UPDATE",
        str(BOB),
        str(GUILD),
        "online",
    )
    bob.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": 0, "afk": False}})
    await bob.receive_all()
    assert [data["status"] for name, data in await heard(alice) if name == "PRESENCE_UPDATE"] == ["dnd"]


async def test_a_subscription_sent_right_after_ready_counts_from_then_on(platform: Platform, monkeypatch: Any) -> None:
    async def member_count(_self: DatabaseSource, _guild_id: Any) -> int:
        return 1000

    monkeypatch.setattr(DatabaseSource, "member_count", member_count)
    monkeypatch.setattr("moothall.gateway.delivery.passive_updates._SECONDS", 0.02)
    alice, bob = await platform.person("alice"), await platform.person("bob")
    guild = await platform.guild(alice)
    await guild.join(bob)
    channel_id = await guild.channel()
    node = node_over(platform)
    early, late = Peer(node), Peer(node)
    await early.identify(bob.token, capabilities=V2)
    early.send({"op": 37, "d": {"subscriptions": {str(guild.id): {"typing": True}}}})
    await late.identify(bob.token, capabilities=V1)
    await run_pending()
    sent = await alice.post(f"/channels/{channel_id}/messages", {"content": "hello"})
    assert sent.status == 200
    while (payload := await early.receive())["t"] != "MESSAGE_CREATE":
        assert payload["t"] != "PASSIVE_UPDATE_V2"
    update = await passive_update(late)
    assert update == {
        "guild_id": str(guild.id),
        "channels": [{"id": str(channel_id), "last_message_id": sent.json["id"]}],
        "voice_states": [],
        "members": [],
    }
