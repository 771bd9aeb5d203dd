"""Operators: the link for the first one, what each may do, and that no operator raises their own permissions."""

import asyncio

from msgspec import structs

from moothall.objects.operator import OperatorPermission
from tests.support.harness import Platform
from tests.support.operators import acts, claim_token, log_rows, make_operator, make_token

USERS, GUILDS, OPERATORS, LOG = (
    OperatorPermission.USERS,
    OperatorPermission.GUILDS,
    OperatorPermission.OPERATORS,
    OperatorPermission.LOG,
)


def claim_body(token: str | None, **changes: object) -> dict[str, object]:
    return {
        "token": token,
        "username": "olga",
        "password": "correct horse battery",
        "instance_name": "The Hall",
        "registration": "closed",
        **changes,
    }


async def test_the_link_makes_the_first_operator_once(platform: Platform) -> None:
    first = await claim_token(platform)
    token = await claim_token(platform)
    for wrong in ("", "x" * 43, first):
        reply = await platform.anonymous.post("/admin/v1/setup", claim_body(wrong))
        assert (reply.status, reply.errors_at("token")) == (400, ["INVALID_TOKEN"])
    weak = await platform.anonymous.post("/admin/v1/setup", claim_body(token, password="password"))
    assert weak.errors_at("password") != []
    made = await platform.anonymous.post("/admin/v1/setup", claim_body(token))
    assert made.status == 201
    again = await platform.anonymous.post("/admin/v1/setup", claim_body(token, username="mallory"))
    assert again.errors_at("token") == ["INVALID_TOKEN"]
    assert await claim_token(platform) is None
    assert (platform.services.limits.instance_name, platform.services.limits.registration) == ("The Hall", "closed")
    headers = [("authorization", made.json["token"])]
    me = await platform.anonymous.get("/admin/v1/operators/@me", headers=headers)
    assert (me.json["username"], len(me.json["permissions"])) == ("olga", len(OperatorPermission))
    rows = await log_rows(platform)
    assert [(row.act, row.actor, row.origin) for row in rows] == [
        ("operator.claim", "olga", "setup"),
        ("setting.change", "olga", "setup"),
    ]


async def test_of_two_who_use_the_link_at_once_one_becomes_the_operator(platform: Platform) -> None:
    token = await claim_token(platform)
    replies = await asyncio.gather(
        *(platform.anonymous.post("/admin/v1/setup", claim_body(token, username=f"olga{n}")) for n in range(3))
    )
    assert sorted(reply.status for reply in replies) == [201, 400, 400]


async def test_a_link_is_good_only_while_there_is_no_operator(platform: Platform) -> None:
    token = await claim_token(platform)
    await make_operator(platform)
    reply = await platform.anonymous.post("/admin/v1/setup", claim_body(token))
    assert reply.errors_at("token") == ["INVALID_TOKEN"]


async def test_a_token_of_an_operator_opens_nothing_but_their_endpoints(platform: Platform) -> None:
    operator = await make_operator(platform)
    guild = await platform.guild(operator)
    program = await make_token(platform, operator)
    assert (await program.get("/admin/v1/operators/@me")).status == 200
    for path in ("/users/@me", f"/guilds/{guild.id}", "/gateway", "/users/@me/guilds"):
        reply = await program.get(path)
        assert (reply.status, reply.code) == (403, 50026), path
    bare = [("authorization", program.token)]
    assert (await platform.anonymous.get("/admin/v1/operators/@me", headers=bare)).status == 401


async def test_a_token_may_no_more_than_its_operator_may_now(platform: Platform) -> None:
    chief, operator = await make_operator(platform), await make_operator(platform, OPERATORS, LOG)
    program = await make_token(platform, operator, OPERATORS)
    assert (await program.get("/admin/v1/operators/@me")).json["permissions"] == ["operators"]
    assert (await program.get("/admin/v1/operators")).status == 200
    path = f"/admin/v1/operators/{operator.id}"
    assert (await chief.put(path, {"permissions": ["log"]})).status == 200
    assert (await program.get("/admin/v1/operators")).status == 403
    assert (await chief.delete(path, reason="left")).status == 204
    assert (await program.get("/admin/v1/operators/@me")).status == 401
    assert (await operator.get("/admin/v1/operators/@me")).status == 403
    assert (await log_rows(platform))[-1].reason == "left"


async def test_no_operator_raises_their_own_permissions(platform: Platform) -> None:
    operator = await make_operator(platform, OPERATORS, USERS)
    chief, friend = await make_operator(platform), await platform.person()
    for target, permissions in (
        (operator, ["operators", "users", "settings"]),
        (operator, ["operators"]),
        (friend, ["settings"]),
        (chief, ["users"]),
    ):
        reply = await operator.put(f"/admin/v1/operators/{target.id}", {"permissions": permissions})
        assert (reply.status, reply.code) == (403, 50013)
    assert (await operator.delete(f"/admin/v1/operators/{chief.id}")).code == 50013
    body = {"name": "more", "permissions": ["users", "settings"]}
    assert (await operator.post("/admin/v1/tokens", body)).errors_at("permissions") == ["BASE_TYPE_CHOICES"]
    assert (await operator.put(f"/admin/v1/operators/{friend.id}", {"permissions": ["users"]})).status == 200
    program = await make_token(platform, chief, USERS)
    more = await program.post("/admin/v1/tokens", {"name": "more", "permissions": ["users", "log"]})
    assert more.status == 400


async def test_operators_need_two_factors_where_the_setting_says_so(platform: Platform) -> None:
    plain, safe = await make_operator(platform), await make_operator(platform, mfa_enabled=True)
    programs = [await make_token(platform, each) for each in (plain, safe)]
    platform.services.limits = structs.replace(platform.services.limits, operators_require_mfa=True)
    for caller, status in ((plain, 403), (programs[0], 403), (safe, 200), (programs[1], 200)):
        reply = await caller.get("/admin/v1/operators")
        assert reply.status == status
        assert status == 200 or reply.code == 60003


async def test_fields_that_an_operator_may_not_set_are_ignored(platform: Platform) -> None:
    operator = await make_operator(platform, OPERATORS, USERS)
    body = {"name": "x", "permissions": ["users"], "user_id": "1", "id": "1", "hash": "x", "expires_at": "9999-01-01"}
    made = await operator.post("/admin/v1/tokens", body)
    (token,) = (await operator.get("/admin/v1/tokens")).json
    assert (token["user_id"], token["id"]) == (str(operator.id), made.json["id"])


async def test_operators_revoke_their_own_tokens_and_those_of_operators_who_may_no_more(platform: Platform) -> None:
    chief, operator, other = (
        await make_operator(platform),
        await make_operator(platform, USERS),
        await make_operator(platform, OPERATORS),
    )
    made = (await operator.post("/admin/v1/tokens", {"name": "x", "permissions": ["users"]})).json
    path = f"/admin/v1/tokens/{made['id']}"
    assert (await other.delete(path)).code == 50013
    own = await make_token(platform, chief, USERS)
    assert (await own.delete(path)).code == 10012
    assert (await chief.delete(path)).status == 204
    assert (await chief.delete(path)).code == 10012
    assert (await acts(platform))[-1] == "token.revoke"
