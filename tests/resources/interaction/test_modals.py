"""Modals: shown to one user, submitted once, with the values in the documented shapes."""

import asyncio
from typing import Any

import pytest

from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.resources.message.attachment.uploading import upload
from tests.support.harness import Platform

OPTIONS = [{"label": name.title(), "value": name} for name in ("ant", "bee", "cow")]


def label(component: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": 18, "label": "Label", "component": {"custom_id": "it", **component}, **more}


async def show_modal(scenario: Scenario, *components: dict[str, Any]) -> Any:
    """Respond to a command with a modal; the modal as the user's client receives it."""
    interaction = await scenario.use_command(await scenario.create_command())
    modal = {"custom_id": "form", "title": "Form", "components": list(components)}
    reply = await scenario.respond(interaction, 9, modal)
    assert reply.status == 204, reply.body
    return scenario.events(scenario.person.id, "INTERACTION_MODAL_CREATE")[-1]


async def submit_modal(scenario: Scenario, shown_modal: Any, *components: Any, person: Any = None, **more: Any) -> Any:
    data = {"id": shown_modal["id"], "custom_id": "form", "components": list(components)}
    return await scenario.post_interaction(5, data, person, **more)


TEXT = {"type": 4, "style": 1}
CASES: list[tuple[dict[str, Any], Any, Any]] = [
    (TEXT, {"value": "words"}, {"value": "words"}),
    ({**TEXT, "required": False}, {"value": ""}, {"value": ""}),
    ({"type": 3, "options": OPTIONS}, {"values": ["bee"]}, {"values": ["bee"]}),
    ({"type": 3, "options": OPTIONS, "required": False}, {"values": []}, {"values": []}),
    ({"type": 21, "options": OPTIONS}, {"value": "cow"}, {"value": "cow"}),
    ({"type": 21, "options": OPTIONS, "required": False}, {"value": None}, {"value": None}),
    ({"type": 22, "options": OPTIONS}, {"values": ["ant", "cow"]}, {"values": ["ant", "cow"]}),
    ({"type": 22, "options": OPTIONS, "required": False}, {"values": []}, {"values": []}),
    ({"type": 23}, {"value": True}, {"value": True}),
    ({"type": 23}, {"value": False}, {"value": False}),
]


@pytest.mark.parametrize(("component", "entered", "expected"), CASES)
async def test_each_field_type_has_its_own_value_shape(
    platform: Platform, component: dict[str, Any], entered: dict[str, Any], expected: dict[str, Any]
) -> None:
    scenario = await create_scenario(platform)
    shown_modal = await show_modal(scenario, {"type": 10, "content": "Read"}, label(component))
    reply = await submit_modal(scenario, shown_modal, {"type": 18, "component": {"custom_id": "it", **entered}})
    assert reply.status == 204, reply.body
    data = scenario.last_interaction()["data"]
    assert data == {
        "custom_id": "form",
        "components": [
            {"type": 10, "id": 1},
            {"type": 18, "id": 2, "component": {"type": component["type"], "id": 3, "custom_id": "it", **expected}},
        ],
    }


@pytest.mark.parametrize(
    ("component", "entered"),
    [
        (TEXT, {"value": ""}),
        (TEXT, {}),
        (TEXT, {"value": 5}),
        ({**TEXT, "min_length": 3}, {"value": "no"}),
        ({**TEXT, "max_length": 3}, {"value": "long"}),
        ({"type": 3, "options": OPTIONS}, {"values": ["dog"]}),
        ({"type": 3, "options": OPTIONS}, {"values": []}),
        ({"type": 3, "options": OPTIONS, "max_values": 2}, {"values": ["ant", "bee", "cow"]}),
        ({"type": 5}, {"values": ["1"]}),
        ({"type": 6}, {"values": ["1"]}),
        ({"type": 19}, {"values": ["0"]}),
        ({"type": 21, "options": OPTIONS}, {"value": "dog"}),
        ({"type": 21, "options": OPTIONS}, {"value": None}),
        ({"type": 22, "options": OPTIONS}, {"values": ["dog"]}),
        ({"type": 22, "options": OPTIONS, "max_values": 1}, {"values": ["ant", "bee"]}),
        ({"type": 23}, {"value": "yes"}),
    ],
)
async def test_invalid_values_are_refused_and_the_modal_can_be_submitted_again(
    platform: Platform, component: dict[str, Any], entered: dict[str, Any]
) -> None:
    scenario = await create_scenario(platform)
    shown_modal = await show_modal(scenario, label(component))
    with platform.listening() as heard:
        reply = await submit_modal(scenario, shown_modal, {"type": 18, "component": {"custom_id": "it", **entered}})
    assert (reply.status, reply.code, heard) == (400, 50035, [])
    other = await submit_modal(scenario, shown_modal, {"type": 18, "component": {"custom_id": "other", "value": "x"}})
    assert other.errors_at("data.components.0.component.custom_id") == ["BASE_TYPE_CHOICES"]


async def test_selects_of_users_roles_and_channels_are_resolved(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    owner, role, general = str(scenario.guild.owner.id), str(await scenario.guild.role()), str(scenario.guild.general)
    chosen = {5: owner, 6: role, 7: role, 8: general}
    fields = [label({"type": kind, "custom_id": str(kind)}) for kind in chosen]
    shown_modal = await show_modal(scenario, *fields)
    entered = [{"type": 18, "component": {"custom_id": str(kind), "values": [each]}} for kind, each in chosen.items()]
    assert (await submit_modal(scenario, shown_modal, *entered)).status == 204
    data = scenario.last_interaction()["data"]
    assert [each["component"]["values"] for each in data["components"]] == [[each] for each in chosen.values()]
    assert [each["component"]["type"] for each in data["components"]] == list(chosen)
    assert sorted(data["resolved"]) == ["channels", "members", "roles", "users"]


async def test_files_are_submitted_with_a_modal(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    shown_modal = await show_modal(scenario, label({"type": 19, "max_values": 2, "file_types": [".txt"]}))
    data = {
        "id": shown_modal["id"],
        "custom_id": "form",
        "components": [{"type": 18, "component": {"custom_id": "it", "values": ["0"]}}],
        "attachments": [{"id": "0", "filename": "a.txt"}],
    }
    body = {"type": 5, "application_id": scenario.app.id, "channel_id": str(scenario.guild.general), "data": data}
    wrong = await upload(
        scenario.person,
        "POST",
        "/interactions",
        {"files[0]": ("a.png", b"x")},
        {**body, "data": {**data, "attachments": []}},
    )
    assert wrong.errors_at("data.components.0.component.values.0") == ["CONTENT_TYPE_INVALID"]
    reply = await upload(scenario.person, "POST", "/interactions", {"files[0]": ("a.txt", b"hello")}, body)
    assert reply.status == 204, reply.body
    submitted = scenario.last_interaction()["data"]
    (value,) = submitted["components"][0]["component"]["values"]
    attachment = submitted["resolved"]["attachments"][value]
    assert (attachment["id"], attachment["filename"]) == (value, "a.txt")
    assert await scenario.fetch(attachment["url"]) == b"hello"


async def test_modals_of_action_rows_are_still_accepted(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    field = {**TEXT, "custom_id": "it", "label": "Why"}
    shown_modal = await show_modal(scenario, {"type": 1, "components": [field]})
    entered = {"type": 1, "components": [{"type": 4, "custom_id": "it", "value": "so"}]}
    assert (await submit_modal(scenario, shown_modal, entered)).status == 204
    components = scenario.last_interaction()["data"]["components"]
    assert components == [{"type": 1, "id": 1, "components": [{"type": 4, "id": 2, "custom_id": "it", "value": "so"}]}]


async def test_a_modal_is_submitted_once_by_its_user_in_its_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    shown_modal = await show_modal(scenario, label(TEXT))
    entered = {"type": 18, "component": {"custom_id": "it", "value": "so"}}
    assert (await submit_modal(scenario, shown_modal, entered, person=scenario.guild.owner)).code == 10062
    rival = await create_scenario(platform)
    assert (await submit_modal(scenario, shown_modal, entered, application_id=rival.app.id)).code == 10062
    assert (
        await submit_modal(scenario, shown_modal, entered, channel_id=str(await scenario.guild.channel()))
    ).code == 10062
    assert (await submit_modal(scenario, {"id": "1"}, entered)).code == 10062
    again = {"id": shown_modal["id"], "custom_id": "another", "components": [entered]}
    assert (await scenario.post_interaction(5, again)).code == 10062
    del again["custom_id"]
    assert (await scenario.post_interaction(5, again)).errors_at("data.custom_id") == ["BASE_TYPE_REQUIRED"]
    both = await asyncio.gather(*(submit_modal(scenario, shown_modal, entered) for _ in range(2)))
    assert sorted(reply.status for reply in both) == [204, 404]
    assert len([e for e in scenario.events(scenario.app.bot.id, "INTERACTION_CREATE") if e["type"] == 5]) == 1


async def test_a_modal_shown_by_a_component_has_its_message_and_can_update_it(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    message = await scenario.create_message([button], content="before")
    assert (await scenario.click(message, "go")).status == 204
    clicked = scenario.last_interaction()
    await scenario.respond(clicked, 9, {"custom_id": "form", "title": "Form", "components": [label(TEXT)]})
    (shown_modal,) = scenario.events(scenario.person.id, "INTERACTION_MODAL_CREATE")
    assert (shown_modal["channel_id"], shown_modal["application"]["name"]) == (str(scenario.guild.general), "Herald")
    assert (
        await submit_modal(scenario, shown_modal, {"type": 18, "component": {"custom_id": "it", "value": "after"}})
    ).status == 204
    interaction = scenario.last_interaction()
    assert interaction["message"]["id"] == message["id"]
    # A modal submit cannot be responded to with a modal.
    assert (
        await scenario.respond(interaction, 9, {"custom_id": "x", "title": "x", "components": [label(TEXT)]})
    ).errors_at("type")
    updated = await scenario.respond_with_message(interaction, 7, {"content": "after"})
    assert (updated["id"], updated["content"]) == (message["id"], "after")
    original = await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))
    assert original.json["id"] == message["id"]


async def test_a_modal_shown_by_a_command_is_closed_by_deferring_an_update(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    shown_modal = await show_modal(scenario, label(TEXT))
    assert (
        await submit_modal(scenario, shown_modal, {"type": 18, "component": {"custom_id": "it", "value": "so"}})
    ).status == 204
    interaction = scenario.last_interaction()
    assert (await scenario.respond(interaction, 7, {"content": "no message to update"})).errors_at("type")
    assert (await scenario.respond(interaction, 6)).status == 204
    assert (await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/@original"))).status == 404
    followup = await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "Thank you"})
    assert followup.json["content"] == "Thank you"


async def test_errors_of_a_modal_are_below_data(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    good = {"custom_id": "form", "title": "Form", "components": [label(TEXT)]}
    for wrong, at in (
        ({"title": "x" * 46}, "data.title"),
        ({"custom_id": "x" * 101}, "data.custom_id"),
        ({"components": []}, "data.components"),
        ({"components": [label(TEXT)] * 6}, "data.components"),
        ({"components": [label({"type": 2, "style": 1})]}, "data.components.0.component"),
        ({"components": None}, "data.components"),
    ):
        reply = await scenario.respond(interaction, 9, good | wrong)
        assert reply.errors_at(at), (wrong, reply.body)
    assert (await scenario.respond(interaction, 9)).code == 50035
    assert (await scenario.respond(interaction, 9, good)).status == 204
