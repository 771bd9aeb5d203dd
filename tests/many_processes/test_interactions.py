"""An interaction is raised on one node, heard and answered on another, and given up where its seconds are counted."""

import asyncio

from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from tests.harness import Caller
from tests.many_processes.nodes import Node
from tests.resources.interaction.stage import Stage, set_stage

Pair = tuple[Node, Node]


async def across(nodes: Pair) -> tuple[Stage, dict[str, str]]:
    here, _ = nodes
    stage = await set_stage(here.platform)
    return stage, await stage.command()


async def use(stage: Stage, command: dict[str, str], person: Caller) -> None:
    assert (await stage.use(command, person)).status == 204


async def test_what_is_raised_on_one_node_is_answered_on_another(nodes: Pair) -> None:
    here, there = nodes
    stage, command = await across(nodes)
    bot = await there.session(stage.app.bot, intents=1)
    person = await there.session(stage.person, intents=(1 << 9) | 1)
    await use(stage, command, stage.person)
    told = await bot.hear("INTERACTION_CREATE")
    raised = await person.hear("INTERACTION_CREATE")
    assert raised["id"] == told["id"]
    abroad = there.as_seen(here.platform.nobody)
    path = f"/interactions/{told['id']}/{told['token']}/callback"
    body = {"type": 4, "data": {"content": "across", "flags": 64}}
    assert (await abroad.post(path, body)).status == 204
    await person.hear("INTERACTION_SUCCESS", id=told["id"])
    assert (await person.hear("MESSAGE_CREATE"))["content"] == "across"
    assert (await here.platform.nobody.post(path, body)).code == 40060
    assert (await here.platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "b"})).status == 200
    # The node that counts the seconds sees at their end that there is nothing to give up.
    services = here.app.services
    assert len(ResponseTimers.of(services)) == 1
    Deliveries.of(services).time_out(next(iter(ResponseTimers.of(services))))
    await asyncio.wait_for(Deliveries.of(services).wait_until_idle(), 5)
    assert "INTERACTION_FAILURE" not in person.names


async def test_what_nobody_answers_is_given_up_and_told_on_every_node(nodes: Pair) -> None:
    here, there = nodes
    stage, command = await across(nodes)
    Deliveries.of(here.app.services).seconds = 0.2
    bot = await there.session(stage.app.bot, intents=1)
    person = await there.session(stage.person, intents=1)
    await use(stage, command, stage.person)
    told = await bot.hear("INTERACTION_CREATE")
    assert (await person.hear("INTERACTION_FAILURE"))["id"] == told["id"]
    abroad = there.as_seen(here.platform.nobody)
    path = f"/interactions/{told['id']}/{told['token']}/callback"
    assert (await abroad.post(path, {"type": 5})).code == 10062
