"""Concurrent requests leave stages and events in a consistent state."""

import asyncio

import pytest

from tests.resources.scheduled_event.planning import external, path_of, plan, within
from tests.support.harness import STAGE, Guild, Platform

OPEN, STARTED, FINISHED = 150006, 180002, 180000


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def test_of_concurrent_requests_one_opens_the_stage(platform: Platform, guild: Guild) -> None:
    stage = await guild.channel(type=STAGE)
    body = {"channel_id": str(stage), "topic": "x"}
    replies = await asyncio.gather(*(guild.owner.post("/stage-instances", body) for _ in range(4)))
    assert sorted(reply.status for reply in replies) == [200, 400, 400, 400]
    assert {reply.code for reply in replies if reply.status == 400} == {OPEN}
    assert platform.heard_names.count("STAGE_INSTANCE_CREATE") == 1


async def test_an_event_that_is_started_in_two_ways_at_once_has_one_stage(platform: Platform, guild: Guild) -> None:
    for _ in range(4):
        stage = await guild.channel(type=STAGE)
        event = await plan(guild.owner, guild, within(stage, stage=True))
        body = {"channel_id": str(stage), "topic": "x", "guild_scheduled_event_id": event["id"]}
        platform.heard.clear()
        replies = await asyncio.gather(
            guild.owner.patch(path_of(event), {"status": 2}), guild.owner.post("/stage-instances", body)
        )
        assert 200 in {reply.status for reply in replies}
        # Starting what has been started changes nothing; opening what is open is refused.
        assert {reply.code for reply in replies if reply.status != 200} <= {OPEN, STARTED}
        live = (await guild.owner.get(f"/stage-instances/{stage}")).json
        now = (await guild.owner.get(path_of(event))).json
        assert (now["status"], now["entity_id"]) == (2, live["id"])
        assert live["guild_scheduled_event_id"] == event["id"]
        assert platform.heard_names.count("STAGE_INSTANCE_CREATE") == 1


async def test_an_event_and_its_stage_that_are_ended_at_once_are_over(platform: Platform, guild: Guild) -> None:
    for _ in range(4):
        stage = await guild.channel(type=STAGE)
        event = await plan(guild.owner, guild, within(stage, stage=True))
        await guild.owner.patch(path_of(event), {"status": 2})
        platform.heard.clear()
        replies = await asyncio.gather(
            guild.owner.patch(path_of(event), {"status": 3}),
            guild.owner.delete(f"/stage-instances/{stage}"),
        )
        assert any(reply.status < 300 for reply in replies)
        assert (await guild.owner.get(path_of(event))).json["status"] == 3
        assert (await guild.owner.get(f"/stage-instances/{stage}")).code == 10067
        assert platform.heard_names.count("STAGE_INSTANCE_DELETE") == 1
        assert platform.heard_names.count("GUILD_SCHEDULED_EVENT_UPDATE") == 1


async def test_concurrent_interested_users_are_all_counted(platform: Platform, guild: Guild) -> None:
    people = [await platform.person() for _ in range(12)]
    await guild.join(*people)
    event = await plan(guild.owner, guild, external())
    path = f"{path_of(event)}/users/@me"
    replies = await asyncio.gather(*(person.put(path) for person in people for _ in range(2)))
    assert {reply.status for reply in replies} == {200}
    await asyncio.gather(*(person.delete(path) for person in people[:4]))
    assert (await guild.owner.get(path_of(event), with_user_count=True)).json["user_count"] == 8
    assert platform.heard_names.count("GUILD_SCHEDULED_EVENT_USER_ADD") == 12
