"""Somebody uses a command, and its application answers."""

from typing import Any

from tests.harness import Platform
from tests.resources.interaction.stage import set_stage


async def test_a_command_is_told_and_its_answer_is_a_message(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[{"type": 3, "name": "animal", "description": "Which", "required": True}])
    options = [{"type": 3, "name": "animal", "value": "dog"}]
    assert (await stage.use(command, options=options)).status == 204
    told = stage.told()
    assert (told["type"], told["application_id"], told["version"]) == (2, stage.app.id, 1)
    assert (told["data"]["name"], told["data"]["options"]) == ("blep", options)
    assert told["member"]["user"]["id"] == str(stage.person.id)
    assert told["authorizing_integration_owners"] == {"0": str(stage.guild.id)}
    raised = stage.heard(stage.person.id, "INTERACTION_CREATE")
    assert raised == [{"id": told["id"], "nonce": "1"}]
    answered = await stage.answer(told, 4, {"content": "woof"}, with_response=True)
    assert answered.status == 200, answered.body
    message: dict[str, Any] = answered.json["resource"]["message"]
    assert (message["content"], message["type"], message["author"]["id"]) == ("woof", 20, str(stage.app.bot.id))
    assert message["interaction_metadata"]["user"]["id"] == str(stage.person.id)
    assert stage.heard(stage.person.id, "INTERACTION_SUCCESS") == [{"id": told["id"], "nonce": "1"}]
    (stored,) = (await stage.person.get(f"/channels/{stage.guild.general}/messages", limit=1)).json
    assert (stored["id"], stored["content"]) == (message["id"], "woof")
    again = await stage.answer(told, 4, {"content": "again"})
    assert (again.status, again.code) == (400, 40060)


async def test_a_deferred_answer_comes_later_and_followups_after_it(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    assert (await stage.use(command)).status == 204
    told = stage.told()
    assert (await stage.answer(told, 5)).status == 204
    loading = (await platform.nobody.get(stage.hook(told, "/messages/@original"))).json
    assert loading["flags"] == 128
    filled = (await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "done"})).json
    assert (filled["content"], filled["flags"], filled["edited_timestamp"]) == ("done", 0, None)
    followup = await platform.nobody.post(stage.hook(told), {"content": "more"})
    assert followup.status == 200, followup.body
    assert (followup.json["type"], followup.json["message_reference"]["message_id"]) == (19, filled["id"])
    where = stage.hook(told, f"/messages/{followup.json['id']}")
    assert (await platform.nobody.patch(where, {"content": "changed"})).json["content"] == "changed"
    assert (await platform.nobody.get(where)).json["content"] == "changed"
    assert (await platform.nobody.delete(where)).status == 204
    assert (await platform.nobody.delete(stage.hook(told, "/messages/@original"))).status == 204
    assert (await stage.person.get(f"/channels/{stage.guild.general}/messages")).json == []


async def test_what_one_person_sees_is_in_no_history(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    await stage.use(command)
    told = stage.told()
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    await stage.answer(told, 4, {"content": "psst", "flags": 64, "components": [button]})
    (seen,) = stage.heard(stage.person.id, "MESSAGE_CREATE")
    assert (seen["content"], seen["flags"], seen["channel_id"]) == ("psst", 64, str(stage.guild.general))
    assert [e.name for e in platform.heard].count("MESSAGE_CREATE") == 1
    assert (await stage.person.get(f"/channels/{stage.guild.general}/messages")).json == []
    assert (await stage.person.get(f"/channels/{stage.guild.general}/messages/{seen['id']}")).code == 10008
    assert (await stage.click(seen, "go", stage.guild.owner)).code == 10008
    assert (await stage.click(seen, "go")).status == 204
    clicked = stage.told()
    assert (clicked["data"]["custom_id"], clicked["message"]["content"]) == ("go", "psst")
    updated = await stage.answer(clicked, 7, {"content": "changed", "components": []}, with_response=True)
    assert updated.json["resource"]["message"]["content"] == "changed"
    edited = stage.heard(stage.person.id, "MESSAGE_UPDATE")
    assert edited[-1]["content"] == "changed"


async def test_an_application_that_does_not_answer_is_given_up(platform: Platform) -> None:
    stage = await set_stage(platform, seconds=0.05)
    command = await stage.command()
    await stage.use(command)
    told = stage.told()
    await stage.deliveries.wait_until_idle()
    (failed,) = stage.heard(stage.person.id, "INTERACTION_FAILURE")
    assert failed["id"] == told["id"]
    assert (await stage.answer(told, 4, {"content": "late"})).code == 10062
    assert (await platform.nobody.post(stage.hook(told), {"content": "late"})).code == 10015


async def test_a_modal_is_shown_filled_in_and_answered(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    await stage.use(command)
    field = {"type": 4, "custom_id": "why", "style": 1, "min_length": 3}
    modal = {"custom_id": "form", "title": "Form", "components": [{"type": 18, "label": "Why", "component": field}]}
    told = stage.told()
    assert (await stage.answer(told, 9, modal)).status == 204
    (shown,) = stage.heard(stage.person.id, "INTERACTION_MODAL_CREATE")
    assert (shown["title"], shown["custom_id"], shown["id"]) == ("Form", "form", told["id"])
    entered = [{"type": 18, "component": {"type": 4, "custom_id": "why", "value": "no"}}]
    short = await stage.raise_(5, {"id": shown["id"], "custom_id": "form", "components": entered})
    assert short.status == 400
    entered[0]["component"]["value"] = "because"  # type: ignore[index]
    assert (await stage.raise_(5, {"id": shown["id"], "custom_id": "form", "components": entered})).status == 204
    handed = stage.told()
    assert (handed["type"], handed["data"]["custom_id"]) == (5, "form")
    assert handed["data"]["components"][0]["component"]["value"] == "because"
    assert (await stage.raise_(5, {"id": shown["id"], "custom_id": "form", "components": entered})).code == 10062
    answered = await stage.answer(handed, 4, {"content": "thanks"}, with_response=True)
    metadata = answered.json["resource"]["message"]["interaction_metadata"]
    assert metadata["triggering_interaction_metadata"]["id"] == told["id"]
