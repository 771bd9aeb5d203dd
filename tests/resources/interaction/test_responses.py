"""Responses to interactions: allowed types, once, in time, and edits and followups afterwards."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from moothall.api.ratelimit import RateLimiter
from moothall.objects.wire import Timestamp
from moothall.resources.application.endpoint_requests import RESPONSE_SECONDS
from moothall.storage.database import Query
from moothall.storage.schema import interactions
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.resources.message.attachment.uploading import picture, upload
from tests.support.harness import Platform

BUTTON: dict[str, Any] = {
    "type": 1,
    "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}],
}
MODAL: dict[str, Any] = {
    "custom_id": "form",
    "title": "Form",
    "components": [{"type": 18, "label": "Why", "component": {"type": 4, "custom_id": "why", "style": 1}}],
}
CLICK = {"component_type": 2, "custom_id": "go"}
ENTERED = [{"type": 18, "component": {"type": 4, "custom_id": "why", "value": "so"}}]
LAUNCH_ACTIVITY = 12
DATA: dict[int, Any] = {
    4: {"content": "x"},
    5: None,
    6: None,
    7: {"content": "x"},
    8: {"choices": []},
    9: MODAL,
    LAUNCH_ACTIVITY: None,
}
_age = Query(update(interactions).values(created_at=bindparam("moment")))


async def age_interactions(scenario: Scenario, seconds: float) -> None:
    """Set the age of every interaction."""
    async with scenario.platform.database.transaction() as tx:
        await tx.execute(_age, moment=Timestamp(Timestamp.now() - int(seconds * 1000)))


async def one_of_each_type(scenario: Scenario) -> dict[str, Any]:
    """One interaction of each type."""
    await scenario.app.owner.patch(f"/applications/{scenario.app.id}", {"flags": 1 << 17})
    command = await scenario.create_command(
        options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}]
    )
    used = await scenario.use_command(command)
    message = await scenario.create_message([BUTTON])
    clicked = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    options = [{"type": 3, "name": "a", "value": "", "focused": True}]
    completing = await scenario.create_interaction(4, {"id": command["id"], "type": 1, "options": options})
    modal_opener = await scenario.use_command(command)
    await scenario.respond(modal_opener, 9, MODAL)
    submitted = await scenario.create_interaction(
        5, {"id": modal_opener["id"], "custom_id": "form", "components": ENTERED}
    )
    modal_opener = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    await scenario.respond(modal_opener, 9, MODAL)
    from_message = await scenario.create_interaction(
        5, {"id": modal_opener["id"], "custom_id": "form", "components": ENTERED}
    )
    return {"command": used, "component": clicked, "typing": completing, "modal": submitted, "its modal": from_message}


ALLOWED = {
    "command": {4, 5, 9, 12},
    "component": {4, 5, 6, 7, 9, 12},
    "typing": {8},
    "modal": {4, 5, 6, 12},
    "its modal": {4, 5, 6, 7, 12},
}


@pytest.mark.parametrize("kind", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "x", None])
async def test_each_response_type_is_allowed_for_some_interaction_types(platform: Platform, kind: Any) -> None:
    scenario = await create_scenario(platform)
    for name, interaction in (await one_of_each_type(scenario)).items():
        platform.heard.clear()
        reply = await scenario.respond(interaction, kind, DATA.get(kind))
        if kind in ALLOWED[name] and kind == LAUNCH_ACTIVITY:
            # Accepted as a type; this user has no gateway session to take part with.
            assert (reply.status, reply.code) == (404, 10020), (name, reply.body)
        elif kind in ALLOWED[name]:
            assert reply.status == 204, (name, reply.body)
            assert "INTERACTION_SUCCESS" in platform.heard_names
        else:
            assert (reply.status, reply.code) == (400, 50035), name
            assert reply.errors_at("type"), name
            assert platform.heard == []


async def test_errors_of_a_response_are_below_data_and_the_response_can_be_sent_again(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    platform.heard.clear()
    for wrong, at in (
        ({"content": "x" * 2001}, "data.content"),
        ({"content": []}, "data.content"),
        ({"embeds": [{"title": "x" * 257}]}, "data.embeds.0.title"),
        ({"embeds": [{}] * 11}, "data.embeds"),
        ({"components": [{"type": 1, "components": []}]}, "data.components.0.components"),
        ({"content": "x", "allowed_mentions": {"parse": ["users"], "users": ["1"]}}, "data.allowed_mentions"),
        ({"poll": {"question": {"text": ""}, "answers": []}}, "data.poll.answers"),
        ({"content": "x", "attachments": [{"id": "0"}]}, "data.attachments.0.id"),
        (
            {
                "content": "x",
                "flags": 64,
                "poll": {"question": {"text": "q"}, "answers": [{"poll_media": {"text": "a"}}]},
            },
            "data.poll",
        ),
    ):
        reply = await scenario.respond(interaction, 4, wrong)
        assert (reply.status, reply.code) == (400, 50035), (wrong, reply.body)
        assert reply.errors_at(at), (at, reply.body)
    assert (await scenario.respond(interaction, 4)).code == 50006
    assert (await scenario.respond(interaction, 4, {})).code == 50006
    assert (await scenario.respond(interaction, 5, {"flags": "x"})).errors_at("data.flags")
    assert platform.heard == []
    assert (await scenario.respond(interaction, 4, {"content": "x"})).status == 204


async def test_concurrent_responses_to_an_interaction_succeed_once(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    both = await asyncio.gather(*(scenario.respond(interaction, 4, {"content": str(n)}) for n in range(4)))
    assert sorted(reply.status for reply in both) == [204, 400, 400, 400]
    assert {reply.code for reply in both if reply.status == 400} == {40060}
    assert len(await scenario.history()) == 1
    assert (await scenario.respond(interaction, 5)).code == 40060


async def test_a_response_after_three_seconds_is_refused(platform: Platform) -> None:
    scenario = await create_scenario(platform, seconds=RESPONSE_SECONDS)
    interaction = await scenario.use_command(await scenario.create_command())
    await age_interactions(scenario, 4)
    assert (await scenario.respond(interaction, 4, {"content": "late"})).code == 10062
    assert await scenario.history() == []


async def test_a_token_expires_after_fifteen_minutes(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    message = await scenario.respond_with_message(interaction, 4, {"content": "now"})
    await age_interactions(scenario, 14 * 60)
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "still"})).status == 200
    await age_interactions(scenario, 15 * 60 + 1)
    own = f"/messages/{message['id']}"
    for reply in (
        await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "late"}),
        await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original")),
        await platform.anonymous.patch(scenario.webhook_path(interaction, "/messages/@original"), {"content": "late"}),
        await platform.anonymous.delete(scenario.webhook_path(interaction, own)),
    ):
        assert (reply.status, reply.code) == (401, 50027)
    assert [m["content"] for m in await scenario.history()] == ["still", "now"]


async def test_with_response_returns_what_the_response_created(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    kinds = await one_of_each_type(scenario)
    reply = (await scenario.respond(kinds["command"], 4, {"content": "x", "flags": 64}, with_response=True)).json
    message = reply["resource"].pop("message")
    assert reply == {
        "interaction": {
            "id": kinds["command"]["id"],
            "type": 2,
            "response_message_id": message["id"],
            "response_message_loading": False,
            "response_message_ephemeral": True,
        },
        "resource": {"type": 4},
    }
    reply = (await scenario.respond(kinds["modal"], 5, with_response=True)).json
    assert (reply["interaction"]["response_message_loading"], "resource" in reply) == (True, False)
    loading = await platform.anonymous.get(scenario.webhook_path(kinds["modal"], "/messages/@original"))
    assert loading.json["id"] == reply["interaction"]["response_message_id"]
    reply = (await scenario.respond(kinds["component"], 6, with_response=True)).json
    assert reply["interaction"]["id"] == kinds["component"]["id"]
    assert "resource" not in reply
    reply = (await scenario.respond(kinds["its modal"], 7, {"content": "new"}, with_response=True)).json
    assert reply["interaction"]["response_message_id"] == kinds["its modal"]["message"]["id"]
    assert (reply["resource"]["type"], reply["resource"]["message"]["content"]) == (7, "new")
    other = (await one_of_each_type(scenario))["command"]
    reply = (await scenario.respond(other, 9, MODAL, with_response=True)).json
    assert reply == {"interaction": {"id": other["id"], "type": 2}}


async def test_a_deferred_response_is_loading_until_its_first_edit(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    poll = {"question": {"text": "q"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}
    interaction = await scenario.use_command(command)
    assert (await scenario.respond(interaction, 5)).status == 204
    original = scenario.webhook_path(interaction, "/messages/@original")
    filled = (await platform.anonymous.patch(original, {"poll": poll})).json
    assert (filled["poll"]["question"]["text"], filled["flags"], filled["edited_timestamp"]) == ("q", 0, None)
    # Only the first edit of a loading message can add a poll.
    assert (await platform.anonymous.patch(original, {"poll": poll})).errors_at("poll")
    interaction = await scenario.use_command(command)
    await scenario.respond(interaction, 5, {"flags": 64})
    first = (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "first", "flags": 0})).json
    assert first["flags"] == 64
    fetched = await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))
    assert fetched.json["id"] == first["id"]
    second = (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "second"})).json
    assert (second["flags"], second["id"] != first["id"]) == (0, True)
    # A deleted loading message is not filled by a followup.
    interaction = await scenario.use_command(command)
    await scenario.respond(interaction, 5)
    assert (await platform.anonymous.delete(scenario.webhook_path(interaction, "/messages/@original"))).status == 204
    after = await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "after"})
    assert (after.status, after.json["content"]) == (200, "after")
    assert (await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))).code == 10008


async def test_a_deferred_update_edits_the_message_of_the_component(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([BUTTON], content="before")
    interaction = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    assert (await scenario.respond(interaction, 6)).status == 204
    edited = await platform.anonymous.patch(
        scenario.webhook_path(interaction, "/messages/@original"), {"content": "after"}
    )
    assert (edited.json["id"], edited.json["content"]) == (message["id"], "after")
    follow = (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "more"})).json
    assert follow["id"] != message["id"]
    # The token gives access to the message of the component by its id too.
    interaction = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    await scenario.respond(interaction, 4, {"content": "answer"})
    own = scenario.webhook_path(interaction, f"/messages/{message['id']}")
    assert (await platform.anonymous.patch(own, {"content": "once more"})).json["content"] == "once more"
    assert (await platform.anonymous.delete(own)).status == 204
    assert (await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))).json[
        "content"
    ] == "answer"


async def test_a_token_gives_access_to_messages_of_its_interaction_only(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    one, other = await scenario.use_command(command), await scenario.use_command(command)
    mine = await scenario.respond_with_message(one, 4, {"content": "mine"})
    its = await scenario.respond_with_message(other, 4, {"content": "its"})
    hidden = (await platform.anonymous.post(scenario.webhook_path(other), {"content": "psst", "flags": 64})).json
    plain = await scenario.create_message([BUTTON])
    said = (await scenario.person.post(f"{scenario.channel_path}/messages", {"content": "said"})).json
    for message in (its, hidden, plain, said):
        where = scenario.webhook_path(one, f"/messages/{message['id']}")
        assert (await platform.anonymous.get(where)).code == 10008
        assert (await platform.anonymous.patch(where, {"content": "x"})).code == 10008
        assert (await platform.anonymous.delete(where)).code == 10008
    assert (await platform.anonymous.get(scenario.webhook_path(one, f"/messages/{mine['id']}"))).status == 200
    rival = await create_scenario(platform)
    for path in (f"/webhooks/{rival.app.id}/{one['token']}", f"/webhooks/{one['id']}/{one['token']}"):
        assert (await platform.anonymous.post(path, {"content": "x"})).code == 10015
        assert (await platform.anonymous.get(f"{path}/messages/@original")).code == 10015
    for interaction_id, token in ((one["id"], other["token"]), ("1", one["token"]), (one["id"], "x")):
        reply = await platform.anonymous.post(f"/interactions/{interaction_id}/{token}/callback", {"type": 5})
        assert (reply.status, reply.code) == (404, 10062)
    # An interaction without a response has no followups.
    waiting = await scenario.use_command(command)
    assert (await platform.anonymous.post(scenario.webhook_path(waiting), {"content": "x"})).code == 10015


async def test_a_response_mentions_users_as_allowed_mentions_says(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    text = {"content": f"<@{scenario.guild.owner.id}> <@{scenario.person.id}>"}
    with_mentions = await scenario.respond_with_message(await scenario.use_command(command), 4, text)
    assert len(with_mentions["mentions"]) == 2
    without_mentions = await scenario.respond_with_message(
        await scenario.use_command(command), 4, text | {"allowed_mentions": {"parse": []}}
    )
    assert without_mentions["mentions"] == []
    interaction = await scenario.use_command(command)
    await scenario.respond(interaction, 4, {"content": "x"})
    body = text | {"allowed_mentions": {"users": [str(scenario.person.id)]}}
    follow = (await platform.anonymous.post(scenario.webhook_path(interaction), body)).json
    assert [user["id"] for user in follow["mentions"]] == [str(scenario.person.id)]


async def test_responses_have_files_and_edits_keep_or_remove_them(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    data = {
        "content": "x",
        "attachments": [{"id": 0, "description": "d"}],
        "embeds": [{"image": {"url": "attachment://a.png"}}],
    }
    reply = await upload(
        platform.anonymous,
        "POST",
        path,
        {"files[0]": ("a.png", picture()), "files[1]": ("b.txt", b"b")},
        {"type": 4, "data": data},
        with_response=True,
    )
    assert reply.status == 200, reply.body
    message = reply.json["resource"]["message"]
    assert await scenario.fetch(message["embeds"][0]["image"]["url"]) == picture()
    kept = {each["filename"]: each for each in (await scenario.history())[0]["attachments"]}
    assert await scenario.fetch(kept["b.txt"]["url"]) == b"b"
    original = scenario.webhook_path(interaction, "/messages/@original")
    more = await upload(platform.anonymous, "PATCH", original, {"files[0]": ("c.txt", b"c")}, {"content": "y"})
    assert "c.txt" in [each["filename"] for each in more.json["attachments"]]
    bare = await platform.anonymous.patch(original, {"attachments": [], "embeds": []})
    assert bare.json["attachments"] == []
    follow = await upload(
        platform.anonymous, "POST", scenario.webhook_path(interaction), {"files[0]": ("f.txt", b"f")}, {"content": "f"}
    )
    assert await scenario.fetch(follow.json["attachments"][0]["url"]) == b"f"
    late = await scenario.use_command(await scenario.create_command())
    await scenario.respond(late, 5)
    filled = await upload(
        platform.anonymous, "POST", scenario.webhook_path(late), {"files[0]": ("g.txt", b"g")}, {"content": "g"}
    )
    assert [each["filename"] for each in filled.json["attachments"]] == ["g.txt"]


async def test_a_response_can_consist_of_components_only(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    text = {"type": 10, "content": "words"}
    message = await scenario.respond_with_message(interaction, 4, {"flags": 1 << 15 | 64, "components": [text]})
    assert (message["flags"], message["components"][0]["content"]) == (1 << 15 | 64, "words")
    edited = await platform.anonymous.patch(
        scenario.webhook_path(interaction, "/messages/@original"), {"components": [{**text, "content": "new"}]}
    )
    assert edited.json["components"][0]["content"] == "new"
    late = await scenario.use_command(await scenario.create_command())
    await scenario.respond(late, 5)
    filled = await platform.anonymous.patch(
        scenario.webhook_path(late, "/messages/@original"), {"flags": 1 << 15, "components": [text]}
    )
    assert (filled.json["flags"], filled.json["content"]) == (1 << 15, "")


async def test_responses_do_not_count_towards_the_request_limit_of_their_address(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    waiting = [await scenario.use_command(command) for _ in range(60)]
    # The clock stands still: however long the test takes, it is within one window.
    platform.services.limiter = RateLimiter(loopback_multiplier=1, clock=lambda: 1_000_000.0)
    answered = [await scenario.respond(interaction, 5) for interaction in waiting]
    assert {reply.status for reply in answered} == {204}
    filled = [
        await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))
        for interaction in waiting
    ]
    assert {reply.status for reply in filled} == {200}
    again = [(await scenario.respond(waiting[0], 5)).status for _ in range(5)]
    assert again == [400] * 4 + [429]


async def test_concurrent_edits_of_a_response_keep_each_others_changes(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    await scenario.post_command(await scenario.create_command())
    interaction = scenario.last_interaction()
    await scenario.respond(interaction, 4, {"content": "first"})
    where = scenario.webhook_path(interaction, "/messages/@original")
    for number in range(5):
        body = {"content": f"text {number}"}, {"embeds": [{"title": f"title {number}"}]}
        replies = await asyncio.gather(*(platform.anonymous.patch(where, each) for each in body))
        assert [reply.status for reply in replies] == [200, 200]
        stored = (await platform.anonymous.get(where)).json
        assert (stored["content"], stored["embeds"][0]["title"]) == (f"text {number}", f"title {number}")
