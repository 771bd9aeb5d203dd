"""Members' responses to onboarding, which add roles and channels (api.md, Guild onboarding objects)."""

from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import bindparam, select, update

from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import members, onboarding_answers
from tests.support.harness import VOICE, Caller, Guild, Platform

STARTED, COMPLETED = MemberFlags.STARTED_ONBOARDING, MemberFlags.COMPLETED_ONBOARDING


class OnboardingCase(Struct):
    """A guild with three prompts: a required single-select one, a multi-select one, and one outside of onboarding."""

    guild: Guild
    owner: Caller
    bob: Caller
    defaults: list[str]
    roles: list[str]
    prompts: list[dict[str, Any]]

    @property
    def url(self) -> str:
        return f"/guilds/{self.guild.id}/onboarding-responses"

    def option(self, prompt: int, index: int) -> str:
        """The id of an option."""
        return str(self.prompts[prompt]["options"][index]["id"])

    async def member(self, caller: Caller | None = None) -> dict[str, Any]:
        """The member object of Bob or of another caller."""
        member: dict[str, Any] = (
            await self.owner.get(f"/guilds/{self.guild.id}/members/{(caller or self.bob).id}")
        ).json
        return member


@pytest.fixture
async def case(platform: Platform) -> OnboardingCase:
    owner, bob = await platform.person("alice"), await platform.person("bob")
    guild = await platform.guild(owner)
    defaults = [str(await guild.channel()) for _ in range(7)]
    quiet = str(await guild.channel())
    roles = [str(await guild.role(name=f"r{n}")) for n in range(4)]
    await guild.join(bob)
    prompts = [
        {
            "title": "What do you play?",
            "required": True,
            "single_select": True,
            "options": [
                {"title": "Chess", "role_ids": [roles[0]]},
                {"title": "Go", "role_ids": [roles[1]], "channel_ids": [quiet, defaults[0]]},
            ],
        },
        {"title": "When?", "options": [{"title": "By day"}, {"title": "By night", "role_ids": [roles[0], roles[2]]}]},
        {"title": "Colour?", "in_onboarding": False, "options": [{"title": "Red", "role_ids": [roles[3]]}]},
    ]
    body = {"prompts": prompts, "default_channel_ids": defaults, "enabled": True}
    made = await owner.put(f"/guilds/{guild.id}/onboarding", body)
    assert made.status == 200, made.body
    platform.heard.clear()
    return OnboardingCase(guild, owner, bob, [*defaults, quiet], roles, made.json["prompts"])


async def test_responses_add_roles_and_channels_and_complete_onboarding(
    platform: Platform, case: OnboardingCase
) -> None:
    chess, night = case.option(0, 1), case.option(1, 1)
    seen = {str(case.prompts[0]["id"]): 1_700_000_000_000, "1": 5}
    body = {
        "onboarding_responses": [night, chess],
        "onboarding_prompts_seen": seen,
        "onboarding_responses_seen": {chess: 1_700_000_000_001},
    }
    reply = await case.bob.post(case.url, body)
    assert reply.status == 200
    responses = {
        "onboarding_responses": [night, chess],
        # An id that is no prompt of this guild is dropped.
        "onboarding_prompts_seen": {str(case.prompts[0]["id"]): 1_700_000_000_000},
        "onboarding_responses_seen": {chess: 1_700_000_000_001},
    }
    assert reply.json == {
        "guild_id": str(case.guild.id),
        "user_id": str(case.bob.id),
        **responses,
        "channel_ids": case.defaults,
    }
    member = await case.member()
    assert set(member["roles"]) == {case.roles[0], case.roles[1], case.roles[2]}
    assert member["flags"] == STARTED | COMPLETED
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert platform.heard_data("GUILD_MEMBER_UPDATE") == [{**member, "guild_id": str(case.guild.id)}]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert (entry["action_type"], entry["user_id"], entry["target_id"]) == (25, str(case.bob.id), str(case.bob.id))
    assert [change["key"] for change in entry["changes"]] == ["$add"]
    mine = (await case.bob.get(f"/guilds/{case.guild.id}/onboarding")).json
    assert {"responses": mine["responses"], **{k: mine[k] for k in responses if k != "onboarding_responses"}} == {
        "responses": [chess, night],
        **{k: v for k, v in responses.items() if k != "onboarding_responses"},
    }
    # Members only get their own responses.
    assert "responses" not in (await case.owner.get(f"/guilds/{case.guild.id}/onboarding")).json


async def test_new_responses_remove_what_earlier_ones_added_and_nothing_else(case: OnboardingCase) -> None:
    by_hand = case.roles[2]
    await case.owner.put(f"/guilds/{case.guild.id}/members/{case.bob.id}/roles/{by_hand}")
    first = [case.option(0, 0), case.option(1, 1), case.option(2, 0)]
    assert (await case.bob.put(case.url, {"onboarding_responses": first})).status == 200
    assert set((await case.member())["roles"]) == {case.roles[0], by_hand, case.roles[3]}
    # A role of two options stays while one of them is chosen.
    await case.bob.put(case.url, {"onboarding_responses": [case.option(0, 1), case.option(1, 1)]})
    assert set((await case.member())["roles"]) == {case.roles[0], case.roles[1], by_hand}
    await case.bob.put(case.url, {"onboarding_responses": [case.option(0, 1)]})
    assert set((await case.member())["roles"]) == {case.roles[1], by_hand}


async def test_the_same_responses_again_are_not_announced(platform: Platform, case: OnboardingCase) -> None:
    body = {"onboarding_responses": [case.option(0, 0)]}
    await case.bob.post(case.url, body)
    with platform.listening() as heard:
        assert (await case.bob.post(case.url, body)).status == 200
        assert (await case.bob.put(case.url, body)).status == 200
    assert heard == []


async def test_posting_keeps_responses_to_prompts_outside_of_onboarding(case: OnboardingCase) -> None:
    red = case.option(2, 0)
    await case.bob.put(case.url, {"onboarding_responses": [red]})
    reply = await case.bob.post(case.url, {"onboarding_responses": [case.option(0, 0)]})
    assert reply.json["onboarding_responses"] == [case.option(0, 0), red]
    assert set((await case.member())["roles"]) == {case.roles[0], case.roles[3]}
    reply = await case.bob.put(case.url, {"onboarding_responses": [case.option(0, 0)]})
    assert reply.json["onboarding_responses"] == [case.option(0, 0)]
    assert (await case.member())["roles"] == [case.roles[0]]


async def test_onboarding_is_complete_once_required_prompts_have_a_response_which_they_keep(
    case: OnboardingCase,
) -> None:
    assert (await case.bob.post(case.url, {"onboarding_responses": [case.option(1, 0)]})).status == 200
    assert (await case.member())["flags"] == STARTED
    assert (await case.bob.post(case.url, {"onboarding_responses": [case.option(0, 0)]})).status == 200
    assert (await case.member())["flags"] == STARTED | COMPLETED
    reply = await case.bob.put(case.url, {"onboarding_responses": []})
    assert (reply.status, reply.errors_at("onboarding_responses")) == (400, ["BASE_TYPE_REQUIRED"])
    assert (await case.member())["roles"] == [case.roles[0]]


async def test_invalid_responses_are_reported_by_index_and_change_nothing(
    platform: Platform, case: OnboardingCase
) -> None:
    chess, go = case.option(0, 0), case.option(0, 1)
    before = await case.member()
    for answers, path, code in (
        ([chess, go], "onboarding_responses.1", "BASE_TYPE_BAD_LENGTH"),
        ([chess, "1"], "onboarding_responses.1", "BASE_TYPE_CHOICES"),
        ([str(case.prompts[0]["id"])], "onboarding_responses.0", "BASE_TYPE_CHOICES"),
        ([chess, chess], "onboarding_responses.1", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
        (["x"], "onboarding_responses.0", "NUMBER_TYPE_COERCE"),
        (None, "onboarding_responses", "LIST_TYPE_CONVERT"),
    ):
        for method in ("POST", "PUT"):
            reply = await case.bob.request(method, case.url, {"onboarding_responses": answers})
            assert (reply.status, reply.code) == (400, 50035)
            assert reply.errors_at(path) == [code], reply.body
    reply = await case.bob.post(case.url, {"onboarding_responses": [], "onboarding_prompts_seen": {"1": -1}})
    assert reply.errors_at("onboarding_prompts_seen.1") == ["NUMBER_TYPE_MIN"]
    assert (await case.bob.post(case.url, {})).errors_at("onboarding_responses") == ["BASE_TYPE_REQUIRED"]
    assert await case.member() == before
    assert platform.heard == []
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(onboarding_answers.c.user_id))) == []


async def test_bots_guests_and_members_of_a_guild_without_onboarding_cannot_respond(
    platform: Platform, case: OnboardingCase
) -> None:
    body = {"onboarding_responses": [case.option(0, 0)]}
    bot, guest = await platform.bot(case.owner), await platform.person()
    await case.guild.join(bot, guest)
    lounge = await case.guild.channel(type=VOICE)
    async with platform.database.transaction() as tx:
        statement = update(members).where(members.c.user_id == bindparam("of")).values(guest_channel_id=bindparam("at"))
        await tx.execute(Query(statement), of=guest.id, at=lounge)
    assert (await bot.post(case.url, body)).code == 20001
    assert (await guest.post(case.url, body)).code == 50013
    await case.owner.put(f"/guilds/{case.guild.id}/onboarding", {"enabled": False})
    platform.heard.clear()
    refused = await case.bob.post(case.url, body)
    assert (refused.status, refused.code) == (403, 40006)
    assert platform.heard == []


async def test_rejoining_members_have_no_responses(case: OnboardingCase) -> None:
    await case.bob.post(case.url, {"onboarding_responses": [case.option(0, 0)]})
    assert (await case.bob.delete(f"/users/@me/guilds/{case.guild.id}")).status == 204
    await case.guild.join(case.bob)
    assert "responses" not in (await case.bob.get(f"/guilds/{case.guild.id}/onboarding")).json
    assert (await case.member())["flags"] == 0


async def test_a_deleted_role_or_option_is_removed_from_responses(case: OnboardingCase) -> None:
    await case.bob.post(case.url, {"onboarding_responses": [case.option(0, 0), case.option(1, 1)]})
    await case.owner.delete(f"/guilds/{case.guild.id}/roles/{case.roles[2]}")
    keep = case.prompts[0]
    kept = [{"id": keep["id"], "title": "Still?", "options": [{"id": o["id"], "title": "x"} for o in keep["options"]]}]
    assert (await case.owner.put(f"/guilds/{case.guild.id}/onboarding", {"prompts": kept})).status == 200
    mine = (await case.bob.get(f"/guilds/{case.guild.id}/onboarding")).json
    assert mine["responses"] == [case.option(0, 0)]
    # The member keeps the role until they submit new responses.
    assert set((await case.member())["roles"]) == {case.roles[0]}
    reply = await case.bob.put(case.url, {"onboarding_responses": [case.option(0, 1)]})
    assert reply.status == 200
    assert (await case.member())["roles"] == [case.roles[1]]


async def test_responses_add_no_role_that_the_author_of_the_prompt_could_not_assign(
    platform: Platform, case: OnboardingCase
) -> None:
    keeper = await case.guild.member_with(Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES)
    above = str(await case.guild.role(permissions=Permissions.BAN_MEMBERS))
    platform.heard.clear()
    prompts = [{"title": "Power?", "options": [{"title": "Yes", "role_ids": [above]}]}]
    assert (await keeper.put(f"/guilds/{case.guild.id}/onboarding", {"prompts": prompts})).code == 50013
    assert platform.heard == []
