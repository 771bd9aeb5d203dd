"""Modals: shown to one person, filled in once, and told as the tables have it."""

import asyncio
from typing import Any

import pytest

from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage
from tests.resources.message.attachment.uploading import upload

OPTIONS = [{"label": name.title(), "value": name} for name in ("ant", "bee", "cow")]


def label(component: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": 18, "label": "Label", "component": {"custom_id": "it", **component}, **more}


async def opened(stage: Stage, *components: dict[str, Any]) -> Any:
    """A modal as its person's client gets it."""
    told = await stage.used(await stage.command())
    modal = {"custom_id": "form", "title": "Form", "components": list(components)}
    reply = await stage.answer(told, 9, modal)
    assert reply.status == 204, reply.body
    return stage.heard(stage.person.id, "INTERACTION_MODAL_CREATE")[-1]


async def hand_in(stage: Stage, shown: Any, *components: Any, person: Any = None, **more: Any) -> Any:
    data = {"id": shown["id"], "custom_id": "form", "components": list(components)}
    return await stage.raise_(5, data, person, **more)


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


@pytest.mark.parametrize(("component", "entered", "told"), CASES)
async def test_each_field_is_told_in_its_own_shape(
    platform: Platform, component: dict[str, Any], entered: dict[str, Any], told: dict[str, Any]
) -> None:
    stage = await set_stage(platform)
    shown = await opened(stage, {"type": 10, "content": "Read"}, label(component))
    reply = await hand_in(stage, shown, {"type": 18, "component": {"custom_id": "it", **entered}})
    assert reply.status == 204, reply.body
    data = stage.told()["data"]
    assert data == {
        "custom_id": "form",
        "components": [
            {"type": 10, "id": 1},
            {"type": 18, "id": 2, "component": {"type": component["type"], "id": 3, "custom_id": "it", **told}},
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
async def test_what_does_not_fit_is_refused_and_may_be_put_right(
    platform: Platform, component: dict[str, Any], entered: dict[str, Any]
) -> None:
    stage = await set_stage(platform)
    shown = await opened(stage, label(component))
    with platform.listening() as heard:
        reply = await hand_in(stage, shown, {"type": 18, "component": {"custom_id": "it", **entered}})
    assert (reply.status, reply.code, heard) == (400, 50035, [])
    other = await hand_in(stage, shown, {"type": 18, "component": {"custom_id": "other", "value": "x"}})
    assert other.errors_at("data.components.0.component.custom_id") == ["BASE_TYPE_CHOICES"]


async def test_selects_of_people_roles_and_channels_are_resolved(platform: Platform) -> None:
    stage = await set_stage(platform)
    owner, role, general = str(stage.guild.owner.id), str(await stage.guild.role()), str(stage.guild.general)
    chosen = {5: owner, 6: role, 7: role, 8: general}
    fields = [label({"type": kind, "custom_id": str(kind)}) for kind in chosen]
    shown = await opened(stage, *fields)
    entered = [{"type": 18, "component": {"custom_id": str(kind), "values": [each]}} for kind, each in chosen.items()]
    assert (await hand_in(stage, shown, *entered)).status == 204
    data = stage.told()["data"]
    assert [each["component"]["values"] for each in data["components"]] == [[each] for each in chosen.values()]
    assert [each["component"]["type"] for each in data["components"]] == list(chosen)
    assert sorted(data["resolved"]) == ["channels", "members", "roles", "users"]


async def test_files_are_handed_in_with_a_modal(platform: Platform) -> None:
    stage = await set_stage(platform)
    shown = await opened(stage, label({"type": 19, "max_values": 2, "file_types": [".txt"]}))
    data = {
        "id": shown["id"],
        "custom_id": "form",
        "components": [{"type": 18, "component": {"custom_id": "it", "values": ["0"]}}],
        "attachments": [{"id": "0", "filename": "a.txt"}],
    }
    body = {"type": 5, "application_id": stage.app.id, "channel_id": str(stage.guild.general), "data": data}
    wrong = await upload(
        stage.person,
        "POST",
        "/interactions",
        {"files[0]": ("a.png", b"x")},
        {**body, "data": {**data, "attachments": []}},
    )
    assert wrong.errors_at("data.components.0.component.values.0") == ["CONTENT_TYPE_INVALID"]
    reply = await upload(stage.person, "POST", "/interactions", {"files[0]": ("a.txt", b"hello")}, body)
    assert reply.status == 204, reply.body
    told = stage.told()["data"]
    (value,) = told["components"][0]["component"]["values"]
    attachment = told["resolved"]["attachments"][value]
    assert (attachment["id"], attachment["filename"]) == (value, "a.txt")
    assert await stage.fetch(attachment["url"]) == b"hello"


async def test_the_deprecated_form_of_rows_is_taken_and_told(platform: Platform) -> None:
    stage = await set_stage(platform)
    field = {**TEXT, "custom_id": "it", "label": "Why"}
    shown = await opened(stage, {"type": 1, "components": [field]})
    entered = {"type": 1, "components": [{"type": 4, "custom_id": "it", "value": "so"}]}
    assert (await hand_in(stage, shown, entered)).status == 204
    told = stage.told()["data"]["components"]
    assert told == [{"type": 1, "id": 1, "components": [{"type": 4, "id": 2, "custom_id": "it", "value": "so"}]}]


async def test_a_modal_is_its_persons_its_channels_and_handed_in_once(platform: Platform) -> None:
    stage = await set_stage(platform)
    shown = await opened(stage, label(TEXT))
    entered = {"type": 18, "component": {"custom_id": "it", "value": "so"}}
    assert (await hand_in(stage, shown, entered, person=stage.guild.owner)).code == 10062
    rival = await set_stage(platform)
    assert (await hand_in(stage, shown, entered, application_id=rival.app.id)).code == 10062
    assert (await hand_in(stage, shown, entered, channel_id=str(await stage.guild.channel()))).code == 10062
    assert (await hand_in(stage, {"id": "1"}, entered)).code == 10062
    again = {"id": shown["id"], "custom_id": "another", "components": [entered]}
    assert (await stage.raise_(5, again)).code == 10062
    both = await asyncio.gather(*(hand_in(stage, shown, entered) for _ in range(2)))
    assert sorted(reply.status for reply in both) == [204, 404]
    assert len([e for e in stage.heard(stage.app.bot.id, "INTERACTION_CREATE") if e["type"] == 5]) == 1


async def test_a_modal_from_a_component_has_its_message_and_may_update_it(platform: Platform) -> None:
    stage = await set_stage(platform)
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    message = await stage.posted([button], content="before")
    assert (await stage.click(message, "go")).status == 204
    clicked = stage.told()
    await stage.answer(clicked, 9, {"custom_id": "form", "title": "Form", "components": [label(TEXT)]})
    (shown,) = stage.heard(stage.person.id, "INTERACTION_MODAL_CREATE")
    assert (shown["channel_id"], shown["application"]["name"]) == (str(stage.guild.general), "Herald")
    assert (await hand_in(stage, shown, {"type": 18, "component": {"custom_id": "it", "value": "after"}})).status == 204
    told = stage.told()
    assert told["message"]["id"] == message["id"]
    # A modal is no answer to a modal.
    assert (await stage.answer(told, 9, {"custom_id": "x", "title": "x", "components": [label(TEXT)]})).errors_at(
        "type"
    )
    updated = await stage.shown(told, 7, {"content": "after"})
    assert (updated["id"], updated["content"]) == (message["id"], "after")
    original = await platform.nobody.get(stage.hook(told, "/messages/@original"))
    assert original.json["id"] == message["id"]


async def test_what_is_wrong_with_a_modal_is_told_below_its_data(platform: Platform) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    good = {"custom_id": "form", "title": "Form", "components": [label(TEXT)]}
    for wrong, at in (
        ({"title": "x" * 46}, "data.title"),
        ({"custom_id": "x" * 101}, "data.custom_id"),
        ({"components": []}, "data.components"),
        ({"components": [label(TEXT)] * 6}, "data.components"),
        ({"components": [label({"type": 2, "style": 1})]}, "data.components.0.component"),
        ({"components": None}, "data.components"),
    ):
        reply = await stage.answer(told, 9, good | wrong)
        assert reply.errors_at(at), (wrong, reply.body)
    assert (await stage.answer(told, 9)).code == 50035
    assert (await stage.answer(told, 9, good)).status == 204
