"""The common flows: a command, a deferred response, an ephemeral one, a timeout, a modal."""

from typing import Any

from tests.resources.interaction.scenario import create_scenario
from tests.support.harness import Platform


async def test_a_command_is_sent_to_the_application_and_its_response_is_a_message(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(
        options=[{"type": 3, "name": "animal", "description": "Which", "required": True}]
    )
    options = [{"type": 3, "name": "animal", "value": "dog"}]
    assert (await scenario.post_command(command, options=options)).status == 204
    interaction = scenario.last_interaction()
    assert (interaction["type"], interaction["application_id"], interaction["version"]) == (2, scenario.app.id, 1)
    assert (interaction["data"]["name"], interaction["data"]["options"]) == ("blep", options)
    assert interaction["member"]["user"]["id"] == str(scenario.person.id)
    assert interaction["authorizing_integration_owners"] == {"0": str(scenario.guild.id)}
    ack = scenario.events(scenario.person.id, "INTERACTION_CREATE")
    assert ack == [{"id": interaction["id"], "nonce": "1"}]
    answered = await scenario.respond(interaction, 4, {"content": "woof"}, with_response=True)
    assert answered.status == 200, answered.body
    message: dict[str, Any] = answered.json["resource"]["message"]
    assert (message["content"], message["type"], message["author"]["id"]) == ("woof", 20, str(scenario.app.bot.id))
    assert message["interaction_metadata"]["user"]["id"] == str(scenario.person.id)
    assert scenario.events(scenario.person.id, "INTERACTION_SUCCESS") == [{"id": interaction["id"], "nonce": "1"}]
    (stored,) = (await scenario.person.get(f"/channels/{scenario.guild.general}/messages", limit=1)).json
    assert (stored["id"], stored["content"]) == (message["id"], "woof")
    again = await scenario.respond(interaction, 4, {"content": "again"})
    assert (again.status, again.code) == (400, 40060)


async def test_a_deferred_response_is_edited_and_followed_up(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    assert (await scenario.post_command(command)).status == 204
    interaction = scenario.last_interaction()
    assert (await scenario.respond(interaction, 5)).status == 204
    loading = (await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))).json
    assert loading["flags"] == 128
    filled = (
        await platform.anonymous.patch(scenario.webhook_path(interaction, "/messages/@original"), {"content": "done"})
    ).json
    assert (filled["content"], filled["flags"], filled["edited_timestamp"]) == ("done", 0, None)
    followup = await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "more"})
    assert followup.status == 200, followup.body
    assert (followup.json["type"], followup.json["message_reference"]["message_id"]) == (19, filled["id"])
    where = scenario.webhook_path(interaction, f"/messages/{followup.json['id']}")
    assert (await platform.anonymous.patch(where, {"content": "changed"})).json["content"] == "changed"
    assert (await platform.anonymous.get(where)).json["content"] == "changed"
    assert (await platform.anonymous.delete(where)).status == 204
    assert (await platform.anonymous.delete(scenario.webhook_path(interaction, "/messages/@original"))).status == 204
    assert (await scenario.person.get(f"/channels/{scenario.guild.general}/messages")).json == []


async def test_an_ephemeral_response_is_not_in_the_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    await scenario.post_command(command)
    interaction = scenario.last_interaction()
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    await scenario.respond(interaction, 4, {"content": "psst", "flags": 64, "components": [button]})
    (seen,) = scenario.events(scenario.person.id, "MESSAGE_CREATE")
    assert (seen["content"], seen["flags"], seen["channel_id"]) == ("psst", 64, str(scenario.guild.general))
    assert [e.name for e in platform.heard].count("MESSAGE_CREATE") == 1
    assert (await scenario.person.get(f"/channels/{scenario.guild.general}/messages")).json == []
    assert (await scenario.person.get(f"/channels/{scenario.guild.general}/messages/{seen['id']}")).code == 10008
    assert (await scenario.click(seen, "go", scenario.guild.owner)).code == 10008
    assert (await scenario.click(seen, "go")).status == 204
    clicked = scenario.last_interaction()
    assert (clicked["data"]["custom_id"], clicked["message"]["content"]) == ("go", "psst")
    updated = await scenario.respond(clicked, 7, {"content": "changed", "components": []}, with_response=True)
    assert updated.json["resource"]["message"]["content"] == "changed"
    edited = scenario.events(scenario.person.id, "MESSAGE_UPDATE")
    assert edited[-1]["content"] == "changed"


async def test_an_interaction_without_a_response_fails(platform: Platform) -> None:
    scenario = await create_scenario(platform, seconds=0.05)
    command = await scenario.create_command()
    await scenario.post_command(command)
    interaction = scenario.last_interaction()
    await scenario.deliveries.wait_until_idle()
    (failed,) = scenario.events(scenario.person.id, "INTERACTION_FAILURE")
    assert failed["id"] == interaction["id"]
    assert (await scenario.respond(interaction, 4, {"content": "late"})).code == 10062
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "late"})).code == 10015


async def test_a_modal_is_shown_submitted_and_responded_to(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    await scenario.post_command(command)
    field = {"type": 4, "custom_id": "why", "style": 1, "min_length": 3}
    modal = {"custom_id": "form", "title": "Form", "components": [{"type": 18, "label": "Why", "component": field}]}
    interaction = scenario.last_interaction()
    assert (await scenario.respond(interaction, 9, modal)).status == 204
    (shown_modal,) = scenario.events(scenario.person.id, "INTERACTION_MODAL_CREATE")
    assert (shown_modal["title"], shown_modal["custom_id"], shown_modal["id"]) == ("Form", "form", interaction["id"])
    entered = [{"type": 18, "component": {"type": 4, "custom_id": "why", "value": "no"}}]
    short = await scenario.post_interaction(5, {"id": shown_modal["id"], "custom_id": "form", "components": entered})
    assert short.status == 400
    entered[0]["component"]["value"] = "because"  # type: ignore[index]
    assert (
        await scenario.post_interaction(5, {"id": shown_modal["id"], "custom_id": "form", "components": entered})
    ).status == 204
    submitted = scenario.last_interaction()
    assert (submitted["type"], submitted["data"]["custom_id"]) == (5, "form")
    assert submitted["data"]["components"][0]["component"]["value"] == "because"
    assert (
        await scenario.post_interaction(5, {"id": shown_modal["id"], "custom_id": "form", "components": entered})
    ).code == 10062
    answered = await scenario.respond(submitted, 4, {"content": "thanks"}, with_response=True)
    metadata = answered.json["resource"]["message"]["interaction_metadata"]
    assert metadata["triggering_interaction_metadata"]["id"] == interaction["id"]
