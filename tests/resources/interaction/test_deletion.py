"""Commands and interactions are deleted with their application, guild or channel."""

from typing import Any

import pytest
from sqlalchemy import func, select

from moothall.api.jobs import JobRunner
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import command_permissions, commands, interactions
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.support.harness import Platform

_counts = [Query(select(func.count()).select_from(table)) for table in (commands, command_permissions, interactions)]


async def counts(platform: Platform) -> list[int]:
    async with platform.database.read() as reader:
        return [int(await reader.scalar(query) or 0) for query in _counts]


async def create_used_commands(platform: Platform) -> tuple[Scenario, Any]:
    """A global and a guild command, both with permissions in the guild, and an interaction with a response."""
    scenario = await create_scenario(platform)
    everywhere = await scenario.create_command()
    path = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands"
    here = (await scenario.app.bot.post(path, {"name": "here", "description": "x"})).json
    for command in (everywhere, here):
        body = {"permissions": [{"id": str(scenario.guild.id), "type": 1, "permission": True}]}
        assert (await scenario.guild.owner.put(f"{path}/{command['id']}/permissions", body)).status == 200
    interaction = await scenario.use_command(here)
    assert (await scenario.respond(interaction, 4, {"content": "x"})).status == 204
    assert await counts(platform) == [2, 2, 1]
    return scenario, interaction


async def test_deleting_an_application_deletes_its_commands_and_interactions(platform: Platform) -> None:
    scenario, interaction = await create_used_commands(platform)
    assert (await scenario.app.owner.delete(f"/applications/{scenario.app.id}")).status == 204
    assert await counts(platform) == [0, 0, 0]
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "x"})).code == 10015
    assert (await scenario.post_interaction(2, {"id": interaction["data"]["id"], "type": 1})).code == 10002


async def test_removing_a_bot_deletes_its_guild_commands_and_interactions_there(platform: Platform) -> None:
    scenario, interaction = await create_used_commands(platform)
    assert (
        await scenario.guild.owner.delete(f"/guilds/{scenario.guild.id}/members/{scenario.app.bot.id}")
    ).status == 204
    assert await counts(platform) == [1, 0, 0]
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "x"})).code == 10015


async def test_deleting_a_guild_deletes_its_guild_commands_and_interactions(platform: Platform) -> None:
    scenario, interaction = await create_used_commands(platform)
    assert (await scenario.guild.owner.delete(f"/guilds/{scenario.guild.id}")).status == 204
    runner = JobRunner(platform.services)
    await runner.drain(Timestamp(Timestamp.now() + 600_000))
    assert (await counts(platform))[:2] == [1, 0]
    assert (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "x"})).code in {10003, 10015}
    assert (await scenario.app.bot.get(f"/applications/{scenario.app.id}/commands")).json[0]["name"] == "blep"


async def test_followups_in_a_deleted_channel_are_refused(platform: Platform) -> None:
    scenario, interaction = await create_used_commands(platform)
    assert (await scenario.guild.owner.delete(scenario.channel_path)).status == 200
    for reply in (
        await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "x"}),
        await platform.anonymous.patch(scenario.webhook_path(interaction, "/messages/@original"), {"content": "x"}),
    ):
        assert reply.status == 404, reply.body


async def test_the_audit_log_lists_the_commands_of_permission_changes(platform: Platform) -> None:
    scenario, _ = await create_used_commands(platform)
    log = (await scenario.guild.owner.get(f"/guilds/{scenario.guild.id}/audit-logs", action_type=121)).json
    assert {each["name"] for each in log["application_commands"]} == {"blep", "here"}
    assert {each["target_id"] for each in log["audit_log_entries"]} == {c["id"] for c in log["application_commands"]}


@pytest.mark.parametrize("name", ["APPLICATION_COMMAND_PERMISSIONS_UPDATE"])
async def test_command_permission_events_need_no_intent(platform: Platform, name: str) -> None:
    await create_used_commands(platform)
    heard = [envelope for envelope in platform.heard if envelope.name == name]
    assert len(heard) == 2
    assert {envelope.intent for envelope in heard} == {0}
