"""Who uses which command where: permissions, contexts, and for whom an application is installed."""

from typing import Any

import pytest
from sqlalchemy import bindparam, update

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import members
from tests.harness import FORUM, VOICE, Caller, Platform
from tests.resources.interaction.stage import Stage, install, set_stage

_set_member = Query(
    update(members)
    .where(members.c.user_id == bindparam("of_user"))
    .values(pending=bindparam("is_pending"), communication_disabled_until=bindparam("until"))
)


async def say(stage: Stage, command: dict[str, Any] | None, *permissions: tuple[int, int, bool]) -> None:
    """Have the guild say who uses a command, or all of the application's: (id, type, permission)."""
    target = stage.app.id if command is None else command["id"]
    path = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands/{target}/permissions"
    body = {"permissions": [{"id": str(int(i)), "type": kind, "permission": yes} for i, kind, yes in permissions]}
    reply = await stage.guild.owner.put(path, body)
    assert reply.status == 200, reply.body


async def may(stage: Stage, command: dict[str, Any], person: Caller | None = None, **more: Any) -> bool:
    reply = await stage.raise_(2, {"id": command["id"], "type": command["type"]}, person, **more)
    assert reply.status == 204 or reply.code == 50013, reply.body
    return reply.status == 204


async def test_a_commands_own_default_asks_for_permissions(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(default_member_permissions=str(int(Permissions.KICK_MEMBERS)))
    kicker = await stage.guild.member_with(Permissions.KICK_MEMBERS)
    assert not await may(stage, command)
    assert await may(stage, command, kicker)
    closed = await stage.command(name="closed", default_member_permissions="0")
    assert not await may(stage, closed, kicker)
    assert await may(stage, closed, await stage.guild.moderator())
    assert await may(stage, closed, stage.guild.owner)


async def test_what_the_guild_says_goes_before_the_default(platform: Platform) -> None:
    stage = await set_stage(platform)
    guild, role = stage.guild, await stage.guild.role()
    with_role = await platform.person()
    await guild.join(with_role, roles=[role])
    command = await stage.command(default_member_permissions="0")
    await say(stage, command, (guild.id, 1, True))
    assert await may(stage, command)
    await say(stage, command, (guild.id, 1, False), (role, 1, True))
    assert (await may(stage, command), await may(stage, command, with_role)) == (False, True)
    await say(stage, command, (role, 1, True), (with_role.id, 2, False))
    assert not await may(stage, command, with_role)
    # Of all the application's commands those are meant of which nothing is said.
    other = await stage.command(name="other")
    await say(stage, None, (guild.id, 1, False))
    assert not await may(stage, other, with_role)
    await say(stage, command, (role, 1, True))
    assert await may(stage, command, with_role)
    assert await may(stage, other, await guild.moderator())


async def test_channels_are_closed_to_commands_and_their_threads_with_them(platform: Platform) -> None:
    stage = await set_stage(platform)
    guild = stage.guild
    command = await stage.command()
    thread = (await stage.person.post(f"{stage.where}/threads", {"name": "t", "type": 11})).json["id"]
    await say(stage, command, (guild.general, 3, False))
    assert not await may(stage, command)
    assert not await may(stage, command, channel_id=thread)
    elsewhere = str(await guild.channel())
    assert await may(stage, command, channel_id=elsewhere)
    await say(stage, command, (guild.id - 1, 3, False), (guild.general, 3, True))
    assert await may(stage, command)
    assert not await may(stage, command, channel_id=elsewhere)
    assert await may(stage, command, guild.owner, channel_id=elsewhere)


async def test_a_member_needs_the_permission_to_use_commands(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    denied = await stage.guild.channel(overwrites=[(stage.guild.id, 0, 0, Permissions.USE_APPLICATION_COMMANDS)])
    hidden = await stage.guild.channel(overwrites=[(stage.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    data = {"id": command["id"], "type": 1}
    assert (await stage.raise_(2, data, channel_id=str(denied))).code == 50013
    assert (await stage.raise_(2, data, channel_id=str(hidden))).code == 50001
    assert (await stage.raise_(2, data, await platform.person())).code == 50001
    assert (await stage.raise_(2, data, channel_id="1")).code == 10003
    assert (await stage.raise_(2, data, guild_id=str(stage.guild.id + 1))).errors_at("guild_id")
    bot = await platform.bot(stage.guild.owner)
    await stage.guild.join(bot)
    assert (await stage.raise_(2, data, bot)).code == 20001


@pytest.mark.parametrize(("pending", "until"), [(True, None), (False, 4_000_000_000_000)])
async def test_who_is_restricted_uses_nothing(platform: Platform, pending: bool, until: int | None) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    row = [{"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}]
    message = await stage.posted(row)
    async with platform.database.transaction() as tx:
        moment = None if until is None else Timestamp(until)
        await tx.execute(_set_member, of_user=stage.person.id, is_pending=pending, until=moment)
    assert not await may(stage, command)
    assert (await stage.click(message, "go")).code == 50013


async def test_where_no_message_can_be_no_command_is_used(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    data = {"id": command["id"], "type": 1}
    forum, category = await stage.guild.channel(type=FORUM), await stage.guild.channel(type=4)
    assert (await stage.raise_(2, data, channel_id=str(forum))).code == 40058
    assert (await stage.raise_(2, data, channel_id=str(category))).code == 50008
    voice = await stage.guild.channel(type=VOICE, overwrites=[(stage.guild.id, 0, 0, Permissions.CONNECT)])
    assert (await stage.raise_(2, data, channel_id=str(voice))).code == 50013
    thread = (await stage.person.post(f"{stage.where}/threads", {"name": "t", "type": 11})).json["id"]
    await stage.guild.owner.patch(f"/channels/{thread}", {"locked": True, "archived": True})
    assert (await stage.raise_(2, data, channel_id=thread)).code == 160005
    await stage.guild.owner.patch(f"/channels/{thread}", {"locked": False, "archived": False})
    await stage.guild.owner.patch(f"/channels/{thread}", {"archived": True})
    told = await stage.raised(2, data, channel_id=thread)
    assert (told["channel"]["id"], "thread_metadata" in told["channel"]) == (thread, True)
    message = await stage.shown(told, 4, {"content": "awake"})
    assert message["channel_id"] == thread
    assert (await stage.person.get(f"/channels/{thread}")).json["thread_metadata"]["archived"] is False


async def test_age_restricted_commands_are_for_age_restricted_channels(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(nsfw=True)
    assert (await stage.use(command)).errors_at("data.id")
    restricted = await stage.guild.channel(nsfw=True)
    assert await may(stage, command, channel_id=str(restricted))


async def test_a_command_that_has_changed_since_is_used_by_nobody(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    assert (await stage.use(command, version=command["version"])).status == 204
    await stage.command(description="Another")
    stale = await stage.use(command, version=command["version"])
    assert stale.errors_at("data.version") == ["INTERACTION_APPLICATION_COMMAND_INVALID_VERSION"]
    assert (await stage.use(command, type=2)).errors_at("data.type")
    await stage.app.bot.delete(f"/applications/{stage.app.id}/commands/{command['id']}")
    assert (await stage.use(command)).code == 10063


async def test_commands_of_a_guild_are_used_in_it_alone(platform: Platform) -> None:
    stage = await set_stage(platform)
    path = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands"
    command = (await stage.app.bot.post(path, {"name": "here", "description": "x"})).json
    told = await stage.used(command)
    assert told["data"]["guild_id"] == str(stage.guild.id)
    other = await platform.guild(stage.person)
    await install(stage.person, stage.app, other)
    body: dict[str, Any] = {"guild_id": str(other.id), "channel_id": str(other.general)}
    assert (await stage.raise_(2, {"id": command["id"], "type": 1}, **body)).code == 10063
    # And one application's are not another's.
    rival = await set_stage(platform)
    assert (await rival.raise_(2, {"id": command["id"], "type": 1})).code == 10063
    assert (await stage.raise_(2, {"id": command["id"], "type": 1}, application_id=rival.app.id)).code == 10063
    assert (await stage.raise_(2, {"id": command["id"], "type": 1}, application_id="1")).code == 10002


async def test_user_and_message_commands_have_a_target(platform: Platform) -> None:
    stage = await set_stage(platform)
    path = f"/applications/{stage.app.id}/commands"
    user = (await stage.app.bot.post(path, {"name": "High Five", "type": 2})).json
    owner = str(stage.guild.owner.id)
    told = await stage.used(user, target_id=owner)
    assert (told["data"]["target_id"], told["data"]["type"]) == (owner, 2)
    assert list(told["data"]["resolved"]["users"]) == list(told["data"]["resolved"]["members"]) == [owner]
    message = await stage.shown(told, 4, {"content": "five"})
    assert (message["type"], message["interaction_metadata"]["target_user"]["id"]) == (23, owner)
    assert (await stage.use(user, target_id="1")).code == 50035
    assert (await stage.use(user)).errors_at("data.target_id")
    mark = (await stage.app.bot.post(path, {"name": "Mark it", "type": 3})).json
    said = (await stage.guild.owner.post(f"{stage.where}/messages", {"content": "words"})).json
    told = await stage.used(mark, target_id=said["id"])
    (found,) = told["data"]["resolved"]["messages"].values()
    assert (found["id"], found["content"], found["author"]["id"]) == (said["id"], "words", owner)
    message = await stage.shown(told, 4, {"content": "marked"})
    assert message["interaction_metadata"]["target_message_id"] == said["id"]
    elsewhere = await stage.guild.channel()
    there = (await stage.guild.owner.post(f"/channels/{elsewhere}/messages", {"content": "x"})).json
    assert (await stage.use(mark, target_id=there["id"])).code == 10008


async def test_an_interaction_says_where_it_happens_and_what_may_be_done_there(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    assert (told["context"], told["version"], told["locale"], told["guild_locale"]) == (0, 1, "en-US", "en-US")
    assert (told["guild_id"], told["guild"]["id"]) == (str(stage.guild.id), str(stage.guild.id))
    assert (told["channel"]["id"], told["channel_id"]) == (str(stage.guild.general),) * 2
    assert (told["attachment_size_limit"], told["entitlements"]) == (10 * 1024 * 1024, [])
    assert "user" not in told
    member = told["member"]
    assert int(member["permissions"]) & Permissions.USE_APPLICATION_COMMANDS
    assert {"user", "deaf", "mute", "roles", "joined_at", "nick", "pending"} <= set(member)
    assert int(told["app_permissions"]) == Permissions.DEFAULT


async def test_an_application_without_a_bot_in_the_guild_is_told_all_the_same(platform: Platform) -> None:
    stage = await set_stage(platform, scope="applications.commands")
    told = await stage.used(await stage.command())
    assert told["authorizing_integration_owners"] == {"0": str(stage.guild.id)}
    bits = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
    assert int(told["app_permissions"]) == bits
    message = await stage.shown(told, 4, {"content": "hello <@&1> @everyone", "embeds": [{"title": "t"}]})
    assert (await stage.history())[0]["id"] == message["id"]
    assert message["embeds"][0]["title"] == "t"
    # It leaves, and with it go its commands here and its words.
    (integration,) = (await stage.guild.owner.get(f"/guilds/{stage.guild.id}/integrations")).json
    gone = await stage.guild.owner.delete(f"/guilds/{stage.guild.id}/integrations/{integration['id']}")
    assert gone.status == 204
    assert (await stage.use(await stage.command())).code == 10063
    assert (await platform.nobody.post(stage.hook(told), {"content": "still here"})).code == 10015


async def test_what_is_installed_to_a_person_is_theirs_everywhere(platform: Platform) -> None:
    stage = await set_stage(platform, scope="")
    command = await stage.command()
    assert (await stage.use(command)).code == 10063
    await install(stage.person, stage.app)
    told = await stage.used(command)
    assert told["authorizing_integration_owners"] == {"1": str(stage.person.id)}
    assert (await stage.use(command, stage.guild.owner)).code == 10063
    # Without USE_EXTERNAL_APPS nobody else sees the answer.
    assert (await stage.shown(told, 4, {"content": "all"}))["flags"] == 0
    for number in range(5):
        assert (await platform.nobody.post(stage.hook(told), {"content": str(number)})).status == 200
    assert (await platform.nobody.post(stage.hook(told), {"content": "6"})).code == 40094
    await stage.guild.owner.put(
        f"{stage.where}/permissions/{stage.guild.id}", {"type": 0, "deny": str(int(Permissions.USE_EXTERNAL_APPS))}
    )
    shy = await stage.used(command)
    assert (await stage.shown(shy, 4, {"content": "psst"}))["flags"] == 64
    late = await stage.used(command)
    assert (await stage.answer(late, 5)).status == 204
    assert (await platform.nobody.get(stage.hook(late, "/messages/@original"))).json["flags"] == 64 | 128
    assert len(await stage.history()) == 6
    guilds_only = await stage.command(name="guilds", integration_types=[0])
    assert (await stage.use(guilds_only)).code == 10063


async def test_commands_are_used_in_direct_messages_as_their_contexts_say(platform: Platform) -> None:
    stage = await set_stage(platform)
    person, friend = stage.person, await platform.person()
    await stage.guild.join(friend)
    bot_dm = (await person.post("/users/@me/channels", {"recipient_id": str(stage.app.bot.id)})).json["id"]
    dm = (await person.post("/users/@me/channels", {"recipient_id": str(friend.id)})).json["id"]
    third = await platform.person()
    await stage.guild.join(third)
    group = (await person.post("/users/@me/channels", {"recipients": [str(friend.id), str(third.id)]})).json["id"]
    command = await stage.command()
    data = {"id": command["id"], "type": 1}
    told = await stage.raised(2, data, guild_id=None, channel_id=bot_dm)
    assert (told["context"], told["authorizing_integration_owners"]) == (1, {"0": "0"})
    assert (told["user"]["id"], "member" in told, "guild_id" in told) == (str(person.id), False, False)
    assert told["channel"]["recipients"][0]["id"] == str(person.id)
    bits = Permissions.ATTACH_FILES | Permissions.EMBED_LINKS | Permissions.MENTION_EVERYONE
    assert int(told["app_permissions"]) == bits | Permissions.USE_EXTERNAL_EMOJIS
    answered = await stage.shown(told, 4, {"content": "hi"})
    assert [m["id"] for m in (await person.get(f"/channels/{bot_dm}/messages")).json] == [answered["id"]]
    # Among people only what is one's own is there.
    for channel in (dm, group):
        assert (await stage.raise_(2, data, guild_id=None, channel_id=channel)).code == 10063
    await install(person, stage.app)
    for channel in (dm, group):
        told = await stage.raised(2, data, guild_id=None, channel_id=channel)
        assert (told["context"], told["authorizing_integration_owners"]) == (2, {"1": str(person.id)})
        assert int(told["app_permissions"]) == bits
        answered = await stage.shown(told, 4, {"content": "hi"})
        assert [m["id"] for m in (await friend.get(f"/channels/{channel}/messages")).json] == [answered["id"]]
        assert (await stage.raise_(2, data, friend, guild_id=None, channel_id=channel)).code == 10063
    for contexts, where in (([0], bot_dm), ([0, 2], bot_dm), ([0, 1], dm)):
        narrow = await stage.command(name="narrow", contexts=contexts)
        reply = await stage.raise_(2, {"id": narrow["id"], "type": 1}, guild_id=None, channel_id=where)
        assert reply.code == 10063, contexts
    private = await stage.command(name="private", contexts=[1, 2])
    assert (await stage.use(private)).code == 10063


async def test_activities_are_launched_by_the_platform_or_by_their_application(platform: Platform) -> None:
    stage = await set_stage(platform)
    await stage.app.owner.patch(f"/applications/{stage.app.id}", {"flags": 1 << 17})
    (launch,) = (await stage.app.bot.get(f"/applications/{stage.app.id}/commands")).json
    before = len(stage.heard(stage.app.bot.id, "INTERACTION_CREATE"))
    assert (await stage.use(launch)).status == 204
    assert len(stage.heard(stage.app.bot.id, "INTERACTION_CREATE")) == before
    (done,) = stage.heard(stage.person.id, "INTERACTION_SUCCESS")
    (message,) = await stage.history()
    assert (message["author"]["id"], message["interaction_metadata"]["id"]) == (stage.app.id, done["id"])
    assert "Herald" in message["content"]
    await stage.app.bot.patch(f"/applications/{stage.app.id}/commands/{launch['id']}", {"handler": 1})
    told = await stage.used(launch)
    assert told["data"] == {"id": launch["id"], "name": "Launch", "type": 4}
    reply = await stage.answer(told, 12, with_response=True)
    instance = reply.json["resource"]["activity_instance"]["id"]
    assert reply.json["interaction"]["activity_instance_id"] == instance
    assert reply.json["resource"]["type"] == 12
    await stage.app.owner.patch(f"/applications/{stage.app.id}", {"flags": 0})
    assert (await stage.use(launch)).code == 10063


async def test_an_interaction_is_told_to_the_shard_of_its_guild(platform: Platform) -> None:
    stage = await set_stage(platform)
    await stage.used(await stage.command())
    told = [e for e in platform.heard if e.name == "INTERACTION_CREATE" and list(e.user_ids) == [stage.app.bot.id]]
    # Whoever is named hears it in or out of the guild: it has no channel, whose viewers alone would.
    assert [(e.guild_id, e.channel_id, e.intent) for e in told] == [(stage.guild.id, 0, 0)]
    bot_dm = (await stage.person.post("/users/@me/channels", {"recipient_id": str(stage.app.bot.id)})).json["id"]
    command = await stage.command()
    await stage.raised(2, {"id": command["id"], "type": 1}, guild_id=None, channel_id=bot_dm)
    told = [e for e in platform.heard if e.name == "INTERACTION_CREATE" and list(e.user_ids) == [stage.app.bot.id]]
    assert told[-1].guild_id == 0
