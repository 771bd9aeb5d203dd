"""Join requests: what pending members answer, and what moderators decide."""

from typing import Any

import pytest

from moothall.api.jobs import JobRunner
from moothall.objects.permissions import Permissions
from tests.support.harness import Caller, Guild, Platform
from tests.support.screening import RULES, answers, gate, newcomer, pending, url

AUDIT = "GUILD_AUDIT_LOG_ENTRY_CREATE"
CREATE, UPDATE, DELETE = (f"GUILD_JOIN_REQUEST_{name}" for name in ("CREATE", "UPDATE", "DELETE"))
WHY = {"field_type": "TEXT_INPUT", "label": "Why?", "required": True, "placeholder": "Because"}
MORE = {"field_type": "PARAGRAPH", "label": "Tell more", "required": False}
COLOR = {"field_type": "MULTIPLE_CHOICE", "label": "Color?", "required": True, "choices": ["red", "blue"]}


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


def requests(guild: Guild, rest: str = "") -> str:
    return f"/guilds/{guild.id}/requests{rest}"


async def submit(platform: Platform, guild: Guild, name: str = "bob") -> tuple[Caller, dict[str, Any]]:
    """A pending member with a submitted request."""
    form = (await guild.owner.get(url(guild))).json
    bob = await newcomer(platform, guild, name)
    reply = await bob.put(requests(guild, "/@me"), answers(form, *(True, "I like it", None, 1)))
    assert reply.status == 200, reply.body
    return bob, reply.json


async def test_a_form_with_questions_makes_a_request_that_awaits_review(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    form = await gate(owner, guild, RULES, WHY, MORE, COLOR)
    assert form["form_fields"][1]["placeholder"] == "Because"
    assert form["form_fields"][3]["choices"] == ["red", "blue"]
    bob = await newcomer(platform, guild)
    assert (await bob.get(requests(guild, "/@me"))).status == 404
    with platform.listening() as heard:
        reply = await bob.put(requests(guild, "/@me"), answers(form, True, " I like it ", None, 1))
    assert heard == [CREATE, CREATE]
    assert (reply.json["application_status"], reply.json["user_id"]) == ("SUBMITTED", str(bob.id))
    assert await pending(guild, bob)
    assert (await bob.get(requests(guild, "/@me"))).json == reply.json
    to_moderators, to_user = platform.heard[-2:]
    assert (to_moderators.guild_id, to_moderators.permission) == (guild.id, Permissions.KICK_MEMBERS)
    assert (to_user.guild_id, list(to_user.user_ids)) == (None, [bob.id])
    event = platform.heard_data(CREATE)[0]
    assert (event["guild_id"], event["status"]) == (str(guild.id), "SUBMITTED")
    listed = (await owner.get(requests(guild))).json
    assert listed == {"guild_join_requests": [event["request"]], "total": 1}
    responses = event["request"]["form_responses"]
    assert [each.get("response") for each in responses] == [True, "I like it", None, 1]
    assert not [name for each in responses for name, value in each.items() if value is None], "left out, not null"
    assert event["request"]["user"]["username"] == "bob"
    again = await bob.put(requests(guild, "/@me"), answers(form, True, "Please", None, 0))
    assert (again.json["id"], platform.heard_names[-2:]) == (reply.json["id"], [UPDATE, UPDATE])


async def test_approval_admits_the_member(platform: Platform, owner: Caller, guild: Guild) -> None:
    await guild.set(system_channel_id=guild.general)
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob, request = await submit(platform, guild)
    keeper = await guild.member_with(Permissions.KICK_MEMBERS)
    with platform.listening() as heard:
        reply = await keeper.patch(requests(guild, f"/{request['id']}"), {"action": "APPROVED"}, reason="nice")
    assert reply.status == 200, reply.body
    assert heard == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE", AUDIT, UPDATE, UPDATE]
    assert (reply.json["application_status"], reply.json["rejection_reason"]) == ("APPROVED", None)
    assert reply.json["actioned_by_user"]["id"] == str(keeper.id)
    assert reply.json["reviewed_at"] is not None
    assert not await pending(guild, bob)
    assert (await guild.audit_log())[-1] == (24, bob.id, "nice")
    again = await keeper.patch(requests(guild, f"/{request['id']}"), {"action": "REJECTED"})
    assert again.errors_at("action")


async def test_rejection_removes_the_member_who_may_ask_again(platform: Platform, owner: Caller, guild: Guild) -> None:
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob, request = await submit(platform, guild)
    body = {"action": "REJECTED", "rejection_reason": "Too new"}
    with platform.listening() as heard:
        reply = await owner.patch(requests(guild, f"/{request['id']}"), body)
    assert heard == ["GUILD_MEMBER_REMOVE", AUDIT, UPDATE, UPDATE]
    assert (reply.json["application_status"], reply.json["rejection_reason"]) == ("REJECTED", "Too new")
    assert (await bob.get(f"/guilds/{guild.id}")).code == 10004
    assert platform.heard[-1].user_ids == [bob.id]
    second = await rejoin(guild, bob)
    assert second["id"] != request["id"]
    statuses = [each["application_status"] for each in (await owner.get(requests(guild))).json["guild_join_requests"]]
    assert statuses == ["SUBMITTED", "REJECTED"]


async def rejoin(guild: Guild, bob: Caller) -> dict[str, Any]:
    form = (await guild.owner.get(url(guild))).json
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert (await bob.post(f"/invites/{code}", {})).status == 200
    reply = await bob.put(requests(guild, "/@me"), answers(form, True, "Please", None, 1))
    assert reply.status == 200, reply.body
    request: dict[str, Any] = reply.json
    return request


async def test_requests_are_listed_by_status_in_pages(platform: Platform, owner: Caller, guild: Guild) -> None:
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    ids = [(await submit(platform, guild, f"person{number}"))[1]["id"] for number in range(4)]
    await owner.patch(requests(guild, f"/{ids[0]}"), {"action": "APPROVED"})
    for query, expected, total in (
        ({}, ids[::-1], 4),
        ({"status": "SUBMITTED"}, ids[:0:-1], 3),
        ({"status": "APPROVED"}, ids[:1], 1),
        ({"status": "REJECTED"}, [], 0),
        ({"limit": 2}, ids[:1:-1], 4),
        ({"before": ids[2], "limit": 1}, [ids[1]], 4),
        ({"after": ids[0], "limit": 2}, ids[1:3], 4),
        ({"after": ids[2], "status": "SUBMITTED"}, ids[3:], 3),
    ):
        listed = (await owner.get(requests(guild), **query)).json
        assert ([each["id"] for each in listed["guild_join_requests"]], listed["total"]) == (expected, total), query
    for query in ({"status": "STARTED"}, {"limit": 0}, {"limit": 101}):
        assert (await owner.get(requests(guild), **query)).status == 400


async def test_only_moderators_of_the_guild_review_its_requests(
    platform: Platform, owner: Caller, guild: Guild
) -> None:
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob, request = await submit(platform, guild)
    other = await platform.guild(owner)
    path, body = f"/{request['id']}", {"action": "APPROVED"}
    plain = await guild.member_with(Permissions.BAN_MEMBERS)
    platform.heard.clear()
    for caller in (plain, bob):
        assert (await caller.get(requests(guild))).code == 50013
        assert (await caller.patch(requests(guild, path), body)).code == 50013
    assert (await owner.patch(requests(other, path), body)).status == 404
    for wrong in ({}, {"action": "SUBMITTED"}, {"action": None}):
        assert (await owner.patch(requests(guild, path), wrong)).errors_at("action")
    long = {"action": "REJECTED", "rejection_reason": "x" * 161}
    assert (await owner.patch(requests(guild, path), long)).errors_at("rejection_reason")
    assert platform.heard == []


@pytest.mark.parametrize("way", ["withdraws", "leaves", "is kicked", "is banned"])
async def test_a_request_is_withdrawn_with_its_member(
    platform: Platform, owner: Caller, guild: Guild, way: str
) -> None:
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob, request = await submit(platform, guild)
    done = {
        "withdraws": (bob.delete, requests(guild, "/@me")),
        "leaves": (bob.delete, f"/users/@me/guilds/{guild.id}"),
        "is kicked": (owner.delete, f"/guilds/{guild.id}/members/{bob.id}"),
        "is banned": (owner.put, f"/guilds/{guild.id}/bans/{bob.id}"),
    }
    call, path = done[way]
    assert (await call(path)).status == 204
    expected = {"guild_id": str(guild.id), "id": request["id"], "user_id": str(bob.id)}
    assert platform.heard_data(DELETE) == [expected, expected]
    assert (await owner.get(requests(guild))).json == {"guild_join_requests": [], "total": 0}
    assert (await owner.patch(requests(guild, f"/{request['id']}"), {"action": "APPROVED"})).status == 404
    assert (await bob.delete(requests(guild, "/@me"))).status == 404


async def test_disabling_screening_approves_what_awaits_review(platform: Platform, owner: Caller, guild: Guild) -> None:
    await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob, _ = await submit(platform, guild)
    await owner.patch(url(guild), {"enabled": False})
    await JobRunner(platform.services).drain()
    assert not await pending(guild, bob)
    (request,) = (await owner.get(requests(guild))).json["guild_join_requests"]
    assert (request["application_status"], request["actioned_by_user"]) == ("APPROVED", None)
    assert platform.heard_names.count(UPDATE) == 2


@pytest.mark.parametrize(
    ("position", "response"),
    [
        (0, False), (0, None), (1, None), (1, " "), (1, 5), (1, "x" * 151), (2, "x" * 1001), (2, True),
        (3, None), (3, 2), (3, -1), (3, "red"), (3, True),
    ],
)  # fmt: skip
async def test_invalid_responses_are_reported_at_their_field(
    platform: Platform, owner: Caller, guild: Guild, position: int, response: object
) -> None:
    form = await gate(owner, guild, RULES, WHY, MORE, COLOR)
    bob = await newcomer(platform, guild)
    responses: list[object] = [True, "x" * 150, "x" * 1000, 0]
    responses[position] = response
    platform.heard.clear()
    reply = await bob.put(requests(guild, "/@me"), answers(form, *responses))
    assert list(reply.json["errors"]["form_fields"]) == [str(position)]
    assert len(reply.errors_at(f"form_fields.{position}.response")) == 1
    assert platform.heard == []


@pytest.mark.parametrize(
    ("field", "path"),
    [
        ({**COLOR, "choices": []}, "choices"),
        ({**COLOR, "choices": ["x"] * 9}, "choices"),
        ({**COLOR, "choices": ["x" * 151]}, "choices.0"),
        ({"field_type": "MULTIPLE_CHOICE", "label": "x"}, "choices"),
        ({**WHY, "placeholder": "x" * 151}, "placeholder"),
        ({**WHY, "field_type": "VERIFICATION"}, "field_type"),
    ],
)
async def test_invalid_questions_are_refused(owner: Caller, guild: Guild, field: dict[str, Any], path: str) -> None:
    reply = await owner.patch(url(guild), {"enabled": True, "form_fields": [RULES, field]})
    assert reply.errors_at(f"form_fields.1.{path}"), reply.body
