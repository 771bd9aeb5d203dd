"""What the commands of a client leave behind: bounded, whatever it sends and however often."""

import gc
import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest

from moothall.gateway.protocol.commands import MAX_BYTES, GuildSubscription
from moothall.gateway.sessions.subscriptions import NO_INTEREST, PendingSubscriptions, bounded
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from tests.gateway.peer import GUILD, TOWN, Peer, World, create_node, run_pending

ROUNDS = 300
_BIG = 1 << 62
_CAPABILITIES = 30_717


def numbers(first: int, count: int) -> list[str]:
    return [str(_BIG + first + number) for number in range(count)]


def ranges(count: int) -> list[list[int]]:
    return [[number, number] for number in range(count)]


def activity(number: int) -> dict[str, Any]:
    return {"name": f"{number}", "type": 0, "state": "s" * 128, "details": "d" * 100, "buttons": ["b"] * 20}


COMMANDS: dict[str, Callable[[int], Any]] = {
    "3": lambda n: {"op": 3, "d": {"status": "dnd", "since": n, "afk": False, "activities": [activity(n)] * 8}},
    "4": lambda n: {"op": 4, "d": {"guild_id": str(_BIG + n), "channel_id": str(_BIG + n)}},
    "8": lambda n: {"op": 8, "d": {"guild_id": str(GUILD), "user_ids": numbers(n, 100), "nonce": f"{n:032}"}},
    "8 elsewhere": lambda n: {"op": 8, "d": {"guild_id": str(_BIG + n), "query": "x" * 1_000, "limit": 1}},
    "14": lambda n: {
        "op": 14,
        "d": {
            "guild_id": str(GUILD),
            "typing": bool(n % 2),
            "threads": True,
            "members": numbers(n, 50),
            "thread_member_lists": numbers(n, 20),
            "channels": {str(TOWN): ranges(20), **{each: ranges(3) for each in numbers(n, 20)}},
        },
    },
    "14 elsewhere": lambda n: {"op": 14, "d": {"guild_id": str(_BIG + n), "members": numbers(n, 150)}},
    "31": lambda n: {"op": 31, "d": {"guild_ids": numbers(n, 150)}},
    "37": lambda n: {
        "op": 37,
        "d": {"subscriptions": {each: {"channels": {each: ranges(4)}} for each in numbers(n, 30)}},
    },
    "37 of members": lambda n: {"op": 37, "d": {"subscriptions": {str(GUILD): {"members": numbers(n * 150, 150)}}}},
    "40": lambda n: {"op": 40, "d": {"seq": None, "qos": {"ver": n, "active": True, "reasons": ["x"] * 300}}},
    "43": lambda n: {"op": 43, "d": {"guild_id": str(_BIG + n), "fields": ["status"] * 16}},
}


async def bytes_left_after(peer: Peer, command: Any, rounds: int) -> int:
    """Bytes that the process holds more after so many commands, without what was sent."""
    gc.collect()
    tracemalloc.start()
    try:
        for number in range(rounds):
            payload = json.dumps(command(number))
            assert len(payload) <= MAX_BYTES
            peer.send(payload)
            if not number % 100:
                await acknowledge(peer)
        payload = ""
        await acknowledge(peer)
        gc.collect()
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


async def acknowledge(peer: Peer) -> None:
    """Read everything, and release the replay buffer: until nothing is dispatched before the answer to a command."""
    dispatches = -1
    while dispatches:
        peer.send({"op": 1, "d": peer.seq})
        peer.send({"op": 43, "d": {"guild_id": str(GUILD), "fields": ["status"]}})
        dispatches = 0
        while (name := (await peer.receive())["t"]) != "CHANNEL_INFO":
            dispatches += name is not None
    assert not peer.closed


@pytest.mark.parametrize("name", sorted(COMMANDS))
async def test_hundreds_of_the_largest_commands_leave_no_more_than_a_few(name: str) -> None:
    node, _ = create_node(World(), commands_per_minute=0, presences_per_window=0)
    peer = Peer(node)
    await peer.identify("alice", capabilities=_CAPABILITIES)
    await acknowledge(peer)
    await bytes_left_after(peer, COMMANDS[name], 20)
    assert await bytes_left_after(peer, COMMANDS[name], ROUNDS) < 100_000


async def test_nothing_is_kept_for_guilds_that_a_session_is_not_in() -> None:
    node, _ = create_node(World(), commands_per_minute=0)
    peer = Peer(node)
    session = node.hub.sessions[(await peer.identify("alice"))["session_id"]]
    await acknowledge(peer)
    for number in range(100):
        peer.send(COMMANDS["37"](100 * number))
        peer.send(COMMANDS["14 elsewhere"](number))
    await acknowledge(peer)
    assert session.pending_subscriptions is None
    assert set(node.hub.views) == {GUILD}


async def test_what_a_session_is_subscribed_to_in_a_guild_is_bounded() -> None:
    node, _ = create_node(World(), commands_per_minute=0)
    peer = Peer(node)
    session = node.hub.sessions[(await peer.identify("alice", capabilities=_CAPABILITIES))["session_id"]]
    await acknowledge(peer)
    node.hub.views[GUILD].interests.setdefault(session, NO_INTEREST)
    peer.send(COMMANDS["37 of members"](1))
    await run_pending()
    interest = node.hub.views[GUILD].interests[session]
    assert interest.member_ids == {UserId(Snowflake(_BIG + 150 + number)) for number in range(50, 150)}


def test_of_a_guild_that_is_being_joined_one_command_is_kept_with_the_effect_of_all() -> None:
    guild_id, other = GuildId(Snowflake(1)), GuildId(Snowflake(2))
    pending = PendingSubscriptions([guild_id])

    assert pending.expects(guild_id)
    assert not pending.expects(other)

    def large(number: int) -> GuildSubscription:
        channels = {str(each): ranges(50) for each in range(number + 1, number + 50)}
        threads = [ChannelId(Snowflake(number + each)) for each in range(50)]
        return GuildSubscription(channels=channels, thread_member_lists=threads)

    for number in range(1_000):
        pending.add(guild_id, large(number))
        pending.add(guild_id, GuildSubscription(typing=True))
    assert len(pending) == 1
    command = pending.take(guild_id)
    assert command is not None
    last = bounded(large(999))
    assert (command.channels, command.thread_member_lists) == (last.channels, last.thread_member_lists)
    assert command.typing is True
    assert isinstance(command.channels, dict)
    assert (len(command.channels), {len(each) for each in command.channels.values()}) == (5, {5})
    assert isinstance(command.thread_member_lists, list)
    assert len(command.thread_member_lists) == 5
    assert pending.take(guild_id) is None
    assert not pending.expects(guild_id)
