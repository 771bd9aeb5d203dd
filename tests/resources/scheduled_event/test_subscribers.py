"""Users who are interested in an event or an occurrence."""

from datetime import datetime, timedelta
from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.scheduled_event.planning import external, moment, path_of, plan, within
from tests.support.harness import VOICE, Caller, Guild, Platform


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person())


async def crowd(guild: Guild, platform: Platform, count: int) -> list[Caller]:
    people = [await platform.person() for _ in range(count)]
    await guild.join(*people)
    return people


async def count(guild: Guild, event: dict[str, Any]) -> int:
    return int((await guild.owner.get(path_of(event), with_user_count=True)).json["user_count"])


async def test_an_interested_user_is_counted_and_announced_once(platform: Platform, guild: Guild) -> None:
    (ann,) = await crowd(guild, platform, 1)
    event = await plan(guild.owner, guild, external())
    platform.heard.clear()
    for _ in range(2):
        reply = await ann.put(f"{path_of(event)}/users/@me")
        assert (reply.status, reply.json) == (
            200,
            {"guild_scheduled_event_id": event["id"], "user_id": str(ann.id), "response": 1},
        )
    expected = {"guild_scheduled_event_id": event["id"], "user_id": str(ann.id), "guild_id": str(guild.id)}
    assert platform.heard_names == ["GUILD_SCHEDULED_EVENT_USER_ADD"]
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_USER_ADD") == [expected]
    assert await count(guild, event) == 1
    assert (await ann.delete(f"{path_of(event)}/users/@me")).status == 204
    assert (await ann.delete(f"{path_of(event)}/users/@me")).code == 10071
    assert platform.heard_data("GUILD_SCHEDULED_EVENT_USER_REMOVE") == [expected]
    assert await count(guild, event) == 0


async def test_bots_cannot_be_interested_in_events(platform: Platform, guild: Guild) -> None:
    bot = await platform.bot(guild.owner)
    await guild.join(bot)
    event = await plan(guild.owner, guild, external())
    assert (await bot.put(f"{path_of(event)}/users/@me")).code == 20001
    assert (await bot.delete(f"{path_of(event)}/users/@me")).code == 20001


async def test_interested_users_are_listed_in_pages(platform: Platform, guild: Guild) -> None:
    people = await crowd(guild, platform, 5)
    event = await plan(guild.owner, guild, external())
    path = f"{path_of(event)}/users"
    for person in people:
        await person.put(f"{path}/@me")
    ids = [str(person.id) for person in people]

    async def listed(**query: Any) -> list[str]:
        return [entry["user"]["id"] for entry in (await guild.owner.get(path, **query)).json]

    assert await listed() == ids
    assert await listed(limit=2) == ids[:2]
    assert await listed(limit=2, after=ids[1]) == ids[2:4]
    assert await listed(limit=2, before=ids[3]) == ids[1:3]
    assert await listed(limit=2, before=ids[3], after=ids[3]) == ids[1:3]
    assert await listed(before=ids[0]) == []
    for limit in (0, 101):
        assert (await guild.owner.get(path, limit=limit)).errors_at("limit")
    entry = (await guild.owner.get(path, limit=1)).json[0]
    assert "member" not in entry
    entry = (await guild.owner.get(path, limit=1, with_member=True)).json[0]
    assert (entry["member"]["user"]["id"], entry["response"]) == (ids[0], 1)


async def test_an_interested_user_who_left_the_guild_is_listed_without_a_member(
    platform: Platform, guild: Guild
) -> None:
    (ann,) = await crowd(guild, platform, 1)
    event = await plan(guild.owner, guild, external())
    await ann.put(f"{path_of(event)}/users/@me")
    await ann.delete(f"/users/@me/guilds/{guild.id}")
    (entry,) = (await guild.owner.get(f"{path_of(event)}/users", with_member=True)).json
    assert entry["user"]["id"] == str(ann.id)
    assert "member" not in entry


async def test_events_in_hidden_channels_are_unknown(platform: Platform, guild: Guild) -> None:
    (ann,) = await crowd(guild, platform, 1)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    event = await plan(guild.owner, guild, within(hidden))
    path = path_of(event)
    for method, where in (
        ("GET", path),
        ("GET", f"{path}/users"),
        ("GET", f"{path}/users/counts"),
        ("PUT", f"{path}/users/@me"),
        ("DELETE", f"{path}/users/@me"),
        ("PATCH", path),
        ("DELETE", path),
        ("POST", f"{path}/exceptions"),
    ):
        assert (await ann.request(method, where, {})).code == 10070


async def test_user_events_are_sent_to_those_who_may_view_the_channel(platform: Platform, guild: Guild) -> None:
    lounge = await guild.channel(type=VOICE)
    event = await plan(guild.owner, guild, within(lounge))
    await guild.owner.put(f"{path_of(event)}/users/@me")
    frames = [e for e in platform.heard if e.name == "GUILD_SCHEDULED_EVENT_USER_ADD"]
    assert [(e.channel_id, e.intent) for e in frames] == [(lounge, 1 << 16)]


WEEKLY = {"frequency": 2, "interval": 1}


async def test_a_user_responds_to_single_occurrences(platform: Platform, guild: Guild) -> None:
    (ann,) = await crowd(guild, platform, 1)
    start = moment(hours=1)
    event = await plan(
        guild.owner, guild, external(scheduled_start_time=start, recurrence_rule={"start": start, **WEEKLY})
    )
    path = path_of(event)
    original = moment_after(event["scheduled_start_time"], days=7)
    exception = await guild.owner.post(
        f"{path}/exceptions", {"original_scheduled_start_time": original, "scheduled_start_time": moment(days=8)}
    )
    occurrence = exception.json["event_exception_id"]
    where = f"{path}/{occurrence}/users"
    platform.heard.clear()
    assert (await ann.put(f"{where}/@me", {"response": 1})).json["guild_scheduled_event_exception_id"] == occurrence
    assert (await ann.put(f"{where}/@me")).status == 200
    assert [e["response"] for e in (await guild.owner.get(where)).json] == [1]
    counts = (await guild.owner.get(f"{path}/users/counts", guild_scheduled_event_exception_ids=[occurrence, "5"])).json
    assert counts == {
        "guild_scheduled_event_count": 0,
        "guild_scheduled_event_exception_counts": {occurrence: 1, "5": 0},
    }
    assert (await ann.put(f"{where}/@me", {"response": 0})).json["response"] == 0
    assert [e["response"] for e in (await guild.owner.get(where, with_member=True)).json] == [0]
    assert (await ann.put(f"{where}/@me", {"response": 1})).status == 200
    assert (await ann.delete(f"{where}/@me")).status == 204
    assert (await ann.delete(f"{where}/@me")).code == 10071
    assert platform.heard_names == [
        "GUILD_SCHEDULED_EVENT_USER_ADD",
        "GUILD_SCHEDULED_EVENT_USER_REMOVE",
        "GUILD_SCHEDULED_EVENT_USER_ADD",
        "GUILD_SCHEDULED_EVENT_USER_REMOVE",
    ]
    assert {e["guild_scheduled_event_exception_id"] for e in platform.heard_data("GUILD_SCHEDULED_EVENT_USER_ADD")} == {
        occurrence
    }
    assert (await ann.put(f"{path}/{int(occurrence) + (1 << 40)}/users/@me")).code == 10070
    assert (await guild.owner.get(f"{path}/5/users")).code == 10070
    assert await count(guild, event) == 0


async def test_at_most_ten_occurrences_are_counted_at_once(guild: Guild) -> None:
    event = await plan(guild.owner, guild, external())
    path = f"{path_of(event)}/users/counts"
    reply = await guild.owner.get(path, guild_scheduled_event_exception_ids=list(range(1, 12)))
    assert reply.errors_at("guild_scheduled_event_exception_ids")
    assert (await guild.owner.get(path)).json["guild_scheduled_event_exception_counts"] == {}


def moment_after(text: str, *, days: int) -> str:
    """The moment some days after another, both in ISO 8601."""
    return (datetime.fromisoformat(text) + timedelta(days=days)).isoformat()
