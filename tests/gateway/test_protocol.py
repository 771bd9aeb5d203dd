"""Payloads that a client may send, and the close code of everything else."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.gateway.sessions.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.sessions.unidentified import UnidentifiedConnections
from moothall.gateway.settings import UNLIMITED
from moothall.objects.ids import GuildId, Snowflake
from moothall.objects.intents import ALL, Intent
from tests.gateway.peer import ALICE, BOT, GUILD, TOWN, Peer, World, create_node, event, message, run_pending

IDENTIFY = {"token": "bot", "properties": {}, "intents": 1}


async def code_for(
    *payloads: Any, query: str = "v=10&encoding=json", world: World | None = None, **options: Any
) -> int:
    """The close code that follows some payloads."""
    node, _ = create_node(world or World(), **options)
    peer = Peer(node, query)
    for payload in payloads:
        peer.send(payload)
    return await peer.close_code()


def identify(**fields: Any) -> dict[str, Any]:
    return {"op": 2, "d": IDENTIFY | fields}


async def test_payloads_about_streams_and_statistics_are_ignored_from_people_only() -> None:
    node, _ = create_node(World())
    alice, bot = Peer(node), Peer(node)
    await alice.identify("alice")
    await bot.identify("bot", intents=0)
    await alice.receive_all()
    for opcode in (13, 34, 41):
        alice.send({"op": opcode, "d": {"channel_id": "1"}})
    assert await alice.receive_all() == []
    for opcode in (40, 1):
        (session,) = node.hub.sessions_by_user[ALICE]
        node.hub.send(session, "UNHEARD", b"{}")
        await alice.receive()
        alice.send({"op": opcode, "d": {"seq": alice.seq, "qos": {"ver": 1, "active": True, "reasons": []}}})
        assert (await alice.receive())["op"] == 11
        assert session.frames_after(alice.seq - 1) is None, "the frame is acknowledged"
    bot.send({"op": 13, "d": {"channel_id": "1"}})
    assert await bot.close_code() == 4001


async def test_people_may_state_any_large_threshold() -> None:
    node, _ = create_node(World())
    for threshold in (0, 100_000_000):
        peer = Peer(node)
        await peer.identify("alice", large_threshold=threshold)
        assert (await peer.receive())["t"] == "GUILD_CREATE"
    assert {session.large_threshold for session in node.hub.sessions.values()} == {50, 250}


@pytest.mark.parametrize(
    ("payload", "code"),
    [
        ("", 4002),
        ("{", 4002),
        ("[]", 4002),
        ("null", 4002),
        ('{"op":"2"}', 4002),
        ('{"op":null}', 4002),
        ('{"d":1}', 4002),
        (b"\xff\xfe\x00", 4002),
        ("[" * 2_000, 4002),
        ('{"op":1,"d":"x"}', 4002),
        ({"op": 99, "d": None}, 4001),
        ({"op": 0, "d": None}, 4001),
        ({"op": -1}, 4001),
        ({"op": 12, "d": []}, 4001),
        ({"op": 12, "d": {}}, 4001),
        ({"op": 3, "d": {"status": "online", "activities": [], "since": None, "afk": False}}, 4003),
        ({"op": 4, "d": {"guild_id": "1", "channel_id": None}}, 4003),
        ({"op": 8, "d": {"guild_id": "1", "query": "", "limit": 0}}, 4003),
        ({"op": 31, "d": {"guild_ids": []}}, 4003),
        ({"op": 2, "d": {}}, 4002),
        ({"op": 2, "d": {"token": 7}}, 4002),
        ({"op": 6, "d": {"token": "alice", "session_id": "x", "seq": None}}, 4002),
        (identify(token="nobody"), 4004),
        (identify(token="Bot nobody"), 4004),
        (identify(token=""), 4004),
        ({"op": 6, "d": {"token": "nobody", "session_id": "x", "seq": 1}}, 4004),
        (identify(shard=[1, 1]), 4010),
        (identify(shard=[-1, 1]), 4010),
        (identify(shard=[0]), 4010),
        (identify(shard=[0, 0]), 4010),
        (identify(intents=1 << 26), 4013),
        (identify(intents=1 << 30), 4013),
        (identify(intents=-1), 4013),
        ({"op": 2, "d": {"token": "bot", "properties": {}}}, 4013),
        (identify(large_threshold=49), 4002),
        (identify(large_threshold=251), 4002),
        (json.dumps({"op": 1, "d": None, "x": "y" * 4_096}), 4002),
        (json.dumps({"op": 1, "d": None, "x": "ü" * 2_100}, ensure_ascii=False), 4002),
    ],
)
async def test_an_invalid_payload_closes_the_connection_with_its_code(payload: Any, code: int) -> None:
    assert await code_for(payload) == code


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("v=5&encoding=json", 4012),
        ("v=x", 4012),
        ("v=10&encoding=msgpack", 4002),
        ("v=10&encoding=etf&compress=brotli", 4002),
        ("v=10&encoding=json&compress=brotli", 4002),
    ],
)
async def test_an_unsupported_version_encoding_or_compression_closes_the_connection(query: str, code: int) -> None:
    assert await code_for(query=query) == code


@pytest.mark.parametrize("query", ["", "v=10", "v=9&encoding=json", "encoding=json"])
async def test_version_and_encoding_may_be_left_out(query: str) -> None:
    node, _ = create_node(World())
    assert (await Peer(node, query).identify())["v"] == 10


async def test_privileged_intents_need_the_flag_of_the_application() -> None:
    world = World()
    world.flags = 1 << 13
    assert await code_for(identify(intents=Intent.GUILD_MEMBERS), world=world) == 4014
    assert await code_for(identify(intents=Intent.MESSAGE_CONTENT), world=world) == 4014
    node, _ = create_node(world)
    await Peer(node).identify("bot", intents=Intent.GUILD_PRESENCES)


async def test_intent_bits_of_the_public_range_without_a_meaning_are_ignored() -> None:
    unnamed = [1 << bit for bit in range(26) if not 1 << bit & ALL]
    assert 1 << 18 in unnamed
    node, _ = create_node(World())
    await Peer(node).identify("bot", intents=sum(unnamed) | Intent.GUILDS)
    assert {session.intents for session in node.hub.sessions_by_user[BOT]} == {Intent.GUILDS}


async def test_people_have_every_intent_whatever_they_state() -> None:
    world = World()
    world.flags = 0
    node, _ = create_node(world)
    await Peer(node).identify("alice", intents=0)
    await Peer(node).identify("alice")
    assert {session.intents for session in node.hub.sessions_by_user[ALICE]} == {ALL}


async def test_a_second_identify_is_4005() -> None:
    node, _ = create_node(World())
    for again in (identify(), {"op": 6, "d": {"token": "bot", "session_id": "x", "seq": 1}}):
        peer = Peer(node)
        await peer.identify("Bot bot", intents=1)
        peer.send(again)
        assert await peer.close_code() == 4005


async def test_too_many_commands_are_4008() -> None:
    assert await code_for(*[{"op": 1, "d": None}] * 121) == 4008
    node, _ = create_node(World())
    peer = Peer(node)
    for _ in range(120):
        peer.send({"op": 1, "d": None})
    assert len([p for p in await peer.receive_all() if p["op"] == 11]) == 120


async def test_without_limits_no_connection_is_closed_and_no_command_ignored() -> None:
    node, _ = create_node(World(), None, **UNLIMITED)
    for _ in range(20):
        await Peer(node).identify("bot", intents=0)
    peer = Peer(node)
    await peer.identify("bot", intents=0)
    for _ in range(200):
        peer.send({"op": 1, "d": None})
    assert len([p for p in await peer.receive_all() if p["op"] == 11]) >= 200
    for status in ("idle", "dnd") * 5:
        peer.send({"op": 3, "d": {"since": None, "activities": [], "status": status, "afk": False}})
    await run_pending()
    assert [session.presence and session.presence.status for session in node.hub.sessions_by_user[BOT]][-1] == "dnd"


async def test_the_sessions_of_one_user_are_limited() -> None:
    node, _ = create_node(World(), max_sessions_per_user=2)
    for _ in range(2):
        await Peer(node).identify("alice")
    third = Peer(node)
    await third.receive()
    third.send(identify(token="alice"))
    assert [(p["op"], p["d"]) for p in await third.receive_all()] == [(9, False)]
    await Peer(node).identify("bob")


async def test_connections_without_a_session_are_limited() -> None:
    node, _ = create_node(World(), max_unidentified=3)
    known = Peer(node)
    await known.identify("alice")
    unidentified = [Peer(node) for _ in range(3)]
    await run_pending()
    assert node.unidentified.count == 3
    refused = Peer(node)
    await run_pending()
    assert not refused.accepted
    await unidentified[0].identify("bob")
    await unidentified[1].disconnect()
    assert node.unidentified.count == 1
    later = Peer(node)
    await run_pending()
    assert later.accepted


def test_one_network_does_not_block_the_others() -> None:
    unidentified = UnidentifiedConnections(maximum=5, max_per_network=2)
    assert [unidentified.try_add("192.0.2.1") for _ in range(3)] == [True, True, False]
    assert unidentified.try_add("192.0.2.2")
    assert [unidentified.try_add("") for _ in range(3)] == [True, True, False]
    unidentified.remove("192.0.2.1")
    assert unidentified.try_add("192.0.2.1")
    assert not unidentified.try_add("192.0.2.3")


async def test_a_bot_in_more_guilds_than_one_shard_may_have_is_4011() -> None:
    world = World()
    world.guilds = [GuildId(Snowflake(GUILD * number)) for number in (1, 2, 3)]
    assert await code_for(identify(), world=world, guilds_per_shard=2) == 4011
    node, _ = create_node(world, guilds_per_shard=2)
    ready = await Peer(node).identify("bot", intents=1, shard=[1, 2])
    assert [int(g["id"]) for g in ready["guilds"]] == [GUILD, GUILD * 3]
    assert ready["shard"] == [1, 2]


async def test_shards_receive_events_of_their_guilds_and_shard_0_those_without_a_guild() -> None:
    node, bus = create_node(World())
    shards = [Peer(node), Peer(node)]
    for number, shard in enumerate(shards):
        await shard.identify("bot", intents=1 | Intent.GUILD_MESSAGES, shard=[number, 2])
        await shard.receive_all()
    bus.publish([message("in the guild"), event("DIRECT", audience=3, user_ids=[BOT])])
    assert await shards[0].names() == ["DIRECT"]
    assert await shards[1].names() == ["MESSAGE_CREATE"]


async def test_identifying_too_often_is_an_invalid_session() -> None:
    node, _ = create_node(World(), identifies_per_window=2, max_concurrency=2)
    for shard in ([0, 4], [0, 4], [1, 4]):
        await Peer(node).identify("bot", intents=1, shard=shard)
    peer = Peer(node)
    peer.send(identify(shard=[2, 4]))
    assert [p["op"] for p in await peer.receive_all()] == [10, 9]
    limit = node.limits.session_start_limit(BOT)
    assert (limit["remaining"], limit["max_concurrency"]) == (997, 2)


async def test_presence_updates_above_the_limit_are_ignored() -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    await peer.identify("alice")
    for number in range(8):
        peer.send(
            {
                "op": 3,
                "d": {"status": "dnd", "since": None, "afk": False, "activities": [{"name": str(number), "type": 0}]},
            }
        )
    heard = [d for name, d in await peer.dispatches() if name == "PRESENCE_UPDATE"]
    assert heard[-1]["activities"][0]["name"] == "4"


async def test_voice_state_updates_are_passed_to_the_callback() -> None:
    requests: list[VoiceStateRequest] = []

    async def voice_update(request: VoiceStateRequest) -> None:
        requests.append(request)

    node, _ = create_node(World(), GatewayCallbacks(on_voice_state_update=voice_update))
    peer = Peer(node)
    session_id = (await peer.identify("alice"))["session_id"]
    peer.send({"op": 4, "d": {"guild_id": GUILD, "channel_id": str(TOWN), "self_mute": True, "self_deaf": False}})
    peer.send({"op": 4, "d": {"guild_id": str(GUILD), "channel_id": None, "self_mute": False, "self_deaf": False}})
    peer.send({"op": 4, "d": {"guild_id": "77", "channel_id": "78", "self_mute": False, "self_deaf": False}})
    await run_pending()
    assert requests == [
        VoiceStateRequest(ALICE, session_id, GUILD, TOWN, True, False, False),
        VoiceStateRequest(ALICE, session_id, GUILD, None, False, False, False),
    ]


async def test_a_callback_that_fails_closes_the_connection_and_no_other(caplog: pytest.LogCaptureFixture) -> None:
    async def voice_update(request: VoiceStateRequest) -> None:
        raise RuntimeError(str(request.channel_id))

    node, bus = create_node(World(), GatewayCallbacks(on_voice_state_update=voice_update))
    peer, other = Peer(node), Peer(node)
    await peer.identify("alice")
    await other.identify("bob")
    await other.receive_all()
    peer.send({"op": 4, "d": {"guild_id": str(GUILD), "channel_id": "1"}})
    assert await peer.close_code() == 4000
    assert "a gateway command failed" in caplog.text
    bus.publish([message("still here")])
    assert "MESSAGE_CREATE" in await other.names()


async def test_soundboard_sounds_are_sent_for_guilds_that_the_session_has_joined() -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    await peer.identify("alice")
    await peer.receive_all()
    peer.send({"op": 31, "d": {"guild_ids": [str(GUILD), "5"]}})
    assert await peer.dispatches() == [("SOUNDBOARD_SOUNDS", {"guild_id": str(GUILD), "soundboard_sounds": []})]


async def test_compress_in_identify_makes_large_dispatches_zlib_streams() -> None:
    node, bus = create_node(World())
    peer = Peer(node)
    await peer.identify("alice", compress=True)
    await peer.receive_all()
    bus.publish([message("x" * 5_000)])
    assert (await peer.receive())["d"]["content"] == "x" * 5_000


_json = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_keys = st.sampled_from(
    ["token", "intents", "properties", "shard", "presence", "status", "activities", "since", "afk", "session_id",
     "seq", "guild_id", "channel_id", "query", "limit", "user_ids", "nonce", "presences", "guild_ids", "compress"]
)  # fmt: skip
_values = _json | st.sampled_from(["alice", "bot", str(GUILD), [str(GUILD)], [0, 1], 1, "online", ""])
_data = st.dictionaries(_keys, _values, max_size=8) | _json
_payloads = st.fixed_dictionaries({"op": st.sampled_from([1, 2, 3, 4, 6, 8, 31, 43, 5])}, optional={"d": _data})
_messages = _payloads | st.text(max_size=60) | st.binary(max_size=60) | _json


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(identified=st.booleans(), messages=st.lists(_messages, max_size=5))
async def test_no_message_of_a_client_is_an_error_of_the_server(
    identified: bool, messages: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.clear()
    node, _ = create_node(World())
    peer = Peer(node)
    if identified:
        await peer.identify("alice")
    for said in messages:
        peer.send(said)
    await run_pending()
    peer.drop()
    await peer.task
    peer.end()
    await peer.receive_until_closed()
    assert not [record for record in caplog.records if record.levelname == "ERROR"]
    assert peer.closed in {0, 4001, 4002, 4003, 4004, 4005, 4007, 4010, 4013, 4014}
