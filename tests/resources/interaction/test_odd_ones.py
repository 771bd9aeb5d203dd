"""What no client and no application should send: refused, never a 500, and told to nobody."""

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from moothall.objects.errors import INTERNAL_ERROR
from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage

JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 2**63, -(2**70), "", "x", "\0", "\udfff", "1" * 40, [], {}, [None],
    [[]], [{}], {"id": []}, {"type": {}}, "9" * 19, ["0"], {"": ""},
]  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every part of a body."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def spoilt(body: Any, path: tuple[Any, ...], junk: Any) -> Any:
    """The body with something else in one place."""
    done = deepcopy(body)
    if not path:
        return junk
    node = done
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = junk
    return done


def some_of(body: Any, seed: int) -> Iterator[Any]:
    """Bodies that are spoilt in one place each."""
    chance = random.Random(seed)
    for path in places(body):
        for junk in chance.sample(JUNK, 5):
            yield spoilt(body, path, junk)


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


async def bodies(stage: Stage) -> list[dict[str, Any]]:
    """Something of each kind that a person's client may raise."""
    command = await stage.command(options=OPTIONS)
    general, person = str(stage.guild.general), str(stage.person.id)
    values: dict[int, Any] = {3: "x", 4: 1, 5: True, 6: person, 7: general, 8: str(stage.guild.id), 9: person, 10: 0.5}
    options = [{"type": kind, "name": f"o{kind}", "value": value} for kind, value in values.items()]
    typed = [{"type": 3, "name": "o3", "value": "x", "focused": True}]
    message = await stage.posted([BUTTON])
    told = await stage.used(command)
    await stage.answer(told, 9, MODAL)
    entered = [
        {"type": 18, "component": {"type": 4, "custom_id": "a", "value": "x"}},
        {"type": 18, "component": {"type": 8, "custom_id": "b", "values": [general]}},
        {"type": 18, "component": {"type": 19, "custom_id": "c", "values": []}},
    ]
    common = {"application_id": stage.app.id, "guild_id": str(stage.guild.id), "channel_id": general, "nonce": "1"}
    known = {"id": command["id"], "type": 1, "version": command["version"]}
    return [
        {"type": 2, **common, "data": {**known, "options": options, "attachments": []}},
        {"type": 4, **common, "data": {**known, "options": typed}},
        {
            "type": 3,
            **common,
            "message_id": message["id"],
            "data": {"custom_id": "pick", "component_type": 5, "values": [person]},
        },
        {"type": 5, **common, "data": {"id": told["id"], "custom_id": "form", "components": entered}},
    ]


@pytest.mark.parametrize("which", range(4))
async def test_whatever_is_raised_is_refused_or_told_whole(platform: Platform, which: int) -> None:
    stage = await set_stage(platform)
    body = (await bodies(stage))[which]
    for odd in some_of(body, which):
        with platform.listening() as heard:
            reply = await stage.person.post("/interactions", odd)
        assert reply.status in {204, 400, 403, 404}, (odd, reply.body)
        assert (reply.status == 204) == ("INTERACTION_CREATE" in heard), odd


ANSWERS: list[dict[str, Any]] = [
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
async def test_whatever_is_answered_is_refused_or_is_the_answer(platform: Platform, which: int) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[{"type": 3, "name": "a", "description": "x", "autocomplete": True}])
    typed = [{"type": 3, "name": "a", "value": "", "focused": True}]

    async def fresh() -> Any:
        if which == 3:
            return await stage.raised(4, {"id": command["id"], "type": 1, "options": typed})
        if which == 4:
            message = await stage.posted([BUTTON])
            data = {"custom_id": "pick", "values": [str(stage.person.id)]}
            return await stage.raised(3, data, message_id=message["id"])
        return await stage.used(command)

    told = await fresh()
    for odd in some_of(ANSWERS[which], which):
        if told is None:
            told = await fresh()
        path = f"/interactions/{told['id']}/{told['token']}/callback"
        reply = await platform.nobody.post(path, odd)
        assert reply.status in {204, 400}, (odd, reply.body)
        if reply.status == 204:
            told = None
        else:
            assert reply.code not in {40060, INTERNAL_ERROR.code}, odd
            if isinstance(odd, dict) and odd.get("type") == ANSWERS[which]["type"] and reply.code == 50035:
                assert set(reply.json["errors"]) <= {"data"}, (odd, reply.body)
