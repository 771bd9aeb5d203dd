"""Which users can use a command in which channel: permissions, contexts and installations."""

from typing import Any

import pytest
from msgspec import structs
from sqlalchemy import bindparam, update

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import members
from tests.resources.activity.activities import make_launchable
from tests.resources.interaction.scenario import Scenario, create_scenario, install
from tests.support.harness import FORUM, VOICE, Caller, Platform

_set_member = Query(
    update(members)
    .where(members.c.user_id == bindparam("of_user"))
    .values(pending=bindparam("is_pending"), communication_disabled_until=bindparam("until"))
)


async def set_permissions(
    scenario: Scenario, command: dict[str, Any] | None, *permissions: tuple[int, int, bool]
) -> None:
    """Set the permissions for a command, or with None for the application: (id, type, permission)."""
    target = scenario.app.id if command is None else command["id"]
    path = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands/{target}/permissions"
    body = {"permissions": [{"id": str(int(i)), "type": kind, "permission": yes} for i, kind, yes in permissions]}
    reply = await scenario.guild.owner.put(path, body)
    assert reply.status == 200, reply.body


async def can_use(scenario: Scenario, command: dict[str, Any], person: Caller | None = None, **more: Any) -> bool:
    reply = await scenario.post_interaction(2, {"id": command["id"], "type": command["type"]}, person, **more)
    assert reply.status == 204 or reply.code == 50013, reply.body
    return reply.status == 204


async def test_default_member_permissions_are_required(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(default_member_permissions=str(int(Permissions.KICK_MEMBERS)))
    kicker = await scenario.guild.member_with(Permissions.KICK_MEMBERS)
    assert not await can_use(scenario, command)
    assert await can_use(scenario, command, kicker)
    closed = await scenario.create_command(name="closed", default_member_permissions="0")
    assert not await can_use(scenario, closed, kicker)
    assert await can_use(scenario, closed, await scenario.guild.moderator())
    assert await can_use(scenario, closed, scenario.guild.owner)


async def test_command_permissions_of_the_guild_override_the_default(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    guild, role = scenario.guild, await scenario.guild.role()
    with_role = await platform.person()
    await guild.join(with_role, roles=[role])
    command = await scenario.create_command(default_member_permissions="0")
    await set_permissions(scenario, command, (guild.id, 1, True))
    assert await can_use(scenario, command)
    await set_permissions(scenario, command, (guild.id, 1, False), (role, 1, True))
    assert (await can_use(scenario, command), await can_use(scenario, command, with_role)) == (False, True)
    await set_permissions(scenario, command, (role, 1, True), (with_role.id, 2, False))
    assert not await can_use(scenario, command, with_role)
    # Permissions for the application apply to commands without permissions of their own.
    other = await scenario.create_command(name="other")
    await set_permissions(scenario, None, (guild.id, 1, False))
    assert not await can_use(scenario, other, with_role)
    await set_permissions(scenario, command, (role, 1, True))
    assert await can_use(scenario, command, with_role)
    assert await can_use(scenario, other, await guild.moderator())


async def test_command_permissions_for_a_channel_apply_to_its_threads(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    guild = scenario.guild
    command = await scenario.create_command()
    thread = (await scenario.person.post(f"{scenario.channel_path}/threads", {"name": "t", "type": 11})).json["id"]
    await set_permissions(scenario, command, (guild.general, 3, False))
    assert not await can_use(scenario, command)
    assert not await can_use(scenario, command, channel_id=thread)
    elsewhere = str(await guild.channel())
    assert await can_use(scenario, command, channel_id=elsewhere)
    await set_permissions(scenario, command, (guild.id - 1, 3, False), (guild.general, 3, True))
    assert await can_use(scenario, command)
    assert not await can_use(scenario, command, channel_id=elsewhere)
    assert await can_use(scenario, command, guild.owner, channel_id=elsewhere)


async def test_using_a_command_needs_use_application_commands_in_the_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    denied = await scenario.guild.channel(overwrites=[(scenario.guild.id, 0, 0, Permissions.USE_APPLICATION_COMMANDS)])
    hidden = await scenario.guild.channel(overwrites=[(scenario.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    data = {"id": command["id"], "type": 1}
    assert (await scenario.post_interaction(2, data, channel_id=str(denied))).code == 50013
    assert (await scenario.post_interaction(2, data, channel_id=str(hidden))).code == 50001
    assert (await scenario.post_interaction(2, data, await platform.person())).code == 50001
    assert (await scenario.post_interaction(2, data, channel_id="1")).code == 10003
    assert (await scenario.post_interaction(2, data, guild_id=str(scenario.guild.id + 1))).errors_at("guild_id")
    bot = await platform.bot(scenario.guild.owner)
    await scenario.guild.join(bot)
    assert (await scenario.post_interaction(2, data, bot)).code == 20001


@pytest.mark.parametrize(("pending", "until"), [(True, None), (False, 4_000_000_000_000)])
async def test_pending_and_timed_out_members_cannot_create_interactions(
    platform: Platform, pending: bool, until: int | None
) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    row = [{"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}]
    message = await scenario.create_message(row)
    async with platform.database.transaction() as tx:
        moment = None if until is None else Timestamp(until)
        await tx.execute(_set_member, of_user=scenario.person.id, is_pending=pending, until=moment)
    assert not await can_use(scenario, command)
    assert (await scenario.click(message, "go")).code == 50013


async def test_commands_cannot_be_used_where_the_response_could_not_be_posted(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    data = {"id": command["id"], "type": 1}
    forum, category = await scenario.guild.channel(type=FORUM), await scenario.guild.channel(type=4)
    assert (await scenario.post_interaction(2, data, channel_id=str(forum))).code == 40058
    assert (await scenario.post_interaction(2, data, channel_id=str(category))).code == 50008
    voice = await scenario.guild.channel(type=VOICE, overwrites=[(scenario.guild.id, 0, 0, Permissions.CONNECT)])
    assert (await scenario.post_interaction(2, data, channel_id=str(voice))).code == 50013
    thread = (await scenario.person.post(f"{scenario.channel_path}/threads", {"name": "t", "type": 11})).json["id"]
    await scenario.guild.owner.patch(f"/channels/{thread}", {"locked": True, "archived": True})
    assert (await scenario.post_interaction(2, data, channel_id=thread)).code == 160005
    await scenario.guild.owner.patch(f"/channels/{thread}", {"locked": False, "archived": False})
    await scenario.guild.owner.patch(f"/channels/{thread}", {"archived": True})
    interaction = await scenario.create_interaction(2, data, channel_id=thread)
    assert (interaction["channel"]["id"], "thread_metadata" in interaction["channel"]) == (thread, True)
    message = await scenario.respond_with_message(interaction, 4, {"content": "awake"})
    assert message["channel_id"] == thread
    assert (await scenario.person.get(f"/channels/{thread}")).json["thread_metadata"]["archived"] is False


async def test_age_restricted_commands_need_an_age_restricted_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(nsfw=True)
    assert (await scenario.post_command(command)).errors_at("data.id")
    restricted = await scenario.guild.channel(nsfw=True)
    assert await can_use(scenario, command, channel_id=str(restricted))


async def test_an_outdated_version_of_a_command_is_refused(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    assert (await scenario.post_command(command, version=command["version"])).status == 204
    await scenario.create_command(description="Another")
    stale = await scenario.post_command(command, version=command["version"])
    assert stale.errors_at("data.version") == ["INTERACTION_APPLICATION_COMMAND_INVALID_VERSION"]
    assert (await scenario.post_command(command, type=2)).errors_at("data.type")
    await scenario.app.bot.delete(f"/applications/{scenario.app.id}/commands/{command['id']}")
    assert (await scenario.post_command(command)).code == 10063


async def test_guild_commands_can_be_used_in_their_guild_only(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    path = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands"
    command = (await scenario.app.bot.post(path, {"name": "here", "description": "x"})).json
    interaction = await scenario.use_command(command)
    assert interaction["data"]["guild_id"] == str(scenario.guild.id)
    other = await platform.guild(scenario.person)
    await install(scenario.person, scenario.app, other)
    body: dict[str, Any] = {"guild_id": str(other.id), "channel_id": str(other.general)}
    assert (await scenario.post_interaction(2, {"id": command["id"], "type": 1}, **body)).code == 10063
    # A command cannot be used with the id of another application.
    rival = await create_scenario(platform)
    assert (await rival.post_interaction(2, {"id": command["id"], "type": 1})).code == 10063
    assert (
        await scenario.post_interaction(2, {"id": command["id"], "type": 1}, application_id=rival.app.id)
    ).code == 10063
    assert (await scenario.post_interaction(2, {"id": command["id"], "type": 1}, application_id="1")).code == 10002


async def test_user_and_message_commands_have_a_target(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    path = f"/applications/{scenario.app.id}/commands"
    user = (await scenario.app.bot.post(path, {"name": "High Five", "type": 2})).json
    owner = str(scenario.guild.owner.id)
    interaction = await scenario.use_command(user, target_id=owner)
    assert (interaction["data"]["target_id"], interaction["data"]["type"]) == (owner, 2)
    assert list(interaction["data"]["resolved"]["users"]) == list(interaction["data"]["resolved"]["members"]) == [owner]
    message = await scenario.respond_with_message(interaction, 4, {"content": "five"})
    assert (message["type"], message["interaction_metadata"]["target_user"]["id"]) == (23, owner)
    assert (await scenario.post_command(user, target_id="1")).code == 50035
    assert (await scenario.post_command(user)).errors_at("data.target_id")
    mark = (await scenario.app.bot.post(path, {"name": "Mark it", "type": 3})).json
    said = (await scenario.guild.owner.post(f"{scenario.channel_path}/messages", {"content": "words"})).json
    interaction = await scenario.use_command(mark, target_id=said["id"])
    (target,) = interaction["data"]["resolved"]["messages"].values()
    assert (target["id"], target["content"], target["author"]["id"]) == (said["id"], "words", owner)
    message = await scenario.respond_with_message(interaction, 4, {"content": "marked"})
    assert message["interaction_metadata"]["target_message_id"] == said["id"]
    elsewhere = await scenario.guild.channel()
    there = (await scenario.guild.owner.post(f"/channels/{elsewhere}/messages", {"content": "x"})).json
    assert (await scenario.post_command(mark, target_id=there["id"])).code == 10008


async def test_an_interaction_says_how_large_files_may_be(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    mebibyte = 1 << 20
    for max_upload, expected in ((2 * mebibyte, 2 * mebibyte), (200 * mebibyte, 10 * mebibyte)):
        platform.services.limits = structs.replace(platform.services.limits, max_upload_bytes=max_upload)
        assert (await scenario.use_command(command))["attachment_size_limit"] == expected


async def test_an_interaction_has_its_channel_context_and_permissions(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    assert (interaction["context"], interaction["version"], interaction["locale"], interaction["guild_locale"]) == (
        0,
        1,
        "en-US",
        "en-US",
    )
    assert (interaction["guild_id"], interaction["guild"]["id"]) == (str(scenario.guild.id), str(scenario.guild.id))
    assert (interaction["channel"]["id"], interaction["channel_id"]) == (str(scenario.guild.general),) * 2
    assert (interaction["attachment_size_limit"], interaction["entitlements"]) == (10 * 1024 * 1024, [])
    assert "user" not in interaction
    member = interaction["member"]
    assert int(member["permissions"]) & Permissions.USE_APPLICATION_COMMANDS
    assert {"user", "deaf", "mute", "roles", "joined_at", "nick", "pending"} <= set(member)
    assert int(interaction["app_permissions"]) == Permissions.DEFAULT


async def test_an_application_without_a_bot_in_the_guild_receives_interactions(platform: Platform) -> None:
    scenario = await create_scenario(platform, scope="applications.commands")
    interaction = await scenario.use_command(await scenario.create_command())
    assert interaction["authorizing_integration_owners"] == {"0": str(scenario.guild.id)}
    bits = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
    assert int(interaction["app_permissions"]) == bits
    message = await scenario.respond_with_message(
        interaction, 4, {"content": "hello <@&1> @everyone", "embeds": [{"title": "t"}]}
    )
    assert (await scenario.history())[0]["id"] == message["id"]
    assert message["embeds"][0]["title"] == "t"
    # Removing the integration deletes the commands and the interactions in the guild.
    (integration,) = (await scenario.guild.owner.get(f"/guilds/{scenario.guild.id}/integrations")).json
    deleted = await scenario.guild.owner.delete(f"/guilds/{scenario.guild.id}/integrations/{integration['id']}")
    assert deleted.status == 204
    assert (await scenario.post_command(await scenario.create_command())).code == 10063
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "still here"})).code == 10015


async def test_a_user_installed_command_can_be_used_by_its_user_everywhere(platform: Platform) -> None:
    scenario = await create_scenario(platform, scope="")
    command = await scenario.create_command()
    assert (await scenario.post_command(command)).code == 10063
    await install(scenario.person, scenario.app)
    interaction = await scenario.use_command(command)
    assert interaction["authorizing_integration_owners"] == {"1": str(scenario.person.id)}
    assert (await scenario.post_command(command, scenario.guild.owner)).code == 10063
    # Without USE_EXTERNAL_APPS responses are ephemeral.
    assert (await scenario.respond_with_message(interaction, 4, {"content": "all"}))["flags"] == 0
    for number in range(5):
        assert (
            await platform.anonymous.post(scenario.webhook_path(interaction), {"content": str(number)})
        ).status == 200
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "6"})).code == 40094
    await scenario.guild.owner.put(
        f"{scenario.channel_path}/permissions/{scenario.guild.id}",
        {"type": 0, "deny": str(int(Permissions.USE_EXTERNAL_APPS))},
    )
    shy = await scenario.use_command(command)
    assert (await scenario.respond_with_message(shy, 4, {"content": "psst"}))["flags"] == 64
    late = await scenario.use_command(command)
    assert (await scenario.respond(late, 5)).status == 204
    assert (await platform.anonymous.get(scenario.webhook_path(late, "/messages/@original"))).json["flags"] == 64 | 128
    assert len(await scenario.history()) == 6
    guilds_only = await scenario.create_command(name="guilds", integration_types=[0])
    assert (await scenario.post_command(guilds_only)).code == 10063


async def test_contexts_decide_which_direct_messages_a_command_can_be_used_in(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    person, friend = scenario.person, await platform.person()
    await scenario.guild.join(friend)
    bot_dm = (await person.post("/users/@me/channels", {"recipient_id": str(scenario.app.bot.id)})).json["id"]
    dm = (await person.post("/users/@me/channels", {"recipient_id": str(friend.id)})).json["id"]
    third = await platform.person()
    await scenario.guild.join(third)
    group = (await person.post("/users/@me/channels", {"recipients": [str(friend.id), str(third.id)]})).json["id"]
    command = await scenario.create_command()
    data = {"id": command["id"], "type": 1}
    interaction = await scenario.create_interaction(2, data, guild_id=None, channel_id=bot_dm)
    assert (interaction["context"], interaction["authorizing_integration_owners"]) == (1, {"0": "0"})
    assert (interaction["user"]["id"], "member" in interaction, "guild_id" in interaction) == (
        str(person.id),
        False,
        False,
    )
    assert interaction["channel"]["recipients"][0]["id"] == str(person.id)
    bits = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
    assert int(interaction["app_permissions"]) == bits | Permissions.USE_EXTERNAL_EMOJIS
    answered = await scenario.respond_with_message(interaction, 4, {"content": "hi"})
    assert [m["id"] for m in (await person.get(f"/channels/{bot_dm}/messages")).json] == [answered["id"]]
    # Direct messages with other users have user-installed commands only.
    for channel in (dm, group):
        assert (await scenario.post_interaction(2, data, guild_id=None, channel_id=channel)).code == 10063
    await install(person, scenario.app)
    for channel in (dm, group):
        interaction = await scenario.create_interaction(2, data, guild_id=None, channel_id=channel)
        assert (interaction["context"], interaction["authorizing_integration_owners"]) == (2, {"1": str(person.id)})
        assert int(interaction["app_permissions"]) == bits
        answered = await scenario.respond_with_message(interaction, 4, {"content": "hi"})
        assert [m["id"] for m in (await friend.get(f"/channels/{channel}/messages")).json] == [answered["id"]]
        assert (await scenario.post_interaction(2, data, friend, guild_id=None, channel_id=channel)).code == 10063
    for contexts, where in (([0], bot_dm), ([0, 2], bot_dm), ([0, 1], dm)):
        narrow = await scenario.create_command(name="narrow", contexts=contexts)
        reply = await scenario.post_interaction(2, {"id": narrow["id"], "type": 1}, guild_id=None, channel_id=where)
        assert reply.code == 10063, contexts
    private = await scenario.create_command(name="private", contexts=[1, 2])
    assert (await scenario.post_command(private)).code == 10063


async def test_activities_are_launched_by_the_platform_or_by_the_application(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    await scenario.app.owner.patch(f"/applications/{scenario.app.id}", {"flags": 1 << 17})
    await make_launchable(scenario.app.owner, int(scenario.app.id))
    platform.presences.connect(scenario.person.id, "session")
    (launch,) = (await scenario.app.bot.get(f"/applications/{scenario.app.id}/commands")).json
    before = len(scenario.events(scenario.app.bot.id, "INTERACTION_CREATE"))
    assert (await scenario.post_command(launch)).status == 204
    assert len(scenario.events(scenario.app.bot.id, "INTERACTION_CREATE")) == before
    (done,) = scenario.events(scenario.person.id, "INTERACTION_SUCCESS")
    (message,) = await scenario.history()
    assert (message["author"]["id"], message["interaction_metadata"]["id"]) == (scenario.app.id, done["id"])
    assert "Herald" in message["content"]
    await scenario.app.bot.patch(f"/applications/{scenario.app.id}/commands/{launch['id']}", {"handler": 1})
    interaction = await scenario.use_command(launch)
    assert interaction["data"] == {"id": launch["id"], "name": "Launch", "type": 4}
    reply = await scenario.respond(interaction, 12, with_response=True)
    instance = reply.json["resource"]["activity_instance"]["id"]
    assert reply.json["interaction"]["activity_instance_id"] == instance
    assert reply.json["resource"]["type"] == 12
    await scenario.app.owner.patch(f"/applications/{scenario.app.id}", {"flags": 0})
    assert (await scenario.post_command(launch)).code == 10063


async def test_an_interaction_is_dispatched_to_the_shard_of_its_guild(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    await scenario.use_command(await scenario.create_command())
    interaction = [
        e for e in platform.heard if e.name == "INTERACTION_CREATE" and list(e.user_ids) == [scenario.app.bot.id]
    ]
    # The envelope has no channel, whose viewers alone would receive it: the bot need not be a member.
    assert [(e.guild_id, e.channel_id, e.intent) for e in interaction] == [(scenario.guild.id, None, 0)]
    bot_dm = (await scenario.person.post("/users/@me/channels", {"recipient_id": str(scenario.app.bot.id)})).json["id"]
    command = await scenario.create_command()
    await scenario.create_interaction(2, {"id": command["id"], "type": 1}, guild_id=None, channel_id=bot_dm)
    interaction = [
        e for e in platform.heard if e.name == "INTERACTION_CREATE" and list(e.user_ids) == [scenario.app.bot.id]
    ]
    assert interaction[-1].guild_id is None


async def test_a_response_does_not_reopen_a_thread_that_was_locked_meanwhile(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    thread = (await scenario.person.post(f"{scenario.channel_path}/threads", {"name": "t", "type": 11})).json["id"]
    interaction = await scenario.create_interaction(2, {"id": command["id"], "type": 1}, channel_id=thread)
    owner = scenario.guild.owner
    assert (await owner.patch(f"/channels/{thread}", {"locked": True, "archived": True})).status == 200
    callback = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    refused = await platform.anonymous.post(callback, {"type": 4, "data": {"content": "x"}})
    assert (refused.status, refused.code) == (403, 160005)
    assert (await owner.get(f"/channels/{thread}")).json["thread_metadata"]["archived"] is True
    quiet = await platform.anonymous.post(callback, {"type": 4, "data": {"content": "x", "flags": 64}})
    assert quiet.status == 204
