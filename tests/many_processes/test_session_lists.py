"""A user's clients list the sessions of all nodes."""

from typing import Any

from tests.many_processes.nodes import Listener, Node

Pair = tuple[Node, Node]


async def listed(listener: Listener, expected: list[tuple[str, str]]) -> None:
    """Wait for SESSIONS_REPLACE with these (session id, status)."""

    def received() -> bool:
        lists = [data for name, data in listener.dispatches if name == "SESSIONS_REPLACE"]
        return bool(lists) and statuses(lists[-1]) == sorted(expected)

    await listener.until(received)


def statuses(sessions: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return sorted((session["session_id"], session["status"]) for session in sessions)


async def test_sessions_on_other_nodes_are_listed_with_what_they_state(nodes: Pair) -> None:
    here, there = nodes
    alice, bob = await here.platform.person("alice"), await here.platform.person("bob")
    first = await here.session(alice, guilds=0)
    stranger = await here.session(bob, guilds=0)
    second = await there.session(alice, guilds=0, properties={"os": "Linux", "browser": "Discord Android"})
    await listed(first, [(first.session_id, "online"), (second.session_id, "online"), ("all", "online")])
    (shown,) = [each for each in first.dispatches[-1][1] if each["session_id"] == second.session_id]
    assert shown["client_info"] == {"client": "mobile", "os": "linux", "version": 0}
    playing = {"name": "Chess", "type": 0}
    second.peer.send({"op": 3, "d": {"since": None, "activities": [playing], "status": "dnd", "afk": False}})
    await listed(first, [(first.session_id, "online"), (second.session_id, "dnd"), ("all", "online")])
    (shown,) = [each for each in first.dispatches[-1][1] if each["session_id"] == second.session_id]
    assert [activity["name"] for activity in shown["activities"]] == ["Chess"]
    first.peer.send({"op": 3, "d": {"since": None, "activities": [], "status": "invisible", "afk": False}})
    await listed(second, [(first.session_id, "invisible"), (second.session_id, "dnd"), ("all", "dnd")])
    third = await there.session(alice, guilds=0)
    stated = [(first.session_id, "invisible"), (second.session_id, "dnd"), (third.session_id, "online")]
    await listed(first, [*stated, ("all", "online")])
    third.peer.drop(1000)
    second.peer.drop(1000)
    await listed(first, [(first.session_id, "invisible")])
    assert "SESSIONS_REPLACE" not in stranger.names


async def test_ready_lists_the_sessions_of_other_nodes(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    first = await here.session(alice, guilds=0)
    second = await there.session(alice, guilds=0)
    await listed(first, [(first.session_id, "online"), (second.session_id, "online"), ("all", "online")])
    third = await here.session(alice, guilds=0)
    ready = third.ready["sessions"]
    assert statuses(ready) == sorted(
        [(each.session_id, "online") for each in (first, second, third)] + [("all", "online")]
    )


async def test_the_sessions_of_a_node_that_ends_are_listed_no_longer(nodes: Pair) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    first = await here.session(alice, guilds=0)
    second = await there.session(alice, guilds=0)
    await listed(first, [(first.session_id, "online"), (second.session_id, "online"), ("all", "online")])
    await there.stop()
    await listed(first, [(first.session_id, "online")])
