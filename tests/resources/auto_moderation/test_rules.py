"""Auto moderation rules: creating, changing and deleting them (resources: auto moderation)."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import auto_moderation_rules
from tests.resources.auto_moderation.rules import (
    KEYWORD,
    MENTIONS,
    PRESET,
    PROFILE,
    SPAM,
    alert_to,
    body_of,
    create_rule,
    timeout_for,
)
from tests.support.harness import CATEGORY, VOICE, Caller, Guild, Platform, Reply

REGEX, REPEATED = "AUTO_MODERATION_INVALID_REGEX", "SET_TYPE_ALREADY_CONTAINS_VALUE"
AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
RULE_IDS = Query(select(auto_moderation_rules.c.id))
LONG_MESSAGE = {"type": 1, "metadata": {"custom_message": "x" * 301}}
CREATED, CHANGED, DELETED = (f"AUTO_MODERATION_RULE_{what}" for what in ("CREATE", "UPDATE", "DELETE"))


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def create(caller: Caller, guild: Guild, body: dict[str, Any], **options: Any) -> Reply:
    return await caller.post(f"/guilds/{guild.id}/auto-moderation/rules", body, **options)


async def change(guild: Guild, rule: dict[str, Any], body: dict[str, Any], **options: Any) -> Reply:
    return await guild.owner.patch(f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}", body, **options)


async def test_a_rule_is_stored_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    role = await guild.role()
    body = body_of(
        trigger_metadata={"keyword_filter": ["cat*", "cat*", "the mat"], "regex_patterns": ["(b|c)at"]},
        actions=[{"type": 1, "metadata": {"custom_message": "No!"}}, alert_to(guild.general), timeout_for(60)],
        exempt_roles=[str(int(role))],
        exempt_channels=[str(int(guild.general))],
    )
    reply = await create(owner, guild, body, reason="allergies")
    assert reply.status == 200
    rule = reply.json
    assert rule == {
        "id": rule["id"],
        "guild_id": str(int(guild.id)),
        "name": "No cats",
        "creator_id": str(int(owner.id)),
        "event_type": 1,
        "trigger_type": 1,
        "trigger_metadata": {
            "keyword_filter": ["cat*", "the mat"],
            "regex_patterns": ["(b|c)at"],
            "allow_list": [],
        },
        "actions": [
            {"type": 1, "metadata": {"custom_message": "No!"}},
            alert_to(guild.general),
            timeout_for(60),
        ],
        "enabled": True,
        "exempt_roles": [str(int(role))],
        "exempt_channels": [str(int(guild.general))],
    }
    assert platform.heard_names == [AUDIT, CREATED]
    assert platform.heard_data(CREATED) == [rule]
    assert await guild.audit_log() == [(140, int(rule["id"]), "allergies")]
    changes = {change["key"]: change["new_value"] for change in platform.heard_data(AUDIT)[0]["changes"]}
    names = ("name", "event_type", "trigger_type", "actions", "enabled", "exempt_roles", "exempt_channels")
    assert changes == {name: rule[name] for name in (*names, "trigger_metadata")}
    path = f"/guilds/{guild.id}/auto-moderation/rules"
    assert (await owner.get(path)).json == [rule]
    assert (await owner.get(f"{path}/{rule['id']}")).json == rule
    assert (await owner.get(f"/guilds/{guild.id}/audit-logs")).json["auto_moderation_rules"] == [rule]


@pytest.mark.parametrize(
    ("trigger_type", "metadata", "stored", "action"),
    [
        (KEYWORD, None, {"keyword_filter": [], "regex_patterns": [], "allow_list": []}, 1),
        (SPAM, {"presets": [1]}, {}, 1),
        (PRESET, {"presets": [1, 3], "keyword_filter": None}, {"presets": [1, 3], "allow_list": []}, 1),
        (MENTIONS, None, {"mention_total_limit": 20, "mention_raid_protection_enabled": False}, 1),
        (
            MENTIONS,
            {"mention_total_limit": 0, "mention_raid_protection_enabled": True},
            {"mention_total_limit": 0, "mention_raid_protection_enabled": True},
            1,
        ),
        (PROFILE, {"allow_list": ["c"]}, {"keyword_filter": [], "regex_patterns": [], "allow_list": ["c"]}, 4),
    ],
)
async def test_each_trigger_type_has_its_metadata_and_its_default_action(
    owner: Caller, guild: Guild, trigger_type: int, metadata: Any, stored: dict[str, Any], action: int
) -> None:
    body = body_of(trigger_type, trigger_metadata=metadata)
    del body["enabled"]
    reply = await create(owner, guild, body)
    assert reply.status == 200
    assert reply.json["trigger_metadata"] == stored
    assert reply.json["actions"] == [{"type": action, "metadata": {}}]
    assert reply.json["enabled"] is False


@pytest.mark.parametrize(
    ("fields", "at", "code"),
    [
        ({"name": ""}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": " "}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"name": "x" * 101}, "name", "BASE_TYPE_BAD_LENGTH"),
        ({"event_type": 2}, "event_type", "BASE_TYPE_CHOICES"),
        ({"event_type": 3}, "event_type", "BASE_TYPE_CHOICES"),
        ({"trigger_type": 2}, "trigger_type", "BASE_TYPE_CHOICES"),
        ({"trigger_type": PRESET, "trigger_metadata": None}, "trigger_metadata", "BASE_TYPE_REQUIRED"),
        ({"actions": []}, "actions", "BASE_TYPE_BAD_LENGTH"),
        ({"actions": [{"type": 1}] * 2}, "actions.1.type", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
        ({"actions": [{"type": 4}]}, "actions.0.type", "BASE_TYPE_CHOICES"),
        ({"actions": [{"type": 2}]}, "actions.0.metadata.channel_id", "BASE_TYPE_REQUIRED"),
        ({"actions": [alert_to(1)]}, "actions.0.metadata.channel_id", "BASE_TYPE_CHOICES"),
        ({"actions": [timeout_for(2_419_201)]}, "actions.0.metadata.duration_seconds", "NUMBER_TYPE_MAX"),
        ({"actions": [LONG_MESSAGE]}, "actions.0.metadata.custom_message", "BASE_TYPE_MAX_LENGTH"),
        ({"trigger_type": SPAM, "actions": [timeout_for(60)]}, "actions.0.type", "BASE_TYPE_CHOICES"),
        ({"exempt_roles": ["1"]}, "exempt_roles.0", "BASE_TYPE_CHOICES"),
        ({"exempt_roles": ["1"] * 21}, "exempt_roles", "BASE_TYPE_MAX_LENGTH"),
        ({"exempt_channels": ["1"]}, "exempt_channels.0", "BASE_TYPE_CHOICES"),
        ({"exempt_channels": ["1", "1"]}, "exempt_channels.1", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
    ],
)  # fmt: skip
async def test_a_refused_rule_names_the_field_and_leaves_nothing(
    platform: Platform, owner: Caller, guild: Guild, fields: dict[str, Any], at: str, code: str
) -> None:
    reply = await create(owner, guild, body_of(**fields))
    assert (reply.status, reply.code, reply.errors_at(at)) == (400, 50035, [code]), reply.json
    assert (platform.heard, await guild.audit_log()) == ([], [])
    assert (await owner.get(f"/guilds/{guild.id}/auto-moderation/rules")).json == []


@pytest.mark.parametrize(
    ("trigger_type", "metadata", "at", "code"),
    [
        (KEYWORD, {"keyword_filter": ["x"] * 1001}, "keyword_filter", "BASE_TYPE_MAX_LENGTH"),
        (KEYWORD, {"keyword_filter": ["x" * 61]}, "keyword_filter.0", "BASE_TYPE_BAD_LENGTH"),
        (KEYWORD, {"keyword_filter": ["ok", "**"]}, "keyword_filter.1", "BASE_TYPE_BAD_LENGTH"),
        (KEYWORD, {"regex_patterns": ["x"] * 11}, "regex_patterns", "BASE_TYPE_MAX_LENGTH"),
        (KEYWORD, {"regex_patterns": ["x" * 261]}, "regex_patterns.0", "BASE_TYPE_BAD_LENGTH"),
        (KEYWORD, {"regex_patterns": ["x", "("]}, "regex_patterns.1", REGEX),
        (KEYWORD, {"regex_patterns": [r"(a)\1"]}, "regex_patterns.0", REGEX),
        (KEYWORD, {"regex_patterns": [r"(\pL{9}){99}"]}, "regex_patterns.0", REGEX),
        (KEYWORD, {"allow_list": ["x"] * 101}, "allow_list", "BASE_TYPE_MAX_LENGTH"),
        (PRESET, {"presets": [1, 1]}, "presets.1", REPEATED),
        (PRESET, {"presets": [4]}, "presets.0", "BASE_TYPE_CHOICES"),
        (MENTIONS, {"mention_total_limit": 51}, "mention_total_limit", "NUMBER_TYPE_MAX"),
    ],
)
async def test_refused_trigger_metadata_names_the_field(
    platform: Platform, owner: Caller, guild: Guild, trigger_type: int, metadata: dict[str, Any], at: str, code: str
) -> None:
    reply = await create(owner, guild, body_of(trigger_type, trigger_metadata=metadata))
    assert (reply.status, reply.code, reply.errors_at(f"trigger_metadata.{at}")) == (400, 50035, [code]), reply.json
    assert (platform.heard, await guild.audit_log()) == ([], [])


@pytest.mark.parametrize("kind", [CATEGORY, VOICE])
async def test_alerts_go_to_channels_with_messages(owner: Caller, guild: Guild, kind: int) -> None:
    reply = await create(owner, guild, body_of(actions=[alert_to(await guild.channel(type=kind))]))
    assert reply.status == (200 if kind == VOICE else 400)


@pytest.mark.parametrize(
    ("trigger_type", "maximum"), [(KEYWORD, 6), (SPAM, 1), (PRESET, 1), (MENTIONS, 1), (PROFILE, 1)]
)
async def test_a_guild_has_so_many_rules_of_a_trigger_type(
    owner: Caller, guild: Guild, trigger_type: int, maximum: int
) -> None:
    for _ in range(maximum - 1):
        await create_rule(guild, trigger_type)
    replies = await asyncio.gather(*(create(owner, guild, body_of(trigger_type)) for _ in range(2)))
    assert sorted(reply.status for reply in replies) == [200, 400]
    reply = await create(owner, guild, body_of(trigger_type))
    assert (reply.code, reply.json["errors"]["_errors"][0]["code"]) == (
        50035,
        "AUTO_MODERATION_MAX_RULES_OF_TYPE_EXCEEDED",
    )
    assert (await create(owner, guild, body_of(SPAM if trigger_type == KEYWORD else KEYWORD))).status == 200


@pytest.mark.parametrize(("trigger_type", "action"), [(KEYWORD, timeout_for(60)), (PROFILE, {"type": 4})])
async def test_actions_on_members_require_moderate_members(guild: Guild, trigger_type: int, action: Any) -> None:
    manager = await guild.member_with(Permissions.MANAGE_GUILD)
    body = body_of(trigger_type, actions=[action])
    reply = await create(manager, guild, body)
    assert (reply.status, reply.code) == (403, 50013)
    moderator = await guild.member_with(Permissions.MANAGE_GUILD | Permissions.MODERATE_MEMBERS)
    rule = (await create(moderator, guild, body)).json
    path = f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}"
    assert (await manager.patch(path, {"name": "renamed", "actions": [action]})).status == 200
    other = [alert_to(guild.general)]
    assert (await manager.patch(path, {"actions": other})).status == 200
    assert (await manager.patch(path, {"actions": [action]})).status == 403


async def test_a_change_keeps_what_it_leaves_out_and_records_the_rest(platform: Platform, guild: Guild) -> None:
    metadata = {"keyword_filter": ["cat", "dog"], "regex_patterns": ["x"], "allow_list": ["cats"]}
    rule = await create_rule(guild, trigger_metadata=metadata)
    platform.heard.clear()
    body = {"name": "Pets", "trigger_metadata": {"keyword_filter": ["dog", "eel"], "allow_list": None}, "enabled": None}
    reply = await change(guild, rule, body, reason="more")
    after = rule | {
        "name": "Pets",
        "enabled": False,
        "trigger_metadata": {"keyword_filter": ["dog", "eel"], "regex_patterns": ["x"], "allow_list": []},
    }
    assert (reply.status, reply.json) == (200, after)
    assert platform.heard_names == [CHANGED, AUDIT]
    assert platform.heard_data(CHANGED) == [after]
    assert (await guild.audit_log())[-1] == (141, int(rule["id"]), "more")
    changes = {item.pop("key"): item for item in platform.heard_data(AUDIT)[0]["changes"]}
    assert changes == {
        "name": {"old_value": "No cats", "new_value": "Pets"},
        "enabled": {"old_value": True, "new_value": False},
        "$add_keyword_filter": {"new_value": ["eel"]},
        "$remove_keyword_filter": {"new_value": ["cat"]},
        "$remove_allow_list": {"new_value": ["cats"]},
    }
    assert (await change(guild, rule, {"name": "Pets", "trigger_metadata": {}})).json == after
    assert len(platform.heard) == 2


async def test_numbers_of_the_metadata_are_recorded_together(platform: Platform, guild: Guild) -> None:
    rule = await create_rule(guild, MENTIONS)
    platform.heard.clear()
    assert (await change(guild, rule, {"trigger_metadata": {"mention_total_limit": 5}})).status == 200
    assert platform.heard_data(AUDIT)[0]["changes"] == [
        {
            "key": "trigger_metadata",
            "old_value": {"mention_total_limit": 20, "mention_raid_protection_enabled": False},
            "new_value": {"mention_total_limit": 5, "mention_raid_protection_enabled": False},
        }
    ]


@pytest.mark.parametrize(
    ("body", "at"),
    [
        ({"trigger_type": SPAM}, "trigger_type"),
        ({"event_type": 2}, "event_type"),
        ({"actions": [{"type": 4}]}, "actions.0.type"),
        ({"trigger_metadata": {"regex_patterns": ["["]}}, "trigger_metadata.regex_patterns.0"),
        ({"exempt_roles": ["7"]}, "exempt_roles.0"),
    ],
)
async def test_a_refused_change_leaves_the_rule(platform: Platform, guild: Guild, body: Any, at: str) -> None:
    rule = await create_rule(guild)
    platform.heard.clear()
    reply = await change(guild, rule, body)
    assert (reply.status, reply.code, len(reply.errors_at(at))) == (400, 50035, 1)
    assert platform.heard == []
    assert (await guild.owner.get(f"/guilds/{guild.id}/auto-moderation/rules")).json == [rule]


async def test_a_rule_is_deleted_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    rule = await create_rule(guild)
    path = f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}"
    platform.heard.clear()
    assert (await owner.delete(path, reason="enough")).status == 204
    assert platform.heard_names == [AUDIT, DELETED]
    assert platform.heard_data(DELETED) == [rule]
    assert (await guild.audit_log())[-1] == (142, int(rule["id"]), "enough")
    for reply in (await owner.get(path), await owner.patch(path, {}), await owner.delete(path)):
        assert reply.status == 404
    assert (await owner.get(f"/guilds/{guild.id}/audit-logs")).json["auto_moderation_rules"] == []


async def test_deleted_roles_and_channels_leave_the_rules(platform: Platform, owner: Caller, guild: Guild) -> None:
    role, channel = await guild.role(position=1), await guild.channel()
    exempt: dict[str, Any] = {"exempt_roles": [str(int(role))], "exempt_channels": [str(int(channel))]}
    both = await create_rule(guild, actions=[{"type": 1}, alert_to(channel)], **exempt)
    only_alert = await create_rule(guild, actions=[alert_to(channel)])
    other = await create_rule(guild)
    platform.heard.clear()
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{role}")).status == 204
    assert platform.heard_data(CHANGED) == [both | {"exempt_roles": []}]
    assert (await owner.delete(f"/channels/{channel}")).status == 200
    blocks = [{"type": 1, "metadata": {}}]
    both |= {"exempt_roles": [], "exempt_channels": [], "actions": blocks}
    only_alert |= {"enabled": False, "actions": blocks}
    assert platform.heard_data(CHANGED)[1:] == [both, only_alert]
    assert (await owner.get(f"/guilds/{guild.id}/auto-moderation/rules")).json == [both, only_alert, other]


async def test_rules_end_with_their_guild(platform: Platform, owner: Caller, guild: Guild) -> None:
    await create_rule(guild)
    assert (await owner.delete(f"/guilds/{guild.id}")).status == 204
    await platform.run_due_jobs()
    async with platform.database.read() as reader:
        assert await reader.all(RULE_IDS) == []
