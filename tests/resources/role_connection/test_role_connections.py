"""Metadata records of applications, their values for users, and linked roles that require them."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.oauth2.flow import application
from tests.support.role_connections import PAGE, VERIFIED, WINS, World, authorized, world

__all__ = ["world"]

MEMBER_SINCE: dict[str, Any] = {"type": 6, "key": "since", "name": "Since", "description": "Day of joining"}


# Metadata


async def test_an_application_has_the_records_that_it_last_put(world: World) -> None:
    assert (await world.app.bot.get(world.metadata)).json == []
    localized = {**WINS, "name_localizations": {"de": "Siege"}, "description_localizations": None}
    reply = await world.app.bot.put(world.metadata, [localized, VERIFIED])
    assert (reply.status, reply.json) == (200, [localized, VERIFIED])
    assert (await world.app.owner.get(world.metadata)).json == [localized, VERIFIED]
    assert (await world.app.owner.put(world.metadata, [])).json == []
    assert (await world.app.bot.get(world.metadata)).json == []
    stranger = await world.platform.person()
    for reply in (await stranger.get(world.metadata), await stranger.put(world.metadata, [])):
        assert (reply.status, reply.code) == (403, 20012)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("type", 9), ("type", 0), ("key", "Wins"), ("key", "a b"), ("key", ""), ("key", "x" * 51), ("name", ""),
        ("name", "x" * 101), ("description", ""), ("description", "x" * 201), ("name_localizations.xx", "x"),
        ("name_localizations.de", ""), ("description_localizations.de", "x" * 201),
    ],
)  # fmt: skip
async def test_a_record_that_does_not_fit_is_refused_at_its_field(world: World, field: str, value: object) -> None:
    name, _, locale = field.partition(".")
    reply = await world.app.bot.put(world.metadata, [VERIFIED, {**WINS, name: {locale: value} if locale else value}])
    assert (reply.status, bool(reply.errors_at(f"1.{field}"))) == (400, True), reply.json
    assert (await world.app.bot.get(world.metadata)).json == []


async def test_records_are_at_most_five_with_different_keys(world: World) -> None:
    five = [{**WINS, "key": f"wins{n}"} for n in range(5)]
    assert (await world.app.bot.put(world.metadata, five)).status == 200
    assert (await world.app.bot.put(world.metadata, [*five, WINS])).status == 400
    assert (await world.app.bot.put(world.metadata, [WINS, WINS])).errors_at("1.key")
    assert (await world.app.bot.get(world.metadata)).json == five


# Values


async def test_an_application_stores_values_for_a_user_until_it_replaces_or_deletes_them(world: World) -> None:
    await world.records(WINS, MEMBER_SINCE, VERIFIED)
    assert (await world.token.get(world.own)).json == {"platform_username": None, "metadata": {}}
    since = "2026-01-01T00:00:00+00:00"
    body = {
        "platform_name": "Games",
        "platform_username": "bobby",
        "metadata": {"wins": 10, "since": since, "verified": True, "unknown": "x"},
    }
    reply = await world.token.put(world.own, body)
    values = {"wins": "10", "since": since, "verified": "1"}
    stored = {"platform_name": "Games", "platform_username": "bobby", "metadata": values}
    assert (reply.status, reply.json) == (200, stored)
    assert (await world.token.get(world.own)).json == stored
    assert (await world.token.put(world.own, {"metadata": {"wins": "-3"}})).json["metadata"] == {"wins": "-3"}
    assert (await world.token.get(world.own)).json == {"platform_username": None, "metadata": {"wins": "-3"}}
    assert (await world.token.delete(world.own)).status == 204
    assert (await world.token.get(world.own)).json == {"platform_username": None, "metadata": {}}
    assert (await world.token.delete(world.own)).status == 204


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("wins", "many"), ("wins", 1.5), ("wins", "1" * 20), ("wins", ""), ("since", "yesterday"), ("since", 5),
        ("verified", 2), ("verified", "yes"), ("wins", [1]), ("wins", {"a": 1}),
    ],
)  # fmt: skip
async def test_values_fit_the_types_of_their_fields(world: World, key: str, value: object) -> None:
    await world.records(WINS, MEMBER_SINCE, VERIFIED)
    reply = await world.token.put(world.own, {"metadata": {key: value}})
    assert (reply.status, bool(reply.errors_at(f"metadata.{key}"))) == (400, True), reply.json
    assert (await world.token.get(world.own)).json["metadata"] == {}


@pytest.mark.parametrize(("field", "length"), [("platform_name", 50), ("platform_username", 100)])
async def test_names_of_platforms_have_a_maximum_length(world: World, field: str, length: int) -> None:
    assert (await world.token.put(world.own, {field: "x" * length})).json[field] == "x" * length
    assert (await world.token.put(world.own, {field: "x" * (length + 1)})).errors_at(field)


async def test_only_a_token_of_the_application_with_the_scope_reads_and_writes_values(world: World) -> None:
    other = await application(world.platform)
    of_other = await authorized(world.platform, other, world.member)
    without = await authorized(world.platform, world.app, world.member, "identify")
    for caller, code in ((of_other, 20012), (without, 50026), (world.member, 20012), (world.app.bot, 20012)):
        for reply in (
            await caller.get(world.own),
            await caller.put(world.own, {"platform_name": "x"}),
            await caller.delete(world.own),
        ):
            assert (reply.status, reply.code) == (403, code)
    unknown = await world.token.get("/users/@me/applications/1/role-connection")
    assert (unknown.status, unknown.code) == (404, 10002)


# Linked roles


async def test_requirements_make_a_role_linked_and_an_empty_list_unlinks_it(world: World) -> None:
    await world.records(WINS)
    guild, owner = world.guild, world.guild.owner
    role = await guild.role(name="winners")
    path = f"/guilds/{guild.id}/roles/{role}/connections/configuration"
    assert (await owner.get(path)).json == []
    world.platform.heard.clear()
    rules = [[world.requirement(connection_metadata_field="wins", value="5")]]
    with world.platform.listening() as announced:
        reply = await owner.put(path, rules, reason="league")
    stored = [[{**rules[0][0], "operator": 2}]]
    assert (reply.status, reply.json) == (200, stored)
    assert sorted(announced) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_ROLE_UPDATE"]
    assert (await guild.audit_log())[-1] == (31, role, "league")
    assert (await owner.get(path)).json == stored
    assert (await owner.get(f"/guilds/{guild.id}/roles/{role}")).json["tags"] == {"guild_connections": None}
    (listed,) = (await world.member.get(f"/guilds/{guild.id}/roles/connections-configurations")).json
    assert (listed["role_id"], listed["rules"]) == (str(int(role)), stored)
    assert listed["applications"][world.app.id]["role_connections_verification_url"] == PAGE
    with world.platform.listening() as announced:
        assert (await owner.put(path, rules)).json == stored
    assert announced == []
    assert (await owner.put(path, [])).json == []
    assert "tags" not in (await owner.get(f"/guilds/{guild.id}/roles/{role}")).json
    assert (await world.member.get(f"/guilds/{guild.id}/roles/connections-configurations")).json == []


async def test_requirements_that_cannot_be_checked_are_refused(world: World) -> None:
    await world.records(WINS, MEMBER_SINCE, VERIFIED)
    elsewhere = await application(world.platform, role_connections_verification_url=PAGE)
    role = await world.guild.role()
    path = f"/guilds/{world.guild.id}/roles/{role}/connections/configuration"
    for field, requirement in (
        ("connection_type", {"connection_type": "steam"}),
        ("application_id", {"connection_type": "application"}),
        ("application_id", {"connection_type": "application", "application_id": elsewhere.id}),
        ("application_id", {"connection_type": "application", "application_id": "1"}),
        ("connection_metadata_field", world.requirement(connection_metadata_field="losses", value="1")),
        ("operator", world.requirement(connection_metadata_field="wins", operator=1, value="1")),
        ("operator", world.requirement(connection_metadata_field="wins", operator=99, value="1")),
        ("value", world.requirement(connection_metadata_field="wins")),
        ("value", world.requirement(connection_metadata_field="wins", value="many")),
        ("value", world.requirement(connection_metadata_field="since", value="-1")),
        ("value", world.requirement(connection_metadata_field="verified", value="0")),
    ):
        reply = await world.guild.owner.put(path, [[world.requirement()], [world.requirement(), requirement]])
        assert (reply.status, bool(reply.errors_at(f"1.1.{field}"))) == (400, True), (field, reply.json)
    rules: list[Any]
    for rules in ([[]], [[world.requirement()]] * 11, [[world.requirement()] * 16]):
        assert (await world.guild.owner.put(path, rules)).status == 400
    await world.app.owner.patch(f"/applications/{world.app.id}", {"role_connections_verification_url": None})
    reply = await world.guild.owner.put(path, [[world.requirement()]])
    assert reply.errors_at("0.0.application_id")
    assert (await world.guild.owner.get(path)).json == []


async def test_only_roles_below_ones_own_can_be_linked(world: World) -> None:
    keeper = await world.guild.member_with(Permissions.MANAGE_ROLES)
    high, managed = await world.guild.role(), await world.guild.role(managed=True, position=1)
    rules = [[world.requirement()]]
    url = f"/guilds/{world.guild.id}/roles"
    assert (await keeper.put(f"{url}/{high}/connections/configuration", rules)).code == 50013
    assert (await world.guild.owner.put(f"{url}/{managed}/connections/configuration", rules)).code == 50028
    assert (await world.guild.owner.put(f"{url}/{world.guild.id}/connections/configuration", rules)).code == 50028


async def test_a_member_claims_a_role_whose_requirements_they_meet(world: World) -> None:
    await world.records(WINS, VERIFIED)
    rule = [
        world.requirement(connection_metadata_field="wins", value="5"),
        world.requirement(connection_metadata_field="verified", value="1"),
    ]
    path = await world.link(rule)
    role = path.split("/")[4]
    before = await world.roles()
    reply = await world.member.put(f"{path}/assign")
    assert (reply.status, reply.code) == (403, 50013)
    await world.values(wins=4, verified=True)
    assert (await world.member.put(f"{path}/assign")).code == 50013
    await world.values(wins=5, verified=True)
    checked = (await world.member.get(f"{path}/eligibility")).json
    assert [[each["result"] for each in rule] for rule in checked] == [[True, True]]
    assert checked[0][0]["name"] == "Wins"
    assert checked[0][0]["application"]["id"] == world.app.id
    with world.platform.listening() as announced:
        assert (await world.member.put(f"{path}/assign")).status == 204
    assert sorted(announced) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert await world.roles() == [*before, role]
    assert (await world.guild.audit_log())[-1] == (25, world.member.id, None)
    with world.platform.listening() as announced:
        assert (await world.member.put(f"{path}/assign")).status == 204
    assert announced == []
    with world.platform.listening() as announced:
        assert (await world.member.post(f"{path}/unassign")).status == 204
    assert sorted(announced) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert await world.roles() == before
    assert (await world.member.post(f"{path}/unassign")).status == 204


async def test_any_rule_suffices(world: World) -> None:
    await world.records(WINS, VERIFIED)
    path = await world.link(
        [world.requirement(connection_metadata_field="wins", value="5")],
        [world.requirement(connection_metadata_field="verified", value="1")],
    )
    await world.values(wins=0, verified=True)
    assert (await world.member.put(f"{path}/assign")).status == 204
    anyone = await world.link([world.requirement()])
    assert (await world.member.put(f"{anyone}/assign")).status == 204


@pytest.mark.parametrize(
    ("kind", "value", "required", "met"),
    [
        (1, 5, "5", True), (1, 6, "5", False), (2, 5, "5", True), (2, 4, "5", False), (3, 5, "5", True),
        (3, 4, "5", False), (4, 4, "5", True), (4, 5, "5", False), (5, -3, "2", True), (5, -1, "2", False),
        (6, -1, "2", True), (6, -3, "2", False), (7, True, "1", True), (7, False, "1", False), (8, False, "1", True),
        (8, True, "1", False),
    ],
)  # fmt: skip
async def test_each_type_has_its_comparison(world: World, kind: int, value: Any, required: str, met: bool) -> None:
    await world.records({**WINS, "type": kind})
    path = await world.link([world.requirement(connection_metadata_field="wins", value=required)])
    if kind in {5, 6}:
        value = (datetime.now(UTC) + timedelta(days=value)).isoformat()
    await world.values(wins=value)
    assert (await world.member.get(f"{path}/eligibility")).json[0][0]["result"] is met
    assert (await world.member.put(f"{path}/assign")).status == (204 if met else 403)


async def claimed(world: World, **values: Any) -> tuple[str, list[str]]:
    """A claimed role; returns the path of its connections, and the member's other roles."""
    await world.records(WINS)
    path = await world.link([world.requirement(connection_metadata_field="wins", value="5")])
    others = await world.roles()
    await world.values(**(values or {"wins": 9}))
    assert (await world.member.put(f"{path}/assign")).status == 204
    world.platform.heard.clear()
    return path, others


async def test_a_role_is_removed_when_the_values_stop_matching(world: World) -> None:
    _, others = await claimed(world)
    await world.values(wins=7)
    await world.platform.run_due_jobs()
    assert len(await world.roles()) == len(others) + 1
    await world.values(wins=3)
    await world.platform.run_due_jobs()
    assert await world.roles() == others
    assert sorted(world.platform.heard_names) == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert world.platform.heard_data("GUILD_MEMBER_UPDATE")[0]["roles"] == others
    await world.values(wins=9)
    await world.platform.run_due_jobs()
    assert await world.roles() == others


@pytest.mark.parametrize("how", ["deleted", "deauthorized", "record", "type", "application"])
async def test_a_role_is_removed_when_the_connection_ends(world: World, how: str) -> None:
    _, others = await claimed(world)
    if how == "deleted":
        assert (await world.token.delete(world.own)).status == 204
    elif how == "deauthorized":
        (authorization,) = (await world.member.get("/oauth2/tokens")).json
        assert (await world.member.delete(f"/oauth2/tokens/{authorization['id']}")).status == 204
    elif how == "record":
        await world.records(VERIFIED)
    elif how == "type":
        await world.records({**WINS, "type": 1})
    else:
        assert (await world.app.owner.delete(f"/applications/{world.app.id}")).status == 204
    await world.platform.run_due_jobs()
    assert await world.roles() == others


async def test_a_role_is_removed_when_its_requirements_rise(world: World) -> None:
    path, others = await claimed(world)
    role = int(path.split("/")[4])
    await world.link([world.requirement(connection_metadata_field="wins", value="8")], role=role)
    await world.platform.run_due_jobs()
    assert len(await world.roles()) == len(others) + 1
    await world.link([world.requirement(connection_metadata_field="wins", value="10")], role=role)
    await world.platform.run_due_jobs()
    assert await world.roles() == others


async def test_members_keep_a_role_that_is_not_linked_any_more(world: World) -> None:
    path, others = await claimed(world)
    await world.link(role=int(path.split("/")[4]))
    await world.platform.run_due_jobs()
    await world.values(wins=0)
    await world.platform.run_due_jobs()
    assert len(await world.roles()) == len(others) + 1


async def test_a_date_that_is_too_long_ago_ends_the_claim(world: World) -> None:
    await world.records(MEMBER_SINCE)
    path = await world.link([world.requirement(connection_metadata_field="since", value="2")])
    others = await world.roles()
    await world.values(since=(datetime.now(UTC) - timedelta(days=2) + timedelta(seconds=1.5)).isoformat())
    assert (await world.member.put(f"{path}/assign")).status == 204
    assert len(await world.roles()) == len(others) + 1
    await asyncio.sleep(1.6)
    await world.platform.run_due_jobs()
    assert await world.roles() == others


async def test_a_deleted_role_takes_its_requirements_and_claims_with_it(world: World) -> None:
    path, others = await claimed(world)
    role = path.split("/")[4]
    assert (await world.guild.owner.delete(f"/guilds/{world.guild.id}/roles/{role}")).status == 204
    await world.values(wins=0)
    await world.platform.run_due_jobs()
    assert await world.roles() == others
    assert (await world.member.put(f"{path}/assign")).code == 10011
    assert (await world.member.get(f"/guilds/{world.guild.id}/roles/connections-configurations")).json == []


async def test_a_linked_role_is_not_added_by_hand_but_removed(world: World) -> None:
    path, others = await claimed(world)
    role, guild = path.split("/")[4], world.guild
    other = await guild.member_with(0)
    by_hand = f"/guilds/{guild.id}/members/{other.id}"
    assert (await guild.owner.put(f"{by_hand}/roles/{role}")).code == 50013
    assert (await guild.owner.patch(by_hand, {"roles": [role]})).code == 50013
    assert (await guild.owner.post(f"/channels/{guild.general}/invites", {"role_ids": [role]})).status == 400
    own = f"/guilds/{guild.id}/members/{world.member.id}"
    assert (await guild.owner.patch(own, {"roles": await world.roles()})).status == 200
    assert (await guild.owner.delete(f"{own}/roles/{role}")).status == 204
    assert await world.roles() == others


async def test_bots_and_guests_claim_nothing(world: World) -> None:
    path, _ = await claimed(world)
    for caller in (world.app.bot,):
        for reply in (await caller.put(f"{path}/assign"), await caller.post(f"{path}/unassign")):
            assert (reply.status, reply.code) == (403, 20001)
    plain = await world.guild.role()
    other = f"/guilds/{world.guild.id}/roles/{plain}/connections"
    for reply in (await world.member.put(f"{other}/assign"), await world.member.get(f"{other}/eligibility")):
        assert (reply.status, reply.code) == (404, 10011)
