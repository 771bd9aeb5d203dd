"""Answers to interactions: which fits which, once, in time, and what can be done with them afterwards."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import bindparam, update

from moothall.kernel.ratelimit import RateLimiter
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import interactions
from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage
from tests.resources.message.attachment.uploading import picture, upload

BUTTON: dict[str, Any] = {
    "type": 1,
    "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}],
}
MODAL: dict[str, Any] = {
    "custom_id": "form",
    "title": "Form",
    "components": [{"type": 18, "label": "Why", "component": {"type": 4, "custom_id": "why", "style": 1}}],
}
ENTERED = [{"type": 18, "component": {"type": 4, "custom_id": "why", "value": "so"}}]
DATA: dict[int, Any] = {
    4: {"content": "x"},
    5: None,
    6: None,
    7: {"content": "x"},
    8: {"choices": []},
    9: MODAL,
    12: None,
}
_age = Query(update(interactions).values(created_at=bindparam("moment")))


async def grow_old(stage: Stage, seconds: float) -> None:
    """Let every interaction have been raised so long ago."""
    async with stage.platform.database.transaction() as tx:
        await tx.execute(_age, moment=Timestamp(Timestamp.now() - int(seconds * 1000)))


async def each_kind(stage: Stage) -> dict[str, Any]:
    """One interaction of each kind."""
    await stage.app.owner.patch(f"/applications/{stage.app.id}", {"flags": 1 << 17})
    command = await stage.command(options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}])
    used = await stage.used(command)
    message = await stage.posted([BUTTON])
    clicked = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    options = [{"type": 3, "name": "a", "value": "", "focused": True}]
    completing = await stage.raised(4, {"id": command["id"], "type": 1, "options": options})
    asked = await stage.used(command)
    await stage.answer(asked, 9, MODAL)
    handed_in = await stage.raised(5, {"id": asked["id"], "custom_id": "form", "components": ENTERED})
    asked = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    await stage.answer(asked, 9, MODAL)
    from_message = await stage.raised(5, {"id": asked["id"], "custom_id": "form", "components": ENTERED})
    return {"command": used, "component": clicked, "typing": completing, "modal": handed_in, "its modal": from_message}


FITS = {
    "command": {4, 5, 9, 12},
    "component": {4, 5, 6, 7, 9, 12},
    "typing": {8},
    "modal": {4, 5, 12},
    "its modal": {4, 5, 6, 7, 12},
}


@pytest.mark.parametrize("kind", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "4", None])
async def test_each_kind_of_answer_fits_some_kinds_of_interactions(platform: Platform, kind: Any) -> None:
    stage = await set_stage(platform)
    for name, interaction in (await each_kind(stage)).items():
        platform.heard.clear()
        reply = await stage.answer(interaction, kind, DATA.get(kind))
        if kind in FITS[name]:
            assert reply.status == 204, (name, reply.body)
            assert "INTERACTION_SUCCESS" in platform.heard_names
        else:
            assert (reply.status, reply.code) == (400, 50035), name
            assert reply.errors_at("type"), name
            assert platform.heard == []


async def test_what_is_wrong_with_an_answer_is_told_below_its_data_and_may_be_put_right(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    platform.heard.clear()
    for wrong, at in (
        ({"content": "x" * 2001}, "data.content"),
        ({"content": 5}, "data.content"),
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
        reply = await stage.answer(told, 4, wrong)
        assert (reply.status, reply.code) == (400, 50035), (wrong, reply.body)
        assert reply.errors_at(at), (at, reply.body)
    assert (await stage.answer(told, 4)).code == 50006
    assert (await stage.answer(told, 4, {})).code == 50006
    assert (await stage.answer(told, 5, {"flags": "x"})).errors_at("data.flags")
    assert platform.heard == []
    assert (await stage.answer(told, 4, {"content": "x"})).status == 204


async def test_an_interaction_is_answered_once_also_by_two_at_once(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    both = await asyncio.gather(*(stage.answer(told, 4, {"content": str(n)}) for n in range(4)))
    assert sorted(reply.status for reply in both) == [204, 400, 400, 400]
    assert {reply.code for reply in both if reply.status == 400} == {40060}
    assert len(await stage.history()) == 1
    assert (await stage.answer(told, 5)).code == 40060


async def test_after_three_seconds_it_is_too_late(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    await grow_old(stage, 4)
    assert (await stage.answer(told, 4, {"content": "late"})).code == 10062
    assert await stage.history() == []


async def test_after_a_quarter_of_an_hour_its_token_is_worth_nothing(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    message = await stage.shown(told, 4, {"content": "now"})
    await grow_old(stage, 14 * 60)
    assert (await platform.nobody.post(stage.hook(told), {"content": "still"})).status == 200
    await grow_old(stage, 15 * 60 + 1)
    own = f"/messages/{message['id']}"
    for reply in (
        await platform.nobody.post(stage.hook(told), {"content": "late"}),
        await platform.nobody.get(stage.hook(told, "/messages/@original")),
        await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "late"}),
        await platform.nobody.delete(stage.hook(told, own)),
    ):
        assert (reply.status, reply.code) == (401, 50027)
    assert [m["content"] for m in await stage.history()] == ["still", "now"]


async def test_what_an_answer_has_made_is_told_to_those_who_ask(platform: Platform) -> None:
    stage = await set_stage(platform)
    kinds = await each_kind(stage)
    reply = (await stage.answer(kinds["command"], 4, {"content": "x", "flags": 64}, with_response=True)).json
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
    reply = (await stage.answer(kinds["modal"], 5, with_response=True)).json
    assert (reply["interaction"]["response_message_loading"], "resource" in reply) == (True, False)
    loading = await platform.nobody.get(stage.hook(kinds["modal"], "/messages/@original"))
    assert loading.json["id"] == reply["interaction"]["response_message_id"]
    reply = (await stage.answer(kinds["component"], 6, with_response=True)).json
    assert reply["interaction"]["id"] == kinds["component"]["id"]
    assert "resource" not in reply
    reply = (await stage.answer(kinds["its modal"], 7, {"content": "new"}, with_response=True)).json
    assert reply["interaction"]["response_message_id"] == kinds["its modal"]["message"]["id"]
    assert (reply["resource"]["type"], reply["resource"]["message"]["content"]) == (7, "new")
    other = (await each_kind(stage))["command"]
    reply = (await stage.answer(other, 9, MODAL, with_response=True)).json
    assert reply == {"interaction": {"id": other["id"], "type": 2}}


async def test_a_promised_answer_loads_until_it_is_filled_in(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    poll = {"question": {"text": "q"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}
    told = await stage.used(command)
    assert (await stage.answer(told, 5)).status == 204
    original = stage.hook(told, "/messages/@original")
    filled = (await platform.nobody.patch(original, {"poll": poll})).json
    assert (filled["poll"]["question"]["text"], filled["flags"], filled["edited_timestamp"]) == ("q", 0, None)
    # Only what is loading gets a poll.
    assert (await platform.nobody.patch(original, {"poll": poll})).errors_at("poll")
    told = await stage.used(command)
    await stage.answer(told, 5, {"flags": 64})
    first = (await platform.nobody.post(stage.hook(told), {"content": "first", "flags": 0})).json
    assert first["flags"] == 64
    assert (await platform.nobody.get(stage.hook(told, "/messages/@original"))).json["id"] == first["id"]
    second = (await platform.nobody.post(stage.hook(told), {"content": "second"})).json
    assert (second["flags"], second["id"] != first["id"]) == (0, True)
    # One that is taken back is not filled in any more.
    told = await stage.used(command)
    await stage.answer(told, 5)
    assert (await platform.nobody.delete(stage.hook(told, "/messages/@original"))).status == 204
    after = await platform.nobody.post(stage.hook(told), {"content": "after"})
    assert (after.status, after.json["content"]) == (200, "after")
    assert (await platform.nobody.get(stage.hook(told, "/messages/@original"))).code == 10008


async def test_a_promised_update_is_made_to_the_message_of_the_component(platform: Platform) -> None:
    stage = await set_stage(platform)
    message = await stage.posted([BUTTON], content="before")
    told = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    assert (await stage.answer(told, 6)).status == 204
    edited = await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "after"})
    assert (edited.json["id"], edited.json["content"]) == (message["id"], "after")
    follow = (await platform.nobody.post(stage.hook(told), {"content": "more"})).json
    assert follow["id"] != message["id"]
    # The message of the component is within its reach by its id as well.
    told = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    await stage.answer(told, 4, {"content": "answer"})
    own = stage.hook(told, f"/messages/{message['id']}")
    assert (await platform.nobody.patch(own, {"content": "once more"})).json["content"] == "once more"
    assert (await platform.nobody.delete(own)).status == 204
    assert (await platform.nobody.get(stage.hook(told, "/messages/@original"))).json["content"] == "answer"


async def test_a_token_reaches_nothing_but_what_belongs_to_its_interaction(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    one, other = await stage.used(command), await stage.used(command)
    mine = await stage.shown(one, 4, {"content": "mine"})
    its = await stage.shown(other, 4, {"content": "its"})
    hidden = (await platform.nobody.post(stage.hook(other), {"content": "psst", "flags": 64})).json
    plain = await stage.posted([BUTTON])
    said = (await stage.person.post(f"{stage.where}/messages", {"content": "said"})).json
    for message in (its, hidden, plain, said):
        where = stage.hook(one, f"/messages/{message['id']}")
        assert (await platform.nobody.get(where)).code == 10008
        assert (await platform.nobody.patch(where, {"content": "x"})).code == 10008
        assert (await platform.nobody.delete(where)).code == 10008
    assert (await platform.nobody.get(stage.hook(one, f"/messages/{mine['id']}"))).status == 200
    rival = await set_stage(platform)
    for path in (f"/webhooks/{rival.app.id}/{one['token']}", f"/webhooks/{one['id']}/{one['token']}"):
        assert (await platform.nobody.post(path, {"content": "x"})).code == 10015
        assert (await platform.nobody.get(f"{path}/messages/@original")).code == 10015
    for interaction_id, token in ((one["id"], other["token"]), ("1", one["token"]), (one["id"], "x")):
        reply = await platform.nobody.post(f"/interactions/{interaction_id}/{token}/callback", {"type": 5})
        assert (reply.status, reply.code) == (404, 10062)
    # Nothing is followed up that was not answered.
    waiting = await stage.used(command)
    assert (await platform.nobody.post(stage.hook(waiting), {"content": "x"})).code == 10015


async def test_an_answer_mentions_whom_it_may(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    text = {"content": f"<@{stage.guild.owner.id}> <@{stage.person.id}>"}
    everybody = await stage.shown(await stage.used(command), 4, text)
    assert len(everybody["mentions"]) == 2
    nobody = await stage.shown(await stage.used(command), 4, text | {"allowed_mentions": {"parse": []}})
    assert nobody["mentions"] == []
    told = await stage.used(command)
    await stage.answer(told, 4, {"content": "x"})
    body = text | {"allowed_mentions": {"users": [str(stage.person.id)]}}
    follow = (await platform.nobody.post(stage.hook(told), body)).json
    assert [user["id"] for user in follow["mentions"]] == [str(stage.person.id)]


async def test_answers_carry_files_and_keep_or_lose_them_by_edits(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    path = f"/interactions/{told['id']}/{told['token']}/callback"
    data = {
        "content": "x",
        "attachments": [{"id": 0, "description": "d"}],
        "embeds": [{"image": {"url": "attachment://a.png"}}],
    }
    reply = await upload(
        platform.nobody,
        "POST",
        path,
        {"files[0]": ("a.png", picture()), "files[1]": ("b.txt", b"b")},
        {"type": 4, "data": data},
        with_response=True,
    )
    assert reply.status == 200, reply.body
    message = reply.json["resource"]["message"]
    assert await stage.fetch(message["embeds"][0]["image"]["url"]) == picture()
    kept = {each["filename"]: each for each in (await stage.history())[0]["attachments"]}
    assert await stage.fetch(kept["b.txt"]["url"]) == b"b"
    original = stage.hook(told, "/messages/@original")
    more = await upload(platform.nobody, "PATCH", original, {"files[0]": ("c.txt", b"c")}, {"content": "y"})
    assert "c.txt" in [each["filename"] for each in more.json["attachments"]]
    bare = await platform.nobody.patch(original, {"attachments": [], "embeds": []})
    assert bare.json["attachments"] == []
    follow = await upload(platform.nobody, "POST", stage.hook(told), {"files[0]": ("f.txt", b"f")}, {"content": "f"})
    assert await stage.fetch(follow.json["attachments"][0]["url"]) == b"f"
    late = await stage.used(await stage.command())
    await stage.answer(late, 5)
    filled = await upload(platform.nobody, "POST", stage.hook(late), {"files[0]": ("g.txt", b"g")}, {"content": "g"})
    assert [each["filename"] for each in filled.json["attachments"]] == ["g.txt"]


async def test_an_answer_may_consist_of_components_alone(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    text = {"type": 10, "content": "words"}
    message = await stage.shown(told, 4, {"flags": 1 << 15 | 64, "components": [text]})
    assert (message["flags"], message["components"][0]["content"]) == (1 << 15 | 64, "words")
    edited = await platform.nobody.patch(
        stage.hook(told, "/messages/@original"), {"components": [{**text, "content": "new"}]}
    )
    assert edited.json["components"][0]["content"] == "new"
    late = await stage.used(await stage.command())
    await stage.answer(late, 5)
    filled = await platform.nobody.patch(
        stage.hook(late, "/messages/@original"), {"flags": 1 << 15, "components": [text]}
    )
    assert (filled.json["flags"], filled.json["content"]) == (1 << 15, "")


async def test_many_people_are_answered_at_once_from_one_address(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    waiting = [await stage.used(command) for _ in range(60)]
    platform.services.limiter = RateLimiter(loopback_multiplier=1)
    answered = [await stage.answer(told, 5) for told in waiting]
    assert {reply.status for reply in answered} == {204}
    filled = [await platform.nobody.get(stage.hook(told, "/messages/@original")) for told in waiting]
    assert {reply.status for reply in filled} == {200}
    again = [(await stage.answer(waiting[0], 5)).status for _ in range(5)]
    assert again == [400] * 4 + [429]


async def test_edits_of_an_answer_at_once_lose_nothing_of_each_other(platform: Platform) -> None:
    stage = await set_stage(platform)
    await stage.use(await stage.command())
    told = stage.told()
    await stage.answer(told, 4, {"content": "first"})
    where = stage.hook(told, "/messages/@original")
    for number in range(5):
        body = {"content": f"text {number}"}, {"embeds": [{"title": f"title {number}"}]}
        replies = await asyncio.gather(*(platform.nobody.patch(where, each) for each in body))
        assert [reply.status for reply in replies] == [200, 200]
        stored = (await platform.nobody.get(where)).json
        assert (stored["content"], stored["embeds"][0]["title"]) == (f"text {number}", f"title {number}")
