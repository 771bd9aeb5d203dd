"""Reports: what is reported is kept as it was, operators close it, and the reporter is notified."""

from typing import Any

import msgspec

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.harvest.account import account_document
from moothall.resources.report.menu import LANGUAGES, REASONS, TEXTS
from moothall.resources.report.operations import PER_ACCOUNT, Outcome
from tests.support.harness import Caller, Guild, Platform
from tests.support.mail_server import config_of, mail_server, send_mail_by, text_of
from tests.support.operators import log_rows, make_operator

REPORTS = OperatorPermission.REPORTS
QUEUE = "/admin/v1/reports"


async def way_to(caller: Caller, name: str, reason: str) -> dict[str, Any]:
    """The body of a client that has gone through a menu to a reason."""
    menu = (await caller.get(f"/reporting/menu/{name}")).json
    root = menu["nodes"][str(menu["root_node_id"])]
    (node_id,) = [target for _, target in root["children"] if menu["nodes"][str(target)]["report_type"] == reason]
    return {
        "version": menu["version"],
        "variant": menu["variant"],
        "name": menu["name"],
        "language": menu["language"],
        "breadcrumbs": [menu["root_node_id"], node_id],
        "elements": {"description": ["look at that"]},
    }


async def says(caller: Caller, channel_id: int, content: str) -> str:
    return str((await caller.post(f"/channels/{channel_id}/messages", {"content": content})).json["id"])


async def report_of_message(caller: Caller, guild: Guild, message_id: str) -> str:
    way = await way_to(caller, "message", "spam")
    body = {**way, "channel_id": str(guild.general), "message_id": message_id}
    reply = await caller.post("/reporting/message", body)
    assert reply.status == 200, reply.body
    return str(reply.json["report_id"])


async def test_every_way_through_a_menu_ends_in_a_reason_that_can_be_reported(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    for name in ("message", "user", "guild"):
        menu = (await alice.get(f"/reporting/menu/{name}", variant="7")).json
        nodes = menu["nodes"]
        assert (menu["name"], menu["postback_url"]) == (name, f"/api/reporting/{name}")
        assert {str(menu[f"{kind}_node_id"]) for kind in ("root", "success", "fail")} < set(nodes)
        assert {str(node["id"]) for node in nodes.values()} == set(nodes)
        children = nodes[str(menu["root_node_id"])]["children"]
        assert len(children) > 5
        assert {nodes[str(target)]["button"]["type"] for _, target in children} == {"submit"}
    assert (await alice.get("/reporting/menu/widget")).status == 404
    assert (await alice.post("/reporting/widget", await way_to(alice, "user", "spam"))).status == 404
    way = await way_to(alice, "user", "spam")
    for wrong in ([], [1], [1, 2], [1, 11, 12], [11, 11], [99]):
        reply = await alice.post("/reporting/user", {**way, "breadcrumbs": wrong, "reported_user_id": str(bob.id)})
        assert reply.status == 400, wrong
        assert reply.errors_at("breadcrumbs"), wrong
    assert (await alice.post("/reporting/user", {**way, "name": "guild"})).errors_at("name")
    assert (await alice.post("/reporting/user", way)).errors_at("reported_user_id")
    words = {**TEXTS["en"]}
    assert [set(TEXTS[language]) for language in LANGUAGES] == [set(words)] * len(LANGUAGES)
    assert set(REASONS) < set(words)


async def test_a_menu_is_in_the_language_of_the_reporter(platform: Platform) -> None:
    german = await platform.person(locale="de")
    menu = (await german.get("/reporting/menu/message")).json
    assert menu["language"] == "de"
    assert menu["nodes"][str(menu["root_node_id"])]["header"] == TEXTS["de"]["message"]


async def test_the_evidence_stays_as_it_was_when_the_message_is_edited_and_deleted(platform: Platform) -> None:
    operator, alice = await make_operator(platform, REPORTS), await platform.person()
    guild = await platform.guild(await platform.person())
    await guild.join(alice)
    message_id = await says(guild.owner, guild.general, "buy this")
    report_id = await report_of_message(alice, guild, message_id)
    path = f"/channels/{guild.general}/messages/{message_id}"
    assert (await guild.owner.patch(path, {"content": "hello"})).status == 200
    assert (await guild.owner.delete(path)).status == 204
    (listed,) = (await operator.get(QUEUE)).json
    assert "evidence" not in listed
    report = (await operator.get(f"{QUEUE}/{report_id}")).json
    assert {**report, "evidence": None} == {**listed, "evidence": None}
    assert (report["evidence"]["content"], report["evidence"]["id"]) == ("buy this", message_id)
    assert (report["reason"], report["description"], report["state"]) == ("spam", "look at that", "open")
    assert (report["reporter_id"], report["user_id"]) == (str(alice.id), str(guild.owner.id))
    assert (report["guild_id"], report["channel_id"]) == (str(guild.id), str(guild.general))


async def test_only_what_the_reporter_can_see_is_reported_and_nothing_of_their_own(platform: Platform) -> None:
    alice, stranger = await platform.person(bio="rude"), await platform.person()
    guild = await platform.guild(await platform.person())
    await guild.join(alice)
    message_id = await says(guild.owner, guild.general, "inside")
    way = {**await way_to(alice, "message", "hate"), "channel_id": str(guild.general), "message_id": message_id}
    assert (await stranger.post("/reporting/message", way)).code == 10008
    assert (await guild.owner.post("/reporting/message", way)).errors_at("breadcrumbs")
    assert (await stranger.post("/reporting/message", {**way, "channel_id": "1"})).code == 10008
    way = await way_to(alice, "guild", "hate")
    assert (await stranger.post("/reporting/guild", {**way, "guild_id": str(guild.id)})).code == 10004
    assert (await guild.owner.post("/reporting/guild", {**way, "guild_id": str(guild.id)})).status == 400
    assert (await alice.post("/reporting/guild", {**way, "guild_id": str(guild.id)})).status == 200
    way = await way_to(alice, "user", "hate")
    assert (await alice.post("/reporting/user", {**way, "reported_user_id": str(alice.id)})).status == 400
    assert (await alice.post("/reporting/user", {**way, "reported_user_id": "1"})).code == 10013
    assert (await stranger.post("/reporting/user", {**way, "reported_user_id": str(alice.id)})).status == 200
    operator = await make_operator(platform, REPORTS)
    user, server = [(await operator.get(f"{QUEUE}/{each['id']}")).json for each in (await operator.get(QUEUE)).json]
    assert (user["evidence"]["username"], user["evidence"]["bio"]) == (alice.name, "rude")
    assert (server["evidence"]["id"], server["user_id"]) == (str(guild.id), str(guild.owner.id))


async def test_a_thing_is_reported_once_while_it_is_open_and_ten_things_a_day(platform: Platform) -> None:
    alice, operator = await platform.person(), await make_operator(platform, REPORTS)
    way = await way_to(alice, "user", "spam")
    others = [await platform.person() for _ in range(PER_ACCOUNT + 1)]
    replies = [
        await alice.post("/reporting/user", {**way, "reported_user_id": str(other.id)})
        for other in (others[0], *others)
    ]
    assert [reply.status for reply in replies] == [200] * (PER_ACCOUNT + 1) + [429]
    assert replies[0].json == replies[1].json
    assert replies[-1].json["retry_after"] > 60
    assert len((await operator.get(QUEUE)).json) == PER_ACCOUNT
    # The one who is reported still reports.
    assert (await others[0].post("/reporting/user", {**way, "reported_user_id": str(alice.id)})).status == 200


async def test_a_report_is_closed_once_with_what_was_done_and_its_reporter_is_told(platform: Platform) -> None:
    operator, other = await make_operator(platform, REPORTS), await platform.person()
    alice = await platform.person(email="alice@example.org", email_key="alice@example.org", verified=True, locale="de")
    way = {**await way_to(alice, "user", "spam"), "reported_user_id": str(other.id)}
    report_id = (await alice.post("/reporting/user", way)).json["report_id"]
    path, body = f"{QUEUE}/{report_id}/close", {"outcome": "warned", "note": "was kind before"}
    async with mail_server() as server:
        sender = send_mail_by(platform, config_of(server.port))
        assert (await operator.post(path, {"outcome": "burnt"})).errors_at("outcome")
        closed = await operator.post(path, body, reason="rules")
        assert (closed.status, closed.json["state"], closed.json["reporter_notified"]) == (200, "closed", True)
        assert (await operator.post(path, body)).errors_at("report_id")
        await sender.drain()
    (mail,) = server.to("alice@example.org")
    assert "wurde verwarnt" in text_of(mail)
    assert "was kind" not in text_of(mail)
    assert (await operator.get(QUEUE)).json == []
    (listed,) = (await operator.get(QUEUE, closed=True)).json
    assert (listed["outcome"], listed["note"], listed["closed_by"]) == ("warned", "was kind before", str(operator.id))
    row = (await log_rows(platform))[-1]
    assert (row.act, row.user_id, row.target_id, row.reason) == ("report.close", operator.id, int(report_id), "rules")
    assert msgspec.json.decode(row.changes) == {
        "state": ["open", "closed"],
        "outcome": [None, "warned"],
        "reporter_notified": [None, True],
    }
    # Closed, it can be reported again.
    assert (await alice.post("/reporting/user", way)).json["report_id"] != report_id


async def test_an_operator_sees_nothing_of_reports_about_themselves(platform: Platform) -> None:
    operator, chief = await make_operator(platform, REPORTS), await make_operator(platform, REPORTS)
    alice = await platform.person()
    way = {**await way_to(alice, "user", "spam"), "reported_user_id": str(operator.id)}
    report_id = (await alice.post("/reporting/user", way)).json["report_id"]
    assert (await operator.get(QUEUE)).json == []
    assert (await operator.get(f"{QUEUE}/{report_id}")).status == 404
    assert (await operator.post(f"{QUEUE}/{report_id}/close", {"outcome": "no_violation"})).status == 404
    assert [each["id"] for each in (await chief.get(QUEUE)).json] == [report_id]


async def test_a_deleted_account_is_in_no_report_that_it_made_and_in_no_closed_one_about_it(platform: Platform) -> None:
    chief = await make_operator(platform)
    alice, bob = await platform.person(), await platform.person()
    way = await way_to(alice, "user", "spam")
    made = (await alice.post("/reporting/user", {**way, "reported_user_id": str(bob.id)})).json["report_id"]
    about = (await bob.post("/reporting/user", {**way, "reported_user_id": str(alice.id)})).json["report_id"]
    assert (await chief.post(f"{QUEUE}/{about}/close", {"outcome": "no_violation"})).status == 200
    assert (await chief.delete(f"/admin/v1/users/{alice.id}", days=0)).status == 200
    await platform.run_due_jobs()
    (left,) = (await chief.get(QUEUE)).json
    assert (left["id"], left["reporter_id"], left["description"]) == (made, None, "")
    assert (await chief.get(QUEUE, closed=True)).json == []
    assert (await chief.post(f"{QUEUE}/{made}/close", {"outcome": "other"})).json["reporter_notified"] is False


async def test_a_report_is_deleted_90_days_after_it_is_closed_and_after_a_year_in_any_case(platform: Platform) -> None:
    chief, alice, bob = await make_operator(platform), await platform.person(), await platform.person()
    body = {**await way_to(alice, "user", "spam"), "reported_user_id": str(bob.id)}
    first = (await alice.post("/reporting/user", body)).json["report_id"]
    assert (await chief.post(f"{QUEUE}/{first}/close", {"outcome": Outcome.OTHER})).status == 200
    second = (await alice.post("/reporting/user", body)).json["report_id"]
    for days, left in ((89, {first, second}), (91, {second}), (364, {second}), (366, set())):
        await platform.run_jobs_at(Timestamp(Timestamp.now() + days * 86_400_000))
        listed = [*(await chief.get(QUEUE)).json, *(await chief.get(QUEUE, closed=True)).json]
        assert {each["id"] for each in listed} == left, days


async def test_the_archive_of_a_user_has_the_reports_that_they_made_and_no_evidence(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person(bio="a secret life")
    body = {**await way_to(alice, "user", "spam"), "reported_user_id": str(bob.id)}
    report_id = (await alice.post("/reporting/user", body)).json["report_id"]

    async def documents(ctx: Context) -> list[bytes]:
        return [await account_document(ctx, caller.id) for caller in (alice, bob)]

    mine, others = await unit_of_work.run(platform.services, ANONYMOUS, documents, fires=())
    (report,) = msgspec.json.decode(mine)["reports"]
    assert (report["id"], report["description"], report["outcome"]) == (report_id, "look at that", None)
    assert b"a secret life" not in mine
    assert msgspec.json.decode(others)["reports"] == []
