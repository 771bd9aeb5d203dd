"""Component interactions: what the application receives, and which ones are refused."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.support.harness import FORUM, Platform

BUTTON: dict[str, Any] = {"type": 2, "style": 1, "custom_id": "go", "label": "Go"}
OPTIONS = [{"label": name.title(), "value": name} for name in ("ant", "bee", "cow")]


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def select(kind: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "custom_id": "pick", **({"options": OPTIONS} if kind == 3 else {}), **more}


async def choose(scenario: Scenario, kind: int, values: list[Any], **more: Any) -> Any:
    message = await scenario.create_message([row(select(kind, **more))])
    reply = await scenario.click(message, "pick", values=values, component_type=kind)
    assert reply.status == 204, reply.body
    return scenario.last_interaction()["data"]


async def test_a_button_interaction_has_the_buttons_type_id_and_custom_id(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([row({**BUTTON, "id": 7})], content="press")
    assert (await scenario.click(message, "go", component_type=2)).status == 204
    interaction = scenario.last_interaction()
    assert (interaction["type"], interaction["data"]) == (3, {"component_type": 2, "id": 7, "custom_id": "go"})
    assert (interaction["message"]["id"], interaction["message"]["content"]) == (message["id"], "press")
    assert interaction["authorizing_integration_owners"] == {"0": str(scenario.guild.id)}
    answer = await scenario.respond_with_message(interaction, 4, {"content": "pressed"})
    assert (answer["type"], answer["message_reference"]["message_id"]) == (19, message["id"])
    assert (answer["referenced_message"]["id"], answer["mentions"]) == (message["id"], [])
    metadata = answer["interaction_metadata"]
    assert (metadata["type"], metadata["interacted_message_id"]) == (3, message["id"])
    assert "interaction" not in answer


async def test_each_select_type_has_the_chosen_values_and_their_resolved_objects(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    owner, role, general = str(scenario.guild.owner.id), str(await scenario.guild.role()), str(scenario.guild.general)
    data = await choose(scenario, 3, ["bee", "ant"], max_values=2)
    assert {key: data[key] for key in ("component_type", "custom_id", "values")} == {
        "component_type": 3,
        "custom_id": "pick",
        "values": ["bee", "ant"],
    }
    assert "resolved" not in data
    data = await choose(scenario, 5, [owner])
    assert (data["component_type"], data["values"], data["id"]) == (5, [owner], 2)
    assert (list(data["resolved"]["users"]), list(data["resolved"]["members"])) == ([owner], [owner])
    assert sorted(data["resolved"]) == ["members", "users"]
    data = await choose(scenario, 6, [role])
    assert (data["values"], list(data["resolved"]), list(data["resolved"]["roles"])) == ([role], ["roles"], [role])
    data = await choose(scenario, 7, [owner, role], max_values=2)
    assert (data["values"], sorted(data["resolved"])) == ([owner, role], ["members", "roles", "users"])
    data = await choose(scenario, 8, [general], channel_types=[0])
    assert (data["values"], list(data["resolved"])) == ([general], ["channels"])
    assert data["resolved"]["channels"][general]["permissions"]


@pytest.mark.parametrize(
    ("kind", "values", "more"),
    [
        (3, ["dog"], {}),
        (3, [], {}),
        (3, ["ant", "bee"], {}),
        (3, ["ant", "ant"], {"max_values": 2}),
        (3, ["ant"], {"min_values": 2, "max_values": 3}),
        (3, "ant", {}),
        (3, None, {}),
        (3, [["ant"]], {}),
        (5, ["x"], {}),
        (5, ["1"], {}),
        (6, ["1"], {}),
        (7, ["1"], {}),
        (8, ["1"], {}),
    ],
)
async def test_values_that_cannot_be_chosen_are_refused(
    platform: Platform, kind: int, values: Any, more: dict[str, Any]
) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([row(select(kind, **more))])
    with platform.listening() as heard:
        reply = await scenario.click(message, "pick", values=values)
    assert (reply.status, reply.code, heard) == (400, 50035, [])


async def test_channels_and_roles_not_visible_to_the_user_cannot_be_chosen(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    hidden = await scenario.guild.channel(overwrites=[(scenario.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    forum = await scenario.guild.channel(type=FORUM)
    elsewhere = await platform.guild(await platform.person())
    message = await scenario.create_message([row(select(8, channel_types=[0]))])
    for channel in (hidden, forum, elsewhere.general):
        assert (await scenario.click(message, "pick", values=[str(channel)])).errors_at("data.values")
    roles = await scenario.create_message([row(select(6))])
    assert (await scenario.click(roles, "pick", values=[str(await elsewhere.role())])).errors_at("data.values")


async def test_an_unknown_or_disabled_component_is_refused_and_nothing_is_announced(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    link = {"type": 2, "style": 5, "url": "https://example.com", "label": "Out"}
    message = await scenario.create_message([row(BUTTON, {**BUTTON, "custom_id": "off", "disabled": True}, link)])
    platform.heard.clear()
    for custom_id in ("none", "off", None, ["go"], 5):
        reply = await scenario.post_interaction(3, {"custom_id": custom_id}, message_id=message["id"])
        assert reply.errors_at("data.custom_id"), custom_id
    assert (await scenario.post_interaction(3, {}, message_id=message["id"])).errors_at("data.custom_id")
    assert (await scenario.click(message, "go", component_type=3)).errors_at("data.component_type")
    assert (await scenario.post_interaction(3, {"custom_id": "go"})).errors_at("message_id")
    assert platform.heard == []


async def test_a_component_interaction_states_the_type_of_its_component(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([row(BUTTON)])
    platform.heard.clear()
    for unstated in ({}, {"component_type": None}):
        reply = await scenario.post_interaction(3, {"custom_id": "go", **unstated}, message_id=message["id"])
        assert reply.errors_at("data.component_type") == ["BASE_TYPE_REQUIRED"]
    assert platform.heard == []
    reply = await scenario.post_interaction(3, {"custom_id": "go", "type": 2}, message_id=message["id"])
    assert (reply.status, scenario.last_interaction()["data"]["component_type"]) == (204, 2)


async def test_a_component_needs_its_message_in_the_channel_and_of_the_application(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([row(BUTTON)])
    rival = await create_scenario(platform)
    assert (await scenario.click({"id": "1"}, "go")).code == 10008
    assert (
        await scenario.post_interaction(3, {"custom_id": "go"}, message_id=message["id"], application_id=rival.app.id)
    ).code == 10008
    elsewhere = await scenario.guild.channel()
    wrong = await scenario.post_interaction(3, {"custom_id": "go"}, message_id=message["id"], channel_id=str(elsewhere))
    assert wrong.code == 10008
    assert (await scenario.click(message, "go", await platform.person())).code == 50001
    await scenario.app.bot.delete(f"{scenario.channel_path}/messages/{message['id']}")
    assert (await scenario.click(message, "go")).code == 10008


async def test_components_are_found_at_every_depth(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    section = {
        "type": 9,
        "components": [{"type": 10, "content": "words"}],
        "accessory": {**BUTTON, "custom_id": "beside"},
    }
    tree = [{"type": 17, "components": [section, row({**BUTTON, "custom_id": "inside"})]}]
    message = await scenario.create_message(tree, flags=1 << 15)
    for custom_id in ("beside", "inside"):
        assert (await scenario.click(message, custom_id)).status == 204
        assert scenario.last_interaction()["data"]["custom_id"] == custom_id
    updated = await scenario.respond_with_message(
        scenario.last_interaction(), 7, {"components": [{"type": 10, "content": "done"}]}
    )
    assert (updated["id"], updated["components"][0]["content"]) == (message["id"], "done")


async def test_components_of_an_applications_webhook_send_interactions_to_it(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    everyone = f"/guilds/{scenario.guild.id}/roles/{scenario.guild.id}"
    bits = Permissions.DEFAULT | Permissions.MANAGE_WEBHOOKS
    await scenario.guild.owner.patch(everyone, {"permissions": str(int(bits))})
    hook = (await scenario.app.bot.post(f"{scenario.channel_path}/webhooks", {"name": "hook"})).json
    made = await platform.anonymous.post(
        f"/webhooks/{hook['id']}/{hook['token']}", {"content": "x", "components": [row(BUTTON)]}, wait=True
    )
    assert (await scenario.click(made.json, "go")).status == 204
    interaction = scenario.last_interaction()
    assert interaction["message"]["id"] == made.json["id"]
    updated = await scenario.respond_with_message(interaction, 7, {"content": "pressed", "components": []})
    assert (updated["content"], updated["author"]["username"]) == ("pressed", "hook")


async def test_components_can_be_used_without_read_message_history(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    message = await scenario.create_message([row(BUTTON)])
    said = (await scenario.guild.owner.post(f"{scenario.channel_path}/messages", {"content": "before"})).json
    body = {"type": 0, "deny": str(int(Permissions.READ_MESSAGE_HISTORY))}
    await scenario.guild.owner.put(f"{scenario.channel_path}/permissions/{scenario.guild.id}", body)
    assert (await scenario.click(message, "go")).status == 204
    # A message command cannot read the history of other users' messages.
    mark = (await scenario.app.bot.post(f"/applications/{scenario.app.id}/commands", {"name": "Mark", "type": 3})).json
    assert (await scenario.post_command(mark, target_id=said["id"])).code == 10008
