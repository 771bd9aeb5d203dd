"""Names of members that trigger member profile rules (resources: auto moderation)."""

from typing import Any

import pytest

from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from tests.resources.auto_moderation.rules import PROFILE, QUARANTINE, alert_to, create_rule
from tests.support.harness import Caller, Guild, Platform

AUDIT, EXECUTED, UPDATED = (
    "GUILD_AUDIT_LOG_ENTRY_CREATE",
    "AUTO_MODERATION_ACTION_EXECUTION",
    "GUILD_MEMBER_UPDATE",
)
QUARANTINED = MemberFlags.AUTOMOD_QUARANTINED_USERNAME
BLOCKS = {"type": QUARANTINE}


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("alice"))


@pytest.fixture
async def bob(platform: Platform, guild: Guild) -> Caller:
    bob = await platform.person("bob")
    await guild.join(bob)
    return bob


async def is_quarantined(guild: Guild, caller: Caller) -> bool:
    member = (await guild.owner.get(f"/guilds/{guild.id}/members/{caller.id}")).json
    return bool(member["flags"] & QUARANTINED)


async def accept_invite(caller: Caller, guild: Guild) -> None:
    invite = (await guild.owner.post(f"/channels/{guild.general}/invites", {"unique": True})).json
    assert (await caller.post(f"/invites/{invite['code']}", {})).status == 200


async def fields_of_alert(guild: Guild, channel: int) -> dict[str, str]:
    (alert,) = (await guild.owner.get(f"/channels/{channel}/messages")).json
    return {field["name"]: field["value"] for field in alert["embeds"][0]["fields"]}


async def test_a_nickname_that_a_rule_blocks_is_refused(platform: Platform, guild: Guild, bob: Caller) -> None:
    alerts = await guild.channel()
    await create_rule(guild, PROFILE, actions=[BLOCKS, alert_to(alerts)])
    platform.heard.clear()
    for path, body in (("@me", {"nick": "Catman"}), ("@me/nick", {"nick": "Catman"})):
        reply = await bob.patch(f"/guilds/{guild.id}/members/{path}", body)
        assert (reply.status, reply.code, reply.errors_at("nick")) == (400, 50035, ["USERNAME_INVALID_CONTAINS"])
    await platform.run_due_jobs()
    assert not await is_quarantined(guild, bob)
    assert platform.heard_names == [AUDIT, EXECUTED, "MESSAGE_CREATE", AUDIT, EXECUTED] * 2
    assert [entry[0] for entry in await guild.audit_log()][1:] == [146, 144] * 2
    event = platform.heard_data(EXECUTED)[0]
    assert (event["content"], event["matched_content"], event.get("channel_id")) == ("Catman", "Cat", None)
    first = (await guild.owner.get(f"/channels/{alerts}/messages")).json[-1]
    fields = {field["name"]: field["value"] for field in first["embeds"][0]["fields"]}
    assert fields["block_profile_update_type"] == "nickname_update"
    assert (fields["quarantine_user"], fields["quarantine_user_action"]) == ("nickname", "block_profile_update")
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"nick": "Dogman"})).status == 200


@pytest.mark.parametrize(
    ("values", "reason"),
    [({"name": "catman"}, "username"), ({"name": "carol", "global_name": "The Cat"}, "display_name")],
)
async def test_a_user_who_joins_under_a_blocked_name_is_quarantined(
    platform: Platform, guild: Guild, values: dict[str, str], reason: str
) -> None:
    alerts = await guild.channel()
    await create_rule(guild, PROFILE, actions=[BLOCKS, alert_to(alerts)])
    carol = await platform.person(**values)
    platform.heard.clear()
    await accept_invite(carol, guild)
    await platform.run_due_jobs()
    assert await is_quarantined(guild, carol)
    assert platform.heard_names[-6:] == [UPDATED, AUDIT, EXECUTED, "MESSAGE_CREATE", AUDIT, EXECUTED]
    assert await fields_of_alert(guild, alerts) == {
        "rule_name": "No cats",
        "decision_id": (await fields_of_alert(guild, alerts))["decision_id"],
        "keyword": "*cat*",
        "keyword_matched_content": "cat" if reason == "username" else "Cat",
        "quarantine_user": reason,
        "quarantine_user_action": "quarantine_user",
        "quarantine_event": "guild_join",
        "decision_outcome": "blocked",
    }
    entry = next(data for data in platform.heard_data(AUDIT) if data["action_type"] == 146)
    assert (entry["user_id"], entry["target_id"]) == (str(int(carol.id)), str(int(carol.id)))


async def test_a_quarantined_member_may_read_but_not_interact(platform: Platform, guild: Guild, bob: Caller) -> None:
    await create_rule(guild, PROFILE)
    path = f"/guilds/{guild.id}/members"
    assert (await guild.owner.patch(f"{path}/{bob.id}", {"nick": "Catman"})).status == 200
    await platform.run_due_jobs()
    assert await is_quarantined(guild, bob)
    channel = f"/channels/{guild.general}"
    assert (await bob.get(f"{channel}/messages")).status == 200
    for reply in (
        await bob.post(f"{channel}/messages", {"content": "hi"}),
        await bob.post(f"{channel}/typing"),
        await bob.post(f"{channel}/threads", {"name": "x", "type": 11}),
    ):
        assert (reply.status, reply.code) == (403, 50013)
    assert (await bob.patch(f"{path}/@me", {"nick": "Catwoman"})).status == 400
    assert (await bob.patch(f"{path}/@me", {"nick": "Dogman"})).status == 200
    await platform.run_due_jobs()
    assert not await is_quarantined(guild, bob)
    assert (await bob.post(f"{channel}/messages", {"content": "hi"})).status == 200


async def test_a_changed_account_is_reviewed_in_every_guild_with_a_rule(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    other, free = [await platform.guild(guild.owner) for _ in range(2)]
    for each in (other, free):
        await each.join(bob)
    for each in (guild, other):
        await create_rule(each, PROFILE)
    assert (await bob.patch("/users/@me", {"global_name": "Catman"})).status == 200
    await platform.run_due_jobs()
    assert [await is_quarantined(each, bob) for each in (guild, other, free)] == [True, True, False]
    assert (await bob.patch("/users/@me", {"global_name": None})).status == 200
    await platform.run_due_jobs()
    assert [await is_quarantined(each, bob) for each in (guild, other)] == [False, False]


async def test_a_message_under_a_blocked_name_is_blocked_and_quarantines(platform: Platform, guild: Guild) -> None:
    cat = await platform.person("catman")
    await guild.join(cat)
    await create_rule(guild, PROFILE)
    reply = await cat.post(f"/channels/{guild.general}/messages", {"content": "woof"})
    assert (reply.status, reply.code) == (400, 200000)
    assert await is_quarantined(guild, cat)
    event = platform.heard_data(EXECUTED)[0]
    assert (event["content"], event["channel_id"]) == ("catman", str(int(guild.general)))
    again = await cat.post(f"/channels/{guild.general}/messages", {"content": "woof"})
    assert (again.status, again.code) == (403, 50013)


async def test_a_rule_that_only_alerts_quarantines_no_member(platform: Platform, guild: Guild, bob: Caller) -> None:
    alerts = await guild.channel()
    await create_rule(guild, PROFILE, actions=[alert_to(alerts)])
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"nick": "Catman"})).status == 200
    await platform.run_due_jobs()
    assert not await is_quarantined(guild, bob)
    fields = await fields_of_alert(guild, alerts)
    assert (fields["decision_outcome"], fields["keyword_matched_content"]) == ("flagged", "Cat")
    assert "quarantine_user" not in fields
    assert (await bob.post(f"/channels/{guild.general}/messages", {"content": "hi"})).status == 200


@pytest.mark.parametrize("change", ["disable", "reword", "exempt", "delete"])
async def test_a_changed_rule_ends_the_quarantines_that_it_no_longer_calls_for(
    platform: Platform, guild: Guild, change: str
) -> None:
    role = await guild.role()
    cat = await platform.person("catman")
    await guild.join(cat, roles=[role])
    rule = await create_rule(guild, PROFILE)
    path = f"/guilds/{guild.id}/auto-moderation/rules/{rule['id']}"
    assert (await cat.post(f"/channels/{guild.general}/messages", {"content": "woof"})).code == 200000
    assert (await guild.owner.patch(path, {"name": "renamed"})).status == 200
    await platform.run_due_jobs()
    assert await is_quarantined(guild, cat)
    bodies: dict[str, Any] = {
        "disable": {"enabled": False},
        "reword": {"trigger_metadata": {"keyword_filter": ["eel"]}},
        "exempt": {"exempt_roles": [str(int(role))]},
    }
    reply = await (guild.owner.delete(path) if change == "delete" else guild.owner.patch(path, bodies[change]))
    assert reply.status in {200, 204}
    await platform.run_due_jobs()
    assert not await is_quarantined(guild, cat)
    assert platform.heard_data(UPDATED)[-1]["flags"] == 0


async def test_bots_and_managers_may_have_any_name(platform: Platform, guild: Guild) -> None:
    await create_rule(guild, PROFILE)
    bot = await platform.bot(guild.owner, "catbot")
    await guild.join(bot)
    manager = await guild.member_with(Permissions.MANAGE_GUILD, name="cathy")
    for caller in (bot, manager):
        assert (await caller.patch(f"/guilds/{guild.id}/members/@me", {"nick": "Cat"})).status == 200
        assert (await caller.post(f"/channels/{guild.general}/messages", {"content": "hi"})).status == 200
    await platform.run_due_jobs()
    assert not await is_quarantined(guild, bot)
    assert not await is_quarantined(guild, manager)
