"""Modify Channel and permission overwrites: fields change only if they are sent."""

import asyncio
from typing import Any

from moothall.objects.permissions import Permissions
from tests.support.harness import ANNOUNCEMENT, CATEGORY, FORUM, TEXT, VOICE, Caller, Guild, Platform

P = Permissions


async def _guild(platform: Platform, **values: Any) -> tuple[Caller, Guild]:
    owner = await platform.person()
    return owner, await platform.guild(owner, **values)


async def test_a_change_is_stored_audited_and_announced_once(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    with platform.listening() as heard:
        reply = await owner.patch(f"/channels/{guild.general}", {"topic": "about", "nsfw": True}, reason="clearer")
    assert reply.status == 200
    assert (reply.json["topic"], reply.json["nsfw"], reply.json["name"]) == ("about", True, "general")
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "CHANNEL_UPDATE"]
    assert platform.heard_data("CHANNEL_UPDATE") == [reply.json]
    [entry] = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert (entry["action_type"], entry["target_id"], entry["reason"]) == (11, str(guild.general), "clearer")
    assert {change["key"]: change.get("new_value") for change in entry["changes"]} == {"topic": "about", "nsfw": True}
    assert (await owner.get(f"/channels/{guild.general}")).json == reply.json


async def test_a_request_that_changes_nothing_is_neither_audited_nor_announced(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    same: list[dict[str, Any]] = [
        {},
        {"name": "General"},
        {"topic": None},
        {"type": TEXT},
        {"permission_overwrites": []},
    ]
    for body in same:
        assert (await owner.patch(f"/channels/{guild.general}", body)).status == 200
    assert platform.heard_names == []
    assert await guild.audit_log() == []


async def test_overwrites_in_another_order_are_no_change(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    role = await guild.role()
    channel = await guild.channel(overwrites=[(guild.id, 0, 0, 1024), (role, 0, 1024, 0)])
    listed = (await owner.get(f"/channels/{channel}")).json["permission_overwrites"]
    assert (await owner.patch(f"/channels/{channel}", {"permission_overwrites": listed[::-1]})).status == 200
    assert platform.heard_names == []


async def test_null_resets_a_field(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category = await guild.channel(type=CATEGORY)
    channel = await guild.channel(topic="old", nsfw=True, rate_limit_per_user=5, parent_id=category)
    reply = await owner.patch(
        f"/channels/{channel}", {"topic": None, "nsfw": None, "rate_limit_per_user": None, "parent_id": None}
    )
    shown = reply.json
    assert (shown["topic"], shown["nsfw"], shown["rate_limit_per_user"], shown["parent_id"]) == (None, False, 0, None)
    assert (await owner.patch(f"/channels/{channel}", {"name": None})).errors_at("name") == ["BASE_TYPE_REQUIRED"]


async def test_fields_require_manage_channels_and_overwrites_also_manage_roles(platform: Platform) -> None:
    _, guild = await _guild(platform)
    channels_only = await guild.member_with(P.MANAGE_CHANNELS)
    roles_only = await guild.member_with(P.MANAGE_ROLES)
    both = await guild.member_with(P.MANAGE_CHANNELS | P.MANAGE_ROLES)
    path = f"/channels/{guild.general}"
    overwrites = {"permission_overwrites": [{"id": str(guild.id), "deny": int(P.SEND_MESSAGES)}]}
    assert (await channels_only.patch(path, {"topic": "x"})).status == 200
    assert (await channels_only.patch(path, overwrites)).code == 50013
    assert (await roles_only.patch(path, overwrites)).code == 50013
    assert (await both.patch(path, overwrites)).status == 200


async def test_unchanged_overwrites_may_have_permissions_that_the_caller_lacks(platform: Platform) -> None:
    _, guild = await _guild(platform)
    both = await guild.member_with(P.MANAGE_CHANNELS | P.MANAGE_ROLES)
    role = await guild.role()
    channel = await guild.channel(overwrites=[(role, 0, P.MANAGE_MESSAGES, 0)])
    kept = {"id": str(role), "type": 0, "allow": str(int(P.MANAGE_MESSAGES))}
    more = {"id": str(guild.id), "type": 0, "deny": str(int(P.SEND_MESSAGES))}
    path = f"/channels/{channel}"
    assert (await both.patch(path, {"permission_overwrites": [kept, more]})).status == 200
    assert (await both.patch(path, {"permission_overwrites": [more]})).code == 50013


async def test_each_changed_overwrite_has_its_own_audit_log_entry(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    first, second = await guild.role(name="first"), await guild.role(name="second")
    channel = await guild.channel(overwrites=[(first, 0, 0, 0), (second, 0, 0, 0)])
    await owner.patch(
        f"/channels/{channel}",
        {
            "permission_overwrites": [
                {"id": str(first), "type": 0, "allow": "1024"},
                {"id": str(guild.id), "type": 0, "deny": "1024"},
            ]
        },
    )
    entries = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert [(e["action_type"], e["options"]["id"], e["options"]["role_name"]) for e in entries] == [
        (14, str(first), "first"),
        (15, str(second), "second"),
        (13, str(guild.id), "@everyone"),
    ]
    assert all(e["target_id"] == str(channel) and e["options"]["type"] == "0" for e in entries)
    assert platform.heard_names.count("CHANNEL_UPDATE") == 1


async def test_only_text_and_announcement_channels_convert_into_each_other(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    path = f"/channels/{guild.general}"
    assert (await owner.patch(path, {"type": ANNOUNCEMENT})).errors_at("type")
    await guild.set(features=["NEWS"])
    assert (await owner.patch(path, {"type": ANNOUNCEMENT})).json["type"] == ANNOUNCEMENT
    assert (await owner.patch(path, {"type": TEXT})).json["type"] == TEXT
    assert (await owner.patch(path, {"type": VOICE})).errors_at("type")
    voice = await guild.channel(type=VOICE)
    assert (await owner.patch(f"/channels/{voice}", {"type": TEXT})).errors_at("type")


async def test_moving_requires_manage_channels_in_the_new_category(platform: Platform) -> None:
    _, guild = await _guild(platform)
    mover = await guild.member_with(P.MANAGE_CHANNELS)
    open_category = await guild.channel(type=CATEGORY)
    closed = await guild.channel(type=CATEGORY, overwrites=[(mover.id, 1, 0, P.MANAGE_CHANNELS)])
    path = f"/channels/{guild.general}"
    assert (await mover.patch(path, {"parent_id": str(closed)})).code == 50001
    assert (await mover.patch(path, {"parent_id": str(open_category)})).status == 200
    assert (await mover.patch(path, {"parent_id": str(guild.general)})).errors_at("parent_id")


async def test_tags_keep_their_ids_and_new_ones_get_one(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY"])
    made = await owner.post(
        f"/guilds/{guild.id}/channels",
        {"name": "x", "type": FORUM, "available_tags": [{"name": "a", "emoji_name": "🐛", "moderated": True}]},
    )
    [tag] = made.json["available_tags"]
    path = f"/channels/{made.json['id']}"
    reply = await owner.patch(path, {"available_tags": [{"name": "new"}, {"id": tag["id"], "name": "renamed"}]})
    new, renamed = reply.json["available_tags"]
    assert new["id"] not in {tag["id"], "0"}
    assert renamed == {**tag, "name": "renamed"}
    assert (await owner.patch(path, {"available_tags": [{"id": "77", "name": "z"}]})).errors_at("available_tags.0.id")
    assert (await owner.patch(path, {"available_tags": None})).json["available_tags"] == []


async def test_only_flags_of_the_type_can_be_set(platform: Platform) -> None:
    owner, guild = await _guild(platform, features=["COMMUNITY"])
    forum = await guild.channel(type=FORUM)
    reply = await owner.patch(f"/channels/{forum}", {"flags": (1 << 4) | (1 << 1) | (1 << 15)})
    assert reply.json["flags"] == 1 << 4
    assert (await owner.patch(f"/channels/{guild.general}", {"flags": 1 << 4})).json["flags"] == 0
    assert (await owner.patch(f"/channels/{guild.general}", {"flags": 1 << 21, "nsfw": True})).errors_at("flags")


async def test_an_overwrite_is_created_updated_and_deleted(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(0)
    path = f"/channels/{guild.general}/permissions/{bob.id}"
    assert (await owner.put(path, {"type": 1, "deny": "1024"}, reason="quiet")).status == 204
    assert (await bob.get(f"/channels/{guild.general}")).code == 50001
    assert (await owner.put(path, {"type": 1, "allow": "1024"})).status == 204
    assert (await owner.put(path, {"type": 1, "allow": "1024"})).status == 204
    assert (await bob.get(f"/channels/{guild.general}")).status == 200
    assert (await owner.delete(path)).status == 204
    assert (await owner.delete(path)).code == 10009
    assert await guild.audit_log() == [
        (13, guild.general, "quiet"),
        (14, guild.general, None),
        (15, guild.general, None),
    ]
    assert platform.heard_names.count("CHANNEL_UPDATE") == 3


async def test_the_target_of_an_overwrite_is_a_role_or_member_of_the_guild(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    stranger = await platform.person()
    other = await platform.guild(stranger)
    for target, kind in ((stranger.id, 1), (other.id, 0), (guild.id, 1), (owner.id, 0), (12, 0)):
        reply = await owner.put(f"/channels/{guild.general}/permissions/{target}", {"type": kind})
        assert (reply.status, reply.code) == (404, 10009)


async def test_an_overwrite_that_allows_manage_roles_permits_changing_all_permissions(
    platform: Platform,
) -> None:
    _, guild = await _guild(platform)
    role = await guild.role()
    plain = await guild.member_with(P.MANAGE_ROLES)
    trusted = await guild.member_with(0)
    channel = await guild.channel(overwrites=[(trusted.id, 1, P.MANAGE_ROLES, 0)])
    path, body = f"/channels/{channel}/permissions/{role}", {"type": 0, "allow": str(int(P.MANAGE_MESSAGES))}
    assert (await plain.put(path, body)).code == 50013
    assert (await trusted.put(path, body)).status == 204
    spread = {"type": 0, "allow": str(int(P.MANAGE_ROLES))}
    assert (await trusted.put(path, spread)).code == 50013


async def test_an_overwrite_with_permissions_that_the_caller_lacks_cannot_be_deleted_to_gain_them(
    platform: Platform,
) -> None:
    _, guild = await _guild(platform)
    role = await guild.role(permissions=P.MANAGE_ROLES)
    moderator = await guild.member_with(P.MANAGE_ROLES)
    for allow, deny in ((0, P.MANAGE_MESSAGES), (P.MANAGE_ROLES, 0)):
        channel = await guild.channel(overwrites=[(role, 0, allow, deny)])
        path = f"/channels/{channel}/permissions/{role}"
        assert (await moderator.delete(path)).code == 50013
        assert (await guild.owner.delete(path)).status == 204
    known = await guild.channel(overwrites=[(role, 0, 0, P.SEND_MESSAGES)])
    assert (await moderator.delete(f"/channels/{known}/permissions/{role}")).status == 204


async def test_overwrites_set_at_the_same_time_all_stay(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    roles = [await guild.role() for _ in range(8)]
    path = f"/channels/{guild.general}/permissions"
    replies = await asyncio.gather(*(owner.put(f"{path}/{role}", {"type": 0, "deny": "1024"}) for role in roles))
    assert {reply.status for reply in replies} == {204}
    shown = (await owner.get(f"/channels/{guild.general}")).json["permission_overwrites"]
    assert sorted(o["id"] for o in shown) == sorted(map(str, roles))
