"""What a presence contains is cleaned, and is never a reason to close a connection."""

import re
from typing import Any

import pytest

from moothall.gateway.protocol.commands import UpdatePresenceCommand
from moothall.gateway.sessions.user_presence import SessionPresence
from moothall.objects.wire import to_plain
from tests.gateway.peer import BOT, Peer, World, create_node, run_pending

DISCORDGO: Any = {
    "since": 0,
    "game": {
        "name": "",
        "type": 0,
        "created_at": "0001-01-01T00:00:00Z",
        "timestamps": {},
        "emoji": {},
        "party": {},
        "assets": {},
        "secrets": {},
    },
    "status": "",
    "afk": False,
}


async def activities_of(activities: Any, *, token: str = "alice") -> list[dict[str, Any]]:
    """The activities that others see of a client that has sent some."""
    node, _ = create_node(World())
    peer = Peer(node)
    await peer.identify(token, intents=0)
    peer.send({"op": 3, "d": {"since": None, "activities": activities, "status": "dnd", "afk": False}})
    await run_pending()
    assert not peer.closed
    ((session,),) = node.hub.sessions_by_user.values()
    assert session.presence is not None
    shown = [to_plain(activity) for activity in session.presence.activities]
    assert all(isinstance(activity.pop("id"), str) for activity in shown)
    return [{**activity, "created_at": 1} for activity in shown]


@pytest.mark.parametrize(
    ("presence", "status"),
    [
        (DISCORDGO, "online"),
        ({"status": "asleep"}, "online"),
        ({"status": 7, "activities": "chess", "since": "now", "afk": "no"}, "online"),
        ({"status": None, "activities": [None, 7, [], {}]}, "online"),
        ({"status": "idle", "since": "2026-01-01T00:00:00Z"}, "idle"),
        ({}, "online"),
        ("", "online"),
        ([], "online"),
        (None, "online"),
    ],
)
async def test_a_presence_of_identify_is_never_refused(presence: Any, status: str) -> None:
    node, _ = create_node(World())
    peer = Peer(node)
    await peer.identify("bot", intents=0, presence=presence)
    (session,) = node.hub.sessions_by_user[BOT]
    assert session.presence is not None
    assert (session.presence.status, session.presence.activities) == (status, ())


@pytest.mark.parametrize(
    ("sent", "seen"),
    [
        ({"created_at": "2026-01-01T00:00:00Z"}, {}),
        ({"emoji": {}, "party": {}, "secrets": {}, "assets": {}, "timestamps": {}}, {}),
        ({"emoji": {"id": "5"}}, {}),
        ({"emoji": {"name": "wave", "id": "5", "animated": None}}, {"emoji": {"name": "wave", "id": "5"}}),
        ({"party": {"id": "a", "size": [1]}}, {"party": {"id": "a"}}),
        ({"party": {"id": "a", "size": [1, 5]}}, {"party": {"id": "a", "size": (1, 5)}}),
        ({"timestamps": {"start": 5, "end": "later"}}, {"timestamps": {"start": 5}}),
        ({"assets": {"large_image": "x", "small_image": 7}}, {"assets": {"large_image": "x"}}),
        ({"type": 99}, {"type": 0}),
        ({"type": "2"}, {"type": 0}),
        ({"type": 2}, {"type": 2}),
        ({"state": "x" * 200, "details": "y" * 200}, {"state": "x" * 128, "details": "y" * 128}),
        ({"url": "https://example.com/" + "x" * 600}, {}),
        ({"flags": "1", "instance": 1, "application_id": "no"}, {}),
        ({"buttons": ["one", {"label": "two"}, "three"]}, {"buttons": ["one", "two"]}),
        ({"buttons": [7, {"url": "x"}]}, {}),
        ({"buttons": "one"}, {}),
        ({"unknown": {"a": [1]}}, {}),
    ],
)
async def test_what_can_be_read_of_an_activity_is_shown(sent: dict[str, Any], seen: dict[str, Any]) -> None:
    assert await activities_of([{"name": "Chess", "type": 0, **sent}]) == [
        {"name": "Chess", "type": 0, "created_at": 1, **seen}
    ]


async def test_an_activity_without_a_name_is_left_out_and_the_others_stay() -> None:
    activities = [{"type": 0}, {"name": ""}, {"name": 7}, "chess", None, {"name": "Chess"}]
    assert [activity["name"] for activity in await activities_of(activities)] == ["Chess"]


async def test_a_bot_shows_name_type_url_and_state_only() -> None:
    activity = {
        "name": "Chess",
        "type": 1,
        "url": "https://example.com",
        "state": "s",
        "details": "d",
        "buttons": ["b"],
    }
    assert await activities_of([activity], token="bot") == [
        {"name": "Chess", "type": 1, "url": "https://example.com", "state": "s", "created_at": 1}
    ]


async def test_each_activity_of_a_user_has_an_id_that_stays_while_only_details_change() -> None:
    sent = [
        {"name": "Custom Status", "type": 4, "state": "reading", "id": "forged"},
        {"name": "Chess", "type": 0, "details": "Opening", "id": "forged"},
        {"name": "Chess", "type": 2},
        {"name": "Chess", "type": 0, "application_id": "5"},
        {"name": "Chess", "type": 0},
    ]
    command = UpdatePresenceCommand(status="online", activities=sent)
    ids = [activity.id for activity in SessionPresence.from_command(command, bot=False).activities]
    assert ids[0] == "custom"
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("[0-9a-f]{16}", each) for each in ids[1:])
    sent[1]["details"] = "Endgame"
    later = SessionPresence.from_command(UpdatePresenceCommand(status="idle", activities=sent), bot=False)
    assert [activity.id for activity in later.activities] == ids


async def test_no_more_than_eight_activities_are_shown() -> None:
    assert len(await activities_of([{"name": str(number)} for number in range(12)])) == 8
