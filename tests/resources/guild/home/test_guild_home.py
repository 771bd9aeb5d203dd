"""The new member welcome (public description: new member welcome)."""

from typing import Any

import pytest

from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from tests.support.harness import CATEGORY, Caller, Guild, Platform


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


def url(guild: Guild) -> str:
    return f"/guilds/{guild.id}/new-member-welcome"


def settings(guild: Guild, **more: Any) -> dict[str, Any]:
    channel = str(guild.general)
    return {
        "enabled": True,
        "welcome_message": {"author_ids": [str(guild.owner.id)], "message": " Be kind "},
        "new_member_actions": [
            {"channel_id": channel, "action_type": 1, "title": "Say hello", "emoji_name": "👋"},
            {"channel_id": channel, "title": "Look", "description": "around"},
        ],
        "resource_channels": [{"channel_id": channel, "title": "Rules", "description": "Read them"}],
        **more,
    }


async def test_the_welcome_is_stored_recorded_and_shown_to_members(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    reply = await owner.put(url(guild), settings(guild), reason="newcomers")
    assert reply.status == 200
    none = {"id": None, "name": None, "animated": False}
    assert reply.json == {
        "guild_id": str(guild.id),
        "enabled": True,
        "welcome_message": {"author_ids": [str(owner.id)], "message": "Be kind"},
        "new_member_actions": [
            {
                "channel_id": str(guild.general),
                "action_type": 1,
                "title": "Say hello",
                "description": "",
                "emoji": {**none, "name": "👋"},
            },
            {
                "channel_id": str(guild.general),
                "action_type": 0,
                "title": "Look",
                "description": "around",
                "emoji": none,
            },
        ],
        "resource_channels": [
            {"channel_id": str(guild.general), "title": "Rules", "description": "Read them", "emoji": none}
        ],
    }
    member = await guild.member_with(0)
    assert (await member.get(url(guild))).json == reply.json
    assert (await owner.put(url(guild), {"welcome_message": None}, reason="less")).json["enabled"] is True
    assert "welcome_message" not in (await member.get(url(guild))).json
    assert (await owner.put(url(guild), {"enabled": True}, reason="again")).status == 200
    assert await guild.audit_log() == [(190, guild.id, "newcomers"), (191, guild.id, "less")]
    changes = [entry["changes"] for entry in platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")]
    assert [c["key"] for c in changes[0]] == ["enabled", "welcome_message", "new_member_actions", "resource_channels"]
    assert [(c["key"], "new_value" in c) for c in changes[1]] == [("welcome_message", False)]


async def test_without_a_welcome_and_while_it_is_disabled_the_response_is_empty(owner: Caller, guild: Guild) -> None:
    member, keeper = await guild.member_with(0), await guild.member_with(Permissions.MANAGE_GUILD)
    assert (await owner.get(url(guild))).status == 204
    await owner.put(url(guild), settings(guild, enabled=False))
    assert (await member.get(url(guild))).status == 204
    assert (await keeper.get(url(guild))).json["enabled"] is False


async def test_a_deleted_channel_is_left_out(owner: Caller, guild: Guild) -> None:
    doomed = str(await guild.channel())
    resources = [{"channel_id": doomed, "title": "Old"}, {"channel_id": str(guild.general), "title": "New"}]
    await owner.put(url(guild), settings(guild, resource_channels=resources))
    assert (await owner.delete(f"/channels/{doomed}")).status == 200
    assert [c["title"] for c in (await owner.get(url(guild))).json["resource_channels"]] == ["New"]


async def test_references_to_another_guild_are_reported_by_field_and_change_nothing(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    other = await platform.guild(await platform.person())
    category = await guild.channel(type=CATEGORY)
    platform.heard.clear()
    shown = {"channel_id": str(guild.general), "title": "x"}
    for field, value, path in (
        ("resource_channels", [{**shown, "channel_id": str(other.general)}], "resource_channels.0.channel_id"),
        ("resource_channels", [{**shown, "channel_id": str(category)}], "resource_channels.0.channel_id"),
        ("resource_channels", [{**shown, "title": " "}], "resource_channels.0.title"),
        ("resource_channels", [shown] * 8, "resource_channels"),
        ("new_member_actions", [shown] * 6, "new_member_actions"),
        ("new_member_actions", [{**shown, "action_type": 2}], "new_member_actions.0.action_type"),
        ("new_member_actions", [{**shown, "emoji_id": "1"}], "new_member_actions.0.emoji_id"),
        ("welcome_message", {"author_ids": ["1"], "message": "x"}, "welcome_message.author_ids.0"),
        ("welcome_message", {"author_ids": [], "message": "x"}, "welcome_message.author_ids"),
        ("welcome_message", {"author_ids": [str(owner.id)], "message": " "}, "welcome_message.message"),
    ):
        reply = await owner.put(url(guild), {field: value})
        assert (reply.status, reply.code) == (400, 50035)
        assert reply.errors_at(path), reply.body
    assert (await owner.get(url(guild))).status == 204
    assert platform.heard == []


async def test_a_member_completes_actions_one_by_one_which_sets_their_flags(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    rules = str(await guild.channel())
    actions = [{"channel_id": channel, "title": "Look"} for channel in (str(guild.general), rules)]
    await owner.put(url(guild), settings(guild, new_member_actions=actions))
    bob = await guild.member_with(0)
    progress, action = f"/guilds/{guild.id}/new-member-actions", f"/guilds/{guild.id}/new-member-action"
    assert (await bob.get(progress)).status == 204
    with platform.listening() as heard:
        first = await bob.post(f"{action}/{rules}")
    assert first.status == 200
    assert first.json == {
        "guild_id": str(guild.id),
        "user_id": str(bob.id),
        "channel_actions": {rules: {"completed": True}},
    }
    assert (await bob.get(progress)).json == first.json
    assert heard == ["GUILD_MEMBER_UPDATE"]
    assert platform.heard_data("GUILD_MEMBER_UPDATE")[-1]["flags"] == MemberFlags.STARTED_HOME_ACTIONS
    with platform.listening() as heard:
        assert (await bob.post(f"{action}/{rules}")).json == first.json
    assert heard == []
    both = (await bob.post(f"{action}/{guild.general}")).json["channel_actions"]
    assert set(both) == {rules, str(guild.general)}
    flags = (await owner.get(f"/guilds/{guild.id}/members/{bob.id}")).json["flags"]
    assert flags == MemberFlags.STARTED_HOME_ACTIONS | MemberFlags.COMPLETED_HOME_ACTIONS
    assert (await owner.get(progress)).status == 204


async def test_only_actions_of_an_enabled_welcome_in_visible_channels_are_completed(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    hidden = str(await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)]))
    other = await platform.guild(owner)
    actions = [{"channel_id": channel, "title": "Look"} for channel in (str(guild.general), hidden)]
    await owner.put(url(guild), settings(guild, new_member_actions=actions))
    bob, bot, plain = await guild.member_with(0), await platform.bot(owner), str(await guild.channel())
    await guild.join(bot)
    platform.heard.clear()
    action = f"/guilds/{guild.id}/new-member-action"
    assert (await bob.post(f"{action}/{hidden}")).code == 50001
    assert (await bob.post(f"{action}/{plain}")).code == 10003
    assert (await bob.post(f"{action}/{other.general}")).code == 10003
    assert (await bot.post(f"{action}/{guild.general}")).code == 20001
    await owner.put(url(guild), {"enabled": False})
    assert (await bob.post(f"{action}/{guild.general}")).code == 10003
    assert "GUILD_MEMBER_UPDATE" not in platform.heard_names
    assert (await bob.get(f"/guilds/{guild.id}/new-member-actions")).status == 204


async def test_who_leaves_begins_the_actions_anew(owner: Caller, guild: Guild) -> None:
    await owner.put(url(guild), settings(guild))
    bob = await guild.member_with(0)
    await bob.post(f"/guilds/{guild.id}/new-member-action/{guild.general}")
    await bob.delete(f"/users/@me/guilds/{guild.id}")
    await guild.join(bob)
    assert (await bob.get(f"/guilds/{guild.id}/new-member-actions")).status == 204
