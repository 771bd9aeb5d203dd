"""An interaction created on one node, received and answered on another, and failed on the node with its timer."""

import asyncio

from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from tests.many_processes.nodes import Node
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.support.harness import Caller

Pair = tuple[Node, Node]


async def create_scenario_and_command(nodes: Pair) -> tuple[Scenario, dict[str, str]]:
    here, _ = nodes
    scenario = await create_scenario(here.platform)
    return scenario, await scenario.create_command()


async def use(scenario: Scenario, command: dict[str, str], person: Caller) -> None:
    assert (await scenario.post_command(command, person)).status == 204


async def test_an_interaction_created_on_one_node_is_responded_to_on_another(nodes: Pair) -> None:
    here, there = nodes
    scenario, command = await create_scenario_and_command(nodes)
    bot = await there.session(scenario.app.bot, intents=1)
    person = await there.session(scenario.person, intents=(1 << 9) | 1)
    await use(scenario, command, scenario.person)
    interaction = await bot.receive("INTERACTION_CREATE")
    ack = await person.receive("INTERACTION_CREATE")
    assert ack["id"] == interaction["id"]
    abroad = there.as_seen(here.platform.anonymous)
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    body = {"type": 4, "data": {"content": "across", "flags": 64}}
    assert (await abroad.post(path, body)).status == 204
    await person.receive("INTERACTION_SUCCESS", id=interaction["id"])
    assert (await person.receive("MESSAGE_CREATE"))["content"] == "across"
    assert (await here.platform.anonymous.post(path, body)).code == 40060
    assert (
        await here.platform.anonymous.patch(scenario.webhook_path(interaction, "/messages/@original"), {"content": "b"})
    ).status == 200
    # The node with the timer does not fail an interaction that was answered.
    services = here.app.services
    assert len(services.resources[ResponseTimers]) == 1
    services.resources[Deliveries].time_out(next(iter(services.resources[ResponseTimers])))
    await asyncio.wait_for(services.resources[Deliveries].wait_until_idle(), 30)
    assert "INTERACTION_FAILURE" not in person.names


async def test_an_interaction_without_a_response_fails_on_every_node(nodes: Pair) -> None:
    here, there = nodes
    scenario, command = await create_scenario_and_command(nodes)
    here.app.services.resources[ResponseTimers].seconds = 0.2
    bot = await there.session(scenario.app.bot, intents=1)
    person = await there.session(scenario.person, intents=1)
    await use(scenario, command, scenario.person)
    interaction = await bot.receive("INTERACTION_CREATE")
    assert (await person.receive("INTERACTION_FAILURE"))["id"] == interaction["id"]
    abroad = there.as_seen(here.platform.anonymous)
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    assert (await abroad.post(path, {"type": 5})).code == 10062
