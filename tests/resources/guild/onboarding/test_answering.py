"""Members answer what onboarding asks: roles and channels come with the options (api.md, Guild onboarding objects)."""

from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import bindparam, select, update

from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import members, onboarding_answers
from tests.harness import VOICE, Caller, Guild, Platform

STARTED, COMPLETED = MemberFlags.STARTED_ONBOARDING, MemberFlags.COMPLETED_ONBOARDING


class Asked(Struct):
    """A guild with onboarding: a required question with one answer, one with several, and one asked elsewhere."""

    guild: Guild
    owner: Caller
    bob: Caller
    defaults: list[str]
    roles: list[str]
    prompts: list[dict[str, Any]]

    @property
    def url(self) -> str:
        return f"/guilds/{self.guild.id}/onboarding-responses"

    def option(self, prompt: int, place: int) -> str:
        """The id of an option."""
        return str(self.prompts[prompt]["options"][place]["id"])

    async def member(self, caller: Caller | None = None) -> dict[str, Any]:
        """Bob, or somebody else, as a member."""
        found: dict[str, Any] = (
            await self.owner.get(f"/guilds/{self.guild.id}/members/{(caller or self.bob).id}")
        ).json
        return found


@pytest.fixture
async def asked(platform: Platform) -> Asked:
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
    return Asked(guild, owner, bob, [*defaults, quiet], roles, made.json["prompts"])


async def test_answers_bring_roles_and_channels_and_complete_onboarding(platform: Platform, asked: Asked) -> None:
    chess, night = asked.option(0, 1), asked.option(1, 1)
    seen = {str(asked.prompts[0]["id"]): 1_700_000_000_000, "1": 5}
    body = {
        "onboarding_responses": [night, chess],
        "onboarding_prompts_seen": seen,
        "onboarding_responses_seen": {chess: 1_700_000_000_001},
    }
    reply = await asked.bob.post(asked.url, body)
    assert reply.status == 200
    told = {
        "onboarding_responses": [night, chess],
        # What is no prompt of this guild is not kept.
        "onboarding_prompts_seen": {str(asked.prompts[0]["id"]): 1_700_000_000_000},
        "onboarding_responses_seen": {chess: 1_700_000_000_001},
    }
    assert reply.json == {
        "guild_id": str(asked.guild.id),
        "user_id": str(asked.bob.id),
        **told,
        "channel_ids": asked.defaults,
    }
    member = await asked.member()
    assert set(member["roles"]) == {asked.roles[0], asked.roles[1], asked.roles[2]}
    assert member["flags"] == STARTED | COMPLETED
    assert platform.heard_names == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    assert platform.heard_data("GUILD_MEMBER_UPDATE") == [{**member, "guild_id": str(asked.guild.id)}]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert (entry["action_type"], entry["user_id"], entry["target_id"]) == (25, str(asked.bob.id), str(asked.bob.id))
    assert [change["key"] for change in entry["changes"]] == ["$add"]
    mine = (await asked.bob.get(f"/guilds/{asked.guild.id}/onboarding")).json
    assert {"responses": mine["responses"], **{k: mine[k] for k in told if k != "onboarding_responses"}} == {
        "responses": [chess, night],
        **{k: v for k, v in told.items() if k != "onboarding_responses"},
    }
    # What others have answered is nobody's business.
    assert "responses" not in (await asked.owner.get(f"/guilds/{asked.guild.id}/onboarding")).json


async def test_new_answers_take_back_what_earlier_ones_gave_and_nothing_else(asked: Asked) -> None:
    by_hand = asked.roles[2]
    await asked.owner.put(f"/guilds/{asked.guild.id}/members/{asked.bob.id}/roles/{by_hand}")
    first = [asked.option(0, 0), asked.option(1, 1), asked.option(2, 0)]
    assert (await asked.bob.put(asked.url, {"onboarding_responses": first})).status == 200
    assert set((await asked.member())["roles"]) == {asked.roles[0], by_hand, asked.roles[3]}
    # The role of the other option stays while one that is chosen brings it too.
    await asked.bob.put(asked.url, {"onboarding_responses": [asked.option(0, 1), asked.option(1, 1)]})
    assert set((await asked.member())["roles"]) == {asked.roles[0], asked.roles[1], by_hand}
    await asked.bob.put(asked.url, {"onboarding_responses": [asked.option(0, 1)]})
    assert set((await asked.member())["roles"]) == {asked.roles[1], by_hand}


async def test_answering_alike_again_is_not_announced(platform: Platform, asked: Asked) -> None:
    body = {"onboarding_responses": [asked.option(0, 0)]}
    await asked.bob.post(asked.url, body)
    with platform.listening() as heard:
        assert (await asked.bob.post(asked.url, body)).status == 200
        assert (await asked.bob.put(asked.url, body)).status == 200
    assert heard == []


async def test_posting_keeps_answers_to_what_is_asked_elsewhere(asked: Asked) -> None:
    red = asked.option(2, 0)
    await asked.bob.put(asked.url, {"onboarding_responses": [red]})
    reply = await asked.bob.post(asked.url, {"onboarding_responses": [asked.option(0, 0)]})
    assert reply.json["onboarding_responses"] == [asked.option(0, 0), red]
    assert set((await asked.member())["roles"]) == {asked.roles[0], asked.roles[3]}
    reply = await asked.bob.put(asked.url, {"onboarding_responses": [asked.option(0, 0)]})
    assert reply.json["onboarding_responses"] == [asked.option(0, 0)]
    assert (await asked.member())["roles"] == [asked.roles[0]]


async def test_onboarding_is_complete_once_what_is_required_is_answered_and_stays_answered(asked: Asked) -> None:
    assert (await asked.bob.post(asked.url, {"onboarding_responses": [asked.option(1, 0)]})).status == 200
    assert (await asked.member())["flags"] == STARTED
    assert (await asked.bob.post(asked.url, {"onboarding_responses": [asked.option(0, 0)]})).status == 200
    assert (await asked.member())["flags"] == STARTED | COMPLETED
    reply = await asked.bob.put(asked.url, {"onboarding_responses": []})
    assert (reply.status, reply.errors_at("onboarding_responses")) == (400, ["BASE_TYPE_REQUIRED"])
    assert (await asked.member())["roles"] == [asked.roles[0]]


async def test_answers_that_cannot_be_are_refused_by_place_and_leave_no_trace(platform: Platform, asked: Asked) -> None:
    chess, go = asked.option(0, 0), asked.option(0, 1)
    before = await asked.member()
    for answers, place, code in (
        ([chess, go], "onboarding_responses.1", "BASE_TYPE_BAD_LENGTH"),
        ([chess, "1"], "onboarding_responses.1", "BASE_TYPE_CHOICES"),
        ([str(asked.prompts[0]["id"])], "onboarding_responses.0", "BASE_TYPE_CHOICES"),
        ([chess, chess], "onboarding_responses.1", "SET_TYPE_ALREADY_CONTAINS_VALUE"),
        (["x"], "onboarding_responses.0", "NUMBER_TYPE_COERCE"),
        (None, "onboarding_responses", "LIST_TYPE_CONVERT"),
    ):
        for method in ("POST", "PUT"):
            reply = await asked.bob.request(method, asked.url, {"onboarding_responses": answers})
            assert (reply.status, reply.code) == (400, 50035)
            assert reply.errors_at(place) == [code], reply.body
    reply = await asked.bob.post(asked.url, {"onboarding_responses": [], "onboarding_prompts_seen": {"1": -1}})
    assert reply.errors_at("onboarding_prompts_seen.1") == ["NUMBER_TYPE_MIN"]
    assert (await asked.bob.post(asked.url, {})).errors_at("onboarding_responses") == ["BASE_TYPE_REQUIRED"]
    assert await asked.member() == before
    assert platform.heard == []
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(onboarding_answers.c.user_id))) == []


async def test_bots_guests_and_members_of_a_guild_without_onboarding_cannot_answer(
    platform: Platform, asked: Asked
) -> None:
    body = {"onboarding_responses": [asked.option(0, 0)]}
    bot, guest = await platform.bot(asked.owner), await platform.person()
    await asked.guild.join(bot, guest)
    lounge = await asked.guild.channel(type=VOICE)
    async with platform.database.transaction() as tx:
        statement = update(members).where(members.c.user_id == bindparam("of")).values(guest_channel_id=bindparam("at"))
        await tx.execute(Query(statement), of=guest.id, at=lounge)
    assert (await bot.post(asked.url, body)).code == 20001
    assert (await guest.post(asked.url, body)).code == 50013
    await asked.owner.put(f"/guilds/{asked.guild.id}/onboarding", {"enabled": False})
    platform.heard.clear()
    refused = await asked.bob.post(asked.url, body)
    assert (refused.status, refused.code) == (403, 40006)
    assert platform.heard == []


async def test_who_comes_back_is_asked_anew(asked: Asked) -> None:
    await asked.bob.post(asked.url, {"onboarding_responses": [asked.option(0, 0)]})
    assert (await asked.bob.delete(f"/users/@me/guilds/{asked.guild.id}")).status == 204
    await asked.guild.join(asked.bob)
    assert "responses" not in (await asked.bob.get(f"/guilds/{asked.guild.id}/onboarding")).json
    assert (await asked.member())["flags"] == 0


async def test_a_role_or_an_option_that_is_gone_is_gone_from_answers(asked: Asked) -> None:
    await asked.bob.post(asked.url, {"onboarding_responses": [asked.option(0, 0), asked.option(1, 1)]})
    await asked.owner.delete(f"/guilds/{asked.guild.id}/roles/{asked.roles[2]}")
    keep = asked.prompts[0]
    kept = [{"id": keep["id"], "title": "Still?", "options": [{"id": o["id"], "title": "x"} for o in keep["options"]]}]
    assert (await asked.owner.put(f"/guilds/{asked.guild.id}/onboarding", {"prompts": kept})).status == 200
    mine = (await asked.bob.get(f"/guilds/{asked.guild.id}/onboarding")).json
    assert mine["responses"] == [asked.option(0, 0)]
    # Who was given a role keeps it, until they answer anew.
    assert set((await asked.member())["roles"]) == {asked.roles[0]}
    reply = await asked.bob.put(asked.url, {"onboarding_responses": [asked.option(0, 1)]})
    assert reply.status == 200
    assert (await asked.member())["roles"] == [asked.roles[1]]


async def test_answers_bring_nothing_that_who_made_the_question_could_not_give(
    platform: Platform, asked: Asked
) -> None:
    keeper = await asked.guild.member_with(Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES)
    above = str(await asked.guild.role(permissions=Permissions.BAN_MEMBERS))
    platform.heard.clear()
    prompts = [{"title": "Power?", "options": [{"title": "Yes", "role_ids": [above]}]}]
    assert (await keeper.put(f"/guilds/{asked.guild.id}/onboarding", {"prompts": prompts})).code == 50013
    assert platform.heard == []
