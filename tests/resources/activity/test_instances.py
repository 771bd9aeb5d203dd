"""Activity instances: launching, joining, leaving, and who may."""

import asyncio

import msgspec
import pytest

from moothall.objects.permissions import Permissions
from moothall.resources.activity.operations import (
    clear_activities,
    clear_activities_of_others,
    leave_activities,
    leave_forbidden,
)
from tests.resources.activity.activities import activity, launch, leave, make_launchable, updates, users
from tests.support.activity_users import ALL, install, install_to_user, member
from tests.support.harness import CATEGORY, FORUM, STAGE, VOICE, Caller, Guild, Platform
from tests.support.voice import go


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person(), everyone=ALL)


@pytest.fixture
async def bot(platform: Platform, guild: Guild) -> Caller:
    bot = await activity(platform, guild.owner)
    await install(platform, guild, bot)
    return bot


@pytest.fixture
async def alice(platform: Platform, guild: Guild) -> Caller:
    return await member(platform, guild, "alice")


@pytest.fixture
async def bob(platform: Platform, guild: Guild) -> Caller:
    return await member(platform, guild, "bob")


async def test_an_instance_lasts_from_the_first_participant_to_the_last(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    assert (await launch(alice, bot, guild.general, "alice")).status == 204
    assert (await launch(bob, bot, guild.general, "bob")).status == 204
    started, joined = updates(platform)
    assert users(started) == [alice.id]
    assert users(joined) == [alice.id, bob.id]
    assert started["instance_id"] == joined["instance_id"] == joined["launch_id"]
    location = f"gc-{guild.id}-{guild.general}"
    assert joined["composite_instance_id"] == f"i-{joined['instance_id']}-{location}"
    assert joined["location"] == {
        "id": location,
        "kind": "gc",
        "channel_id": str(guild.general),
        "guild_id": str(guild.id),
    }
    participant = joined["participants"][0]
    assert participant["session_id"] == "alice"
    assert participant["member"]["user"]["username"] == "alice"
    assert (await leave(alice, joined, "alice")).json == {}
    assert users(updates(platform)[-1]) == [bob.id]
    assert (await leave(bob, joined, "bob")).status == 200
    assert users(updates(platform)[-1]) == []
    assert (await leave(bob, joined, "bob")).status == 404
    assert (await launch(alice, bot, guild.general, "alice")).status == 204
    assert updates(platform)[-1]["instance_id"] != started["instance_id"]


async def test_launching_again_with_the_same_session_announces_nothing(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    await launch(alice, bot, guild.general, "alice")
    assert (await launch(alice, bot, guild.general, "alice")).status == 204
    assert len(updates(platform)) == 1


async def test_a_user_takes_part_with_the_last_session_that_joined(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    platform.presences.connect(alice.id, "phone")
    await launch(alice, bot, guild.general, "alice")
    await launch(alice, bot, guild.general, "phone")
    instance = updates(platform)[-1]
    assert [each["session_id"] for each in instance["participants"]] == ["phone"]
    await leave_activities(platform.services, alice.id, "alice")
    assert len(updates(platform)) == 2
    await leave_activities(platform.services, alice.id, "phone")
    assert users(updates(platform)[-1]) == []


async def test_a_session_takes_part_in_one_instance_at_a_time(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    elsewhere = await guild.channel()
    await launch(alice, bot, guild.general, "alice")
    await launch(alice, bot, elsewhere, "alice")
    last = {each["location"]["channel_id"]: users(each) for each in updates(platform)}
    assert last == {str(guild.general): [], str(elsewhere): [alice.id]}


async def test_people_who_launch_at_the_same_time_share_one_instance(
    platform: Platform, guild: Guild, bot: Caller
) -> None:
    people = [await member(platform, guild, f"p{number}") for number in range(6)]
    replies = await asyncio.gather(*(launch(each, bot, guild.general, each.name) for each in people))
    assert {reply.status for reply in replies} == {204}
    assert len({each["instance_id"] for each in updates(platform)}) == 1
    assert sorted(users(updates(platform)[-1])) == sorted(each.id for each in people)
    await asyncio.gather(*(leave_activities(platform.services, each.id, each.name) for each in people))
    assert users(updates(platform)[-1]) == []


async def test_only_a_session_of_the_caller_takes_part(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    assert (await launch(alice, bot, guild.general, "bob")).code == 10020
    assert (await launch(bob, bot, guild.general, "bob")).status == 204
    assert (await leave(alice, updates(platform)[-1], "bob")).status == 404
    assert (await launch(await platform.bot(alice), bot, guild.general, "bob")).code == 20001


async def test_launching_requires_the_permission_and_a_view_of_the_channel(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    use = Permissions.USE_EMBEDDED_ACTIVITIES
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    forbidden = await guild.channel(overwrites=[(guild.id, 0, 0, use)])
    locked = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)])
    assert (await launch(alice, bot, hidden, "alice")).code == 50001
    assert (await launch(alice, bot, forbidden, "alice")).code == 50013
    assert (await launch(alice, bot, locked, "alice")).code == 50013
    for kind in (CATEGORY, FORUM):
        assert (await launch(alice, bot, await guild.channel(type=kind), "alice")).code == 50024
    lounge = await guild.channel(type=VOICE)
    assert (await launch(alice, bot, lounge, "alice")).status == 204
    await guild.set(afk_channel_id=lounge)
    platform.presences.connect(guild.owner.id, "owner")
    assert (await launch(guild.owner, bot, lounge, "owner")).code == 50024


async def test_the_audience_of_a_stage_launches_nothing(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    stage = await guild.channel(type=STAGE)
    assert (await launch(alice, bot, stage, "alice")).code == 50013
    await go(platform, guild, alice, stage, session="alice")
    assert (await launch(alice, bot, stage, "alice")).code == 50013
    path = f"/guilds/{guild.id}/voice-states/{alice.id}"
    assert (await guild.owner.patch(path, {"channel_id": str(int(stage)), "suppress": False})).status == 204
    assert (await launch(alice, bot, stage, "alice")).status == 204


async def test_an_activity_that_is_not_released_is_for_its_owner_and_team(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    await make_launchable(guild.owner, bot.id, released=False)
    platform.presences.connect(guild.owner.id, "owner")
    assert (await launch(guild.owner, bot, guild.general, "owner")).status == 204
    assert (await launch(alice, bot, guild.general, "alice")).code == 50001
    team = (await guild.owner.post("/teams", {"name": "Team"})).json["id"]
    await guild.owner.patch(f"/applications/{bot.id}", {"team_id": team})
    assert (await launch(alice, bot, guild.general, "alice")).code == 50001


async def test_an_activity_is_launched_where_it_is_installed_and_joined_by_all(
    platform: Platform, guild: Guild, alice: Caller, bob: Caller
) -> None:
    bot = await activity(platform, await platform.person())
    assert (await launch(alice, bot, guild.general, "alice")).code == 50001
    await install_to_user(platform, alice, bot)
    assert (await launch(alice, bot, guild.general, "alice")).status == 204
    assert (await launch(bob, bot, guild.general, "bob")).status == 204
    private = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.USE_EXTERNAL_APPS)])
    assert (await launch(alice, bot, private, "alice")).code == 50013


async def test_settings_decide_where_an_activity_runs(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    path = f"/applications/{bot.id}"
    config = f"{path}/embedded-activity-config"
    platform.presences.connect(alice.id, "phone", platform="ios")
    assert (await launch(alice, bot, guild.general, "phone")).errors_at("application_id")
    await guild.owner.patch(config, {"requires_age_gate": True})
    assert (await launch(alice, bot, guild.general, "alice")).errors_at("application_id")
    adults = await guild.channel(nsfw=True)
    assert (await launch(alice, bot, adults, "alice")).status == 204
    await guild.owner.patch(config, {"requires_age_gate": False, "supported_locales": ["DE"]})
    assert (await launch(alice, bot, guild.general, "alice")).code == 50001
    await guild.owner.patch(config, {"supported_locales": [], "blocked_locales": ["US"]})
    assert (await launch(alice, bot, guild.general, "alice")).code == 50001
    await guild.owner.patch(config, {"blocked_locales": []})
    await guild.owner.post(f"{path}/proxy-config", {"url_map": []})
    assert (await launch(alice, bot, guild.general, "alice")).errors_at("application_id")


async def test_a_full_instance_takes_no_further_participant(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    await guild.owner.patch(f"/applications/{bot.id}", {"max_participants": 1})
    assert (await launch(alice, bot, guild.general, "alice")).status == 204
    assert (await launch(bob, bot, guild.general, "bob")).errors_at("application_id")
    await leave_activities(platform.services, alice.id, "alice")
    assert (await launch(bob, bot, guild.general, "bob")).status == 204


async def test_activities_run_in_direct_messages(platform: Platform, guild: Guild, alice: Caller, bob: Caller) -> None:
    bot = await activity(platform, guild.owner)
    await install_to_user(platform, alice, bot)
    dm = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    assert (await launch(alice, bot, dm, "alice")).status == 204
    assert (await launch(bob, bot, dm, "bob")).status == 204
    instance = updates(platform)[-1]
    assert users(instance) == [alice.id, bob.id]
    assert instance["location"] == {"id": f"pc-{dm}", "kind": "pc", "channel_id": dm}
    assert "member" not in instance["participants"][0]
    heard = [each for each in platform.heard if each.name == "EMBEDDED_ACTIVITY_UPDATE_V2"]
    assert set(heard[-1].user_ids) == {alice.id, bob.id}
    stranger = await platform.person()
    platform.presences.connect(stranger.id, "s")
    assert (await launch(stranger, bot, dm, "s")).code == 50001


async def test_both_events_of_an_instance_say_the_same_to_the_same_audience(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    thread = (await alice.post(f"/channels/{guild.general}/threads", {"name": "t", "type": 12})).json["id"]
    dm = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    await install_to_user(platform, alice, bot)
    for channel_id in (guild.general, thread, dm):
        assert (await launch(alice, bot, channel_id, "alice")).status == 204
    # Each launch but the first one leaves another instance.
    heard = [each for each in platform.heard if each.name.startswith("EMBEDDED_ACTIVITY_UPDATE")]
    assert [each.name for each in heard] == ["EMBEDDED_ACTIVITY_UPDATE", "EMBEDDED_ACTIVITY_UPDATE_V2"] * 5
    for first, second in zip(heard[::2], heard[1::2], strict=True):
        update, instance = (msgspec.json.decode(bytes(each.data)) for each in (first, second))
        user_ids = [each["user_id"] for each in instance["participants"]]
        location = {key: id_ for key, id_ in instance["location"].items() if key in {"channel_id", "guild_id"}}
        assert update == location | {
            "embedded_activity": {
                "application_id": str(bot.id),
                "activity_id": instance["launch_id"],
            },
            "connections": [{"user_id": user_id, "metadata": {"is_eligible_host": True}} for user_id in user_ids],
            "users": user_ids,
        }
        same = msgspec.structs.replace(first, name=second.name, data=second.data)
        assert same == second
    assert {(each.guild_id, each.channel_id, each.thread_id) for each in heard} == {
        (guild.id, guild.general, None),
        (guild.id, guild.general, int(thread)),
        (None, int(dm), None),
    }


async def test_losing_the_permission_or_the_membership_ends_the_participation(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    await launch(alice, bot, guild.general, "alice")
    await launch(bob, bot, guild.general, "bob")
    await leave_forbidden(platform.services, "", guild.id)
    assert len(updates(platform)) == 2
    use = str(int(Permissions.USE_EMBEDDED_ACTIVITIES))
    await guild.owner.put(f"/channels/{guild.general}/permissions/{alice.id}", {"type": 1, "deny": use})
    await leave_forbidden(platform.services, "", guild.id)
    assert users(updates(platform)[-1]) == [bob.id]
    await guild.owner.delete(f"/guilds/{guild.id}/members/{bob.id}")
    await leave_forbidden(platform.services, "other node", guild.id)
    assert users(updates(platform)[-1]) == [bob.id]
    await leave_forbidden(platform.services, "", guild.id)
    assert users(updates(platform)[-1]) == []


async def test_the_participants_of_a_dead_node_leave(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller, bob: Caller
) -> None:
    platform.presences.sessions.clear()
    platform.presences.connect(alice.id, "alice", node="dead")
    platform.presences.connect(bob.id, "bob", node="alive")
    await launch(alice, bot, guild.general, "alice")
    await launch(bob, bot, guild.general, "bob")
    await clear_activities_of_others(platform.services, {"alive", "dead"})
    assert users(updates(platform)[-1]) == [alice.id, bob.id]
    await clear_activities_of_others(platform.services, {"alive"})
    assert users(updates(platform)[-1]) == [bob.id]
    await clear_activities(platform.services, "alive")
    assert users(updates(platform)[-1]) == []


async def test_instances_end_with_the_activity_and_with_the_application(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    await launch(alice, bot, guild.general, "alice")
    await guild.owner.post(f"/applications/{bot.id}/set-embedded", {"embedded": False})
    assert users(updates(platform)[-1]) == []
    await make_launchable(guild.owner, bot.id)
    await launch(alice, bot, guild.general, "alice")
    assert users(updates(platform)[-1]) == [alice.id]
    assert (await guild.owner.delete(f"/applications/{bot.id}")).status == 204
    assert users(updates(platform)[-1]) == []


async def test_the_application_reads_its_running_instances(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    await launch(alice, bot, guild.general, "alice")
    instance = updates(platform)[-1]
    composite = instance["composite_instance_id"]
    path = f"/applications/{bot.id}/activity-instances"
    assert (await bot.get(f"{path}/{composite}")).json == {
        "application_id": str(bot.id),
        "instance_id": composite,
        "launch_id": instance["launch_id"],
        "location": instance["location"],
        "users": [str(alice.id)],
    }
    wrong = composite.replace(str(guild.general), str(guild.id))
    for instance_id in (wrong, "i-1-gc-1-1", "nonsense", f"i-{1 << 64}-pc-1"):
        assert (await bot.get(f"{path}/{instance_id}")).status == 404
    assert (await alice.get(f"{path}/{composite}")).status == 403
    other = await activity(platform, guild.owner)
    assert (await other.get(f"{path}/{composite}")).status == 403
    assert (await other.get(f"/applications/{other.id}/activity-instances/{composite}")).status == 404
    await leave_activities(platform.services, alice.id, "alice")
    assert (await bot.get(f"{path}/{composite}")).status == 404


async def test_the_shelf_has_what_the_caller_may_launch(
    platform: Platform, guild: Guild, bot: Caller, alice: Caller
) -> None:
    own = await activity(platform, alice, released=False, shelf_rank=5)
    await activity(platform, guild.owner)  # installed nowhere
    hidden = await activity(platform, guild.owner, released=False)
    await install(platform, guild, hidden)
    everywhere = (await alice.get("/activities/shelf")).json
    assert [each["id"] for each in everywhere["applications"]] == [str(own.id)]
    here = (await alice.get("/activities/shelf", guild_id=guild.id)).json
    assert [each["application_id"] for each in here["activities"]] == [str(own.id), str(bot.id)]
    assert [each["id"] for each in here["applications"]] == [str(own.id), str(bot.id)]
    await install_to_user(platform, alice, bot)
    assert len((await alice.get("/activities/shelf")).json["applications"]) == 2
    outsider = await platform.person()
    assert (await outsider.get("/activities/shelf", guild_id=guild.id)).code == 10004
