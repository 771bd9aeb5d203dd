"""Calls in direct messages and groups: who is in them, who is rung, and what their messages tell."""

from typing import Any

import pytest
from msgspec import Struct

from moothall.api.jobs import JobRunner
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.call.operations.ringing import RING_SECONDS
from moothall.resources.call.operations.sessions import (
    clear_calls_of_others,
    handle_call_update,
    leave_call_of_session,
)
from moothall.resources.call.queries import CallVoiceStateRow
from tests.gateway.peer import Peer
from tests.support.harness import Caller, Platform

EVENTS = ("CALL_CREATE", "CALL_UPDATE", "CALL_DELETE", "VOICE_STATE_UPDATE")


class Friends(Struct):
    """Alice and Bob with a direct message, and Carol in a group with both; they share a guild. Dave is a stranger."""

    alice: Caller
    bob: Caller
    carol: Caller
    dave: Caller
    direct: int
    group: int


@pytest.fixture
async def friends(platform: Platform) -> Friends:
    alice, bob, carol, dave = [await platform.person(name) for name in ("alice", "bob", "carol", "dave")]
    guild = await platform.guild(alice)
    await guild.join(bob, carol)
    direct = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json
    group = (await alice.post("/users/@me/channels", {"recipients": [str(bob.id), str(carol.id)]})).json
    return Friends(alice, bob, carol, dave, int(direct["id"]), int(group["id"]))


async def join(platform: Platform, who: Caller, channel: int, *, session: str = "", **options: bool) -> bool:
    flags = {"self_mute": False, "self_deaf": False, "self_video": False, **options}
    state = CallVoiceStateRow(
        user_id=who.id,
        channel_id=ChannelId(Snowflake(channel)),
        session_id=session or f"session of {who.name}",
        node="n1",
        **flags,
    )
    return await handle_call_update(platform.services, state)


async def leave(platform: Platform, who: Caller, session: str = "") -> None:
    await leave_call_of_session(platform.services, who.id, session or f"session of {who.name}")


def heard(platform: Platform) -> list[tuple[str, Any, set[int]]]:
    """The events of calls since the last time: name, data and receivers."""
    events = [
        (event.name, data, set(map(int, event.user_ids)))
        for name in EVENTS
        for event, data in zip(
            [each for each in platform.heard if each.name == name], platform.heard_data(name), strict=True
        )
    ]
    platform.heard.clear()
    return events


async def call_message(who: Caller, channel: int) -> Any:
    return (await who.get(f"/channels/{channel}/messages")).json[0]


def ids(*people: Caller) -> list[str]:
    return sorted((str(each.id) for each in people), key=int)


async def test_a_call_begins_with_the_first_who_joins_and_ends_with_the_last_who_leaves(
    platform: Platform, friends: Friends
) -> None:
    alice, bob, channel = friends.alice, friends.bob, friends.direct
    assert (await alice.get(f"/channels/{channel}/call")).json == {"ringable": True}
    platform.heard.clear()
    assert await join(platform, alice, channel, self_mute=True)
    assert platform.heard_names.index("MESSAGE_CREATE") < platform.heard_names.index("CALL_CREATE")
    message = await call_message(bob, channel)
    created, joined = heard(platform)
    both = {int(alice.id), int(bob.id)}
    call = {"channel_id": str(channel), "message_id": message["id"], "region": "local"}
    assert created == ("CALL_CREATE", {**call, "ringing": [], "voice_states": []}, both)
    state = joined[1]
    assert (joined[0], joined[2], state["channel_id"], state["user_id"]) == (
        "VOICE_STATE_UPDATE", both, str(channel), str(alice.id),
    )  # fmt: skip
    assert (state["session_id"], state["self_mute"], "guild_id" in state) == ("session of alice", True, False)
    assert (message["type"], message["author"]["id"]) == (3, str(alice.id))
    assert message["call"] == {"participants": [str(alice.id)], "ended_timestamp": None}
    assert await join(platform, bob, channel)
    assert [name for name, _, _ in heard(platform)] == ["VOICE_STATE_UPDATE"]
    assert (await call_message(alice, channel))["call"]["participants"] == [str(alice.id), str(bob.id)]
    await leave(platform, alice)
    assert [(name, data["channel_id"]) for name, data, _ in heard(platform)] == [("VOICE_STATE_UPDATE", None)]
    await leave(platform, bob)
    assert [(name, receivers) for name, _, receivers in heard(platform)] == [
        ("CALL_DELETE", both), ("VOICE_STATE_UPDATE", both),
    ]  # fmt: skip
    ended = (await call_message(alice, channel))["call"]
    assert Timestamp.from_wire(ended["ended_timestamp"]) >= Timestamp.from_wire(message["timestamp"])
    assert ended["participants"] == [str(alice.id), str(bob.id)]


async def test_the_message_of_a_call_is_announced_whenever_it_changes(platform: Platform, friends: Friends) -> None:
    await join(platform, friends.alice, friends.direct)
    platform.heard.clear()
    await join(platform, friends.bob, friends.direct)
    await leave(platform, friends.bob)
    await join(platform, friends.bob, friends.direct)
    await leave(platform, friends.bob)
    assert len(platform.heard_data("MESSAGE_UPDATE")) == 1
    await leave(platform, friends.alice)
    calls = [each["call"] for each in platform.heard_data("MESSAGE_UPDATE")]
    assert [call["ended_timestamp"] is None for call in calls] == [True, False]
    assert all(call["participants"] == [str(friends.alice.id), str(friends.bob.id)] for call in calls)


async def test_the_same_state_again_announces_nothing(platform: Platform, friends: Friends) -> None:
    await join(platform, friends.alice, friends.direct)
    platform.heard.clear()
    assert await join(platform, friends.alice, friends.direct)
    assert platform.heard == []
    assert await join(platform, friends.alice, friends.direct, self_deaf=True)
    [(_, state, _)] = heard(platform)
    assert state["self_deaf"] is True


async def test_a_user_is_in_one_call_at_most(platform: Platform, friends: Friends) -> None:
    await join(platform, friends.alice, friends.direct)
    platform.heard.clear()
    await join(platform, friends.alice, friends.group)
    assert [data["channel_id"] for name, data, _ in heard(platform) if name == "VOICE_STATE_UPDATE"] == [
        None,
        str(friends.group),
    ]
    assert (await call_message(friends.bob, friends.direct))["call"]["ended_timestamp"] is not None


async def test_another_session_takes_the_call_over_and_the_first_one_ends_without_effect(
    platform: Platform, friends: Friends
) -> None:
    await join(platform, friends.alice, friends.direct, session="laptop")
    await join(platform, friends.alice, friends.direct, session="phone")
    platform.heard.clear()
    await leave(platform, friends.alice, "laptop")
    assert platform.heard == []
    await leave(platform, friends.alice, "phone")
    assert "CALL_DELETE" in platform.heard_names


async def test_only_recipients_join_and_none_in_channels_of_guilds(platform: Platform, friends: Friends) -> None:
    guild = await platform.guild(friends.alice)
    platform.heard.clear()
    for who, channel in (
        (friends.carol, friends.direct),
        (friends.dave, friends.group),
        (friends.alice, int(guild.general)),
        (friends.alice, 1),
    ):
        assert not await join(platform, who, channel)
    assert platform.heard == []


async def test_who_is_blocked_neither_calls_nor_rings(platform: Platform, friends: Friends) -> None:
    assert (await friends.bob.put(f"/users/@me/relationships/{friends.alice.id}", {"type": 2})).status == 204
    platform.heard.clear()
    url = f"/channels/{friends.direct}/call"
    assert not await join(platform, friends.alice, friends.direct)
    assert not await join(platform, friends.bob, friends.direct)
    assert (await friends.alice.get(url)).json == {"ringable": False}
    assert (await friends.alice.post(f"{url}/ring", {})).code == 50007
    await join(platform, friends.alice, friends.group)
    group_url = f"/channels/{friends.group}/call"
    heard(platform)
    assert (await friends.alice.post(f"{group_url}/ring", {})).status == 204
    assert [data["ringing"] for _, data, _ in heard(platform)] == [ids(friends.carol)]
    assert (await friends.alice.post(f"{group_url}/ring", {"recipients": ids(friends.bob)})).status == 204
    assert heard(platform) == []


async def test_bots_are_in_no_calls(platform: Platform, friends: Friends) -> None:
    bot = await platform.bot(friends.dave)
    channel = (await friends.alice.post("/users/@me/channels", {"recipient_id": str(bot.id)})).json["id"]
    assert (await friends.alice.get(f"/channels/{channel}/call")).json == {"ringable": False}
    assert (await bot.get(f"/channels/{channel}/call")).code == 20001
    await join(platform, friends.alice, int(channel))
    assert all(receivers == {int(friends.alice.id)} for _, _, receivers in heard(platform))


async def test_those_are_rung_who_are_named_until_they_answer_or_decline(platform: Platform, friends: Friends) -> None:
    alice, bob, carol, channel = friends.alice, friends.bob, friends.carol, friends.group
    url = f"/channels/{channel}/call"
    assert (await alice.post(f"{url}/ring", {})).status == 204
    await join(platform, alice, channel)
    heard(platform)
    assert (await bob.get(url)).json == {"ringable": True}
    assert (await alice.post(f"{url}/ring", {"recipients": ids(carol)})).status == 204
    assert (await alice.post(f"{url}/ring", {"recipients": None})).status == 204
    assert (await bob.post(f"{url}/stop-ringing", {})).status == 204
    assert (await bob.post(f"{url}/stop-ringing", {})).status == 204
    assert [data["ringing"] for _, data, _ in heard(platform)] == [ids(carol), ids(bob, carol), ids(carol)]
    await join(platform, carol, channel)
    [(name, data, receivers), _] = heard(platform)
    assert (name, data["ringing"], receivers) == ("CALL_UPDATE", [], {int(each.id) for each in (alice, bob, carol)})
    assert (await alice.post(f"{url}/ring", {"recipients": ids(carol)})).status == 204
    assert heard(platform) == []
    for action in ("ring", "stop-ringing"):
        assert (await alice.post(f"{url}/{action}", {"recipients": ids(friends.dave)})).code == 50033


async def test_who_does_not_answer_is_rung_no_longer_than_a_while(platform: Platform, friends: Friends) -> None:
    url = f"/channels/{friends.group}/call"
    await join(platform, friends.alice, friends.group)
    assert (await friends.alice.post(f"{url}/ring", {})).status == 204
    heard(platform)
    jobs = JobRunner(platform.services)
    await jobs.drain(Timestamp(Timestamp.now() + (RING_SECONDS - 5) * 1000))
    assert heard(platform) == []
    await jobs.drain(Timestamp(Timestamp.now() + (RING_SECONDS + 1) * 1000))
    assert [data["ringing"] for _, data, _ in heard(platform)] == [[]]


async def test_who_leaves_a_group_leaves_its_call(platform: Platform, friends: Friends) -> None:
    alice, bob, channel = friends.alice, friends.bob, friends.group
    await join(platform, alice, channel)
    await join(platform, bob, channel)
    assert (await alice.post(f"/channels/{channel}/call/ring", {})).status == 204
    heard(platform)
    assert (await alice.delete(f"/channels/{channel}/recipients/{bob.id}")).status == 204
    [(_, state, receivers)] = heard(platform)
    assert (state["user_id"], state["channel_id"], int(bob.id) in receivers) == (str(bob.id), None, True)
    assert (await alice.delete(f"/channels/{channel}/recipients/{friends.carol.id}")).status == 204
    assert [data["ringing"] for _, data, _ in heard(platform)] == [[]]
    assert (await alice.delete(f"/channels/{channel}")).status == 200
    assert [name for name, _, _ in heard(platform)] == ["CALL_DELETE", "VOICE_STATE_UPDATE"]


async def test_the_region_is_one_of_those_listed(platform: Platform, friends: Friends) -> None:
    url = f"/channels/{friends.direct}/call"
    assert (await friends.alice.patch(url, {"region": "local"})).status == 204
    await join(platform, friends.alice, friends.direct)
    heard(platform)
    assert (await friends.alice.patch(url, {"region": "local"})).status == 204
    assert (await friends.alice.patch(url, {"region": "atlantis"})).code == 50035
    assert heard(platform) == []


async def test_a_stranger_who_is_called_hears_of_it_as_of_a_message_request(
    platform: Platform, friends: Friends
) -> None:
    channel = (await friends.dave.post("/users/@me/channels", {"recipient_id": str(friends.bob.id)})).json["id"]
    assert (await friends.dave.get(f"/channels/{channel}/call")).json == {"ringable": False}
    platform.heard.clear()
    assert await join(platform, friends.dave, int(channel))
    assert (await friends.dave.post(f"/channels/{channel}/call/ring", {})).status == 204
    assert (await friends.dave.get(f"/channels/{channel}/call")).json == {"ringable": False}
    assert {name for name, _, receivers in heard(platform) if int(friends.bob.id) in receivers} == set()
    assert await calls_of(platform, friends.bob, int(channel)) == []


async def calls_of(platform: Platform, who: Caller, channel: int) -> list[Any]:
    """The calls that a new session is told of, and after them those that it asks for in a channel."""
    node = GatewayNode(GatewaySettings(), platform.bus, DatabaseSource(platform.database, platform.services.states))
    peer = Peer(node)
    calls = []
    await peer.identify(who.token)
    peer.send({"op": 13, "d": {"channel_id": str(channel)}})
    peer.send({"op": 1, "d": None})
    while (frame := await peer.receive())["op"] != 11:
        if frame["t"] == "CALL_CREATE":
            calls.append(frame["d"])
    return calls


async def test_a_client_that_begins_hears_of_calls_as_it_can(platform: Platform, friends: Friends) -> None:
    await join(platform, friends.alice, friends.group)
    assert (await friends.alice.post(f"/channels/{friends.group}/call/ring", {})).status == 204
    first, second = await calls_of(platform, friends.bob, friends.group)
    assert first == second
    assert first["ringing"] == ids(friends.bob, friends.carol)
    assert [state["user_id"] for state in first["voice_states"]] == ids(friends.alice)
    assert await calls_of(platform, friends.dave, friends.group) == []


async def test_calls_end_with_the_nodes_of_their_sessions(platform: Platform, friends: Friends) -> None:
    await join(platform, friends.alice, friends.direct)
    heard(platform)
    await clear_calls_of_others(platform.services, ["n1"])
    assert heard(platform) == []
    await clear_calls_of_others(platform.services, [])
    assert [name for name, _, _ in heard(platform)] == ["CALL_DELETE", "VOICE_STATE_UPDATE"]
