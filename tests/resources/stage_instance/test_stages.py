"""Opening, changing and closing stages, and their system messages."""

from typing import Any

import msgspec
import pytest

from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.resources.scheduled_event.planning import Clock, path_of, plan, within
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform

MODERATOR = Permissions.MANAGE_CHANNELS | Permissions.MUTE_MEMBERS | Permissions.MOVE_MEMBERS
STARTED, ENDED, TOPIC = 27, 28, 31


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


@pytest.fixture
async def stage(guild: Guild) -> ChannelId:
    return await guild.channel(type=STAGE, name="stage")


async def open_stage(caller: Caller, stage: int, **fields: Any) -> dict[str, Any]:
    reply = await caller.post("/stage-instances", {"channel_id": str(stage), "topic": "Questions", **fields})
    assert reply.status == 200, reply.body
    stage_instance: dict[str, Any] = reply.json
    return stage_instance


def system_messages(platform: Platform) -> list[tuple[int, str, bool]]:
    return [(m["type"], m["content"], m["mention_everyone"]) for m in platform.heard_data("MESSAGE_CREATE")]


async def test_opening_a_stage_is_recorded_announced_and_posted(
    platform: Platform, guild: Guild, stage: ChannelId
) -> None:
    moderator = await guild.member_with(MODERATOR)
    body = {"channel_id": str(stage), "topic": " What  now? "}
    reply = await moderator.post("/stage-instances", body, reason="weekly")
    assert (reply.status, reply.json) == (
        200,
        {
            "id": reply.json["id"],
            "guild_id": str(guild.id),
            "channel_id": str(stage),
            "topic": "What now?",
            "privacy_level": 2,
            "discoverable_disabled": True,
            "guild_scheduled_event_id": None,
        },
    )
    assert platform.heard_data("STAGE_INSTANCE_CREATE") == [reply.json]
    assert system_messages(platform) == [(STARTED, "What now?", False)]
    assert await guild.audit_log() == [(83, int(reply.json["id"]), "weekly")]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert entry["options"] == {"channel_id": str(stage)}
    assert entry["changes"] == [{"key": "topic", "new_value": "What now?"}, {"key": "privacy_level", "new_value": 2}]
    ann = await guild.member_with(0)
    assert (await ann.get(f"/stage-instances/{stage}")).json == reply.json


async def test_a_stage_is_live_once(platform: Platform, guild: Guild, stage: ChannelId) -> None:
    await open_stage(guild.owner, stage)
    platform.heard.clear()
    reply = await guild.owner.post("/stage-instances", {"channel_id": str(stage), "topic": "again"})
    assert (reply.status, reply.code) == (400, 150006)
    assert platform.heard == []


async def test_only_moderators_of_the_stage_itself_open_change_and_close_it(
    platform: Platform, guild: Guild, stage: ChannelId
) -> None:
    body = {"channel_id": str(stage), "topic": "x"}
    here = await platform.person()
    await guild.join(here)
    other = await guild.channel(type=STAGE, overwrites=[(here.id, 1, MODERATOR, 0)])
    bits = (Permissions.MANAGE_CHANNELS, Permissions.MUTE_MEMBERS, Permissions.MOVE_MEMBERS)
    almost = [await guild.member_with(MODERATOR & ~bit) for bit in bits]
    for caller in (here, *almost):
        assert (await caller.post("/stage-instances", body)).code == 50013
    await open_stage(guild.owner, stage)
    platform.heard.clear()
    for caller in (here, *almost):
        assert (await caller.patch(f"/stage-instances/{stage}", {"topic": "y"})).code == 50013
        assert (await caller.delete(f"/stage-instances/{stage}")).code == 50013
    assert platform.heard == []
    assert (await here.post("/stage-instances", {"channel_id": str(other), "topic": "mine"})).status == 200


async def test_only_visible_stage_channels_can_be_opened(platform: Platform, guild: Guild) -> None:
    hidden = await guild.channel(type=STAGE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    lounge = await guild.channel(type=VOICE)
    moderator = await guild.member_with(MODERATOR)
    outsider = await platform.person()
    codes = [
        (await moderator.post("/stage-instances", {"channel_id": str(channel), "topic": "x"})).code
        for channel in (guild.general, lounge, hidden, 1)
    ]
    assert codes == [50024, 50024, 50001, 10003]
    assert (await outsider.post("/stage-instances", {"channel_id": str(lounge), "topic": "x"})).code == 50001
    assert (await moderator.get(f"/stage-instances/{hidden}")).code == 50001
    assert platform.heard == []


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"topic": ""}, "topic"),
        ({"topic": " "}, "topic"),
        ({"topic": "x" * 121}, "topic"),
        ({"topic": None}, "topic"),
        ({"privacy_level": 3}, "privacy_level"),
        ({"channel_id": "x"}, "channel_id"),
        ({"send_start_notification": "yes"}, "send_start_notification"),
    ],
    ids=str,
)
async def test_an_invalid_stage_is_refused_at_its_field(
    platform: Platform, guild: Guild, stage: ChannelId, fields: dict[str, Any], path: str
) -> None:
    body = {"channel_id": str(stage), "topic": "x", **fields}
    assert (await guild.owner.post("/stage-instances", body)).errors_at(path)
    if path in {"topic", "privacy_level"}:
        await open_stage(guild.owner, stage)
        platform.heard.clear()
        assert (await guild.owner.patch(f"/stage-instances/{stage}", fields)).errors_at(path)
    assert platform.heard == []


async def test_a_start_notification_needs_mention_everyone(platform: Platform, guild: Guild, stage: ChannelId) -> None:
    quiet = str(Permissions.DEFAULT & ~Permissions.MENTION_EVERYONE)
    await guild.owner.patch(f"/guilds/{guild.id}/roles/{guild.id}", {"permissions": quiet})
    plain = await guild.member_with(MODERATOR)
    herald = await guild.member_with(MODERATOR | Permissions.MENTION_EVERYONE)
    for caller in (plain, herald):
        await open_stage(caller, stage, send_start_notification=True)
        assert (await caller.delete(f"/stage-instances/{stage}")).status == 204
    await open_stage(herald, stage)
    assert [everyone for kind, _, everyone in system_messages(platform) if kind == STARTED] == [False, True, False]


async def test_a_changed_topic_is_recorded_announced_and_posted(
    platform: Platform, guild: Guild, stage: ChannelId
) -> None:
    live = await open_stage(guild.owner, stage)
    platform.heard.clear()
    path = f"/stage-instances/{stage}"
    changed = await guild.owner.patch(path, {"topic": "Answers"}, reason="enough")
    assert changed.json == live | {"topic": "Answers"}
    assert (await guild.owner.patch(path, {"topic": "Answers"})).json == changed.json
    assert (await guild.owner.patch(path, {"privacy_level": 1})).json["privacy_level"] == 1
    assert platform.heard_names == [
        "STAGE_INSTANCE_UPDATE", "MESSAGE_CREATE", "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "STAGE_INSTANCE_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE",
    ]  # fmt: skip
    assert system_messages(platform) == [(TOPIC, "Answers", False)]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert (entry["action_type"], entry["reason"]) == (84, "enough")
    assert entry["changes"] == [{"key": "topic", "old_value": "Questions", "new_value": "Answers"}]
    stored = (await guild.owner.get(f"/channels/{stage}/messages")).json
    assert [m["content"] for m in stored] == ["Answers", "Questions"]


async def test_a_closed_stage_is_unknown(platform: Platform, guild: Guild, stage: ChannelId) -> None:
    live = await open_stage(guild.owner, stage)
    platform.heard.clear()
    path = f"/stage-instances/{stage}"
    assert (await guild.owner.delete(path, reason="late")).status == 204
    assert platform.heard_data("STAGE_INSTANCE_DELETE") == [live]
    assert system_messages(platform) == [(ENDED, "Questions", False)]
    assert (await guild.audit_log())[-1] == (85, int(live["id"]), "late")
    for method in ("GET", "PATCH", "DELETE"):
        assert (await guild.owner.request(method, path, {})).code == 10067


async def test_a_stage_without_speakers_closes_after_minutes(
    platform: Platform, guild: Guild, stage: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(platform, monkeypatch.setattr)

    async def go(channel_id: ChannelId | None) -> None:
        assert await handle_voice_update(
            platform.services, user_id=guild.owner.id, session_id="s", guild_id=guild.id, channel_id=channel_id,
            self_mute=False, self_deaf=False, self_video=False,
        )  # fmt: skip

    await open_stage(guild.owner, stage)
    await go(stage)
    await guild.owner.patch(f"/guilds/{guild.id}/voice-states/@me", {"suppress": False})
    for _ in range(8):
        await clock.pass_by(minutes=1)
    assert (await guild.owner.get(f"/stage-instances/{stage}")).status == 200
    # Listeners alone keep no stage open.
    await guild.owner.patch(f"/guilds/{guild.id}/voice-states/@me", {"suppress": True})
    for _ in range(3):
        await clock.pass_by(minutes=1)
    assert (await guild.owner.get(f"/stage-instances/{stage}")).status == 200
    for _ in range(3):
        await clock.pass_by(minutes=1)
    assert (await guild.owner.get(f"/stage-instances/{stage}")).code == 10067
    ended = platform.heard_data("MESSAGE_CREATE")[-1]
    assert (ended["type"], ended["author"]["id"]) == (ENDED, str(guild.owner.id))
    assert [action for action, _, _ in await guild.audit_log()] == [83]


async def test_a_reopened_stage_closes_by_its_own_silence(
    platform: Platform, guild: Guild, stage: ChannelId, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock(platform, monkeypatch.setattr)
    await open_stage(guild.owner, stage)
    for _ in range(3):
        await clock.pass_by(minutes=1)
    await guild.owner.delete(f"/stage-instances/{stage}")
    await open_stage(guild.owner, stage)
    for _ in range(3):
        await clock.pass_by(minutes=1)
    assert (await guild.owner.get(f"/stage-instances/{stage}")).status == 200


async def test_deleting_the_channel_ends_the_stage_and_its_event(
    platform: Platform, guild: Guild, stage: ChannelId
) -> None:
    event = await plan(guild.owner, guild, within(stage, stage=True))
    await open_stage(guild.owner, stage, guild_scheduled_event_id=event["id"])
    platform.heard.clear()
    assert (await guild.owner.delete(f"/channels/{stage}")).status == 200
    names = platform.heard_names
    assert names.index("STAGE_INSTANCE_DELETE") < names.index("CHANNEL_DELETE")
    assert names.index("GUILD_SCHEDULED_EVENT_DELETE") < names.index("CHANNEL_DELETE")
    assert "MESSAGE_CREATE" not in names


async def test_a_stage_starts_its_event_and_ends_it(platform: Platform, guild: Guild, stage: ChannelId) -> None:
    event = await plan(guild.owner, guild, within(stage, stage=True))
    platform.heard.clear()
    live = await open_stage(guild.owner, stage, guild_scheduled_event_id=event["id"])
    assert live["guild_scheduled_event_id"] == event["id"]
    now = (await guild.owner.get(path_of(event))).json
    assert (now["status"], now["entity_id"]) == (2, live["id"])
    assert [action for action, _, _ in await guild.audit_log()] == [100, 83, 101]
    assert (await guild.owner.delete(f"/stage-instances/{stage}")).status == 204
    assert [e["status"] for e in platform.heard_data("GUILD_SCHEDULED_EVENT_UPDATE")] == [2, 3]


async def test_a_stage_starts_only_an_event_of_its_channel(platform: Platform, guild: Guild, stage: ChannelId) -> None:
    other, lounge = await guild.channel(type=STAGE), await guild.channel(type=VOICE)
    elsewhere = await platform.guild(guild.owner)
    foreign = await plan(guild.owner, elsewhere, within(await elsewhere.channel(type=STAGE), stage=True))
    over = await plan(guild.owner, guild, within(stage, stage=True))
    await guild.owner.patch(path_of(over), {"status": 4})
    events = [
        await plan(guild.owner, guild, within(other, stage=True)),
        await plan(guild.owner, guild, within(lounge)),
        foreign,
        over,
    ]
    start = len(platform.heard)
    codes = []
    for event in events:
        body = {"channel_id": str(stage), "topic": "x", "guild_scheduled_event_id": event["id"]}
        codes.append((await guild.owner.post("/stage-instances", body)).code)
    assert codes == [50091, 50091, 10070, 180000]
    moderator = await guild.member_with(MODERATOR)
    own = await plan(guild.owner, guild, within(stage, stage=True))
    start += 2
    body = {"channel_id": str(stage), "topic": "x", "guild_scheduled_event_id": own["id"]}
    assert (await moderator.post("/stage-instances", body)).code == 50013
    assert len(platform.heard) == start
    assert (await guild.owner.get(f"/stage-instances/{stage}")).code == 10067


async def test_system_messages_of_a_stage_are_read_by_those_who_may_connect(
    platform: Platform, guild: Guild, stage: ChannelId
) -> None:
    await open_stage(guild.owner, stage)
    (message,) = [e for e in platform.heard if e.name == "MESSAGE_CREATE"]
    (created,) = [e for e in platform.heard if e.name == "STAGE_INSTANCE_CREATE"]
    assert (message.channel_id, message.permission) == (stage, Permissions.CONNECT)
    assert (created.channel_id, created.permission, created.intent) == (stage, 0, 1)
    assert message.stripped is not None
    assert msgspec.json.decode(bytes(message.stripped))["content"] == ""
