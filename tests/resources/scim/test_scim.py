"""SCIM: accounts and groups follow the provider, a repeated request changes nothing, and a token opens nothing else."""

from typing import Any

import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.bus.envelope import Audience
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.resources.scim.filters import parse_filter
from moothall.resources.user.queries import select_user
from tests.pages.browser import Browser
from tests.support.harness import Caller, Platform
from tests.support.identity_providers import ProviderServer, single_sign_on
from tests.support.operators import acts, make_operator, make_token, promote
from tests.support.scim import Scim, scim_provider

OFF = {"op": "replace", "path": "active", "value": False}
ON = {"op": "replace", "path": "active", "value": True}


@pytest.fixture
async def scim(platform: Platform) -> Scim:
    """The program of a provider."""
    return await scim_provider(platform)


async def column(platform: Platform, user_id: str, name: str) -> Any:
    async def work(ctx: Context) -> Any:
        return getattr(await select_user(ctx.tx, UserId(Snowflake(int(user_id)))), name)

    return await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())


async def session(platform: Platform, user_id: str) -> Caller:
    """A login of an account, which has no password."""
    caller = Caller(platform, Snowflake(int(user_id)), None)
    token = f"session-of-{user_id}"
    async with platform.database.transaction() as tx:
        await platform._insert_token(tx, token, 1, int(user_id))  # type: ignore[arg-type]
    caller.authorization = caller.token = token
    return caller


async def test_a_user_of_the_provider_has_an_account_with_the_verified_address(scim: Scim) -> None:
    emails = [{"value": "other@corp.example"}, {"value": "anna@corp.example", "primary": True}]
    made = await scim.user(emails=emails, name={"givenName": "Anna", "familyName": "Arendt"})
    assert (made["userName"], made["active"], made["meta"]["version"]) == ("anna@corp.example", True, 'W/"1"')
    assert await column(scim.platform, made["id"], "username") == "anna"
    assert await column(scim.platform, made["id"], "email") == "anna@corp.example"
    assert await column(scim.platform, made["id"], "verified") is True
    assert (await scim.request("GET", f"/Users/{made['id']}")).json == made


async def test_a_deactivated_user_is_logged_out_at_once_and_comes_back_when_activated(scim: Scim) -> None:
    platform, made = scim.platform, await scim.user()
    anna = await session(platform, made["id"])
    assert (await anna.get("/users/@me")).status == 200
    before = len(platform.heard)
    off = await scim.patch(f"/Users/{made['id']}", OFF)
    assert (off.status, off.json["active"]) == (200, False)
    # Published with the commit: the gateway closes the sessions when it hears of it.
    assert [each.audience for each in platform.heard[before:]] == [Audience.NODE]
    assert (await anna.get("/users/@me")).status == 401
    on = await scim.patch(f"/Users/{made['id']}", ON)
    assert on.json["active"] is True
    assert (await anna.get("/users/@me")).status == 401  # the login of before stays ended
    assert await column(platform, made["id"], "suspended") is False
    assert (await acts(platform))[-3:] == ["scim.add_user", "scim.deactivate_user", "scim.activate_user"]


async def test_a_client_that_repeats_itself_changes_nothing(scim: Scim) -> None:
    platform, made = scim.platform, await scim.user()
    group = await scim.group("staff", made["id"])
    body = {name: value for name, value in made.items() if name not in {"id", "meta", "schemas"}}
    requests: list[tuple[str, str, Any]] = [
        ("PUT", f"/Users/{made['id']}", body | {"displayName": "A. A."}),
        ("PATCH", f"/Users/{made['id']}", {"Operations": [OFF]}),
        ("PATCH", f"/Groups/{group['id']}", {"Operations": [{"op": "remove", "path": "members"}]}),
        (
            "PATCH",
            f"/Groups/{group['id']}",
            {"Operations": [{"op": "add", "path": "members", "value": [{"value": made["id"]}]}]},
        ),
        ("PUT", f"/Groups/{group['id']}", {"displayName": "staff", "members": [{"value": made["id"]}]}),
    ]
    for method, path, sent in requests:
        first = await scim.request(method, path, sent)
        assert first.status == 200, first.body
        log = await acts(platform)
        with platform.listening() as heard:
            for _ in range(3):
                again = await scim.request(method, path, sent)
                assert (again.status, again.json) == (200, first.json), path
        assert heard == []
        assert await acts(platform) == log
    twice = await scim.request("POST", "/Users", body)
    assert (twice.status, twice.json["scimType"]) == (409, "uniqueness")
    assert (await scim.request("POST", "/Groups", {"displayName": "staff"})).status == 409
    assert (await scim.request("GET", "/Users")).json["totalResults"] == 1


async def test_a_deleted_user_is_closed_and_can_be_made_again(scim: Scim) -> None:
    made = await scim.user()
    anna = await session(scim.platform, made["id"])
    assert (await scim.request("DELETE", f"/Users/{made['id']}")).status == 204
    assert (await anna.get("/users/@me")).status == 401
    for method in ("GET", "DELETE"):
        assert (await scim.request(method, f"/Users/{made['id']}")).status == 404
    assert await column(scim.platform, made["id"], "deletes_at") is not None
    again = await scim.user()
    assert (again["id"], again["active"]) == (made["id"], True)
    assert await column(scim.platform, made["id"], "deletes_at") is None


async def test_what_an_operator_has_suspended_no_provider_opens(scim: Scim) -> None:
    made = await scim.user()
    await scim.operator.post(f"/admin/v1/users/{made['id']}/suspend")
    for operation in (OFF, ON):
        reply = await scim.patch(f"/Users/{made['id']}", operation)
        assert (reply.status, reply.json["active"]) == (200, False)
    assert await column(scim.platform, made["id"], "suspended") is True


async def test_groups_give_and_take_memberships_and_roles(scim: Scim) -> None:
    platform = scim.platform
    guild = await platform.guild(await platform.person())
    role = await guild.role()
    await scim.map_group("staff", guild.id)
    await scim.map_group("admins", guild.id, role)
    anna, bert = await scim.user(), await scim.user("bert")

    async def member(user: dict[str, Any]) -> list[str] | None:
        await platform.run_due_jobs()
        reply = await guild.owner.get(f"/guilds/{guild.id}/members/{user['id']}")
        return reply.json["roles"] if reply.status == 200 else None

    staff = await scim.group("staff", anna["id"], bert["id"])
    assert (await member(anna), await member(bert)) == ([], [])
    admins = await scim.group("admins", anna["id"])
    assert await member(anna) == [str(int(role))]
    shown = (await scim.request("GET", f"/Users/{anna['id']}")).json["groups"]
    assert sorted(each["display"] for each in shown) == ["admins", "staff"]
    # As Entra writes it.
    removed = {"op": "Remove", "path": f'members[value eq "{anna["id"]}"]'}
    assert (await scim.patch(f"/Groups/{admins['id']}", removed)).status == 200
    assert await member(anna) == []
    assert (await scim.patch(f"/Groups/{staff['id']}", {"op": "replace", "value": {"displayName": "x"}})).status == 200
    assert (await member(anna), await member(bert)) == (None, None)
    assert (await scim.patch(f"/Groups/{staff['id']}", {"op": "replace", "path": "displayName", "value": "staff"})).json
    assert (await member(anna), await member(bert)) == ([], [])
    assert (await scim.request("DELETE", f"/Groups/{staff['id']}")).status == 204
    assert (await member(anna), await member(bert)) == (None, None)


async def test_a_ban_is_stronger_than_a_group_of_the_provider(scim: Scim) -> None:
    platform = scim.platform
    guild = await platform.guild(await platform.person())
    await scim.map_group("staff", guild.id)
    anna, bert = await scim.user(), await scim.user("bert")
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{anna['id']}", {})).status == 204
    await scim.group("staff", anna["id"], bert["id"])
    await platform.run_due_jobs()
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{anna['id']}")).status == 404
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{bert['id']}")).status == 200


async def test_the_person_of_the_external_id_logs_in_to_the_account_with_the_groups_of_scim(
    platform: Platform,
) -> None:
    async with ProviderServer().serving() as server:
        sso = await single_sign_on(platform, server)
        program = await make_token(platform, sso.operator, OperatorPermission.PROVISIONING)
        scim = Scim(platform, sso.operator, sso.provider_id, program.token)
        guild = await platform.guild(await platform.person())
        await sso.map_group("staff", guild.id)
        made = await scim.user(externalId="anna-1")
        await scim.group("staff", made["id"])
        browser = Browser(platform)
        await sso.log_in(browser)  # its claims name no groups
        assert (await sso.me(browser))["id"] == made["id"]
        assert (await guild.owner.get(f"/guilds/{guild.id}/members/{made['id']}")).status == 200
        # Another id than the subject: the verified address of the same provider tells whose account it is.
        other = await scim.user("bert", externalId="object-7", emails=[{"value": "bert@corp.example"}])
        server.person = {"sub": "bert-1", "email": "bert@corp.example", "email_verified": True}
        browser = Browser(platform)
        await sso.log_in(browser)
        assert (await sso.me(browser))["id"] == other["id"]


async def test_an_account_of_another_person_is_never_taken_over_by_its_address(scim: Scim) -> None:
    platform = scim.platform
    owner = await platform.person("holder", email="anna@corp.example", email_key="anna@corp.example", verified=True)
    body = {"userName": "mallory", "emails": [{"value": "anna@corp.example"}]}
    taken = await scim.request("POST", "/Users", body)
    assert (taken.status, taken.json["scimType"]) == (409, "uniqueness")
    made = await scim.user("mallory")
    changed = await scim.request("PUT", f"/Users/{made['id']}", body)
    assert (changed.status, changed.json["scimType"]) == (409, "uniqueness")
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        reply = await scim.request(method, f"/Users/{owner.id}", None if method in {"GET", "DELETE"} else {})
        assert reply.status == 404
    assert await column(platform, str(int(owner.id)), "suspended") is False


async def test_a_token_of_less_than_all_closes_no_operator_who_may_more(scim: Scim) -> None:
    made = await scim.user()
    anna = Caller(scim.platform, Snowflake(int(made["id"])), None)
    await promote(scim.platform, anna)
    for method, body in (("PATCH", {"Operations": [OFF]}), ("DELETE", None)):
        refused = await scim.request(method, f"/Users/{made['id']}", body)
        assert (refused.status, refused.json["status"]) == (403, "403")
    assert await column(scim.platform, made["id"], "suspended") is False


async def test_only_a_token_that_may_provision_opens_scim_and_it_opens_nothing_else(scim: Scim) -> None:
    platform, path = scim.platform, "/scim/v2/corp/Users"
    other = await make_token(platform, scim.operator, OperatorPermission.USERS)
    for authorization, status in (
        (None, 401),
        (f"Operator {scim.token}", 401),
        (f"Bearer {other.token}", 403),
        (f"Bearer {scim.operator.token}", 401),
        (scim.operator.token, 401),
        ("Bearer ", 401),
        ("Bearer x", 401),
    ):
        reply = await Caller(platform, Snowflake(0), authorization).get(path)
        assert (reply.status, reply.json["status"]) == (status, str(status)), authorization
        assert reply.json["schemas"] == ["urn:ietf:params:scim:api:messages:2.0:Error"]
    program = Caller(platform, scim.operator.id, f"Operator {scim.token}")
    for opened in ("/admin/v1/users", "/admin/v1/settings", "/admin/v1/operators", "/users/@me"):
        assert (await program.get(opened)).status == 403
    token = next(
        each for each in (await scim.operator.get("/admin/v1/tokens")).json if "provisioning" in each["permissions"]
    )
    assert (await scim.operator.delete(f"/admin/v1/tokens/{token['id']}")).status == 204
    assert (await scim.request("GET", "/Users")).status == 401


async def test_the_token_of_an_operator_who_may_not_any_more_opens_nothing(scim: Scim) -> None:
    first = await make_operator(scim.platform)
    assert (await first.delete(f"/admin/v1/operators/{scim.operator.id}")).status == 204
    assert (await scim.request("GET", "/Users")).status in {401, 403}


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ('userName eq "ANNA@corp.example"', ["anna"]),
        ('externalId eq "id-bert"', ["bert"]),
        ('externalId eq "ID-bert"', []),
        ('displayName sw "A" or userName co "bert"', ["anna", "bert"]),
        ('not (userName co "corp")', []),
        ('emails[type eq "work" and value ew ".org"]', ["cleo"]),
        ('urn:ietf:params:scim:schemas:core:2.0:User:userName sw "cleo"', ["cleo"]),
        ("active eq true and title pr", ["cleo"]),
        ('meta.created gt "2020-01-01T00:00:00Z"', ["anna", "bert", "cleo"]),
        ("title eq null", ["anna", "bert"]),
    ],
)
async def test_filters_find_what_they_say(scim: Scim, condition: str, names: list[str]) -> None:
    await scim.user("anna")
    await scim.user("bert")
    await scim.user("cleo", title="Boss", emails=[{"value": "c@corp.org", "type": "work"}])
    reply = await scim.request("GET", "/Users", filter=condition)
    assert reply.status == 200, reply.body
    assert [each["userName"].partition("@")[0] for each in reply.json["Resources"]] == names
    assert reply.json["totalResults"] == len(names)


@pytest.mark.parametrize(
    "condition",
    [
        "userName",
        "userName eq",
        "userName is 4",
        'userName eq "a" and',
        "((((",
        "a" * 2000,
        'eq "x"',
        'x[y eq "z"',
        "(" * 500,
    ],
)
async def test_an_odd_filter_is_refused(scim: Scim, condition: str) -> None:
    reply = await scim.request("GET", "/Users", filter=condition)
    assert (reply.status, reply.json.get("scimType")) in {(400, "invalidFilter"), (400, "invalidValue")}


def test_and_binds_stronger_than_or() -> None:
    matches = parse_filter('a eq "1" or b eq "1" and c eq "1"').matches
    assert matches({"a": "1"})
    assert not matches({"b": "1"})
    assert matches({"b": "1", "c": "1"})


async def test_pages_have_every_user_once(scim: Scim) -> None:
    for number in range(5):
        await scim.user(f"user{number}")
    queries: list[dict[str, Any]] = [{}, {"filter": 'userName sw "user"'}]
    for query in queries:
        seen: list[str] = []
        for start in (1, 3, 5, 7):
            reply = await scim.request("GET", "/Users", startIndex=start, count=2, **query)
            assert (reply.json["totalResults"], reply.json["startIndex"]) == (5, start)
            seen += [each["userName"].partition("@")[0] for each in reply.json["Resources"]]
        assert seen == [f"user{number}" for number in range(5)]
        assert (await scim.request("GET", "/Users", count=0, **query)).json["Resources"] == []


async def test_of_two_who_change_a_user_the_second_is_refused_by_its_version(scim: Scim) -> None:
    made = await scim.user()
    path, version = f"/Users/{made['id']}", made["meta"]["version"]
    assert (await scim.request("GET", path, headers=[("if-none-match", version)])).status == 304
    change = {"op": "replace", "path": "title", "value": "Boss"}
    first = await scim.patch(path, change, headers=[("if-match", version)])
    assert (first.status, first.headers["etag"]) == (200, 'W/"2"')
    second = await scim.patch(path, change | {"value": "Clerk"}, headers=[("if-match", version)])
    assert (second.status, second.json["status"]) == (412, "412")
    assert (await scim.request("GET", path)).json["title"] == "Boss"


async def test_operations_in_the_ways_that_providers_write_them(scim: Scim) -> None:
    made = await scim.user(emails=[{"value": "anna@corp.example", "type": "home"}])
    path = f"/Users/{made['id']}"
    changes: list[tuple[dict[str, Any], str, Any]] = [
        ({"op": "Replace", "path": "active", "value": "False"}, "active", False),
        ({"op": "add", "value": {"ACTIVE": True, "name.givenName": "Anna"}}, "active", True),
        (
            {"op": "Add", "path": "NAME.familyName", "value": "Arendt"},
            "name",
            {"givenName": "Anna", "familyName": "Arendt"},
        ),
        (
            {"op": "Add", "path": 'emails[type eq "work"].value', "value": "work@corp.example"},
            "emails",
            [{"value": "anna@corp.example", "type": "home"}, {"value": "work@corp.example", "type": "work"}],
        ),
        (
            {"op": "remove", "path": 'emails[type eq "home"]'},
            "emails",
            [{"value": "work@corp.example", "type": "work"}],
        ),
        ({"op": "remove", "path": "name"}, "name", None),
    ]
    for operation, name, value in changes:
        reply = await scim.patch(path, operation)
        assert (reply.status, reply.json.get(name)) == (200, value), operation
    assert await column(scim.platform, made["id"], "email") == "work@corp.example"
    odd: list[tuple[dict[str, Any], str]] = [
        ({"op": "replace", "path": "id", "value": "7"}, "mutability"),
        ({"op": "remove"}, "noTarget"),
        ({"op": "replace", "path": 'emails[type eq "none"].value', "value": "x@y.example"}, "noTarget"),
        ({"op": "remove", "path": "userName"}, "invalidValue"),
        ({"op": "replace", "path": "][", "value": 1}, "invalidPath"),
        ({"op": "jump", "path": "title"}, "invalidSyntax"),
    ]
    for operation, scim_type in odd:
        reply = await scim.patch(path, operation)
        assert (reply.status, reply.json["scimType"]) == (400, scim_type), operation


async def test_a_user_is_found_by_the_id(scim: Scim) -> None:
    made = await scim.user()
    assert len(made["id"]) == 19
    for value, ids in ((made["id"], [made["id"]]), ("9" * 19, []), ("9" * 900, []), ("x", [])):
        listed = await scim.request("GET", "/Users", filter=f'id eq "{value}"')
        assert [each["id"] for each in listed.json["Resources"]] == ids


async def test_members_are_users_of_the_same_provider(scim: Scim) -> None:
    stranger = await scim.platform.person()
    for value in (str(int(stranger.id)), "0", "x", str(2**70)):
        reply = await scim.request("POST", "/Groups", {"displayName": "staff", "members": [{"value": value[:20]}]})
        assert (reply.status, reply.json["scimType"]) == (400, "invalidValue")
    group = await scim.group("others")
    for value in ("9" * 5000, str(2**63), "0x1"):
        odd = {"op": "add", "path": "members", "value": [{"value": value}]}
        assert (await scim.patch(f"/Groups/{group['id']}", odd)).status == 400


async def test_nothing_that_a_provider_sends_sets_what_is_not_its(scim: Scim) -> None:
    body: dict[str, Any] = {
        "password": "correct horse battery",
        "mfa_enabled": True,
        "flags": 1,
        "id": "7",
        "operator": True,
    }
    made = await scim.user(**body)
    assert not made.keys() & {"password", "mfa_enabled", "flags", "operator"}
    assert made["id"] != "7"
    assert await column(scim.platform, made["id"], "password_hash") is None
    assert await column(scim.platform, made["id"], "flags") == 0
