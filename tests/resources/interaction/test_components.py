"""Components of messages are used: what the application hears, and what is refused before it hears anything."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.harness import FORUM, Platform
from tests.resources.interaction.stage import Stage, set_stage

BUTTON: dict[str, Any] = {"type": 2, "style": 1, "custom_id": "go", "label": "Go"}
OPTIONS = [{"label": name.title(), "value": name} for name in ("ant", "bee", "cow")]


def row(*components: dict[str, Any]) -> dict[str, Any]:
    return {"type": 1, "components": list(components)}


def select(kind: int, **more: Any) -> dict[str, Any]:
    return {"type": kind, "custom_id": "pick", **({"options": OPTIONS} if kind == 3 else {}), **more}


async def picked(stage: Stage, kind: int, values: list[Any], **more: Any) -> Any:
    message = await stage.posted([row(select(kind, **more))])
    reply = await stage.click(message, "pick", values=values, component_type=kind)
    assert reply.status == 204, reply.body
    return stage.told()["data"]


async def test_a_button_tells_its_type_its_id_and_its_custom_id(platform: Platform) -> None:
    stage = await set_stage(platform)
    message = await stage.posted([row({**BUTTON, "id": 7})], content="press")
    assert (await stage.click(message, "go", component_type=2)).status == 204
    told = stage.told()
    assert (told["type"], told["data"]) == (3, {"component_type": 2, "id": 7, "custom_id": "go"})
    assert (told["message"]["id"], told["message"]["content"]) == (message["id"], "press")
    assert told["authorizing_integration_owners"] == {"0": str(stage.guild.id)}
    answer = await stage.shown(told, 4, {"content": "pressed"})
    assert (answer["type"], answer["message_reference"]["message_id"]) == (19, message["id"])
    assert (answer["referenced_message"]["id"], answer["mentions"]) == (message["id"], [])
    metadata = answer["interaction_metadata"]
    assert (metadata["type"], metadata["interacted_message_id"]) == (3, message["id"])
    assert "interaction" not in answer


async def test_each_kind_of_select_tells_what_was_chosen_and_who_that_is(platform: Platform) -> None:
    stage = await set_stage(platform)
    owner, role, general = str(stage.guild.owner.id), str(await stage.guild.role()), str(stage.guild.general)
    data = await picked(stage, 3, ["bee", "ant"], max_values=2)
    assert {key: data[key] for key in ("component_type", "custom_id", "values")} == {
        "component_type": 3,
        "custom_id": "pick",
        "values": ["bee", "ant"],
    }
    assert "resolved" not in data
    data = await picked(stage, 5, [owner])
    assert (data["component_type"], data["values"], data["id"]) == (5, [owner], 2)
    assert (list(data["resolved"]["users"]), list(data["resolved"]["members"])) == ([owner], [owner])
    assert sorted(data["resolved"]) == ["members", "users"]
    data = await picked(stage, 6, [role])
    assert (data["values"], list(data["resolved"]), list(data["resolved"]["roles"])) == ([role], ["roles"], [role])
    data = await picked(stage, 7, [owner, role], max_values=2)
    assert (data["values"], sorted(data["resolved"])) == ([owner, role], ["members", "roles", "users"])
    data = await picked(stage, 8, [general], channel_types=[0])
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
    stage = await set_stage(platform)
    message = await stage.posted([row(select(kind, **more))])
    with platform.listening() as heard:
        reply = await stage.click(message, "pick", values=values)
    assert (reply.status, reply.code, heard) == (400, 50035, [])


async def test_what_a_person_does_not_see_cannot_be_chosen(platform: Platform) -> None:
    stage = await set_stage(platform)
    hidden = await stage.guild.channel(overwrites=[(stage.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    forum = await stage.guild.channel(type=FORUM)
    elsewhere = await platform.guild(await platform.person())
    message = await stage.posted([row(select(8, channel_types=[0]))])
    for channel in (hidden, forum, elsewhere.general):
        assert (await stage.click(message, "pick", values=[str(channel)])).errors_at("data.values")
    roles = await stage.posted([row(select(6))])
    assert (await stage.click(roles, "pick", values=[str(await elsewhere.role())])).errors_at("data.values")


async def test_a_component_that_is_not_there_or_cannot_be_used_tells_nobody(platform: Platform) -> None:
    stage = await set_stage(platform)
    link = {"type": 2, "style": 5, "url": "https://example.com", "label": "Out"}
    message = await stage.posted([row(BUTTON, {**BUTTON, "custom_id": "off", "disabled": True}, link)])
    platform.heard.clear()
    for custom_id in ("none", "off", None, ["go"], 5):
        reply = await stage.raise_(3, {"custom_id": custom_id}, message_id=message["id"])
        assert reply.errors_at("data.custom_id"), custom_id
    assert (await stage.raise_(3, {}, message_id=message["id"])).errors_at("data.custom_id")
    assert (await stage.click(message, "go", component_type=3)).errors_at("data.component_type")
    assert (await stage.raise_(3, {"custom_id": "go"})).errors_at("message_id")
    assert platform.heard == []


async def test_a_message_is_used_where_it_is_for_whose_it_is(platform: Platform) -> None:
    stage = await set_stage(platform)
    message = await stage.posted([row(BUTTON)])
    rival = await set_stage(platform)
    assert (await stage.click({"id": "1"}, "go")).code == 10008
    assert (
        await stage.raise_(3, {"custom_id": "go"}, message_id=message["id"], application_id=rival.app.id)
    ).code == 10008
    elsewhere = await stage.guild.channel()
    wrong = await stage.raise_(3, {"custom_id": "go"}, message_id=message["id"], channel_id=str(elsewhere))
    assert wrong.code == 10008
    assert (await stage.click(message, "go", await platform.person())).code == 50001
    await stage.app.bot.delete(f"{stage.where}/messages/{message['id']}")
    assert (await stage.click(message, "go")).code == 10008


async def test_components_are_found_at_every_depth(platform: Platform) -> None:
    stage = await set_stage(platform)
    section = {
        "type": 9,
        "components": [{"type": 10, "content": "words"}],
        "accessory": {**BUTTON, "custom_id": "beside"},
    }
    tree = [{"type": 17, "components": [section, row({**BUTTON, "custom_id": "inside"})]}]
    message = await stage.posted(tree, flags=1 << 15)
    for custom_id in ("beside", "inside"):
        assert (await stage.click(message, custom_id)).status == 204
        assert stage.told()["data"]["custom_id"] == custom_id
    updated = await stage.shown(stage.told(), 7, {"components": [{"type": 10, "content": "done"}]})
    assert (updated["id"], updated["components"][0]["content"]) == (message["id"], "done")


async def test_buttons_of_an_applications_webhook_are_its_own(platform: Platform) -> None:
    stage = await set_stage(platform)
    everyone = f"/guilds/{stage.guild.id}/roles/{stage.guild.id}"
    bits = Permissions.DEFAULT | Permissions.MANAGE_WEBHOOKS
    await stage.guild.owner.patch(everyone, {"permissions": str(int(bits))})
    hook = (await stage.app.bot.post(f"{stage.where}/webhooks", {"name": "hook"})).json
    made = await platform.nobody.post(
        f"/webhooks/{hook['id']}/{hook['token']}", {"content": "x", "components": [row(BUTTON)]}, wait=True
    )
    assert (await stage.click(made.json, "go")).status == 204
    told = stage.told()
    assert told["message"]["id"] == made.json["id"]
    updated = await stage.shown(told, 7, {"content": "pressed", "components": []})
    assert (updated["content"], updated["author"]["username"]) == ("pressed", "hook")


async def test_who_reads_no_history_uses_what_they_have_seen_come(platform: Platform) -> None:
    stage = await set_stage(platform)
    message = await stage.posted([row(BUTTON)])
    said = (await stage.guild.owner.post(f"{stage.where}/messages", {"content": "before"})).json
    body = {"type": 0, "deny": str(int(Permissions.READ_MESSAGE_HISTORY))}
    await stage.guild.owner.put(f"{stage.where}/permissions/{stage.guild.id}", body)
    assert (await stage.click(message, "go")).status == 204
    # What others have said is not got at by way of an application.
    mark = (await stage.app.bot.post(f"/applications/{stage.app.id}/commands", {"name": "Mark", "type": 3})).json
    assert (await stage.use(mark, target_id=said["id"])).code == 10008
