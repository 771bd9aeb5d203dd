"""What operators do to accounts, guilds and settings: stored, enforced at once, announced, and in their log."""

import asyncio

from moothall.objects.ids import Snowflake
from moothall.objects.operator import OperatorPermission
from tests.support.harness import Caller, Platform
from tests.support.operators import acts, log_rows, make_operator, make_token

USERS, SETTINGS = OperatorPermission.USERS, OperatorPermission.SETTINGS
PASSWORD = "correct horse battery"


async def registered(platform: Platform, name: str, **fields: str) -> Caller:
    body = {"username": name, "password": PASSWORD, **fields}
    reply = await platform.anonymous.post("/auth/register", body)
    assert reply.status == 201, reply.body
    return Caller(platform, Snowflake.from_wire(reply.json["user_id"]), reply.json["token"], name=name)


async def test_a_suspended_user_is_out_at_once_and_the_login_says_why(platform: Platform) -> None:
    operator, wanda = await make_operator(platform, USERS), await registered(platform, "wanda")
    path = f"/admin/v1/users/{wanda.id}"
    assert (await operator.get(path)).json["logins"] == 1
    with platform.listening():
        reply = await operator.post(f"{path}/suspend", reason="spam")
    assert (reply.status, reply.json["state"]) == (200, "suspended")
    assert (await wanda.get("/users/@me")).status == 401
    # Gateway nodes end the sessions of the account.
    assert "SESSIONS_CLOSE" in [envelope.name for envelope in platform.heard]
    login = await platform.anonymous.post("/auth/login", {"login": "wanda", "password": PASSWORD, "undelete": True})
    assert (login.status, login.code) == (403, 20013)
    assert "operator" in login.json["message"]
    assert (await operator.post(f"{path}/restore")).json["state"] == "active"
    assert (await platform.anonymous.post("/auth/login", {"login": "wanda", "password": PASSWORD})).status == 200
    rows = (await log_rows(platform))[1:]
    assert [(row.act, row.user_id, row.target_id, row.origin) for row in rows] == [
        ("user.suspend", operator.id, wanda.id, "session"),
        ("user.restore", operator.id, wanda.id, "session"),
    ]
    assert (rows[0].changes, rows[0].reason) == ('{"state":["active","suspended"]}', "spam")


async def test_users_are_searched_by_name_address_and_state_in_pages(platform: Platform) -> None:
    operator = await make_operator(platform, USERS, name="zz")
    for name in ("wanda", "willy", "wil%ma"):
        await platform.person(name, email=f"{name[0:3]}@example.org", pending=2 if name == "willy" else 0)

    async def names(**query: object) -> list[str]:
        reply = await operator.get("/admin/v1/users", **query)
        assert reply.status == 200, reply.body
        return [user["username"] for user in reply.json]

    assert await names(search="WAN") == ["wanda"]
    assert await names(search="wil%") == ["wil%ma"]
    assert await names(search="@example.org") == ["wil%ma", "willy", "wanda"]
    assert await names(state="pending") == ["willy"]
    assert await names(state="unverified") == ["wil%ma", "willy", "wanda"]
    first = (await operator.get("/admin/v1/users", limit=2)).json
    assert [user["username"] for user in first] == ["wil%ma", "willy"]
    assert await names(limit=2, before=first[-1]["id"]) == ["wanda", "zz"]


async def test_a_link_for_a_new_password_logs_out_and_is_good_once(platform: Platform) -> None:
    operator, wanda = await make_operator(platform, USERS), await registered(platform, "wanda")
    made = await operator.post(f"/admin/v1/users/{wanda.id}/reset-link", {"minutes": 5})
    assert made.status == 201
    body = {"token": made.json["link"].partition("token=")[2], "password": "quite another staple"}
    assert (await platform.anonymous.post("/auth/reset", body)).status == 200
    assert (await platform.anonymous.post("/auth/reset", body)).status == 400
    assert (await wanda.get("/users/@me")).status == 401
    assert body["token"] not in str(await log_rows(platform))


async def test_users_are_logged_out_approved_and_deleted(platform: Platform) -> None:
    operator, wanda = await make_operator(platform, USERS), await registered(platform, "wanda")
    path = f"/admin/v1/users/{wanda.id}"
    assert (await operator.post(f"{path}/log-out")).status == 204
    assert (await wanda.get("/users/@me")).status == 401
    assert (await operator.post(f"{path}/approve")).json["state"] == "active"
    deleted = (await operator.delete(path, days=3)).json
    assert deleted["state"] == "suspended"
    assert deleted["deletes_at"] is not None
    assert (await operator.post(f"{path}/restore")).json["deletes_at"] is None
    assert (await operator.delete(path, days=0)).status == 200
    await platform.run_due_jobs()
    assert (await operator.get(path)).code == 10013
    assert (await acts(platform))[1:] == [
        "user.log_out", "user.approve", "user.delete", "user.restore", "user.delete"
    ]  # fmt: skip


async def test_of_two_operators_who_suspend_each_other_the_first_act_holds(platform: Platform) -> None:
    one, two = await make_operator(platform, USERS), await make_operator(platform, USERS)
    replies = await asyncio.gather(
        one.post(f"/admin/v1/users/{two.id}/suspend"), two.post(f"/admin/v1/users/{one.id}/suspend")
    )
    assert sorted(reply.status for reply in replies) in ([200, 401], [200, 403])
    states = [
        (await (await make_operator(platform, USERS)).get(f"/admin/v1/users/{each.id}")).json["state"]
        for each in (one, two)
    ]
    assert sorted(states) == ["active", "suspended"]
    assert (await acts(platform)).count("user.suspend") == 1


async def test_a_suspended_operator_acts_no_more_by_a_token_either(platform: Platform) -> None:
    chief, operator = await make_operator(platform), await make_operator(platform, USERS)
    program, victim = await make_token(platform, operator, USERS), await platform.person()
    assert (await chief.post(f"/admin/v1/users/{operator.id}/suspend")).status == 200
    assert (await program.post(f"/admin/v1/users/{victim.id}/suspend")).status == 401


async def test_no_operator_acts_on_themselves_or_on_one_who_may_more(platform: Platform) -> None:
    chief, operator = await make_operator(platform), await make_operator(platform, USERS)
    for target in (chief, operator):
        path = f"/admin/v1/users/{target.id}"
        for method, url in (
            ("POST", f"{path}/suspend"),
            ("POST", f"{path}/restore"),
            ("POST", f"{path}/log-out"),
            ("POST", f"{path}/reset-link"),
            ("DELETE", path),
        ):
            reply = await operator.request(method, url)
            assert (reply.status, reply.code) == (403, 50013), url
    assert (await chief.get("/users/@me")).status == 200


async def test_an_operator_with_two_factors_proves_them_before_acting_on_accounts(platform: Platform) -> None:
    operator, victim = await make_operator(platform, USERS, mfa_enabled=True), await platform.person()
    program, path = await make_token(platform, operator, USERS), f"/admin/v1/users/{victim.id}"
    for url in (f"{path}/suspend", f"{path}/reset-link"):
        reply = await operator.post(url)
        assert (reply.status, reply.code) == (401, 60003)
        assert reply.json["mfa"]["ticket"]
    assert (await operator.get(path)).json["state"] == "active"
    # A program has proved itself by its token.
    assert (await program.post(f"{path}/suspend")).status == 200


async def test_a_deleted_account_is_no_operator(platform: Platform) -> None:
    chief, operator = await make_operator(platform), await make_operator(platform, USERS)
    assert (await chief.delete(f"/admin/v1/users/{operator.id}", days=0)).status == 200
    await platform.run_due_jobs()
    assert [each["username"] for each in (await chief.get("/admin/v1/operators")).json] == [chief.name]


async def test_settings_are_in_force_at_once_and_null_brings_back_the_configuration(platform: Platform) -> None:
    operator = await make_operator(platform, SETTINGS)
    reply = await operator.patch(
        "/admin/v1/settings", {"registration": "closed", "instance_name": "The Hall"}, reason="flood"
    )
    settings = {each["name"]: each for each in reply.json}
    assert (settings["registration"]["value"], settings["registration"]["configured"]) == ("closed", "open")
    assert settings["registration"]["changed_by"] == str(operator.id)
    body = {"username": "wanda", "password": PASSWORD}
    assert (await platform.anonymous.post("/auth/register", body)).status == 403
    for wrong in (
        {"registration": "domain"},
        {"registration": "some"},
        {"password_min_score": 9},
        {"instance_name": ""},
    ):
        assert (await operator.patch("/admin/v1/settings", wrong)).status == 400, wrong
    assert (await operator.patch("/admin/v1/settings", {"registration": "closed"})).status == 200
    assert (await operator.patch("/admin/v1/settings", {"registration": None})).status == 200
    assert (await platform.anonymous.post("/auth/register", body)).status == 201
    rows = (await log_rows(platform))[1:]
    assert [row.changes for row in rows] == [
        '{"instance_name":["Moothall","The Hall"],"registration":["open","closed"]}',
        '{"registration":["closed","open"]}',
    ]
    assert rows[0].reason == "flood"


async def test_guilds_are_found_changed_and_transferred_to_members(platform: Platform) -> None:
    operator = await make_operator(platform, OperatorPermission.GUILDS)
    owner, member, stranger = await platform.person(), await platform.person(), await platform.person()
    guild = await platform.guild(owner, name="Town 100%")
    await platform.guild(owner, name="Village")
    await guild.join(member)
    path = f"/admin/v1/guilds/{guild.id}"
    (listed,) = (await operator.get("/admin/v1/guilds", search="100%")).json
    assert (listed["id"], listed["owner_name"], listed["member_count"]) == (str(guild.id), owner.name, 2)
    with platform.listening() as heard:
        changed = await operator.patch(path, {"features": ["VANITY_URL"], "premium_tier": 2}, reason="asked")
    assert (changed.json["features"], changed.json["premium_tier"]) == (["VANITY_URL"], 2)
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_UPDATE"]
    bot = await platform.bot(owner)
    await guild.join(bot)
    for new_owner in (stranger, bot):
        assert (await operator.patch(path, {"owner_id": str(new_owner.id)})).errors_at("owner_id")
    assert (await operator.patch(path, {"features": ["NO_SUCH"]})).status == 400
    assert (await operator.patch(path, {"owner_id": str(member.id)})).json["owner_id"] == str(member.id)
    assert (await member.patch(f"/guilds/{guild.id}", {"name": "Mine"})).status == 200
    assert (await owner.patch(f"/guilds/{guild.id}", {"name": "Mine"})).status == 403
    rows = (await log_rows(platform))[1:]
    assert [(row.act, row.target_id, row.reason) for row in rows] == [
        ("guild.change", guild.id, "asked"),
        ("guild.change", guild.id, None),
    ]
    assert rows[1].changes == f'{{"owner_id":["{int(owner.id)}","{int(member.id)}"]}}'


async def test_the_log_and_the_overview_are_read_by_operators(platform: Platform) -> None:
    operator, wanda = await make_operator(platform), await registered(platform, "wanda")
    await platform.guild(wanda)
    await operator.post(f"/admin/v1/users/{wanda.id}/suspend", reason="spam")
    entries = (await operator.get("/admin/v1/log", act="user", target_id=wanda.id)).json
    assert [(each["act"], each["changes"], each["reason"]) for each in entries] == [
        ("user.suspend", {"state": ["active", "suspended"]}, "spam")
    ]
    assert [each["act"] for each in (await operator.get("/admin/v1/log", limit=1)).json] == ["user.suspend"]
    assert len((await operator.get("/admin/v1/log", before=entries[0]["number"])).json) == 1
    assert (await operator.get("/admin/v1/log", user_id=operator.id)).json == entries
    overview = (await operator.get("/admin/v1/overview")).json
    assert (overview["operators"], overview["registration"]) == (1, "open")
    figures = overview["figures"]
    assert (figures["users"], figures["suspended_users"], figures["guilds"]) == (2, 1, 1)
    assert (await operator.get("/admin/v1/mails")).json == []
