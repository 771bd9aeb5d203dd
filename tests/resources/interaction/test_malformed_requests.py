"""Malformed interactions and responses are refused with 4xx, and nothing is announced."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from moothall.objects.errors import INTERNAL_ERROR
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.support.harness import Platform

JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, -(2**70), "", "x", "\0", "\udfff", "1" * 40, [], {}, [None],
    [[]], [{}], {"id": []}, {"type": {}}, "9" * 19, ["0"], {"": ""},
]  # fmt: skip


def paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value in a body."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from paths(child, (*path, key))


def replaced(body: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """A copy of the body with another value at a path."""
    done = deepcopy(body)
    if not path:
        return junk
    node = done
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = junk
    return done


def malformed_bodies(body: Any, seed: int) -> Iterator[Any]:
    """Copies of a body with one malformed value each."""
    chance = random.Random(seed)
    for path in paths(body):
        for junk in chance.sample(JUNK, 5):
            yield replaced(body, path, junk)


OPTIONS: list[dict[str, Any]] = [
    {"type": kind, "name": f"o{kind}", "description": "x", "autocomplete": kind in {3, 4, 10}} for kind in range(3, 12)
]
BUTTON: dict[str, Any] = {
    "type": 1,
    "components": [{"type": 5, "custom_id": "pick", "max_values": 3}],
}
MODAL: dict[str, Any] = {
    "custom_id": "form",
    "title": "Form",
    "components": [
        {"type": 18, "label": "a", "component": {"type": 4, "custom_id": "a", "style": 1, "required": False}},
        {"type": 18, "label": "b", "component": {"type": 8, "custom_id": "b", "required": False}},
        {"type": 18, "label": "c", "component": {"type": 19, "custom_id": "c", "required": False}},
    ],
}


async def bodies(scenario: Scenario) -> list[dict[str, Any]]:
    """A valid interaction of each type."""
    command = await scenario.create_command(options=OPTIONS)
    general, person = str(scenario.guild.general), str(scenario.person.id)
    values: dict[int, Any] = {
        3: "x",
        4: 1,
        5: True,
        6: person,
        7: general,
        8: str(scenario.guild.id),
        9: person,
        10: 0.5,
    }
    options = [{"type": kind, "name": f"o{kind}", "value": value} for kind, value in values.items()]
    focused_options = [{"type": 3, "name": "o3", "value": "x", "focused": True}]
    message = await scenario.create_message([BUTTON])
    interaction = await scenario.use_command(command)
    await scenario.respond(interaction, 9, MODAL)
    entered = [
        {"type": 18, "component": {"type": 4, "custom_id": "a", "value": "x"}},
        {"type": 18, "component": {"type": 8, "custom_id": "b", "values": [general]}},
        {"type": 18, "component": {"type": 19, "custom_id": "c", "values": []}},
    ]
    common = {
        "application_id": scenario.app.id,
        "guild_id": str(scenario.guild.id),
        "channel_id": general,
        "nonce": "1",
    }
    known = {"id": command["id"], "type": 1, "version": command["version"]}
    return [
        {"type": 2, **common, "data": {**known, "options": options, "attachments": []}},
        {"type": 4, **common, "data": {**known, "options": focused_options}},
        {
            "type": 3,
            **common,
            "message_id": message["id"],
            "data": {"custom_id": "pick", "component_type": 5, "values": [person]},
        },
        {"type": 5, **common, "data": {"id": interaction["id"], "custom_id": "form", "components": entered}},
    ]


@pytest.mark.parametrize("which", range(4))
async def test_a_malformed_interaction_is_refused_or_delivered_as_a_whole(platform: Platform, which: int) -> None:
    scenario = await create_scenario(platform)
    body = (await bodies(scenario))[which]
    for malformed in malformed_bodies(body, which):
        with platform.listening() as heard:
            reply = await scenario.person.post("/interactions", malformed)
        assert reply.status in {204, 400, 403, 404}, (malformed, reply.body)
        assert (reply.status == 204) == ("INTERACTION_CREATE" in heard), malformed


RESPONSES: list[dict[str, Any]] = [
    {
        "type": 4,
        "data": {
            "content": "x",
            "tts": False,
            "flags": 64,
            "embeds": [{"title": "t", "fields": [{"name": "n", "value": "v"}]}],
            "components": [BUTTON],
            "allowed_mentions": {"parse": [], "users": [], "replied_user": False},
            "attachments": [],
            "poll": None,
        },
    },
    {"type": 5, "data": {"flags": 64}},
    {"type": 9, "data": MODAL},
    {"type": 8, "data": {"choices": [{"name": "x", "value": "y", "name_localizations": {"de": "z"}}]}},
    {"type": 7, "data": {"content": "x", "components": [BUTTON], "embeds": [], "flags": 4}},
]


@pytest.mark.parametrize("which", range(5))
async def test_a_malformed_response_is_refused_or_accepted_as_a_whole(platform: Platform, which: int) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(
        options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}]
    )
    focused_options = [{"type": 3, "name": "a", "value": "", "focused": True}]

    async def fresh() -> Any:
        if which == 3:
            return await scenario.create_interaction(4, {"id": command["id"], "type": 1, "options": focused_options})
        if which == 4:
            message = await scenario.create_message([BUTTON])
            data = {"custom_id": "pick", "component_type": 5, "values": [str(scenario.person.id)]}
            return await scenario.create_interaction(3, data, message_id=message["id"])
        return await scenario.use_command(command)

    interaction = await fresh()
    for malformed in malformed_bodies(RESPONSES[which], which):
        if interaction is None:
            interaction = await fresh()
        path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
        reply = await platform.anonymous.post(path, malformed)
        assert reply.status in {204, 400}, (malformed, reply.body)
        if reply.status == 204:
            interaction = None
        else:
            assert reply.code not in {40060, INTERNAL_ERROR.code}, malformed
            if (
                isinstance(malformed, dict)
                and malformed.get("type") == RESPONSES[which]["type"]
                and reply.code == 50035
            ):
                assert set(reply.json["errors"]) <= {"data"}, (malformed, reply.body)
