"""Creating, reading, modifying and deleting scheduled events, and the permissions for it."""

import asyncio
import base64
from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.scheduled_event.planning import external, moment, path_of, plan, within
from tests.support.harness import STAGE, VOICE, Guild, Platform

CREATED, UPDATED, DELETED = 100, 101, 102
STAGE_MODERATOR = Permissions.MANAGE_CHANNELS | Permissions.MUTE_MEMBERS | Permissions.MOVE_MEMBERS
PIXEL = base64.b64encode(
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89\x00\x00"
    b"\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\x89\x99=\x1d\x00\x00\x00\x00IEND\xaeB`\x82"
).decode()


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    everyone = Permissions.DEFAULT & ~Permissions.CREATE_EVENTS
    return await platform.guild(await platform.person(), everyone=everyone)


async def test_an_event_is_created_recorded_and_announced(platform: Platform, guild: Guild) -> None:
    body = external(description="Bring cake", image=f"data:image/png;base64,{PIXEL}")
    reply = await guild.owner.post(f"/guilds/{guild.id}/scheduled-events", body, reason="summer")
    event = reply.json
    assert reply.status == 200
    assert event | {"id": "", "image": "", "scheduled_start_time": "", "scheduled_end_time": "", "creator": ""} == {
        "id": "",
        "guild_id": str(guild.id),
        "channel_id": None,
        "creator_id": str(guild.owner.id),
        "creator": "",
        "name": "Picnic",
        "description": "Bring cake",
        "image": "",
        "scheduled_start_time": "",
        "scheduled_end_time": "",
        "privacy_level": 2,
        "status": 1,
        "entity_type": 3,
        "entity_id": None,
        "entity_metadata": {"location": "the park"},
        "recurrence_rule": None,
        "guild_scheduled_event_exceptions": [],
    }
    assert len(event["image"]) == 32
    assert event["creator"]["id"] == str(guild.owner.id)
    expected = {key: value for key, value in event.items() if key != "creator"}
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_CREATE") == [expected]
    assert await guild.audit_log() == [(CREATED, int(event["id"]), "summer")]
    assert (await guild.owner.get(path_of(event))).json == event
    listed = await guild.owner.get(f"/guilds/{guild.id}/scheduled-events", with_user_count=True)
    assert listed.json == [event | {"user_count": 0}]


async def test_the_audit_log_includes_events_that_the_reader_may_view(guild: Guild) -> None:
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    open_event = await plan(guild.owner, guild, external())
    await plan(guild.owner, guild, within(hidden))
    reader = await guild.member_with(Permissions.VIEW_AUDIT_LOG)
    log = (await reader.get(f"/guilds/{guild.id}/audit-logs")).json
    assert [event["id"] for event in log["guild_scheduled_events"]] == [open_event["id"]]
    changes = {change["key"]: change["new_value"] for change in log["audit_log_entries"][1]["changes"]}
    assert {key: changes[key] for key in ("name", "status", "entity_type", "location", "privacy_level")} == {
        "name": "Picnic", "status": 1, "entity_type": 3, "location": "the park", "privacy_level": 2,
    }  # fmt: skip


BAD: list[tuple[dict[str, Any], str, str]] = [
    ({"name": ""}, "name", "BASE_TYPE_BAD_LENGTH"),
    ({"name": "  "}, "name", "BASE_TYPE_BAD_LENGTH"),
    ({"name": "x" * 101}, "name", "BASE_TYPE_BAD_LENGTH"),
    ({"name": None}, "name", ""),
    ({"description": "x" * 1001}, "description", ""),
    ({"privacy_level": 1}, "privacy_level", "BASE_TYPE_CHOICES"),
    ({"entity_type": 4}, "entity_type", "BASE_TYPE_CHOICES"),
    ({"scheduled_start_time": "soon"}, "scheduled_start_time", "DATE_TIME_TYPE_PARSE"),
    ({"scheduled_start_time": moment(hours=-1)}, "scheduled_start_time", "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST"),
    ({"scheduled_end_time": moment(hours=0.5)}, "scheduled_end_time", "BASE_TYPE_CHOICES"),
    ({"scheduled_end_time": None}, "scheduled_end_time", "BASE_TYPE_REQUIRED"),
    ({"entity_metadata": None}, "entity_metadata.location", "BASE_TYPE_REQUIRED"),
    ({"entity_metadata": {}}, "entity_metadata.location", "BASE_TYPE_REQUIRED"),
    ({"entity_metadata": {"location": "x" * 101}}, "entity_metadata.location", ""),
    ({"channel_id": "1"}, "channel_id", "BASE_TYPE_CHOICES"),
    ({"entity_type": 2, "entity_metadata": None}, "channel_id", "BASE_TYPE_REQUIRED"),
    ({"entity_type": 1, "channel_id": "1"}, "entity_metadata", "BASE_TYPE_CHOICES"),
    ({"image": "nothing"}, "image", "IMAGE_INVALID"),
]


@pytest.mark.parametrize(("fields", "path", "code"), BAD, ids=lambda value: str(value)[:40])
async def test_an_invalid_event_is_refused_at_its_field(
    platform: Platform, guild: Guild, fields: dict[str, Any], path: str, code: str
) -> None:
    reply = await guild.owner.post(f"/guilds/{guild.id}/scheduled-events", external(**fields))
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at(path), reply.body
    assert code in {"", *reply.errors_at(path)}
    assert platform.heard == []
    assert (await guild.owner.get(f"/guilds/{guild.id}/scheduled-events")).json == []


async def test_an_event_needs_a_channel_of_its_type_that_its_creator_may_view(platform: Platform, guild: Guild) -> None:
    lounge, stage = await guild.channel(type=VOICE), await guild.channel(type=STAGE)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    elsewhere = await (await platform.guild(guild.owner)).channel(type=VOICE)
    everything = Permissions.ALL & ~Permissions.ADMINISTRATOR & ~Permissions.VIEW_CHANNEL
    planner = await guild.member_with(everything)
    path = f"/guilds/{guild.id}/scheduled-events"
    for body in (
        within(stage),
        within(lounge, stage=True),
        within(guild.general),
        within(hidden),
        within(elsewhere),
        within(1),
    ):
        reply = await planner.post(path, body)
        assert reply.errors_at("channel_id") == ["BASE_TYPE_CHOICES"], reply.body
    assert platform.heard == []
    assert (await plan(planner, guild, within(lounge)))["channel_id"] == str(lounge)
    assert (await plan(planner, guild, within(stage, stage=True)))["entity_metadata"] is None


async def test_creating_an_event_needs_the_permissions_of_its_entity_type(guild: Guild) -> None:
    lounge, stage = await guild.channel(type=VOICE), await guild.channel(type=STAGE)
    plain = await guild.member_with(0)
    planner = await guild.member_with(Permissions.CREATE_EVENTS)
    moderator = await guild.member_with(Permissions.CREATE_EVENTS | STAGE_MODERATOR)
    manager = await guild.member_with(Permissions.MANAGE_EVENTS)
    path = f"/guilds/{guild.id}/scheduled-events"
    bodies = (external(), within(lounge), within(stage, stage=True))
    statuses = [
        [(await who.post(path, body)).status for body in bodies] for who in (plain, planner, moderator, manager)
    ]
    assert statuses == [[403, 403, 403], [200, 200, 403], [200, 200, 200], [403, 403, 403]]


async def test_an_overwrite_may_allow_creating_events_in_one_channel_only(guild: Guild) -> None:
    ann = await guild.member_with(0)
    lounge = await guild.channel(type=VOICE, overwrites=[(ann.id, 1, Permissions.CREATE_EVENTS, 0)])
    locked = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)])
    path = f"/guilds/{guild.id}/scheduled-events"
    assert [(await ann.post(path, body)).status for body in (within(lounge), within(locked), external())] == [
        200, 403, 403,
    ]  # fmt: skip


async def test_creators_manage_their_own_events_and_managers_all(guild: Guild) -> None:
    creator = await guild.member_with(Permissions.CREATE_EVENTS)
    other = await guild.member_with(Permissions.CREATE_EVENTS)
    manager = await guild.member_with(Permissions.MANAGE_EVENTS)
    event = await plan(creator, guild, external())
    path = path_of(event)
    assert (await other.patch(path, {"name": "Mine"})).code == 50013
    assert (await other.delete(path)).code == 50013
    assert (await creator.patch(path, {"name": "Ours"})).json["name"] == "Ours"
    assert (await manager.patch(path, {"name": "Theirs"})).json["name"] == "Theirs"
    assert (await manager.delete(path)).status == 204


async def test_changes_are_recorded_with_both_values_and_announced_once(platform: Platform, guild: Guild) -> None:
    event = await plan(guild.owner, guild, external(description="old"))
    platform.heard.clear()
    reply = await guild.owner.patch(path_of(event), {"name": "Feast", "description": None}, reason="more")
    assert (reply.status, reply.json["name"], reply.json["description"]) == (200, "Feast", None)
    assert (await guild.owner.patch(path_of(event), {"name": "Feast"})).status == 200
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_SCHEDULED_EVENT_UPDATE"]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert (entry["action_type"], entry["target_id"], entry["reason"]) == (UPDATED, event["id"], "more")
    assert entry["changes"] == [
        {"key": "name", "old_value": "Picnic", "new_value": "Feast"},
        {"key": "description", "old_value": "old"},
    ]


async def test_an_event_moves_between_channels_and_an_external_location(platform: Platform, guild: Guild) -> None:
    lounge, stage = await guild.channel(type=VOICE), await guild.channel(type=STAGE)
    event = await plan(guild.owner, guild, within(lounge))
    path = path_of(event)
    world = {
        "entity_type": 3,
        "channel_id": None,
        "entity_metadata": {"location": "outside"},
        "scheduled_end_time": moment(hours=3),
    }
    for missing in ("channel_id", "entity_metadata", "scheduled_end_time"):
        reply = await guild.owner.patch(path, {key: value for key, value in world.items() if key != missing})
        where = "entity_metadata.location" if missing == "entity_metadata" else missing
        assert reply.errors_at(where) == ["BASE_TYPE_REQUIRED"]
    moved = (await guild.owner.patch(path, world)).json
    assert (moved["channel_id"], moved["entity_metadata"]) == (None, {"location": "outside"})
    assert (await guild.owner.patch(path, {"entity_metadata": None})).errors_at("entity_metadata.location")
    assert (await guild.owner.patch(path, {"scheduled_end_time": None})).errors_at("scheduled_end_time")
    assert (await guild.owner.patch(path, {"entity_type": 1})).errors_at("channel_id") == ["BASE_TYPE_REQUIRED"]
    back = {"entity_type": 1, "channel_id": str(stage), "entity_metadata": {"location": "dropped"}}
    moved = (await guild.owner.patch(path, back)).json
    assert (moved["channel_id"], moved["entity_metadata"]) == (str(stage), None)
    assert (await guild.owner.patch(path, {"channel_id": str(lounge)})).errors_at("channel_id")
    assert platform.heard_names.count("GUILD_SCHEDULED_EVENT_UPDATE") == 2
    assert platform.heard_names.count("GUILD_SCHEDULED_EVENT_DELETE") == 0


async def test_moving_an_event_needs_the_permissions_in_the_new_channel(platform: Platform, guild: Guild) -> None:
    lounge = await guild.channel(type=VOICE)
    locked = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)])
    creator = await guild.member_with(Permissions.CREATE_EVENTS)
    event = await plan(creator, guild, within(lounge))
    platform.heard.clear()
    assert (await creator.patch(path_of(event), {"channel_id": str(locked)})).code == 50013
    assert platform.heard == []


async def test_an_event_that_moves_to_a_hidden_channel_is_deleted_for_others(platform: Platform, guild: Guild) -> None:
    lounge = await guild.channel(type=VOICE)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    ann = await guild.member_with(0)
    event = await plan(guild.owner, guild, within(lounge))
    start = len(platform.heard)
    assert (await guild.owner.patch(path_of(event), {"channel_id": str(hidden)})).status == 200
    frames = [(e.name, e.channel_id) for e in platform.heard[start:] if e.name.startswith("GUILD_SCHEDULED")]
    assert frames == [
        ("GUILD_SCHEDULED_EVENT_DELETE", lounge),
        ("GUILD_SCHEDULED_EVENT_CREATE", hidden),
        ("GUILD_SCHEDULED_EVENT_UPDATE", hidden),
    ]
    assert (await ann.get(path_of(event))).code == 10070
    assert (await ann.get(f"/guilds/{guild.id}/scheduled-events")).json == []


async def test_an_event_is_deleted_recorded_and_announced(platform: Platform, guild: Guild) -> None:
    event = await plan(guild.owner, guild, external())
    ann = await guild.member_with(0)
    assert (await ann.put(f"{path_of(event)}/users/@me")).status == 200
    platform.heard.clear()
    assert (await guild.owner.delete(path_of(event), reason="rain")).status == 204
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_SCHEDULED_EVENT_DELETE"]
    assert (await guild.audit_log())[-1] == (DELETED, int(event["id"]), "rain")
    for method in ("GET", "PATCH", "DELETE"):
        assert (await guild.owner.request(method, path_of(event), {})).code == 10070


async def test_events_of_other_guilds_are_unknown(platform: Platform, guild: Guild) -> None:
    other = await platform.guild(guild.owner)
    event = await plan(guild.owner, guild, external())
    path = f"/guilds/{other.id}/scheduled-events/{event['id']}"
    assert (await guild.owner.get(path)).code == 10070
    assert (await guild.owner.patch(path, {"name": "x"})).code == 10070
    assert (await guild.owner.get(f"/guilds/{guild.id}/scheduled-events/x")).code == 10070


async def test_a_guild_has_at_most_a_hundred_live_events(guild: Guild) -> None:
    event = await plan(guild.owner, guild, external())
    for _ in range(98):
        await plan(guild.owner, guild, external())
    path = f"/guilds/{guild.id}/scheduled-events"
    replies = await asyncio.gather(*(guild.owner.post(path, external()) for _ in range(2)))
    assert sorted(reply.status for reply in replies) == [200, 400]
    assert [reply.code for reply in replies if reply.status == 400] == [30038]
    await guild.owner.patch(path_of(event), {"status": 4})
    assert (await guild.owner.post(path, external())).status == 200


async def test_deleting_a_channel_cancels_its_events(platform: Platform, guild: Guild) -> None:
    lounge = await guild.channel(type=VOICE)
    event, kept = await plan(guild.owner, guild, within(lounge)), await plan(guild.owner, guild, external())
    platform.heard.clear()
    assert (await guild.owner.delete(f"/channels/{lounge}")).status == 200
    deleted = platform.heard_data("GUILD_SCHEDULED_EVENT_DELETE")
    assert [(e["id"], e["status"]) for e in deleted] == [(event["id"], 4)]
    names = platform.heard_names
    assert names.index("GUILD_SCHEDULED_EVENT_DELETE") < names.index("CHANNEL_DELETE")
    listed = (await guild.owner.get(f"/guilds/{guild.id}/scheduled-events")).json
    assert [e["id"] for e in listed] == [kept["id"]]
