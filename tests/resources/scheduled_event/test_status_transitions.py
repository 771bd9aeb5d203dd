"""Status transitions of events: by request, at their times, and when their voice channel is empty."""

import pytest

from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.resources.scheduled_event.planning import Clock, external, moment, path_of, plan, within
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform

SCHEDULED, ACTIVE, COMPLETED, CANCELED = 1, 2, 3, 4


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


@pytest.fixture
def clock(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(platform, monkeypatch.setattr)


async def go(platform: Platform, guild: Guild, who: Caller, channel_id: ChannelId | None) -> None:
    assert await handle_voice_update(
        platform.services,
        user_id=who.id,
        session_id=who.name,
        guild_id=guild.id,
        channel_id=channel_id,
        self_mute=False,
        self_deaf=False,
        self_video=False,
    )


async def status(guild: Guild, event: dict[str, str]) -> int:
    return int((await guild.owner.get(path_of(event))).json["status"])


async def test_only_the_documented_status_transitions_are_allowed(guild: Guild) -> None:
    lounge = await guild.channel(type=VOICE)
    allowed = {(SCHEDULED, ACTIVE), (ACTIVE, COMPLETED), (SCHEDULED, CANCELED)}
    for before in (SCHEDULED, ACTIVE):
        for after in (SCHEDULED, ACTIVE, COMPLETED, CANCELED):
            event = await plan(guild.owner, guild, within(lounge))
            if before == ACTIVE:
                await guild.owner.patch(path_of(event), {"status": ACTIVE})
            reply = await guild.owner.patch(path_of(event), {"status": after})
            if before == after or (before, after) in allowed:
                assert (reply.status, reply.json["status"]) == (200, after)
            else:
                assert reply.errors_at("status") == ["BASE_TYPE_CHOICES"]
                assert await status(guild, event) == before


@pytest.mark.parametrize("last", [COMPLETED, CANCELED])
async def test_an_ended_event_cannot_be_changed_and_is_not_listed(guild: Guild, last: int) -> None:
    event = await plan(guild.owner, guild, external())
    path = path_of(event)
    for step in (ACTIVE, COMPLETED) if last == COMPLETED else (CANCELED,):
        assert (await guild.owner.patch(path, {"status": step})).status == 200
    for body in ({"status": ACTIVE}, {"name": "again"}, {"status": None}):
        reply = await guild.owner.patch(path, body)
        assert (reply.status, reply.code) == (400, 180000)
    ann = await guild.member_with(0)
    assert (await ann.put(f"{path}/users/@me")).code == 180000
    assert (await guild.owner.get(f"/guilds/{guild.id}/scheduled-events")).json == []
    assert await status(guild, event) == last


async def test_channel_and_start_of_an_active_event_cannot_change(guild: Guild) -> None:
    lounge, other = await guild.channel(type=VOICE), await guild.channel(type=VOICE)
    event = await plan(guild.owner, guild, within(lounge))
    path = path_of(event)
    await guild.owner.patch(path, {"status": ACTIVE})
    assert (await guild.owner.patch(path, {"channel_id": str(other)})).errors_at("channel_id")
    assert (await guild.owner.patch(path, {"scheduled_start_time": moment(hours=9)})).errors_at("scheduled_start_time")
    assert (await guild.owner.patch(path, {"name": "Now", "scheduled_end_time": moment(hours=9)})).status == 200


async def test_an_external_event_starts_and_ends_at_its_times(platform: Platform, guild: Guild, clock: Clock) -> None:
    event = await plan(guild.owner, guild, external())
    platform.heard.clear()
    await clock.pass_by(minutes=59)
    assert await status(guild, event) == SCHEDULED
    await clock.pass_by(minutes=2)
    assert await status(guild, event) == ACTIVE
    await clock.pass_by(minutes=58)
    assert await status(guild, event) == ACTIVE
    await clock.pass_by(minutes=2)
    assert await status(guild, event) == COMPLETED
    assert [e["status"] for e in platform.heard_data("GUILD_SCHEDULED_EVENT_UPDATE")] == [ACTIVE, COMPLETED]
    assert [action for action, _, _ in await guild.audit_log()] == [100]


async def test_a_postponed_event_starts_at_its_new_time_only(guild: Guild, clock: Clock) -> None:
    event = await plan(guild.owner, guild, external())
    later = {"scheduled_start_time": moment(hours=3), "scheduled_end_time": moment(hours=4)}
    assert (await guild.owner.patch(path_of(event), later)).status == 200
    await clock.pass_by(hours=2)
    assert await status(guild, event) == SCHEDULED
    await clock.pass_by(hours=1.5)
    assert await status(guild, event) == ACTIVE


async def test_an_event_that_is_not_started_is_cancelled_some_hours_later(
    platform: Platform, guild: Guild, clock: Clock
) -> None:
    event = await plan(guild.owner, guild, within(await guild.channel(type=VOICE)))
    await clock.pass_by(hours=4.5)
    assert await status(guild, event) == SCHEDULED
    await clock.pass_by(hours=1)
    assert await status(guild, event) == CANCELED
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_UPDATE")[-1]["status"] == CANCELED


async def test_an_event_that_was_started_in_time_is_not_cancelled(
    platform: Platform, guild: Guild, clock: Clock
) -> None:
    lounge = await guild.channel(type=VOICE)
    event = await plan(guild.owner, guild, within(lounge))
    await go(platform, guild, guild.owner, lounge)
    await guild.owner.patch(path_of(event), {"status": ACTIVE})
    await clock.pass_by(hours=6)
    assert await status(guild, event) == ACTIVE


async def test_an_event_ends_once_its_voice_channel_has_been_empty_for_minutes(
    platform: Platform, guild: Guild, clock: Clock
) -> None:
    lounge = await guild.channel(type=VOICE)
    event = await plan(guild.owner, guild, within(lounge))
    await go(platform, guild, guild.owner, lounge)
    await guild.owner.patch(path_of(event), {"status": ACTIVE})
    await clock.pass_by(minutes=10)
    await go(platform, guild, guild.owner, None)
    await clock.pass_by(minutes=2)
    await go(platform, guild, guild.owner, lounge)
    await clock.pass_by(minutes=2)
    await go(platform, guild, guild.owner, None)
    for _ in range(2):
        await clock.pass_by(minutes=1)
        assert await status(guild, event) == ACTIVE
    for _ in range(4):
        await clock.pass_by(minutes=1)
    assert await status(guild, event) == COMPLETED


async def test_an_ended_event_is_deleted_with_its_users_after_a_month(guild: Guild, clock: Clock) -> None:
    ann = await guild.member_with(0)
    event = await plan(guild.owner, guild, external())
    await ann.put(f"{path_of(event)}/users/@me")
    await guild.owner.patch(path_of(event), {"status": CANCELED})
    await clock.pass_by(days=29)
    assert await status(guild, event) == CANCELED
    await clock.pass_by(days=2)
    assert (await guild.owner.get(path_of(event))).code == 10070


async def test_starting_an_event_on_a_stage_opens_it_and_ending_it_closes_it(platform: Platform, guild: Guild) -> None:
    stage = await guild.channel(type=STAGE)
    event = await plan(guild.owner, guild, within(stage, stage=True, name="Panel"))
    platform.heard.clear()
    started = (await guild.owner.patch(path_of(event), {"status": ACTIVE})).json
    live = (await guild.owner.get(f"/stage-instances/{stage}")).json
    assert (live["topic"], live["guild_scheduled_event_id"]) == ("Panel", event["id"])
    assert (started["status"], started["entity_id"]) == (ACTIVE, live["id"])
    assert [n for n in platform.heard_names if n != "GUILD_AUDIT_LOG_ENTRY_CREATE"] == [
        "STAGE_INSTANCE_CREATE", "MESSAGE_CREATE", "GUILD_SCHEDULED_EVENT_UPDATE",
    ]  # fmt: skip
    platform.heard.clear()
    assert (await guild.owner.patch(path_of(event), {"status": COMPLETED})).json["status"] == COMPLETED
    assert (await guild.owner.get(f"/stage-instances/{stage}")).code == 10067
    assert [n for n in platform.heard_names if n != "GUILD_AUDIT_LOG_ENTRY_CREATE"] == [
        "MESSAGE_CREATE", "STAGE_INSTANCE_DELETE", "GUILD_SCHEDULED_EVENT_UPDATE",
    ]  # fmt: skip


async def test_an_event_does_not_start_while_its_stage_is_live(platform: Platform, guild: Guild) -> None:
    stage = await guild.channel(type=STAGE)
    event = await plan(guild.owner, guild, within(stage, stage=True))
    await guild.owner.post("/stage-instances", {"channel_id": str(stage), "topic": "something else"})
    platform.heard.clear()
    assert (await guild.owner.patch(path_of(event), {"status": ACTIVE, "name": "x"})).code == 180002
    assert platform.heard == []
    assert (await guild.owner.get(path_of(event))).json["name"] == "Talk"


async def test_deleting_an_active_event_closes_its_stage(platform: Platform, guild: Guild) -> None:
    stage = await guild.channel(type=STAGE)
    event = await plan(guild.owner, guild, within(stage, stage=True))
    await guild.owner.patch(path_of(event), {"status": ACTIVE})
    platform.heard.clear()
    assert (await guild.owner.delete(path_of(event))).status == 204
    assert {"STAGE_INSTANCE_DELETE", "MESSAGE_CREATE", "GUILD_SCHEDULED_EVENT_DELETE"} <= set(platform.heard_names)
    assert (await guild.owner.get(f"/stage-instances/{stage}")).code == 10067


async def test_event_frames_go_to_viewers_of_the_channel_or_to_the_guild(platform: Platform, guild: Guild) -> None:
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    await plan(guild.owner, guild, within(hidden))
    await plan(guild.owner, guild, external())
    frames = [(e.audience, e.channel_id) for e in platform.heard if e.name == "GUILD_SCHEDULED_EVENT_CREATE"]
    assert frames == [(2, hidden), (1, None)]
