"""Membership screening (the project's decisions: Invites, widget, screens; api.md, States)."""

import json
from typing import Any

import pytest

from moothall.api.jobs import JobRunner
from moothall.objects.permissions import Permissions
from tests.support.harness import Caller, Guild, Platform
from tests.support.screening import RULES, answers, gate, newcomer, pending, url

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
GATE = "MEMBER_VERIFICATION_GATE_ENABLED"
KEPT = {**RULES, "description": None}


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def test_a_form_is_stored_announced_and_recorded(platform: Platform, owner: Caller, guild: Guild) -> None:
    blank = (await owner.get(url(guild))).json
    assert (blank["description"], blank["form_fields"]) == (None, [])
    body = {"enabled": True, "description": " We are friendly. ", "form_fields": [RULES]}
    reply = await owner.patch(url(guild), body, reason="calm")
    assert (reply.json["description"], reply.json["form_fields"]) == ("We are friendly.", [KEPT])
    assert reply.json["version"] > blank["version"]
    assert platform.heard_names == [AUDIT, AUDIT, "GUILD_UPDATE"]
    assert GATE in platform.heard_data("GUILD_UPDATE")[0]["features"]
    assert [[change["key"] for change in entry["changes"]] for entry in platform.heard_data(AUDIT)] == [
        ["member_verification_description", "member_verification_form_fields"],
        ["features"],
    ]
    assert await guild.audit_log() == [(1, guild.id, "calm")] * 2
    member = await guild.member_with(0)
    assert (await member.get(url(guild))).json == reply.json


async def test_fields_may_be_sent_as_a_string_and_absent_ones_stay(owner: Caller, guild: Guild) -> None:
    made = (await owner.patch(url(guild), {"form_fields": json.dumps([RULES]), "description": "Hi"})).json
    assert made["form_fields"] == [KEPT]
    assert (await owner.patch(url(guild), {"description": None})).json["form_fields"] == [KEPT]
    assert (await owner.patch(url(guild), {"form_fields": None})).json["form_fields"] == []


async def test_the_same_form_again_is_not_announced_and_keeps_its_version(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    form = await gate(owner, guild, RULES)
    platform.heard.clear()
    assert (await owner.patch(url(guild), {"enabled": True, "form_fields": [KEPT]})).json == form
    assert (await owner.patch(url(guild), {})).json == form
    assert platform.heard == []


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"description": "d" * 301}, "description"),
        ({"form_fields": [{**RULES, "field_type": "QUIZ"}]}, "form_fields.0.field_type"),
        ({"form_fields": [{**RULES, "label": ""}]}, "form_fields.0.label"),
        ({"form_fields": [{**RULES, "label": " "}]}, "form_fields.0.label"),
        ({"form_fields": [{**RULES, "values": ["v" * 301]}]}, "form_fields.0.values.0"),
        ({"form_fields": [{**RULES, "values": ["ok", "\t"]}]}, "form_fields.0.values.1"),
        ({"form_fields": [RULES] * 6}, "form_fields"),
        ({"form_fields": "nonsense"}, "form_fields"),
        ({"form_fields": "null"}, "form_fields"),
        ({"form_fields": "[" * 100_000}, "form_fields"),
        ({"form_fields": json.dumps([{**RULES, "values": ["x"] * 17}])}, "form_fields.0.values"),
    ],
)
async def test_values_out_of_bounds_are_reported_at_their_field(
    platform: Platform, owner: Caller, guild: Guild, body: dict[str, Any], path: str
) -> None:
    assert (await owner.patch(url(guild), {"enabled": True, **body})).errors_at(path)
    assert platform.heard == []


async def test_new_members_are_pending_until_they_agree(platform: Platform, owner: Caller, guild: Guild) -> None:
    await guild.set(system_channel_id=guild.general)
    form = await gate(owner, guild, RULES, {**RULES, "label": "A newsletter?", "required": False})
    platform.heard.clear()
    bob = await newcomer(platform, guild)
    assert platform.heard_data("GUILD_MEMBER_ADD")[0]["pending"] is True
    # A pending member gets no join message.
    assert "MESSAGE_CREATE" not in platform.heard_names
    with platform.listening() as heard:
        reply = await bob.put(f"/guilds/{guild.id}/requests/@me", answers(form, True))
    assert reply.status == 200
    assert (reply.json["application_status"], reply.json["user_id"]) == ("APPROVED", str(bob.id))
    assert heard == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    assert platform.heard_data("GUILD_MEMBER_UPDATE")[0]["pending"] is False
    assert not await pending(guild, bob)
    assert (await bob.post(f"/channels/{guild.general}/messages", {"content": "Hello"})).status == 200
    with platform.listening() as heard:
        assert (await bob.put(f"/guilds/{guild.id}/requests/@me", answers(form, True))).status == 200
    assert heard == []


async def test_incomplete_responses_and_those_to_another_version_admit_no_member(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    old = await gate(owner, guild, RULES)
    bob, path = await newcomer(platform, guild), f"/guilds/{guild.id}/requests/@me"
    for responses in ((), (False,), (None,), ("yes",)):
        reply = await bob.put(path, answers(old, *responses))
        assert (reply.status, reply.code) == (400, 50035)
        assert reply.errors_at("form_fields.0.response")
    await owner.patch(url(guild), {"description": "New"})
    assert (await bob.put(path, answers(old, True))).errors_at("version")
    assert (await bob.put(path, {"form_fields": []})).errors_at("version") == ["BASE_TYPE_REQUIRED"]
    assert await pending(guild, bob)
    new = (await bob.get(url(guild))).json
    assert (await bob.put(path, answers(new, True))).status == 200


async def test_pending_members_may_read_and_nothing_else(platform: Platform, owner: Caller, guild: Guild) -> None:
    everything = Permissions.ALL & ~Permissions.ADMINISTRATOR
    await gate(owner, guild, RULES)
    bob = await newcomer(platform, guild)
    await owner.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{await guild.role(permissions=everything)}")
    message = (await owner.post(f"/channels/{guild.general}/messages", {"content": "Hello"})).json["id"]
    channel = f"/channels/{guild.general}"
    assert (await bob.get(f"{channel}/messages")).status == 200
    for reply in (
        await bob.post(f"{channel}/messages", {"content": "Hello"}),
        await bob.put(f"{channel}/messages/{message}/reactions/⚫/@me"),
        await bob.post(f"{channel}/invites", {}),
        await bob.delete(f"{channel}/messages/{message}"),
        await bob.put(f"/guilds/{guild.id}/bans/{owner.id}", {}),
    ):
        assert (reply.status, reply.code) == (403, 50013)


async def test_bots_the_owner_and_earlier_members_are_never_pending_and_a_rejoiner_is(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    carol = await newcomer(platform, guild, "carol")
    await gate(owner, guild, RULES)
    assert not await pending(guild, owner)
    assert not await pending(guild, carol)
    await carol.delete(f"/users/@me/guilds/{guild.id}")
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await carol.post(f"/invites/{code}", {})
    assert await pending(guild, carol)


async def test_disabling_screening_admits_all_pending_members(platform: Platform, owner: Caller, guild: Guild) -> None:
    await gate(owner, guild, RULES)
    bob, carol = await newcomer(platform, guild), await newcomer(platform, guild, "carol")
    await owner.patch(url(guild), {"enabled": False})
    with platform.listening() as heard:
        await JobRunner(platform.services).drain()
    assert heard == ["GUILD_MEMBER_UPDATE"] * 2
    assert not await pending(guild, bob)
    assert not await pending(guild, carol)


async def test_enabling_screening_again_stops_the_admission_of_pending_members(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await gate(owner, guild, RULES)
    bob = await newcomer(platform, guild)
    await owner.patch(url(guild), {"enabled": False})
    await owner.patch(url(guild), {"enabled": True})
    await JobRunner(platform.services).drain()
    assert await pending(guild, bob)
