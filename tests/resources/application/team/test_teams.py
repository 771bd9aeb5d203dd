"""Teams: membership, roles, ownership and their applications."""

import asyncio
from typing import Any

import pytest

from moothall.objects import limits
from tests.oauth2.flow import App, application, basic, post_form
from tests.support.harness import Caller, Platform


async def create_team(owner: Caller, name: str = "Crew") -> Any:
    reply = await owner.post("/teams", {"name": name})
    assert reply.status == 201, reply.body
    return reply.json


async def add_member(platform: Platform, owner: Caller, team: Any, role: str) -> Caller:
    """A user who was invited with a role and has accepted."""
    member = await platform.person()
    reply = await owner.post(f"/teams/{team['id']}/members", {"username": member.name, "role": role})
    assert reply.status == 200, reply.body
    assert (await member.put(f"/teams/{team['id']}/members/@me")).status == 200
    return member


async def create_team_app(platform: Platform, owner: Caller, team: Any) -> App:
    app = await application(platform, owner)
    reply = await owner.patch(f"/applications/{app.id}", {"team_id": team["id"]})
    assert reply.status == 200, reply.body
    return app


async def test_the_creator_of_a_team_owns_it_and_is_its_first_member(platform: Platform) -> None:
    owner = await platform.person("ada")
    team = await create_team(owner)
    assert (team["name"], team["icon"], team["owner_user_id"]) == ("Crew", None, str(owner.id))
    (member,) = team["members"]
    assert (member["user"]["id"], member["role"], member["membership_state"]) == (str(owner.id), "admin", 2)
    assert (member["team_id"], member["permissions"]) == (team["id"], ["*"])
    assert (await owner.get("/teams")).json == [team]
    assert (await owner.get(f"/teams/{team['id']}")).json == team


async def test_an_invited_user_joins_by_accepting(platform: Platform) -> None:
    owner, guest = await platform.person(), await platform.person("guest")
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    reply = await owner.post(f"/teams/{team['id']}/members", {"username": "guest", "role": "developer"})
    assert (reply.json["membership_state"], reply.json["role"]) == (1, "developer")
    assert [each["id"] for each in (await guest.get("/teams")).json] == [team["id"]]
    assert (await guest.get(f"/teams/{team['id']}/members")).status == 404
    assert (await guest.get(f"/applications/{app.id}")).status == 403
    accepted = await guest.put(f"/teams/{team['id']}/members/@me")
    assert [member["membership_state"] for member in accepted.json["members"]] == [2, 2]
    assert (await guest.get(f"/applications/{app.id}")).status == 200
    assert (await guest.put(f"/teams/{team['id']}/members/@me")).json == accepted.json


async def test_an_application_shows_its_team_to_its_bot(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    shown = (await app.bot.get("/oauth2/applications/@me")).json
    assert shown["team"] == (await owner.get(f"/teams/{team['id']}")).json
    assert shown["owner"]["id"] == str(owner.id)
    assert [each["id"] for each in (await owner.get(f"/teams/{team['id']}/applications")).json] == [app.id]


@pytest.mark.parametrize(
    ("role", "may"),
    [("admin", (200, 200, 200, 200)), ("developer", (200, 200, 403, 403)), ("read_only", (200, 403, 403, 403))],
)
async def test_roles_limit_what_members_may_do(platform: Platform, role: str, may: tuple[int, ...]) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    member = await add_member(platform, owner, team, role)
    assert (
        (await member.get(f"/applications/{app.id}")).status,
        (await member.post(f"/applications/{app.id}/reset")).status,
        (await member.patch(f"/teams/{team['id']}", {"name": "Other"})).status,
        (await member.post(f"/teams/{team['id']}/members", {"username": (await platform.person()).name})).status,
    ) == may
    listed = await member.get("/applications", with_team_applications=True)
    assert [each["id"] for each in listed.json] == [app.id]
    assert (await member.get("/applications")).json == []
    assert (await member.patch(f"/applications/{app.id}", {"team_id": None})).status == 403
    assert (await member.delete(f"/teams/{team['id']}")).status == 403


async def test_a_private_application_is_installed_by_team_members_only(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    await owner.patch(f"/applications/{app.id}", {"bot_public": False})
    reader, stranger = await add_member(platform, owner, team, "read_only"), await platform.person()
    assert (await reader.get("/oauth2/authorize", client_id=app.id, scope="bot")).status == 200
    refused = await stranger.get("/oauth2/authorize", client_id=app.id, scope="bot")
    assert (refused.status, refused.code) == (403, 20012)


async def test_client_credentials_of_a_team_application_grant_only_a_few_scopes(platform: Platform) -> None:
    owner = await platform.person()
    app = await create_team_app(platform, owner, await create_team(owner))
    headers = [("authorization", basic(app.id, app.secret))]
    form = {"grant_type": "client_credentials", "scope": "identify email"}
    refused = await post_form(platform, "/oauth2/token", form, headers)
    assert (refused.status, refused.json["error"]) == (400, "invalid_scope")
    form["scope"] = "identify"
    assert (await post_form(platform, "/oauth2/token", form, headers)).status == 200


async def test_a_transferred_team_keeps_its_applications(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    new_owner = await add_member(platform, owner, team, "read_only")
    outsider = await platform.person()
    refused = await owner.patch(f"/teams/{team['id']}", {"owner_user_id": str(outsider.id)})
    assert (refused.status, refused.errors_at("owner_user_id")) == (400, ["BASE_TYPE_CHOICES"])
    reply = await owner.patch(f"/teams/{team['id']}", {"owner_user_id": str(new_owner.id)})
    assert (reply.status, reply.json["owner_user_id"]) == (200, str(new_owner.id))
    assert (await app.bot.get("/applications/@me")).json["owner"]["id"] == str(new_owner.id)
    assert (await owner.patch(f"/teams/{team['id']}", {"owner_user_id": str(owner.id)})).status == 403
    assert (await owner.patch(f"/applications/{app.id}", {"description": "still an admin"})).status == 200


async def test_an_application_can_move_only_to_a_team_of_its_owner(platform: Platform) -> None:
    owner, other = await platform.person(), await platform.person()
    theirs = await create_team(other)
    app = await application(platform, owner)
    reply = await owner.patch(f"/applications/{app.id}", {"team_id": theirs["id"]})
    assert (reply.status, reply.errors_at("team_id")) == (400, ["BASE_TYPE_CHOICES"])
    assert (await app.bot.patch(f"/applications/{app.id}", {"team_id": theirs["id"]})).status == 403
    created = await other.post("/applications", {"name": "Ours", "team_id": theirs["id"]})
    assert (created.status, created.json["team"]["id"]) == (201, theirs["id"])
    assert (await owner.post("/applications", {"name": "x", "team_id": theirs["id"]})).status == 400
    back = await other.patch(f"/applications/{created.json['id']}", {"team_id": None})
    assert (back.status, back.json["team"]) == (200, None)


async def test_a_team_can_be_deleted_once_it_owns_no_application(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    app = await create_team_app(platform, owner, team)
    member = await add_member(platform, owner, team, "admin")
    assert (await owner.delete(f"/teams/{team['id']}")).status == 400
    await owner.patch(f"/applications/{app.id}", {"team_id": None})
    assert (await owner.delete(f"/teams/{team['id']}")).status == 204
    assert (await member.get("/teams")).json == []
    assert (await owner.get(f"/teams/{team['id']}")).status == 404
    assert (await member.get(f"/applications/{app.id}")).status == 403


async def test_members_leave_or_are_removed_except_the_owner(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    admin, reader = [await add_member(platform, owner, team, role) for role in ("admin", "read_only")]
    path = f"/teams/{team['id']}/members"
    assert (await reader.delete(f"{path}/{admin.id}")).status == 403
    assert (await admin.delete(f"{path}/{owner.id}")).status == 403
    assert (await owner.delete(f"{path}/{owner.id}")).status == 403
    assert (await admin.patch(f"{path}/{owner.id}", {"role": "read_only"})).status == 403
    assert (await admin.patch(f"{path}/{reader.id}", {"role": "developer"})).json["role"] == "developer"
    assert (await reader.delete(f"{path}/{reader.id}")).status == 204
    assert (await admin.delete(f"{path}/{reader.id}")).code == 10013
    assert (await admin.delete(f"{path}/{admin.id}")).status == 204
    assert [each["user"]["id"] for each in (await owner.get(path)).json] == [str(owner.id)]


async def test_invalid_fields_are_refused_at_their_paths(platform: Platform) -> None:
    owner = await platform.person()
    team = await create_team(owner)
    bot = await platform.bot(owner, "robot")
    path = f"/teams/{team['id']}/members"
    for body, field in (
        ({"username": "nobody.there"}, "username"),
        ({"username": bot.name}, "username"),
        ({"username": owner.name}, "username"),
        ({"username": owner.name, "role": "king"}, "role"),
        ({}, "username"),
    ):
        reply = await owner.post(path, body)
        assert (reply.status, bool(reply.errors_at(field))) == (400, True)
    for body in (
        {"name": ""},
        {"name": "x" * 101},
        {"name": "  "},
        {"name": "x", "icon": "data:image/png;base64,AA=="},
    ):
        assert (await owner.post("/teams", body)).status == 400
    assert (await bot.get("/teams")).code == 20001
    assert (await bot.get(f"/teams/{team['id']}")).code == 20001


async def test_other_users_cannot_read_a_team(platform: Platform) -> None:
    owner, stranger = await platform.person(), await platform.person()
    team = await create_team(owner)
    path = f"/teams/{team['id']}"
    for method, where in (
        ("GET", path), ("PATCH", path), ("DELETE", path), ("GET", f"{path}/members"), ("POST", f"{path}/members"),
        ("PUT", f"{path}/members/@me"), ("PATCH", f"{path}/members/{owner.id}"),
        ("DELETE", f"{path}/members/{owner.id}"), ("GET", f"{path}/applications"),
    ):  # fmt: skip
        assert (await stranger.request(method, where, {"username": "x", "role": "admin"})).status == 404


async def test_the_numbers_of_teams_and_members_are_limited(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TEAMS_PER_PERSON", 2)
    monkeypatch.setattr(limits, "TEAM_MEMBERS_MAX", 2)
    owner, other = await platform.person(), await platform.person()
    team = await create_team(owner)
    await add_member(platform, owner, team, "admin")
    reply = await owner.post(f"/teams/{team['id']}/members", {"username": other.name})
    assert (reply.status, bool(reply.errors_at("username"))) == (400, True)
    await create_team(owner)
    assert (await owner.post("/teams", {"name": "Third"})).status == 400


async def test_simultaneous_requests_do_not_exceed_the_limit_of_teams(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "TEAMS_PER_PERSON", 2)
    owner, guest = await platform.person(), await platform.person("guest")
    made = await asyncio.gather(*(owner.post("/teams", {"name": f"Team {n}"}) for n in range(6)))
    assert sorted(reply.status for reply in made) == [201, 201, 400, 400, 400, 400]
    other = await platform.person()
    invited = [made_team["id"] for made_team in (await owner.get("/teams")).json] + [(await create_team(other))["id"]]
    for team_id, inviter in zip(invited, (owner, owner, other), strict=True):
        reply = await inviter.post(f"/teams/{team_id}/members", {"username": "guest", "role": "developer"})
        assert reply.status == 200, reply.body
    joined = await asyncio.gather(*(guest.put(f"/teams/{team_id}/members/@me") for team_id in invited))
    assert sorted(reply.status for reply in joined) == [200, 200, 400]
